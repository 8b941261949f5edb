// The two ways to the server: requests over HTTP, and one socket for each match that is open here.
//
// Rule 1: a request that may have been lost is sent again with the same `request_id`; the server acts once.
// Rule 2: a socket that breaks is opened again, each time after a longer pause, until it is closed on purpose.

import { has, t } from "./texts.js";

const PAUSES_S = [0.4, 1, 2, 4, 8, 10];
const ANSWER_WITHIN_MS = 15_000;
const NO_SUCH_TOKEN = 4401;

/** A refusal of the server, or no answer at all (status 0). */
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** How far the server's clock is ahead of this one: between these, in milliseconds. Each answer narrows it down. */
const ahead = { least: -Infinity, most: Infinity };

/** The server's time in milliseconds. */
export function serverNow() {
  return Date.now() + (Number.isFinite(ahead.least) ? (ahead.least + ahead.most) / 2 : 0);
}

/** The server said this time, between the sending of a question and now; `unit`: how much older it may have been. */
function tell(time, sentAt, unit) {
  const then = Date.parse(time ?? "");
  if (!Number.isFinite(then)) return;
  const least = then - Date.now();
  const most = then + unit - sentAt;
  if (least > ahead.most || most < ahead.least) [ahead.least, ahead.most] = [least, most];
  else [ahead.least, ahead.most] = [Math.max(ahead.least, least), Math.min(ahead.most, most)];
}

function refusalOf(status, found) {
  const inner = found?.error && typeof found.error === "object" ? found.error : found;
  const code = inner?.data?.code ?? inner?.code ?? "";
  const message = inner?.message ?? (typeof found?.error === "string" ? found.error : "");
  if (status === 429) return new Refused(status, "rate_limited", t("error.limit"));
  return new Refused(status, String(code), String(message || t("error.unknown")));
}

/** The JSON that the server answers. Throws `Refused`. */
export async function ask(method, path, { body, token, as = "json" } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const sentAt = Date.now();
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch {
    throw new Refused(0, "network", t("error.network"));
  }
  // Whole seconds, made anew once a second.
  tell(response.headers.get("Date"), sentAt, 2000);
  let text;
  try {
    text = await response.text();
  } catch {
    throw new Refused(0, "network", t("error.network"));
  }
  let found = null;
  try {
    if (as === "json" || !response.ok) found = JSON.parse(text);
  } catch {
    if (response.ok) throw new Refused(response.status, "malformed_json", t("error.unknown"));
  }
  if (!response.ok) throw refusalOf(response.status, found);
  return as === "json" ? found : text;
}

const at = (matchId, what) => `/matches/${encodeURIComponent(matchId)}${what}`;

export const lobby = {
  games: () => ask("GET", "/games"),
  matches: () => ask("GET", "/matches"),
  match: (id) => ask("GET", at(id, "")),
  open: (body) => ask("POST", "/matches", { body }),
  join: (id, body) => ask("POST", at(id, "/join"), { body: { ...body, type: "human" } }),
  watch: (id) => ask("POST", at(id, "/watch"), { body: {} }),
  leave: (id, token) => ask("POST", at(id, "/leave"), { token, body: {} }),
};

/** The words for a refusal that the reader's language has; else the server's own. */
export function why(refused) {
  return has(`refused.${refused.code}`) ? t(`refused.${refused.code}`) : refused.message;
}

/**
 * The socket of one seat or spectator.
 *
 * `on`: heading() the match and who asks, ready(), push(message), lost(seconds until the next try), refused(code) where the token opens nothing any more;
 * `after()`: the number of the last push that is known here, so that those which were missed are sent again.
 */
export class Line {
  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.failures = 0;
    this.isReady = false;
    this.isClosed = false;
    this.waiting = new Map();
    this.wake = () => {
      if (document.visibilityState === "visible") this.retry();
    };
    window.addEventListener("online", this.wake);
    document.addEventListener("visibilitychange", this.wake);
    this.open();
  }

  open() {
    if (this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = (this.socket = new WebSocket(`${scheme}//${location.host}/ws`));
    let sentAt = Date.now();
    socket.addEventListener("open", () => {
      sentAt = Date.now();
      const shown = { token: this.token, after: this.on.after() };
      socket.send(JSON.stringify({ version: "1.0.0", type: "authenticate", ...this.on.heading(), ...shown }));
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.socket && !this.isClosed) this.heard(data, sentAt);
    });
    socket.addEventListener("close", ({ code }) => {
      if (socket === this.socket && !this.isClosed) this.broke(code);
    });
  }

  heard(data, sentAt) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (message.type === "authenticated") {
      tell(message.now, sentAt, 1);
      this.isReady = true;
      this.failures = 0;
      for (const { envelope } of this.waiting.values()) this.send(envelope);
      this.on.ready();
      return;
    }
    if (message.type === "push_message") {
      this.on.push(message.message_response);
      return;
    }
    const refusal = message.type === "error" ? message.error?.data : undefined;
    const asked = this.waiting.get(message.request_id);
    if (refusal?.code === "rate_limited" && asked !== undefined) {
      setTimeout(() => this.isReady && this.waiting.has(message.request_id) && this.send(asked.envelope), 1000 * (refusal.retry_after_s || 1));
    } else if (asked !== undefined) {
      this.waiting.delete(message.request_id);
      asked.answer(message);
    } else if (refusal?.request_type === "authenticate") {
      if (refusal.code === "rate_limited") this.socket.close();
      else this.refuse(refusal.code);
    }
  }

  send(envelope) {
    this.socket.send(JSON.stringify(envelope));
  }

  broke(code) {
    this.isReady = false;
    if (code === NO_SUCH_TOKEN) {
      this.refuse("unauthorized");
      return;
    }
    const pause = PAUSES_S[Math.min(this.failures, PAUSES_S.length - 1)] * (0.75 + Math.random() / 2);
    this.failures += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), 1000 * pause);
    this.on.lost(pause);
  }

  refuse(code) {
    this.close();
    this.on.refused(code);
  }

  /** Do not wait for the pause to end. */
  retry() {
    if (this.timer !== undefined && !this.isClosed && !this.isReady) this.open();
  }

  /** The answer to an envelope, however often the connection breaks in between. */
  request(envelope) {
    const requestId = `r-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`;
    const whole = { version: "1.0.0", ...envelope, request_id: requestId };
    return new Promise((answer) => {
      this.waiting.set(requestId, { envelope: whole, answer });
      if (this.isReady) this.send(whole);
    });
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    window.removeEventListener("online", this.wake);
    document.removeEventListener("visibilitychange", this.wake);
    this.socket?.close();
    this.waiting.clear();
  }
}
