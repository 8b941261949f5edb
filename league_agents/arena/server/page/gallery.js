// The gallery, a replay or the leaderboard: whichever the address names.

import { el, fill, plain } from "./dom.js";
import { frame, skipTo } from "./frame.js";
import { ways, when, won } from "./gallery_parts.js";
import "./gallery_texts.js";
import { GAMES } from "./game_list.js";
import "./games.js";
import { LeaderboardPage } from "./leaderboard.js";
import { ReplayPage } from "./replay.js";
import { gameName, listed, t } from "./texts.js";
import { ask, lobby, why } from "./wire.js";

const main = document.getElementById("main");
let page = null;

class GalleryPage {
  constructor() {
    this.error = el("p", { class: "error", hidden: true });
    this.running = el("div", {});
    this.finished = el("ul", { class: "matches" });
    this.none = el("p", { class: "muted", hidden: true }, t("gallery.none.finished"));
    this.more = el("button", { type: "button", hidden: true, on: { click: () => this.load() } }, t("gallery.more"));
    this.game = el(
      "select",
      { id: "gallery-game", on: { input: () => this.restart() } },
      el("option", { value: "" }, t("gallery.all")),
      GAMES.map(({ code }) => el("option", { value: code }, gameName(code))),
    );
    fill(
      main,
      ways("gallery"),
      el("h1", { tabindex: "-1" }, t("gallery")),
      el("p", { class: "lead" }, t("gallery.lead")),
      this.error,
      el("section", { "aria-labelledby": "running" }, el("h2", { id: "running" }, t("gallery.running")), this.running),
      el(
        "section",
        { class: "finished", "aria-labelledby": "finished" },
        el("h2", { id: "finished" }, t("gallery.finished")),
        el("div", { class: "field filter" }, el("label", { for: "gallery-game" }, t("gallery.game")), this.game),
        this.none,
        this.finished,
        el("div", { class: "buttons" }, this.more),
      ),
    );
    document.title = `${t("gallery")} – ${t("arena")}`;
    this.look();
    this.restart();
  }

  async look() {
    try {
      const { matches } = await lobby.matches();
      const running = matches.filter(({ status, watchable }) => status === "started" && watchable);
      fill(this.running, running.length === 0 ? el("p", { class: "muted" }, t("gallery.none.running")) : el("ul", { class: "matches" }, running.map((match) => row(match, `/#/match/${encodeURIComponent(match.match_id)}`, t("watch")))));
    } catch (refused) {
      this.failed(refused);
    }
  }

  restart() {
    fill(this.finished);
    this.before = "";
    this.load();
  }

  async load() {
    const game = this.game.value;
    try {
      const { matches, next } = await ask("GET", `/finished?game=${encodeURIComponent(game)}&before=${encodeURIComponent(this.before)}`);
      if (game !== this.game.value) return;
      for (const match of matches) {
        this.finished.append(row(match, match.watchable ? `/replay/${encodeURIComponent(match.match_id)}` : null, t("replay")));
      }
      this.before = next;
      this.more.hidden = matches.length < 30;
      this.none.hidden = this.finished.childElementCount > 0;
    } catch (refused) {
      this.failed(refused);
    }
  }

  failed(refused) {
    this.error.textContent = t("gallery.failed", { why: why(refused) });
    this.error.hidden = false;
  }

  close() {}
}

function row(match, href, label) {
  const names = listed(match.seats.map((seat) => plain(seat.name)).slice(0, 6)) + (match.seats.length > 6 ? " …" : "");
  return el(
    "li",
    { class: "match-row" },
    el(
      "div",
      {},
      el("strong", {}, gameName(match.game)),
      " ",
      match.status === "abandoned" && el("span", { class: "tag bad" }, t("status.abandoned")),
      el("div", { class: "small" }, el("bdi", { dir: "auto" }, names)),
      match.status === "ended" && el("div", { class: "small" }, won(match)),
      el("div", { class: "muted small" }, when(match.ended_at ?? match.started_at ?? match.created_at), match.moves !== undefined && ` · ${t("gallery.moves", { n: match.moves })}`),
    ),
    href && el("a", { class: "button", href, "aria-label": `${label}: ${gameName(match.game)}, ${names}` }, label),
  );
}

function show() {
  page?.close();
  const [, where = "", name = ""] = location.pathname.split("/");
  if (where === "replay" && name !== "") page = new ReplayPage(name, main);
  else if (where === "leaderboard") page = new LeaderboardPage(main);
  else page = new GalleryPage();
}

skipTo(main);
frame(show);
show();
