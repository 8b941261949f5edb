// What is asked of the reader: the forms of the legal actions, what is sent, and what the server says to it.
//
// Rule: a form that is being filled in is not touched while what it asks for stays the same.

import { announce, el, fill, plain } from "./dom.js";
import { Form } from "./forms.js";
import { draftOf, keepDraft } from "./memory.js";
import { has, listed, nameOf, t } from "./texts.js";

const SECONDARY = new Set(["reasoning", "confidence", "rationale"]);
const LOST = new Set(["too_late", "not_pending", "match_over"]);

/** The button that fills a form with what a game has prepared. */
function starters(onTaken) {
  const button = el("button", { type: "button", on: { click: onTaken } }, t("form.start"));
  return el("div", { class: "buttons" }, button, el("span", { class: "hint" }, t("form.start.told")));
}

/** A prepared value, with what was written in its place. */
function together(prepared, written) {
  if (Array.isArray(prepared)) return prepared.map((each, place) => together(each, written?.[place]));
  if (prepared !== null && typeof prepared === "object") {
    return Object.fromEntries(Object.entries(prepared).map(([key, each]) => [key, together(each, written?.[key])]));
  }
  return written === undefined || written === null || written === "" ? prepared : written;
}

export class Turn {
  constructor(page) {
    this.page = page;
    this.node = el("section", { class: "turn", hidden: true });
    this.key = null;
    this.forms = null;
    this.isSending = false;
    this.hasPlan = true;
  }

  /** Whether something else is asked than before. */
  isNew(legal) {
    const key = JSON.stringify([legal, this.page.state.turn, this.page.state.phase]);
    if (this.key === key) return false;
    this.key = key;
    return true;
  }

  show(table, module) {
    const { legal, deadline } = this.page.data;
    const { isOver } = this.page;
    const isMine = !isOver && legal.length > 0;
    this.page.clock.set(isMine ? deadline : null);
    const waiting = this.page.data.active_agent_ids.filter((id) => id !== this.page.agentId);
    if (!isMine) {
      const had = this.node.contains(document.activeElement);
      this.forms = null;
      this.key = null;
      this.node.hidden = isOver || this.page.state.status !== "started";
      this.node.classList.remove("mine");
      if (this.node.hidden) fill(this.node);
      const names = waiting.map((id) => table.name(id));
      if (!this.node.hidden && (this.waitingFor !== listed(names) || had || !this.node.querySelector(".waiting-for"))) {
        this.waitingFor = listed(names);
        fill(this.node, el("p", { class: "waiting-for" }, names.length > 0 ? t("turn.wait", { names: listed(names) }) : t("turn.wait.nobody")));
      }
      if (had) this.page.title.focus();
      return;
    }
    if (!this.isNew(legal)) return;
    const had = document.activeElement === document.body || this.node.contains(document.activeElement) || document.activeElement === this.page.title;
    this.node.hidden = false;
    const planned = this.hasPlan ? module.planned?.(legal, table) : undefined;
    this.hasPlan = true;
    if (planned) {
      this.forms = null;
      this.sendPlanned(planned);
      return;
    }
    this.node.classList.add("mine");
    this.showForms(table, module, legal);
    announce(t("turn.told", { what: listed(legal.map(({ type }) => nameOf(type, "action"))) }), true);
    if (had) this.node.querySelector("h2").focus();
  }

  /** Send what the reader has decided in an earlier form. If it is refused, its form is shown as ever. */
  async sendPlanned({ type, data }) {
    fill(this.node, el("p", { class: "waiting-for" }, t("turn.sent")));
    const line = this.page.line;
    const answer = await this.send(line, type, data);
    this.key = null;
    if (this.page.isClosed || line !== this.page.line) return;
    this.hasPlan = answer.action_response?.status === "success";
    this.page.ask();
  }

  async send(line, type, data) {
    this.isSending = true;
    const answer = await line.request({
      type: "perform_action",
      ...this.page.heading(),
      action: { version: this.page.state.state.version, type, data },
    });
    this.isSending = false;
    return answer;
  }

  showForms(table, module, legal) {
    const draftKey = `${this.page.matchId}/${this.page.agentId}/${JSON.stringify(legal)}`;
    this.forms = legal.map((each) => this.formFor(each, table, module));
    const kept = draftOf(draftKey);
    this.forms.forEach((entry, place) => {
      entry.form.restore(kept?.[place]);
      entry.node.addEventListener("input", () => keepDraft(draftKey, this.forms?.map(({ form }) => form.snapshot()) ?? null));
    });
    fill(
      this.node,
      el("h2", { tabindex: "-1" }, t("turn")),
      this.forms.length > 1 && el("p", { class: "muted" }, t("turn.several")),
      el("div", { class: "actions" }, this.forms.map(({ node }) => node)),
    );
  }

  formFor(legal, table, module) {
    let adapted = null;
    try {
      adapted = module.adapt?.(legal, table) ?? null;
    } catch (error) {
      console.warn(error);
    }
    const name = nameOf(legal.type, "action");
    const made = (values) =>
      new Form(adapted?.schema ?? legal.schema, {
        values,
        within: legal.type,
        hooks: adapted ?? {},
        keys: table.order,
        folded: (field) => (SECONDARY.has(field) ? true : null),
      });
    const form = made();
    const refusal = el("div", { class: "refusal", role: "alert", hidden: true });
    const isBare = form.controls().length === 0;
    const button = el("button", { type: "submit", class: isBare && table.order.length ? "" : "primary" }, isBare ? name : t("form.send"));
    const node = el(
      "form",
      { class: "action", novalidate: true, "aria-label": name },
      !isBare && el("h3", {}, name, adapted?.title && [" – ", adapted.title]),
      refusal,
      adapted?.starters && starters(() => start()),
      form.node,
      el("div", { class: "buttons" }, button),
    );
    const entry = { legal, form, node, refusal, button, adapted };
    const start = () => {
      // What was typed stays.
      const begun = made(together(adapted.starters, entry.form.read().value));
      entry.form.node.replaceWith(begun.node);
      entry.form = begun;
      begun.focus();
      node.dispatchEvent(new Event("input"));
    };
    node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(entry);
    });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) {
        event.preventDefault();
        node.requestSubmit();
      }
    });
    return entry;
  }

  async submit(entry) {
    if (this.isSending) return;
    const { form, legal, adapted, refusal, button } = entry;
    refusal.hidden = true;
    this.page.notice.hidden = true;
    const { value, errors } = form.read();
    form.show(errors);
    if (errors.length > 0) return;
    const doubts = adapted?.doubts?.(value) ?? [];
    const doubted = JSON.stringify(doubts);
    if (doubts.length > 0 && entry.doubted !== doubted) {
      // Sent the second time, if it is still so.
      entry.doubted = doubted;
      form.show(doubts);
      fill(refusal, t("form.warned"));
      refusal.hidden = false;
      button.textContent = t("form.anyway");
      return;
    }
    const label = button.textContent;
    button.setAttribute("aria-disabled", "true");
    button.textContent = t("turn.sent");
    const data = adapted?.finish ? adapted.finish(value) : value;
    const line = this.page.line;
    const answer = await this.send(line, legal.type, data);
    button.removeAttribute("aria-disabled");
    button.textContent = label;
    if (this.page.isClosed || line !== this.page.line) return;
    const response = answer.action_response ?? { status: "error", message: answer.error?.message ?? "", data: answer.error?.data ?? {} };
    if (response.status === "success") {
      keepDraft("", null);
      announce(t("turn.taken", { what: nameOf(legal.type, "action") }));
    } else {
      this.showRefusal(entry, response);
    }
    // The same decision may be asked again with the same words: only its number tells.
    if (response.status === "success") this.key = null;
    this.page.ask();
  }

  showRefusal(entry, { message, data = {} }) {
    const { form, refusal, adapted } = entry;
    const left = data.attempts_left;
    const isOver = left === 0 || LOST.has(data.code);
    const told = [
      el("strong", {}, `${t("refused.title")}: `),
      el("span", {}, has(`refused.${data.code}`) ? t(`refused.${data.code}`) : plain(message)),
      " ",
      typeof left === "number" && el("span", {}, left > 0 ? t("refused.left", { n: left }) : t("refused.last")),
    ];
    if (isOver) {
      // The form is about to go away; its refusal stays.
      fill(this.page.notice, told);
      this.page.notice.hidden = false;
      announce(this.page.notice.textContent, true);
      return;
    }
    const errors = (Array.isArray(data.errors) ? data.errors : []).map((each) => ({
      path: adapted?.path ? adapted.path(String(each.path ?? "")) : String(each.path ?? ""),
      message: plain(each.message),
    }));
    if (errors.length > 0) form.show(errors);
    else form.focus();
    fill(refusal, told);
    refusal.hidden = false;
  }
}
