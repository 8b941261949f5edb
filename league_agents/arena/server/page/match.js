// One match: where it stands, what is asked of the reader, what has happened.
//
// Rule 1: what is shown is what the server's last state says; pushes are told and make the page ask again.
// Rule 2: a part is drawn again only when what it is made of has changed.

import { Clock } from "./clock.js";
import { add, announce, el, fill, plain } from "./dom.js";
import { Ending } from "./ending.js";
import { tree } from "./game_any.js";
import { moduleOf } from "./games.js";
import { dropSeat, seatIn } from "./memory.js";
import { failure, linkBox, personOf, sure } from "./parts.js";
import { gameName, t } from "./texts.js";
import { Turn } from "./turn.js";
import { Waiting } from "./waiting.js";
import { Line, lobby, why } from "./wire.js";


const ASK_AGAIN_MS = 4000;
const ASK_AGAIN_WAITING_MS = 1500;
const MOST_EVENTS = 500;
const OVER = new Set(["ended", "abandoned"]);

export class MatchPage {
  constructor(matchId, main, banner) {
    this.matchId = matchId;
    this.main = main;
    this.banner = banner;
    this.seat = seatIn(matchId);
    this.state = null;
    this.lastSeq = 0;
    this.events = [];
    this.isClosed = false;
    this.title = el("h1", { tabindex: "-1" }, t("loading"));
    fill(main, this.title);
    this.begin();
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearInterval(this.countdown);
    this.line?.close();
    this.clock?.stop();
    this.banner.hidden = true;
  }

  get isOver() {
    return OVER.has(this.state.status);
  }

  get isWatching() {
    return this.seat === null;
  }

  // Coming in.

  async begin() {
    try {
      this.told = await lobby.match(this.matchId);
      if (this.isWatching) {
        const place = this.told.watchable ? await lobby.watch(this.matchId) : null;
        if (this.isClosed) return;
        if (place !== null) this.open(place);
        else new Waiting(this).closed();
      } else if (!this.isClosed) {
        this.open(this.seat);
      }
    } catch (refused) {
      if (!this.isClosed) this.failed(refused);
    }
  }

  open({ agent_id: agentId, token }) {
    this.line?.close();
    this.agentId = agentId;
    this.token = token;
    this.state = null;
    this.lastSeq = 0;
    this.events = [];
    // What the old line was asked is never answered.
    this.isAsking = this.isStale = false;
    clearTimeout(this.timer);
    this.build();
    this.line = new Line(token, {
      heading: () => this.heading(),
      after: () => this.lastSeq,
      ready: () => this.connected(),
      push: (message) => this.heard(message),
      lost: (pause) => this.lost(pause),
      refused: (code) => this.refused(code),
    });
  }

  failed(refused) {
    if (refused.status === 404 || refused.code === "unknown_match") {
      dropSeat(this.matchId);
      this.end(failure(t("gone.title"), t("gone.told"), el("a", { class: "button", href: `/replay/${encodeURIComponent(this.matchId)}` }, t("replay"))));
    } else {
      const again = el("button", { type: "button", on: { click: () => this.again() } }, t("lost.try"));
      this.end(failure(t("failed.title"), why(refused), again));
    }
  }

  again() {
    fill(this.main, this.title);
    this.begin();
  }

  async refused(code) {
    if (this.isClosed) return;
    this.banner.hidden = true;
    if (this.isWatching && code === "unauthorized") {
      // A place to watch from is nobody's own: take another one, if the match is still there.
      await this.begin();
      return;
    }
    dropSeat(this.matchId);
    this.seat = null;
    if (code === "unknown_match") {
      this.end(failure(t("gone.title"), t("gone.told"), el("a", { class: "button", href: `/replay/${encodeURIComponent(this.matchId)}` }, t("replay"))));
      return;
    }
    const watch = el("button", { type: "button", on: { click: () => this.again() } }, t("seat.gone.watch"));
    this.end(failure(t("seat.gone.title"), t("seat.gone.told"), watch));
  }

  end(node) {
    this.clock?.stop();
    clearTimeout(this.timer);
    fill(this.main, node);
    node.querySelector("h1")?.focus();
    document.title = t("arena");
  }

  connected() {
    if (!this.banner.hidden) announce(t("found"));
    this.banner.hidden = true;
    clearInterval(this.countdown);
    this.ask();
  }

  lost(pause) {
    const until = Date.now() + 1000 * pause;
    const told = el("span");
    const show = () => {
      const n = Math.ceil((until - Date.now()) / 1000);
      told.textContent = n > 0 ? t("lost.again", { n }) : t("lost.now");
    };
    clearInterval(this.countdown);
    this.countdown = setInterval(show, 500);
    show();
    const isNew = this.banner.hidden;
    if (isNew) {
      const now = el("button", { type: "button", class: "quiet", on: { click: () => this.line.retry() } }, t("lost.try"));
      fill(this.banner, el("strong", {}, t("lost.title")), " ", el("span", { "aria-hidden": "true" }, (this.lostTold = el("span"))), " ", now);
      this.banner.hidden = false;
    }
    fill(this.lostTold, told);
  }

  // Asking and being told.

  heading() {
    return { game: this.told.game, match_id: this.matchId, agent_id: this.agentId };
  }

  /** Ask for the state; once more when something happens meanwhile. */
  async ask() {
    if (this.isAsking) {
      this.isStale = true;
      return;
    }
    this.isAsking = true;
    this.isStale = false;
    clearTimeout(this.timer);
    const line = this.line;
    const answer = await line.request({ type: "get_state", ...this.heading(), state: { version: this.version ?? "1.0.0" } });
    this.isAsking = false;
    if (this.isClosed || line !== this.line) return;
    if (answer.type !== "get_state_response") {
      const { data = {}, message = "" } = answer.error ?? {};
      if (data.code === "unsupported_game_version" && data.supported?.[0] && this.version !== data.supported[0]) {
        this.version = data.supported[0];
        this.ask();
      } else if (data.code === "unknown_match" || data.code === "not_in_match" || data.code === "unauthorized" || data.code === "forbidden") {
        this.refused(data.code === "unknown_match" ? data.code : "unauthorized");
      } else {
        this.end(failure(t("failed.title"), message));
      }
      return;
    }
    this.take(answer);
    if (this.isStale) this.ask();
    else if (!this.isOver) {
      this.timer = setTimeout(() => this.ask(), answer.status === "waiting" ? ASK_AGAIN_WAITING_MS : ASK_AGAIN_MS);
    }
  }

  heard(message) {
    const { seq } = message.data ?? {};
    // After a reconnection the same push may come twice.
    if (typeof seq !== "number" || seq <= this.lastSeq) return;
    this.lastSeq = seq;
    this.events.push(message);
    if (this.events.length > MOST_EVENTS) this.events.shift();
    if (this.state !== null) {
      if (seq > this.data.seq) this.ask();
      this.showEvents();
    }
  }

  get data() {
    return this.state.state.data;
  }

  /** The match as the games' modules see it. */
  table() {
    const agents = new Map(this.state.agents.map((agent) => [agent.id, agent]));
    const order = this.order ?? [...agents.keys()];
    const name = (id) => plain(agents.get(id)?.name ?? id);
    const numberOf = (id) => order.indexOf(id) + 1;
    return {
      state: this.state,
      view: this.data.view,
      agentId: this.agentId,
      matchId: this.matchId,
      active: this.data.active_agent_ids ?? [],
      order,
      agents,
      name,
      person: (id) => (numberOf(id) > 0 ? personOf(numberOf(id), name(id)) : el("bdi", {}, name(id))),
    };
  }

  // Showing.

  build() {
    this.clock?.stop();
    this.clock = new Clock();
    this.title = el("h1", { tabindex: "-1" }, gameName(this.told.game));
    this.chip = el("span", { class: "chip-status" });
    this.phase = el("p", { class: "phase" });
    this.who = el("p", { class: "muted" });
    this.notice = el("div", { class: "notice", hidden: true });
    this.turn = new Turn(this);
    this.ending = new Ending(this);
    this.waiting = new Waiting(this);
    this.own = el("div", { hidden: true });
    this.board = el("div", {});
    this.log = el("ol", { class: "log", tabindex: "0", "aria-label": t("events") });
    this.rules = el("p", { class: "rules" });
    this.foot = el("div", { class: "buttons" });
    this.share = el("div", {});
    fill(
      this.main,
      el("div", { class: "match-head" }, el("div", {}, this.title, this.phase, this.who), el("div", { class: "match-side" }, this.chip, this.clock.node)),
      el(
        "div",
        { class: "columns" },
        el("div", { class: "column-board" }, this.notice, this.ending.node, this.own, this.turn.node, this.waiting.node, el("section", { "aria-label": t("state") }, this.board)),
        el("section", { class: "column-log" }, el("h2", {}, t("events")), this.log),
      ),
      el("details", { class: "card" }, el("summary", {}, t("rules")), this.rules),
      this.share,
      this.foot,
    );
    this.shownEvents = 0;
    this.shownKeys = {};
    this.title.focus();
  }

  take(state) {
    const before = this.state;
    this.state = state;
    this.order ??= this.told.seats?.map((seat) => seat.agent_id) ?? null;
    const isFirst = before === null;
    if (state.status === "waiting" && this.told.seats) this.waiting.look();
    this.chip.textContent = t(`status.${state.status}`);
    this.chip.dataset.status = state.status;
    const table = this.table();
    const module = moduleOf(this.told.game);
    this.who.textContent = this.isWatching ? t("role.watching") : t("role.playing", { name: table.name(this.agentId) });
    this.phase.textContent =
      state.status === "waiting" ? t("waiting.title") : Object.keys(this.data.view).length === 0 ? "" : plain(module.phase?.(table) ?? state.phase);
    this.rules.textContent = plain(this.data.rules);
    this.turn.show(table, module);
    this.waiting.show();
    this.showBoard(table, module);
    this.ending.show(table, module);
    this.showFoot();
    if (isFirst) {
      // What lies back is shown, not read out.
      this.showEvents(true);
    }
    const isMine = !this.isOver && this.data.legal.length > 0;
    document.title = `${isMine ? `● ${t("turn.title")} ` : ""}${gameName(this.told.game)} – ${t("arena")}`;
  }

  /** Whether a part has to be drawn again: what it is made of has changed. */
  changed(part, value) {
    const key = JSON.stringify(value);
    if (this.shownKeys[part] === key) return false;
    this.shownKeys[part] = key;
    return true;
  }

  showBoard(table, module) {
    if (!this.changed("board", [this.state.state, this.state.agents, this.state.status])) return;
    if (this.state.status === "waiting" || Object.keys(table.view).length === 0) {
      fill(this.board, el("h2", {}, t("people")), el("ul", { class: "players" }, this.state.agents.map((agent) => el("li", { class: "player" }, el("div", { class: "player-head" }, table.person(agent.id), this.tags(agent))))));
      return;
    }
    const scrolled = [...this.board.querySelectorAll(".scroller")].map((each) => each.scrollLeft);
    const opened = new Map([...this.board.querySelectorAll("details[data-key]")].map((each) => [each.dataset.key, each.open]));
    const focused = this.board.contains(document.activeElement) ? document.activeElement.parentElement?.dataset.key : undefined;
    let shown;
    try {
      const own = module.mine?.(table);
      fill(this.own, own && [el("h2", { class: "unseen" }, t("own")), own]);
      this.own.hidden = !own;
      shown = module.board(table);
    } catch (error) {
      // A view that is not as the module expects it is still readable.
      console.warn(error);
      shown = el("div", { class: "card" }, tree(table.view));
    }
    fill(this.board, el("h2", { class: "unseen" }, t("state")), shown);
    this.board.querySelectorAll(".scroller").forEach((each, place) => (each.scrollLeft = scrolled[place] ?? 0));
    for (const each of this.board.querySelectorAll("details[data-key]")) {
      if (opened.has(each.dataset.key)) each.open = opened.get(each.dataset.key);
      if (each.dataset.key === focused) each.querySelector("summary").focus();
    }
  }

  tags(agent) {
    return el(
      "span",
      { class: "tags" },
      agent.id === this.agentId && el("span", { class: "tag own" }, t("you")),
      el("span", { class: "tag" }, t(agent.type === "human" ? "person" : "ai")),
    );
  }

  // What has happened.

  showEvents(isSilent = false) {
    const table = this.table();
    const module = moduleOf(this.told.game);
    const fresh = this.events.filter((event) => event.data.seq > this.shownEvents);
    if (this.events.length === 0) {
      fill(this.log, el("li", { class: "muted none" }, t("events.none")));
      return;
    }
    this.log.querySelector(".none")?.remove();
    const isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    const read = [];
    for (const event of fresh) {
      this.shownEvents = event.data.seq;
      let told = null;
      try {
        told = module.event?.(event.data, table) ?? null;
      } catch (error) {
        console.warn(error);
      }
      if (told === false) continue;
      const node = add(el("li", {}), told ?? plain(event.message));
      this.log.append(node);
      read.push(node.textContent);
    }
    while (this.log.children.length > MOST_EVENTS) this.log.firstElementChild.remove();
    if (isAtEnd || isSilent) this.log.scrollTop = this.log.scrollHeight;
    if (!isSilent && read.length > 0) announce(read.length > 6 ? `${t("events.more", { n: read.length })}: ${read.at(-1)}` : read.join(". "));
  }

  // Going.

  showFoot() {
    const { isOver } = this;
    if (!this.changed("foot", [isOver, this.state.status === "waiting", this.isWatching])) return;
    const address = `${location.origin}/#/match/${encodeURIComponent(this.matchId)}`;
    fill(this.share, this.state.status !== "waiting" && el("details", { class: "card" }, el("summary", {}, t("invite.watch")), linkBox(address, t("invite.watch"))));
    fill(this.foot);
    if (isOver) return;
    const leave = el("button", { type: "button" }, t(this.isWatching ? "leave.watching" : "leave"));
    leave.addEventListener("click", () => this.leave());
    add(this.foot, leave);
  }

  async leave() {
    if (this.isWatching) {
      location.hash = "#/";
      return;
    }
    if (!(await sure(t("leave.sure"), t("leave.told"), t("leave.yes")))) return;
    try {
      await lobby.leave(this.matchId, this.token);
    } catch (refused) {
      if (refused.status !== 401 && refused.status !== 404) {
        fill(this.notice, t("leave.failed", { why: why(refused) }));
        this.notice.hidden = false;
        return;
      }
    }
    dropSeat(this.matchId);
    location.hash = "#/";
  }
}
