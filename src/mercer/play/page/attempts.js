/** What is tried of the kernel: texts and changes of blocks, one after another, until the server says what they make. */

/** @typedef {{kernel: string}|{edit: import("./blocks.js").Edit}} Attempt */

export class Attempts {
  constructor() {
    /** @type {Attempt[]} */
    this.waiting = [];
    this.epoch = 0; // answers of a former one are to a kernel that was left
  }

  get pending() {
    return this.waiting.length > 0;
  }

  /** What is to be asked of the server. */
  get next() {
    return this.waiting[0];
  }

  /** A text that was typed takes the place of all that was tried before it. @param {string} kernel */
  text(kernel) {
    this.waiting = [{ kernel }];
  }

  /** A change of a part; a number that is set again is set once. @param {import("./blocks.js").Edit} edit */
  edit(edit) {
    const last = this.waiting.at(-1);
    if (last && "edit" in last && edit.what === "set" && last.edit.what === "set" && last.edit.at === edit.at) this.waiting.pop();
    this.waiting.push({ edit });
  }

  /** One has been answered, well or not. @param {Attempt|undefined} attempt */
  over(attempt) {
    this.waiting = this.waiting.filter((other) => other !== attempt);
  }

  /** The kernel is another now, whatever was tried of the one before. */
  forget() {
    this.waiting = [];
    this.epoch++;
  }
}
