/** Light or dark: as the machine is set, or as was chosen here. */

import { themeNow } from "./colours.js";
import { byId, say } from "./dom.js";

const KEPT = "mercer-play-theme";

/** @param {() => void} changed */
export function theme(changed) {
  const button = byId("theme");
  const show = () => {
    say(button, themeNow() === "dark" ? "Light" : "Dark");
    changed();
  };
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  button.addEventListener("click", () => {
    const next = themeNow() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem(KEPT, next);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}
