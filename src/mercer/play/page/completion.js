/** What can be written at a place of a kernel expression. */

/** @typedef {{text: string, words: string, from: number, to: number}} Offer */

const AFTER = [
  { name: "normalized()", words: "k(x, z)/√(k(x, x) k(z, z))" },
  { name: "centered()", words: "features with their mean at zero" },
  { name: "on([0])", words: "of the first column only" },
  { name: "repaired()", words: "negative eigenvalues cut off" },
];
const MOST = 9;

/**
 * @param {string} text @param {number} caret @param {{name: string, text: string, formula: string}[]} names
 * @returns {Offer[]}
 */
export function offers(text, caret, names) {
  const before = text.slice(0, caret);
  const after = /\)\s*\.(\w*)$/.exec(before);
  if (after) {
    const from = caret - after[1].length;
    return AFTER.filter((a) => a.name.startsWith(after[1]) && a.name !== after[1]).map((a) => ({ text: a.name, words: a.words, from, to: caret }));
  }
  const word = /[A-Za-z_]\w*$/.exec(before)?.[0];
  if (!word || /^\s*\(/.test(text.slice(caret))) return [];
  // inside the brackets of a kernel stand its parameters
  if (/[A-Z]\w*\([^()]*$/.test(before) && /^[a-z]/.test(word)) return [];
  const low = word.toLowerCase();
  const rank = ({ name }) => (name.toLowerCase().startsWith(low) ? 0 : name.toLowerCase().includes(low) ? 1 : 2);
  return names
    .filter((entry) => rank(entry) < 2)
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
    .slice(0, MOST)
    .map((entry) => ({ text: entry.text, words: entry.formula, from: caret - word.length, to: caret }));
}

/** The place that a complaint speaks of, counted from 0; −1 where it names none. */
export function placeOf({ at, message }) {
  if (Number.isInteger(at)) return at;
  const found = /^At character (\d+):/.exec(message ?? "");
  return found ? Number(found[1]) - 1 : -1;
}
