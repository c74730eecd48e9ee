/** Small pictures: eigenvalues, the steps of a solver, weights and metrics that were learnt. */

import { Box, ticks } from "./box.js";
import { card } from "./cards.js";
import { palette } from "./colours.js";
import { h } from "./dom.js";
import { CanvasPaper } from "./paper.js";
import { many, short } from "./words.js";

/** @typedef {import("./wire.js").Frame} Frame */

const GAP = 2; // bars wide
const FLOOR = 1e-17; // of gaps that are drawn: what is below is zero
const SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (e) => (e === 0 ? "1" : `10${e < 0 ? "⁻" : ""}${[...String(Math.abs(e))].map((d) => SUPER[Number(d)]).join("")}`);

/** A canvas in a card of its own. */
class Chart {
  /** @param {string} name @param {string} title */
  constructor(name, title) {
    this.canvas = h("canvas", { role: "img", "aria-label": title, class: "chart" });
    this.title = title;
    this.card = card(name, title, this.canvas);
    this.paper = new CanvasPaper(this.canvas);
  }

  /** Nothing is known: what was drawn is of samples that are gone. */
  clear() {
    this.card.words.textContent = "";
    this.canvas.setAttribute("aria-label", this.title);
    this.paper.begin(palette().paper);
  }

  /** @param {string} words */
  say(words) {
    if (this.card.words.textContent === words) return;
    this.card.words.textContent = words;
    this.canvas.setAttribute("aria-label", words);
  }
}

/** A box with powers of ten on the left. @returns {Box} */
function logBox(paper, colours, low, high, x0, x1, [top, height] = [0, paper.height - 14]) {
  const [a, b] = [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
  const box = new Box([38, top + 8, Math.max(paper.width - 48, 1), Math.max(height - 16, 1)], [x0, x1, a, b]);
  const lines = [];
  for (const e of ticks(a, b, box.t / 26).filter(Number.isInteger)) {
    const p = box.py(e);
    lines.push(box.x, p, box.x + box.w, p);
    paper.text(box.x - 6, p + 4, power(e), { anchor: "end", fill: colours.faint });
  }
  paper.segments(lines, { stroke: colours.grid });
  return box;
}

/** The eigenvalues of the matrix. */
export class SpectrumChart extends Chart {
  constructor() {
    super("spectrum", "Eigenvalues");
  }

  /** @param {Frame} view */
  draw(view) {
    const colours = palette();
    const { of, n, smallest, effective, ridge, negative, learnt } = view.data;
    const { lowest } = view.arrays;
    const largest = view.arrays.values;
    const last = lowest.length;
    // between the largest and the smallest stands a gap: there are others between them
    const gap = last ? GAP : 0;
    const values = Float64Array.of(...largest, ...lowest);
    const places = Array.from(values, (_, i) => (i < largest.length ? i : i + gap));
    const top = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0) || 1;
    const part = of < n ? ` (${of} of ${n} samples)` : "";
    const whose = learnt ? " of the learnt kernel" : "";
    const shown = last ? `The ${largest.length} largest and, at the right end, the ${last} smallest` : largest.length < of ? `The ${largest.length} largest` : "All";
    const dimension = effective === undefined || effective === null ? "" : ` Effective dimension Σ λ/(λ + ${short(ridge, 3)}) = ${short(effective)}.`;
    const below = negative ? ` ${many(negative, "is", "are")} negative, down to ${short(smallest, 3)}, drawn by their size in another colour: no kernel on these data.` : ` Smallest ${short(smallest, 3)}.`;
    this.say(`${shown} of ${of} eigenvalues${whose}${part}.${dimension}${below}`);
    if (!this.paper.begin(colours.paper)) return;
    const low = Math.max(top * 1e-10, values.reduce((m, v) => (v ? Math.min(m, Math.abs(v)) : m), top) * 0.7);
    const box = logBox(this.paper, colours, low, top, 0, values.length + gap);
    const bars = { plus: [], minus: [] };
    values.forEach((v, i) => {
      const [x, w] = [box.px(places[i] + 0.12), box.px(places[i] + 0.88)];
      const y = box.py(Math.log10(Math.max(Math.abs(v), low)));
      if (Math.abs(v) >= low) bars[v > 0 ? "plus" : "minus"].push([x, box.y + box.t, x, y, w, y, w, box.y + box.t]);
    });
    this.paper.inside(box.place, () => {
      this.paper.paths(bars.plus, { fill: colours.hues[0] }, true);
      this.paper.paths(bars.minus, { fill: colours.warn }, true);
    });
    if (ridge && Math.log10(ridge) > box.y0 && Math.log10(ridge) < box.y1) {
      const y = box.py(Math.log10(ridge));
      this.paper.segments([box.x, y, box.x + box.w, y], { stroke: colours.ink, width: 1.3, dash: [5, 3] });
      // eigenvalues fall: there is room above the last of the largest
      this.paper.text(box.px(largest.length) - 4, box.y + 13, "dashed: λ of the machine", { anchor: "end", fill: colours.ink, halo: colours.paper });
    }
    if (gap) this.paper.text(box.px(largest.length + gap / 2), box.y + box.t - 4, "…", { anchor: "middle", fill: colours.faint });
    if (last) this.paper.text(box.px(values.length + gap - 0.5), box.y + box.t + 14, String(of), { anchor: "middle", fill: colours.faint });
    for (const t of ticks(1, largest.length, box.w / 50).filter(Number.isInteger)) {
      this.paper.text(box.px(t - 0.5), box.y + box.t + 14, String(t), { anchor: "middle", fill: colours.faint });
    }
    box.border(this.paper, colours);
  }
}

/** How the solver came to its answer. */
export class SolverChart extends Chart {
  constructor() {
    super("solver", "Solver");
  }

  /** @param {Frame} view */
  draw(view) {
    const colours = palette();
    const steps = view.arrays.steps;
    const n = steps.length / 3;
    const gaps = [];
    const objectives = [];
    for (let i = 0; i < n; i++) {
      if (steps[3 * i + 1] >= 0 && steps[3 * i + 1] < Infinity) gaps.push([i, Math.max(steps[3 * i + 1], FLOOR)]);
      if (Number.isFinite(steps[3 * i + 2])) objectives.push([i, steps[3 * i + 2]]);
    }
    this.say(inWords(view.data, n, objectives));
    const curves = [objectives.length > 1 && this.objective, gaps.length > 1 && this.gap].filter(Boolean);
    this.canvas.hidden = !curves.length;
    this.canvas.classList.toggle("tall", curves.length > 1);
    if (this.canvas.hidden || !this.paper.begin(colours.paper)) return;
    const part = this.paper.height / curves.length;
    curves.forEach((curve, i) => curve && curve.call(this, curve === this.gap ? gaps : objectives, n, colours, [i * part, part]));
  }

  gap(gaps, n, colours, [top, height]) {
    const sizes = gaps.map(([, g]) => g);
    const box = logBox(this.paper, colours, Math.min(...sizes), Math.max(...sizes), 0, Math.max(n - 1, 1), [top, height]);
    this.curve(box, gaps.map(([i, g]) => [i, Math.log10(g)]), colours);
    this.paper.text(box.x + box.w - 4, box.y + 14, "gap at each report, and at the end", { anchor: "end", fill: colours.faint, halo: colours.paper });
  }

  objective(objectives, n, colours, [top, height]) {
    const sizes = objectives.map(([, v]) => v);
    const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
    const room = (high - low || Math.abs(high) || 1) * 0.08;
    const box = new Box([54, top + 8, Math.max(this.paper.width - 64, 1), Math.max(height - 16, 1)], [0, Math.max(n - 1, 1), low - room, high + room]);
    box.axes(this.paper, colours, { grid: true, x: false });
    this.curve(box, objectives, colours);
    this.paper.text(box.x + box.w - 4, box.y + 14, "objective at each report", { anchor: "end", fill: colours.faint, halo: colours.paper });
  }

  curve(box, pairs, colours) {
    const xy = box.places(pairs.flat());
    this.paper.paths([xy], { stroke: colours.hues[0], width: 2 });
    if (pairs.length < 60) this.paper.signs("circle", xy, 3, { fill: colours.hues[0] });
    box.border(this.paper, colours);
  }
}

function inWords(said, n, objectives) {
  const parts = [];
  if (said.stop_reason) parts.push(`Ended by: ${said.stop_reason}${said.n_iter !== undefined ? `, after ${many(said.n_iter, "step")}` : ""}.`);
  else if (said.n_iter !== undefined && n) parts.push(`${many(said.n_iter, "step")}.`);
  if (said.gap !== undefined && said.gap !== null) parts.push(`Gap ${short(said.gap, 3)}.`);
  if (said.solver) parts.push(`Method: ${said.solver}.`);
  if (objectives.length) parts.push(`Objective ${short(objectives.at(-1)[1])}.`);
  if (said.converged === false) parts.push("It has not converged.");
  if (!n) parts.push("It is solved at once: no steps to show.");
  return parts.join(" ");
}

/** Weights of the terms of a sum, or the metric of the columns. */
export class WeightsChart extends Chart {
  constructor() {
    super("weights", "What was learnt");
  }

  /** @param {Frame} view */
  draw(view) {
    const colours = palette();
    this.canvas.style.height = view.data.kind === "metric" ? "" : `${Math.max(2.2 * view.data.names.length, 4)}rem`;
    if (view.data.kind === "metric") this.metric(view.arrays.metric, colours);
    else this.terms(view.data.names, [...view.arrays.weights], colours);
  }

  terms(names, weights, colours) {
    const most = Math.max(1, ...weights); // no weight is above 1, whatever p is: bars of two answers can be compared
    this.canvas.setAttribute("aria-label", `Weights: ${names.map((name, i) => `${name} ${short(weights[i], 3)}`).join("; ")}.`);
    this.card.words.textContent = `Each weight is between 0 and 1, and a bar from side to side is ${short(most, 3)}.`;
    if (!this.paper.begin(colours.paper)) return;
    const { width, height } = this.paper;
    const row = Math.min(34, (height - 6) / names.length);
    names.forEach((name, i) => {
      const y = 4 + i * row;
      const w = (width - 12) * Math.max(weights[i] / most, 0);
      this.paper.text(6, y + 11, `${name}  ${short(weights[i], 3)}`, { fill: colours.ink, size: Math.min(12, row * 0.5) });
      this.paper.paths([[6, y + row * 0.46, 6 + w, y + row * 0.46, 6 + w, y + row * 0.86, 6, y + row * 0.86]], { fill: colours.hues[i % 4] }, true);
      this.paper.paths([[6, y + row * 0.46, width - 6, y + row * 0.46, width - 6, y + row * 0.86, 6, y + row * 0.86]], { stroke: colours.grid }, true);
    });
  }

  metric([a, b, c, d], colours) {
    this.say(`The metric M is (${short(a, 3)}, ${short(b, 3)}; ${short(c, 3)}, ${short(d, 3)}). The ellipse holds what is equally near to its middle: it is narrow where a step counts for much.`);
    if (!this.paper.begin(colours.paper)) return;
    const { width, height } = this.paper;
    // x'Mx = 1 along the eigenvectors of M
    const [middle, half] = [(a + d) / 2, Math.hypot((a - d) / 2, b)];
    const sizes = [middle + half, Math.max(middle - half, (middle + half) * 1e-4)].map((v) => 1 / Math.sqrt(Math.max(v, 1e-12)));
    const angle = 0.5 * Math.atan2(2 * b, a - d);
    const scale = (0.44 * Math.min(width, height)) / Math.max(...sizes);
    const xy = [];
    for (let k = 0; k < 96; k++) {
      const t = (k / 96) * 2 * Math.PI;
      const [u, v] = [sizes[0] * Math.cos(t), sizes[1] * Math.sin(t)];
      xy.push(width / 2 + scale * (u * Math.cos(angle) - v * Math.sin(angle)), height / 2 - scale * (u * Math.sin(angle) + v * Math.cos(angle)));
    }
    this.paper.segments([0, height / 2, width, height / 2, width / 2, 0, width / 2, height], { stroke: colours.grid });
    this.paper.paths([xy], { fill: colours.hues[0], opacity: 0.25 }, true);
    this.paper.paths([xy], { stroke: colours.hues[0], width: 2 }, true);
  }
}
