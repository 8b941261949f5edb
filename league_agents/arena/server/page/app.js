// The page itself: which part of it the address names, and in which language.

import { el, fill } from "./dom.js";
import { LobbyPage, NewPage } from "./lobby.js";
import { MatchPage } from "./match.js";
import { failure } from "./parts.js";
import { LANGUAGES, lang, setLang, t } from "./texts.js";

const main = document.getElementById("main");
const banner = document.getElementById("banner");
let page = null;

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function show() {
  const [, where = "", name = ""] = location.hash.split("/");
  page?.close();
  document.title = t("arena");
  window.scrollTo(0, 0);
  if (where === "match" && name !== "") page = new MatchPage(decoded(name), main, banner);
  else if (where === "new" && name !== "") page = new NewPage(decoded(name), main);
  else page = new LobbyPage(main);
}

function frame() {
  document.documentElement.lang = lang() === "zh" ? "zh-Hans" : "en";
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("brand").textContent = t("arena");
  const languages = document.getElementById("languages");
  languages.setAttribute("aria-label", t("language"));
  fill(
    languages,
    LANGUAGES.map(([code, name]) =>
      el(
        "button",
        { type: "button", lang: code, "aria-pressed": String(code === lang()), class: "language", on: { click: () => change(code) } },
        name,
      ),
    ),
  );
}

function change(code) {
  if (code === lang()) return;
  setLang(code);
  frame();
  show();
  document.querySelector(`.language[lang=${code}]`)?.focus();
}

document.getElementById("skip").addEventListener("click", (event) => {
  // The address says what is shown; the skip link must not change it.
  event.preventDefault();
  main.focus();
});

window.addEventListener("hashchange", () => {
  show();
  main.querySelector("h1")?.focus();
});

window.addEventListener("error", () => {
  if (main.childElementCount === 0) fill(main, failure(t("failed.title"), t("error.unknown")));
});

frame();
show();
