"""The declaration of a game: everything that the rest of the program knows about one.

Rule 1: a game is one package with one ``GameDeclaration``. Commands, servers, the page, PettingZoo, mail and the
documentation are derived from it; nothing outside the package names the game.
Rule 2: a declaration imports none of its parts. They are named (``module:object``, ``.module:object`` of the package)
and imported by whoever needs one, so a declaration may name parts of layers that the pure rules must not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from league_agents.games.game import Game
from league_agents.games.people import LANGUAGES
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.violation import shown

CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
"""The form of a game's code. It is part of addresses, file names and environment ids."""


ROLE: Final = re.compile(r"[a-z]+")


class DecidingField(Struct, frozen=True, kw_only=True):
    """Locates the field of an action that decides and has few values; PettingZoo numbers these values."""

    path: tuple[str, ...]
    """Keys from the action's data down to the field."""

    values: str
    """Reference to a function ``(config, agent_ids) -> sequence`` of all values that the field can have in a match."""


class GameAgents(Struct, frozen=True, kw_only=True):
    """Agents that only this game has, besides those that play every game."""

    names: tuple[str, ...] = ()
    """Names under which the agents can be chosen, such as ``offline``."""

    make: str | None = None
    """Reference to a function ``(app.agent_wanted.AgentWanted) -> agent or None``, called before any other maker: it
    returns the agents of ``names`` and those of other words that have a special meaning in this game."""

    methods: tuple[str, ...] = ()
    """Methods of a user's class that plays this game without ``act``; requires ``adapter``."""

    adapter: str | None = None
    """Reference to a callable that turns an instance with ``methods`` into an agent of the arena."""


class GameDeclaration(Struct, frozen=True, kw_only=True):
    """One game."""

    package: str
    """``__name__`` of the package. References that begin with a dot, and files, are resolved against it."""

    code: str
    """Matches ``CODE``."""

    title: Mapping[str, str]
    """Language to the name of the game."""

    about: Mapping[str, str]
    """Language to one sentence that helps to choose a game."""

    usual_seats: tuple[str, ...]
    """Agent ids of a match of the usual size. For a larger match, the number at the end of the last id is counted
    up."""

    roles: tuple[str, ...] = ("player",)
    """Role of each seat, in lower case; the last role applies to all further seats. PettingZoo's agents are named by
    them."""

    rules: str
    """Reference to a class without arguments that is a ``games.game.Game``."""

    scripted: str = ".scripted:scripted"
    """Reference to the baseline that plays without a model: ``(view, legal, draw) -> Action``."""

    person: str | None = ".person"
    """Reference to a ``games.person.ByPerson``; ``None`` if the game cannot be played at a terminal."""

    prompt: str = "prompt.md"
    """File of the package: the prompt that explains the game to a model and how to play it well."""

    page: str | None = "page.js"
    """File of the package that draws the game on the arena's web page; ``None``: the page shows the view as it is."""

    memory: str | None = None
    """Reference to a class without arguments that remembers an agent's events for its view (``arena.session.Memory``);
    ``None`` if the view alone is sufficient."""

    agents: GameAgents = GameAgents()

    deciding: Mapping[str, DecidingField] = msgspec.field(default_factory=FrozenDict)
    """Action type to its deciding field. Other actions are drawn from their schemas."""

    person_seat: int = 0
    """Index of the seat for a person who does not choose one."""

    turn_timeout_s: int = 120
    """Default time for a decision on the web page."""

    most_output_tokens: int = 1500
    """Limit for a model's reply to one decision."""

    observation_bytes: int = 16_384
    """Limit for a view as PettingZoo's observation."""


def faults_of(game: GameDeclaration, name: str) -> Iterator[str]:
    """Yield each fault of a declaration that was found under ``name``, one line each."""
    if game.code != name:
        yield f"it declares the code {shown(game.code)}; name the entry point like it"
    if CODE.fullmatch(game.code) is None:
        yield f"the code {shown(game.code)} must match {CODE.pattern}"
    if not game.usual_seats:
        yield "it declares no usual seats"
    if not game.roles or not all(ROLE.fullmatch(role) for role in game.roles):
        yield f"its roles must match {ROLE.pattern}"
    for field, texts in (("title", game.title), ("about", game.about)):
        for lang in LANGUAGES:
            if not texts.get(lang):
                yield f"its {field} has no text in {lang}"
    if game.agents.methods and game.agents.adapter is None:
        yield "its agents have methods and no adapter"


def faults_of_rules(game: GameDeclaration, rules: object) -> Iterator[str]:
    """Yield each fault of the rules that a declaration names, one line each; the first may cause the others."""
    wanted = [name for name in (*Game.__annotations__, *vars(Game)) if not name.startswith("_")]
    missing = [name for name in wanted if not hasattr(rules, name)]
    if missing:
        yield f"its rules have no {', '.join(missing)}"
        return
    found = cast("Game[Any]", rules)
    if found.code != game.code:
        yield f"its rules have the code {shown(found.code)}"
    if not found.min_agents <= len(game.usual_seats) <= found.max_agents:
        yield f"it declares {len(game.usual_seats)} usual seats for {found.min_agents} to {found.max_agents} agents"
    keys = found.config_schema.get("properties", {})
    for key in ("lang", "names", *keys):
        if key not in keys or "default" not in keys[key] or not keys[key].get("description"):
            yield f"its config_schema has no key {key} with a default and a description"
    for kind in game.deciding:
        if kind not in found.action_schemas:
            yield f"the deciding field of {shown(kind)} belongs to no action"
