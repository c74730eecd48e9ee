/** The plane: what the machine says at each place of it, and the samples. */

import { Box } from "./box.js";
import { css, mixed, pixel } from "./colours.js";
import { padded, region, segments } from "./contours.js";
import { CanvasPaper, SIGN_OF_CLASS } from "./paper.js";
import { many } from "./words.js";

/**
 * @typedef {import("./wire.js").Frame} Frame
 * @typedef {import("./colours.js").Palette} Palette
 * @typedef {{view: Frame|undefined, mode: string, points: ArrayLike<number>, width: number, height: number, light: number, beside: number, cursor: number[]|null, held: number}} Scene
 *   `points` are x, y, label one after another; `light` is the sample that is looked at, `beside` one that it is
 *   compared with, −1 for none
 */

const STRONGEST = 0.5; // share of a hue where the machine is sure
const LEVELS = 9; // of the bands in an SVG

/** The box of the plane on a paper. */
export const boxOf = (paper, width, height) => Box.isometric(paper.width, paper.height, [-width, width, -height, height], [8, 10, 22, 36]);

/**
 * @param {any} paper @param {Box} box @param {Scene} scene @param {Palette} palette
 */
export function drawPlane(paper, box, scene, palette) {
  const { view, mode, points } = scene;
  box.axes(paper, palette);
  paper.inside(box.place, () => {
    if (view?.arrays.field) field(paper, box, scene, palette);
    if (view?.arrays.moved) moved(paper, box, view, palette);
    samples(paper, box, points, colourings(scene, palette), palette);
    if (view?.arrays.support) rings(paper, box, view, palette);
    if (view?.arrays.outside) frames(paper, box, view, palette);
    looked(paper, box, scene, palette);
    if (scene.cursor) cross(paper, box, scene.cursor, scene.held >= 0, palette);
  });
  box.border(paper, palette);
}

/** The hues below and above zero, as what they mean in a mode. @param {Scene} scene @param {Palette} palette */
export function sides({ mode, view, points }, palette) {
  if (mode === "novelty") return [palette.plain, palette.hues[2]];
  if (mode === "two_samples") {
    const labels = [...new Set(everyThird(points))].sort();
    return [palette.hues[labels[1] ?? 1], palette.hues[labels[0] ?? 0]];
  }
  const classes = view?.data.classes ?? [0, 1];
  return [palette.hues[classes[0]] ?? palette.hues[0], palette.hues[classes[1]] ?? palette.hues[1]];
}

function everyThird(points) {
  const found = [];
  for (let i = 2; i < points.length; i += 3) found.push(points[i]);
  return found;
}

/** How far below and above zero a machine is sure: near 1 where that has a meaning, else what is seldom passed. */
function scalesOf(view, mode) {
  if (view.data.field === "classes" || mode === "classify" || mode === "weights") return [1.5, 1.5];
  const seldom = (values) => values.sort()[Math.floor(0.97 * (values.length - 1))] || 1;
  const { field } = view.arrays;
  // the scores inside and outside of what is usual are of different size
  if (mode === "novelty") return [seldom(field.filter((v) => v < 0).map(Math.abs)), seldom(field.filter((v) => v > 0))];
  const scale = seldom(field.map(Math.abs));
  return [scale, scale];
}

/** Where lines are drawn. */
function levelsOf(view, mode) {
  if (view.data.field === "classes") return [];
  if (mode === "classify" || mode === "weights") return [-1, 0, 1];
  if (view.data.field === "signed") return [0];
  const values = view.arrays.field;
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  return Array.from({ length: 9 }, (_, i) => low + ((high - low) * (i + 1)) / 10);
}

function field(paper, box, scene, palette) {
  const { view, mode, width, height } = scene;
  const [rows, columns] = view.shapes.field;
  const scales = scalesOf(view, mode);
  const hues = view.arrays.kinds ? (view.data.classes ?? [0, 1, 2, 3]).map((k) => palette.hues[k]) : sides(scene, palette);
  if (paper instanceof CanvasPaper) {
    paper.raster(pixels(view, hues, scales, palette), columns, rows, box.place);
  } else {
    bands(paper, box, scene, hues, scales, palette);
  }
  const grid = padded(view.arrays.field, columns, rows, width, height);
  for (const level of levelsOf(view, mode)) {
    const main = level === 0 && view.data.field === "signed";
    const ink = { stroke: palette.ink, width: main ? 2 : 1, dash: main || view.data.field === "smooth" ? [] : [5, 4], opacity: main ? 0.9 : 0.55 };
    paper.segments(box.places(segments(grid, level)), ink);
  }
}

const tint = (t) => STRONGEST * Math.min(t, 1) ** 0.7;

/** A colour a cell. */
function pixels(view, hues, scales, palette) {
  const { field: values, kinds } = view.arrays;
  const tables = hues.map((hue) => Uint32Array.from({ length: 65 }, (_, i) => pixel(mixed(palette.paper, hue, tint(i / 64)))));
  const found = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    const side = v > 0 ? 1 : 0;
    const table = tables[kinds ? kinds[i] : side];
    found[i] = table ? table[Math.min(64, Math.round((Math.abs(v) / scales[side]) * 64)) || 0] : 0;
  }
  return found;
}

/** The same in an SVG: bands of equal colour, the stronger over the weaker. */
function bands(paper, box, { view, width, height }, hues, scales, palette) {
  const { field: values, kinds } = view.arrays;
  const [rows, columns] = view.shapes.field;
  hues.forEach((hue, side) => {
    const own = Float32Array.from(values, (v, i) => (kinds ? (kinds[i] === side ? Math.abs(v) : -Math.abs(v)) : side ? v : -v));
    const grid = padded(own, columns, rows, width, height);
    for (let l = 0; l < LEVELS; l++) {
      const rings = region(grid, (l / LEVELS) * (kinds ? scales[1] : scales[side]) + 1e-12).map((ring) => box.places(ring));
      const fill = css(mixed(palette.paper, hue, tint((l + 0.5) / LEVELS)));
      // a hair of stroke closes the seams between neighbouring cells
      if (rings.length) paper.paths(rings, { fill, stroke: fill, width: 0.4 }, true);
    }
  });
}

/** Points where the kernel PCA puts them back. */
function moved(paper, box, view, palette) {
  const { points, moved: to } = view.arrays;
  const n = Math.min(points.length / 3, to.length / 2);
  const lines = new Float64Array(4 * n);
  for (let i = 0; i < n; i++) {
    lines.set([box.px(points[3 * i]), box.py(points[3 * i + 1]), box.px(to[2 * i]), box.py(to[2 * i + 1])], 4 * i);
  }
  paper.segments(lines, { stroke: palette.ink, width: 0.8, opacity: 0.3 });
  paper.signs("circle", box.places(to.subarray(0, 2 * n)), 2.4, { fill: palette.hues[1], stroke: palette.paper, width: 0.6 });
}

/** Which colour and sign each sample has. @returns {(i: number, label: number) => [string, string]} */
function colourings({ view, mode, points }, palette) {
  const assigned = view?.arrays.assigned;
  if (assigned && 3 * assigned.length === points.length) return (i, label) => [palette.hues[assigned[i] % 4], SIGN_OF_CLASS[label]];
  if (mode === "novelty") return () => [palette.hues[0], "circle"]; // it knows of no classes
  if (mode === "components" || mode === "cluster") return (_, label) => [palette.plain, SIGN_OF_CLASS[label]];
  return (_, label) => [palette.hues[label], SIGN_OF_CLASS[label]];
}

/** Smaller where there are many, or little room. @param {number} n @param {Box} box */
export const radius = (n, box) => (n <= 150 ? 5 : n <= 600 ? 4 : n <= 1500 ? 3.2 : n <= 4000 ? 2.4 : 1.8) * Math.min(1, Math.max(0.55, box.w / 520));

/** Samples, those of a colour and sign together. */
export function samples(paper, box, points, colouring, palette) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (let i = 0; i < points.length; i += 3) {
    const key = colouring(i / 3, points[i + 2]).join(" ");
    let xy = groups.get(key);
    if (!xy) groups.set(key, (xy = []));
    xy.push(box.px(points[i]), box.py(points[i + 1]));
  }
  const r = radius(points.length / 3, box);
  for (const [key, xy] of groups) {
    const [fill, sign] = key.split(" ");
    paper.signs(sign, xy, r, { fill, stroke: palette.paper, width: 1 });
  }
}

export function rings(paper, box, view, palette) {
  const { points, support } = view.arrays;
  const xy = [];
  for (const i of support) xy.push(box.px(points[3 * i]), box.py(points[3 * i + 1]));
  paper.signs("circle", xy, radius(points.length / 3, box) + 2.5, { stroke: palette.ink, width: 1.4 });
}

/** Points that are outside: a frame, and a colour that rings do not have. */
function frames(paper, box, view, palette) {
  const { points, outside } = view.arrays;
  const xy = [];
  for (const i of outside) xy.push(box.px(points[3 * i]), box.py(points[3 * i + 1]));
  paper.signs("square", xy, radius(points.length / 3, box) + 3.5, { stroke: palette.warn, width: 1.6 });
}

/** The sample that is looked at, and with dashes the one that it is compared with. @param {Scene} scene */
export function looked(paper, box, { points, light, beside }, palette) {
  if (beside >= 0 && beside !== light && 3 * beside < points.length) lit(paper, box, points, beside, palette, [4, 3]);
  if (light >= 0 && 3 * light < points.length) lit(paper, box, points, light, palette, []);
}

function lit(paper, box, points, i, palette, dash) {
  const at = [box.px(points[3 * i]), box.py(points[3 * i + 1])];
  paper.signs("circle", at, 13, { stroke: palette.paper, width: 5 });
  paper.signs("circle", at, 13, { stroke: palette.ink, width: 2.5, dash });
}

export function cross(paper, box, [x, y], held, palette) {
  const [a, b] = [box.px(x), box.py(y)];
  const lines = [a - 18, b, a - 5, b, a + 5, b, a + 18, b, a, b - 18, a, b - 5, a, b + 5, a, b + 18];
  paper.segments(lines, { stroke: palette.paper, width: 4 });
  paper.segments(lines, { stroke: palette.ink, width: held ? 3 : 1.8 });
}

/** Modes in which the class of a point means something to the machine. */
const CLASSES = new Set(["classify", "two_samples", "weights"]);

/** What the signs in the picture mean. @param {Scene} scene */
export function planeLegend({ view, mode, points }) {
  if (!view || !points.length) return "";
  const said = [];
  const { support, outside, moved: to, assigned } = view.arrays;
  if (mode === "novelty" && outside) {
    const inside = view.arrays.points.length / 3 - outside.length - support.length;
    const border = view.data.note ? `, ${support.length} on the border (ringed: support vectors)` : "";
    said.push(`${outside.length} outside (framed: ${border ? "support vectors too" : "the least usual"})${border}, ${inside} inside.`);
    if (support.length) said.push("Around a point that is far from all others the border is an island, at times too small to be drawn.");
  } else if (support?.length) said.push("Ringed: support vectors.");
  if (view.data.field === "signed" && (mode === "classify" || mode === "weights")) said.push("Line: where the function is 0; dashed: −1 and 1.");
  if (assigned) said.push("Colours: the groups that were found.");
  if (view.data.component) said.push(`Colour and lines: component ${view.data.component} as a function on the plane.`);
  if (to) said.push("Orange: where the components that are kept put a point back to, tied to the point by a line.");
  // families have classes also where nobody asks for them
  if ((mode === "components" || mode === "cluster") && kindsOf(points) > 1) said.push(`${assigned ? "" : "Grey: the points. "}Circles, squares, triangles: kinds from which the points were drawn, and of which the machine is not told.`);
  return said.join(" ");
}

const kindsOf = (points) => new Set(everyThird(points)).size;

/** The picture in words. @param {Scene} scene */
export function planeInWords(scene) {
  const { view, mode, points } = scene;
  const n = points.length / 3;
  if (!n) return "Plane without points.";
  const counts = [0, 0, 0, 0];
  for (let i = 2; i < points.length; i += 3) counts[points[i]]++;
  const shares = CLASSES.has(mode) ? `: ${counts.map((c, k) => (c ? `${c} of class ${k + 1}` : "")).filter(Boolean).join(", ")}` : "";
  const support = view?.arrays.support?.length;
  const ringed = support && mode !== "novelty" ? `${support} are support vectors.` : "";
  return [`Plane with ${many(n, "point")}${shares}.`, ringed, planeLegend(scene)].filter(Boolean).join(" ");
}
