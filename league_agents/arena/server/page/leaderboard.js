// Who wins how often, game by game. What is counted, and how, stands below the tables.

import { el, fill, plain, table } from "./dom.js";
import { ways } from "./gallery_parts.js";
import { gameName, has, lang, t } from "./texts.js";
import { ask, why } from "./wire.js";

export class LeaderboardPage {
  constructor(main) {
    this.boards = el("div", { class: "boards" }, el("p", { class: "muted" }, t("loading")));
    fill(
      main,
      ways("board"),
      el("h1", { tabindex: "-1" }, t("board")),
      el("p", { class: "lead" }, t("board.lead")),
      this.boards,
      el("section", { class: "card" }, el("h2", {}, t("board.how")), ["seats", "guests", "order"].map((each) => el("p", {}, t(`board.how.${each}`)))),
    );
    document.title = `${t("board")} – ${t("arena")}`;
    this.load();
  }

  close() {
    this.isClosed = true;
  }

  async load() {
    try {
      const { games } = await ask("GET", "/leaderboards");
      if (this.isClosed) return;
      const shown = games.filter(({ rows }) => rows.length > 0);
      fill(this.boards, shown.length === 0 ? el("p", { class: "muted" }, t("board.none")) : shown.map(board));
    } catch (refused) {
      if (!this.isClosed) fill(this.boards, el("p", { class: "error" }, t("board.failed", { why: why(refused) })));
    }
  }
}

function percent(share) {
  return new Intl.NumberFormat(lang(), { style: "percent", maximumFractionDigits: 1 }).format(share);
}

function board({ game, matches, left_out: out, rows }) {
  const heads = ["who", "share", "interval", "lots", "seats", "matches"].map((each) => t(`board.${each}`));
  return el(
    "section",
    { class: "board-of" },
    el("h2", {}, gameName(game)),
    table(
      `${t("board")}: ${gameName(game)}`,
      heads,
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, nameOf(row)),
          el("td", {}, percent(row.share)),
          el("td", {}, row.low === null ? t("board.unknown") : interval(row)),
          el("td", {}, percent(row.expected)),
          el("td", {}, String(row.seats)),
          el("td", {}, String(row.matches)),
        ),
      ),
    ),
    el("p", { class: "muted small" }, t("board.note", { n: matches, out })),
  );
}

function interval(row) {
  // The numbers say it; the bar shows it.
  const bar = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 100 10", class: "interval", "aria-hidden": "true", preserveAspectRatio: "none" })) bar.setAttribute(name, value);
  const part = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    bar.append(node);
  };
  part("rect", { class: "ground", x: 0, y: 4, width: 100, height: 2 });
  part("rect", { class: "reach", x: 100 * row.low, y: 2, width: Math.max(1, 100 * (row.high - row.low)), height: 6 });
  part("rect", { class: "lots", x: 100 * row.expected - 0.5, y: 0, width: 1, height: 10 });
  return [el("span", { class: "bounds" }, `${percent(row.low)} – ${percent(row.high)}`), bar];
}

function nameOf({ contender, is_guest: isGuest }) {
  if (isGuest) return t(`board.guest.${contender}`);
  return has(`agent.${contender}`) ? t(`agent.${contender}`) : plain(contender);
}
