// What this browser keeps: seats for as long as the tab lives, the language and the name for longer.
//
// Rule: a token never leaves the session's storage but for the server that gave it. A browser that refuses storage
// still plays; it only forgets on reload.

const SEATS = "arena-seats";
const DRAFTS = "arena-draft";

function read(storage, key) {
  try {
    return JSON.parse(window[storage].getItem(key) ?? "null");
  } catch {
    return null;
  }
}

function write(storage, key, value) {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, JSON.stringify(value));
  } catch {
    // Full or forbidden: the page goes on without it.
  }
}

const held = { seats: null, draft: null };

function seats() {
  held.seats ??= read("sessionStorage", SEATS) ?? {};
  return held.seats;
}

/** {agent_id, token} of a match, or null. */
export function seatIn(matchId) {
  const found = Object.hasOwn(seats(), matchId) ? seats()[matchId] : null;
  return found && typeof found.token === "string" && typeof found.agent_id === "string" ? found : null;
}

export function keepSeat(matchId, seat) {
  seats()[matchId] = seat;
  write("sessionStorage", SEATS, seats());
}

export function dropSeat(matchId) {
  delete seats()[matchId];
  write("sessionStorage", SEATS, seats());
}

/** What was typed into the form of one decision. */
export function draftOf(key) {
  held.draft ??= read("sessionStorage", DRAFTS);
  return held.draft?.key === key && Array.isArray(held.draft.values) ? held.draft.values : null;
}

export function keepDraft(key, values) {
  held.draft = values === null ? null : { key, values };
  write("sessionStorage", DRAFTS, held.draft);
}

export function preferred(name) {
  return read("localStorage", `arena-${name}`);
}

export function prefer(name, value) {
  write("localStorage", `arena-${name}`, value);
}
