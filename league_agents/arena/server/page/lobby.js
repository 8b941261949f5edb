// The lobby: what is played here, which matches there are, and the form that opens a new one.

import { el, fill, freshId, plain } from "./dom.js";
import { Form, withoutDefaults } from "./forms.js";
import "./gallery_texts.js";
import { declared, moduleOf, setupOf } from "./games.js";
import { keepSeat, preferred, prefer, seatIn } from "./memory.js";
import { failure } from "./parts.js";
import { aboutGame, gameName, has, lang, listed, nameOf, t } from "./texts.js";
import { lobby, serverNow, why } from "./wire.js";

const LOOK_AGAIN_MS = 4000;
const MOST_ENDED = 8;
const TIMES_S = [30, 60, 120, 300, 900, 3600];
const PAUSES_S = [0, 1, 3];
const NAMES = {
  en: ["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Pine", "Rowan"],
  zh: ["小松", "小柏", "小杨", "小柳", "小枫", "小桐", "小樟", "小榆", "小竹", "小梅", "小兰", "小菊"],
};

let known = null;

function timesOf({ turn_timeout_s: usual }) {
  return [...new Set([...TIMES_S, usual])].sort((one, other) => one - other);
}

async function gamesOf() {
  known ??= (await lobby.games()).games;
  return known;
}

export class LobbyPage {
  constructor(main) {
    this.main = main;
    this.isClosed = false;
    this.games = el("ul", { class: "games" });
    this.lists = el("div", { class: "lists" });
    this.error = el("p", { class: "error", hidden: true });
    fill(
      main,
      el("h1", { tabindex: "-1" }, t("lobby.title")),
      el("p", { class: "lead" }, t("lobby.lead")),
      el("p", { class: "buttons" }, el("a", { class: "button", href: "/gallery" }, t("gallery")), el("a", { class: "button", href: "/leaderboard" }, t("board"))),
      el("section", { "aria-labelledby": "games-title" }, el("h2", { id: "games-title" }, t("lobby.games")), this.games),
      this.error,
      this.lists,
    );
    this.begin();
    this.look();
    this.seen = () => document.visibilityState === "visible" && this.look();
    document.addEventListener("visibilitychange", this.seen);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
  }

  async begin() {
    try {
      const games = await gamesOf();
      if (!this.isClosed) fill(this.games, games.map(gameCard));
    } catch (refused) {
      this.failed(refused);
    }
  }

  failed(refused) {
    if (this.isClosed) return;
    this.error.textContent = t("lobby.failed", { why: why(refused) });
    this.error.hidden = false;
  }

  async look() {
    clearTimeout(this.timer);
    try {
      const { matches } = await lobby.matches();
      if (this.isClosed) return;
      this.error.hidden = true;
      this.show(matches);
      if (this.games.childElementCount === 0) this.begin();
    } catch (refused) {
      this.failed(refused);
    }
    if (!this.isClosed && document.visibilityState === "visible") {
      this.timer = setTimeout(() => this.look(), LOOK_AGAIN_MS);
    }
  }

  show(matches) {
    const key = JSON.stringify(matches);
    if (key === this.shown) return;
    this.shown = key;
    const focused = this.lists.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const of = (...statuses) => matches.filter(({ status }) => statuses.includes(status));
    fill(
      this.lists,
      matchList(t("lobby.open"), of("waiting"), t("lobby.none.open")),
      matchList(t("lobby.running"), of("started"), t("lobby.none.running")),
      of("ended").length > 0 && matchList(t("lobby.ended"), of("ended").slice(0, MOST_ENDED), ""),
    );
    if (focused) this.lists.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }
}

function gameCard(game) {
  const [least, most] = game.agents;
  return el(
    "li",
    { class: "card game" },
    el("h3", {}, gameName(game.game)),
    el("p", {}, aboutGame(game.game)),
    el("p", { class: "muted small" }, least === most ? t("players", { n: least }) : t("players.range", { least, most })),
    el(
      "div",
      { class: "buttons" },
      el("a", { class: "button primary", href: `#/new/${encodeURIComponent(game.game)}`, "aria-label": t("new.of", { game: gameName(game.game) }) }, t("new")),
    ),
    rulesOf(game),
  );
}

function rulesOf(game) {
  return el("details", {}, el("summary", {}, t("rules")), el("p", { class: "hint" }, t("rules.usual")), el("p", { class: "rules" }, plain(game.rules[lang()])));
}

function matchList(title, matches, none) {
  const id = freshId("list");
  return el(
    "section",
    { "aria-labelledby": id },
    el("h2", { id }, title),
    matches.length === 0 ? el("p", { class: "muted" }, none) : el("ul", { class: "matches" }, matches.map(matchRow)),
  );
}

function ago(instant) {
  const minutes = Math.floor((serverNow() - Date.parse(instant)) / 60_000);
  if (!(minutes >= 1)) return t("ago.now");
  return minutes < 60 ? t("ago.minutes", { n: minutes }) : t("ago.hours", { n: Math.floor(minutes / 60) });
}

function matchRow(match) {
  const isOwn = seatIn(match.match_id) !== null;
  const isWaiting = match.status === "waiting";
  const people = match.seats.filter((seat) => seat.is_taken);
  const shown = people.slice(0, 6).map((seat) => plain(seat.name));
  const label = isOwn ? t("back") : isWaiting && match.open_seats > 0 ? t("join") : match.status === "ended" ? t("results") : t("watch");
  const canOpen = isOwn || match.watchable || (isWaiting && match.open_seats > 0);
  return el(
    "li",
    { class: "match-row" },
    el(
      "div",
      {},
      el("strong", {}, gameName(match.game)),
      " ",
      isOwn && el("span", { class: "tag own" }, t("lobby.yours")),
      isWaiting && el("span", { class: "tag due" }, match.open_seats > 0 ? t("seats.free", { n: match.open_seats }) : t("seats.full")),
      el("div", { class: "muted small" }, el("bdi", { dir: "auto" }, listed(shown) + (people.length > shown.length ? " …" : "")), shown.length > 0 && " · ", ago(match.created_at)),
    ),
    canOpen &&
      el(
        "a",
        { class: "button", href: `#/match/${encodeURIComponent(match.match_id)}`, data: { key: match.match_id }, "aria-label": `${label}: ${gameName(match.game)}, ${listed(shown)}` },
        label,
      ),
  );
}

export class NewPage {
  constructor(code, main) {
    this.code = code;
    this.main = main;
    fill(main, el("h1", { tabindex: "-1" }, t("new.of", { game: gameName(code) })), (this.body = el("div", { class: "create" }, el("p", { class: "muted" }, t("loading")))));
    this.begin();
  }

  close() {
    this.isClosed = true;
  }

  async begin() {
    try {
      this.game = (await gamesOf()).find(({ game }) => game === this.code);
    } catch (refused) {
      if (!this.isClosed) fill(this.main, failure(t("failed.title"), why(refused)));
      return;
    }
    if (this.isClosed) return;
    if (this.game === undefined) fill(this.main, failure(t("failed.title"), t("error.unknown")));
    else this.build();
  }

  build() {
    const { game } = this;
    const [least, most] = game.agents;
    this.setup = setupOf(this.code, game.config);
    this.name = el("input", { type: "text", id: "own-name", maxlength: "32", autocomplete: "nickname", value: preferred("name") ?? "" });
    this.part = radios("part", t("create.part"), [["play", t("create.play")], ["watch", t("create.watch")]], "play");
    this.place = el("select", { id: "own-seat" });
    this.count = el("input", { type: "number", id: "seats", min: least, max: most, step: "1", inputmode: "numeric", value: String(game.usual_seats.length) });
    this.seats = el("div", { class: "seats" });
    this.lang = radios("match-lang", t("create.lang"), [["en", "English"], ["zh", "中文"]], lang());
    this.time = select("time", timesOf(declared(this.code)).map((n) => [n, n < 120 ? t("time.seconds", { n }) : t("time.minutes", { n: n / 60 })]), declared(this.code).turn_timeout_s);
    this.pause = select("pause", PAUSES_S.map((n) => [n, n === 0 ? t("pause.none") : t("pause.seconds", { n })]), 1);
    this.config = new Form(this.setup.schema, { within: this.code, keys: game.usual_seats });
    this.error = el("p", { class: "error", role: "alert", hidden: true });
    this.button = el("button", { type: "submit", class: "primary" }, t("create.go"));
    const hasConfig = this.config.controls().length > 0;
    const nameField = field("own-name", t("create.name"), this.name, t("create.name.hint"));
    const placeField = field("own-seat", t("create.seat"), this.place);
    const form = el(
      "form",
      { class: "create", novalidate: true },
      el("section", { class: "card fields" }, el("h2", {}, t("create.you")), this.part.node, nameField, placeField),
      el(
        "section",
        { class: "card fields" },
        el("h2", {}, t("create.table")),
        least === most ? null : field("seats", t("create.seats"), this.count, `${t("form.range", { least, most })}.`),
        el("fieldset", { class: "field" }, el("legend", {}, t("create.who")), this.seats),
        this.lang.node,
        el("div", { class: "two" }, field("time", t("create.time"), this.time), field("pause", t("create.pause"), this.pause)),
        hasConfig && (this.advanced = el("details", { class: "more" }, el("summary", {}, t("create.advanced")), this.config.node)),
      ),
      this.error,
      el("div", { class: "buttons" }, this.button, el("a", { class: "button", href: "#/" }, t("to.lobby"))),
    );
    const react = () => {
      const plays = this.part.value() === "play";
      nameField.hidden = placeField.hidden = !plays;
      this.layTable();
    };
    this.part.node.addEventListener("input", react);
    this.place.addEventListener("input", () => this.layTable());
    this.count.addEventListener("input", () => this.layTable());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    fill(this.body, el("section", { class: "card" }, el("p", {}, aboutGame(this.code)), rulesOf(game)), form);
    react();
  }

  seatCount() {
    const [least, most] = this.game.agents;
    const wanted = Math.trunc(Number(this.count.value));
    return Number.isFinite(wanted) && this.count.value !== "" ? Math.min(most, Math.max(least, wanted)) : this.game.usual_seats.length;
  }

  /** One line for each seat; what was chosen before stays. */
  layTable() {
    const count = this.seatCount();
    const plays = this.part.value() === "play";
    const labels = Array.from({ length: count }, (_, place) => this.seatLabel(place));
    const own = Math.min(count - 1, this.place.value === "" ? declared(this.code).person_seat : Number(this.place.value));
    if (this.place.options.length !== count) {
      fill(this.place, labels.map((label, place) => el("option", { value: String(place) }, label)));
      this.place.value = String(own);
    }
    const before = [...this.seats.querySelectorAll("[data-place]")].map((each) => each.value);
    fill(
      this.seats,
      labels.map((label, place) => {
        if (plays && place === own) {
          return el("div", { class: "seat-row" }, el("span", {}, label), el("strong", {}, t("agent.me")), el("input", { type: "hidden", value: before[place] ?? "", data: { place: String(place) } }));
        }
        const id = `seat-${place}`;
        const choice = select(id, [...this.game.house, "open"].map((agent) => [agent, has(`agent.${agent}`) ? t(`agent.${agent}`) : nameOf(agent)]), before[place] || this.game.house[0] || "open");
        choice.dataset.place = String(place);
        return el("div", { class: "seat-row" }, el("label", { for: id }, label), choice);
      }),
    );
  }

  seatLabel(place) {
    return moduleOf(this.code).seatName?.(place) ?? t("seat", { n: place + 1 });
  }

  async submit() {
    this.error.hidden = true;
    const { value, errors } = this.config.read();
    this.config.show(errors);
    if (errors.length > 0) {
      this.advanced.open = true;
      return;
    }
    const plays = this.part.value() === "play";
    const count = this.seatCount();
    const own = Number(this.place.value);
    const chosen = [...this.seats.querySelectorAll("[data-place]")].map((each) => each.value);
    const matchLang = this.lang.value();
    const names = NAMES[matchLang].filter((name) => name !== this.name.value.trim());
    let named = 0;
    const agents = Array.from({ length: count }, (_, place) => {
      if ((plays && place === own) || chosen[place] === "open") return { agent: "open" };
      named += 1;
      return { agent: chosen[place], name: names[named - 1] ?? `${names[0]} ${named}` };
    });
    const config = withoutDefaults(this.setup.finish(value), this.setup.schema);
    const body = {
      game: this.code,
      config,
      agents,
      lang: matchLang,
      clock: { turn_timeout_s: Number(this.time.value), disconnect_grace_s: 120 },
      pause_s: Number(this.pause.value),
    };
    this.button.disabled = true;
    this.button.textContent = t("create.going");
    try {
      const match = await lobby.open(body);
      if (plays) {
        prefer("name", this.name.value.trim());
        const seat = await lobby.join(match.match_id, { name: this.name.value.trim(), agent_id: match.seats[own].agent_id });
        keepSeat(match.match_id, { agent_id: seat.agent_id, token: seat.token });
      }
      if (!this.isClosed) location.hash = `#/match/${encodeURIComponent(match.match_id)}`;
    } catch (refused) {
      this.error.textContent = t("create.failed", { why: why(refused) });
      this.error.hidden = false;
      this.button.disabled = false;
      this.button.textContent = t("create.go");
    }
  }
}

function field(id, label, control, hint = "") {
  if (hint !== "") control.setAttribute("aria-describedby", `${id}-hint`);
  return el("div", { class: "field" }, el("label", { for: id }, label), hint !== "" && el("p", { class: "hint", id: `${id}-hint` }, hint), control);
}

function select(id, options, chosen) {
  const node = el("select", { id }, options.map(([value, label]) => el("option", { value: String(value) }, label)));
  node.value = String(chosen);
  return node;
}

function radios(name, legend, options, chosen) {
  const inputs = options.map(([value]) => el("input", { type: "radio", name, id: `${name}-${value}`, value, checked: value === chosen }));
  return {
    node: el(
      "fieldset",
      { class: "field" },
      el("legend", {}, legend),
      el("div", { class: "chips" }, options.map(([, label], place) => el("label", { class: "chip", for: inputs[place].id }, inputs[place], el("span", {}, label)))),
    ),
    value: () => inputs.find((input) => input.checked)?.value ?? chosen,
  };
}
