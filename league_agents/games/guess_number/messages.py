"""Checks of the two messages of GuessNumberGameProtocol (arena 2.1).

Rule 1: a check reports every error, each with its path, not only the first one.
Rule 2: strict mode converts nothing; the server uses only this mode. Lenient mode is for an agent that reads the output
of a language model; it reports every repair as a warning.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from league_agents.games.game import JsonObject
from league_agents.games.guess_number.findings import Findings, MessageFinding, MessageReport, below
from league_agents.games.guess_number.lenient import chosen, repaired
from league_agents.games.guess_number.protocol import GUESS_NUMBER_PROTOCOL, MESSAGE_TYPES, PROPOSAL, STATE_REPORT
from league_agents.games.guess_number.reading import Unreadable, cleaned, find_objects, note_doubled_keys, parse
from league_agents.kit.errors import shortened

LONGEST_TEXT: Final = 8000
"""Limit for a reasoning or a rationale, in characters."""

Mode = Literal["strict", "lenient"]

_COMMON: Final = ("sender", "type", "timestamp")
_KNOWN: Final = {each.name: frozenset((*each.required, *each.optional)) for each in GUESS_NUMBER_PROTOCOL.message_types}
_KNOWN_ANYWHERE: Final = frozenset().union(*_KNOWN.values())
_REQUIRED: Final = {each.name: each.required for each in GUESS_NUMBER_PROTOCOL.message_types}


def validate(
    message: Mapping[str, Any] | str,
    *,
    num_choices: int,
    agent_ids: Collection[str],
    step: int | None = None,
    sender: str | None = None,
    mode: Mode = "strict",
) -> MessageReport:
    """Return all errors of a message, and the message as it was read.

    ``message`` is an object or JSON text. ``step`` is the game's step that the message must state, ``sender`` the agent
    that must have sent it; ``None`` accepts any.
    """
    if mode not in ("strict", "lenient"):
        raise ValueError(f"mode must be strict or lenient, not {mode!r}")
    findings = Findings()
    found = _object(message, findings, is_lenient=mode == "lenient")
    if found is not None and mode == "lenient":
        found = repaired(found, findings)
    clean = None if found is None else cleaned(found, findings)
    if clean is not None:
        _Check(clean, findings, num_choices).all(agent_ids, step, sender)
    return findings.report(clean)


def _object(message: object, findings: Findings, *, is_lenient: bool) -> Mapping[str, Any] | None:
    if isinstance(message, str):
        message = _read(message, findings, is_lenient=is_lenient)
        if message is None and findings.errors:
            return None
        note_doubled_keys(message, findings)
    if isinstance(message, Mapping):
        return message
    findings.error("", "not_object", "must be a JSON object")
    return None


def _read(text: str, findings: Findings, *, is_lenient: bool) -> object:
    try:
        return parse(text)
    except Unreadable as error:
        objects = find_objects(text) if is_lenient and error.code != "too_long" else []
        if objects:
            return chosen(objects, findings)
        findings.error("", error.code, error.message)
        return None


class _Check:
    """The checks of one message, field by field."""

    __slots__ = ("_faulty", "_findings", "_message", "_most", "_type")

    def __init__(self, message: JsonObject, findings: Findings, num_choices: int) -> None:
        self._message = message
        self._findings = findings
        self._most = num_choices - 1
        self._faulty = frozenset(each.path for each in findings.errors)
        """Paths that already have an error; no second one is added for the same value."""

        kind = message.get("type")
        self._type = kind if isinstance(kind, str) else None

    def all(self, agent_ids: Collection[str], step: int | None, sender: str | None) -> None:
        message, findings, kind = self._message, self._findings, self._type
        is_known = kind in _REQUIRED
        for key in _REQUIRED[kind] if kind is not None and is_known else _COMMON:
            if key not in message and f"/{key}" not in self._faulty:
                findings.error(f"/{key}", "missing_field", "is missing")
        known = _KNOWN[kind] if kind is not None and is_known else _KNOWN_ANYWHERE
        for key in message:
            if key not in known:
                findings.warn(below("", key), "extra_field", "is not a field of this message; it is kept")
        self._sender(agent_ids, sender)
        self._kind()
        self._timestamp(step)
        if kind != PROPOSAL:
            self._next_guess()
            self._text("reasoning")
            self._confidence()
        if kind != STATE_REPORT:
            self._text("rationale")
        self._content()

    def _has(self, key: str) -> bool:
        return key in self._message and f"/{key}" not in self._faulty

    def _sender(self, agent_ids: Collection[str], sender: str | None) -> None:
        if not self._has("sender"):
            return
        found = self._message["sender"]
        if not isinstance(found, str):
            self._findings.error("/sender", "wrong_type", "must be a text")
            return
        if found not in agent_ids:
            self._findings.error("/sender", "unknown_sender", f"{shortened(found, 80)} is no agent of this match")
        if sender is not None and found != sender:
            self._findings.error("/sender", "sender_mismatch", f"must be {sender}, who sends it")

    def _kind(self) -> None:
        if not self._has("type"):
            return
        if self._type is None:
            self._findings.error("/type", "wrong_type", "must be a text")
        elif self._type not in MESSAGE_TYPES:
            self._findings.error("/type", "unknown_type", f"must be {' or '.join(MESSAGE_TYPES)}")

    def _timestamp(self, step: int | None) -> None:
        if not self._has("timestamp"):
            return
        found = self._message["timestamp"]
        if type(found) is not int:
            self._findings.error("/timestamp", "wrong_type", "must be an integer, the step of the game")
            return
        if found < 0:
            self._findings.error("/timestamp", "negative_timestamp", "must be 0 or more")
        if step is not None and found != step:
            self._findings.error("/timestamp", "stale_timestamp", f"must be {step}, the step of the game")

    def _next_guess(self) -> None:
        if not self._has("next_guess"):
            return
        found = self._message["next_guess"]
        if type(found) is not int:
            self._findings.error("/next_guess", "wrong_type", "must be an integer")
        elif not 0 <= found <= self._most:
            self._findings.error("/next_guess", "guess_out_of_range", f"must be 0 to {self._most}")

    def _text(self, key: str) -> None:
        if not self._has(key):
            return
        found = self._message[key]
        if not isinstance(found, str):
            self._findings.error(f"/{key}", "wrong_type", "must be a text")
        elif len(found) > LONGEST_TEXT:
            self._findings.error(f"/{key}", "too_long", f"must have at most {LONGEST_TEXT} characters")

    def _confidence(self) -> None:
        if not self._has("confidence"):
            return
        found = self._message["confidence"]
        if type(found) is not int and type(found) is not float:
            self._findings.error("/confidence", "wrong_type", "must be a number")
        elif not 0 <= found <= 1:
            self._findings.error("/confidence", "confidence_out_of_range", "must be 0 to 1")

    def _content(self) -> None:
        if not self._has("content"):
            return
        content = self._message["content"]
        if not isinstance(content, dict):
            self._findings.error("/content", "wrong_type", "must be an object")
            return
        for key in ("current_guess", "next_guess"):
            if key in content:
                self._content_number(f"/content/{key}", content[key])
        if "is_correct" in content and not isinstance(content["is_correct"], bool):
            self._content_error("/content/is_correct", "must be true or false")
        guesses = self._content_list(content, "guess_history", int)
        feedback = self._content_list(content, "feedback_history", bool)
        if guesses is not None and feedback is not None and len(guesses) - len(feedback) not in (0, 1):
            self._findings.warn(
                "/content/feedback_history",
                "history_length",
                f"has {len(feedback)} entries for {len(guesses)} guesses; it should have as many or one fewer",
            )
        if self._type == STATE_REPORT:
            self._agreement(content)
        elif self._type == PROPOSAL and "next_guess" not in content:
            self._findings.warn("/content/next_guess", "proposal_without_guess", "is missing: nothing is proposed")

    def _agreement(self, content: Mapping[str, Any]) -> None:
        inner, outer = content.get("next_guess"), self._message.get("next_guess")
        # Where one of them is no integer, that is the error.
        if type(inner) is int and type(outer) is int and inner != outer:
            self._findings.error("/content/next_guess", "content_conflict", f"must be {outer}, as in /next_guess")

    def _content_list(self, content: Mapping[str, Any], key: str, kind: type) -> list[Any] | None:
        if key not in content:
            return None
        found, path = content[key], f"/content/{key}"
        if not isinstance(found, list):
            self._content_error(path, f"must be a list of {'integers' if kind is int else 'true and false'}")
            return None
        kinds = set(map(type, found))
        if kinds <= {kind} and (kind is bool or not found or (min(found) >= 0 and max(found) <= self._most)):
            return found
        for place, each in enumerate(found):
            if kind is int:
                self._content_number(f"{path}/{place}", each)
            elif not isinstance(each, bool):
                self._content_error(f"{path}/{place}", "must be true or false")
        return found

    def _content_number(self, path: str, found: object) -> None:
        if type(found) is not int or not 0 <= found <= self._most:
            self._content_error(path, f"must be an integer from 0 to {self._most}")

    def _content_error(self, path: str, message: str) -> None:
        if path not in self._faulty:
            self._findings.error(path, "content_value", message)


__all__ = ["LONGEST_TEXT", "MessageFinding", "MessageReport", "Mode", "validate"]
