// Looks how far long work has come, and shows the page anew only once it has ended: until then the focus stays where it is.
const shown = document.getElementById("going-on");

async function look() {
  try {
    const answer = await fetch(shown.dataset.at);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("going-on");
    if (!fresh) {
      window.location.replace(shown.dataset.at);
      return;
    }
    if (fresh.innerHTML !== shown.innerHTML) shown.replaceChildren(...fresh.childNodes);
  } catch { /* the server is away for a moment */ }
  setTimeout(look, 1000);
}

setTimeout(look, 1000);
