/** How many pictures were drawn in the last second, and how many in all. */

import { byId, say } from "./dom.js";

const SHOWN = 500; // milliseconds between two looks

export class Rate {
  constructor() {
    this.home = byId("rate");
    /** @type {number[]} */
    this.times = [];
    this.all = 0;
    setInterval(() => this.show(), SHOWN);
  }

  /** A picture was drawn. @param {number} seconds that the machine has taken for it */
  drawn(seconds) {
    this.times.push(performance.now());
    this.home.dataset.pictures = String(++this.all);
    this.home.dataset.seconds = String(seconds);
  }

  show() {
    const since = performance.now() - 1000;
    this.times = this.times.filter((t) => t > since);
    say(this.home, this.times.length ? `${this.times.length}/s, ${Math.round(1000 * Number(this.home.dataset.seconds))} ms` : "");
  }
}
