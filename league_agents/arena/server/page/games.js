// What each game looks like to people. A game without a script of its own is shown as its view says it.
//
// `game_list.js` is made by the server from the games' declarations; each script is served as `games/CODE.js`. It
// exports: `board(table)` the table as a node; `event(data, table)` a node for one thing that happened, or null where the
// server's own line says it best; `adapt(legal, table)` a form that people like better than the bare schema;
// its `starters` are a prepared value, `doubts(value)` what would cost points, as {path, message}; `planned(legal, table)`
// an action that the reader decided on in an earlier form, or null; `setup(schema)` the same for the configuration; `ending(table)` what is revealed at the end; `phase(table)` the
// phase in words; `mine(table)` what is the reader's own; `seatName(place)` what a seat is called before the match;
// `names` of its fields and `texts` in each language. All but `board` may be missing.

import * as any from "./game_any.js";
import { GAMES } from "./game_list.js";
import { learn } from "./texts.js";

async function load({ has_page: hasPage, code }) {
  if (!hasPage) return any;
  try {
    return await import(`./games/${code}.js`);
  } catch (error) {
    // The script of one game must not take the page from the others.
    console.warn(error);
    return any;
  }
}

const MODULES = new Map();
for (const [game, module] of await Promise.all(GAMES.map(async (game) => [game, await load(game)]))) {
  MODULES.set(game.code, module);
  learn(module);
}

/** The module of a game. */
export function moduleOf(code) {
  return MODULES.get(code) ?? any;
}

/** What the page knows of a game before the server tells its rules. */
export function declared(code) {
  return GAMES.find((game) => game.code === code);
}

/** What people are offered where a game is set up; names and the language stand beside it for every game. */
export function setupOf(code, whole) {
  const { names: _names, lang: _lang, ...properties } = whole.properties;
  const schema = { ...whole, properties };
  return moduleOf(code).setup?.(schema) ?? { schema, finish: (config) => config };
}
