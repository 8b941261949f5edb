// The time that is left for a decision, by the server's clock.

import { announce, el } from "./dom.js";
import { t } from "./texts.js";
import { serverNow } from "./wire.js";

const TOLD_AT_S = [60, 30, 10];

export class Clock {
  constructor() {
    this.digits = el("span", { class: "digits" });
    this.bar = el("progress", { max: "1", value: "1", "aria-hidden": "true" });
    this.node = el("div", { class: "clock", role: "timer", "aria-live": "off", hidden: true }, el("span", { class: "clock-label" }, t("clock.left")), " ", this.digits, this.bar);
    this.deadline = null;
    this.timer = setInterval(() => this.show(), 250);
  }

  /** Count down to this instant; null stops. */
  set(deadline) {
    if (deadline === this.deadline) return;
    this.deadline = deadline;
    this.whole = deadline === null ? 0 : Math.max(1, Date.parse(deadline) - serverNow());
    this.told = new Set(TOLD_AT_S.filter((each) => 1000 * each >= this.whole));
    this.show();
  }

  show() {
    this.node.hidden = this.deadline === null;
    if (this.deadline === null) return;
    const left = Math.max(0, Date.parse(this.deadline) - serverNow());
    const seconds = Math.ceil(left / 1000);
    const told = seconds === 0 ? t("clock.up") : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (this.digits.textContent !== told) this.digits.textContent = told;
    this.bar.value = Math.min(1, left / this.whole);
    this.node.classList.toggle("short", seconds <= 10);
    for (const each of TOLD_AT_S) {
      if (seconds <= each && seconds > 0 && !this.told.has(each)) {
        this.told.add(each);
        announce(t("clock.seconds", { n: seconds }), each === 10);
      }
    }
  }

  stop() {
    clearInterval(this.timer);
  }
}
