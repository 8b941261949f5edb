// A match that is over, move by move. The address names the move: `/replay/m-1#move-12`.

import { download } from "./download.js";
import { add, announce, el, fill, plain } from "./dom.js";
import { tree } from "./game_any.js";
import { moduleOf } from "./games.js";
import { ways, when, won } from "./gallery_parts.js";
import { seatIn } from "./memory.js";
import { linkBox, personOf } from "./parts.js";
import { gameName, has, listed, nameOf, t } from "./texts.js";
import { ask, why } from "./wire.js";

/** The keys of an action that say why it was done, rather than what was done. */
const THOUGHTS = /reason|rationale|justification|thought|thinking|confidence|strategy|explanation/i;

export class ReplayPage {
  constructor(matchId, main) {
    this.matchId = decodeURIComponent(matchId);
    this.main = main;
    this.token = seatIn(this.matchId)?.token;
    this.viewer = "spectator";
    fill(main, ways(""), el("h1", { tabindex: "-1" }, t("loading")));
    document.title = `${t("replay")} – ${t("arena")}`;
    this.moved = () => this.go(this.named(), false);
    window.addEventListener("hashchange", this.moved);
    this.begin();
  }

  close() {
    this.isClosed = true;
    window.removeEventListener("hashchange", this.moved);
  }

  async load() {
    const path = `/matches/${encodeURIComponent(this.matchId)}/replay?viewer=${encodeURIComponent(this.viewer)}`;
    return ask("GET", path, { token: this.token });
  }

  async begin() {
    try {
      this.replay = await this.load();
      if (!this.isClosed) this.build();
    } catch (refused) {
      if (!this.isClosed) this.failed(refused);
    }
  }

  failed(refused) {
    const isRunning = refused.code === "match_not_over";
    const isGone = refused.status === 404;
    fill(
      this.main,
      ways(""),
      el(
        "section",
        { class: "card failure" },
        el("h1", { tabindex: "-1" }, t(isRunning ? "replay.running" : isGone ? "replay.gone" : "failed.title")),
        el("p", {}, isRunning ? t("replay.running.told") : isGone ? t("replay.gone.told") : why(refused)),
        el(
          "div",
          { class: "buttons" },
          isRunning && el("a", { class: "button primary", href: `/#/match/${encodeURIComponent(this.matchId)}` }, t("watch")),
          el("a", { class: "button", href: "/gallery" }, t("gallery")),
        ),
      ),
    );
  }

  /** The number of the move that the address names; the last one without any. */
  named() {
    const found = /^#move-(\d+)$/.exec(location.hash);
    return found === null ? null : Math.min(Number(found[1]), this.last);
  }

  get last() {
    return this.replay.moves.length - 1;
  }

  build() {
    const { match } = this.replay;
    this.module = moduleOf(match.game);
    this.order = match.seats.map((seat) => seat.agent_id);
    this.agents = new Map(match.seats.map((seat) => [seat.agent_id, { id: seat.agent_id, name: seat.name, type: seat.type }]));
    this.slider = el("input", { type: "range", id: "move", min: "0", max: String(this.last), step: "1", on: { input: () => this.go(Number(this.slider.value)) } });
    this.count = el("output", { for: "move", class: "count" });
    const step = (label, to) => el("button", { type: "button", on: { click: () => this.go(to()) } }, label);
    this.back = step(t("replay.back"), () => this.at - 1);
    this.next = step(t("replay.next"), () => this.at + 1);
    const seen = el(
      "select",
      { id: "viewer", on: { input: () => this.seeAs(seen.value) } },
      el("option", { value: "spectator" }, t("replay.viewer.spectator")),
      match.seats.map((seat) => el("option", { value: seat.agent_id }, plain(seat.name))),
    );
    this.move = el("section", { class: "card move", "aria-labelledby": "move-title" });
    this.board = el("div", {});
    this.share = el("div", {});
    this.list = el("ol", { class: "moves", tabindex: "0", "aria-label": t("replay.moves") }, this.replay.moves.map((_, n) => el("li", { id: `move-${n}` }, this.moveLink(n))));
    const told = el("p", { class: "error", role: "alert", hidden: true });
    const loadable = (label, view) => {
      const button = el("button", { type: "button" }, label);
      button.addEventListener("click", () => download(button, this.matchId, view, this.token, told));
      return button;
    };
    fill(
      this.main,
      ways(""),
      el(
        "div",
        { class: "match-head" },
        el("div", {}, el("h1", { tabindex: "-1" }, t("replay.of", { game: gameName(match.game) })), el("p", { class: "muted" }, `${when(match.ended_at)} · ${t("gallery.moves", { n: this.last })}`), el("p", {}, match.status === "ended" ? won(match) : t("outcome.abandoned"))),
        el("span", { class: "chip-status", data: { status: match.status } }, t(`status.${match.status}`)),
      ),
      this.replay.is_redacted && el("p", { class: "note" }, t("replay.redacted")),
      el(
        "section",
        { class: "card player-bar", "aria-label": t("replay") },
        el("div", { class: "slide" }, el("label", { for: "move" }, t("replay.slider")), this.slider, this.count),
        el("div", { class: "buttons" }, step(t("replay.first"), () => 0), this.back, this.next, step(t("replay.last"), () => this.last)),
      ),
      el(
        "div",
        { class: "columns" },
        el("div", { class: "column-board" }, this.move, el("div", { class: "field filter" }, el("label", { for: "viewer" }, t("replay.viewer")), seen), el("section", { "aria-label": t("state") }, this.board)),
        el("section", { class: "column-log" }, el("h2", {}, t("replay.moves")), this.list),
      ),
      el("section", { class: "card" }, el("div", { class: "buttons" }, this.replay.is_redacted ? null : loadable(t("replay.full"), "full"), loadable(t("replay.public"), "public")), told, el("p", { class: "hint" }, t("replay.downloads"))),
      this.share,
    );
    this.go(this.named() ?? 0, false);
  }

  moveLink(n) {
    const { agent_id: agentId, type, cause } = this.replay.moves[n];
    if (n === 0) return el("a", { href: "#move-0" }, t("replay.opening"));
    return el("a", { href: `#move-${n}` }, el("span", { class: "number" }, String(n)), " ", this.person(agentId), " ", el("span", { class: "muted small" }, cause ? this.causeName(cause) : type ? this.actionName(type) : ""));
  }

  actionName(type) {
    return nameOf(`action.${type}`).startsWith("Action.") ? nameOf(type) : nameOf(`action.${type}`);
  }

  causeName(cause) {
    return has(`cause.${cause}`) || t(`cause.${cause}`) !== `cause.${cause}` ? t(`cause.${cause}`) : cause;
  }

  person(id) {
    const number = this.order.indexOf(id) + 1;
    return number > 0 ? personOf(number, plain(this.agents.get(id).name)) : el("bdi", {}, plain(id));
  }

  async seeAs(viewer) {
    this.viewer = viewer;
    try {
      const found = await this.load();
      if (this.isClosed || this.viewer !== viewer) return;
      this.replay = found;
      this.showBoard();
    } catch (refused) {
      fill(this.board, el("p", { class: "error" }, why(refused)));
    }
  }

  /** Show a move. `isNamed`: put it into the address too. */
  go(to, isNamed = true) {
    if (this.replay === undefined || to === null) return;
    this.at = Math.max(0, Math.min(this.last, to));
    const { at, last } = this;
    if (isNamed) history.replaceState(null, "", `#move-${at}`);
    this.slider.value = String(at);
    this.count.textContent = t("replay.of.all", { n: at, all: last });
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
    this.back.disabled = at === 0;
    this.next.disabled = at === last;
    for (const link of this.list.querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    const link = this.list.children[at]?.querySelector("a");
    link?.setAttribute("aria-current", "true");
    if (link) this.list.scrollTop = Math.max(0, link.offsetTop - this.list.offsetTop - this.list.clientHeight / 2);
    this.showMove();
    this.showBoard();
    const address = `${location.origin}${location.pathname}#move-${at}`;
    fill(this.share, el("details", { class: "card" }, el("summary", {}, t("replay.link")), linkBox(address, t("replay.link"))));
    if (isNamed) announce(this.move.querySelector("h2").textContent);
  }

  showMove() {
    const move = this.replay.moves[this.at];
    fill(this.move, el("h2", { id: "move-title" }, this.at === 0 ? t("replay.opening") : [`${t("replay.move", { n: this.at })} · `, this.person(move.agent_id)]));
    if (this.at > 0) add(this.move, this.decided(move));
    add(this.move, [
      move.events.length > 0 && el("h3", {}, t("replay.events")),
      move.events.length > 0 && el("ol", { class: "follows" }, move.events.map((event) => this.event(event))),
    ]);
  }

  decided(move) {
    const data = Object.entries(move.data ?? {});
    const thoughts = data.filter(([key]) => THOUGHTS.test(key));
    const deeds = data.filter(([key]) => !THOUGHTS.test(key));
    const took = (Date.parse(move.answered_at) - Date.parse(move.asked_at)) / 1000;
    return [
      el(
        "p",
        { class: "tags" },
        el("span", { class: "tag" }, this.playsIn(move.agent_id)),
        move.cause ? el("span", { class: "tag bad" }, t("replay.forfeit", { cause: this.causeName(move.cause) })) : move.type && el("span", { class: "tag own" }, this.actionName(move.type)),
        Number.isFinite(took) && el("span", { class: "tag" }, t("replay.took", { n: took.toFixed(1) })),
      ),
      deeds.length > 0 && [el("h3", {}, t("replay.did")), tree(Object.fromEntries(deeds))],
      (thoughts.length > 0 || move.text) && el(
        "div",
        { class: "thoughts" },
        el("h3", {}, t("replay.thoughts")),
        thoughts.length > 0 && tree(Object.fromEntries(thoughts)),
        move.text && el("details", {}, el("summary", {}, t("replay.text")), el("p", { class: "written" }, plain(move.text))),
      ),
      move.refusals.length > 0 && [el("h3", {}, t("replay.refusals")), el("ul", { class: "follows" }, move.refusals.map((each) => el("li", {}, plain(each.message))))],
    ];
  }

  playsIn(id) {
    const plays = this.replay.plays[id];
    if (plays === "open") return t(this.agents.get(id).type === "human" ? "person" : "ai");
    return has(`agent.${plays}`) ? t(`agent.${plays}`) : plain(plays);
  }

  event({ text, data, visible_to: seen }) {
    let told = null;
    try {
      told = this.module.event?.(data, this.table()) ?? null;
    } catch (error) {
      console.warn(error);
    }
    const names = Array.isArray(seen) ? seen.map((id) => plain(this.agents.get(id)?.name ?? id)) : [];
    const whom = Array.isArray(seen) ? listed(names) : seen === "all" ? null : t("replay.nobody");
    return add(el("li", {}), [told || plain(text), whom !== null && [" ", el("span", { class: "tag due" }, t("replay.only", { names: whom }))]]);
  }

  /** The match as the games' modules see it. */
  table() {
    const { view = {}, active = [], phase = "" } = this.replay.moves[this.at];
    const { match } = this.replay;
    const name = (id) => plain(this.agents.get(id)?.name ?? id);
    const isOver = this.at === this.last;
    return {
      state: { agents: [...this.agents.values()], winners: isOver ? match.winners : [], status: isOver ? match.status : "started", phase },
      view,
      agentId: this.viewer,
      active,
      order: this.order,
      agents: this.agents,
      name,
      person: (id) => this.person(id),
    };
  }

  showBoard() {
    const table = this.table();
    if (Object.keys(table.view).length === 0) {
      fill(this.board, el("p", { class: "muted" }, t("replay.no.view")));
      return;
    }
    let shown;
    try {
      shown = [this.module.mine?.(table), this.module.board(table)];
    } catch (error) {
      console.warn(error);
      shown = el("div", { class: "card" }, tree(table.view));
    }
    fill(this.board, el("h2", { class: "unseen" }, t("state")), shown);
  }
}
