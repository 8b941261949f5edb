// The market for people: balances, this round, and what every round came to.

import { el, said, table as tableOf } from "../dom.js";
import { listed, t } from "../texts.js";

export function phase({ view }) {
  return view.done ? t("mk.over") : t("mk.round", { n: view.round + 1, most: view.max_rounds });
}

export function board(table) {
  const { view } = table;
  const { terms } = view;
  const best = Math.max(...view.sellers.map((seller) => seller.balance));
  return el(
    "div",
    { class: "board" },
    el(
      "p",
      { class: "facts" },
      el("span", {}, t("mk.terms", { least: terms.price_range[0], most: terms.price_range[1], cost: terms.marginal_cost, customers: terms.num_customers })),
      !view.done && el("span", {}, t(view.simultaneous ? "mk.sealed" : "mk.turns")),
      !view.done && el("strong", {}, t("mk.in", { n: view.prices_in, all: view.sellers.length })),
    ),
    el(
      "ul",
      { class: "players sellers" },
      view.sellers.map((seller) => {
        const isActive = table.active.includes(seller.agent_id);
        const offer = view.offers.find((each) => each.agent_id === seller.agent_id);
        return el(
          "li",
          { class: `player${isActive ? " active" : ""}${seller.agent_id === table.agentId ? " mine" : ""}` },
          el(
            "div",
            { class: "player-head" },
            table.person(seller.agent_id),
            el(
              "span",
              { class: "tags" },
              seller.agent_id === table.agentId && el("span", { class: "tag own" }, t("you")),
              isActive && el("span", { class: "tag due" }, t("to.move")),
            ),
          ),
          el("p", { class: seller.balance === best && best > 0 ? "balance best" : "balance" }, el("span", { class: "muted" }, `${t("mk.balance")} `), String(seller.balance)),
          offer && el("p", { class: "quote" }, offer.price === null ? t("mk.noprice") : String(offer.price), offer.speech && [" – ", said(offer.speech)]),
        );
      }),
    ),
    history(table),
  );
}

function history(table) {
  const { view } = table;
  if (view.results.length === 0) return null;
  return el(
    "section",
    {},
    el("h3", {}, t("mk.history")),
    tableOf(
      t("mk.history"),
      [t("mk.round.short"), ...view.sellers.map((seller) => said(table.name(seller.agent_id))), t("mk.best")],
      view.results.toReversed().map((result) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, String(result.round + 1)),
          view.sellers.map(({ agent_id: id }) => {
            const price = result.prices[id];
            const hasWon = result.winners.includes(id);
            return el(
              "td",
              { class: hasWon ? "number won" : "number" },
              price === null || price === undefined ? "–" : String(price),
              hasWon && el("span", { class: "gain" }, ` +${result.profits[id]}`),
            );
          }),
          el("td", { class: "number" }, result.market_price === null ? "–" : String(result.market_price)),
        ),
      ),
    ),
  );
}

export function event(data, table) {
  switch (data.event) {
    case "market_opened":
      return t("mk.e.opened", { n: data.sellers.length, rounds: data.max_rounds });
    case "price_submitted":
      return [t("mk.e.price", { name: table.name(data.agent_id), price: data.price }), data.speech && el("span", { class: "says" }, said(data.speech))];
    case "price_missing":
      return t("mk.e.missing", { name: table.name(data.agent_id) });
    case "market_result": {
      const n = data.round + 1;
      if (data.market_price === null) return t("mk.e.none", { n });
      const names = listed(data.winners.map((id) => table.name(id)));
      return [
        el("strong", {}, t("mk.e.result", { n, names, price: data.market_price, each: data.each })),
        Object.entries(data.speeches ?? {}).map(([id, speech]) => el("span", { class: "says" }, said(table.name(id)), ": ", said(speech))),
      ];
    }
    case "market_closed":
      return [el("strong", {}, t("mk.e.closed"))];
    default:
      return null;
  }
}

// What fields and actions are called: [English, Chinese] of the name, then of a hint where one is needed.
export const names = {
  "action.submit_price": ["Name your price", "报价"],
  price: ["Price", "价格"],
  speech: ["What you say with it", "附言"],
  price_range: ["Lowest and highest price", "最低价和最高价"],
  marginal_cost: ["Cost of one customer", "每位顾客的成本"],
  num_customers: ["Customers", "顾客人数"],
  initial_balance: ["Balance at the start", "初始余额"],
  allow_speech: ["Sellers may say something", "允许附言"],
  max_speech: ["Longest speech", "附言最多字符数"],
  simultaneous: ["Prices are sealed", "密封报价"],
  shown_rounds: ["Past rounds shown", "显示的历史轮数"],
};

export const texts = {
  en: {
    "refused.price_out_of_range": "The price is out of range.",
    "mk.round": "Round {n} of {most}",
    "mk.over": "The market is closed.",
    "mk.terms": "Prices {least} to {most}, cost {cost}, {customers} customers.",
    "mk.sealed": "Prices stay sealed until all are in.",
    "mk.turns": "Prices are named in turn.",
    "mk.in": "{n} of {all} prices are in.",
    "mk.balance": "Balance",
    "mk.history": "Prices by round",
    "mk.noprice": "none",
    "mk.round.short": "Round",
    "mk.best": "Lowest",
    "mk.e.opened": "The market opens: {n} sellers, {rounds} rounds.",
    "mk.e.price": "{name} asks {price}.",
    "mk.e.missing": "{name} names no price and sells nothing in this round.",
    "mk.e.result": "Round {n}: {names} at {price}, {each} customers each.",
    "mk.e.none": "Round {n}: nobody names a price, nobody sells.",
    "mk.e.closed": "The market closes.",
  },
  zh: {
    "refused.price_out_of_range": "价格超出范围。",
    "mk.round": "第 {n} 轮，共 {most} 轮",
    "mk.over": "市场已关闭。",
    "mk.terms": "价格 {least} 至 {most}，成本 {cost}，顾客 {customers} 位。",
    "mk.sealed": "报价全部提交后才公开。",
    "mk.turns": "依次报价。",
    "mk.in": "已收到 {n} / {all} 个报价。",
    "mk.balance": "余额",
    "mk.history": "各轮报价",
    "mk.noprice": "无",
    "mk.round.short": "轮",
    "mk.best": "最低价",
    "mk.e.opened": "市场开张：{n} 位卖家，{rounds} 轮。",
    "mk.e.price": "{name} 报价 {price}。",
    "mk.e.missing": "{name} 没有报价，本轮不成交。",
    "mk.e.result": "第 {n} 轮：{names} 以 {price} 成交，各得 {each} 位顾客。",
    "mk.e.none": "第 {n} 轮：没有人报价，没有成交。",
    "mk.e.closed": "市场关闭。",
  },
};
