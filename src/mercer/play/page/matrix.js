/** The Gram matrix as a heat map. A row under the pointer, or under the arrow keys, lights its sample. */

import { card, explain } from "./cards.js";
import { CIVIDIS_PIXELS, palette } from "./colours.js";
import { announce, h, say } from "./dom.js";
import { CanvasPaper, placeOn } from "./paper.js";
import { many, short } from "./words.js";

const EDGE = 7; // pixels of the strips that show the classes

export class MatrixView {
  /** @param {{light: (row: number, column?: number) => void, pick: (row: number, column: number) => void, name: (sample: number) => string}} page */
  constructor(page) {
    this.page = page;
    this.canvas = h("canvas", { tabindex: 0, role: "application", "aria-label": "Gram matrix", class: "square" });
    this.where = h("p", { class: "where", "aria-hidden": true });
    card("matrix", "Gram matrix", this.canvas, this.where);
    this.paper = new CanvasPaper(this.canvas);
    /** @type {import("./wire.js").Frame|undefined} */
    this.view = undefined;
    this.words = "";
    this.row = -1;
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("blur", () => this.leave());
    this.canvas.addEventListener("click", (event) => {
      const [r, c] = this.cell(event);
      if (r >= 0) this.page.pick(this.view?.arrays.rows[r], this.view?.arrays.rows[c]);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  get size() {
    return this.view?.data.of ?? 0;
  }

  cell(event) {
    const [x, y] = placeOn(this.canvas, event);
    const at = (v, whole) => Math.floor(((v - EDGE) / (whole - EDGE)) * this.size);
    const [r, c] = [at(y, this.paper.height), at(x, this.paper.width)];
    return r >= 0 && c >= 0 && r < this.size && c < this.size ? [r, c] : [-1, -1];
  }

  point(event) {
    const [r, c] = this.cell(event);
    if (r < 0) return this.leave();
    this.row = r;
    this.tell(r, c);
    this.page.light(this.view?.arrays.rows[r], this.view?.arrays.rows[c]);
  }

  leave() {
    this.row = -1;
    say(this.where, "\u00a0");
    this.page.light(-1);
  }

  tell(r, c) {
    const { data, arrays } = /** @type {any} */ (this.view);
    const value = data.low + ((data.high - data.low) * arrays.shades[r * this.size + c]) / 255;
    const words = `${this.page.name(arrays.rows[r])}, ${this.page.name(arrays.rows[c])}: k ≈ ${short(value, 3)}`;
    say(this.where, words);
    return words;
  }

  key(event) {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (step === undefined || !this.view) return;
    event.preventDefault();
    this.row = Math.min(Math.max(this.row + step, 0), this.size - 1);
    const sample = this.view.arrays.rows[this.row];
    this.page.light(sample);
    announce(`Row ${this.row + 1} of ${this.size}: ${this.page.name(sample)}; ${this.tell(this.row, this.row)}`);
  }

  /** @param {import("./wire.js").Frame|undefined} view @param {number} light @param {number} beside @param {(sample: number) => number} label */
  draw(view, light, beside, label) {
    this.view = view;
    const colours = palette();
    this.say(view?.data);
    if (!this.paper.begin(colours.paper) || !view) return;
    const n = this.size;
    const { shades, rows } = view.arrays;
    const side = this.paper.width - EDGE;
    const box = [EDGE, EDGE, side, this.paper.height - EDGE];
    const pixels = new Uint32Array(n * n);
    for (let i = 0; i < pixels.length; i++) pixels[i] = CIVIDIS_PIXELS[shades[i]];
    this.paper.raster(pixels, n, n, box, false);
    this.strips(rows, side / n, label, colours);
    const at = light < 0 ? -1 : rows.indexOf(light);
    if (at >= 0) {
      const column = beside < 0 ? at : rows.indexOf(beside);
      const [p, q] = [at, column].map((i) => EDGE + ((i + 0.5) * side) / n);
      const cross = [EDGE, p, EDGE + side, p, q, EDGE, q, EDGE + side];
      this.paper.segments(cross, { stroke: "#000000", width: 3, opacity: 0.6 });
      this.paper.segments(cross, { stroke: "#ffffff", width: 1.3 });
    }
  }

  strips(rows, cell, label, colours) {
    for (let from = 0, i = 1; i <= rows.length; i++) {
      if (i < rows.length && label(rows[i]) === label(rows[from])) continue;
      const [a, b] = [EDGE + from * cell, EDGE + i * cell];
      const hue = label(rows[from]);
      const fill = hue < 0 ? colours.grid : colours.hues[hue];
      this.paper.paths([[0, a, EDGE - 2, a, EDGE - 2, b, 0, b], [a, 0, b, 0, b, EDGE - 2, a, EDGE - 2]], { fill }, true);
      from = i;
    }
  }

  /** In words, under the picture. */
  say(data) {
    if (!data) {
      this.words = "";
      explain("matrix", "");
      say(this.where, "\u00a0");
      return;
    }
    const { of, n, low, high, learnt } = data;
    const some = of < n ? `${of} of ${n} samples` : many(n, "sample");
    const words = `k${learnt ? " that was learnt," : ""} of ${some}, those that are alike beside each other; from ${short(low, 3)}, dark, to ${short(high, 3)}, bright.`;
    if (words === this.words) return;
    this.words = words;
    explain("matrix", words);
  }
}
