// Reads numbers as the page's language writes them, says what they were read as and what is wrong with one while it is
// being typed; the server says it again for whoever has no script.
const form = document.getElementById("person");
export const words = JSON.parse(form?.dataset.words ?? "{}");
const fill = (frame, places) => frame.replace(/\{(\w+)\}/g, (whole, name) => places[name] ?? whole);
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const mark = `[${escaped(words.thousands ?? ",")} \\u00a0\\u2009\\u202f]`;
const NUMBER = new RegExp(
  `^([+-]?)(\\d{1,3}(${mark})\\d{3}(?:\\3\\d{3})*|\\d*)(?:${escaped(words.decimal ?? ".")}(\\d*))?([eE][+-]?\\d+)?$`,
);

const numerals = new Intl.NumberFormat(words.language, { maximumFractionDigits: 20 });

function plain(text) {
  const found = NUMBER.exec(text.trim().replace("−", "-"));
  if (!found || !(found[2] || found[4])) return null;
  const rest = found[4] ? `.${found[4]}` : "";
  return `${found[1]}${found[2].replace(/\D/g, "") || "0"}${rest}${found[5] ?? ""}`;
}

export function faultOf(input) {
  const { least, leastWords, most, mostWords, whole } = input.dataset;
  if (input.value.trim() === "") return "";
  const text = plain(input.value);
  // Some write 40.000 for forty thousand where others mean forty: neither is guessed.
  if (text === null || (whole !== undefined && (text.includes(".") || !Number.isInteger(Number(text))))) {
    return whole === undefined ? words.expected_number : words.expected_whole;
  }
  if (least !== undefined && Number(text) < Number(least)) return fill(words.expected_least, { limit: leastWords });
  if (most !== undefined && Number(text) > Number(most)) return fill(words.expected_most, { limit: mostWords });
  return "";
}

function echo(input, message) {
  const place = document.getElementById(input.dataset.echo ?? "");
  if (!place) return;
  const text = message ? null : plain(input.value);
  if (text === null) {
    place.textContent = "";
    return;
  }
  const number = /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : Number(text);
  const value = numerals.format(number);
  const one = Number(text) === 1 || Math.abs(Number(text)) < Number(words.singular_below);
  const unit = one ? input.dataset.oneUnit : input.dataset.unit;
  place.textContent = fill(words.reads_as, { value: unit ? fill(words.with_unit, { value, unit }) : value });
}

export function check(input) {
  const message = faultOf(input);
  const place = document.getElementById((input.getAttribute("aria-describedby") ?? "").split(" ").pop());
  if (place && place.textContent !== message) place.textContent = message;
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  echo(input, message);
  return message === "";
}

const numbers = form ? [...form.querySelectorAll("input[inputmode]")] : [];

for (const input of numbers) {
  input.addEventListener("input", () => check(input));
  // Someone may have typed before this script was here; what the server said stays.
  if (faultOf(input)) check(input);
  else echo(input, "");
}

for (const box of form?.querySelectorAll("input[data-for]") ?? []) {
  const field = document.getElementById(box.dataset.for);
  box.addEventListener("input", () => {
    if (!box.checked) return;
    field.value = "";
    if (field.matches("input")) check(field);
  });
  field.addEventListener("input", () => { if (field.value !== "") box.checked = false; });
}

form?.addEventListener("submit", (event) => {
  const wrong = event.submitter?.name === "to" ? [] : numbers.filter((input) => !check(input));
  if (wrong.length) {
    event.preventDefault();
    for (let each = wrong[0].closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
    wrong[0].focus();
  }
});

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("a[href^='#v']") && document.querySelector(event.target.closest("a").hash);
  if (!target) return;
  event.preventDefault();
  for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  target.closest(".field").hidden = false;
  target.focus();
});
