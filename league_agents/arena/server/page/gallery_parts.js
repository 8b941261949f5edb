// Pieces that the gallery, the replays and the leaderboard share.

import { el, plain } from "./dom.js";
import { lang, listed, t } from "./texts.js";

/** The ways between these pages. */
export function ways(current) {
  const places = [["gallery", "/gallery"], ["board", "/leaderboard"]];
  return el(
    "nav",
    { class: "ways", "aria-label": t("gallery") },
    el("a", { href: "/" }, t("lobby")),
    places.map(([key, href]) => el("a", { href, "aria-current": key === current ? "page" : null }, t(key))),
  );
}

/** When something was, in the reader's language. */
export function when(instant) {
  return new Intl.DateTimeFormat(lang(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(instant));
}

/** Who won a finished match, in a sentence. */
export function won(match) {
  const names = match.seats.filter((seat) => match.winners.includes(seat.agent_id)).map((seat) => plain(seat.name));
  if (names.length === 0) return t("outcome.draw");
  return names.length === match.seats.length && names.length > 1 ? t("outcome.won.all") : t("outcome.won", { names: listed(names) });
}
