// What each game looks like to people. A game that nobody wrote a module for is shown as its view says it.
//
// A module answers: `board(table)` the table as a node; `event(data, table)` a node for one thing that happened, or null
// where the server's own line says it best; `adapt(legal, table)` a form that people like better than the bare schema;
// `ending(table)` what is revealed at the end; `phase(table)` the phase in words. All but `board` may be missing.

import * as any from "./game_any.js";
import * as guessNumber from "./game_guess_number.js";
import * as market from "./game_market.js";
import * as q21 from "./game_q21.js";
import * as undercover from "./game_undercover.js";

const GAMES = { guess_number: guessNumber, market, q21, undercover };

/** The module of a game. */
export function moduleOf(code) {
  return Object.hasOwn(GAMES, code) ? GAMES[code] : any;
}

/** What people are offered where a game is set up; names and the language stand beside it for every game. */
export function setupOf(code, whole) {
  const { names: _names, lang: _lang, ...properties } = whole.properties;
  const schema = { ...whole, properties };
  return moduleOf(code).setup?.(schema) ?? { schema, finish: (config) => config };
}
