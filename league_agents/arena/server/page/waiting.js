// Before a match starts: who is there, a form to take a seat, and a link for the others.

import { el, fill } from "./dom.js";
import { keepSeat, preferred, prefer } from "./memory.js";
import { failure, linkBox } from "./parts.js";
import { gameName, t } from "./texts.js";
import { lobby, why } from "./wire.js";

export class Waiting {
  constructor(page) {
    this.page = page;
    this.node = el("section", { class: "card", hidden: true });
    this.joining = null;
  }

  /** Learn from the lobby who has come. */
  async look() {
    if (!this.page.changed("told", this.page.state.agents)) return;
    try {
      this.page.told = await lobby.match(this.page.matchId);
    } catch {
      return;
    }
    if (!this.page.isClosed && this.page.state?.status === "waiting") this.show();
  }

  show() {
    const isWaiting = this.page.state.status === "waiting";
    this.node.hidden = !isWaiting;
    if (!isWaiting || !this.page.changed("lobby", [this.page.state.agents, this.page.told.seats, this.page.isWatching])) return;
    const free = this.page.told.seats?.filter((seat) => !seat.is_taken);
    const taken = this.page.state.agents.length;
    const told = free === undefined ? t("waiting.some", { n: taken }) : t("waiting.taken", { n: taken, free: free.length });
    const address = `${location.origin}/#/match/${encodeURIComponent(this.page.matchId)}`;
    if (!this.page.isWatching) {
      if (this.node.contains(document.activeElement)) {
        this.node.querySelector(".told").textContent = told;
        return;
      }
      fill(this.node, el("h2", {}, t("invite")), el("p", { class: "told" }, told), el("p", {}, t("invite.told")), linkBox(address, t("invite.watch")));
      return;
    }
    if (this.joining) {
      this.node.querySelector(".told").textContent = told;
      return;
    }
    this.joining = this.joinForm();
    fill(this.node, el("h2", {}, t("waiting.join")), el("p", {}, t("waiting.join.told", { game: gameName(this.page.told.game) })), el("p", { class: "told" }, told), this.joining, linkBox(address, t("invite.watch")));
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
        const { agent_id: agentId, token } = await lobby.join(this.page.matchId, { name: name.value.trim() });
        keepSeat(this.page.matchId, { agent_id: agentId, token });
        if (this.page.isClosed) return;
        this.page.seat = { agent_id: agentId, token };
        this.joining = null;
        this.page.told = await lobby.match(this.page.matchId);
        if (!this.page.isClosed) this.page.open(this.page.seat);
      } catch (refused) {
        error.textContent = t("join.failed", { why: why(refused) });
        error.hidden = false;
        button.disabled = false;
      }
    });
    return node;
  }

  /** Nobody watches this match, but there may be a seat. */
  closed() {
    if (this.page.told.status !== "waiting" || this.page.told.open_seats === 0) {
      this.page.end(failure(t("closed.title"), t("closed.told")));
      return;
    }
    fill(
      this.page.main,
      el("h1", { tabindex: "-1" }, gameName(this.page.told.game)),
      el("section", { class: "card" }, el("h2", {}, t("waiting.join")), el("p", {}, t("waiting.join.told", { game: gameName(this.page.told.game) })), this.joinForm()),
    );
  }
}
