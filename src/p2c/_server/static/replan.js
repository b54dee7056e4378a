// Plans again with every change, and puts the answer into the page and the id of its state into the address.
import { check, words } from "./fields.js";

const form = document.getElementById("person");
const result = document.getElementById("result");
const letter = document.getElementById("letter");
const progress = document.getElementById("progress");
const TYPING = 150;
const PATIENCE = 200;
let running = null;
let timer = 0;

function typed() {
  return new URLSearchParams([...new FormData(form)].filter(([name, value]) => value !== "" || name.startsWith("v:")));
}

function carry({ query, free }) {
  history.replaceState(null, "", `${location.pathname}?${query}`);
  for (const link of document.querySelectorAll("a[data-carry]")) {
    link.href = `${link.pathname}?${query}`;
  }
  const drop = document.getElementById("drop");
  drop.href = `${drop.pathname}?${free}`;
}

async function fetchPart(address, options) {
  const answer = await fetch(address, options);
  const type = answer.headers.get("content-type") ?? "";
  if (answer.ok && type.startsWith("text/html")) return answer.text();
  throw new Error(words.failed.replace("{status}", answer.status));
}

function say(text) {
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = text;
  result.replaceChildren(note);
  letter.replaceChildren();
}

async function showWays(signal) {
  const place = document.getElementById("ways");
  if (!place) return;
  try {
    place.innerHTML = await fetchPart(`${place.dataset.ways}&part=1`, { signal });
  } catch {
    // The link to the ways stays.
  }
}

function put(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  // The live region itself stays, so that what is new in it is read out.
  for (const place of [result, letter]) place.replaceChildren(...made.content.getElementById(place.id).childNodes);
  carry(made.content.getElementById("result").dataset);
  tools();
}

async function replan() {
  running?.abort();
  const mine = (running = new AbortController());
  const asked = fetchPart(form.dataset.result, { method: "POST", body: typed(), signal: mine.signal });
  // While the server is at it: a plan beside a field that cannot be read would be the plan of somebody else, so it says what is wrong.
  for (const input of form.querySelectorAll("input[inputmode]")) check(input);
  letter.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => { progress.hidden = false; }, PATIENCE);
  try {
    put(await asked);
    document.dispatchEvent(new CustomEvent("p2c:planned"));
    showWays(mine.signal);
  } catch (error) {
    if (mine === running) {
      const gone = error instanceof TypeError ? words.unreachable : error.message;
      say(error.name === "AbortError" ? words.cancelled : gone);
    }
  } finally {
    clearTimeout(waiting);
    if (mine === running) {
      progress.hidden = true;
      letter.removeAttribute("aria-busy");
    }
  }
}

function soon(delay) {
  clearTimeout(timer);
  timer = setTimeout(replan, delay);
}

const DEEDS = {
  print: () => window.print(),
  copy: async (said) => {
    await navigator.clipboard.writeText(location.href);
    said.textContent = words.copied;
  },
};

function tools() {
  for (const button of letter.querySelectorAll("button[data-do]")) {
    button.hidden = button.dataset.do === "copy" && !navigator.clipboard;
    button.addEventListener("click", () => DEEDS[button.dataset.do](letter.querySelector("[data-said]")));
  }
}

form.addEventListener("input", (event) => {
  if (!event.target.name) return;
  if (/^v:|^unknown$/.test(event.target.name)) document.getElementById("example")?.remove();
  soon(event.target.matches("input[inputmode]") ? TYPING : 0);
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.name === "to") return;
  event.preventDefault();
  soon(0);
});
document.getElementById("cancel").addEventListener("click", () => running?.abort());
tools();
showWays();
