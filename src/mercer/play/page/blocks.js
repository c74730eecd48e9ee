/** The kernel as blocks: what it is made of, each part with its sliders and a menu of changes. */

import { dial } from "./dials.js";
import { byId, h } from "./dom.js";

/**
 * @typedef {{at: string, name: string, text: string, terms: boolean, around: boolean, psd: boolean|null, sliders: any[], children: Tree[]}} Tree
 * @typedef {{at: string, what: string, value?: number, kernel?: string}} Edit
 */

const WORDS = { Repaired: "repaired", Normalized: "normalised", Centered: "centred", Scaled: "scaled", Sum: "sum", Product: "product" };

export class Blocks {
  /** @param {{edit: (edit: Edit, gesture: string|null) => void, settle: () => void, kernels: () => string[]}} page */
  constructor(page) {
    this.page = page;
    this.home = byId("blocks");
    this.menu = byId("change");
    this.shape = "";
    /** @type {Map<string, import("./dials.js").Dial>} */
    this.dials = new Map();
    /** @type {Map<string, Tree>} */
    this.trees = new Map();
    this.gesture = 0;
    this.menu.addEventListener("toggle", (event) => {
      if (event.newState === "closed") this.opener?.setAttribute("aria-expanded", "false");
    });
  }

  /** @param {Tree} tree */
  show(tree) {
    const shape = shapeOf(tree);
    if (shape !== this.shape) {
      this.shape = shape;
      const focus = /** @type {HTMLElement|null} */ (document.activeElement)?.dataset?.block;
      this.dials.clear();
      this.home.replaceChildren(this.block(tree));
      if (focus !== undefined) this.home.querySelector(`[data-block="${CSS.escape(focus)}"]`)?.focus();
    }
    this.turn(tree);
  }

  /** Values into the dials that are there. */
  turn(tree) {
    for (const s of tree.sliders) this.dials.get(s.at)?.set(s.value, { ...s, label: s.symbol });
    this.trees.set(tree.at, tree);
    tree.children.forEach((child) => this.turn(child));
  }

  /** @param {Tree} tree @returns {HTMLElement} */
  block(tree) {
    const kind = tree.terms ? "terms" : tree.around ? "around" : "leaf";
    const name = WORDS[tree.name] ?? tree.name;
    const button = h("button", {
      type: "button", class: "name", "data-block": tree.at, "aria-haspopup": "dialog", "aria-expanded": "false", title: "Change this part",
      "aria-label": `${name}: change this part`, onclick: (event) => this.open(event.currentTarget, tree.at),
    }, name, h("span", { "aria-hidden": true, class: "more" }, "▾"));
    const sliders = tree.sliders.map((s) => {
      const made = dial({ ...s, label: s.symbol, whole: s.step === 1, key: s.at }, (value) => this.set(s.at, value), () => this.settle());
      this.dials.set(s.at, made);
      return made.element;
    });
    const sign = tree.name === "Sum" ? "+" : tree.name === "Product" ? "·" : "";
    const inside = tree.children.flatMap((child, i) => [i > 0 && sign ? h("span", { class: "sign", "aria-hidden": true }, sign) : "", this.block(child)]).filter(Boolean);
    return h("div", { class: `block ${kind}`, role: "group", "aria-label": name }, h("div", { class: "head" }, button, ...sliders), inside.length > 0 && h("div", { class: "inside" }, ...inside));
  }

  set(at, value) {
    this.page.edit({ at, what: "set", value }, `turn ${at} ${this.gesture}`);
  }

  settle() {
    this.gesture++;
    this.page.settle();
  }

  /** The menu of changes of a part. */
  open(button, at) {
    const tree = /** @type {Tree} */ (this.trees.get(at));
    const choice = h("select", { id: "other" }, ...this.page.kernels().map((text) => h("option", { value: text }, text)));
    const act = (what, words, disabled = false) =>
      h("button", { type: "button", disabled, onclick: () => { this.menu.hidePopover(); this.page.edit({ at: tree.at, what, kernel: choice.value }, null); button.focus(); } }, words);
    const alone = at === "" && tree.children.length !== 1; // nothing would be left
    this.opener = button;
    this.menu.replaceChildren(
      h("p", { class: "quiet" }, h("code", {}, tree.text)),
      h("label", { for: "other" }, "With the kernel"), choice,
      h("div", { class: "row" }, act("add", "+ add"), act("multiply", "· multiply"), act("replace", "replace")),
      h("div", { class: "row" }, act("scale", "scale"), act("normalise", "normalise"), act("centre", "centre"), act("repair", "repair", tree.psd === true), act("remove", "remove", alone)),
    );
    this.menu.showPopover();
    button.setAttribute("aria-expanded", "true");
    const [from, own] = [button.getBoundingClientRect(), this.menu.getBoundingClientRect()];
    this.menu.style.left = `${Math.max(8, Math.min(from.left, innerWidth - own.width - 8))}px`;
    this.menu.style.top = `${Math.max(8, Math.min(from.bottom + 4, innerHeight - own.height - 8))}px`;
    choice.focus();
  }
}

/** What decides whether the blocks must be built anew. @param {Tree} tree @returns {string} */
function shapeOf(tree) {
  const sliders = tree.sliders.map((s) => `${s.at}:${s.step}`).join(",");
  return `${tree.at}|${tree.name}|${sliders}[${tree.children.map(shapeOf).join(";")}]`;
}

/** Formula, proof and features beside the kernel. @param {any} facts */
export function showFacts(facts) {
  const [sign, words] = facts.psd === true ? ["yes", "psd"] : facts.psd === false ? ["no", "not psd"] : ["open", "psd?"];
  byId("facts").replaceChildren(
    h("span", { class: `badge ${sign}` }, words),
    h("span", {}, facts.proof),
    h("span", { class: "badge plain" }, facts.features ? "finitely many features" : "features not listed"),
    h("span", { class: "formula" }, facts.formula),
  );
}
