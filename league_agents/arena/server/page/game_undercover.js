// Undercover for people: the own word, who said what, the votes, and at the end who was who.

import { el, said } from "./dom.js";
import { has, listed, t } from "./texts.js";

export function phase({ view }) {
  const told = has(`uc.phase.${view.phase}`) ? t(`uc.phase.${view.phase}`) : view.phase;
  return `${t("uc.round", { n: view.round, most: view.max_rounds })} · ${told}`;
}

function seatOf(table, playerId) {
  return table.view.players?.find((player) => player.player_id === playerId);
}

function name(table, playerId, otherwise) {
  if (playerId === null || playerId === undefined) return t("uc.nobody");
  const player = seatOf(table, playerId);
  return player === undefined ? String(otherwise ?? playerId) : table.name(player.agent_id);
}

function person(table, playerId) {
  const player = seatOf(table, playerId);
  return player === undefined ? said(name(table, playerId)) : table.person(player.agent_id);
}

function roleName(role) {
  return has(`role.${role}`) ? t(`role.${role}`) : role;
}

export function board(table) {
  const { view } = table;
  const { me } = view;
  return el(
    "div",
    { class: "board" },
    me && !me.alive && !view.game_over && el("p", { class: "note dead" }, t("uc.dead")),
    el(
      "p",
      { class: "facts" },
      view.num_undercover !== undefined && el("span", {}, t("uc.count", { n: view.num_undercover, all: view.num_players })),
      view.phase === "voting" &&
        el("strong", {}, t("uc.votes.in", { n: view.votes_in, all: view.players.filter((player) => player.alive).length })),
    ),
    el("ul", { class: "players" }, view.players.map((player) => playerCard(table, player))),
    votes(table),
  );
}

/** What only the reader has, above everything else. */
export function mine({ view }) {
  const { me } = view;
  if (!me?.word || view.game_over) return null;
  return el(
    "div",
    { class: "word" },
    el("span", { class: "word-label" }, t("uc.word")),
    said(me.word, { class: "word-itself", lang: view.lang }),
    me.role && el("span", { class: "tag" }, roleName(me.role)),
  );
}

function playerCard(table, player) {
  const { view } = table;
  const isMe = view.me?.player_id === player.player_id;
  const isActive = table.active.includes(player.agent_id);
  const history = player.description_history ?? [];
  const current = (view.current_descriptions ?? []).some((each) => each.player_id === player.player_id);
  const earlier = current ? history.slice(0, -1) : history;
  const now = current ? history.at(-1) : null;
  return el(
    "li",
    { class: `player${player.alive ? "" : " out"}${isActive ? " active" : ""}${isMe ? " mine" : ""}` },
    el(
      "div",
      { class: "player-head" },
      table.person(player.agent_id),
      el(
        "span",
        { class: "tags" },
        isMe && el("span", { class: "tag own" }, t("you")),
        !player.alive && el("span", { class: "tag bad" }, t("uc.out")),
        isActive && el("span", { class: "tag due" }, t("to.move")),
        player.role && el("span", { class: `tag ${player.role === "undercover" ? "bad" : "good"}` }, roleName(player.role)),
      ),
    ),
    player.word && el("p", { class: "muted" }, `${t("uc.word.of")}: `, said(player.word, { lang: view.lang })),
    now !== null && (now === "" ? el("p", { class: "quote silent" }, t("uc.silent")) : el("p", { class: "quote" }, said(now))),
    now === null && view.phase === "description" && player.alive && el("p", { class: "quote waiting" }, t("uc.nothing")),
    earlier.length > 0 &&
      el(
        "ul",
        { class: "earlier" },
        earlier.map((each, place) =>
          el("li", {}, el("span", { class: "muted" }, `${place + 1}. `), each === "" ? el("em", {}, t("uc.silent")) : said(each)),
        ),
      ),
  );
}

function votes(table) {
  const { view } = table;
  const ballots = view.all_votes_history ?? [];
  const own = (view.me?.votes_cast ?? []).filter((vote) => !ballots.some((each) => each.round === vote.round && each.ballot === vote.ballot));
  if (ballots.length === 0 && own.length === 0) return null;
  return el(
    "section",
    { class: "votes" },
    el("h3", {}, t("uc.votes")),
    own.map((vote) =>
      el("div", { class: "note" }, el("p", {}, t("uc.e.voted", { name: name(table, vote.target_id) })), vote.reason && el("p", {}, said(vote.reason)), el("p", { class: "hint" }, t("uc.secret"))),
    ),
    ballots.toReversed().map((ballot, place) =>
      el(
        "details",
        { class: "card", open: place === 0, data: { key: `ballot-${ballot.round}-${ballot.ballot}` } },
        el("summary", {}, t(ballot.ballot > 1 ? "uc.ballot" : "uc.round.short", { round: ballot.round, ballot: ballot.ballot, n: ballot.round })),
        el(
          "ul",
          { class: "cast" },
          ballot.votes.map((vote) =>
            el(
              "li",
              {},
              el(
                "p",
                { class: "arrow" },
                person(table, vote.voter_id),
                el("span", { "aria-hidden": "true" }, "→"),
                el("span", { class: "unseen" }, ` ${t("uc.for")} `),
                vote.target_id === null ? el("span", { class: "muted" }, t("uc.nobody")) : person(table, vote.target_id),
              ),
              vote.reason && el("p", { class: "muted small" }, said(vote.reason)),
            ),
          ),
        ),
      ),
    ),
  );
}

export function event(data, table) {
  const names = (ids) => listed((ids ?? []).map((id) => name(table, id)));
  switch (data.event) {
    case "game_started":
      return data.num_undercover === undefined
        ? t("uc.e.started.some", { n: data.num_players })
        : t("uc.e.started", { n: data.num_players, u: data.num_undercover });
    case "word_dealt":
      return t("uc.e.dealt", { word: data.word });
    case "round_started":
      return [el("strong", {}, t("uc.e.round", { n: data.round, names: names(data.order) }))];
    case "description":
      if (data.cause) return t("uc.e.silent", { name: name(table, data.player_id, data.name) });
      return [person(table, data.player_id), el("span", { class: "says" }, said(data.description))];
    case "vote_opened":
      return data.candidates?.length > 0
        ? t("uc.e.revoting", { n: data.round, names: names(data.candidates) })
        : t("uc.e.voting", { n: data.round });
    case "vote_accepted":
      return data.cause ? t("uc.e.missed") : t("uc.e.voted", { name: name(table, data.target_id, data.target_name) });
    case "votes_revealed":
      return [el("strong", {}, counted(data, table))];
    case "game_over":
      return [el("strong", {}, ended(data.winner, data.reason, data.word_pair))];
    default:
      return null;
  }
}

function counted(data, table) {
  const tally = Object.entries(data.tally ?? {}).map(([id, count]) => `${name(table, Number(id))} ${count}`);
  const out = data.eliminated === null || data.eliminated === undefined ? null : name(table, data.eliminated);
  const how = out !== null ? (data.how === "random" ? "drawn" : "out") : { tie: "tie", revote: "revote" }[data.how] ?? "nobody";
  return [
    tally.length > 0 ? t("uc.e.tally", { tally: listed(tally) }) : t("uc.e.tally.none"),
    t(`uc.e.${how}`, { name: out }),
    data.role ? t("uc.e.role", { role: roleName(data.role) }) : "",
  ]
    .filter((each) => each !== "")
    .join(" ");
}

function ended(winner, reason, words) {
  return [
    has(`uc.won.${winner}`) ? t(`uc.won.${winner}`) : "",
    has(`uc.reason.${reason}`) ? t(`uc.reason.${reason}`) : "",
    words ? t("uc.words", words) : "",
  ].join(" ");
}

export function ending(table) {
  const { view } = table;
  if (!view.winner) return null;
  return el(
    "div",
    {},
    el("p", { class: "big" }, has(`uc.won.${view.winner}`) ? t(`uc.won.${view.winner}`) : ""),
    view.word_pair &&
      el(
        "div",
        { class: "pairs" },
        Object.entries(view.word_pair).map(([role, word]) =>
          el(
            "div",
            { class: `word ${role}` },
            el("span", { class: "word-label" }, roleName(role)),
            said(word, { class: "word-itself", lang: view.lang }),
            el("span", {}, view.players.filter((player) => player.role === role).map((player) => table.person(player.agent_id))),
          ),
        ),
      ),
  );
}

export function adapt(legal, table) {
  if (legal.type !== "vote") return null;
  return {
    option: (path, value) => {
      if (path !== "/vote_number") return undefined;
      return value === null ? t("uc.nobody") : `${value} · ${name(table, value)}`;
    },
  };
}
