const STATE = ["signal", "family", "gamma", "kernel", "value"];

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "gsp-widget";
  root.innerHTML = model.get("markup");
  // JupyterLab takes the arrow keys of a notebook for itself, those of a slider included, unless the focused element refuses.
  for (const item of root.querySelectorAll("canvas, input, select, button")) item.dataset.lmSuppressShortcuts = "true";
  el.append(root);
  const publish = (state) => {
    for (const name of [...STATE, "s_before", "s_after", "kept"]) model.set(name, Number.isNaN(state[name]) ? null : state[name]);
    model.save_changes();
  };
  // The first state of the view is its own; the model's replaces it before anything is published.
  let own = true;
  const set = spectralView(root, model.get("data"), model.get("prefix"), (state) => {
    if (own) return;
    own = true;
    publish(state);
    own = false;
  });
  own = false;
  const follow = () => {
    if (!own) set(Object.fromEntries(STATE.map((name) => [name, model.get(name)])));
  };
  for (const name of STATE) model.on(`change:${name}`, follow);
  follow();
  return () => {
    for (const name of STATE) model.off(`change:${name}`, follow);
  };
}

export default { render };
