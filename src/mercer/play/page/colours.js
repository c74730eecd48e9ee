/** Colours that people with any sight tell apart: Okabe and Ito's for classes, cividis for matrices. */

/** @typedef {{dark: boolean, paper: string, ink: string, faint: string, grid: string, hues: string[], plain: string, warn: string, glow: string}} Palette */

/** @type {Record<"light"|"dark", Palette>} */
const PALETTES = {
  light: {
    dark: false, paper: "#ffffff", ink: "#1c2329", faint: "#5d6770", grid: "#e3e7ea", plain: "#6b7680", warn: "#b3261e", glow: "#000000",
    hues: ["#0072b2", "#d55e00", "#009e73", "#cc79a7"],
  },
  dark: {
    dark: true, paper: "#12171c", ink: "#e8ecef", faint: "#9aa6b0", grid: "#2a323a", plain: "#8d99a3", warn: "#ff8a80", glow: "#ffffff",
    hues: ["#56b4e9", "#e69f00", "#2fc59b", "#e59ac4"],
  },
};

/** The palette of the page as it is now. @returns {Palette} */
export function palette() {
  return PALETTES[themeNow()];
}

/** @returns {"light"|"dark"} */
export function themeNow() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** @param {string} hex @returns {[number, number, number]} */
export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** @param {string} a @param {string} b @param {number} t how much of b */
export function mixed(a, b, t) {
  const [x, y] = [rgb(a), rgb(b)];
  return [0, 1, 2].map((i) => Math.round(x[i] + (y[i] - x[i]) * t));
}

/** @param {number[]} c */
export const css = (c) => `rgb(${c[0]} ${c[1]} ${c[2]})`;

const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

/** 256 colours as numbers of ImageData, little endian. @type {Uint32Array} */
export const CIVIDIS_PIXELS = Uint32Array.from({ length: 256 }, (_, i) => {
  const t = (i / 255) * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(t), CIVIDIS.length - 2);
  return pixel(mixed(CIVIDIS[k], CIVIDIS[k + 1], t - k));
});

/** @param {number[]} c */
export function pixel([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
