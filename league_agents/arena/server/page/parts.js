// Pieces of the page that the lobby and the matches share.

import { el, fill, said } from "./dom.js";
import { t } from "./texts.js";

/** A seat's number in its colour, and who sits there. */
export function personOf(number, name) {
  return el(
    "span",
    { class: "person" },
    el("span", { class: "seat", data: { seat: String(((number - 1) % 12) + 1) } }, String(number)),
    said(name, { class: "name" }),
  );
}

/** A link with a button that copies it. */
export function linkBox(address, label) {
  const input = el("input", { type: "text", readonly: true, value: address, "aria-label": label, class: "link", on: { focus: () => input.select() } });
  const told = el("span", { class: "muted", role: "status" });
  const copy = el("button", { type: "button", class: "quiet" }, t("copy"));
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(address);
      told.textContent = t("copied");
    } catch {
      input.focus();
      told.textContent = t("copy.failed");
    }
  });
  return el("div", { class: "link-box" }, input, copy, told);
}

/** A question before something that cannot be undone. */
export function sure(title, told, yes) {
  return new Promise((answer) => {
    const dialog = el("dialog", { "aria-labelledby": "sure-title" });
    const close = (value) => {
      dialog.close();
      dialog.remove();
      answer(value);
    };
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      close(false);
    });
    fill(
      dialog,
      el("h2", { id: "sure-title" }, title),
      el("p", {}, told),
      el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", class: "danger", on: { click: () => close(true) } }, yes),
        el("button", { type: "button", on: { click: () => close(false) } }, t("leave.no")),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("button:last-child").focus();
  });
}

/** The way back from what did not work. */
export function failure(title, told, ...buttons) {
  return el(
    "section",
    { class: "card failure", role: "alert" },
    el("h1", { tabindex: "-1" }, title),
    el("p", {}, told),
    el("div", { class: "buttons" }, buttons, el("a", { class: "button", href: "#/" }, t("to.lobby"))),
  );
}
