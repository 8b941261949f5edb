"""A match as a file of JSON lines: written while it is played, replayed to prove it, redacted to publish it.

Rule 1: the lines stand in the order of their effects: header, then each decision followed by its events, then the
outcome. The seed, from which roles follow, comes with the outcome.
Rule 2: a line is complete or absent; a file that was cut off tells the match up to there.
Rule 3: who publishes a transcript redacts it: what a viewer could not know is not in it, before and after the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

from league_agents import __version__
from league_agents.core.game import ALL, HOST, SPECTATOR, Action, Cause, Event, Game, IllegalAction
from league_agents.errors import ConfigError, shortened
from league_agents.games.registry import game_of
from league_agents.match import Match

if TYPE_CHECKING:
    from league_agents.arena.decisions import Settled
    from league_agents.arena.session import Session

FORMAT = 1
LONGEST_LINE = 4 * 1024 * 1024
MOST_LINES = 1_000_000

Line = dict[str, Any]


class TranscriptWriter:
    """Writes one match to an open text file, line by line."""

    def __init__(
        self, file: IO[str], *, protocol: Mapping[str, Any] | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        """``protocol``: the interaction protocol's configuration (arena 4.6); ``None`` for the game's own.

        ``names``: agent id to what plays there.
        """
        self._file = file
        self._protocol = protocol
        self._names = dict(names or {})

    def begin(self, session: Session) -> None:
        match = session.match
        self._write(
            {
                "line": "header",
                "format": FORMAT,
                "package": __version__,
                "game": match.game.code,
                "game_version": match.game.version,
                "protocol_version": "1.0.0",
                "config": match.config,
                "protocol": self._protocol,
                "agents": [{"id": agent, "plays": self._names.get(agent, "")} for agent in match.agent_ids],
                "started_at": None if session.started_at is None else session.started_at.isoformat(),
            }
        )
        self._events(match.events)

    def settled(self, settled: Settled) -> None:
        decision, action = settled.decision, settled.action
        self._write(
            {
                "line": "decision",
                "agent": decision.agent_id,
                "asked_at": decision.asked_at.isoformat(),
                "answered_at": settled.at.isoformat(),
                "raw": settled.raw,
                "action": None
                if action is None
                else {"type": action.type, "data": action.data, "version": action.version},
                "refusals": decision.refusals,
                "cause": None if settled.cause is None else str(settled.cause),
            }
        )
        self._events(settled.events)

    def end(self, session: Session) -> None:
        outcome = session.match.outcome()
        self._write(
            {
                "line": "outcome",
                "status": session.status,
                "winners": [] if outcome is None else list(outcome.winners),
                "scores": {} if outcome is None else dict(outcome.scores),
                "reason": "abandoned" if outcome is None else outcome.reason,
                "metrics": {} if outcome is None else dict(outcome.metrics),
                "seed": session.match.seed,
                "ended_at": None if session.ended_at is None else session.ended_at.isoformat(),
            }
        )

    def _events(self, events: Iterable[Event]) -> None:
        for event in events:
            self._write({"line": "event", **event_dict(event)})

    def _write(self, line: Line) -> None:
        self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str) + "\n")
        self._file.flush()


def event_dict(event: Event) -> dict[str, Any]:
    """An event as JSON values, for the host."""
    visible = event.visible_to if isinstance(event.visible_to, str) else list(event.visible_to)
    return {"seq": event.seq, "kind": event.kind, "visible_to": visible, "text": event.text, "data": dict(event.data)}


def read_transcript(lines: Iterable[str]) -> list[Line]:
    """The lines of a transcript. Raises ``ConfigError`` that names the line which is none."""
    found: list[Line] = []
    for number, text in enumerate(lines, start=1):
        if number > MOST_LINES or len(text) > LONGEST_LINE:
            raise ConfigError(f"line {number}", "the transcript is larger than any match makes it")
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            raise ConfigError(f"line {number}", f"is not JSON: {shortened(text.strip(), 60)}") from None
        if not isinstance(line, dict) or line.get("line") not in ("header", "decision", "event", "outcome"):
            raise ConfigError(f"line {number}", "is no line of a transcript")
        found.append(line)
    if not found or found[0]["line"] != "header":
        raise ConfigError("line 1", "must be the header of a transcript; is this a file that --record wrote?")
    if found[0].get("format") != FORMAT:
        raise ConfigError("line 1", f"has format {found[0].get('format')!r}, this version reads {FORMAT}")
    return found


class MatchMaker(Protocol):
    """Makes a match from what a header says; handed in, because scenarios are read elsewhere."""

    def __call__(
        self,
        game: Game[Any],
        config: Mapping[str, Any],
        agents: Sequence[str],
        seed: int,
        interaction: Mapping[str, Any] | None,
        /,
    ) -> Match[Any]:
        """Raises ``ConfigError`` for what cannot be played."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of playing a transcript again."""

    decisions: int
    events: int
    difference: str | None
    """The first thing that came out differently, in words; ``None`` when everything is equal."""


def replay(lines: Sequence[Line], game: Game[Any], make_match: MatchMaker) -> Replayed:
    """Play the decisions of a transcript again and compare every event and the outcome.

    Raises ``ConfigError`` for a transcript without an outcome (the seed comes with it) or of another game version.
    """
    header, last = lines[0], lines[-1]
    if last["line"] != "outcome" or type(last.get("seed")) is not int:
        raise ConfigError("the transcript", "has no seed: it was cut off, or redacted, and cannot be replayed")
    if header.get("game_version") != game.version:
        raise ConfigError(
            "line 1", f"game version {header.get('game_version')!r}, this one plays {game.version}: nothing to compare"
        )
    try:
        agents = [agent["id"] for agent in header["agents"]]
        match = make_match(game, header["config"], agents, last["seed"], header["protocol"])
    except (KeyError, TypeError) as error:
        raise ConfigError("line 1", f"is no header: {type(error).__name__} {error}") from None
    decisions = 0
    told = [line for line in lines if line["line"] == "event"]
    for line in lines:
        if line["line"] != "decision":
            continue
        decisions += 1
        try:
            if line.get("cause") is not None:
                match.forfeit(line["agent"], Cause(line["cause"]))
            else:
                action = line["action"]
                match.act(line["agent"], Action(type=action["type"], data=action["data"], version=action["version"]))
        except IllegalAction as refused:
            said = f"decision {decisions} of {shortened(str(line.get('agent')), 80)} is refused: {refused.message}"
            return Replayed(decisions=decisions, events=len(match.events), difference=said)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError("the transcript", f"decision {decisions} is none: {type(error).__name__}") from None
    return Replayed(decisions=decisions, events=len(match.events), difference=_difference(match, told, last))


def _difference(match: Match[Any], told: Sequence[Line], last: Line) -> str | None:
    for place, (event, line) in enumerate(zip(match.events, told, strict=False), start=1):
        again = json.loads(json.dumps(event_dict(event), default=str))
        if again != {key: value for key, value in line.items() if key != "line"}:
            return f"event {place} is {again['kind']!r} ({shortened(event.text, 60)}), not as recorded"
    if len(match.events) != len(told):
        return f"{len(match.events)} events instead of {len(told)}"
    outcome = match.outcome()
    if last.get("status") == "abandoned":
        return None
    if outcome is None:
        return "the match is not over"
    again = json.loads(json.dumps([outcome.winners, outcome.scores, outcome.reason, outcome.metrics], default=str))
    if again != [last.get("winners"), last.get("scores"), last.get("reason"), last.get("metrics")]:
        return "the outcome is another one"
    return None


def public_config(game: Game[Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A match's configuration without the keys that are for the host alone, such as a fixed target."""
    known = game.config_schema.get("properties", {})
    return {key: value for key, value in config.items() if not known.get(key, {}).get("x-host-only")}


def redact(lines: Sequence[Line], viewer: str) -> Iterator[Line]:
    """The transcript as ``viewer`` may have it: an agent id, ``SPECTATOR`` or ``HOST``.

    Events that the viewer was not shown are left out. Of others' decisions it stays who decided when, and whether; what
    they sent, thought and were refused is theirs. A match that has not ended keeps its configuration and seed for
    itself, because they may fix what is secret; what the game marks as the host's stays the host's also afterwards.
    """
    if viewer == HOST:
        yield from lines
        return
    agents = [agent.get("id") for agent in lines[0].get("agents", []) if isinstance(agent, Mapping)]
    if viewer != SPECTATOR and viewer not in agents:
        raise ConfigError("viewer", f"must be {HOST}, {SPECTATOR} or one of {', '.join(map(str, agents))}")
    has_ended = lines[-1]["line"] == "outcome"
    for line in lines:
        kind = line["line"]
        if kind == "header":
            config = line.get("config")
            told = None
            if has_ended and isinstance(config, Mapping):
                told = public_config(game_of(str(line.get("game"))), config)
            yield {**line, "viewer": viewer, "config": told}
        elif kind == "event":
            visible = line.get("visible_to")
            if visible == ALL or (isinstance(visible, list) and viewer in visible):
                yield {**line, "visible_to": ALL if visible == ALL else [viewer]}
        elif kind == "decision" and line.get("agent") != viewer:
            kept = {key: line.get(key) for key in ("line", "agent", "asked_at", "answered_at", "cause")}
            yield {**kept, "refusals": len(line.get("refusals") or [])}
        else:
            yield line
