"""A scenario: one match as a file says it, from the game to the clock.

Rule: whatever is wrong is one ``ConfigError`` that names the key and says what is allowed, before anybody is asked
anything. A key that nobody reads is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from league_agents.arena.decisions import ClockRules
from league_agents.games.entry import check_agent_ids
from league_agents.games.game import Game
from league_agents.games.people import LANGUAGES, LONGEST_NAME, check_names, read_names
from league_agents.games.registry import game_codes, game_of
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.keys import WHOLE, Keys
from league_agents.kit.yaml_text import LONGEST_TEXT, read_yaml
from league_agents.turns import ClassLoader, InteractionProtocol, load_protocol
from league_agents.turns.match import Match

SCENARIO_KEYS: Final = ("game", "config", "agents", "seed", "lang", "clock", "protocol", "topology", "flow")
_INTERACTION_KEYS: Final = ("protocol", "topology", "flow")
_AGENT_KEYS: Final = ("id", "name", "agent")
_CLOCK_KEYS: Final = (
    "turn_timeout_s",
    "time_bank_s",
    "max_invalid",
    "max_forfeits",
    "disconnect_grace_s",
    "on_leave",
)

LARGEST_SEED: Final = 2**64 - 1
_LONGEST_TIME: Final = 30 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSeat:
    """One agent of a scenario."""

    id: str
    name: str
    """For people; the id where the file gives none."""

    agent: str
    """What plays there: ``scripted``, ``random``, ``human``, ``open`` …; whoever starts the match knows the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One match, ready to be made."""

    game: str
    """The game's code."""

    config: Mapping[str, Any]
    """Of the game, the names of the seats and the language included; what is absent is as the game has it."""

    seats: tuple[ScenarioSeat, ...]
    seed: int | None = None
    """``None`` = the session draws one."""

    lang: str = "en"
    """The language of the match: rules, announcements, words and what a person is asked."""

    clock: ClockRules = field(default_factory=ClockRules)
    interaction: Mapping[str, Any] | None = None
    """``protocol``, ``topology`` and ``flow`` as ``load_protocol`` reads them; ``None`` = the game's own protocol."""

    load_class: ClassLoader | None = field(default=None, compare=False)
    """Finds a protocol class of the user's; ``None`` = no such class may be named."""

    @property
    def agent_ids(self) -> tuple[str, ...]:
        return tuple(seat.id for seat in self.seats)

    def new_protocol(self) -> InteractionProtocol | None:
        """A fresh protocol; ``None`` where the file names none."""
        if self.interaction is None:
            return None
        return load_protocol(self.interaction, self.agent_ids, load_class=self.load_class)

    def new_match(self, seed: int) -> Match[Any]:
        """A fresh match. Raises ``ConfigError``."""
        return Match(
            game_of(self.game), config=self.config, agent_ids=self.agent_ids, seed=seed, protocol=self.new_protocol()
        )


def read_scenario(source: str | Path, load_class: ClassLoader | None = None) -> Scenario:
    """A scenario from a file (a ``Path``, or its name) or from YAML text (which has several lines or a brace).

    Everything is tried out: the match that it describes can be made. ``load_class`` lets it name an interaction
    protocol of the user's. Raises ``ConfigError``, and ``ProtocolError`` for such a protocol that fails at once.
    """
    path = _path_of(source)
    if path is None:
        return scenario_of(read_yaml(str(source), "scenario"), load_class)
    try:
        return scenario_of(read_yaml(_text_of(path), str(path)), load_class)
    except ConfigError as error:
        if error.path == str(path):
            raise
        raise _moved(f"{path}: {error.path}", error) from None


def scenario_of(mapping: Mapping[str, Any], load_class: ClassLoader | None = None) -> Scenario:
    """A scenario from a mapping. Raises as ``read_scenario`` does, with the key path."""
    keys = Keys(mapping, "", SCENARIO_KEYS)
    code = keys.word("game", game_codes(), None)
    config = keys.at("config") if "config" in keys else {}
    if not isinstance(config, Mapping):
        raise keys.wrong("config", "a mapping of the game's keys", config)
    game = game_of(code)
    lang = _lang(keys, config, game)
    seats = _seats(keys, config, game.min_agents, game.max_agents)
    found = Scenario(
        game=code,
        config=_config_in_force(config, game, seats, lang),
        seats=seats,
        seed=keys.integer("seed", 0, 0, LARGEST_SEED) if "seed" in keys else None,
        lang=lang,
        clock=_clock(keys.section("clock", _CLOCK_KEYS)) if "clock" in keys else ClockRules(),
        interaction=_interaction(keys),
        load_class=load_class,
    )
    try:
        game.setup(found.config, found.agent_ids, found.seed or 0)
    except ConfigError as error:
        if error.path.startswith(("agents", "config.")):
            raise
        raise (_moved("config", error) if error.path == WHOLE else _moved(f"config.{error.path}", error)) from None
    found.new_match(found.seed or 0)
    return found


def _interaction(keys: Keys) -> dict[str, Any] | None:
    given = {key: keys.at(key) for key in _INTERACTION_KEYS if key in keys}
    if given and "protocol" not in given:
        raise keys.error(next(iter(given)), "needs a protocol: add protocol: {type: …}")
    return given or None


def _lang(keys: Keys, config: Mapping[str, Any], game: Game[Any]) -> str:
    """The language, which may stand at the top or among the game's keys."""
    usual = str(game.config_schema["properties"]["lang"]["default"])
    inner = Keys({"lang": config.get("lang", usual)}, "config", ("lang",)).word("lang", LANGUAGES, usual)
    lang = keys.word("lang", LANGUAGES, inner)
    if lang != inner and "lang" in config:
        raise keys.error("lang", f"is {lang}, and config.lang is {inner}; keep one of the two")
    return lang


def _config_in_force(
    config: Mapping[str, Any], game: Game[Any], seats: Sequence[ScenarioSeat], lang: str
) -> dict[str, Any]:
    found = dict(config)
    if lang != game.config_schema["properties"]["lang"]["default"]:
        found["lang"] = lang
    names = {**(config.get("names") or {}), **{seat.id: seat.name for seat in seats if seat.name != seat.id}}
    ids = [seat.id for seat in seats]
    try:
        check_names(names, ids)
    except ConfigError as error:
        named = error.path.removeprefix("names.")
        raise _moved(f"agents[{ids.index(named)}].name" if named in ids else "config.names", error) from None
    return {**found, "names": names} if names else found


def _seats(keys: Keys, config: Mapping[str, Any], least: int, most: int) -> tuple[ScenarioSeat, ...]:
    value = keys.at("agents")
    try:
        names = read_names(config.get("names"))
    except ConfigError as error:
        raise _moved(f"config.{error.path}", error) from None
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise keys.wrong("agents", f"a list of {least} to {most} agents, each with an id", value)
    seats = []
    for place, each in enumerate(value):
        seat = Keys(each, f"agents[{place}]", _AGENT_KEYS)
        identity = seat.text("id", None, most=64)
        name = seat.text("name", names.get(identity, identity), most=LONGEST_NAME)
        if not name.isprintable():
            raise seat.wrong("name", "one line of printable characters", name)
        if name != names.get(identity, name):
            raise seat.error("name", f"is not config.names.{identity}; keep one of the two")
        seats.append(ScenarioSeat(id=identity, name=name, agent=seat.text("agent", "scripted", most=400)))
    check_agent_ids([seat.id for seat in seats], least, most)
    return tuple(seats)


def _clock(keys: Keys) -> ClockRules:
    default = ClockRules()
    is_unlimited = "turn_timeout_s" in keys and keys.at("turn_timeout_s") is None
    bank = keys.number("time_bank_s", default.time_bank.total_seconds(), 0, _LONGEST_TIME)
    grace = keys.number("disconnect_grace_s", default.disconnect_grace.total_seconds(), 0, _LONGEST_TIME)
    return ClockRules(
        turn_timeout=None
        if is_unlimited
        else timedelta(seconds=keys.number("turn_timeout_s", 60, 0.05, _LONGEST_TIME)),
        time_bank=timedelta(seconds=bank),
        max_invalid=keys.integer("max_invalid", default.max_invalid, 0, 1_000),
        max_forfeits=keys.integer("max_forfeits", default.max_forfeits, 1, 1_000_000),
        disconnect_grace=timedelta(seconds=grace),
        on_leave="abandon" if keys.word("on_leave", ("continue", "abandon"), "continue") == "abandon" else "continue",
    )


def _path_of(source: str | Path) -> Path | None:
    if isinstance(source, Path):
        return source
    return None if "\n" in source or "{" in source else Path(source)


def _moved(path: str, error: ConfigError) -> ConfigError:
    """The same fault, its place seen from further outside."""
    return ConfigError(path, str(error).removeprefix(f"{shortened(error.path)}: "))


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            # Not by what the system says of its size: a device has none, and never ends.
            found = file.read(LONGEST_TEXT + 1)
        if len(found) > LONGEST_TEXT:
            raise ConfigError(str(path), f"is larger than {LONGEST_TEXT} bytes; is it the right file?")
        return found.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text; save it as UTF-8") from None


def match_of(
    game: Game[Any],
    config: Mapping[str, Any],
    agents: Sequence[str],
    seed: int,
    interaction: Mapping[str, Any] | None,
    load_class: ClassLoader | None = None,
) -> Match[Any]:
    """The match that the header of a transcript describes. Raises ``ConfigError``."""
    protocol = None if interaction is None else load_protocol(interaction, agents, load_class=load_class)
    return Match(game, config=config, agent_ids=agents, seed=seed, protocol=protocol)
