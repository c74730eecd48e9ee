/** "Show me the Python", and letters for the clipboard. */

import { announce, byId, say } from "./dom.js";

const THANKED = 1600; // milliseconds for which a button says that it has copied
/** @type {Map<HTMLElement, number>} */
const thanking = new Map(); // what will give a button its own words back

/**
 * @param {(answered: (frame: import("./wire.js").Frame) => void) => void} ask
 */
export function listing(ask) {
  const [dialog, text, button] = [byId("program"), byId("listing"), byId("copy")];
  byId("python").addEventListener("click", () =>
    ask(({ data }) => {
      const refused = data.text === undefined;
      text.textContent = refused ? data.message : data.text;
      button.disabled = refused;
      dialog.showModal();
    }),
  );
  byId("close").addEventListener("click", () => dialog.close());
  button.addEventListener("click", () => copy(text.textContent, button));
}

/** Copy a text; the button that was pressed says that it is done. @param {string} text @param {HTMLElement} button */
export async function copy(text, button) {
  const before = (button.dataset.words ??= button.textContent ?? "");
  try {
    await navigator.clipboard.writeText(text);
    say(button, "Copied");
    announce("Copied.");
  } catch {
    say(button, "Not allowed");
    announce("The browser does not allow the page to copy.");
  }
  clearTimeout(thanking.get(button)); // an earlier copy must not end the thanks of this one
  thanking.set(button, setTimeout(() => say(button, before), THANKED));
}
