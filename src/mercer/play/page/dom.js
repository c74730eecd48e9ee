/** Elements without markup: what comes from outside is only ever text, so nothing in it can run. */

/**
 * An element with properties and children; strings among the children become text.
 * @param {string} name
 * @param {Record<string, any>} [given] "on…" are listeners, the rest attributes; false and null leave one out
 * @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function h(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Text of an element, touched only where it is another: screen readers speak of what is touched. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Say something once to who cannot see it: the last of what is said within half a second. */
let waiting = 0;
export function announce(text) {
  clearTimeout(waiting);
  waiting = window.setTimeout(() => say(byId("said"), text), 500);
}
