// One match: where it stands, what is asked of the reader, what has happened.
//
// Rule 1: what is shown is what the server's last state says; pushes are told and make the page ask again.
// Rule 2: a form that is being filled in is not touched while what it asks for stays the same.

import { Clock } from "./clock.js";
import { add, announce, el, fill, plain } from "./dom.js";
import { Form } from "./forms.js";
import { tree } from "./game_any.js";
import { moduleOf } from "./games.js";
import { draftOf, dropSeat, keepDraft, keepSeat, preferred, prefer, seatIn } from "./memory.js";
import { failure, linkBox, personOf, sure } from "./parts.js";
import { gameName, has, hintOf, listed, nameOf, t } from "./texts.js";
import { Line, lobby, why } from "./wire.js";

const ASK_AGAIN_MS = 4000;
const ASK_AGAIN_WAITING_MS = 1500;
const MOST_EVENTS = 500;
const STAGES = new Set(["ended", "abandoned"]);

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
        else this.closedToWatchers();
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
    this.isAsking = this.isStale = this.isSending = false;
    clearTimeout(this.timer);
    this.build();
    this.line = new Line(token, {
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
      this.end(failure(t("gone.title"), t("gone.told")));
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
      this.end(failure(t("gone.title"), t("gone.told")));
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
    else if (!STAGES.has(answer.status)) {
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
    this.turn = el("section", { class: "turn", hidden: true });
    this.result = el("section", { class: "result", hidden: true });
    this.lobby = el("section", { class: "card", hidden: true });
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
        el("div", { class: "column-board" }, this.notice, this.result, this.own, this.turn, this.lobby, el("section", { "aria-label": t("state") }, this.board)),
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
    if (state.status === "waiting" && this.told.seats) this.refreshTold();
    this.chip.textContent = t(`status.${state.status}`);
    this.chip.dataset.status = state.status;
    const table = this.table();
    const module = moduleOf(this.told.game);
    this.who.textContent = this.isWatching ? t("role.watching") : t("role.playing", { name: table.name(this.agentId) });
    this.phase.textContent =
      state.status === "waiting" ? t("waiting.title") : Object.keys(this.data.view).length === 0 ? "" : plain(module.phase?.(table) ?? state.phase);
    this.rules.textContent = plain(this.data.rules);
    this.showTurn(table, module);
    this.showLobby(table);
    this.showBoard(table, module);
    this.showResult(table, module);
    this.showFoot();
    if (isFirst) {
      // What lies back is shown, not read out.
      this.showEvents(true);
    }
    const isMine = !STAGES.has(state.status) && this.data.legal.length > 0;
    document.title = `${isMine ? `● ${t("turn.title")} ` : ""}${gameName(this.told.game)} – ${t("arena")}`;
  }

  async refreshTold() {
    const key = JSON.stringify(this.state.agents);
    if (this.shownKeys.told === key) return;
    this.shownKeys.told = key;
    try {
      this.told = await lobby.match(this.matchId);
    } catch {
      return;
    }
    if (!this.isClosed && this.state?.status === "waiting") this.showLobby(this.table());
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
      fill(this.own, module.mine?.(table));
      this.own.hidden = this.own.childElementCount === 0;
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

  showLobby(table) {
    const isWaiting = this.state.status === "waiting";
    this.lobby.hidden = !isWaiting;
    if (!isWaiting || !this.changed("lobby", [this.state.agents, this.told.seats, this.isWatching])) return;
    const free = this.told.seats?.filter((seat) => !seat.is_taken);
    const taken = this.state.agents.length;
    const told = free === undefined ? t("waiting.some", { n: taken }) : t("waiting.taken", { n: taken, free: free.length });
    const address = `${location.origin}/#/match/${encodeURIComponent(this.matchId)}`;
    if (!this.isWatching) {
      if (this.lobby.contains(document.activeElement)) {
        this.lobby.querySelector(".told").textContent = told;
        return;
      }
      fill(this.lobby, el("h2", {}, t("invite")), el("p", { class: "told" }, told), el("p", {}, t("invite.told")), linkBox(address, t("invite.watch")));
      return;
    }
    if (this.joining) {
      this.lobby.querySelector(".told").textContent = told;
      return;
    }
    this.joining = this.joinForm();
    fill(this.lobby, el("h2", {}, t("waiting.join")), el("p", {}, t("waiting.join.told", { game: gameName(this.told.game) })), el("p", { class: "told" }, told), this.joining, linkBox(address, t("invite.watch")));
  }

  joinForm() {
    const node = el("form", { class: "fields", novalidate: true });
    const name = el("input", { type: "text", id: "join-name", maxlength: "32", autocomplete: "nickname", value: preferred("name") ?? "" });
    const error = el("p", { class: "error", role: "alert", hidden: true });
    const button = el("button", { type: "submit", class: "primary" }, t("join"));
    fill(node, el("div", { class: "field" }, el("label", { for: "join-name" }, t("create.name")), name), error, el("div", { class: "buttons" }, button));
    node.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      try {
        prefer("name", name.value.trim());
        const { agent_id: agentId, token } = await lobby.join(this.matchId, { name: name.value.trim() });
        keepSeat(this.matchId, { agent_id: agentId, token });
        if (this.isClosed) return;
        this.seat = { agent_id: agentId, token };
        this.joining = null;
        this.told = await lobby.match(this.matchId);
        if (!this.isClosed) this.open(this.seat);
      } catch (refused) {
        error.textContent = t("join.failed", { why: why(refused) });
        error.hidden = false;
        button.disabled = false;
      }
    });
    return node;
  }

  /** Nobody watches this match, but there may be a seat. */
  closedToWatchers() {
    if (this.told.status !== "waiting" || this.told.open_seats === 0) {
      this.end(failure(t("closed.title"), t("closed.told")));
      return;
    }
    fill(
      this.main,
      el("h1", { tabindex: "-1" }, gameName(this.told.game)),
      el("section", { class: "card" }, el("h2", {}, t("waiting.join")), el("p", {}, t("waiting.join.told", { game: gameName(this.told.game) })), this.joinForm()),
    );
  }

  // The reader's turn.

  showTurn(table, module) {
    const { legal, deadline } = this.data;
    const isOver = STAGES.has(this.state.status);
    const isMine = !isOver && legal.length > 0;
    this.clock.set(isMine ? deadline : null);
    const waiting = this.data.active_agent_ids.filter((id) => id !== this.agentId);
    if (!isMine) {
      const had = this.turn.contains(document.activeElement);
      this.forms = null;
      this.shownKeys.turn = null;
      this.turn.hidden = isOver || this.state.status !== "started";
      this.turn.classList.remove("mine");
      if (this.turn.hidden) fill(this.turn);
      const names = waiting.map((id) => table.name(id));
      if (!this.turn.hidden && (this.changed("waiting", names) || had || !this.turn.querySelector(".waiting-for"))) {
        fill(this.turn, el("p", { class: "waiting-for" }, names.length > 0 ? t("turn.wait", { names: listed(names) }) : t("turn.wait.nobody")));
      }
      if (had) this.title.focus();
      return;
    }
    if (!this.changed("turn", [legal, this.state.turn, this.state.phase])) return;
    const had = document.activeElement === document.body || this.turn.contains(document.activeElement) || document.activeElement === this.title;
    this.turn.hidden = false;
    this.turn.classList.add("mine");
    this.shownKeys.waiting = null;
    this.showForms(table, module, legal);
    announce(t("turn.told", { what: listed(legal.map(({ type }) => nameOf(type, "action"))) }), true);
    if (had) this.turn.querySelector("h2").focus();
  }

  showForms(table, module, legal) {
    const draftKey = `${this.matchId}/${this.agentId}/${JSON.stringify(legal)}`;
    this.forms = legal.map((each) => this.formFor(each, table, module));
    const kept = draftOf(draftKey);
    this.forms.forEach((entry, place) => {
      entry.form.restore(kept?.[place]);
      entry.node.addEventListener("input", () => keepDraft(draftKey, this.forms?.map(({ form }) => form.snapshot()) ?? null));
    });
    fill(
      this.turn,
      el("h2", { tabindex: "-1" }, t("turn")),
      this.forms.length > 1 && el("p", { class: "muted" }, t("turn.several")),
      el("div", { class: "actions" }, this.forms.map(({ node }) => node)),
    );
  }

  formFor(legal, table, module) {
    let adapted = null;
    try {
      adapted = module.adapt?.(legal, table) ?? null;
    } catch (error) {
      console.warn(error);
    }
    const name = nameOf(legal.type, "action");
    const form = new Form(adapted?.schema ?? legal.schema, {
      within: legal.type,
      hooks: adapted ?? {},
      keys: table.order,
      folded: (field) => (["reasoning", "confidence", "rationale"].includes(field) ? true : null),
    });
    const refusal = el("div", { class: "refusal", role: "alert", hidden: true });
    const isBare = form.controls().length === 0;
    const button = el("button", { type: "submit", class: isBare && table.order.length ? "" : "primary" }, isBare ? name : t("form.send"));
    const node = el(
      "form",
      { class: "action", novalidate: true, "aria-label": name },
      !isBare && el("h3", {}, name, adapted?.title && [" – ", adapted.title]),
      refusal,
      form.node,
      el("div", { class: "buttons" }, button),
    );
    const entry = { legal, form, node, refusal, button, adapted };
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(entry);
    });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        node.requestSubmit();
      }
    });
    return entry;
  }

  async submit(entry) {
    if (this.isSending) return;
    const { form, legal, adapted, refusal, button } = entry;
    refusal.hidden = true;
    this.notice.hidden = true;
    const { value, errors } = form.read();
    form.show(errors);
    if (errors.length > 0) return;
    this.isSending = true;
    const label = button.textContent;
    button.setAttribute("aria-disabled", "true");
    button.textContent = t("turn.sent");
    const data = adapted?.finish ? adapted.finish(value) : value;
    const line = this.line;
    const answer = await line.request({
      type: "perform_action",
      ...this.heading(),
      action: { version: this.state.state.version, type: legal.type, data },
    });
    this.isSending = false;
    button.removeAttribute("aria-disabled");
    button.textContent = label;
    if (this.isClosed || line !== this.line) return;
    const response = answer.action_response ?? { status: "error", message: answer.error?.message ?? "", data: answer.error?.data ?? {} };
    if (response.status === "success") {
      keepDraft("", null);
      announce(t("turn.taken", { what: nameOf(legal.type, "action") }));
    } else {
      this.showRefusal(entry, response);
    }
    // The same decision may be asked again with the same words: only its number tells.
    if (response.status === "success") this.shownKeys.turn = null;
    this.ask();
  }

  showRefusal(entry, { message, data = {} }) {
    const { form, refusal, adapted } = entry;
    const left = data.attempts_left;
    const isOver = left === 0 || ["too_late", "not_pending", "match_over"].includes(data.code);
    const told = [
      el("strong", {}, `${t("refused.title")}: `),
      el("span", {}, has(`refused.${data.code}`) ? t(`refused.${data.code}`) : plain(message)),
      " ",
      typeof left === "number" && el("span", {}, left > 0 ? t("refused.left", { n: left }) : t("refused.last")),
    ];
    if (isOver) {
      // The form is about to go away; its refusal stays.
      fill(this.notice, told);
      this.notice.hidden = false;
      announce(this.notice.textContent, true);
      return;
    }
    const errors = (Array.isArray(data.errors) ? data.errors : []).map((each) => ({
      path: adapted?.path ? adapted.path(String(each.path ?? "")) : String(each.path ?? ""),
      message: plain(each.message),
    }));
    if (errors.length > 0) form.show(errors);
    else form.focus();
    fill(refusal, told);
    refusal.hidden = false;
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

  // The end.

  showResult(table, module) {
    const { status } = this.state;
    this.result.hidden = !STAGES.has(status);
    if (this.result.hidden || !this.changed("result", [this.state.winners, status, this.scores ?? null])) return;
    const { winners } = this.state;
    const isFirst = this.result.childElementCount === 0;
    const title = el("h2", { tabindex: "-1" }, t(status === "abandoned" ? "outcome.abandoned" : "outcome.title"));
    fill(this.result, title);
    if (status === "abandoned") {
      add(this.result, el("p", {}, t("outcome.abandoned.told")));
    } else {
      const won = winners.length === 0 ? t("outcome.draw") : winners.length === this.state.agents.length && winners.length > 1 ? t("outcome.won.all") : t("outcome.won", { names: listed(winners.map((id) => table.name(id))) });
      add(this.result, [
        !this.isWatching && el("p", { class: "big" }, t(winners.includes(this.agentId) ? "outcome.you.won" : "outcome.you.lost")),
        el("p", {}, won),
      ]);
      try {
        add(this.result, module.ending?.(table));
      } catch (error) {
        console.warn(error);
      }
      add(this.result, this.scores ? this.scoreList(table) : null);
    }
    const download = el("button", { type: "button" }, t("transcript"));
    download.addEventListener("click", () => this.download(download));
    add(this.result, el("div", { class: "buttons" }, el("a", { class: "button primary", href: `#/new/${encodeURIComponent(this.told.game)}` }, t("again")), download, el("a", { class: "button", href: "#/" }, t("to.lobby"))));
    if (isFirst) {
      announce([...this.result.querySelectorAll("h2, p")].map((each) => each.textContent).join(" "), true);
      if (document.activeElement === document.body || document.activeElement === this.title) title.focus();
      this.loadScores();
    }
  }

  scoreList(table) {
    return el(
      "ul",
      { class: "scores", "aria-label": t("scores") },
      Object.entries(this.scores).map(([id, score]) =>
        el("li", {}, table.person(id), el("span", { class: "score" }, String(Math.round(100 * Number(score)) / 100)), this.state.winners.includes(id) && el("span", { class: "tag good" }, t("winner"))),
      ),
    );
  }

  async loadScores() {
    try {
      const lines = (await this.transcript()).trim().split("\n");
      const last = JSON.parse(lines.at(-1));
      if (this.isClosed || last.line !== "outcome" || Object.keys(last.scores ?? {}).length === 0) return;
      this.scores = last.scores;
      this.showResult(this.table(), moduleOf(this.told.game));
    } catch {
      // The scores are a part of the transcript; without it the winners are told.
    }
  }

  transcript() {
    return lobby.transcript(this.matchId, this.token);
  }

  async download(button) {
    button.disabled = true;
    try {
      const address = URL.createObjectURL(new Blob([await this.transcript()], { type: "application/x-ndjson" }));
      const link = el("a", { href: address, download: `${this.matchId}.jsonl` });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    } catch (refused) {
      fill(this.notice, t("transcript.failed", { why: why(refused) }));
      this.notice.hidden = false;
    }
    button.disabled = false;
  }

  showFoot() {
    const isOver = STAGES.has(this.state.status);
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
