// The end of a match: who has won, what was hidden, the scores and the transcript.

import { add, announce, el, fill } from "./dom.js";
import { download, transcript } from "./download.js";
import "./gallery_texts.js";
import { moduleOf } from "./games.js";
import { listed, t } from "./texts.js";

export class Ending {
  constructor(page) {
    this.page = page;
    this.node = el("section", { class: "result", hidden: true });
    this.scores = null;
    /** They stand in the transcript only. */
  }

  show(table, module) {
    const { status } = this.page.state;
    this.node.hidden = !this.page.isOver;
    if (this.node.hidden || !this.page.changed("result", [this.page.state.winners, status, this.scores])) return;
    const { winners } = this.page.state;
    const isFirst = this.node.childElementCount === 0;
    const title = el("h2", { tabindex: "-1" }, t(status === "abandoned" ? "outcome.abandoned" : "outcome.title"));
    fill(this.node, title);
    if (status === "abandoned") {
      add(this.node, el("p", {}, t("outcome.abandoned.told")));
    } else {
      const won = winners.length === 0 ? t("outcome.draw") : winners.length === this.page.state.agents.length && winners.length > 1 ? t("outcome.won.all") : t("outcome.won", { names: listed(winners.map((id) => table.name(id))) });
      add(this.node, [
        !this.page.isWatching && el("p", { class: "big" }, t(winners.includes(this.page.agentId) ? "outcome.you.won" : "outcome.you.lost")),
        el("p", {}, won),
      ]);
      try {
        add(this.node, module.ending?.(table));
      } catch (error) {
        console.warn(error);
      }
      add(this.node, this.scores ? this.scoreList(table) : null);
    }
    const save = el("button", { type: "button" }, t("transcript"));
    save.addEventListener("click", () => download(save, this.page.matchId, "full", this.page.token, this.page.notice));
    add(this.node, el("div", { class: "buttons" }, el("a", { class: "button primary", href: `#/new/${encodeURIComponent(this.page.told.game)}` }, t("again")), el("a", { class: "button", href: `/replay/${encodeURIComponent(this.page.matchId)}` }, t("replay")), save, el("a", { class: "button", href: "#/" }, t("to.lobby"))));
    if (isFirst) {
      announce([...this.node.querySelectorAll("h2, p")].map((each) => each.textContent).join(" "), true);
      if (document.activeElement === document.body || document.activeElement === this.page.title) title.focus();
      this.loadScores();
    }
  }

  scoreList(table) {
    return el(
      "ul",
      { class: "scores", "aria-label": t("scores") },
      Object.entries(this.scores).map(([id, score]) =>
        el("li", {}, table.person(id), el("span", { class: "score" }, String(Math.round(100 * Number(score)) / 100)), this.page.state.winners.includes(id) && el("span", { class: "tag good" }, t("winner"))),
      ),
    );
  }

  async loadScores() {
    try {
      const lines = (await transcript(this.page.matchId, "own", this.page.token)).trim().split("\n");
      const last = JSON.parse(lines.at(-1));
      if (this.page.isClosed || last.line !== "outcome" || Object.keys(last.scores ?? {}).length === 0) return;
      this.scores = last.scores;
      this.show(this.page.table(), moduleOf(this.page.told.game));
    } catch {
      // The scores are a part of the transcript; without it the winners are told.
    }
  }
}
