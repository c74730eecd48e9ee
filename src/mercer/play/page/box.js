/** The part of a paper in which numbers are drawn, with axes around it. */

import { short } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */

export class Box {
  /**
   * @param {number[]} place x, y, width, height on the paper
   * @param {number[]} span lowest and highest x, lowest and highest y
   */
  constructor([x, y, w, t], [x0, x1, y0, y1]) {
    this.x = x;
    this.y = y;
    this.w = w;
    this.t = t;
    this.x0 = x0;
    this.x1 = x1;
    this.y0 = y0;
    this.y1 = y1;
  }

  /**
   * The largest box on a paper with the same scale on both axes.
   * @param {number} width @param {number} height @param {number[]} span @param {number[]} margins top, right, bottom, left
   */
  static isometric(width, height, span, [top, right, bottom, left]) {
    const [x0, x1, y0, y1] = span;
    const scale = Math.max(Math.min((width - left - right) / (x1 - x0), (height - top - bottom) / (y1 - y0)), 1e-9);
    const [w, t] = [scale * (x1 - x0), scale * (y1 - y0)];
    return new Box([left + (width - left - right - w) / 2, top + (height - top - bottom - t) / 2, w, t], span);
  }

  get place() {
    return [this.x, this.y, this.w, this.t];
  }

  px(x) {
    return this.x + ((x - this.x0) / (this.x1 - this.x0)) * this.w;
  }

  py(y) {
    return this.y + ((this.y1 - y) / (this.y1 - this.y0)) * this.t;
  }

  /** Numbers x, y, … as places on the paper. @param {ArrayLike<number>} xy */
  places(xy) {
    const found = new Float64Array(xy.length);
    for (let i = 0; i < xy.length; i += 2) {
      found[i] = this.px(xy[i]);
      found[i + 1] = this.py(xy[i + 1]);
    }
    return found;
  }

  /** What is at a place of the paper, within the box. */
  at(px, py) {
    const x = this.x0 + ((px - this.x) / this.w) * (this.x1 - this.x0);
    const y = this.y1 - ((py - this.y) / this.t) * (this.y1 - this.y0);
    return [Math.min(Math.max(x, this.x0), this.x1), Math.min(Math.max(y, this.y0), this.y1)];
  }

  /** Ticks and numbers left and below. @param {any} paper @param {Palette} palette */
  axes(paper, palette, { grid = false, x = true, y = true } = {}) {
    const lines = [];
    for (const v of x ? ticks(this.x0, this.x1, this.w / 60) : []) {
      const p = this.px(v);
      lines.push(p, this.y + (grid ? 0 : this.t), p, this.y + this.t + 4);
      paper.text(p, this.y + this.t + 15, short(v), { anchor: "middle", fill: palette.faint });
    }
    for (const v of y ? ticks(this.y0, this.y1, this.t / 40) : []) {
      const p = this.py(v);
      lines.push(this.x - 4, p, this.x + (grid ? this.w : 0), p);
      paper.text(this.x - 7, p + 4, short(v), { anchor: "end", fill: palette.faint });
    }
    paper.segments(lines, { stroke: palette.grid });
    this.border(paper, palette);
  }

  border(paper, palette) {
    const { x, y, w, t } = this;
    paper.paths([[x, y, x + w, y, x + w, y + t, x, y + t]], { stroke: palette.faint, width: 1, opacity: 0.6 }, true);
  }
}

/** Round numbers between two. */
export function ticks(low, high, about) {
  const raw = (high - low) / Math.max(about, 1);
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}
