/** The large picture: the plane, the line or the map of items, drawn on the canvas, as an SVG, and said in words. */

import { palette } from "./colours.js";
import { byId, say } from "./dom.js";
import { drawMap, mapBox, mapInWords } from "./items.js";
import { drawLine, lineBox, lineInWords, lineLegend } from "./line.js";
import { CanvasPaper } from "./paper.js";
import { boxOf, drawPlane, planeInWords, planeLegend } from "./plane.js";
import { picture } from "./save.js";

/** @typedef {import("./plane.js").Scene & {shows: string, learner: string}} Scene */

/** What a mode shows: the box on a paper, the pens, the words for who does not see it, and what the signs mean. */
const KINDS = {
  plane: { box: (paper, scene) => boxOf(paper, scene.width, scene.height), draw: drawPlane, words: planeInWords, legend: planeLegend },
  line: { box: lineBox, draw: drawLine, words: lineInWords, legend: lineLegend },
  items: { box: mapBox, draw: drawMap, words: mapInWords, legend: () => "" },
};

export class Stage {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.paper = new CanvasPaper(canvas);
    /** @type {import("./box.js").Box|null} */
    this.box = null;
  }

  /** @param {Scene} scene */
  draw(scene) {
    const { box, draw } = KINDS[scene.shows];
    const colours = palette();
    if (!this.paper.begin(colours.paper)) return;
    this.box = box(this.paper, scene);
    draw(this.paper, this.box, scene, colours);
    say(byId("legend"), KINDS[scene.shows].legend(scene));
  }

  /** @param {Scene} scene */
  say(scene) {
    const words = KINDS[scene.shows].words(scene);
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
  }

  /** The same as the text of an SVG. @param {Scene} scene @param {string} title */
  svg(scene, title) {
    const { box, draw } = KINDS[scene.shows];
    const still = { ...scene, cursor: null, held: -1, light: -1, beside: -1 };
    return picture(title, (paper, colours) => draw(paper, box(paper, still), still, colours));
  }
}
