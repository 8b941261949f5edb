"""Transcripts: a match as a file of JSON lines. Writing, replaying to verify, and redacting to publish.

Rule 1: the lines stand in the order of their effects: header, then each decision followed by its events, then the
outcome. The seed, from which roles follow, comes with the outcome.
Rule 2: a line is complete or absent; a truncated file holds the match up to that line.
Rule 3: a published transcript is redacted: it holds nothing that its viewer may not see, before and after the end.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

from league_agents import __version__
from league_agents.games.game import ALL, HOST, SPECTATOR, Action, Event, ForfeitCause, Game, IllegalAction, Outcome
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, shortened
from league_agents.turns.match import Match

if TYPE_CHECKING:
    from league_agents.arena.decisions import SettledDecision
    from league_agents.arena.session import Session

FORMAT = 1
LONGEST_LINE = 4 * 1024 * 1024
MOST_LINES = 1_000_000

Line = dict[str, Any]

_KINDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "header": {"agents": list},
    "decision": {"agent": str, "refusals": (list, int)},
    "event": {"visible_to": (str, list)},
}
"""The keys that readers of a line rely on. A redacted decision has the number of its refusals instead of them."""


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

    def settled(self, settled: SettledDecision) -> None:
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
                **({"models": [step.to_json() for step in settled.models]} if settled.models else {}),
            }
        )
        self._events(settled.events)

    def end(self, session: Session) -> None:
        self._write(
            {
                "line": "outcome",
                "status": session.status,
                **outcome_dict(session.match.outcome()),
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


def outcome_dict(outcome: Outcome | None) -> dict[str, Any]:
    """An outcome as JSON values; ``None`` for an abandoned match."""
    return {
        "winners": [] if outcome is None else list(outcome.winners),
        "scores": {} if outcome is None else dict(outcome.scores),
        "reason": "abandoned" if outcome is None else outcome.reason,
        "metrics": {} if outcome is None else dict(outcome.metrics),
    }


def read_transcript(lines: Iterable[str]) -> list[Line]:
    """Parse the lines of a transcript. Raises ``ConfigError`` that names the invalid line.

    The last line is left out if it is truncated, as after a crash of its writer.
    """
    found: list[Line] = []
    cut: ConfigError | None = None
    for number, text in enumerate(lines, start=1):
        if number > MOST_LINES or len(text) > LONGEST_LINE:
            raise ConfigError(f"line {number}", "the transcript is larger than any match makes it")
        if not text.strip():
            continue
        if cut is not None:
            raise cut
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            cut = ConfigError(f"line {number}", "is not JSON")
            if text.endswith("\n") or not found:
                raise cut from None
            continue
        if not isinstance(line, dict) or line.get("line") not in ("header", "decision", "event", "outcome"):
            raise ConfigError(f"line {number}", "is no line of a transcript")
        if not all(isinstance(line.get(key), kinds) for key, kinds in _KINDS.get(line["line"], {}).items()):
            raise ConfigError(f"line {number}", f"is no {line['line']} of a transcript")
        found.append(line)
    if not found or found[0]["line"] != "header":
        raise ConfigError("line 1", "must be the header of a transcript; is this a file that --record wrote?")
    if not all(isinstance(agent, dict) and isinstance(agent.get("id"), str) for agent in found[0]["agents"]):
        raise ConfigError("line 1", "must say who played")
    if found[0].get("format") != FORMAT:
        raise ConfigError("line 1", f"has another format; this version reads {FORMAT}")
    return found


class MatchMaker(Protocol):
    """Makes a match from a header; a parameter, because scenarios are read elsewhere."""

    def __call__(
        self,
        game: Game[Any],
        config: Mapping[str, Any],
        agents: Sequence[str],
        seed: int,
        interaction: Mapping[str, Any] | None,
        /,
    ) -> Match[Any]:
        """Raises ``ConfigError`` for a match that cannot be played."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The result of replaying a transcript."""

    decisions: int
    events: int
    difference: str | None
    """The first difference, in words; ``None`` if everything is equal."""


def replay(lines: Sequence[Line], game: Game[Any], make_match: MatchMaker) -> Replayed:
    """Play the decisions of a transcript again and compare every event, where it stands, and the outcome.

    Not compared, as the rules do not determine them: when agents were asked, their texts, their refusals, and which
    agents played. Raises ``ConfigError`` for a transcript without an outcome (which holds the seed), of another game
    version, or with lines that no match writes.
    """
    header, last = lines[0], lines[-1]
    viewer = header.get("viewer", HOST)
    if viewer != HOST:
        raise ConfigError(
            "line 1",
            f"is the view of {shortened(str(viewer), 80)}, which leaves out what others decided: it cannot be replayed;"
            " take the full transcript",
        )
    if last["line"] != "outcome" or type(last.get("seed")) is not int:
        raise ConfigError(
            "the last line", "has no seed: the transcript was cut off, or redacted, and cannot be replayed"
        )
    if header.get("game_version") != game.version:
        raise ConfigError(
            "line 1", f"game version {header.get('game_version')!r}, this one plays {game.version}: nothing to compare"
        )
    match = begun(header, last["seed"], game, make_match)
    decisions, difference = follow(match, lines[1:-1])
    return Replayed(decisions=decisions, events=len(match.events), difference=difference or _other_outcome(match, last))


def begun(header: Line, seed: int, game: Game[Any], make_match: MatchMaker) -> Match[Any]:
    """The match of a header before its first decision. Raises ``ConfigError``."""
    config, protocol = header.get("config"), header.get("protocol")
    if not isinstance(config, Mapping) or not (protocol is None or isinstance(protocol, Mapping)):
        raise ConfigError("line 1", "has no configuration: the transcript was redacted, or changed")
    return make_match(game, config, [agent["id"] for agent in header["agents"]], seed, protocol)


def follow(
    match: Match[Any], lines: Sequence[Line], decided: Callable[[Line, Sequence[Event]], None] = lambda *_: None
) -> tuple[int, str | None]:
    """Play the decisions of lines between header and outcome; return their number and the first difference, in words.

    ``decided`` is called after each decision with its line and events. Raises ``ConfigError`` for lines that no match
    writes.
    """
    due = deque(match.events)
    decisions = 0
    try:
        for number, line in enumerate(lines, start=2):
            kind = line["line"]
            if kind == "event":
                event = due.popleft() if due else None
                if event is None or _written({"line": kind, **event_dict(event)}) != _written(line):
                    return decisions, f"line {number}: {_instead(event)}"
            elif kind == "decision":
                if due:
                    return decisions, f"line {number}: {_instead(due[0])}"
                decisions += 1
                try:
                    events = _decided(match, line)
                except IllegalAction as refused:
                    agent = shortened(str(line.get("agent")), 80)
                    return decisions, f"decision {decisions} of {agent} is refused: {refused.message}"
                due.extend(events)
                decided(line, events)
            else:
                raise ConfigError(f"line {number}", f"is a second {kind}")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"line {number}", f"is none that a match writes: {type(error).__name__}") from None
    return decisions, _instead(due[0]) + "; the transcript has ended" if due else None


def _decided(match: Match[Any], line: Line) -> tuple[Event, ...]:
    action, cause = line["action"], line["cause"]
    if (action is None) == (cause is None):
        raise ValueError("a decision has an action or a cause")
    if cause is not None:
        return match.forfeit(line["agent"], ForfeitCause(cause))
    return match.act(line["agent"], Action(type=action["type"], data=action["data"], version=action["version"]))


def _instead(event: Event | None) -> str:
    """Describe the expected line."""
    if event is None:
        return "an event that does not happen"
    return f"event {event.seq} is {event.kind!r} ({shortened(event.text, 60)}), not as recorded"


def _other_outcome(match: Match[Any], last: Line) -> str | None:
    """The fault of the recorded outcome; ``None`` if it equals the match's."""
    outcome, status = match.outcome(), last.get("status")
    if outcome is None and status != "abandoned":
        return "the match is not over"
    if outcome is not None and status != "ended":
        return "the match is over, not as recorded"
    expected = outcome_dict(outcome)
    if _written(expected) != _written({key: last.get(key) for key in expected}):
        return "the outcome is another one"
    return None


def _written(value: Mapping[str, Any]) -> str:
    """A value as JSON text for comparison: ``1`` equals neither ``1.0`` nor ``true``."""
    plain = json.loads(json.dumps(value, default=str))
    return json.dumps(plain, sort_keys=True)


def public_config(game: Game[Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A match's configuration without the keys that are for the host alone, such as a fixed target."""
    known = game.config_schema.get("properties", {})
    return {key: value for key, value in config.items() if not known.get(key, {}).get("x-host-only")}


def keeps_secrets(header: Line) -> bool:
    """Whether the roles stay secret after the end (``reveal_at_end: false``); they follow from the seed."""
    config = header.get("config")
    return isinstance(config, Mapping) and config.get("reveal_at_end") is False


def redact(lines: Sequence[Line], viewer: str) -> Iterator[Line]:
    """The transcript that ``viewer`` may see: an agent id, ``SPECTATOR`` or ``HOST`` (all of it). The header names it.

    Events hidden from the viewer are left out. Others' decisions keep the agent, the time and whether it decided, but
    not its answers, texts and refusals. Configuration and seed are removed until the match has ended, because secrets
    may follow from them; keys that the game marks as the host's are removed also afterwards.
    """
    if viewer == HOST:
        yield {"viewer": HOST, **lines[0]}
        yield from lines[1:]
        return
    agents = [agent["id"] for agent in lines[0]["agents"]]
    if viewer != SPECTATOR and viewer not in agents:
        raise ConfigError("viewer", f"must be {HOST}, {SPECTATOR} or one of {', '.join(agents)}")
    has_ended = lines[-1]["line"] == "outcome"
    config = lines[0].get("config")
    is_hidden = keeps_secrets(lines[0])
    for line in lines:
        kind = line["line"]
        if kind == "header":
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
            refusals = line["refusals"]
            yield {**kept, "refusals": refusals if isinstance(refusals, int) else len(refusals)}
        elif kind == "outcome" and is_hidden:
            yield {**line, "seed": None}
        else:
            yield line
