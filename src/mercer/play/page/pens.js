/** What the pointer does in the plane, and with points of which class. */

import { byId, h } from "./dom.js";

const TOOLS = [
  { name: "add", title: "Add", words: "Click to add points, drag to add many; a point that is there can be taken up and moved" },
  { name: "move", title: "Move", words: "Drag a point to another place" },
  { name: "label", title: "Label", words: "Give points the class that is chosen" },
  { name: "erase", title: "Erase", words: "Click or drag over points to take them away" },
];
const SIGNS = ["●", "■", "▲", "◆"];

export class Pens {
  constructor() {
    this.tool = "add";
    this.label = 0;
    this.labelled = true;
    this.tools = TOOLS.map(({ name, title, words }) => h("button", { type: "button", "data-tool": name, title: words, onclick: () => this.take(name) }, title));
    this.labels = SIGNS.map((sign, k) =>
      h("button", { type: "button", class: "class", "data-label": k, title: `Class ${k + 1}`, "aria-label": `Class ${k + 1}`, onclick: () => this.choose(k) }, sign));
    byId("pens").replaceChildren(...this.tools, h("span", { class: "classes", role: "group", "aria-label": "Class" }, ...this.labels));
    this.show();
  }

  /** @param {string} tool */
  take(tool) {
    this.tool = tool;
    this.show();
  }

  choose(label) {
    this.label = label;
    this.show();
  }

  /** Another mode: whether its points have classes that mean anything. @param {boolean} labelled */
  suit(labelled) {
    this.labelled = labelled;
    this.take("add"); // who comes to a mode with an eraser in hand does not know it
  }

  show() {
    for (const button of this.tools) {
      button.setAttribute("aria-pressed", String(button.dataset.tool === this.tool));
      button.hidden = button.dataset.tool === "label" && !this.labelled;
    }
    for (const button of this.labels) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.label) === this.label));
      button.parentElement.hidden = !this.labelled;
    }
  }
}
