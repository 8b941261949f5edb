// Undercover for people: the own word, who said what, the votes, and at the end who was who.

import { el, said } from "../dom.js";
import { has, listed, t } from "../texts.js";

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

// What fields and actions are called: [English, Chinese] of the name, then of a hint where one is needed.
export const names = {
  "action.describe": ["Describe your word", "描述你的词"],
  "action.vote": ["Vote", "投票"],
  description: ["Description", "描述", "Say something true about your word without naming it.", "说一句符合你的词的话，但不要说出这个词。"],
  vote_number: ["Who is undercover?", "谁是卧底？"],
  reason: ["Reason", "理由", "Stays between you and the referee until the match is over.", "对局结束前不会公开。"],
  num_undercover: ["Undercover players", "卧底人数", "Fewer than half of all.", "须少于总人数的一半。"],
  "undercover.tie": ["When a vote is tied", "平票时"],
  "tie.no_elimination": ["nobody is out", "无人出局"],
  "tie.random": ["one of them is drawn", "抽签决定"],
  "tie.revote": ["one more vote", "重新投票"],
  "undercover.reveal": ["Announce the role of who is out", "公布出局者的身份"],
  "reveal.none": ["no", "否"],
  "reveal.role": ["yes", "是"],
  reveal_at_end: ["Reveal roles and words at the end", "结束时公开身份和词"],
  know_own_role: ["Players know their own role", "玩家知道自己的身份"],
  announce_counts: ["The number of undercover players is public", "公开卧底人数"],
  speaking_order: ["Who speaks first", "发言顺序"],
  "speaking_order.fixed": ["by seat", "按座位"],
  "speaking_order.rotate": ["moves on every round", "每轮后移"],
  "speaking_order.random": ["drawn every round", "每轮抽签"],
  allow_abstain: ["Votes for nobody are allowed", "允许弃权"],
  max_description: ["Longest description", "描述最多字符数"],
  reject_repeats: ["Refuse repeated descriptions", "拒绝重复的描述"],
  reject_own_word: ["Refuse descriptions with the own word", "拒绝包含自己的词的描述"],
  word_pairs: ["Own word pairs", "自备词对", "One of them is drawn.", "从中抽取一对。"],
  "undercover.pair": ["This very pair", "指定词对", "Whoever sets it knows both words.", "设置者会知道两个词。"],
  swap_pair: ["Draw which word is the civilians'", "抽签决定哪个词给平民"],
};

export const texts = {
  en: {
    "refused.empty_description": "The description says nothing.",
    "refused.reveals_own_word": "The description contains your own word.",
    "refused.repeated_description": "You have heard or made this description before.",
    "refused.missing_reason": "A vote needs a reason.",
    "refused.self_vote": "You cannot vote for yourself.",
    "uc.word": "Your word",
    "uc.round": "Round {n} of {most}",
    "uc.phase.description": "Descriptions",
    "uc.phase.voting": "Vote",
    "uc.phase.check": "Count",
    "uc.phase.end": "Over",
    "uc.phase.init": "Start",
    "uc.count": "{n} of {all} {n?is:are} undercover.",
    "uc.votes.in": "{n} of {all} votes are in.",
    "uc.out": "out",
    "uc.silent": "said nothing",
    "uc.nothing": "has not spoken yet",
    "uc.round.short": "Round {n}",
    "uc.dead": "You are out. You can see how it goes on.",
    "uc.votes": "Votes",
    "uc.for": "voted for",
    "uc.reason": "Reason",
    "uc.nobody": "nobody",
    "uc.ballot": "Round {round}, vote {ballot}",
    "uc.word.of": "Word",
    "role.civilian": "civilian",
    "role.undercover": "undercover",
    "uc.won.civilian": "The civilians have won.",
    "uc.won.undercover": "The undercover side has won.",
    "uc.reason.all_undercover_out": "No undercover player is left.",
    "uc.reason.parity": "At least as many undercover players as civilians are left.",
    "uc.reason.max_rounds": "The last round is over.",
    "uc.words": "The civilians' word was {civilian}, the other one {undercover}.",
    "uc.secret": "Only you see your votes and reasons until the match is over.",
    "uc.e.started": "{n} players sit down; {u} {u?is:are} undercover.",
    "uc.e.started.some": "{n} players sit down; some are undercover.",
    "uc.e.dealt": "Your word is {word}.",
    "uc.e.round": "Round {n}. Order: {names}.",
    "uc.e.silent": "{name} says nothing.",
    "uc.e.voting": "Round {n}: everybody votes.",
    "uc.e.revoting": "Round {n}: one more vote, between {names}.",
    "uc.e.voted": "Your vote is in: {name}.",
    "uc.e.missed": "You did not vote in time: an abstention.",
    "uc.e.tally": "Votes: {tally}.",
    "uc.e.tally.none": "Nobody has a vote.",
    "uc.e.out": "{name} is out.",
    "uc.e.drawn": "A tie; {name} is drawn and out.",
    "uc.e.tie": "A tie; nobody is out.",
    "uc.e.revote": "A tie; there is one more vote.",
    "uc.e.nobody": "Nobody is out.",
    "uc.e.role": "The role was {role}.",
  },
  zh: {
    "refused.empty_description": "描述里什么也没有说。",
    "refused.reveals_own_word": "描述中出现了你自己的词。",
    "refused.repeated_description": "这句描述你已经听过或说过了。",
    "refused.missing_reason": "投票必须说明理由。",
    "refused.self_vote": "不能投给自己。",
    "uc.word": "你的词",
    "uc.round": "第 {n} 轮，共 {most} 轮",
    "uc.phase.description": "描述",
    "uc.phase.voting": "投票",
    "uc.phase.check": "计票",
    "uc.phase.end": "结束",
    "uc.phase.init": "开始",
    "uc.count": "{all} 人中有 {n} 名卧底。",
    "uc.votes.in": "已收到 {n} / {all} 票。",
    "uc.out": "出局",
    "uc.silent": "没有发言",
    "uc.nothing": "还没有发言",
    "uc.round.short": "第 {n} 轮",
    "uc.dead": "你已出局，可以继续观看。",
    "uc.votes": "投票",
    "uc.for": "投给",
    "uc.reason": "理由",
    "uc.nobody": "弃权",
    "uc.ballot": "第 {round} 轮，第 {ballot} 次投票",
    "uc.word.of": "词",
    "role.civilian": "平民",
    "role.undercover": "卧底",
    "uc.won.civilian": "平民获胜。",
    "uc.won.undercover": "卧底获胜。",
    "uc.reason.all_undercover_out": "卧底已全部出局。",
    "uc.reason.parity": "剩下的卧底不少于平民。",
    "uc.reason.max_rounds": "最后一轮已结束。",
    "uc.words": "平民的词是“{civilian}”，卧底的词是“{undercover}”。",
    "uc.secret": "对局结束前，只有你能看到自己的投票和理由。",
    "uc.e.started": "{n} 名玩家入座，其中 {u} 名是卧底。",
    "uc.e.started.some": "{n} 名玩家入座，其中有卧底。",
    "uc.e.dealt": "你的词是“{word}”。",
    "uc.e.round": "第 {n} 轮，发言顺序：{names}。",
    "uc.e.silent": "{name} 没有发言。",
    "uc.e.voting": "第 {n} 轮：请所有人投票。",
    "uc.e.revoting": "第 {n} 轮：在 {names} 之间重新投票。",
    "uc.e.voted": "你已投票：{name}。",
    "uc.e.missed": "你没有按时投票，按弃权计。",
    "uc.e.tally": "票数：{tally}。",
    "uc.e.tally.none": "没有人得票。",
    "uc.e.out": "{name} 出局。",
    "uc.e.drawn": "平票，抽签决定 {name} 出局。",
    "uc.e.tie": "平票，无人出局。",
    "uc.e.revote": "平票，重新投票。",
    "uc.e.nobody": "无人出局。",
    "uc.e.role": "身份是{role}。",
  },
};
