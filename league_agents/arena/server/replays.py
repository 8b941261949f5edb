"""A match that is over, move by move: what was decided and why, what followed, and how the table looked.

Rule 1: it shows what the lines show. Of a redacted transcript it is as redacted.
Rule 2: pure, so that it can be computed on a thread.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from league_agents.arena.protocol.envelope import written
from league_agents.arena.scenario import match_of
from league_agents.arena.transcript import Line, begun, follow
from league_agents.games.game import Event
from league_agents.games.registry import game_of
from league_agents.kit.errors import LeagueError
from league_agents.turns.match import Match

MOST_VIEWS = 4_000_000
"""Characters of all views of one replay; later moves come without."""


def replay_told(lines: Sequence[Line], viewer: str) -> dict[str, Any]:
    """The moves of a transcript, from 1, after the opening. ``viewer``: who sees the table, a seat or ``spectator``."""
    moves: list[dict[str, Any]] = [{"agent_id": None, "events": []}]
    for line in lines[1:]:
        if line["line"] == "decision":
            moves.append(_move(line))
        elif line["line"] == "event":
            moves[-1]["events"].append(_event(line))
    header, last = lines[0], lines[-1]
    views = _views(lines, viewer) if type(last.get("seed")) is int and "viewer" not in header else []
    for move, view in zip(moves, views, strict=False):
        move |= view
    return {
        "moves": moves,
        "viewer": viewer,
        "plays": {agent["id"]: agent["plays"] for agent in header["agents"]},
        "is_redacted": "viewer" in header,
    }


def _move(line: Line) -> dict[str, Any]:
    action, raw = line.get("action") or {}, line.get("raw")
    return {
        "agent_id": line["agent"],
        "asked_at": line.get("asked_at"),
        "answered_at": line.get("answered_at"),
        "cause": line.get("cause"),
        "type": action.get("type"),
        "data": action.get("data"),
        # An answer as an object is the action itself, or was refused, which the refusals say.
        "text": raw if isinstance(raw, str) else None,
        "refusals": line["refusals"] if isinstance(line["refusals"], list) else [],
        "models": line.get("models", []),
        "events": [],
    }


def _event(line: Line) -> dict[str, Any]:
    data = {"seq": line.get("seq"), "event": line.get("kind"), **(line.get("data") or {})}
    return {"text": line.get("text"), "data": data, "visible_to": line.get("visible_to")}


def _views(lines: Sequence[Line], viewer: str) -> list[dict[str, Any]]:
    """The table after the opening and each move; fewer if this version plays differently, or above ``MOST_VIEWS``."""
    header, last = lines[0], lines[-1]
    found: list[dict[str, Any]] = []
    left = MOST_VIEWS

    def look(match: Match[Any]) -> None:
        nonlocal left
        told = {"view": match.view(viewer), "active": list(match.active()), "phase": match.info(viewer).phase}
        text = written(told)
        left -= len(text)
        if left >= 0:
            found.append(json.loads(text))

    def decided(_line: Line, _events: Sequence[Event]) -> None:
        look(match)

    try:
        game = game_of(str(header.get("game")))
        if header.get("game_version") != game.version:
            return []
        match = begun(header, last["seed"], game, match_of)
        look(match)
        follow(match, lines[1:-1], decided)
    except (LeagueError, LookupError, TypeError, ValueError):
        return found  # the moves are shown all the same
    return found
