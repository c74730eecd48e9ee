/** What one chooses from: the mode, the learner with its dials, and the samples. */

import { DialRow, dial } from "./dials.js";
import { byId, h, say } from "./dom.js";
import { many } from "./words.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {{name: string, title: string, question: string, shows: string, learners: {name: string, title: string, dials: any[]}[], needs: {points: number, classes: number, each: number}, kernel: string, suggested: string[], families: string[], start: import("./state.js").Data, names: {name: string, text: string, formula: string}[]}} Mode
 */

/** Choices of a select, which is left alone where they are the same. @param {any} select @param {[string, string][]} choices @param {string} chosen */
function fill(select, choices, chosen) {
  const shape = JSON.stringify(choices);
  if (select.dataset.shape !== shape) {
    select.dataset.shape = shape;
    select.replaceChildren(...choices.map(([value, words]) => h("option", { value }, words)));
  }
  if (select.value !== chosen) select.value = chosen;
}

/** The modes: buttons, or a list to choose from where there is no room for them. */
export class ModeChoice {
  /** @param {Mode[]} modes @param {(name: string) => void} chosen */
  constructor(modes, chosen) {
    this.buttons = modes.map(({ name, title, question }) => h("button", { type: "button", "data-mode": name, title: question, onclick: () => chosen(name) }, title));
    this.list = h("select", { "aria-label": "What to do", onchange: () => chosen(this.list.value) }, ...modes.map(({ name, title }) => h("option", { value: name }, title)));
    byId("modes").replaceChildren(h("div", { class: "wide" }, ...this.buttons), this.list);
  }

  /** @param {string} mode */
  show(mode) {
    for (const button of this.buttons) {
      if (button.dataset.mode === mode) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.list.value = mode;
  }
}

/** The learner, and its numbers. */
export class LearnerChoice {
  /** @param {{learner: (name: string) => void, turn: (name: string, value: number) => void, settle: () => void}} page */
  constructor(page) {
    this.page = page;
    this.select = h("select", { id: "which", onchange: () => page.learner(this.select.value) });
    this.label = h("label", { for: "which" }, "Learner");
    const home = h("div", { class: "dials" });
    this.row = new DialRow(home);
    byId("learner").replaceChildren(this.label, this.select, home);
  }

  /** @param {Mode} mode @param {State} state */
  show(mode, state) {
    const learner = mode.learners.find(({ name }) => name === state.learner) ?? mode.learners[0];
    fill(this.select, mode.learners.map(({ name, title }) => [name, title]), learner.name);
    this.select.hidden = this.label.hidden = mode.learners.length < 2;
    this.row.show(learner.dials, state.values, this.page.turn, this.page.settle);
    byId("learner").hidden = mode.learners.length < 2 && !learner.dials.length;
  }
}

const BY_HAND = "by hand";
const TABLE = "table";

/** The samples: a family drawn by a seed, a table, or what was put in by hand. */
export class SampleChoice {
  /**
   * @param {{data: (data: import("./state.js").Data, gesture?: string|null) => void, settle: () => void, most: number, table: {name: string, n: number}|null}} page
   */
  constructor(page) {
    this.page = page;
    /** @type {import("./state.js").Data} */
    this.data = {};
    /** @type {Mode|undefined} */
    this.mode = undefined;
    this.select = h("select", { id: "family", onchange: () => this.choose(this.select.value) });
    this.label = h("label", { for: "family" }, "Points");
    this.count = dial({ label: "how many", value: 300, low: 10, high: page.most, whole: true }, (n) => page.data({ ...this.drawn, n }, "count"), page.settle);
    this.again = h("button", { type: "button", title: "Points by another seed", onclick: () => page.data({ ...this.drawn, seed: ((this.data.seed ?? 0) + 1) % 2 ** 32 }) }, "Draw again");
    this.clear = h("button", { type: "button", onclick: () => page.data({ points: [] }) }, "Clear");
    this.anew = h("button", { type: "button", onclick: () => page.data(/** @type {Mode} */ (this.mode).start) }, "Begin anew");
    this.note = h("span", { class: "quiet" });
    byId("samples").replaceChildren(this.label, this.select, this.count.element, this.again, this.clear, this.anew, this.note);
  }

  get drawn() {
    const { family = this.mode?.families[0], n = 300, seed = 0 } = this.data;
    return { family, n, seed };
  }

  choose(value) {
    if (value === TABLE) this.page.data({ table: true });
    else if (value !== BY_HAND) this.page.data({ family: value, n: this.data.n ?? 300, seed: this.data.seed ?? 0 });
  }

  /** @param {Mode} mode @param {State} state */
  show(mode, { data }) {
    this.mode = mode;
    this.data = data;
    const [items, family] = [mode.shows === "items", data.family !== undefined];
    /** @type {[string, string][]} */
    const choices = mode.families.map((name) => [name, name]);
    if (family && !mode.families.includes(/** @type {string} */ (data.family))) choices.push([/** @type {string} */ (data.family), /** @type {string} */ (data.family)]);
    if (this.page.table) choices.push([TABLE, this.page.table.name]);
    if (data.points) choices.push([BY_HAND, BY_HAND]);
    fill(this.select, choices, family ? /** @type {string} */ (data.family) : data.table ? TABLE : BY_HAND);
    this.select.hidden = this.label.hidden = this.clear.hidden = items;
    this.count.element.hidden = this.again.hidden = items || !family;
    this.count.set(data.n ?? 300);
    this.anew.hidden = !items;
    say(this.note, data.points ? many(data.points.length, "point") : data.table && this.page.table ? many(this.page.table.n, "point") : "");
    byId("samples").hidden = !items && !mode.families.length;
  }
}
