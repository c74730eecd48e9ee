/** The kernel as text: typed, completed, and complained of at the place where it is wrong. */

import { offers, placeOf } from "./completion.js";
import { byId, h, say } from "./dom.js";

const PAUSE = 120; // milliseconds after a key until the text is tried
const THINKING = 600; // milliseconds after a key in which a text is not complained of: it may be half a word
const AROUND = 24; // letters of the text that a complaint shows on each side

export class KernelBar {
  /** @param {{typed: (text: string) => void, settle: () => void, names: () => any[], suggested: () => string[]}} page */
  constructor(page) {
    this.page = page;
    this.input = byId("expression");
    this.list = byId("completions");
    this.complaint = byId("complaint");
    /** @type {import("./completion.js").Offer[]} */
    this.offered = [];
    this.chosen = -1;
    this.timer = 0;
    this.kernel = "";
    this.tried = ""; // the text that was asked of last
    this.touched = -THINKING; // when a key was pressed
    /** What is to be complained of once the hand rests. @type {(() => void)|null} */
    this.complaining = null;
    this.patience = 0;
    this.input.addEventListener("input", () => {
      this.touched = performance.now();
      this.spare();
      this.open(offers(this.input.value, this.input.selectionStart, page.names()));
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.attempt(), PAUSE);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => {
      this.open([]);
      this.done();
    });
    byId("suggest").addEventListener("click", () => {
      this.input.focus();
      const whole = { from: 0, to: this.input.value.length, words: "" };
      this.open(page.suggested().map((text) => ({ text, ...whole })));
    });
    // a click on the list must not take the focus from the field
    byId("suggest").addEventListener("pointerdown", (event) => event.preventDefault());
  }

  /** What is typed is meant now. */
  done() {
    clearTimeout(this.timer);
    this.touched = -THINKING;
    this.complaining?.();
    if (this.input.value === this.kernel) this.forgive();
    else if (this.input.value !== this.tried) this.attempt();
    this.page.settle();
  }

  /** Ask what the text makes. */
  attempt() {
    this.tried = this.input.value;
    this.page.typed(this.tried);
  }

  key(event) {
    const n = this.offered.length;
    if (event.key === "ArrowDown" && !n) {
      this.open(offers(this.input.value, this.input.selectionStart, this.page.names()));
      if (!this.offered.length) byId("suggest").click();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && n) this.mark((this.chosen + (event.key === "ArrowDown" ? 1 : n - 1 + (this.chosen < 0 ? 1 : 0))) % n);
    else if ((event.key === "Enter" || event.key === "Tab") && n && this.chosen >= 0) this.take(this.offered[this.chosen]);
    else if (event.key === "Enter") {
      this.open([]);
      this.done();
    } else if (event.key === "Escape" && n) this.open([]);
    else if (event.key === "Escape") this.show(this.kernel, true);
    else return;
    event.preventDefault();
  }

  /** @param {import("./completion.js").Offer[]} offered */
  open(offered) {
    this.offered = offered;
    this.chosen = -1;
    this.input.removeAttribute("aria-activedescendant");
    this.input.setAttribute("aria-expanded", String(offered.length > 0));
    this.list.hidden = !offered.length;
    this.list.replaceChildren(
      ...offered.map((offer, i) =>
        h("li", { role: "option", id: `offer${i}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); this.take(offer); } }, h("code", {}, offer.text), offer.words && h("span", {}, offer.words)),
      ),
    );
  }

  mark(i) {
    this.chosen = i;
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === i)));
    this.list.children[i].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `offer${i}`);
  }

  take({ text, from, to }) {
    const { value } = this.input;
    this.input.value = value.slice(0, from) + text + value.slice(to);
    this.input.setSelectionRange(from + text.length, from + text.length);
    this.open([]);
    clearTimeout(this.timer);
    this.attempt();
  }

  /** The kernel that is shown; not put into the field under the hand of who writes there. */
  show(kernel, force = false) {
    if (kernel !== this.kernel) this.tried = ""; // another kernel is shown: the same text is asked again
    this.kernel = kernel;
    if (force || document.activeElement !== this.input) {
      if (this.input.value !== kernel) this.input.value = kernel;
      this.forgive();
    }
  }

  /** Nothing is complained of later. */
  spare() {
    clearTimeout(this.patience);
    this.complaining = null;
  }

  forgive() {
    this.spare();
    this.input.removeAttribute("aria-invalid");
    this.complaint.replaceChildren();
  }

  /** Why the text is not taken, with its place. @param {{message: string, at?: number}} refused @param {string} text */
  complain(refused, text) {
    const left = this.touched + THINKING - performance.now();
    this.spare();
    if (left > 0) {
      this.complaining = () => {
        this.spare();
        this.blame(refused, text);
      };
      this.patience = window.setTimeout(this.complaining, left);
    } else this.blame(refused, text);
  }

  blame(refused, text) {
    const at = placeOf(refused);
    this.input.setAttribute("aria-invalid", "true");
    const message = refused.message.replace(/^At character \d+: /, "").replace(/ ?\[M\d+\]$/, "");
    if (at < 0 || at > text.length) {
      say(this.complaint, message);
      return;
    }
    const letters = [...text];
    const from = Math.max(0, at - AROUND);
    this.complaint.replaceChildren(
      h("code", {}, (from ? "…" : "") + letters.slice(from, at).join(""), h("mark", {}, letters[at] ?? "⎵"), letters.slice(at + 1, at + 1 + AROUND).join("")),
      ` Character ${at + 1}: ${message}`,
    );
  }
}
