// Finds a field by its name in a long form, and shows only those that the answer has to do with.
import { words } from "./fields.js";

const find = document.getElementById("find");
const matters = document.getElementById("matters");
const found = document.getElementById("found");
const groups = [...document.querySelectorAll(".group")];

function weighed() {
  const told = document.querySelector("article.answer")?.dataset.matters;
  return matters?.checked && told ? new Set(JSON.parse(told)) : null;
}

function narrow() {
  const asked = find.value.trim().toLowerCase();
  const kept = weighed();
  let shown = 0;
  for (const group of groups) {
    let some = 0;
    for (const field of group.querySelectorAll(".field")) {
      const { name, label } = field.dataset;
      const said = field.querySelector("[aria-invalid]") || field.classList.contains("touched");
      const named = label.toLowerCase().includes(asked) || name.toLowerCase().includes(asked);
      field.hidden = !(named && (!kept || kept.has(name) || said));
      some += field.hidden ? 0 : 1;
    }
    group.hidden = some === 0;
    if (asked && some) group.open = true;
    shown += some;
  }
  found.textContent = shown ? "" : words.no_field;
}

find.closest(".finder").hidden = groups.reduce((sum, each) => sum + each.querySelectorAll(".field").length, 0) < 8;
find.addEventListener("input", narrow);
find.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
matters?.addEventListener("input", narrow);
document.addEventListener("p2c:planned", () => { if (matters?.checked) narrow(); });
