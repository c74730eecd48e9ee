/** Words and molecules: a list that is written, a map of it, and two items side by side. */

import { Box } from "./box.js";
import { card } from "./cards.js";
import { announce, byId, h } from "./dom.js";
import { SIGN_OF_CLASS, placeOn } from "./paper.js";
import { rounded, short } from "./words.js";

/** @typedef {import("./wire.js").Frame} Frame */

// -- the map -----------------------------------------------------------------------------------------------------------

/** The box of a map: as far as its places go. */
export function mapBox(paper, { view }) {
  const places = view?.arrays.places ?? [];
  let [x, y] = [1e-9, 1e-9];
  for (let i = 0; i < places.length; i += 2) [x, y] = [Math.max(x, Math.abs(places[i])), Math.max(y, Math.abs(places[i + 1]))];
  if (y < 1e-6 * x) y = x;
  return new Box([14, 14, Math.max(paper.width - 28, 1), Math.max(paper.height - 32, 1)], [-1.25 * x, 1.25 * x, -1.2 * y, 1.2 * y]);
}

/**
 * Turn a map so that it lies as the one before it: components have no sign of their own, and one more item must not
 * mirror the others.
 * @param {Frame} view @param {Frame|undefined} before
 */
export function asBefore(view, before) {
  if (!before) return;
  const old = new Map(before.data.items.map((text, k) => [text, k]));
  const [places, former] = [view.arrays.places, before.arrays.places];
  for (const axis of [0, 1]) {
    let agreed = 0;
    view.data.items.forEach((text, k) => {
      if (old.has(text)) agreed += places[2 * k + axis] * former[2 * old.get(text) + axis];
    });
    if (agreed < 0) for (let k = axis; k < places.length; k += 2) places[k] = -places[k];
  }
}

/** @param {any} paper @param {Box} box @param {any} scene @param {import("./colours.js").Palette} palette */
export function drawMap(paper, box, { view, light, beside }, palette) {
  if (!view) return;
  const { places, labels } = view.arrays;
  const { items, pair } = view.data;
  const spots = box.places(places);
  const [i, j] = pair;
  paper.segments([box.x, box.py(0), box.x + box.w, box.py(0), box.px(0), box.y, box.px(0), box.y + box.t], { stroke: palette.grid });
  paper.segments([spots[2 * i], spots[2 * i + 1], spots[2 * j], spots[2 * j + 1]], { stroke: palette.ink, width: 1.4, dash: [4, 3], opacity: 0.7 });
  const around = (k) => k === i || k === j || k === light || k === beside;
  /** Boxes x, y, width, height in which no name may lie. @type {number[][]} */
  const taken = items.map((_, k) => [spots[2 * k] - 6, spots[2 * k + 1] - 6, 12, 12]);
  items.forEach((_, k) => {
    const at = [spots[2 * k], spots[2 * k + 1]];
    paper.signs(SIGN_OF_CLASS[labels[k]], at, around(k) ? 6.5 : 5, { fill: palette.hues[labels[k]], stroke: palette.paper, width: 1 });
    if (around(k)) paper.signs("circle", at, 10, { stroke: palette.ink, width: k === light ? 2.5 : 1.4 });
  });
  // what is looked at is named first; a name without room is left out
  const order = items.map((_, k) => k).sort((a, b) => Number(around(b)) - Number(around(a)));
  for (const k of order) {
    const words = items[k].length > 18 ? `${items[k].slice(0, 17)}…` : items[k];
    const places = sidesOf(spots[2 * k], spots[2 * k + 1], (around(k) ? 7.2 : 6.6) * words.length);
    const free = places.find((place) => place[0] >= box.x - 12 && place[0] + place[2] <= box.x + box.w + 12 && !taken.some((other) => meet(place, other)));
    if (!free && !around(k)) continue;
    const [x, y, w] = free ?? places[0];
    taken.push([x, y, w, 13]);
    paper.text(x + w / 2, y + 10.5, words, { anchor: "middle", fill: palette.ink, halo: palette.paper, bold: around(k) });
  }
  paper.text(box.x + box.w, box.y + box.t + 13, "two principal components in the space of the kernel", { anchor: "end", fill: palette.faint });
}

/** Where a name of some width can stand: right, left, below, above. @returns {number[][]} */
const sidesOf = (x, y, w) => [[x + 11, y - 7, w, 13], [x - 11 - w, y - 7, w, 13], [x - w / 2, y + 10, w, 13], [x - w / 2, y - 24, w, 13]];

const meet = ([x, y, w, t], [x2, y2, w2, t2]) => x < x2 + w2 && x2 < x + w && y < y2 + t2 && y2 < y + t;

export function mapInWords({ view }) {
  if (!view) return "";
  const { items, pair } = view.data;
  return `Map of ${items.length} items by two principal components of the kernel. ${items[pair[0]]} and ${items[pair[1]]} are compared. Arrow keys go from item to item; Enter chooses one to compare.`;
}

/** The pointer and the keys on the map choose what is compared. */
export class MapPointing {
  /** @param {HTMLCanvasElement} canvas @param {{box: () => Box|null, view: () => Frame|undefined, active: () => boolean, light: (i: number) => void, lit: () => number, pick: (i: number) => void}} page */
  constructor(canvas, page) {
    const near = (event) => {
      const [view, box] = [page.view(), page.box()];
      if (!page.active() || !view || !box) return -1;
      const [x, y] = placeOn(canvas, event);
      let [best, found] = [900, -1];
      for (let k = 0; k < view.data.items.length; k++) {
        const d = (box.px(view.arrays.places[2 * k]) - x) ** 2 + (box.py(view.arrays.places[2 * k + 1]) - y) ** 2;
        if (d < best) [best, found] = [d, k];
      }
      return found;
    };
    canvas.addEventListener("pointermove", (event) => page.active() && page.light(near(event)));
    canvas.addEventListener("click", (event) => {
      const k = near(event);
      if (k >= 0) page.pick(k);
    });
    canvas.addEventListener("keydown", (event) => {
      const n = page.active() ? (page.view()?.data.items.length ?? 0) : 0;
      if (!n) return;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) {
        const k = (page.lit() + step + n) % n;
        page.light(k);
        announce(page.view()?.data.items[k]);
      } else if (event.key === "Enter" && page.lit() >= 0) page.pick(page.lit());
      else return;
      event.preventDefault();
    });
  }
}

// -- the list ----------------------------------------------------------------------------------------------------------

/** @typedef {[string, number]} Item */

/** Items of lines: a class may stand at the end, after a blank. @param {string} text @param {number} label @returns {Item[]} */
export function itemsOf(text, label) {
  return text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean).map((line) => {
    const found = /^(.*\S)\s+([1-4])$/.exec(line);
    return /** @type {Item} */ (found ? [found[1], Number(found[2]) - 1] : [line, label]);
  });
}

/** The list as fields, a line each. */
export class ItemList {
  /** @param {{items: () => Item[], edit: (items: Item[], gesture: string|null) => void, settle: () => void, light: (i: number) => void, most: () => {items: number, letters: number}}} page */
  constructor(page) {
    this.page = page;
    this.list = h("ol", {});
    this.many = h("textarea", { id: "many", rows: 8, spellcheck: "false" });
    this.gestures = 0;
    byId("editor").append(
      this.list,
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => this.add() }, "Add an item")),
      h("details", {},
        h("summary", {}, "Write or paste several"),
        h("label", { for: "many", class: "quiet" }, "One item in a line; a class 1 to 4 may stand at its end, after a blank."),
        this.many,
        h("button", { type: "button", onclick: () => this.replace() }, "Use these lines"),
      ),
    );
    this.list.closest("div").querySelector("details").addEventListener("toggle", () => {
      this.many.value = page.items().map(([text, label]) => `${text} ${label + 1}`).join("\n");
    });
  }

  add() {
    const items = this.page.items();
    if (items.length >= this.page.most().items) return announce(`There are ${items.length} items: more are not taken.`);
    // an empty item cannot be compared, so the new line waits until something is written in it
    this.list.append(this.line(["", items.at(-1)?.[1] ?? 0], items.length));
    this.list.lastChild.querySelector("input").focus();
  }

  replace() {
    const found = itemsOf(this.many.value, 0).slice(0, this.page.most().items);
    if (!found.length) return;
    this.page.edit(found, null);
    this.page.settle();
  }

  /** @param {Item[]} items */
  show(items) {
    // a line that is being written and is still empty is no item yet, and stays where it is
    const lines = [...this.list.children].filter((line) => !(line.contains(document.activeElement) && line.querySelector("input").value === ""));
    items.forEach((item, i) => {
      if (lines[i]) this.fill(lines[i], item, i);
      else this.list.append(this.line(item, i));
    });
    lines.slice(items.length).forEach((line) => line.remove());
  }

  /** @param {any} line @param {Item} item @param {number} i */
  fill(line, [text, label], i) {
    const [choice, field, remove] = line.children;
    if (document.activeElement !== field) field.value = text;
    choice.value = String(label);
    choice.dataset.label = String(label);
    choice.setAttribute("aria-label", `class of item ${i + 1}`);
    field.setAttribute("aria-label", `item ${i + 1}`);
    remove.setAttribute("aria-label", `remove item ${i + 1}`);
  }

  /** The place of a line in the list. */
  at(line) {
    return [...this.list.children].indexOf(line);
  }

  /** @param {Item} item @param {number} i */
  line(item, i) {
    const choice = h("select", { onchange: () => { this.changed(null); this.page.settle(); } }, ...[0, 1, 2, 3].map((k) => h("option", { value: k }, String(k + 1))));
    const field = h("input", {
      type: "text", maxlength: this.page.most().letters, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      oninput: () => this.changed(`item ${this.gestures}`), onchange: () => { this.gestures++; this.page.settle(); },
      onfocus: () => this.page.light(this.at(line)), onblur: () => this.page.light(-1),
      onkeydown: (event) => { if (event.key === "Enter") this.add(); },
    });
    const remove = h("button", { type: "button", class: "step", onclick: () => { line.remove(); this.changed(null); this.page.settle(); } }, "×");
    const line = h("li", { onpointerenter: () => this.page.light(this.at(line)), onpointerleave: () => this.page.light(-1) }, choice, field, remove);
    this.fill(line, item, i);
    return line;
  }

  /** What stands in the fields now. */
  changed(gesture) {
    const items = [...this.list.children].map((line) => /** @type {Item} */ ([line.querySelector("input").value, Number(line.querySelector("select").value)]));
    this.page.edit(items.filter(([text]) => text !== ""), gesture);
  }
}

// -- two of them -------------------------------------------------------------------------------------------------------

/** Two items with what they share. */
export class PairView {
  /** @param {{pick: (pair: [number, number]) => void}} page */
  constructor(page) {
    this.choices = [0, 1].map((side) =>
      h("select", { "aria-label": side ? "second item" : "first item", onchange: () => page.pick(/** @type {any} */ (this.choices.map((c) => Number(c.value)))) }));
    this.pictures = h("div", { class: "drawn" });
    this.table = h("div", { class: "shared" });
    this.shape = "";
    card("pair", "Two of them", h("div", { class: "row" }, this.choices[0], h("span", { class: "quiet" }, "and"), this.choices[1]), this.pictures, this.table);
  }

  /** @param {Frame|undefined} main @param {Frame|undefined} shared */
  show(main, shared) {
    if (!main) {
      this.pictures.replaceChildren();
      this.table.replaceChildren();
      return;
    }
    const { items, pair, drawings } = main.data;
    const shape = JSON.stringify(items);
    if (shape !== this.shape) {
      this.shape = shape;
      for (const choice of this.choices) choice.replaceChildren(...items.map((text, k) => h("option", { value: k }, text)));
    }
    this.choices.forEach((choice, side) => (choice.value = String(pair[side])));
    // as an image of its own a drawing is a picture only: nothing in it can run or fetch
    this.pictures.replaceChildren(
      ...(drawings?.length ? pair.map((k) => h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawings[k])}`, alt: `Drawing of ${items[k]}`, width: 180, height: 120 })) : []),
    );
    if (shared) this.table.replaceChildren(...this.rows(shared.data));
  }

  rows({ why, of, rows, count }) {
    if (why) return [h("p", { class: "quiet" }, why)];
    if (!rows.length) return [h("p", { class: "quiet" }, `No feature of ${of} is in both.`)];
    const number = (v) => h("td", {}, short(rounded(v, 4)));
    return [
      h("table", {},
        h("caption", {}, count === 1 ? `The one feature of ${of} that both have` : `What adds most to k, of ${count} features of ${of} that both have`),
        h("thead", {}, h("tr", {}, ...["feature", "first", "second", "product"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.name), number(row.first), number(row.second), number(row.product))))),
    ];
  }
}
