/** What has come back: of each name the newest view, and of which request it is. */

/** @typedef {import("./wire.js").Frame} Frame */

export class Views {
  constructor() {
    /** @type {Map<string, Frame>} */
    this.frames = new Map();
  }

  /** @param {string} name @returns {Frame|undefined} */
  get(name) {
    return this.frames.get(name);
  }

  /** @param {Frame} frame */
  take(frame) {
    this.frames.set(frame.view, frame);
  }

  /** Whether a view answers a request. @param {string} name @param {number} id */
  answers(name, id) {
    return this.frames.get(name)?.id === id;
  }

  /** The views of one request by name. @param {number} id @returns {Record<string, Frame>} */
  of(id) {
    return Object.fromEntries([...this.frames].filter(([, frame]) => frame.id === id));
  }

  /** Forget what is not of a request, or all. @param {number} id */
  keep(id) {
    for (const [name, frame] of this.frames) if (frame.id !== id) this.frames.delete(name);
  }

  /** Forget all pictures but those of a request; what is known of the kernel stays. @param {number} id */
  empty(id) {
    for (const [name, frame] of this.frames) if (frame.id !== id && name !== "facts") this.frames.delete(name);
  }

  clear() {
    this.frames.clear();
  }
}
