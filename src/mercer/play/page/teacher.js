/** The panel of the lesson: one step at a time, and whether it is done. */

import { announce, byId, h } from "./dom.js";
import { STEPS } from "./lesson.js";

const KEPT = "mercer-play-lesson"; // the step one was at, while the tab is open

export class Teacher {
  /** @param {{go: (patch: any) => void, light: (sample: number) => void, tool: (name: string) => void, keep: () => () => void, state: () => any, seen: () => Omit<import("./lesson.js").Seen, "lit">}} page */
  constructor(page) {
    this.page = page;
    this.home = byId("lesson");
    this.button = byId("teach");
    this.at = Math.min(Math.max(Number(sessionStorage.getItem(KEPT)) || 0, 0), STEPS.length - 1);
    /** @type {Set<number>} */
    this.lit = new Set();
    /** @type {Set<number>} */
    this.finished = new Set();
    /** Brings back what there was before the lesson. @type {(() => void)|null} */
    this.back = null;
    this.folded = false;
    this.narrow = matchMedia("(max-width: 59.99rem)"); // one column: the panel lies over its lower end
    this.button.addEventListener("click", () => this.toggle());
    this.narrow.addEventListener("change", () => this.open && this.draw());
    new ResizeObserver(() => this.room()).observe(this.home);
  }

  get open() {
    return !this.home.hidden;
  }

  toggle() {
    const opens = !this.open;
    this.home.hidden = !opens;
    this.button.setAttribute("aria-expanded", String(opens));
    if (opens) {
      this.back = this.page.keep();
      this.enter(this.at);
    } else {
      this.mark("");
      this.room();
      this.page.tool("add");
      this.back?.();
      this.back = null;
    }
  }

  /** The lesson is over: another begins with its first step. */
  end() {
    this.at = 0;
    sessionStorage.removeItem(KEPT);
    this.toggle();
  }

  /** A step, with its scene set and the tool in hand that it asks for. */
  enter(at) {
    this.at = at;
    this.lit.clear();
    this.page.light(-1);
    sessionStorage.setItem(KEPT, String(at));
    this.page.go(STEPS[at].scene);
    this.page.tool(STEPS[at].tool ?? "add");
    this.draw();
    this.home.querySelector("h2")?.focus({ preventScroll: this.narrow.matches });
    if (!this.narrow.matches) return;
    this.room();
    byId("frame").scrollIntoView({ block: "nearest" });
  }

  /** The page is as much longer as the panel lies over it. */
  room() {
    const covered = this.open && this.narrow.matches ? this.home.offsetHeight : 0;
    document.documentElement.style.setProperty("--covered", `${covered}px`);
  }

  fold() {
    this.folded = !this.folded;
    this.home.classList.toggle("folded", this.folded);
    const button = this.home.querySelector(".fold");
    if (button) button.textContent = this.folded ? "Unfold" : "Fold";
  }

  draw() {
    const step = STEPS[this.at];
    const go = (by) => this.enter(this.at + by);
    const last = this.at + 1 === STEPS.length;
    this.state = h("p", { class: "done", role: "status" });
    this.folded = false;
    this.home.classList.remove("folded");
    this.home.replaceChildren(
      h("div", { class: "head" },
        h("p", { class: "quiet" }, `Step ${this.at + 1} of ${STEPS.length} · guide, ${step.guide}`),
        h("button", { type: "button", class: "fold", onclick: () => this.fold() }, "Fold"),
      ),
      h("h2", { tabindex: -1 }, step.title),
      h("details", { open: !this.narrow.matches }, h("summary", {}, "What this is about"), h("p", {}, step.text)),
      h("p", { class: "task" }, step.task),
      h("div", { class: "row" },
        h("button", { type: "button", "data-step": "back", disabled: this.at === 0, onclick: () => go(-1) }, "Back"),
        h("button", { type: "button", "data-step": "again", onclick: () => this.enter(this.at) }, "Set the scene again"),
        h("button", { type: "button", "data-step": "show", onclick: () => this.show() }, "Show me"),
        h("button", { type: "button", "data-step": "next", class: "first", onclick: () => (last ? this.end() : go(1)) }, last ? "End" : "Next"),
        this.state,
      ),
    );
    this.mark(step.look);
    this.check();
  }

  /** What brings one to the end of the step. */
  show() {
    const step = STEPS[this.at];
    if (step.answer) this.page.go(step.answer(this.page.state()));
    for (const sample of step.rows ?? []) {
      this.page.light(sample);
      this.pointed(sample);
    }
  }

  /** The card that the step speaks of. */
  mark(look) {
    for (const card of document.querySelectorAll(".card")) card.classList.toggle("looked", card.id === `card-${look}`);
  }

  /** @param {number} sample */
  pointed(sample) {
    if (!this.open || sample < 0) return;
    this.lit.add(sample);
    this.check();
  }

  /** Is the step done? */
  check() {
    if (!this.open || !this.state) return;
    const done = STEPS[this.at].done({ ...this.page.seen(), lit: this.lit });
    if (done && !this.finished.has(this.at)) {
      this.finished.add(this.at);
      announce("Done.");
    }
    const words = done ? "✓ Done" : "";
    if (this.state.textContent !== words) this.state.textContent = words;
    this.home.classList.toggle("finished", done);
  }
}
