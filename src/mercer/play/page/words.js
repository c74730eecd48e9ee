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

/** "1 point", "2 points". */
export const many = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
