// Draws a knob for each feature and the plan below them; every change goes to Python, which plans again.
function made(tag, attributes = {}, ...inside) {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...inside);
  return node;
}

function number(text) {
  return text === "" ? null : Number(text);
}

function choice(knob, value, words, turned) {
  const values = [null, ...knob.choices.map(([each]) => each)];
  const names = [words.unknown, ...knob.choices.map(([, name]) => name)];
  const select = made("select", { ariaLabel: knob.label }, ...names.map((name) => made("option", {}, name)));
  select.selectedIndex = values.indexOf(value);
  select.onchange = () => turned(values[select.selectedIndex]);
  return select;
}

function amount(knob, value, turned) {
  const { min, max, step } = knob;
  const input = made("input", { type: knob.slider ? "range" : "number", ariaLabel: knob.label, min, max, step });
  input.value = value ?? "";
  const shown = made("output", {}, knob.slider ? input.value : "");
  input.oninput = () => shown.replaceChildren(knob.slider ? input.value : "");
  input.onchange = () => turned(number(input.value));
  return made("span", {}, input, " ", shown, " ", knob.unit);
}

function restrictions(knob, words, own, said) {
  const fixed = made("input", { type: "checkbox", checked: own.action === "fixed" });
  fixed.onchange = () => said("action", fixed.checked ? "fixed" : null);
  const parts = [made("label", {}, fixed, " ", words.fixed)];
  for (const end of knob.choices.length ? [] : ["min", "max"]) {
    const input = made("input", { type: "number", step: knob.step, value: own[end] ?? "" });
    input.style.width = "7em";
    input.onchange = () => said(end, number(input.value));
    parts.push(" ", made("label", {}, words[end], " ", input));
  }
  return parts;
}

function line(model, knob) {
  const words = model.get("words");
  const turned = (value) => send(model, "row", knob.name, value);
  const said = (key, value) => {
    const keys = { ...model.get("restrict")[knob.name], [key]: value };
    send(model, "restrict", knob.name, Object.fromEntries(Object.entries(keys).filter(([, each]) => each !== null)));
  };
  const value = model.get("row")[knob.name];
  const control = knob.choices.length ? choice(knob, value, words, turned) : amount(knob, value, turned);
  const own = knob.direct ? restrictions(knob, words, model.get("restrict")[knob.name] ?? {}, said) : [];
  return made("tr", {}, made("th", { scope: "row" }, knob.label), made("td", {}, control), made("td", {}, ...own));
}

function send(model, trait, name, value) {
  model.set(trait, { ...model.get(trait), [name]: value });
  model.save_changes();
}

export default {
  render({ model, el }) {
    const knobs = made("table");
    const plan = made("div", { ariaLive: "polite" });
    const draw = () => knobs.replaceChildren(...model.get("knobs").map((knob) => line(model, knob)));
    const show = () => { plan.innerHTML = model.get("html"); };
    model.on("change:html", show);
    draw();
    show();
    el.append(knobs, plan);
  },
};
