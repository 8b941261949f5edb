// Guess number for people: what was guessed, what is known, what the others say.

import { el, said } from "../dom.js";
import { has, nameOf, t } from "../texts.js";

const MOST_SHOWN = 100;
const PHASES = ["observation", "reporting", "reasoning", "action"];

function phaseName(phase) {
  return has(`gn.phase.${phase}`) ? t(`gn.phase.${phase}`) : phase;
}

export function phase({ view }) {
  return `${t("gn.step", { n: Math.min(view.step + 1, view.max_steps), most: view.max_steps })} · ${phaseName(view.phase)}`;
}

export function board(table) {
  const { view } = table;
  const { me } = view;
  return el(
    "div",
    { class: "board" },
    el("p", { class: "facts" }, t("gn.find", { most: view.num_choices - 1 }), " ", t(view.win === "any" ? "gn.any" : "gn.all")),
    !view.done &&
      el(
        "ol",
        { class: "steps" },
        PHASES.map((each) => el("li", each === view.phase ? { class: "now", "aria-current": "step" } : {}, phaseName(each))),
      ),
    me?.is_correct && !view.done && el("p", { class: "note good" }, t("gn.correct")),
    me && !me.is_correct && me.known_target !== null && el("p", { class: "note good" }, t("gn.knows", { n: me.known_target })),
    me && own(me),
    me && numbers(view),
    messages(table),
  );
}

function own(me) {
  return el(
    "section",
    {},
    el("h3", {}, t("gn.yours")),
    me.guess_history.length === 0
      ? el("p", { class: "muted" }, t("gn.none"))
      : el(
          "ul",
          { class: "marks" },
          me.guess_history.map((guess, place) => {
            const result = me.feedback_history[place];
            const [kind, sign] = result === true ? ["right", "✓"] : result === false ? ["wrong", "✗"] : ["open", "…"];
            return el("li", { class: kind }, String(guess), el("span", { "aria-hidden": "true" }, ` ${sign}`), el("span", { class: "unseen" }, ` ${t(`gn.${kind}`)}`));
          }),
        ),
  );
}

function numbers(view) {
  const wrong = new Set(view.me.known_wrong);
  if (view.num_choices > MOST_SHOWN) return wrong.size > 0 ? el("p", { class: "muted" }, t("gn.excluded", { n: wrong.size })) : null;
  return el(
    "section",
    {},
    el("h3", {}, t("gn.numbers")),
    el(
      "ul",
      { class: "grid" },
      Array.from({ length: view.num_choices }, (_, number) =>
        wrong.has(number)
          ? el("li", { class: "wrong" }, el("s", {}, String(number)), el("span", { class: "unseen" }, ` ${t("gn.wrong")}`))
          : el("li", { class: view.me.known_target === number ? "right" : "" }, String(number)),
      ),
    ),
  );
}

function messages(table) {
  const { view } = table;
  const now = (view.messages ?? []).filter((message) => message.timestamp === view.step);
  if (now.length === 0) return null;
  return el(
    "section",
    {},
    el("h3", {}, t("gn.messages")),
    el("ul", { class: "messages" }, now.map((message) => el("li", {}, table.person(message.sender), " ", told(message)))),
  );
}

function told(message) {
  const guess = message.type === "proposal" ? message.content?.next_guess : message.next_guess;
  // The last number of a history is the one that is meant, as long as no feedback belongs to it.
  const feedback = message.content?.feedback_history ?? [];
  const history = message.content?.guess_history?.slice(0, feedback.length);
  const words = message.type === "proposal" ? message.rationale : message.reasoning;
  return [
    el("span", {}, message.type === "proposal" ? (guess === undefined ? t("gn.proposes.open") : t("gn.proposes", { n: guess })) : t("gn.means", { n: guess })),
    typeof message.confidence === "number" && el("span", { class: "muted" }, ` (${t("gn.sure", { n: Math.round(100 * message.confidence) })})`),
    Array.isArray(history) && history.length > 0 && el("span", { class: "muted" }, ` – ${t("gn.history", { list: history.slice(-20).join(", ") })}`),
    words && el("span", { class: "says" }, said(words)),
  ];
}

export function event(data, table) {
  switch (data.event) {
    case "phase":
      return [el("strong", {}, `${t("gn.step", { n: data.step + 1, most: table.view.max_steps })}: ${phaseName(data.phase)}`)];
    case "observation":
      if (data.last_guess === null) return false;
      return `${data.last_guess}: ${t(data.is_correct ? "gn.right" : "gn.wrong")}`;
    case "state_report":
    case "proposal": {
      const { message } = data;
      if (typeof message?.sender !== "string") return null;
      return [table.person(message.sender), " ", told({ ...message, content: { next_guess: message.content?.next_guess } })];
    }
    case "end":
      return [el("strong", {}, t("gn.target", { n: data.target }), " ", data.reason === "success" ? t("gn.won", { n: data.steps_used }) : t("gn.lost"))];
    case "guess":
      return typeof data.guess === "number" ? t("gn.e.guess", { name: table.name(data.agent_id), n: data.guess }) : null;
    case "pass":
    case "report_missing":
      return t(`gn.e.${data.event}`, { name: table.name(data.agent_id) });
    default:
      return null;
  }
}

export function ending({ view }) {
  return view.done ? el("p", { class: "big" }, t("gn.target", { n: view.target })) : null;
}

// What the reader decided in a step's report about the proposal and the guess that the same step asks for later.
let plan = null;

/** One form a step: whoever reports says there what to propose, and whether to guess that number too. */
export function planned(legal, { view, matchId, agentId }) {
  if (plan?.matchId !== matchId || plan.agentId !== agentId || plan.step !== view.step) return null;
  const proposal = legal.find(({ type }) => type === "proposal");
  if (proposal) {
    if (!plan.isProposed) return { type: "pass", data: {} };
    const { sender, type, timestamp } = proposal.schema.properties;
    const fixed = { sender: sender.const, type: type.const, timestamp: timestamp.const };
    return { type: "proposal", data: { ...fixed, content: { next_guess: plan.guess } } };
  }
  return plan.isGuessed && legal.some(({ type }) => type === "guess") ? { type: "guess", data: { guess: plan.guess } } : null;
}

/** The wire's messages carry the whole history; people only say whether they tell it. */
export function adapt(legal, { view, matchId, agentId }) {
  const { properties } = legal.schema;
  const me = view.me ?? { guess_history: [], feedback_history: [] };
  const rest = Object.fromEntries(["sender", "type", "timestamp"].map((name) => [name, properties?.[name]]));
  if (legal.type === "state_report" && properties?.next_guess) {
    const { next_guess, reasoning, confidence } = properties;
    return {
      schema: {
        ...legal.schema,
        properties: {
          ...rest,
          next_guess,
          share_history: { type: "boolean", default: true },
          propose: { type: "boolean", default: false },
          guess_later: { type: "boolean", default: false },
          reasoning,
          confidence,
        },
      },
      finish: ({ share_history: isShared, propose: isProposed, guess_later: isLater, ...report }) => {
        plan = { matchId, agentId, step: view.step, guess: report.next_guess, isProposed, isGuessed: !isLater };
        const history = {
          current_guess: report.next_guess,
          is_correct: Boolean(me.is_correct),
          guess_history: [...me.guess_history.slice(0, me.feedback_history.length), report.next_guess],
          feedback_history: [...me.feedback_history],
        };
        return { ...report, content: isShared ? history : {} };
      },
      path: (path) => path.replace(/^\/content(\/.*)?$/, "/share_history"),
    };
  }
  if (legal.type === "proposal" && properties?.content?.properties?.next_guess) {
    return {
      schema: {
        type: "object",
        required: [...(legal.schema.required ?? []), "next_guess"].filter((name) => name !== "content"),
        properties: { ...rest, next_guess: properties.content.properties.next_guess, rationale: properties.rationale },
      },
      finish: ({ next_guess: guess, ...proposal }) => ({ ...proposal, content: { next_guess: guess } }),
      path: (path) => path.replace(/^\/content/, ""),
      label: (path) => (path === "/next_guess" ? nameOf("next_guess", "proposal") : undefined),
    };
  }
  return null;
}

export function setup(schema) {
  const { initial_guesses: _, ...properties } = schema.properties;
  return { schema: { ...schema, properties }, finish: (config) => config };
}

// What fields and actions are called: [English, Chinese] of the name, then of a hint where one is needed.
export const names = {
  "action.state_report": ["Report", "报告"],
  "action.proposal": ["Propose", "提建议"],
  "action.pass": ["Propose nothing", "不提建议"],
  next_guess: ["The number you mean to guess", "你打算猜的数字"],
  "proposal.next_guess": ["The number you propose", "你建议的数字"],
  guess_later: ["Guess only after I have heard the others", "听完其他人再猜"],
  propose: ["Propose this number to the others too", "也向其他人建议这个数字"],
  share_history: ["Tell the others what I guessed so far", "告诉其他人我已经猜过什么"],
  guess: ["Your guess", "你的猜测"],
  num_choices: ["How many numbers", "数字个数"],
  max_steps: ["Steps at most", "最多步数"],
  "guess_number.win": ["Who must find it", "谁必须猜中"],
  "win.all": ["everybody", "所有人"],
  "win.any": ["anybody", "任何一人"],
  "guess_number.target": ["The secret number", "秘密数字", "Empty: drawn. Whoever sets it knows it.", "留空则抽取；设置者会知道它。"],
  initial_guesses: ["Guesses made before the start", "开始前的猜测"],
  proposals: ["Proposals are asked for", "需要提建议"],
  reject_known_wrong: ["Refuse guesses known to be wrong", "拒绝已知错误的猜测"],
  share_reasoning: ["Reasoning is heard by all", "推理公开"],
};

export const texts = {
  en: {
    "refused.known_wrong": "You can know that this number is wrong.",
    "gn.step": "Step {n} of {most}",
    "gn.phase.observation": "Feedback",
    "gn.phase.reporting": "Reports",
    "gn.phase.reasoning": "Proposals",
    "gn.phase.action": "Guesses",
    "gn.phase.end": "Over",
    "gn.find": "Find a number from 0 to {most}.",
    "gn.all": "All must have guessed it.",
    "gn.any": "One hit is enough.",
    "gn.yours": "Your guesses",
    "gn.right": "right",
    "gn.wrong": "wrong",
    "gn.open": "open",
    "gn.none": "none yet",
    "gn.correct": "You have found it. You still report.",
    "gn.knows": "You know the number: {n}.",
    "gn.numbers": "Numbers",
    "gn.excluded": "{n} excluded",
    "gn.messages": "Messages of this step",
    "gn.means": "means to guess {n}",
    "gn.proposes": "proposes {n}",
    "gn.proposes.open": "proposes something",
    "gn.target": "The number was {n}.",
    "gn.history": "guessed so far: {list}",
    "gn.won": "Found after {n} {n?step:steps}.",
    "gn.lost": "Not found in time.",
    "gn.sure": "{n} % sure",
    "gn.e.guess": "{name} guesses {n}.",
    "gn.e.pass": "{name} proposes nothing.",
    "gn.e.report_missing": "{name} sends no report.",
  },
  zh: {
    "refused.known_wrong": "你可以知道这个数字是错的。",
    "gn.step": "第 {n} 步，共 {most} 步",
    "gn.phase.observation": "反馈",
    "gn.phase.reporting": "报告",
    "gn.phase.reasoning": "建议",
    "gn.phase.action": "猜测",
    "gn.phase.end": "结束",
    "gn.find": "找出 0 到 {most} 之间的一个数字。",
    "gn.all": "所有人都要猜中。",
    "gn.any": "有一人猜中即可。",
    "gn.yours": "你的猜测",
    "gn.right": "对",
    "gn.wrong": "错",
    "gn.open": "未揭晓",
    "gn.none": "还没有",
    "gn.correct": "你已经猜中了，但仍要报告。",
    "gn.knows": "你已知道答案：{n}。",
    "gn.numbers": "数字",
    "gn.excluded": "已排除 {n} 个",
    "gn.messages": "本步的消息",
    "gn.means": "打算猜 {n}",
    "gn.proposes": "建议猜 {n}",
    "gn.proposes.open": "提出建议",
    "gn.target": "答案是 {n}。",
    "gn.history": "已猜：{list}",
    "gn.won": "用 {n} 步找到。",
    "gn.lost": "没有按时找到。",
    "gn.sure": "把握 {n}%",
    "gn.e.guess": "{name} 猜 {n}。",
    "gn.e.pass": "{name} 不提建议。",
    "gn.e.report_missing": "{name} 没有提交报告。",
  },
};
