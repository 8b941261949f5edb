// The page itself: which part of it the address names, and in which language.

import { fill } from "./dom.js";
import { frame, skipTo } from "./frame.js";
import { LobbyPage, NewPage } from "./lobby.js";
import { MatchPage } from "./match.js";
import { failure } from "./parts.js";
import { t } from "./texts.js";

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

skipTo(main);

window.addEventListener("hashchange", () => {
  show();
  main.querySelector("h1")?.focus();
});

window.addEventListener("error", () => {
  if (main.childElementCount === 0) fill(main, failure(t("failed.title"), t("error.unknown")));
});

frame(show);
show();
