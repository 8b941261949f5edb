"""Answers of agents in this process, reduced to plain values as if they had been sent.

Rule: the results are plain values of limited size, whatever classes the agent uses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from league_agents.games.game import GAME_VERSION, Action
from league_agents.kit.model_work import KEY, ModelStep, read_steps
from league_agents.kit.printable import line_of
from league_agents.kit.violation import shown
from league_agents.user_code.called import UnusableResult
from league_agents.user_code.plain import plain

MOST_CHARACTERS: Final = 256 * 1024
"""Limit of an action's data, and of an agent's text. A message over a wire may have a quarter of it (arena 5.1)."""


_RIGHT_FORM: Final = 'return {"type": ..., "data": {...}} with a type and data that legal allows'


def action_of(answer: object) -> Action:
    """Convert the result of ``act``: an ``Action``, or a mapping with ``type`` and ``data``.

    Raises ``UnusableResult`` for anything else, and any exception of the answer's own classes.
    """
    kind: object
    data: object
    version: object
    if isinstance(answer, Action):
        kind, data, version = answer.type, answer.data, answer.version
    elif isinstance(answer, Mapping):
        kind, data, version = answer.get("type"), answer.get("data") or {}, answer.get("version", GAME_VERSION)
    else:
        raise UnusableResult(f"{shown(answer)}, not an action; {_RIGHT_FORM}")
    if not (type(kind) is str and type(version) is str and isinstance(data, Mapping)):
        raise UnusableResult(
            f"an action of type {shown(kind)} and version {shown(version)} with {shown(data)} as data; the first two "
            f"must be texts, the data a mapping: {_RIGHT_FORM}"
        )
    copied: Any = plain(data)
    try:
        written = json.dumps(copied, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UnusableResult(f"an action whose data JSON cannot hold: {line_of(error)}") from None
    if len(written) > MOST_CHARACTERS:
        raise UnusableResult(f"an action with more than {MOST_CHARACTERS} characters of data")
    return Action(type=kind, data=copied, version=version)


def steps_of(agent: object) -> tuple[ModelStep, ...]:
    """The model steps of the agent's last decision, if it exposes them as ``model_work``."""
    try:
        return read_steps(plain(getattr(agent, KEY, None)))
    except Exception:  # a property and its value are user code, and nothing depends on them
        return ()


def raw_of(agent: object) -> str | None:
    """The agent's last text, if it exposes one; cut off if it is very long."""
    try:
        raw = getattr(agent, "raw_answer", None)
    except Exception:  # a property is user code, and nothing depends on it
        return None
    return raw[:MOST_CHARACTERS] if type(raw) is str else None
