/** What the page shows, how one goes back, and the link that holds it. */

/**
 * @typedef {{family?: string, n?: number, seed?: number, points?: number[][], items?: [string, number][], table?: boolean}} Data
 * @typedef {{mode: string, learner: string, kernel: string, values: Record<string, number>, data: Data, pair?: [number, number]}} State
 */

const DEEPEST = 200; // states that one can go back
const LONGEST = 1_400_000; // letters of a link that is read

/** The state as letters of a link. @param {State} state */
export function written(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The state that a link holds; null where it holds none. The server doubts what is in it; here only its form is looked at.
 * @param {string} text
 * @returns {State|null}
 */
export function readLink(text) {
  if (!text || text.length > LONGEST) return null;
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const said = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(letters, (c) => c.charCodeAt(0))));
    return formed(said) ? { ...pick(said), ...(isPair(said.pair) ? { pair: said.pair } : {}) } : null;
  } catch {
    return null;
  }
}

const pick = ({ mode, learner, kernel, values, data }) => ({ mode, learner, kernel, values: { ...values }, data });
const isPair = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isInteger);

function formed(said) {
  return (
    said !== null && typeof said === "object" &&
    [said.mode, said.learner, said.kernel].every((text) => typeof text === "string") &&
    typeof (said.values ?? {}) === "object" &&
    said.data !== null && typeof said.data === "object" &&
    (said.data.points === undefined || (Array.isArray(said.data.points) && said.data.points.every(isPoint))) &&
    (said.data.items === undefined || (Array.isArray(said.data.items) && said.data.items.every(isItem)))
  );
}

const isLabel = (label) => [0, 1, 2, 3].includes(label);
const isPoint = (p) => Array.isArray(p) && p.length === 3 && p.every(Number.isFinite) && isLabel(p[2]);
const isItem = (p) => Array.isArray(p) && p.length === 2 && typeof p[0] === "string" && isLabel(p[1]);

/** Whether two states are the same. @param {any} a @param {any} b */
export const same = (a, b) => Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

/** The state, what was before and what was undone. A state is never changed, only followed by another. */
export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {State[]} */
    this.past = [];
    /** @type {State[]} */
    this.future = [];
    /** @type {string|null} */
    this.gesture = null;
    /** @type {((state: State) => void)[]} */
    this.listeners = [];
  }

  /** @param {(state: State) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * Another state. Changes of one gesture, such as a drag, are one step back.
   * @param {Partial<State>} patch
   * @param {string|null} gesture
   */
  change(patch, gesture = null) {
    this.mark(gesture);
    this.amend(patch);
  }

  /** Remember where one can go back to. */
  mark(gesture = null) {
    if (gesture !== null && gesture === this.gesture) return;
    this.gesture = gesture;
    this.past.push(this.state);
    if (this.past.length > DEEPEST) this.past.shift();
    this.future = [];
  }

  /** What the server says of the state: no step of its own. @param {Partial<State>} patch */
  amend(patch) {
    this.state = { ...this.state, ...patch };
    this.tell();
  }

  /** A gesture is over. */
  settle() {
    this.gesture = null;
    if (this.past.at(-1) === this.state) this.past.pop();
    this.tell();
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    const next = from.pop();
    if (next === undefined) return false;
    to.push(this.state);
    this.state = next;
    this.gesture = null;
    this.tell();
    return true;
  }

  tell() {
    for (const listener of this.listeners) listener(this.state);
  }
}
