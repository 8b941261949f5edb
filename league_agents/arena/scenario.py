"""A scenario: the description of one match in a file, from the game to the clock.

Rule: every fault is one ``ConfigError`` that names the key and the allowed values, before any agent is asked. An
unknown key is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from league_agents.arena.decisions import ClockRules
from league_agents.games.entry import check_agent_ids
from league_agents.games.game import Game
from league_agents.games.people import LANGUAGES, LONGEST_NAME, check_names, read_names
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.mistakes import WHOLE, not_one_of, wrong_value
from league_agents.kit.written import PRINTABLE, Words, WrittenMapping, one_line, read_written
from league_agents.kit.yaml_text import LONGEST_TEXT, read_yaml
from league_agents.turns import ClassLoader, InteractionProtocol, load_protocol
from league_agents.turns.match import Match

LARGEST_SEED: Final = 2**64 - 1
_LONGEST_TIME: Final = 30 * 86_400.0
_USUAL: Final = ClockRules()

Seconds = Annotated[float, Field(ge=0, le=_LONGEST_TIME)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


class WrittenClock(WrittenMapping):
    """How long agents may take, and what becomes of those who do not answer."""

    turn_timeout_s: Annotated[float, Field(ge=0.05, le=_LONGEST_TIME)] | None = None
    time_bank_s: Seconds = _USUAL.time_bank.total_seconds()
    max_invalid: Annotated[int, Field(ge=0, le=1_000)] = _USUAL.max_invalid
    max_forfeits: Annotated[int, Field(ge=1, le=1_000_000)] = _USUAL.max_forfeits
    disconnect_grace_s: Seconds = _USUAL.disconnect_grace.total_seconds()
    on_leave: Literal["continue", "abandon"] = "continue"


class WrittenSeat(WrittenMapping):
    """One agent."""

    id: Annotated[str, one_line(64)]
    name: Annotated[str, one_line(LONGEST_NAME), PRINTABLE] | None = None
    agent: Annotated[str, one_line(400)] = "scripted"


class WrittenScenario(WrittenMapping):
    """One match."""

    game: str
    config: Annotated[dict[str, Any], Words("a mapping of the game's keys")] = Field(default_factory=dict)
    agents: Annotated[list[WrittenSeat], Field(max_length=64)]
    seed: Seed | None = None
    lang: Literal["en", "zh"] | None = None
    clock: Any = None
    protocol: Any = None
    topology: Any = None
    flow: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSeat:
    """One agent of a scenario."""

    id: str
    name: str
    """Display name; the id if the file gives none."""

    agent: str
    """What plays there: ``scripted``, ``random``, ``human``, ``open`` …; resolved by the code that starts the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One match, ready to be made."""

    game: str
    """The game's code."""

    config: Mapping[str, Any]
    """The game's configuration, with the seats' names and the language; absent keys have the game's defaults."""

    seats: tuple[ScenarioSeat, ...]
    seed: int | None = None
    """``None`` = the session draws one."""

    lang: str = "en"
    """The language of the match: rules, announcements, words and what a person is asked."""

    clock: ClockRules = field(default_factory=ClockRules)
    interaction: Mapping[str, Any] | None = None
    """``protocol``, ``topology`` and ``flow`` as ``load_protocol`` reads them; ``None`` = the game's own protocol."""

    load_class: ClassLoader | None = field(default=None, compare=False)
    """Loads a user's protocol class; ``None`` if none may be named."""

    @property
    def agent_ids(self) -> tuple[str, ...]:
        return tuple(seat.id for seat in self.seats)

    def new_protocol(self) -> InteractionProtocol | None:
        """A new protocol object; ``None`` if the file names none."""
        if self.interaction is None:
            return None
        return load_protocol(self.interaction, self.agent_ids, load_class=self.load_class)

    def new_match(self, seed: int) -> Match[Any]:
        """A new match. Raises ``ConfigError``."""
        return Match(
            game_of(self.game), config=self.config, agent_ids=self.agent_ids, seed=seed, protocol=self.new_protocol()
        )


def read_scenario(source: str | Path, load_class: ClassLoader | None = None) -> Scenario:
    """A scenario from a file (a ``Path``, or its name) or from YAML text (which has several lines or a brace).

    The match is made once to check it. ``load_class`` lets the scenario name a user's interaction protocol. Raises
    ``ConfigError``, and ``ProtocolError`` for such a protocol that fails at once.
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
    written = read_written(WrittenScenario, mapping, "")
    code, config = written.game, written.config
    game = game_of(code)
    lang = _lang(written, game)
    seats = _seats(written, game.min_agents, game.max_agents)
    found = Scenario(
        game=code,
        config=_config_in_force(config, game, seats, lang),
        seats=seats,
        seed=written.seed,
        lang=lang,
        clock=clock_of(written.clock),
        interaction=_interaction(written),
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


def _interaction(written: WrittenScenario) -> dict[str, Any] | None:
    given = {key: value for key in ("protocol", "topology", "flow") if (value := getattr(written, key)) is not None}
    if given and "protocol" not in given:
        raise ConfigError(next(iter(given)), "needs a protocol: add protocol: {type: …}")
    return given or None


def _lang(written: WrittenScenario, game: Game[Any]) -> str:
    """The language, given at the top level or among the game's keys."""
    inner = written.config.get("lang") or game.config_schema["properties"]["lang"]["default"]
    if inner not in LANGUAGES:
        raise not_one_of("config.lang", LANGUAGES, inner)
    lang = written.lang or str(inner)
    if lang != inner and "lang" in written.config:
        raise ConfigError("lang", f"is {lang}, and config.lang is {inner}; keep one of the two")
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


def _seats(written: WrittenScenario, least: int, most: int) -> tuple[ScenarioSeat, ...]:
    try:
        names = read_names(written.config.get("names"))
    except ConfigError as error:
        raise _moved(f"config.{error.path}", error) from None
    if not least <= len(written.agents) <= most:
        raise wrong_value("agents", f"a list of {least} to {most} agents, each with an id", written.agents)
    seats = []
    for place, seat in enumerate(written.agents):
        name = seat.name or names.get(seat.id, seat.id)
        if name != names.get(seat.id, name):
            raise ConfigError(f"agents[{place}].name", f"is not config.names.{seat.id}; keep one of the two")
        seats.append(ScenarioSeat(id=seat.id, name=name, agent=seat.agent))
    check_agent_ids([seat.id for seat in seats], least, most)
    return tuple(seats)


def clock_of(written: object) -> ClockRules:
    """The clock of a match; the default for ``None``. A null turn time-out means no clock."""
    clock = read_written(WrittenClock, written, "clock")
    timeout = _USUAL.turn_timeout if clock.turn_timeout_s is None else timedelta(seconds=clock.turn_timeout_s)
    is_unlimited = isinstance(written, Mapping) and written.get("turn_timeout_s", 0) is None
    return ClockRules(
        turn_timeout=None if is_unlimited else timeout,
        time_bank=timedelta(seconds=clock.time_bank_s),
        max_invalid=clock.max_invalid,
        max_forfeits=clock.max_forfeits,
        disconnect_grace=timedelta(seconds=clock.disconnect_grace_s),
        on_leave=clock.on_leave,
    )


def _path_of(source: str | Path) -> Path | None:
    if isinstance(source, Path):
        return source
    return None if "\n" in source or "{" in source else Path(source)


def _moved(path: str, error: ConfigError) -> ConfigError:
    """The same error, with ``path`` as its key."""
    return ConfigError(path, str(error).removeprefix(f"{shortened(error.path)}: "))


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            # The file's size is not asked for: a device has none, and never ends.
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
