// Q21 for people: the task, both games for who may see them, and forms in which twenty lines can be filled at once.

import { el, pair, said } from "../dom.js";
import { wordsOf } from "../fields.js";
import { has, t } from "../texts.js";

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
  if (legal.type === "ask") return { starters: starters(legal.schema.properties.questions.prefixItems) };
  if (legal.type === "guess") {
    const wanted = (path) => /(\d+)(?: to (\d+))?(?: or more)? words/.exec(legal.schema.properties?.[path.slice(1)]?.description ?? "");
    const doubt = (path, text) => {
      const [, least, most] = wanted(path);
      const n = wordsOf(text);
      if (n < Number(least)) return [{ path, message: t("q.words.few", { n, least }) }];
      return most !== undefined && n > Number(most) ? [{ path, message: t("q.words.many", { n, most }) }] : [];
    };
    return {
      doubts: (value) => Object.keys(value).map((name) => `/${name}`).filter(wanted).flatMap((path) => doubt(path, value[path.slice(1)] ?? "")),
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

// Questions for whoever has none yet. The referee that plays without a model reads English.
const STARTERS = [
  "Does the opening sentence have more than 12 words?",
  "Does the opening sentence have more than 25 words?",
  "Does the opening sentence have more than 50 words?",
  "Is the opening sentence written in the first person?",
  "Does the opening sentence contain a person's name?",
  "Does the opening sentence contain direct speech?",
  "Does the opening sentence mention a place?",
  "Does the opening sentence mention a number?",
  "Does the opening sentence mention a time of day?",
  "Does the opening sentence mention the weather?",
  "Does the opening sentence mention a member of a family?",
  "Does the opening sentence contain a comma?",
  "Does the opening sentence have more than 18 words?",
  "Does the opening sentence contain the word \"was\"?",
  "Does the first word of the opening sentence begin with a letter from A to M?",
  "Does the last word of the opening sentence begin with a letter from A to M?",
  "Does the associative word begin with a letter from A to M?",
  "Does the associative word have more than 5 letters?",
  "Does the associative word contain the letter E?",
  "Does the associative word contain the letter A?",
];
const OPTIONS = { A: "Yes", B: "No", C: "Partially", D: "Unknown" };

/** As many questions as are asked for; rules with a key of their own have fixed options. */
export function starters(items) {
  return {
    questions: items.map(({ properties }, place) => ({
      question_text: STARTERS[place] ?? "",
      ...(properties.options.const === undefined ? { options: OPTIONS } : {}),
    })),
  };
}

export function seatName(place) {
  return place === 0 ? t("create.referee") : t("create.player", { n: place });
}

export function setup(schema) {
  return {
    schema: { ...schema, properties: { ...schema.properties, rules: { enum: ["prd", "course"], default: "prd" } } },
    finish: (config) => config,
  };
}

// What fields and actions are called: [English, Chinese] of the name, then of a hint where one is needed.
export const names = {
  "action.announce": ["Choose book, sentence and word", "选择书、句子和词"],
  "action.ask": ["Ask your questions", "提出问题"],
  "action.answer": ["Answer the questions", "回答问题"],
  book_name: ["Book", "书名", "Everybody sees it.", "所有人可见。"],
  book_hint: ["Hint", "提示", "At most 15 words; it must not give the sentence away.", "最多 15 个词，不能泄露句子。"],
  association_word: ["Domain of the word", "词的领域", "For example: a colour, an animal. Everybody sees it.", "例如：颜色、动物。所有人可见。"],
  actual_opening_sentence: ["The secret sentence", "秘密句子", "With it the book or a passage begins.", "书或某一段以它开头。"],
  actual_associative_word: ["The secret word", "秘密词"],
  questions: ["Your questions", "你的问题"],
  answers: ["Answers", "回答"],
  player_id: ["Whose questions", "谁的问题"],
  opening_sentence: ["The sentence", "句子"],
  sentence_justification: ["Why this sentence", "为什么是这个句子"],
  associative_word: ["The word", "词"],
  word_justification: ["Why this word", "为什么是这个词"],
  "q21.rules": ["Rule set", "规则集"],
  "rules.prd": ["fixed answers: yes, no, partially, unknown", "固定选项：是、否、部分、未知"],
  "rules.course": ["own answers A to D for each question", "每题自拟选项 A 到 D"],
};

export const texts = {
  en: {
    "create.referee": "Referee",
    "create.player": "Player {n}",
    "q.phase.brief": "The referee chooses",
    "q.phase.questions": "Questions",
    "q.phase.answers": "Answers",
    "q.phase.guesses": "Guesses",
    "q.phase.over": "Over",
    "q.referee": "referee",
    "q.brief": "The task",
    "q.brief.none": "The referee has not chosen yet.",
    "q.book": "Book",
    "q.hint": "Hint",
    "q.domain": "Domain of the word",
    "q.target": "The solution",
    "q.sentence": "Sentence",
    "q.word": "Word",
    "q.yours": "Your game",
    "q.of": "Game of {name}",
    "q.asked": "{n} questions",
    "q.words.least": "{least} or more words that name your questions, as in: question 3 was answered A.",
    "q.words": "{least} to {most} words that name your questions, as in: question 3 was answered A.",
    "q.words.few": "{n} of at least {least} words.",
    "q.words.many": "{n} of at most {most} words.",
    "q.noanswer": "–",
    "q.Not Relevant": "not relevant",
    "q.why": "Why",
    "q.points": "Points",
    "q.private": "Score of 100",
    "q.part.opening_sentence_score": "Sentence",
    "q.part.sentence_justification_score": "Why this sentence",
    "q.part.associative_word_score": "Word",
    "q.part.word_justification_score": "Why this word",
    "q.out": "{name} is out.",
    "q.e.asks": "The questions of {name} are in.",
    "q.e.answers": "The referee has answered {name}.",
    "q.e.brief": "The book: {book}. The hint: {hint}",
    "q.e.won": "{name} wins.",
    "q.e.draw": "Nobody wins.",
    "q.say.brief": "The referee chooses a book, a sentence and a word.",
    "q.say.questions": "Both players ask.",
    "q.say.answers": "The referee answers.",
    "q.say.guesses": "Both players guess.",
    "q.say.over": "The match is over.",
  },
  zh: {
    "create.referee": "裁判",
    "create.player": "玩家 {n}",
    "q.phase.brief": "裁判选题",
    "q.phase.questions": "提问",
    "q.phase.answers": "回答",
    "q.phase.guesses": "猜测",
    "q.phase.over": "结束",
    "q.referee": "裁判",
    "q.brief": "题目",
    "q.brief.none": "裁判还没有选题。",
    "q.book": "书",
    "q.hint": "提示",
    "q.domain": "词的领域",
    "q.target": "答案",
    "q.sentence": "句子",
    "q.word": "词",
    "q.yours": "你的游戏",
    "q.of": "{name} 的游戏",
    "q.asked": "{n} 个问题",
    "q.words.least": "至少 {least} 个词，并提到你的问题（用空格分隔词语）。",
    "q.words": "{least} 至 {most} 个词，并提到你的问题（用空格分隔词语）。",
    "q.words.few": "{n} 个词，至少要 {least} 个。",
    "q.words.many": "{n} 个词，最多 {most} 个。",
    "q.noanswer": "–",
    "q.Not Relevant": "不相关",
    "q.why": "理由",
    "q.points": "点数",
    "q.private": "百分制得分",
    "q.part.opening_sentence_score": "句子",
    "q.part.sentence_justification_score": "句子的理由",
    "q.part.associative_word_score": "词",
    "q.part.word_justification_score": "词的理由",
    "q.out": "{name} 出局。",
    "q.e.asks": "{name} 的问题已提交。",
    "q.e.answers": "裁判已回答 {name}。",
    "q.e.brief": "书：{book}。提示：{hint}",
    "q.e.won": "{name} 获胜。",
    "q.e.draw": "没有胜者。",
    "q.say.brief": "裁判选择一本书、一个句子和一个词。",
    "q.say.questions": "两位玩家提问。",
    "q.say.answers": "裁判回答。",
    "q.say.guesses": "两位玩家猜测。",
    "q.say.over": "对局结束。",
  },
};
