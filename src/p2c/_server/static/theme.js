// Runs before the page is drawn, so that a chosen theme never flashes the other one first.
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const read = () => { try { return localStorage.getItem("p2c-theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("p2c-theme", theme); } catch { /* it lasts for this page */ } };
  const shown = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");
  const stored = read();
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const label = () => { button.textContent = shown() === "dark" ? button.dataset.light : button.dataset.dark; };
    button.hidden = false;
    label();
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      keep(root.dataset.theme);
      label();
      document.dispatchEvent(new CustomEvent("p2c:theme"));
    });
  });
})();
