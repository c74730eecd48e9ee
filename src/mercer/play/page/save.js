/** The picture as a file: an SVG, drawn anew from the numbers. */

import { palette } from "./colours.js";
import { SvgPaper } from "./paper.js";

/**
 * @param {string} title
 * @param {(paper: any, palette: any) => void} draw
 */
export function picture(title, draw, width = 800, height = 620) {
  const paper = new SvgPaper(width, height, title);
  const colours = palette();
  paper.begin(colours.paper);
  draw(paper, colours);
  return paper.toString();
}

/** @param {string} text @param {string} name */
export function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
