"""The player's side of a match by mail, as a state machine: letters are events, agent calls and answers are effects.

Rule 1: letters may arrive twice, late or out of order. The agent gets each event once and in order; only the newest
decision is answered, and each attempt once.
Rule 2: mail from anybody but the host is not read. Mail for another match or seat is left for the process that plays
it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from league_agents.arena.by_mail.agents import Context, decision_call
from league_agents.arena.by_mail.letters import (
    LetterCodec,
    LetterEffect,
    LetterHeading,
    SendLetter,
    dump_part,
    is_name,
    read_subject,
)
from league_agents.games.game import ALL, Event
from league_agents.kit.errors import JournalUnusable
from league_agents.kit.ids import derive_hex
from league_agents.kit.violation import shown as shown_value
from league_agents.league.machines.effects import Warn
from league_agents.league.machines.events import CallbackReturned, Started
from league_agents.league.wire.address import address_key, read_mailbox, same_address
from league_agents.mail.port import Mail, Peers
from league_agents.runner.codec import DecodedMail, ForeignMail, LeftForOthers

ROLE: Final = "arena-seat"
"""The role named in the journal."""

_KEPT_FIELDS: Final = frozenset({"seq", "event"})
_NEVER: Final = (0, 0)


class LetterToSeat(Struct, frozen=True, kw_only=True):
    """An event: a letter from the host has arrived."""

    letter: Mapping[str, Any]


class ToldEvents(Struct, frozen=True, kw_only=True):
    """The events of one letter."""

    last: int
    events: tuple[Event, ...]


class SeatGame(Struct, frozen=True, kw_only=True):
    """One seat of one match, as known from its letters."""

    match_id: str
    agent_id: str
    state: Mapping[str, Any] | None = None
    """The newest ``get_state_response``; ``None`` before the invitation."""

    newest: tuple[int, int] = _NEVER
    """The newest decision: its number, and its number of refused actions."""

    asked: tuple[int, int] = _NEVER
    """The decision that the agent was last asked for."""

    start: int | None = None
    """The ``after`` of the letter with the first question to the agent; ``None`` before it."""

    call_id: str = ""
    """The id of the call for ``asked``; ``""`` once it has ended."""

    template: Mapping[str, Any] | None = None
    """The envelope to answer ``asked`` with."""

    @property
    def is_over(self) -> bool:
        return self.state is not None and self.state.get("status") in ("ended", "abandoned")

    @property
    def winners(self) -> list[str]:
        """The winners; empty before the end."""
        winners = None if self.state is None else self.state.get("winners")
        return [str(winner) for winner in winners] if isinstance(winners, list) else []


class MailSeatState(Struct, frozen=True, kw_only=True):
    """The seats of one mailbox, by keys ``match/seat``."""

    playing: str | None = None
    """The seat of this process; ``None`` before its first letter."""

    games: Mapping[str, SeatGame] = {}
    told: Mapping[str, Mapping[int, ToldEvents]] = {}
    """Key -> number that the events follow -> events."""

    @property
    def game(self) -> SeatGame | None:
        """The game of this process."""
        return None if self.playing is None else self.games.get(self.playing)

    def heard(self, key: str, after: int = 0) -> Iterator[Event]:
        """The events without a gap from the start, or from the first question if the start was missed."""
        letters = self.told.get(key, {})
        game = self.games.get(key)
        at = 0 if 0 in letters or game is None or game.start is None else game.start
        while (letter := letters.get(at)) is not None:
            yield from (event for event in letter.events if event.seq > after)
            if letter.last <= at:
                return
            at = letter.last


class SeatMachine:
    """The ``Machine`` of the seats of one mailbox."""

    role = ROLE

    def __init__(self, address: str, host: str, *, match_id: str | None = None, agent_id: str | None = None) -> None:
        """``match_id`` and ``agent_id`` are needed if a mailbox has several seats; else they come from a letter."""
        self._address = address
        self._host = host
        self._match_id = match_id
        self._agent_id = agent_id

    def initial(self) -> MailSeatState:
        return MailSeatState()

    def is_over(self, state: MailSeatState) -> bool:
        return state.game is not None and state.game.is_over

    def heard(self, state: MailSeatState, context: Context, after: int) -> list[Event]:
        """The events visible to the agent of a call, with numbers above ``after``."""
        return list(state.heard(f"{context['match_id']}/{context['agent_id']}", after))

    def step(self, state: MailSeatState, event: object, now: datetime) -> tuple[MailSeatState, list[LetterEffect]]:
        match event:
            case LetterToSeat(letter=letter):
                key = f"{letter['match_id']}/{letter['agent_id']}"
                if not self._plays(state, key, letter):
                    raise LeftForOthers("is for another match or seat")
                return self._ask(self._hear(state, key, letter), key, letter, now)
            case CallbackReturned(call_id=call_id, result=result):
                return self._answer(state, call_id, result)
            case Started():
                return replace(state, playing=self._named(state)), []
            case _:
                return state, []  # an agent that failed sends nothing: the host's clock decides

    def _plays(self, state: MailSeatState, key: str, letter: Mapping[str, Any]) -> bool:
        is_wanted = self._match_id in (None, letter["match_id"]) and self._agent_id in (None, letter["agent_id"])
        return is_wanted and state.playing in (None, key)

    def _named(self, state: MailSeatState) -> str | None:
        """The seat named when the process was started."""
        key = f"{self._match_id}/{self._agent_id}"
        return key if key in state.games else None

    def _hear(self, state: MailSeatState, key: str, letter: Mapping[str, Any]) -> MailSeatState:
        game = state.games.get(key) or SeatGame(match_id=letter["match_id"], agent_id=letter["agent_id"])
        events, newest = [], game.state
        for message in letter["messages"]:
            if not isinstance(message, Mapping):
                continue
            if message.get("type") == "get_state_response":
                newest = message if newest is None or _order(message) >= _order(newest) else newest
            elif (event := _event_of(message)) is not None:
                events.append(event)
        decision = letter.get("decision")
        attempt = _attempt_of(decision) if isinstance(decision, Mapping) else _NEVER
        game = replace(game, state=newest, newest=max(game.newest, attempt))
        letters = state.told.get(key, {})
        after = letter["after"]
        if events and after not in letters:
            told = ToldEvents(last=max(event.seq for event in events), events=tuple(events))
            letters = {**letters, after: told}
        return MailSeatState(playing=key, games={**state.games, key: game}, told={**state.told, key: letters})

    def _ask(
        self, state: MailSeatState, key: str, letter: Mapping[str, Any], now: datetime
    ) -> tuple[MailSeatState, list[LetterEffect]]:
        game, decision = state.games[key], letter.get("decision")
        if not isinstance(decision, Mapping):
            return state, []
        attempt, template = _attempt_of(decision), decision.get("answer_with")
        if attempt != game.newest or attempt == game.asked or not isinstance(template, Mapping):
            return state, []
        if not isinstance(request_id := template.get("request_id"), str) or not is_name(template.get("game")):
            return state, []
        try:
            until = None if decision.get("reply_by") is None else datetime.fromisoformat(decision["reply_by"])
            if until is not None and until.tzinfo is None:
                raise ValueError("an instant without its zone")
        except (TypeError, ValueError):
            said = shown_value(decision["reply_by"])
            return state, [Warn(code="bad_deadline", text=f"a letter is not answered: it asks for a reply by {said}")]
        digits = derive_hex(self._address, game.match_id, game.agent_id, request_id, digits=16)
        start = letter["after"] if game.start is None else game.start
        game = replace(game, asked=attempt, start=start, call_id=f"a-{digits}", template=template)
        own = [each for each in letter["messages"] if isinstance(each, Mapping) and "state" in each]
        inner = own[-1]["state"].get("data") if own and isinstance(own[-1]["state"], Mapping) else None
        told = inner if isinstance(inner, Mapping) else {}
        shown = told.get("view")
        view = {
            **(shown if isinstance(shown, Mapping) else {}),
            "agent_id": game.agent_id,
            "game": letter.get("game"),
            "rules_text": told.get("rules", ""),
            "refusal": decision.get("refusal"),
        }
        call = decision_call(
            game.call_id,
            game_id=game.match_id,
            match_id=game.match_id,
            agent_id=game.agent_id,
            view=view,
            legal=told.get("legal"),
            until=until,
            now=now,
        )
        return replace(state, games={**state.games, key: game}), [call]

    def _answer(
        self, state: MailSeatState, call_id: str, result: Mapping[str, object]
    ) -> tuple[MailSeatState, list[LetterEffect]]:
        key, game = next(((key, game) for key, game in state.games.items() if game.call_id == call_id), (None, None))
        if key is None or game is None or game.template is None or game.asked != game.newest:
            return state, []
        answer = {**game.template, "action": result["action"]}
        send = SendLetter(
            transaction_id=call_id,
            kind=str(answer.get("type"))[:60],
            to=self._host,
            heading=LetterHeading(game=str(answer["game"]), match_id=game.match_id, agent_id=game.agent_id),
            document=answer,
        )
        return replace(state, games={**state.games, key: replace(game, call_id="", template=None)}), [send]

    def parts(self, state: MailSeatState, since: MailSeatState | None = None) -> Mapping[str, object | None]:
        before = since or MailSeatState()
        found: dict[str, object | None] = {}
        if since is None or state.playing != before.playing:
            found["playing"] = state.playing
        for key, game in state.games.items():
            if before.games.get(key) is not game:
                found[f"game {key}"] = game
            known = before.told.get(key, {})
            if (letters := state.told.get(key, {})) is not known:
                new = {after: told for after, told in letters.items() if after not in known}
                found |= {f"told {key} {after}": told for after, told in new.items()}
        return found

    def dump_part(self, name: str, part: object) -> str:
        return dump_part(name, part)

    def load(self, parts: Mapping[str, str]) -> MailSeatState:
        games: dict[str, SeatGame] = {}
        told: dict[str, dict[int, ToldEvents]] = {}
        try:
            for name, text in parts.items():
                kind, _, rest = name.partition(" ")
                if kind == "game":
                    games[rest] = msgspec.convert(json.loads(text), SeatGame)
                elif kind == "told":
                    key, _, after = rest.rpartition(" ")
                    told.setdefault(key, {})[int(after)] = msgspec.convert(json.loads(text), ToldEvents)
            playing = msgspec.convert(json.loads(parts.get("playing", "null")), str | None)
        except (ValueError, msgspec.ValidationError) as error:
            raise JournalUnusable(f"the journal holds no seat by mail: {error}") from None
        return MailSeatState(playing=playing, games=games, told=told)


class SeatMail(LetterCodec):
    """The ``MailCodec`` of a seat."""

    def __init__(self, host: str) -> None:
        self._host = host

    def is_own(self, mail: Mail) -> bool:
        sender = read_mailbox(mail.from_header)
        return sender is not None and same_address(sender, self._host) and read_subject(mail.subject) is not None

    def decode(self, mail: Mail) -> DecodedMail:
        if not self.is_own(mail):
            raise ForeignMail("is no letter of the host")
        for document in mail.documents:
            if isinstance(document, Mapping) and _is_letter(document):
                return DecodedMail(
                    event=LetterToSeat(letter=document),
                    sender=self._host,
                    message_type=str(document.get("kind"))[:60],
                    message_id=mail.mail_id,
                )
        raise ForeignMail("holds no letter to a seat")

    def peers(self) -> Peers:
        """The peers that may write to a seat."""
        return Peers(addresses=frozenset({address_key(self._host)}))


def _is_letter(document: Mapping[str, Any]) -> bool:
    return (
        "boardgame_mail" in document
        and is_name(document.get("match_id"))
        and is_name(document.get("agent_id"))
        and isinstance(document.get("messages"), list)
        and type(document.get("after")) is int
    )


def _attempt_of(decision: Mapping[str, Any]) -> tuple[int, int]:
    """(decision number, attempt): sorts by age, newest last."""
    number, left = decision.get("number"), decision.get("attempts_left")
    return (number, -left) if type(number) is int and type(left) is int else _NEVER


def _order(state: Mapping[str, Any]) -> tuple[bool, int]:
    inner = state.get("state")
    told = inner.get("data") if isinstance(inner, Mapping) else None
    seq = told.get("seq") if isinstance(told, Mapping) else None
    return state.get("status") in ("ended", "abandoned"), seq if type(seq) is int else -1


def _event_of(message: Mapping[str, Any]) -> Event | None:
    inner = message.get("message_response")
    told = inner.get("data") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(told, Mapping) or type(told.get("seq")) is not int:
        return None
    return Event(
        kind=str(told.get("event", "")),
        visible_to=ALL,
        text=str(inner.get("message", "")),
        data={key: value for key, value in told.items() if key not in _KEPT_FIELDS},
        seq=told["seq"],
    )
