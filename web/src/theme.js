// Light and dark: the system's wish until the reader says otherwise. What the reader said is kept where the browser
// lets a page from disk keep something.
import {h} from "./dom.js";

const KEY = "wisecrowd-theme";
const systemIsDark = () => window.matchMedia("(prefers-color-scheme: dark)");

function remembered() {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null; // a page from disk may have no storage
  }
}

function show(theme, button) {
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  button.textContent = other === "dark" ? "Dark" : "Light";
  button.setAttribute("aria-label", `Switch to ${other} colours`);
}

export function themeButton() {
  const button = h("button.quiet.theme", {type: "button"});
  const wish = () => remembered() ?? (systemIsDark().matches ? "dark" : "light");
  show(wish(), button);
  systemIsDark().addEventListener("change", () => show(wish(), button));
  button.addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      window.localStorage.setItem(KEY, theme);
    } catch {
      // shown all the same
    }
    show(theme, button);
  });
  return button;
}

export function printButton() {
  return h("button.quiet.print", {type: "button", on: {click: () => window.print()}}, "Print");
}
