/** Numbers under the picture: of the machine, and of its error on new points. */

import { card } from "./cards.js";
import { h } from "./dom.js";
import { short } from "./words.js";

/** @typedef {import("./wire.js").Frame} Frame */

/**
 * @param {Frame|undefined} main @param {Frame|undefined} error @param {boolean} stale whether the error is of an older state
 * @param {string} missing what is missing, where there are no numbers
 */
export function showNumbers(main, error, stale = false, missing = "") {
  const { body, words } = card("numbers", "Numbers");
  const rows = [...(main?.data.numbers ?? []), ...(error?.data.rows ?? [])];
  let list = /** @type {any} */ (body.querySelector("dl"));
  if (!list) body.replaceChildren((list = h("dl", {})));
  const shape = rows.map((row) => row.words).join("\n");
  if (list.dataset.shape !== shape) {
    list.dataset.shape = shape;
    list.replaceChildren(...rows.map((row) => h("div", {}, h("dt", {}, row.words), h("dd", {}))));
  }
  rows.forEach((row, i) => {
    const value = list.children[i].lastChild;
    value.textContent = short(row.value, 5);
    value.dataset.value = String(row.value);
    value.classList.toggle("stale", stale && i >= (main?.data.numbers ?? []).length);
  });
  const notes = rows.length ? [main?.data.note, error?.data.why].filter(Boolean).join(" ") : missing;
  if (words.textContent !== notes) words.textContent = notes;
}

/** What is said once the hand rests. */
export function numbersInWords(main, error) {
  return [...(main?.data.numbers ?? []), ...(error?.data.rows ?? [])].map((row) => `${row.words} ${short(row.value)}`).join(", ");
}
