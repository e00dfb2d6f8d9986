"use strict";
(() => {
  const data = JSON.parse(document.getElementById("graph-data").textContent);
  const byId = (id) => document.getElementById(id);
  const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array };

  function unpack(packed) {
    const text = atob(packed.base64);
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return new KINDS[packed.kind](bytes.buffer);
  }

  const positions = unpack(data.positions);
  const indptr = unpack(data.indptr);
  const indices = unpack(data.indices);
  const weights = data.weights === null ? null : unpack(data.weights);
  const signals = data.signals.map((row) => ({ title: row.title, values: unpack(row.values) }));
  const n = data.names.length;
  const weightOf = weights === null ? () => 1 : (entry) => weights[entry];

  // ---- operators: y = left * (A (right * x)) + diag * x, as in the library ----

  // degree, gamma -> 1 / d~, sqrt(d~), share of the added loop in d~
  const LOOPS = {
    none: (d) => [1 / d, Math.sqrt(d), 0],
    unit: (d, gamma) => [1 / (d + gamma), Math.sqrt(d + gamma), gamma / (d + gamma)],
    degree: (d, gamma) => [1 / (1 + gamma) / d, Math.sqrt(1 + gamma) * Math.sqrt(d), gamma / (1 + gamma)],
  };

  const degrees = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let e = indptr[i]; e < indptr[i + 1]; e++) degrees[i] += weightOf(e);
  }

  function lowChannel(family, gamma) {
    const left = new Float64Array(n), right = new Float64Array(n), diag = new Float64Array(n);
    const metric = new Float64Array(n).fill(1);
    for (let i = 0; i < n; i++) {
      if (family.norm === "none") {
        left[i] = right[i] = 1;
        diag[i] = 1 - degrees[i];
      } else if (degrees[i] === 0 && family.loops !== "unit") {
        right[i] = family.norm === "rw" ? 1 : 0;
        diag[i] = 1;
      } else {
        const [inverse, root, share] = LOOPS[family.loops](degrees[i], gamma);
        left[i] = family.norm === "rw" ? inverse : 1 / root;
        right[i] = family.norm === "rw" ? 1 : 1 / root;
        diag[i] = share;
        if (family.norm === "rw") metric[i] = root * root;
      }
    }
    return { left, right, diag, metric };
  }

  function apply(op, x) {
    const y = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let e = indptr[i]; e < indptr[i + 1]; e++) sum += weightOf(e) * op.right[indices[e]] * x[indices[e]];
      y[i] = op.left[i] * sum + op.diag[i] * x[i];
    }
    return y;
  }

  const energy = (x) => x.reduce((sum, value) => sum + value * value, 0);

  function sValue(op, x) {
    // In the inner product in which the operator is self-adjoint: weights d~ for random-walk families, else 1.
    const low = apply(op, x), inner = (y) => x.reduce((sum, value, i) => sum + op.metric[i] * value * y[i], 0);
    return inner(x.map((value, i) => value - low[i])) / inner(x);
  }

  // ---- state ----

  const controls = byId("controls"), canvas = byId("canvas"), readout = byId("readout");
  let signal = signals[0], filtered = signal.values, reach = 1, chosen = -1;

  function fill(select, rows, initial) {
    rows.forEach((row, position) => select.add(new Option(row.title, position, position === initial, position === initial)));
  }

  function show(id, value, digits, whose = "y") {
    const output = byId(id);
    output.dataset.exact = value;
    output.textContent = Number.isFinite(value) ? value.toFixed(digits) : `undefined: ${whose} is zero`;
  }

  function tidy(value) {
    return Number(value.toPrecision(4)).toString().replace("-", "−");
  }

  function filter() {
    signal = signals[byId("signal").value];
    filtered = signal.values;
    byId("signal-name").textContent = signal.title;
    if (data.live) {
      const family = data.families[byId("family").value];
      const gammaSlider = byId("gamma"), mix = Number(byId("mix").value);
      const gamma = 10 ** Number(gammaSlider.value);
      byId("family-name").textContent = family.title;
      gammaSlider.disabled = family.loops === "none";
      gammaSlider.parentElement.classList.toggle("off", gammaSlider.disabled);
      byId("mix-value").textContent = mix.toFixed(2);
      byId("gamma-value").textContent = gammaSlider.disabled ? "this family has none" : tidy(gamma);
      byId("gamma-value").dataset.exact = gamma;
      gammaSlider.setAttribute("aria-valuetext", `gamma ${tidy(gamma)}`);
      const op = lowChannel(family, gamma), low = apply(op, signal.values);
      filtered = low.map((value, i) => (1 - mix) * value + mix * (signal.values[i] - value));
      const kept = energy(filtered) / energy(signal.values);
      show("s-before", sValue(op, signal.values), 6, "x");
      // What rounding leaves of a signal that is filtered away has no smoothness.
      show("s-after", kept > 1e-24 ? sValue(op, filtered) : NaN, 6);
      show("kept", kept, 4, "x");
    }
    reach = filtered.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    byId("scale-low").textContent = tidy(-reach);
    byId("scale-high").textContent = tidy(reach);
    paint();
    tell();
  }

  // ---- drawing ----

  const context = canvas.getContext("2d"), edgeLayer = document.createElement("canvas");
  let width = 0, height = 0, radius = 4, colours = [], edges = "", rim = "", focus = "";
  const MARGIN = 16;
  const placeX = (i) => MARGIN + positions[2 * i] * (width - 2 * MARGIN);
  const placeY = (i) => MARGIN + positions[2 * i + 1] * (height - 2 * MARGIN);

  function rgb(colour) {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour.trim();
    const code = Number.parseInt(probe.fillStyle.slice(1), 16);
    return [code >> 16, (code >> 8) & 255, code & 255];
  }

  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const [negative, zero, positive] = ["--negative", "--zero", "--positive"].map((name) => rgb(style.getPropertyValue(name)));
    colours = Array.from({ length: 257 }, (_, k) => {
      const share = (k - 128) / 128, end = share < 0 ? negative : positive;
      const mixed = zero.map((from, axis) => Math.round(from + (end[axis] - from) * Math.abs(share)));
      return `rgb(${mixed.join(",")})`;
    });
    edges = style.getPropertyValue("--edge");
    rim = style.getPropertyValue("--rim");
    focus = style.getPropertyValue("--focus");
  }

  function layOut() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    for (const layer of [canvas, edgeLayer]) {
      layer.width = Math.round(width * ratio);
      layer.height = Math.round(height * ratio);
      layer.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    radius = Math.max(1.6, Math.min(9, 0.24 * Math.sqrt((width * height) / Math.max(n, 1))));
    paintEdges();
    paint();
  }

  function paintEdges() {
    const pen = edgeLayer.getContext("2d");
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = edges;
    pen.lineWidth = indices.length > 20000 ? 0.35 : indices.length > 3000 ? 0.6 : 1;
    pen.beginPath();
    for (let i = 0; i < n; i++) {
      for (let e = indptr[i]; e < indptr[i + 1]; e++) {
        const j = indices[e];
        if (data.directed || i < j) {
          pen.moveTo(placeX(i), placeY(i));
          pen.lineTo(placeX(j), placeY(j));
        }
      }
    }
    pen.stroke();
  }

  function disc(i, size) {
    context.beginPath();
    context.arc(placeX(i), placeY(i), size, 0, 2 * Math.PI);
  }

  function paint() {
    if (!width) return;
    context.clearRect(0, 0, width, height);
    context.drawImage(edgeLayer, 0, 0, width, height);
    context.strokeStyle = rim;
    context.lineWidth = radius > 3 ? 0.9 : 0.4;
    for (let i = 0; i < n; i++) {
      context.fillStyle = colours[reach > 0 ? Math.round(128 + (128 * filtered[i]) / reach) : 128];
      disc(i, radius);
      context.fill();
      context.stroke();
    }
    if (chosen >= 0) {
      context.strokeStyle = focus;
      context.lineWidth = 3;
      disc(chosen, radius + 3);
      context.stroke();
    }
  }

  // ---- pointing at nodes ----

  function tell() {
    if (chosen < 0) return;
    const degree = data.live ? `, degree ${tidy(degrees[chosen])}` : "";
    const after = data.live ? `, y = ${tidy(filtered[chosen])}` : "";
    readout.textContent = `Node ${data.names[chosen]}${degree}: x = ${tidy(signal.values[chosen])}${after}`;
  }

  function choose(node) {
    if (node === chosen) return;
    chosen = node;
    paint();
    tell();
  }

  function nearest(x, y, within) {
    let best = -1, least = within * within;
    for (let i = 0; i < n; i++) {
      const far = (placeX(i) - x) ** 2 + (placeY(i) - y) ** 2;
      if (far <= least) [best, least] = [i, far];
    }
    return best;
  }

  function towards(dx, dy) {
    let best = chosen, least = Infinity;
    for (let i = 0; i < n; i++) {
      const x = placeX(i) - placeX(chosen), y = placeY(i) - placeY(chosen);
      const along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
      const cost = along + 2 * aside;
      if (i !== chosen && along > 0 && aside <= along && cost < least) [best, least] = [i, cost];
    }
    return best;
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  canvas.addEventListener("pointermove", (event) => {
    const node = nearest(event.offsetX, event.offsetY, radius + 10);
    if (node >= 0) choose(node);
  });
  canvas.addEventListener("pointerdown", (event) => choose(nearest(event.offsetX, event.offsetY, radius + 16)));
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in ARROWS)) return;
    event.preventDefault();
    choose(chosen < 0 ? nearest(width / 2, height / 2, Infinity) : towards(...ARROWS[event.key]));
  });

  // ---- start, and whatever changes the look ----

  function restyle() {
    readTheme();
    layOut();
  }

  fill(byId("signal"), signals, 0);
  if (data.live) fill(byId("family"), data.families, data.families.findIndex((row) => row.name === data.family));
  for (const event of ["input", "change"]) controls.addEventListener(event, filter);
  controls.addEventListener("reset", () => setTimeout(filter));
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", restyle);
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  readTheme();
  new ResizeObserver(layOut).observe(canvas);
  filter();
})();
