/** Points are added, moved, labelled and erased, by pointer and by keyboard alike. */

import { announce } from "./dom.js";
import { placeOn } from "./paper.js";

const REACH = 12; // pixels to a point
const FINGER = 22;
const BRUSH = 9; // pixels between the points that a drag adds
const STEP = { x: 0.1, y: 0.1 };

/**
 * @typedef {Object} Ground
 * @property {() => import("./box.js").Box|null} box
 * @property {() => number[][]} points
 * @property {() => boolean} editable
 * @property {() => number} most
 * @property {() => string} tool add, move, label or erase
 * @property {() => number} label
 * @property {(label: number) => void} choose
 * @property {(points: number[][], gesture: string|null) => void} edit
 * @property {() => void} settle
 * @property {(sample: number) => void} light
 * @property {() => void} redraw
 * @property {() => boolean} labelled whether labels mean anything here
 */

const round = (v) => Math.round(v * 1e4) / 1e4; // what a link holds is what is computed with

export class Pointing {
  /** @param {HTMLCanvasElement} canvas @param {Ground} ground */
  constructor(canvas, ground) {
    this.canvas = canvas;
    this.ground = ground;
    /** @type {number[]|null} */
    this.cursor = null;
    this.held = -1;
    this.gestures = 0;
    /** @type {{id: number, index: number, last: number[], name: string, tool: string}|null} */
    this.drag = null;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => this.up());
    canvas.addEventListener("pointerleave", () => !this.drag && ground.light(-1));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => {
      // a crosshair is for who came here by keyboard
      if (canvas.matches(":focus-visible") && ground.editable()) this.put(this.cursor ?? [0, 0]);
    });
    canvas.addEventListener("blur", () => {
      this.cursor = null;
      this.held = -1;
      ground.redraw();
    });
  }

  place(event) {
    return placeOn(this.canvas, event);
  }

  /** The sample nearest to a place; −1 where none is within reach. */
  nearest(px, py, reach = REACH) {
    const box = this.ground.box();
    let [best, found] = [reach * reach, -1];
    if (!box) return found;
    this.ground.points().forEach(([x, y], i) => {
      const d = (box.px(x) - px) ** 2 + (box.py(y) - py) ** 2;
      if (d <= best) [best, found] = [d, i];
    });
    return found;
  }

  down(event) {
    const { ground } = this;
    const box = ground.box();
    if (event.button !== 0 || !ground.editable() || !box) return;
    this.canvas.setPointerCapture(event.pointerId);
    const [px, py] = this.place(event);
    const near = this.nearest(px, py, event.pointerType === "touch" ? FINGER : REACH);
    this.cursor = null;
    // with the pen, too, a point that is there is taken up, not covered by another
    const tool = ground.tool() === "add" && near >= 0 ? "move" : ground.tool();
    this.drag = { id: event.pointerId, index: near, last: [px, py], name: `points ${++this.gestures}`, tool };
    if (tool === "add") this.add(box.at(px, py), this.drag.name);
    else if (tool !== "move") this.brush(px, py);
  }

  move(event) {
    const { ground, drag } = this;
    const box = ground.box();
    const [px, py] = this.place(event);
    if (!drag || !box) {
      ground.light(this.nearest(px, py));
      return;
    }
    if (drag.tool === "move" && drag.index >= 0) this.shift(drag.index, box.at(px, py), drag.name);
    else if (drag.tool === "add" && Math.hypot(px - drag.last[0], py - drag.last[1]) >= BRUSH) {
      drag.last = [px, py];
      this.add(box.at(px, py), drag.name);
    } else if (drag.tool === "erase" || drag.tool === "label") this.brush(px, py);
  }

  up() {
    if (!this.drag) return;
    this.drag = null;
    this.ground.settle();
  }

  /** Erase or label what is under the pointer. */
  brush(px, py) {
    const near = this.nearest(px, py);
    if (near < 0 || !this.drag) return;
    if (this.drag.tool === "erase") this.remove(near, this.drag.name);
    else this.relabel(near, this.drag.name);
  }

  add([x, y], gesture) {
    const { ground } = this;
    const points = ground.points();
    if (points.length >= ground.most()) {
      announce(`There are ${points.length} points: more are not taken.`);
      return;
    }
    const label = ground.labelled() ? ground.label() : 0;
    ground.edit([...points, [round(x), round(y), label]], gesture);
    announce(`Point added at ${x.toFixed(1)}, ${y.toFixed(1)}; ${points.length + 1} points.`);
  }

  shift(i, [x, y], gesture) {
    const points = this.ground.points().slice();
    points[i] = [round(x), round(y), points[i][2]];
    this.ground.light(i);
    this.ground.edit(points, gesture);
  }

  relabel(i, gesture) {
    const points = this.ground.points().slice();
    const label = this.ground.label();
    if (points[i][2] === label) return;
    points[i] = [points[i][0], points[i][1], label];
    this.ground.edit(points, gesture);
    announce(`The point is now of class ${label + 1}.`);
  }

  remove(i, gesture) {
    const points = this.ground.points();
    this.ground.light(-1);
    this.ground.edit(points.filter((_, k) => k !== i), gesture);
    announce(`Point removed; ${points.length - 1} are left.`);
  }

  put(cursor) {
    this.cursor = cursor;
    this.ground.redraw();
  }

  key(event) {
    const { ground } = this;
    const box = ground.box();
    if (!ground.editable() || !box || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const [x, y] = this.cursor ?? [0, 0];
    const near = this.nearest(box.px(x), box.py(y));
    const name = () => `key ${++this.gestures}`;
    if (arrow) {
      const many = event.shiftKey ? 5 : 1;
      const to = box.at(box.px(x + many * STEP.x * arrow[0]), box.py(y + many * STEP.y * arrow[1]));
      const at = [round(to[0]), round(to[1])];
      if (this.held >= 0) this.shift(this.held, at, `held ${this.gestures}`);
      this.put(at);
      ground.light(this.held >= 0 ? this.held : this.nearest(box.px(at[0]), box.py(at[1])));
      announce(`${at[0].toFixed(1)}, ${at[1].toFixed(1)}`);
    } else if (event.key === "Enter" && this.held >= 0) this.drop();
    else if (event.key === "Enter") {
      this.put([x, y]);
      this.add([x, y], name());
      ground.settle();
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.held = -1;
      if (near >= 0) this.remove(near, name());
      ground.settle();
    } else if (event.key === "m" || event.key === " ") {
      if (this.held >= 0) this.drop();
      else if (near >= 0) {
        this.gestures++;
        this.held = near;
        announce("Taken up: arrow keys move it, Enter puts it down.");
        ground.redraw();
      }
    } else if (event.key === "l" && near >= 0 && ground.labelled()) {
      this.relabel(near, name());
      ground.settle();
    } else if (event.key === "Escape") {
      if (this.held >= 0) this.drop();
      else this.put(null);
    } else if ("1234".includes(event.key) && ground.labelled()) ground.choose(Number(event.key) - 1);
    else return;
    event.preventDefault();
  }

  drop() {
    this.held = -1;
    this.ground.settle();
    this.ground.redraw();
    announce("Put down.");
  }
}
