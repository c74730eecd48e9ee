/** Lines and bands of equal value of a field that is known at the middles of cells. */

/**
 * @typedef {{values: Float32Array|Float64Array, columns: number, rows: number, xs: Float64Array, ys: Float64Array}} Grid
 */

/**
 * The field, continued to the borders of the plane.
 * @param {Float32Array} field row by row from the top
 * @param {number} columns @param {number} rows @param {number} width @param {number} height
 * @returns {Grid}
 */
export function padded(field, columns, rows, width, height) {
  const C = columns + 2;
  const R = rows + 2;
  const values = new Float64Array(C * R);
  for (let r = 0; r < R; r++) {
    const from = Math.min(Math.max(r - 1, 0), rows - 1) * columns;
    for (let c = 0; c < C; c++) values[r * C + c] = field[from + Math.min(Math.max(c - 1, 0), columns - 1)];
  }
  const xs = Float64Array.from({ length: C }, (_, c) => (c === 0 ? -width : c === C - 1 ? width : ((c - 0.5) / columns) * 2 * width - width));
  const ys = Float64Array.from({ length: R }, (_, r) => (r === 0 ? height : r === R - 1 ? -height : height - ((r - 0.5) / rows) * 2 * height));
  return { values, columns: C, rows: R, xs, ys };
}

/**
 * Where the field has a value: segments x, y, x, y, …
 * @param {Grid} grid @param {number} level
 * @returns {number[]}
 */
export function segments({ values, columns, rows, xs, ys }, level) {
  const found = [];
  for (let r = 0; r + 1 < rows; r++) {
    for (let c = 0; c + 1 < columns; c++) {
      const i = r * columns + c;
      const a = values[i] - level;
      const b = values[i + 1] - level;
      const d = values[i + columns + 1] - level;
      const e = values[i + columns] - level;
      const kind = (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (d > 0 ? 4 : 0) | (e > 0 ? 8 : 0);
      if (kind === 0 || kind === 15) continue;
      const [x0, x1, y0, y1] = [xs[c], xs[c + 1], ys[r], ys[r + 1]];
      const cuts = [];
      if (a > 0 !== b > 0) cuts.push(x0 + ((x1 - x0) * a) / (a - b), y0);
      if (b > 0 !== d > 0) cuts.push(x1, y0 + ((y1 - y0) * b) / (b - d));
      if (d > 0 !== e > 0) cuts.push(x1 + ((x0 - x1) * d) / (d - e), y1);
      if (e > 0 !== a > 0) cuts.push(x0, y1 + ((y0 - y1) * e) / (e - a));
      // a saddle is cut as its middle says
      if (cuts.length === 8 && a > 0 === a + b + d + e > 0) cuts.push(...cuts.splice(0, 2));
      found.push(...cuts);
    }
  }
  return found;
}

/**
 * Where the field is at least a level: closed rings, whole cells of a row put together.
 * @param {Grid} grid @param {number} level
 * @returns {number[][]}
 */
export function region({ values, columns, rows, xs, ys }, level) {
  const rings = [];
  for (let r = 0; r + 1 < rows; r++) {
    let began = -1;
    for (let c = 0; c < columns; c++) {
      const i = r * columns + c;
      const whole = c + 1 < columns && values[i] >= level && values[i + 1] >= level && values[i + columns] >= level && values[i + columns + 1] >= level;
      if (whole && began < 0) began = c;
      if (whole) continue;
      if (began >= 0) rings.push([xs[began], ys[r], xs[c], ys[r], xs[c], ys[r + 1], xs[began], ys[r + 1]]);
      began = -1;
      if (c + 1 === columns) continue;
      const corners = [[xs[c], ys[r], values[i]], [xs[c + 1], ys[r], values[i + 1]], [xs[c + 1], ys[r + 1], values[i + columns + 1]], [xs[c], ys[r + 1], values[i + columns]]];
      const ring = [];
      for (let k = 0; k < 4; k++) {
        const [x, y, v] = corners[k];
        const [x2, y2, v2] = corners[(k + 1) % 4];
        if (v >= level) ring.push(x, y);
        if (v >= level !== v2 >= level) ring.push(x + ((x2 - x) * (level - v)) / (v2 - v), y + ((y2 - y) * (level - v)) / (v2 - v));
      }
      if (ring.length > 4) rings.push(ring);
    }
  }
  return rings;
}
