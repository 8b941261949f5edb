// Q21 for people: the task, both games for who may see them, and forms in which twenty lines can be filled at once.

import { el, pair, said } from "./dom.js";
import { has, t } from "./texts.js";

const LETTERS = ["A", "B", "C", "D"];

export function phase({ view }) {
  return has(`q.phase.${view.phase}`) ? t(`q.phase.${view.phase}`) : view.phase;
}

export function board(table) {
  const { view } = table;
  const games = view.games ? Object.values(view.games) : view.me ? [view.me] : [];
  return el(
    "div",
    { class: "board" },
    el(
      "ul",
      { class: "players" },
      [view.referee, ...view.players].map((id) => {
        const isActive = table.active.includes(id);
        return el(
          "li",
          { class: `player${isActive ? " active" : ""}${id === table.agentId ? " mine" : ""}${view.forfeits[id] ? " out" : ""}` },
          el(
            "div",
            { class: "player-head" },
            table.person(id),
            el(
              "span",
              { class: "tags" },
              id === view.referee && el("span", { class: "tag" }, t("q.referee")),
              id === table.agentId && el("span", { class: "tag own" }, t("you")),
              isActive && el("span", { class: "tag due" }, t("to.move")),
              view.forfeits[id] && el("span", { class: "tag bad" }, t("uc.out")),
            ),
          ),
        );
      }),
    ),
    view.game_over && task(view),
    view.target && !view.game_over && solution(view.target),
    games.filter((game) => game.questions || game.guess).map((game) => played(game, table)),
  );
}

/** The task stands above everything else while it is being solved. */
export function mine({ view }) {
  return view.game_over ? null : task(view);
}

function task({ brief }) {
  return el(
    "section",
    { class: "card" },
    el("h3", {}, t("q.brief")),
    brief === null
      ? el("p", { class: "muted" }, t("q.brief.none"))
      : el("dl", { class: "facts-list" }, pair(t("q.book"), said(brief.book_name)), pair(t("q.hint"), said(brief.book_hint)), pair(t("q.domain"), said(brief.association_word))),
  );
}

function solution(target) {
  return el(
    "section",
    { class: "card" },
    el("h3", {}, t("q.target")),
    el("dl", { class: "facts-list" }, pair(t("q.sentence"), said(target.opening_sentence)), pair(t("q.word"), said(target.associative_word))),
  );
}

function answerText(question, answer) {
  if (answer === undefined || answer === null) return t("q.noanswer");
  if (!LETTERS.includes(answer)) return has(`q.${answer}`) ? t(`q.${answer}`) : answer;
  return [`${answer} · `, said(question?.options?.[answer] ?? "")];
}

function played(game, table) {
  const answers = new Map((game.answers ?? []).map((each) => [each.question_number, each.answer]));
  const title = game.player_id === table.agentId ? t("q.yours") : t("q.of", { name: table.name(game.player_id) });
  return el(
    "section",
    { class: "card" },
    el("h3", {}, title),
    game.scorecard && scorecard(game.scorecard),
    game.guess &&
      el(
        "dl",
        { class: "facts-list" },
        pair(t("q.sentence"), said(game.guess.opening_sentence)),
        game.guess.sentence_justification && pair(t("q.why"), said(game.guess.sentence_justification)),
        pair(t("q.word"), said(game.guess.associative_word)),
        game.guess.word_justification && pair(t("q.why"), said(game.guess.word_justification)),
      ),
    game.questions &&
      el(
        "details",
        { open: game.player_id === table.agentId, data: { key: `questions-${game.player_id}` } },
        el("summary", {}, t("q.asked", { n: game.questions.length })),
        el(
          "ol",
          { class: "asked" },
          game.questions.map((question) =>
            el(
              "li",
              {},
              el("span", { class: "muted" }, String(question.question_number)),
              el("span", {}, said(question.question_text)),
              el("span", { class: "answer" }, answerText(question, answers.get(question.question_number))),
            ),
          ),
        ),
      ),
  );
}

function scorecard(card) {
  return el(
    "dl",
    { class: "facts-list figures" },
    pair(t("q.points"), el("strong", {}, String(card.league_points))),
    pair(t("q.private"), Number(card.private_score).toFixed(1)),
    Object.entries(card.breakdown ?? {}).map(([part, score]) => pair(has(`q.part.${part}`) ? t(`q.part.${part}`) : part, Number(score).toFixed(1))),
  );
}

export function event(data, table) {
  switch (data.event) {
    case "phase":
      return has(`q.say.${data.phase}`) ? [el("strong", {}, t(`q.say.${data.phase}`))] : null;
    case "brief":
      return t("q.e.brief", { book: data.book_name, hint: data.book_hint });
    case "questions":
      return t("q.e.asks", { name: table.name(data.player_id) });
    case "answers":
      return t("q.e.answers", { name: table.name(data.player_id) });
    case "forfeit":
      return t("q.out", { name: table.name(data.player_id) });
    case "result":
      return [el("strong", {}, data.winner ? t("q.e.won", { name: table.name(data.winner) }) : t("q.e.draw"))];
    default:
      return null;
  }
}

export function ending({ view }) {
  return view.game_over && view.target ? solution(view.target) : null;
}

const ONE_LINE = new Set(["/book_name", "/association_word"]);

export function adapt(legal, table) {
  if (legal.type === "announce") return { single: (path) => ONE_LINE.has(path) };
  if (legal.type === "guess") {
    const wanted = (path) => /(\d+)(?: to (\d+))?(?: or more)? words/.exec(legal.schema.properties?.[path.slice(1)]?.description ?? "");
    return {
      words: (path) => wanted(path) !== null,
      hint: (path) => {
        const [, least, most] = wanted(path) ?? [];
        if (least === undefined) return undefined;
        return most === undefined ? t("q.words.least", { least }) : t("q.words", { least, most });
      },
    };
  }
  if (legal.type === "answer") {
    // One player after the other: the questions that belong to the answers stand beside them.
    const player = legal.schema.properties?.player_id?.enum?.[0];
    const questions = table.view.games?.[player]?.questions;
    if (!player || !questions) return null;
    const of = (path) => questions[Number(/^\/answers\/(\d+)/.exec(path)?.[1])];
    return {
      schema: { ...legal.schema, properties: { ...legal.schema.properties, player_id: { const: player } } },
      title: t("q.of", { name: table.name(player) }),
      label: (path) => {
        const question = of(path);
        return question === undefined ? undefined : `${question.question_number}. ${question.question_text}`;
      },
      option: (path, value) => {
        const option = of(path)?.options?.[value];
        if (option === undefined) return has(`q.${value}`) ? t(`q.${value}`) : undefined;
        return `${value} · ${option}`;
      },
    };
  }
  return null;
}

export function setup(schema) {
  return {
    schema: { ...schema, properties: { ...schema.properties, rules: { enum: ["prd", "course"], default: "prd" } } },
    finish: (config) => config,
  };
}
