// The language of the page: its sentences and the names of fields. What games and other people say is not in here.

import { GAMES } from "./game_list.js";
import { preferred, prefer } from "./memory.js";
import { NAMES } from "./names.js";
import { EN } from "./texts_en.js";
import { ZH } from "./texts_zh.js";

export const LANGUAGES = [["en", "English"], ["zh", "中文"]];
export const TEXTS = { en: EN, zh: ZH };

let current = startLanguage();

function startLanguage() {
  const kept = preferred("lang");
  if (kept === "en" || kept === "zh") return kept;
  const wanted = (navigator.languages ?? [navigator.language]).find((each) => /^(zh|en)\b/i.test(each ?? ""));
  return /^zh/i.test(wanted ?? "") ? "zh" : "en";
}

export function lang() {
  return current;
}

export function setLang(code) {
  current = code;
  prefer("lang", code);
}

/** The sentence of that name, filled in. */
export function t(key, values = {}) {
  const text = TEXTS[current][key] ?? EN[key] ?? key;
  return text
    .replace(/\{(\w+)\?([^:}]*):([^}]*)\}/g, (_, name, one, more) => (Number(values[name]) === 1 ? one : more))
    .replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

export function has(key) {
  return Object.hasOwn(EN, key);
}

/** Names in a row. */
export function listed(names) {
  return names.join(current === "zh" ? "、" : ", ");
}

function named(name) {
  return Object.hasOwn(NAMES, name) ? NAMES[name] : null;
}

/** What a field, a choice or an action is called; its own name in words where this page knows none. */
export function nameOf(name, within = "") {
  const found = named(`${within}.${name}`) ?? named(name);
  if (found !== null) return found[current === "zh" ? 1 : 0];
  const words = String(name).replace(/[_-]+/g, " ").trim();
  return words === "" ? String(name) : words[0].toUpperCase() + words.slice(1);
}

/** What is said about a field, or null. */
export function hintOf(name, within = "") {
  const found = named(`${within}.${name}`) ?? named(name);
  return found === null ? null : (found[current === "zh" ? 3 : 2] ?? null);
}

/** What a choice of a field is called, or null. */
export function choiceName(field, value) {
  const found = named(`${field}.${value}`);
  return found === null ? null : found[current === "zh" ? 1 : 0];
}

export function isNamed(name, within = "") {
  return (named(`${within}.${name}`) ?? named(name)) !== null;
}

/** Take in the sentences and names that a game's script brings along. What the page itself says stays. */
export function learn({ names = {}, texts = {} }) {
  Object.assign(NAMES, { ...names, ...NAMES });
  for (const [code] of LANGUAGES) Object.assign(TEXTS[code], { ...texts[code], ...TEXTS[code] });
}

function toldOf(code, what) {
  return GAMES.find((game) => game.code === code)?.[what][current];
}

/** What a game is called. */
export function gameName(code) {
  return toldOf(code, "title") ?? nameOf(code);
}

/** What a game is about, in a sentence. */
export function aboutGame(code) {
  return toldOf(code, "about") ?? "";
}
