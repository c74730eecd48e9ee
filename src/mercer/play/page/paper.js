/** Two papers with the same pens: a canvas, and the text of an SVG. A picture is drawn by one function on either. */

/**
 * @typedef {{stroke?: string, fill?: string, width?: number, dash?: number[], opacity?: number}} Ink
 * @typedef {{size?: number, anchor?: "start"|"middle"|"end", fill?: string, bold?: boolean, halo?: string}} Type
 */

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

/** Signs of classes, so that colour is not all that tells them apart. */
const SIGNS = {
  circle: (r) => circleOf(r),
  square: (r) => [-r, -r, r, -r, r, r, -r, r].map((v) => v * 0.88),
  triangle: (r) => [0, -1.25 * r, 1.15 * r, 0.85 * r, -1.15 * r, 0.85 * r],
  diamond: (r) => [0, -1.3 * r, 1.15 * r, 0, 0, 1.3 * r, -1.15 * r, 0],
  cross: (r) => [-r, -0.35 * r, -0.35 * r, -0.35 * r, -0.35 * r, -r, 0.35 * r, -r, 0.35 * r, -0.35 * r, r, -0.35 * r, r, 0.35 * r, 0.35 * r, 0.35 * r, 0.35 * r, r, -0.35 * r, r, -0.35 * r, 0.35 * r, -r, 0.35 * r],
};
export const SIGN_OF_CLASS = ["circle", "square", "triangle", "diamond"];

const circleOf = (r) => Array.from({ length: 32 }, (_, i) => r * (i % 2 ? Math.sin : Math.cos)(((i >> 1) / 16) * 2 * Math.PI));

/** What is a pixel on paper: it grows with the letters of the page, so that signs and words are read on any screen. */
let measured = 0;
export function unit() {
  measured ||= parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
  return measured;
}
addEventListener("resize", () => (measured = 0));

/** The place of an event on the paper of a canvas. @param {HTMLCanvasElement} canvas @param {MouseEvent} event */
export function placeOn(canvas, event) {
  const seen = canvas.getBoundingClientRect();
  return [(event.clientX - seen.left) / unit(), (event.clientY - seen.top) / unit()];
}

/** A canvas as paper, sharp on any screen. */
export class CanvasPaper {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.width = 0;
    this.height = 0;
    /** @type {HTMLCanvasElement|null} */
    this.small = null;
  }

  /** A clean sheet of the size at which the canvas is seen; false while it is not seen. @param {string} colour */
  begin(colour) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const { clientWidth: w, clientHeight: t } = this.canvas;
    if (w < 2 || t < 2) return false;
    this.width = w / unit();
    this.height = t / unit();
    const [W, T] = [Math.round(w * ratio), Math.round(t * ratio)];
    if (this.canvas.width !== W || this.canvas.height !== T) Object.assign(this.canvas, { width: W, height: T });
    this.pen.setTransform(W / this.width, 0, 0, T / this.height, 0, 0);
    this.pen.fillStyle = colour;
    this.pen.fillRect(0, 0, this.width, this.height);
    return true;
  }

  /** @param {Ink} ink */
  ink(ink) {
    const { pen } = this;
    pen.globalAlpha = ink.opacity ?? 1;
    pen.setLineDash(ink.dash ?? []);
    pen.lineWidth = ink.width ?? 1;
    pen.lineJoin = "round";
    if (ink.fill) {
      pen.fillStyle = ink.fill;
      pen.fill();
    }
    if (ink.stroke) {
      pen.strokeStyle = ink.stroke;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** Lines x, y, x, y one by one. @param {ArrayLike<number>} xy @param {Ink} ink */
  segments(xy, ink) {
    this.pen.beginPath();
    for (let i = 0; i < xy.length; i += 4) {
      this.pen.moveTo(xy[i], xy[i + 1]);
      this.pen.lineTo(xy[i + 2], xy[i + 3]);
    }
    this.ink(ink);
  }

  /** Paths, each closed or not. @param {ArrayLike<number>[]} paths @param {Ink} ink */
  paths(paths, ink, closed = false) {
    this.pen.beginPath();
    for (const xy of paths) {
      for (let i = 0; i < xy.length; i += 2) this.pen[i ? "lineTo" : "moveTo"](xy[i], xy[i + 1]);
      if (closed) this.pen.closePath();
    }
    this.ink(ink);
  }

  /** The same sign at many places. @param {string} sign @param {ArrayLike<number>} xy @param {number} r @param {Ink} ink */
  signs(sign, xy, r, ink) {
    const { pen } = this;
    pen.beginPath();
    const form = SIGNS[sign](r);
    for (let i = 0; i < xy.length; i += 2) {
      if (sign === "circle") {
        pen.moveTo(xy[i] + r, xy[i + 1]);
        pen.arc(xy[i], xy[i + 1], r, 0, 2 * Math.PI);
        continue;
      }
      for (let k = 0; k < form.length; k += 2) pen[k ? "lineTo" : "moveTo"](xy[i] + form[k], xy[i + 1] + form[k + 1]);
      pen.closePath();
    }
    this.ink(ink);
  }

  /** @param {number} x @param {number} y @param {string} words @param {Type} type */
  text(x, y, words, { size = 11, anchor = "start", fill = "#000", bold = false, halo = "" } = {}) {
    const { pen } = this;
    pen.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    pen.textAlign = /** @type {CanvasTextAlign} */ ({ start: "left", middle: "center", end: "right" }[anchor]);
    pen.textBaseline = "alphabetic";
    if (halo) {
      pen.setLineDash([]);
      pen.lineWidth = 3;
      pen.strokeStyle = halo;
      pen.strokeText(words, x, y);
    }
    pen.fillStyle = fill;
    pen.fillText(words, x, y);
  }

  /** A picture of pixels in a box. @param {Uint32Array} pixels @param {number} columns @param {number} rows @param {number[]} box */
  raster(pixels, columns, rows, [x, y, w, t], smooth = true) {
    this.small ??= document.createElement("canvas");
    if (this.small.width !== columns || this.small.height !== rows) Object.assign(this.small, { width: columns, height: rows });
    const bytes = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, 4 * columns * rows);
    this.small.getContext("2d")?.putImageData(new ImageData(bytes, columns, rows), 0, 0);
    this.pen.imageSmoothingEnabled = smooth;
    this.pen.imageSmoothingQuality = "high";
    this.pen.drawImage(this.small, x, y, w, t);
  }

  /** Draw inside a box only. @param {number[]} box @param {() => void} draw */
  inside([x, y, w, t], draw) {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(x, y, w, t);
    this.pen.clip();
    draw();
    this.pen.restore();
  }
}

/** Text of an SVG as paper. */
export class SvgPaper {
  /** @param {number} width @param {number} height @param {string} title */
  constructor(width, height, title) {
    this.width = width;
    this.height = height;
    this.title = title;
    /** @type {string[]} */
    this.parts = [];
    this.clips = 0;
  }

  begin(colour) {
    this.parts.push(`<rect width="${this.width}" height="${this.height}" fill="${escaped(colour)}"/>`);
    return true;
  }

  /** @param {Ink} ink */
  style({ stroke, fill, width = 1, dash, opacity }) {
    const said = [`fill="${escaped(fill ?? "none")}"`];
    if (stroke) said.push(`stroke="${escaped(stroke)}" stroke-width="${width}" stroke-linejoin="round"`);
    if (stroke && dash?.length) said.push(`stroke-dasharray="${dash.join(" ")}"`);
    if (opacity !== undefined) said.push(`opacity="${opacity}"`);
    return said.join(" ");
  }

  segments(xy, ink) {
    const lines = [];
    for (let i = 0; i < xy.length; i += 4) lines.push(`M${at(xy[i])} ${at(xy[i + 1])}L${at(xy[i + 2])} ${at(xy[i + 3])}`);
    this.d(lines.join(""), ink);
  }

  paths(paths, ink, closed = false) {
    this.d(paths.map((xy) => path(xy) + (closed ? "Z" : "")).join(""), ink);
  }

  signs(sign, xy, r, ink) {
    const form = SIGNS[sign](r);
    const all = [];
    for (let i = 0; i < xy.length; i += 2) all.push(`${path(form.map((v, k) => v + xy[i + (k % 2)]))}Z`);
    this.d(all.join(""), ink);
  }

  d(d, ink) {
    if (d) this.parts.push(`<path d="${d}" ${this.style(ink)}/>`);
  }

  text(x, y, words, { size = 11, anchor = "start", fill = "#000", bold = false, halo = "" } = {}) {
    const around = halo ? ` paint-order="stroke" stroke="${escaped(halo)}" stroke-width="3" stroke-linejoin="round"` : "";
    this.parts.push(
      `<text x="${at(x)}" y="${at(y)}" font-size="${size}" text-anchor="${anchor}" fill="${escaped(fill)}"${bold ? ' font-weight="600"' : ""}${around}>${escaped(words)}</text>`,
    );
  }

  inside([x, y, w, t], draw) {
    const id = `inside${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><rect x="${x}" y="${y}" width="${w}" height="${t}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  toString() {
    const { width, height } = this;
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}" role="img">\n<title>${escaped(this.title)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

const at = (v) => Math.round(v * 100) / 100;

function path(xy) {
  let d = "";
  for (let i = 0; i < xy.length; i += 2) d += `${i ? "L" : "M"}${at(xy[i])} ${at(xy[i + 1])}`;
  return d;
}

/** Text that XML cannot take for anything but text; letters that XML does not have are left out. @param {string} text */
export function escaped(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}
