// Plans again with every change, puts the answer into the page and the state into the address.
import { check } from "./fields.js";

const form = document.getElementById("person");
const result = document.getElementById("result");
const progress = document.getElementById("progress");
const TYPING = 150;
const PATIENCE = 200;
let running = null;
let timer = 0;

function query() {
  const pairs = [...new FormData(form)].filter(([name, value]) => value !== "" || name.startsWith("v:"));
  return new URLSearchParams(pairs).toString();
}

function carry(search) {
  history.replaceState(null, "", `${location.pathname}?${search}`);
  for (const link of document.querySelectorAll("a[data-carry]")) {
    link.href = `${link.pathname}?${search}`;
  }
}

async function fetchPart(address, signal) {
  const answer = await fetch(address, { signal });
  const type = answer.headers.get("content-type") ?? "";
  if (type.startsWith("text/html")) return answer.text();
  throw new Error(`The server answered ${answer.status}.`);
}

function say(text) {
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("role", "status");
  note.textContent = text;
  result.replaceChildren(note);
}

async function showWays(signal) {
  const place = document.getElementById("ways");
  if (!place) return;
  try {
    place.innerHTML = await fetchPart(`${place.dataset.ways}&part=1`, signal);
  } catch {
    // The link to the ways stays.
  }
}

async function replan() {
  const numbers = [...form.querySelectorAll("input[inputmode]")];
  if (numbers.filter((input) => !check(input)).length) return;
  running?.abort();
  const mine = (running = new AbortController());
  const search = query();
  carry(search);
  const waiting = setTimeout(() => { progress.hidden = false; }, PATIENCE);
  try {
    result.innerHTML = await fetchPart(`${form.dataset.result}?${search}`, mine.signal);
    document.dispatchEvent(new CustomEvent("p2c:planned"));
    showWays(mine.signal);
  } catch (error) {
    if (mine === running) {
      say(error.name === "AbortError" ? "Cancelled. Change something to plan again." : `${error.message} Try again.`);
    }
  } finally {
    clearTimeout(waiting);
    if (mine === running) {
      progress.hidden = true;
      result.removeAttribute("aria-busy");
    }
  }
}

function soon(delay) {
  clearTimeout(timer);
  timer = setTimeout(replan, delay);
}

form.addEventListener("input", (event) => soon(event.target.matches("input[inputmode]") ? TYPING : 0));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  soon(0);
});
document.getElementById("cancel").addEventListener("click", () => running?.abort());
showWays();
