// Says what is wrong with a number while it is being typed; the server says it again for whoever has no script.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function faultOf(input) {
  const text = input.value.trim();
  const { least, most, whole } = input.dataset;
  if (text === "") return "";
  if (!NUMBER.test(text)) return `expected a ${whole === undefined ? "" : "whole "}number`;
  const number = Number(text);
  if (whole !== undefined && !Number.isInteger(number)) return "expected a whole number";
  if (least !== undefined && number < Number(least)) return `expected at least ${least}`;
  if (most !== undefined && number > Number(most)) return `expected at most ${most}`;
  return "";
}

export function check(input) {
  const message = faultOf(input);
  const place = document.getElementById((input.getAttribute("aria-describedby") ?? "").split(" ").pop());
  if (place && place.textContent !== message) place.textContent = message;
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  return message === "";
}

const form = document.getElementById("person");
const numbers = form ? [...form.querySelectorAll("input[inputmode]")] : [];

for (const input of numbers) {
  input.addEventListener("input", () => check(input));
  // Someone may have typed before this script was here; what the server said stays.
  if (faultOf(input)) check(input);
}

form?.addEventListener("submit", (event) => {
  const wrong = numbers.filter((input) => !check(input));
  if (wrong.length) {
    event.preventDefault();
    wrong[0].closest("details")?.setAttribute("open", "");
    wrong[0].focus();
    return;
  }
  // What is empty says nothing, and an address without it is shorter; an empty value says "not known".
  for (const each of form.elements) {
    if (each.name && !each.name.startsWith("v:") && each.value === "") each.disabled = true;
  }
});

window.addEventListener("pageshow", () => {
  for (const each of form?.elements ?? []) each.disabled = false;
});
