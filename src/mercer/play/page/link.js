/** The link of the page: it follows the state, and a state follows a link that is opened. */

import { readLink, written } from "./state.js";

const PAUSE = 300; // milliseconds: browsers take only so many changes of the address

/** @typedef {import("./state.js").State} State */

let timer = 0;

/** Write a state into the address, soon. @param {State} state */
export function follow(state) {
  clearTimeout(timer);
  timer = window.setTimeout(() => history.replaceState(null, "", address(state)), PAUSE);
}

/** @param {State} state */
export const address = (state) => `${location.href.split("#")[0]}#${written(state)}`;

/** The state of the address; null where it holds none. */
export const opened = () => readLink(location.hash.slice(1));

/** @param {(state: State|null) => void} changed */
export function onOpened(changed) {
  addEventListener("hashchange", () => {
    clearTimeout(timer);
    changed(opened());
  });
}
