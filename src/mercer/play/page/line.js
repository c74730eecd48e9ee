/** The line: a function of x with what is uncertain of it, or functions that a kernel thinks likely. */

import { Box, ticks } from "./box.js";
import { cross, looked, rings, samples } from "./plane.js";
import { many } from "./words.js";

/** @typedef {import("./plane.js").Scene} Scene */

/** The box of a line: the plane's, or as high as the functions go. */
export function lineBox(paper, { view, width, height }) {
  let [low, high] = [-height, height];
  const drawn = view?.arrays.draws;
  if (drawn) {
    const top = drawn.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-9);
    const step = ticks(0, 1.05 * top, 4);
    high = (step.at(-1) ?? top) + (step[1] ?? top);
    low = -high;
  }
  return new Box([46, 8, Math.max(paper.width - 58, 1), Math.max(paper.height - 32, 1)], [-width, width, low, high]);
}

/** @param {any} paper @param {Box} box @param {Scene & {learner: string}} scene @param {import("./colours.js").Palette} palette */
export function drawLine(paper, box, scene, palette) {
  const { view, points } = scene;
  box.axes(paper, palette, { grid: true });
  paper.inside(box.place, () => {
    if (view?.arrays.curves) curves(paper, box, view, palette, scene.learner);
    if (view?.arrays.draws) draws(paper, box, view, palette);
    else samples(paper, box, points, () => [palette.hues[0], "circle"], palette);
    if (view?.arrays.support?.length) rings(paper, box, view, palette);
    if (!view?.arrays.draws) looked(paper, box, scene, palette);
    else for (const i of [scene.light, scene.beside].filter((i) => i >= 0)) {
      const x = box.px(view.arrays.x[i]);
      paper.segments([x, box.y, x, box.y + box.t], { stroke: palette.ink, width: 1.5, dash: i === scene.light ? [] : [4, 3] });
    }
    if (scene.cursor) cross(paper, box, scene.cursor, scene.held >= 0, palette);
  });
  box.border(paper, palette);
}

/** The column of a table as a path. */
function column(box, x, table, columns, c) {
  const xy = [];
  for (let i = 0; i < x.length; i++) {
    const v = table[i * columns + c];
    if (Number.isFinite(v)) xy.push(box.px(x[i]), box.py(v));
  }
  return xy;
}

function curves(paper, box, view, palette, learner) {
  const { x, curves: table } = view.arrays;
  const columns = Math.round(table.length / x.length);
  const paths = Array.from({ length: columns }, (_, c) => column(box, x, table, columns, c));
  const [low, high] = [paths[0], paths[columns - 1]];
  const back = [];
  for (let i = high.length - 2; i >= 0; i -= 2) back.push(high[i], high[i + 1]);
  paper.paths([[...low, ...back]], { fill: palette.hues[1], opacity: 0.18 }, true);
  const edges = learner === "SVR" ? [6, 4] : [];
  paper.paths([low, high], { stroke: palette.hues[1], width: 1.2, dash: edges });
  paper.paths([paths[Math.floor(columns / 2)]], { stroke: palette.hues[1], width: 2.6 });
}

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

function draws(paper, box, view, palette) {
  const { x, draws: table } = view.arrays;
  const columns = Math.round(table.length / x.length);
  for (let c = 0; c < columns; c++) {
    const ink = { stroke: palette.hues[c % 4], width: 1.8, dash: DASHES[Math.floor(c / 4) % 4], opacity: 0.95 };
    paper.paths([column(box, x, table, columns, c)], ink);
  }
}

const MEANT = {
  ridge: "Line: the mean. Band: two standard deviations of the function, not of the data, which scatter beyond it.",
  quantiles: "Lines: the quantiles .1, .5 and .9 of the data at each x.",
  SVR: "Line: the function. Between the dashed lines, its tube, errors cost nothing.",
};

/** What the lines mean. @param {Scene & {learner: string}} scene */
export function lineLegend({ view, points, learner }) {
  if (!view || view.arrays.draws || !points.length) return "";
  return [MEANT[learner] ?? "", view.arrays.support?.length ? "Ringed: support vectors." : ""].filter(Boolean).join(" ");
}

/** @param {Scene & {learner: string}} scene */
export function lineInWords({ view, points, learner }) {
  const drawn = view?.arrays.draws;
  if (drawn) {
    const count = Math.round(drawn.length / view.arrays.x.length);
    const size = drawn.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
    return `${count} functions drawn at random on −4 to 4; the largest value is ${size.toPrecision(3)}.`;
  }
  if (!view) return `${many(points.length / 3, "point")} over a line.`;
  const what = { ridge: "the mean and a band of two standard deviations of the function", quantiles: "the quantiles .1, .5 and .9", SVR: "the function and its tube" };
  const support = view?.arrays.support?.length;
  return `${many(points.length / 3, "point")} over a line, and ${what[learner] ?? "a function"}.${support ? ` ${support} are support vectors and ringed.` : ""}`;
}
