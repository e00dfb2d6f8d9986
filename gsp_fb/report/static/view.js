// The linked spectral view: a graph drawing, the energy of a signal over the frequency axis, a response and the output.
// `root` holds the elements of view.html.j2, whose ids start with `prefix`; `onChange` receives the state of each filter step.
function spectralView(root, data, prefix = "", onChange = () => {}) {
  const byId = (id) => root.querySelector(`[id="${prefix}${id}"]`);
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
  const classes = data.classes === null ? null : unpack(data.classes);
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
    for (let e = indptr[i]; e < indptr[i + 1]; e++) degrees[i] += Math.abs(weightOf(e));
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
    const top = family.norm === "none" ? 2 * degrees.reduce((a, b) => Math.max(a, b), 0) || 2 : 2;
    return { left, right, diag, metric, top };
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

  // In the inner product in which the operator is self-adjoint: weights d~ for random-walk families, else 1.
  function inner(op, x, y) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += op.metric[i] * x[i] * y[i];
    return sum;
  }

  function sValue(op, x) {
    const low = apply(op, x);
    return inner(op, x, x.map((value, i) => value - low[i])) / inner(op, x, x);
  }

  // ---- the Krylov space of a signal: its energy over the frequencies, and every filter of it ----

  // Lanczos with full reorthogonalisation. The steps are limited by the work between two frames; up to 200 nodes the
  // space is invariant, so that spectrum and filters are exact.
  function krylov(op, x) {
    const steps = Math.max(2, Math.min(n, 200, Math.floor(Math.sqrt(3e7 / n))));
    const norm = Math.sqrt(inner(op, x, x)), basis = [], diagonal = [], off = [];
    let v = x.map((value) => value / norm);
    while (norm > 0) {
      const low = apply(op, v), w = v.map((value, i) => value - low[i]);
      basis.push(v);
      diagonal.push(inner(op, w, v));
      for (const q of [...basis, ...basis]) {
        const along = inner(op, w, q);
        for (let i = 0; i < n; i++) w[i] -= along * q[i];
      }
      const length = Math.sqrt(inner(op, w, w));
      if (basis.length === steps || !(length > 1e-12 * op.top)) break;
      off.push(length);
      v = w.map((value) => value / length);
    }
    return { norm, basis, ...tridiagonalModes(diagonal, off) };
  }

  // Eigenvalues and eigenvectors (as rows) of a symmetric tridiagonal matrix: QL steps with Wilkinson's shift.
  function tridiagonalModes(diagonal, off) {
    const m = diagonal.length, d = Float64Array.from(diagonal), e = new Float64Array(m);
    e.set(off);
    const size = d.reduce((a, b) => Math.max(a, Math.abs(b)), e.reduce((a, b) => Math.max(a, b), 0));
    const vectors = d.length ? Array.from(d, (_, k) => Float64Array.from(d, (__, i) => Number(i === k))) : [];
    for (let first = 0; first < m; first++) {
      for (let round = 0; round < 60; round++) {
        let last = first;
        while (last < m - 1 && Math.abs(e[last]) > 1e-16 * size) last++;
        if (last === first) break;
        const half = (d[first + 1] - d[first]) / (2 * e[first]);
        const shift = d[first] - e[first] / (half + (half < 0 ? -1 : 1) * Math.hypot(half, 1));
        let bulge = d[last] - shift, sine = 1, cosine = 1, moved = 0, k = last - 1;
        for (; k >= first; k--) {
          const f = sine * e[k], g = cosine * e[k], length = Math.hypot(f, bulge);
          e[k + 1] = length;
          if (length === 0) break;
          [sine, cosine] = [f / length, bulge / length];
          const rest = d[k + 1] - moved, turn = (d[k] - rest) * sine + 2 * cosine * g;
          moved = sine * turn;
          d[k + 1] = rest + moved;
          bulge = cosine * turn - g;
          const [u, v] = [vectors[k], vectors[k + 1]];
          for (let i = 0; i < m; i++) [u[i], v[i]] = [cosine * u[i] - sine * v[i], sine * u[i] + cosine * v[i]];
        }
        if (k >= first) {
          d[k + 1] -= moved;
        } else {
          d[first] -= moved;
          e[first] = bulge;
        }
        e[last] = 0;
      }
    }
    return { values: d, vectors };
  }

  function filterIn(space, response) {
    const y = new Float64Array(n);
    const gains = space.vectors.map((vector, k) => response(space.values[k]) * vector[0] * space.norm);
    space.basis.forEach((q, step) => {
      const share = gains.reduce((sum, gain, k) => sum + gain * space.vectors[k][step], 0);
      for (let i = 0; i < n; i++) y[i] += share * q[i];
    });
    return y;
  }

  // ---- responses: parameter, end of the axis -> function of frequency; the table in drawing.py has their ranges ----

  const RESPONSES = {
    pair: (t) => (f) => (1 - t) * (1 - f) + t * f,
    heat: (tau) => (f) => Math.exp(-tau * f),
    band: (center, top) => (f) => Math.exp(-0.5 * ((f - center * top) / (0.06 * top)) ** 2),
    wavelet: (peak, top) => (f) => (f / (peak * top)) * Math.exp(-f / (peak * top)),
  };

  // ---- state ----

  const controls = byId("controls"), canvas = byId("canvas"), readout = byId("readout"), plot = byId("spectrum");
  let signal = signals[0], filtered = signal.values, shown = filtered, reach = 1, chosen = -1, band = -1;
  const order = Uint32Array.from({ length: n }, (_, i) => i);
  let op = null, space = null, made = "", response = () => 1, bands = null;

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

  function setKernel() {
    const row = data.responses[byId("kernel").value], slider = byId("mix");
    [slider.min, slider.max, slider.step] = [row.low, row.high, row.step];
    slider.defaultValue = slider.value = row.start;
    byId("mix-label").textContent = row.parameter;
    byId("mix-low").textContent = row.ends[0];
    byId("mix-high").textContent = row.ends[1];
    byId("formula").textContent = row.formula;
  }

  function filter() {
    signal = signals[byId("signal").value];
    filtered = signal.values;
    byId("signal-name").textContent = signal.title;
    if (data.live) filterLive();
    const mode = byId("colour").value;
    shown = mode === "input" ? signal.values : filtered;
    stretch();
    byId("scale").hidden = mode === "classes";
    byId("class-keys").hidden = mode !== "classes";
    paint();
    tell();
  }

  // The colours reach to the value that 2 % of the nodes exceed, so that a few hubs do not leave the others pale. Nodes of
  // large values are drawn last, in front.
  function stretch() {
    const size = shown.map(Math.abs);
    order.sort((a, b) => size[a] - size[b]);
    const most = n ? size[order[n - 1]] : 0;
    reach = (n && size[order[Math.floor(0.98 * (n - 1))]]) || most;
    byId("scale-low").textContent = (reach < most ? "≤ " : "") + tidy(-reach);
    byId("scale-high").textContent = (reach < most ? "≥ " : "") + tidy(reach);
  }

  function filterLive() {
    const family = data.families[byId("family").value], row = data.responses[byId("kernel").value];
    const gammaSlider = byId("gamma"), gamma = 10 ** Number(gammaSlider.value);
    byId("family-name").textContent = family.title;
    byId("kernel-name").textContent = row.title;
    gammaSlider.disabled = family.loops === "none";
    gammaSlider.parentElement.classList.toggle("off", gammaSlider.disabled);
    byId("gamma-value").textContent = gammaSlider.disabled ? "none" : tidy(gamma);
    byId("gamma-value").dataset.exact = gamma;
    gammaSlider.setAttribute("aria-valuetext", `gamma ${tidy(gamma)}`);
    const key = [signal.title, family.name, gammaSlider.disabled || gamma].join();
    if (key !== made) {
      op = lowChannel(family, gamma);
      space = data.directed ? null : krylov(op, signal.values);
      made = key;
    }
    const slider = Number(byId("mix").value), value = row.log ? 10 ** slider : slider;
    byId("mix-value").textContent = tidy(value);
    byId("mix").setAttribute("aria-valuetext", `${row.parameter} ${tidy(value)}`);
    response = RESPONSES[row.name](value, op.top);
    filtered = row.name === "pair" ? firstOrder(value) : filterIn(space, response);
    const kept = energy(filtered) / energy(signal.values), before = sValue(op, signal.values);
    // What rounding leaves of a signal that was filtered away has no S.
    const after = kept < 1e-24 ? NaN : sValue(op, filtered);
    show("s-before", before, 6, "x");
    show("s-after", after, 6);
    show("kept", kept, 6, "x");
    if (space !== null) {
      measure();
      paintSpectrum();
    }
    onChange({ signal: signal.title, family: family.name, gamma, kernel: row.name, value, s_before: before, s_after: after, kept });
  }

  function firstOrder(t) {
    const low = apply(op, signal.values);
    return low.map((value, i) => (1 - t) * value + t * (signal.values[i] - value));
  }

  // ---- the frequency axis ----

  // Odd, so that frequency 1, of which many graphs have a great many, is the middle of a band.
  const BANDS = 41;

  function measure() {
    const before = new Float64Array(BANDS), after = new Float64Array(BANDS);
    space.values.forEach((frequency, k) => {
      const at = Math.max(0, Math.min(BANDS - 1, Math.floor((frequency / op.top) * BANDS)));
      before[at] += space.vectors[k][0] ** 2;
      after[at] += (response(frequency) * space.vectors[k][0]) ** 2;
    });
    bands = { before, after };
    plot.dataset.before = before.join(" ");
    plot.dataset.after = after.join(" ");
    const half = (shares) => 100 * shares.slice(0, (BANDS - 1) / 2).reduce((a, b) => a + b, 0) / Math.max(shares.reduce((a, b) => a + b, 0), 1e-300);
    const gains = [0, 0.5, 1].map((share) => tidy(response(share * op.top)));
    plot.setAttribute("aria-label", `Energy by frequency from 0 to ${tidy(op.top)}. Below the middle band lie ${half(before).toFixed(0)} % of the input and ${half(after).toFixed(0)} % of the output. Response at both ends and in the middle: ${gains.join(", ")}. Arrow keys move from band to band.`);
  }

  function paintSpectrum() {
    const pen = fit(plot), wide = plot.clientWidth, high = plot.clientHeight;
    if (!wide) return;
    const left = 44, right = wide - 40, roof = 12, floor = high - 34;
    const most = Math.max(...bands.before, ...bands.after) || 1;
    const gains = Array.from({ length: 201 }, (_, k) => response((k / 200) * op.top));
    const [least, best] = [Math.min(0, ...gains), Math.max(1e-12, ...gains)];
    const across = (share) => left + share * (right - left), up = (share) => floor - share * (floor - roof);
    const zero = -least / (best - least);
    pen.clearRect(0, 0, wide, high);
    pen.font = `12px ${getComputedStyle(plot).fontFamily}`;
    const step = (right - left) / BANDS;
    for (let k = 0; k < BANDS; k++) {
      const x = across(k / BANDS);
      pen.fillStyle = tone.input;
      pen.fillRect(x + 0.5, up(bands.before[k] / most), step - 1, floor - up(bands.before[k] / most));
      // The outline is what a weak eye sees of a pale bar.
      pen.strokeStyle = tone.soft;
      pen.lineWidth = 1;
      if (bands.before[k] > 0.01 * most) pen.strokeRect(x + 1, up(bands.before[k] / most), step - 2, floor - up(bands.before[k] / most));
      pen.fillStyle = tone.output;
      pen.fillRect(x + step * 0.25, up(bands.after[k] / most), step * 0.5, floor - up(bands.after[k] / most));
      if (k === band) {
        pen.strokeStyle = tone.focus;
        pen.lineWidth = 2;
        pen.strokeRect(x, roof, step, floor - roof);
      }
    }
    pen.strokeStyle = pen.fillStyle = tone.soft;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(left, floor);
    pen.lineTo(right, floor);
    pen.stroke();
    pen.textAlign = "center";
    for (let k = 0; k <= 4; k++) pen.fillText(tidy((k / 4) * op.top), across(k / 4), floor + 14);
    pen.fillText("frequency λ", (left + right) / 2, high - 5);
    pen.textAlign = "right";
    for (const share of [0.5, 1]) pen.fillText(`${(100 * most * share).toFixed(most < 0.1 ? 1 : 0)} %`, left - 5, up(share) + 4);
    pen.textAlign = "left";
    pen.fillStyle = tone.response;
    for (const gain of new Set([least, 0, best])) pen.fillText(tidy(Number(gain.toFixed(2))), right + 5, up((gain - least) / (best - least)) + 4);
    pen.strokeStyle = tone.response;
    pen.globalAlpha = 0.35;
    pen.beginPath();
    pen.moveTo(left, up(zero));
    pen.lineTo(right, up(zero));
    pen.stroke();
    pen.globalAlpha = 1;
    pen.lineWidth = 2.5;
    pen.beginPath();
    gains.forEach((gain, k) => pen.lineTo(across(k / 200), up((gain - least) / (best - least))));
    pen.stroke();
  }

  function tellBand(k) {
    band = Math.max(0, Math.min(BANDS - 1, k));
    const [from, to] = [band / BANDS, (band + 1) / BANDS].map((share) => tidy(share * op.top));
    const gain = tidy(response(((band + 0.5) / BANDS) * op.top));
    byId("band").textContent = `Frequencies ${from} to ${to}: ${(100 * bands.before[band]).toFixed(2)} % of the energy of x, response ${gain}, ${(100 * bands.after[band]).toFixed(2)} % left in y.`;
    paintSpectrum();
  }

  if (plot !== null) {
    const at = (event) => Math.floor(((event.offsetX - 44) / (plot.clientWidth - 84)) * BANDS);
    plot.addEventListener("pointermove", (event) => tellBand(at(event)));
    plot.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      tellBand(band + move);
    });
  }

  // ---- drawing ----

  const context = canvas.getContext("2d"), edgeLayer = document.createElement("canvas");
  let width = 0, height = 0, radius = 4, colours = [], palette = [], tone = {};
  let zoom = 1, shiftX = 0, shiftY = 0;
  const MARGIN = 16;
  // A layout fills the canvas; coordinates keep their shape, so both axes have one scale.
  const span = (axis) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = axis; i < 2 * n; i += 2) [low, high] = [Math.min(low, positions[i]), Math.max(high, positions[i])];
    return Math.max(high - low, 1e-9);
  };
  const spans = [span(0), span(1)];
  // A wide or tall map has a canvas of its shape instead of empty space above and below.
  if (data.keep_shape) canvas.style.aspectRatio = Math.max(1, Math.min(1.7, spans[0] / spans[1]));
  let scaleX = 1, scaleY = 1;
  const placeX = (i) => shiftX + zoom * (width / 2 + (positions[2 * i] - 0.5) * scaleX);
  const placeY = (i) => shiftY + zoom * (height / 2 + (positions[2 * i + 1] - 0.5) * scaleY);

  function rescale() {
    [scaleX, scaleY] = [width - 2 * MARGIN, height - 2 * MARGIN];
    if (data.keep_shape) scaleX = scaleY = Math.min(scaleX / spans[0], scaleY / spans[1]);
  }

  function rgb(colour) {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour.trim();
    const code = Number.parseInt(probe.fillStyle.slice(1), 16);
    return [code >> 16, (code >> 8) & 255, code & 255];
  }

  function readTheme() {
    const style = getComputedStyle(canvas), value = (name) => style.getPropertyValue(name);
    const [negative, zero, positive] = ["--negative", "--zero", "--positive"].map((name) => rgb(value(name)));
    colours = Array.from({ length: 257 }, (_, k) => {
      const share = (k - 128) / 128, end = share < 0 ? negative : positive;
      const mixed = zero.map((from, axis) => Math.round(from + (end[axis] - from) * Math.abs(share)));
      return `rgb(${mixed.join(",")})`;
    });
    palette = Array.from({ length: 7 }, (_, k) => value(`--c${k}`));
    tone = { ink: value("--ink"), edge: value("--edge"), rim: value("--rim"), focus: value("--focus"), soft: value("--soft") };
    Object.assign(tone, { input: value("--input"), output: value("--positive"), response: value("--focus"), card: value("--card") });
  }

  // Sets the bitmap of a canvas to its size on the screen and returns its context.
  function fit(layer, wide = layer.clientWidth, high = layer.clientHeight) {
    const ratio = window.devicePixelRatio || 1, pen = layer.getContext("2d");
    layer.width = Math.round(wide * ratio);
    layer.height = Math.round(high * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  function layOut() {
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    rescale();
    fit(canvas);
    fit(edgeLayer, width, height);
    if (space !== null) paintSpectrum();
    place();
  }

  function place() {
    radius = Math.max(1.6, Math.min(9, 0.24 * Math.sqrt((width * height) / Math.max(n, 1)))) * Math.sqrt(zoom);
    paintEdges();
    paint();
  }

  function paintEdges() {
    const pen = edgeLayer.getContext("2d"), count = indices.length / 2;
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = tone.edge;
    // Fainter the more there are, so that nodes stay in front; stronger where a part is looked at.
    pen.globalAlpha = Math.min(1, Math.max(0.12, (25 * zoom) / Math.sqrt(count + 1)));
    pen.lineWidth = count > 10000 ? 0.5 : 1;
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

  // Seven colours times five shapes: classes beyond the seventh differ by shape.
  const CORNERS = [0, 4, 3, 5, -4];

  function outline(pen, x, y, size, kind) {
    const corners = Math.abs(CORNERS[kind % CORNERS.length]), turn = CORNERS[kind % CORNERS.length] < 0 ? 0 : Math.PI / 4;
    pen.beginPath();
    if (corners === 0) return pen.arc(x, y, size, 0, 2 * Math.PI);
    for (let k = 0; k < corners; k++) {
      const angle = (2 * Math.PI * k) / corners - (corners === 4 ? turn : Math.PI / 2);
      pen.lineTo(x + 1.25 * size * Math.cos(angle), y + 1.25 * size * Math.sin(angle));
    }
    return pen.closePath();
  }

  function paint() {
    if (!width) return;
    context.clearRect(0, 0, width, height);
    context.drawImage(edgeLayer, 0, 0, width, height);
    context.strokeStyle = tone.rim;
    context.lineWidth = radius > 3 ? 0.9 : 0.4;
    const byClass = byId("colour").value === "classes";
    const shade = (value) => colours[reach > 0 ? Math.round(128 + 128 * Math.max(-1, Math.min(1, value / reach))) : 128];
    for (const i of order) {
      const label = byClass ? classes[i] : 0;
      context.fillStyle = byClass ? palette[label % 7] : shade(shown[i]);
      if (byClass && label === 0xffffffff) context.fillStyle = tone.card;
      outline(context, placeX(i), placeY(i), radius, byClass && label !== 0xffffffff ? Math.floor(label / 7) : 0);
      context.fill();
      context.stroke();
    }
    paintNames();
    if (chosen >= 0) {
      context.strokeStyle = tone.focus;
      context.lineWidth = 3;
      outline(context, placeX(chosen), placeY(chosen), radius + 3, 0);
      context.stroke();
    }
  }

  // Names of the user's own beside the nodes, as many as stand free of nodes and of each other: zooming in brings the rest.
  // Nodes of large degree come first, whatever the slider does, so that names stay where they are.
  const NAME_RADIUS = 5, NAME_LETTERS = 18, NAME_NODES = 400;
  const byDegree = data.names.some((name, i) => name !== String(i)) ? Array.from(order).sort((a, b) => degrees[b] - degrees[a]) : [];

  function paintNames() {
    let count = 0;
    const inside = radius < NAME_RADIUS ? [] : byDegree.filter((i) => placeX(i) > 0 && placeX(i) < width && placeY(i) > 0 && placeY(i) < height);
    if (inside.length <= NAME_NODES) {
      const taken = inside.map((i) => [placeX(i) - radius, placeY(i) - radius, placeX(i) + radius, placeY(i) + radius]);
      const free = (a) => a[0] > 2 && a[1] > 2 && a[2] < width - 2 && a[3] < height - 2 && taken.every((b) => a[0] > b[2] || a[2] < b[0] || a[1] > b[3] || a[3] < b[1]);
      context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
      context.fillStyle = tone.ink;
      for (const i of inside) {
        const name = data.names[i].length > NAME_LETTERS ? `${data.names[i].slice(0, NAME_LETTERS - 1)}…` : data.names[i];
        const long = context.measureText(name).width, x = placeX(i), y = placeY(i), gap = radius + 3;
        const boxes = [[x + gap, y - 6], [x - gap - long, y - 6], [x - long / 2, y - gap - 11], [x - long / 2, y + gap]];
        const box = boxes.map(([left, top]) => [left, top, left + long, top + 12]).find(free);
        if (box === undefined) continue;
        context.fillText(name, box[0], box[1] + 10);
        taken.push(box);
        count += 1;
      }
    }
    canvas.dataset.names = count;
  }

  function paintClassKeys() {
    const list = byId("class-keys");
    list.replaceChildren();
    data.class_names.forEach((name, label) => {
      const item = document.createElement("span"), swatch = document.createElement("canvas");
      [swatch.width, swatch.height, item.className] = [16, 16, "key"];
      const pen = swatch.getContext("2d");
      pen.fillStyle = palette[label % 7];
      outline(pen, 8, 8, 5, Math.floor(label / 7));
      pen.fill();
      item.append(swatch, name);
      list.append(item);
    });
  }

  // ---- zoom and pan ----

  function zoomTo(factor, x = width / 2, y = height / 2) {
    const next = Math.max(1, Math.min(40, zoom * factor));
    [shiftX, shiftY] = [x - ((x - shiftX) * next) / zoom, y - ((y - shiftY) * next) / zoom];
    zoom = next;
    pan(0, 0);
  }

  function pan(dx, dy) {
    shiftX = Math.min(0, Math.max(width * (1 - zoom), shiftX + dx));
    shiftY = Math.min(0, Math.max(height * (1 - zoom), shiftY + dy));
    canvas.dataset.zoom = zoom;
    // A finger scrolls the page until a part is looked at.
    canvas.style.touchAction = zoom > 1 ? "none" : "";
    place();
  }

  const ZOOM = { "zoom-in": 1.6, "zoom-out": 1 / 1.6, "zoom-fit": 1e-9 };
  for (const [id, factor] of Object.entries(ZOOM)) byId(id).addEventListener("click", () => zoomTo(factor));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && root.ownerDocument.activeElement !== canvas) return;
    event.preventDefault();
    zoomTo(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  }, { passive: false });

  // ---- files ----

  function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  byId("save-picture").addEventListener("click", () => {
    const page = document.createElement("canvas"), pen = page.getContext("2d"), extra = plot === null ? 0 : plot.height;
    [page.width, page.height] = [Math.max(canvas.width, plot === null ? 0 : plot.width), canvas.height + extra];
    pen.fillStyle = tone.card;
    pen.fillRect(0, 0, page.width, page.height);
    pen.drawImage(canvas, 0, 0);
    if (plot !== null) pen.drawImage(plot, 0, canvas.height);
    page.toBlob((blob) => save("graph.png", blob));
  });
  byId("save-signal").addEventListener("click", () => {
    const quote = (name) => `"${name.replaceAll('"', '""')}"`;
    const rows = data.names.map((name, i) => `${quote(name)},${signal.values[i]},${filtered[i]}`);
    save("signal.csv", new Blob([["node,x,y", ...rows, ""].join("\n")], { type: "text/csv" }));
  });

  // ---- pointing at nodes ----

  function facts(i) {
    const own = data.columns.map((column) => [column.title, column.values[i]]).filter((pair) => pair[1] !== null);
    const label = classes === null || classes[i] === 0xffffffff ? [] : [["class", data.class_names[classes[i]]]];
    const degree = data.live ? [["degree", tidy(degrees[i])]] : [];
    const after = data.live ? [["y", tidy(filtered[i])]] : [];
    return [...label, ...own, ...degree, ["x", tidy(signal.values[i])], ...after];
  }

  function tell() {
    const tip = byId("tip");
    tip.hidden = chosen < 0;
    if (chosen < 0) return;
    const pairs = facts(chosen), name = data.names[chosen];
    readout.textContent = `Node ${name}: ${pairs.map((pair) => pair.join(" = ")).join(", ")}`;
    tip.replaceChildren(...[["", name], ...pairs].map(([key, value]) => {
      const line = document.createElement(key ? "div" : "b");
      line.textContent = key ? `${key}: ${value}` : value;
      return line;
    }));
    const [x, y] = [placeX(chosen), placeY(chosen)];
    const flipX = x > width / 2, flipY = y > height / 2;
    tip.style.transform = `translate(${flipX ? "calc(-100% - 14px)" : "14px"}, ${flipY ? "calc(-100% - 8px)" : "8px"})`;
    [tip.style.left, tip.style.top] = [`${Math.max(0, Math.min(width, x))}px`, `${Math.max(0, Math.min(height, y))}px`];
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
  const KEYS = { "+": 1.6, "=": 1.6, "-": 1 / 1.6, 0: 1e-9 };
  let dragged = null;

  canvas.addEventListener("pointermove", (event) => {
    if (dragged !== null && zoom > 1) {
      pan(event.offsetX - dragged[0], event.offsetY - dragged[1]);
      dragged = [event.offsetX, event.offsetY];
      tell();
      return;
    }
    const node = nearest(event.offsetX, event.offsetY, radius + 10);
    if (node >= 0) choose(node);
  });
  canvas.addEventListener("pointerdown", (event) => {
    dragged = [event.offsetX, event.offsetY];
    choose(nearest(event.offsetX, event.offsetY, radius + 16));
  });
  for (const event of ["pointerup", "pointerleave", "pointercancel"]) canvas.addEventListener(event, () => (dragged = null));
  canvas.addEventListener("keydown", (event) => {
    if (event.key in KEYS) {
      zoomTo(KEYS[event.key]);
    } else if (event.key in ARROWS && event.shiftKey) {
      pan(-60 * ARROWS[event.key][0], -60 * ARROWS[event.key][1]);
    } else if (event.key in ARROWS) {
      choose(chosen < 0 ? nearest(width / 2, height / 2, Infinity) : towards(...ARROWS[event.key]));
    } else return;
    event.preventDefault();
    tell();
  });

  // ---- start, and whatever changes the look ----

  function restyle() {
    readTheme();
    if (classes !== null) paintClassKeys();
    layOut();
  }

  const COLOURS = [["output", "output y"], ["input", "input x"], ["classes", "classes"]];
  for (const [value, title] of COLOURS) {
    if ((value === "output") <= data.live && (value === "classes") <= (classes !== null)) byId("colour").add(new Option(title, value));
  }
  fill(byId("signal"), signals, 0);
  if (data.live) {
    fill(byId("family"), data.families, data.families.findIndex((row) => row.name === data.family));
    fill(byId("kernel"), data.responses, 0);
    setKernel();
    byId("kernel").addEventListener("change", setKernel);
  }
  for (const event of ["input", "change"]) controls.addEventListener(event, filter);
  controls.addEventListener("reset", () => setTimeout(() => {
    if (data.live) setKernel();
    filter();
  }));
  controls.addEventListener("submit", (event) => event.preventDefault());
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", restyle);
  readTheme();
  if (classes !== null) paintClassKeys();
  new ResizeObserver(layOut).observe(canvas);
  filter();

  // Sets the controls from outside: the names and values of a state.
  return (state) => {
    const pick = (id, rows, name) => (byId(id).value = Math.max(0, rows.findIndex((row) => row.title === name || row.name === name)));
    if ("signal" in state) pick("signal", signals, state.signal);
    if ("family" in state) pick("family", data.families, state.family);
    // A value from outside need not be one of the slider's steps.
    byId("gamma").step = "any";
    if ("gamma" in state) byId("gamma").value = Math.log10(state.gamma);
    if ("kernel" in state) {
      pick("kernel", data.responses, state.kernel);
      setKernel();
    }
    const row = data.responses[byId("kernel").value];
    byId("mix").step = "any";
    if ("value" in state) byId("mix").value = row.log ? Math.log10(state.value) : state.value;
    filter();
  };
}
