// Elements made from values.
//
// Rule: whatever somebody wrote becomes a text node, never markup, and cannot turn the direction of the text around it.

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** A value as text: control characters and direction marks are shown as a box. */
export function plain(value) {
  return String(value ?? "").replace(UNSEEN, "\u25a1");
}

/** An element. `props`: attributes; `class`; `on` = {event: listener}; `data` = {name: value}. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "data") {
      for (const [key, each] of Object.entries(value)) node.dataset[key] = each;
    } else if (name === "class") {
      node.className = value;
    } else if (name === "value") {
      node.value = value;
    } else if (name === "checked" || name === "disabled" || name === "hidden" || name === "open") {
      node[name] = Boolean(value);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  add(node, children);
  return node;
}

/** Append nodes and texts, lists of them too; nothing for null. */
export function add(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return node;
}

/** Replace what is in an element. */
export function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

/** What somebody wrote, with a direction of its own. */
export function said(text, props = {}) {
  return el("bdi", { dir: "auto", ...props }, plain(text));
}

/** An id that no other element has. */
let made = 0;
export function freshId(stem = "id") {
  made += 1;
  return `${stem}-${made}`;
}

const KEPT_MS = 4000;

/** Say something to who cannot see the page. */
export function announce(text, isUrgent = false) {
  const region = document.getElementById(isUrgent ? "urgent" : "live");
  if (region === null) return;
  // A new element each time, so that the same sentence twice is read twice and none cuts another one off.
  const told = el("p", {}, text);
  region.append(told);
  setTimeout(() => told.remove(), KEPT_MS);
}

/** A table whose own box scrolls when it is wider than the page. */
export function table(caption, heads, rows) {
  return el(
    "div",
    { class: "scroller", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows),
    ),
  );
}

/** A term and what it is, for a `dl`. */
export function pair(term, told) {
  return el("div", { class: "pair" }, el("dt", {}, term), el("dd", {}, told));
}
