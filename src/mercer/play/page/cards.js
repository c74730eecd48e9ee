/** The linked views: a card each, with what it shows in words. */

import { byId, h, say } from "./dom.js";

/** @typedef {{element: HTMLElement, body: HTMLElement, words: HTMLElement}} Card */

/** @type {Map<string, Card>} */
const cards = new Map();

const BESIDE = new Set(["matrix", "solver", "pair"]); // the other views stand in the first column

/**
 * The card of a view, made when first asked for.
 * @param {string} name @param {string} title @param {...Node} inside
 * @returns {Card}
 */
export function card(name, title, ...inside) {
  let made = cards.get(name);
  if (made) return made;
  const words = h("p", { class: "quiet" });
  const body = h("div", { class: "body" }, ...inside);
  const element = h("section", { class: "card", id: `card-${name}`, "aria-labelledby": `title-${name}` }, h("h2", { id: `title-${name}` }, title), body, words);
  byId(BESIDE.has(name) ? "cards-beside" : "cards-first").append(element);
  made = { element, body, words };
  cards.set(name, made);
  return made;
}

/** Show the cards of these names only. @param {Set<string>} names */
export function only(names) {
  for (const [name, { element }] of cards) element.hidden = !names.has(name);
}

/** Words under a card. */
export function explain(name, text) {
  const found = cards.get(name);
  if (found) say(found.words, text);
}
