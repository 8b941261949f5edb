// The view of any game, as a tree that people can read.

import { el, plain } from "./dom.js";
import { nameOf, t } from "./texts.js";

const DEEPEST = 6;
const MOST_SHOWN = 60;

export function board(table) {
  return el("div", { class: "card" }, tree(table.view, 0));
}

/** A value of JSON as lists of names and values. */
export function tree(value, depth = 0) {
  if (value === null || value === undefined) return el("span", { class: "muted" }, "–");
  if (typeof value === "boolean") return t(value ? "form.yes" : "form.no");
  if (typeof value !== "object") return el("bdi", { dir: "auto", class: "written" }, plain(value));
  if (depth >= DEEPEST) return el("code", { class: "written" }, plain(JSON.stringify(value).slice(0, 200)));
  if (Array.isArray(value)) {
    if (value.length === 0) return el("span", { class: "muted" }, t("tree.empty"));
    if (value.every((each) => typeof each !== "object" || each === null) && value.length <= MOST_SHOWN) {
      return el("bdi", { dir: "auto", class: "written" }, plain(value.map((each) => (each === null ? "–" : each)).join(", ")));
    }
    const shown = value.slice(-MOST_SHOWN);
    return el(
      "ul",
      { class: "tree" },
      value.length > shown.length && el("li", { class: "muted" }, t("tree.more", { n: value.length - shown.length })),
      shown.map((each) => el("li", {}, tree(each, depth + 1))),
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return el("span", { class: "muted" }, t("tree.empty"));
  return el(
    "dl",
    { class: "tree" },
    entries.slice(0, MOST_SHOWN).map(([key, each]) => el("div", {}, el("dt", {}, plain(nameOf(key))), el("dd", {}, tree(each, depth + 1)))),
    entries.length > MOST_SHOWN && el("div", {}, el("dt", {}, t("tree.more", { n: entries.length - MOST_SHOWN }))),
  );
}
