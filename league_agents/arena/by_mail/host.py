"""The host of a match by mail, as a state machine: letters and time are records, outgoing letters are effects.

Rule 1: the state is the list of records; the same records rebuild the same table (``table``).
Rule 2: a mail counts only if its sender is verified as a seat's mailbox. Mail of other matches is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from league_agents.arena.agents.seated import legal_as_json
from league_agents.arena.by_mail.agents import Context, decision_call
from league_agents.arena.by_mail.letters import (
    LetterCodec,
    LetterEffect,
    LetterHeading,
    NoMessages,
    SendLetter,
    copy_id,
    dump_part,
    messages_in,
    read_subject,
)
from league_agents.arena.by_mail.setup import MailSetup, setup_from, setup_to
from league_agents.arena.by_mail.table import MailTable, Record, rebuilt
from league_agents.arena.session import Recorder, refused_line, step_of
from league_agents.games.game import ALL, HOST, Event
from league_agents.games.game import ForfeitCause as Forfeit
from league_agents.journal.port import Journal
from league_agents.kit.errors import ConfigError, JournalUnusable, RemoteProtocolError
from league_agents.kit.ids import derive_hex
from league_agents.kit.model_work import KEY
from league_agents.league.machines.effects import Call, ClearDeadline, Notice, SetDeadline, Warn
from league_agents.league.machines.events import CallbackFailed, CallbackReturned, DeadlinePassed, Failure, Started
from league_agents.league.wire.address import address_key, read_mailbox
from league_agents.mail.port import Mail, Peers
from league_agents.runner.codec import DecodedMail, ForeignMail
from league_agents.turns import ClassLoader
from league_agents.turns.message import InteractionError

ROLE: Final = "arena-host"
"""The role named in the journal."""

TOLD: Final = "told"
"""The code of a notice of a public event."""

AGAIN: Final = timedelta(minutes=1)
"""Delay before the next try after an interaction protocol has failed."""

_SETUP, _STEP, _CALLS, _CLOCK = "setup", "step-", "calls", "turn"


class LetterToHost(Struct, frozen=True, kw_only=True):
    """An event: a mail from a seat's mailbox has arrived."""

    arrived_at: datetime
    content: Mapping[str, Any]
    """The fields of its record: the address, the copy id, and the messages or the reason why there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostState:
    """The state of a match by mail."""

    records: tuple[Record, ...] = ()
    calls: frozenset[str] = frozenset()
    """Ids of the open calls to agents of the host."""


class HostMachine:
    """The ``Machine`` of one match."""

    role = ROLE

    def __init__(self, setup: MailSetup) -> None:
        self.setup = setup
        self._table = MailTable(setup)
        self._applied: tuple[Record, ...] | None = ()
        """The records that ``_table`` was built from; ``None`` if a step failed midway."""

    def initial(self) -> HostState:
        return HostState()

    def table(self, state: HostState) -> MailTable:
        """The table of a state. Valid until the next call for another state."""
        if self._applied is not state.records:
            self._table, self._applied = rebuilt(self.setup, state.records), state.records
        return self._table

    def is_over(self, state: HostState) -> bool:
        return self.table(state).is_over

    def write_down(self, state: HostState, recorder: Recorder) -> None:
        """Replay the whole match to a recorder."""
        rebuilt(self.setup, state.records, lambda setup: MailTable(setup, recorders=(recorder,)))

    def heard(self, state: HostState, context: Context, after: int) -> Sequence[Event]:
        """The events visible to the agent of a call, with numbers above ``after``."""
        return self.table(state).match.events_for(context["agent_id"], after=after)

    def step(self, state: HostState, event: object, now: datetime) -> tuple[HostState, list[LetterEffect]]:
        table = self.table(state)
        match event:
            case LetterToHost(arrived_at=arrived_at, content=content):
                record = {"kind": "mail", "at": min(arrived_at, now).isoformat(), "now": now.isoformat(), **content}
            case Started() if not state.records:
                record = {"kind": "start", "at": now.isoformat()}
            case DeadlinePassed():
                due = table.next_deadline()
                if due is None or due > now:
                    return state, self._clock(table)
                # Mail that arrived before that moment has been handled; mail of a later moment is not known yet.
                record = {"kind": "time", "at": due.isoformat(), "now": now.isoformat()}
                try:
                    return self._let_happen(record, state, now)
                except InteractionError as error:
                    # An interaction protocol of the host failed. It is tried again; the match is not abandoned.
                    warning = Warn(code="protocol_failed", text=f"the match cannot go on: {error}")
                    return state, [warning, SetDeadline(name=_CLOCK, at=now + AGAIN)]
            case CallbackReturned(call_id=call_id) | CallbackFailed(call_id=call_id):
                agent = next((agent for agent in table.asked() if _call_id(table, agent) == call_id), None)
                if agent is None:
                    return HostState(records=state.records, calls=state.calls - {call_id}), []
                record = {"kind": "act", "agent": agent, "at": now.isoformat(), **_decided(event)}
                return self._decide(agent, record, state, now)
            case _:
                return self._ask(table, state, now)
        return self._let_happen(record, state, now)

    def _decide(
        self, agent: str, record: Record, state: HostState, now: datetime
    ) -> tuple[HostState, list[LetterEffect]]:
        """Apply the decision of an agent of the host. Warns its author if it forfeits after refused actions."""
        table = self.table(state)
        decision, step = table.decisions.open_decisions[agent], step_of(table.legal(agent))
        refused = len(decision.refusals)
        state, effects = self._let_happen(record, state, now)
        if len(decision.refusals) > refused and table.decisions.open_decisions.get(agent) is not decision:
            effects.append(Warn(code="refused_actions", text=refused_line(decision, step)))
        return state, effects

    def _let_happen(self, record: Record, state: HostState, now: datetime) -> tuple[HostState, list[LetterEffect]]:
        table, number = self.table(state), len(state.records)
        known = len(table.match.events)
        self._applied = None
        letters = table.apply(record)
        records = self._applied = (*state.records, record)
        effects: list[LetterEffect] = []
        for letter in letters:
            seed, match_id, agent_id = str(self.setup.seed), self.setup.match_id, letter.agent_id
            effects.append(
                SendLetter(
                    transaction_id=f"t-{derive_hex(seed, match_id, agent_id, number, record['at'], digits=16)}",
                    kind=letter.kind,
                    to=self.setup.addresses[agent_id],
                    heading=LetterHeading(game=self.setup.scenario.game, match_id=match_id, agent_id=agent_id),
                    document=letter.document,
                )
            )
        told = table.match.events_for(HOST, after=known)
        effects += [Notice(code=TOLD, text=event.text) for event in told if event.visible_to == ALL]
        effects += self._clock(table)
        state, calls = self._ask(table, HostState(records=records, calls=state.calls), now)
        return state, [*effects, *calls]

    def _ask(self, table: MailTable, state: HostState, now: datetime) -> tuple[HostState, list[LetterEffect]]:
        """Ask the host's agents that owe an action and have not been asked yet."""
        wanted = {_call_id(table, agent): agent for agent in table.asked()}
        calls: list[LetterEffect] = [
            self._call(table, call_id, agent, now) for call_id, agent in wanted.items() if call_id not in state.calls
        ]
        asked = frozenset(wanted)
        return (state if asked == state.calls else HostState(records=state.records, calls=asked)), calls

    def _call(self, table: MailTable, call_id: str, agent_id: str, now: datetime) -> Call:
        return decision_call(
            call_id,
            game_id=agent_id,
            match_id=self.setup.match_id,
            agent_id=agent_id,
            view=table.view_for(agent_id),
            legal=legal_as_json(table.legal(agent_id)),
            until=table.decisions.open_decisions[agent_id].deadline,
            now=now,
        )

    def _clock(self, table: MailTable) -> list[LetterEffect]:
        deadline = table.next_deadline()
        return [ClearDeadline(name=_CLOCK) if deadline is None else SetDeadline(name=_CLOCK, at=deadline)]

    def parts(self, state: HostState, since: HostState | None = None) -> Mapping[str, object | None]:
        known = 0 if since is None else len(since.records)
        found: dict[str, object | None] = {} if since is not None else {_SETUP: setup_to(self.setup)}
        for number, record in enumerate(state.records[known:], known):
            found[f"{_STEP}{number:08d}"] = record
        if state.calls != (frozenset() if since is None else since.calls):
            found[_CALLS] = sorted(state.calls)
        return found

    def dump_part(self, name: str, part: object) -> str:
        return dump_part(name, part)

    def load(self, parts: Mapping[str, str]) -> HostState:
        try:
            records = tuple(json.loads(parts[name]) for name in sorted(parts) if name.startswith(_STEP))
            return HostState(records=records, calls=frozenset(json.loads(parts.get(_CALLS, "[]"))))
        except (ValueError, TypeError) as error:
            raise _no_match(error) from None


@dataclass(frozen=True, slots=True)
class HostMail(LetterCodec):
    """The ``MailCodec`` of the host of one match."""

    setup: MailSetup

    def is_own(self, mail: Mail) -> bool:
        heading = read_subject(mail.subject)
        return heading is not None and heading.match_id == self.setup.match_id

    def decode(self, mail: Mail) -> DecodedMail:
        heading = read_subject(mail.subject)
        if heading is None or heading.match_id != self.setup.match_id:
            raise ForeignMail("is no letter of this match")
        address = read_mailbox(mail.from_header)
        if address is None or not self.setup.seats_of(address):
            raise RemoteProtocolError(f"{mail.from_header[:100]!a} has no seat in this match")
        content: dict[str, Any] = {
            "address": address,
            "copy": derive_hex(self.setup.match_id, address, copy_id(mail), digits=24),
        }
        try:
            content["messages"] = messages_in(mail)
        except NoMessages as none:
            content["refused"] = [none.code, none.message]
        return DecodedMail(
            event=LetterToHost(arrived_at=mail.arrived_at, content=content),
            sender=address,
            message_type=f"boardgame {heading.game}"[:60],
            message_id=copy_id(mail)[:200],
        )

    def peers(self, *, is_over: bool) -> Peers:
        """The peers that may write to the host."""
        addresses = frozenset(address_key(address) for address in self.setup.addresses.values())
        return Peers(addresses=addresses, shortest_wait=None if is_over else self.setup.scenario.clock.turn_timeout)


def _call_id(table: MailTable, agent_id: str) -> str:
    return f"act {agent_id} {table.number_of(agent_id)}"


def _decided(event: CallbackReturned | CallbackFailed) -> dict[str, Any]:
    if isinstance(event, CallbackReturned):
        return {"action": event.result["action"], "raw": event.result.get("raw"), "models": event.result.get(KEY)}
    cause = Forfeit.TIMEOUT if event.failure is Failure.TIMED_OUT else Forfeit.ERROR
    return {"action": None, "cause": str(cause)}


def kept_setup(journal: Journal, load_class: ClassLoader | None = None) -> MailSetup | None:
    """The setup in a journal; ``None`` for a new journal. ``load_class`` loads the host's own interaction protocol.
    Raises ``JournalError``."""
    parts = journal.load_parts()
    if _SETUP not in parts:
        return None
    try:
        return setup_from(json.loads(parts[_SETUP]), load_class)
    except (ValueError, TypeError, ConfigError) as error:
        raise _no_match(error) from None


def checked_setup(kept: MailSetup | None, setup: MailSetup | None, address: str) -> MailSetup:
    """The setup of the match to host: ``kept`` from the journal, or else ``setup``. Raises ``ConfigError``."""
    chosen = kept or setup
    if chosen is None:
        raise ConfigError("journal", "is new: say which match is to be played in it")
    if kept is not None and setup is not None and setup_to(kept) != setup_to(setup):
        held = f"{kept.scenario.game} {kept.match_id}"
        raise ConfigError("journal", f"holds another match ({held}); name a new journal for this one")
    if chosen.host_address.lower() != address.lower():
        raise ConfigError("journal", f"is of {chosen.host_address}, and this mailbox is {address}")
    return chosen


def _no_match(error: Exception) -> JournalUnusable:
    return JournalUnusable(f"the journal holds no match by mail: {error}")
