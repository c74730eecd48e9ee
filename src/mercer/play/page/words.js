/** Numbers as people read them. */

/** @param {number|null|undefined} value */
export function short(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return signed(value.toExponential(Math.max(0, digits - 3)).replace("e+", "e"));
  return signed(String(Number(value.toPrecision(digits))));
}

/** A minus sign, not a hyphen. */
const signed = (text) => text.replaceAll("-", "−");

/** So many digits as a slider can mean. @param {number} value */
export const rounded = (value, digits = 3) => Number(value.toPrecision(digits));

const ROOM = 9; // letters of a field

/** A number for a field, whole: with powers of ten where it would be too long. @param {number} value */
export function written(value) {
  const plain = String(rounded(value, 6));
  if (plain.length <= ROOM) return plain;
  for (let digits = 6; digits > 1; digits--) {
    const text = String(Number(value.toPrecision(digits)).toExponential()).replace("e+", "e");
    if (text.length <= ROOM) return text;
  }
  return value.toExponential(0).replace("e+", "e");
}

/** "1 point", "2 points"; "1 is", "2 are". */
export const many = (n, word, several = `${word}s`) => `${n} ${n === 1 ? word : several}`;
