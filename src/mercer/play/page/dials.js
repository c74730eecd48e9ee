/** Numbers to turn: a slider with a field beside it, or a whole number with steps. */

import { h } from "./dom.js";
import { rounded, short, written } from "./words.js";

/**
 * @typedef {{label: string, value: number, low: number, high: number, least?: number, most?: number, log?: boolean, whole?: boolean, key?: string}} Turned
 *   `least` and `most` are as far as the range may be widened; without them it stays
 * @typedef {{element: HTMLElement, set: (value: number, turned?: Turned) => void}} Dial
 */

const STEPS = 400;
const WIDER = 10; // times, once its end was reached
const SLACK = 1e-4; // of an end, by which a value that is written shortly may lie beyond it
let count = 0;

/**
 * @param {Turned} turned
 * @param {(value: number) => void} turn while the hand moves
 * @param {() => void} settle when it is let go
 * @returns {Dial}
 */
export function dial(turned, turn, settle) {
  return turned.whole ? stepper(turned, turn, settle) : slider(turned, turn, settle);
}

function slider(turned, turn, settle) {
  let { low, high, log, least = low, most = high } = turned;
  let widened = false;
  const outside = (value) => value < low - SLACK * Math.abs(low) || value > high + SLACK * Math.abs(high);
  /** Room beyond an end at which the hand has let go: once, or the range runs away from who comes there again. */
  const widen = (value) => {
    const [from, to] = [low, high];
    if (!widened && value >= high) high = Math.max(high, Math.min(most, WIDER * high));
    else if (!widened && value <= low) low = Math.min(low, Math.max(least, log ? low / WIDER : WIDER * low));
    widened ||= low !== from || high !== to;
  };
  const id = `dial${++count}`;
  const place = (value) => Math.round(STEPS * (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
  const meant = (at) => {
    if (at <= 0) return low;
    if (at >= STEPS) return high;
    const value = log ? low * (high / low) ** (at / STEPS) : low + ((high - low) * at) / STEPS;
    return rounded(value);
  };
  const range = h("input", { type: "range", id, min: 0, max: STEPS, step: 1, "data-key": turned.key });
  const field = h("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": `${turned.label}, as a number`, size: 6 });
  const show = (value) => {
    range.value = String(place(value));
    range.setAttribute("aria-valuetext", short(value));
    if (document.activeElement !== field) field.value = written(value);
  };
  range.addEventListener("input", () => {
    const value = meant(Number(range.value));
    range.setAttribute("aria-valuetext", short(value));
    field.value = written(value);
    turn(value);
  });
  range.addEventListener("change", () => {
    const value = meant(Number(range.value));
    widen(value);
    show(value);
    settle();
  });
  field.addEventListener("change", () => {
    const value = Number(field.value.replace(",", ".").replace("−", "-"));
    const bad = field.value.trim() === "" || !Number.isFinite(value);
    field.toggleAttribute("aria-invalid", bad);
    if (bad) return;
    turn(value);
    settle();
  });
  show(turned.value);
  const element = h("div", { class: "dial slides" }, h("label", { for: id }, turned.label), range, field);
  return {
    element,
    set(value, newer) {
      if (document.activeElement === range && range.matches(":active")) return; // nothing moves under the hand
      // a range around the value would move with it: another is taken only for a value that this one does not hold
      if (newer && (newer.log !== log || outside(value))) {
        ({ low, high, log, least = low, most = high } = newer);
        widened = false;
      }
      show(value);
    },
  };
}

function stepper(turned, turn, settle) {
  const id = `dial${++count}`;
  let { low, high } = turned;
  const field = h("input", { type: "number", id, min: low, max: high, step: 1, class: "number", "data-key": turned.key });
  const to = (value) => {
    const kept = Math.min(Math.max(Math.round(value), low), high);
    field.value = String(kept);
    turn(kept);
  };
  const by = (step, sign, words) =>
    h("button", { type: "button", class: "step", "aria-label": `${turned.label}: ${words}`, onclick: () => { to(Number(field.value) + step); settle(); } }, sign);
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value !== "" && Number.isInteger(value) && value >= low && value <= high) turn(value);
  });
  field.addEventListener("change", () => {
    to(Number.isFinite(Number(field.value)) && field.value !== "" ? Number(field.value) : low);
    settle();
  });
  field.value = String(turned.value);
  const step = high - low > 200 ? 100 : 1;
  const element = h("div", { class: "dial steps" }, h("label", { for: id }, turned.label), by(-step, "−", "less"), field, by(step, "+", "more"));
  return {
    element,
    set(value, newer) {
      if (newer) ({ low, high } = newer);
      if (document.activeElement !== field) field.value = String(value);
    },
  };
}

/** A row of dials that is built anew only where other dials are needed. */
export class DialRow {
  /** @param {HTMLElement} home */
  constructor(home) {
    this.home = home;
    this.shape = "";
    /** @type {Map<string, Dial>} */
    this.dials = new Map();
  }

  /**
   * @param {any[]} described name, label, low, high, log, whole
   * @param {Record<string, number>} values
   * @param {(name: string, value: number) => void} turn
   * @param {() => void} settle
   */
  show(described, values, turn, settle) {
    const shape = JSON.stringify(described);
    if (shape !== this.shape) {
      this.shape = shape;
      this.dials.clear();
      for (const d of described) {
        const made = dial({ ...d, value: values[d.name] ?? d.value, key: d.name }, (value) => turn(d.name, value), settle);
        this.dials.set(d.name, made);
      }
      this.home.replaceChildren(...[...this.dials.values()].map((d) => d.element));
    }
    for (const d of described) this.dials.get(d.name)?.set(values[d.name] ?? d.value);
  }
}

