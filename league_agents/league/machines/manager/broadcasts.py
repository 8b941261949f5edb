"""The messages of the league manager: broadcasts in one mail to all recipients who need the same, and answers to one
member.

Rule 1: ``sender.email`` is always stated, and a broadcast carries its id in the envelope, from which the codec writes
it in both places (protocol 9).
Rule 2: ids are derived from the content of a message. A step that is run again after a crash writes the same mail.
Rule 3: players that understand the core messages only are sent no others; strangers are sent nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from league_agents.league.machines.effects import Send
from league_agents.league.machines.events import OperatorCommand
from league_agents.league.machines.manager.config import LookupTable, ManagerConfig, Roster, RosterMember
from league_agents.league.machines.manager.state import ManagerState
from league_agents.league.machines.turn import StepContext
from league_agents.league.wire.catalogue import DECLARATIONS
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import NewRound, Payload
from league_agents.league.wire.reading import LONGEST_TEXT

EVERYBODY = "BROADCAST"
"""The recipient id of a broadcast (protocol 3.1)."""


@dataclass(slots=True, kw_only=True)
class SeasonTurn(StepContext):
    """The context of one step of the league manager."""

    config: ManagerConfig
    roster: Roster
    command: OperatorCommand | None = None
    """The operator's command; ``None`` if another event caused the step."""

    @property
    def command_text(self) -> str:
        """The text of the operator's command, cut to the length that readers keep."""
        return self.command.text.strip()[:LONGEST_TEXT] if self.command is not None else ""


def round_id(config: ManagerConfig, resets: int, number: int) -> str:
    """The id of a round. A reset changes it, so that reports from before the reset can be recognised."""
    again = f"_{resets}" if resets else ""
    return f"{config.season_id}_R{number}{again}"


def broadcast(
    turn: SeasonTurn,
    state: ManagerState,
    kind: MessageType,
    payload: Payload,
    to: Iterable[RosterMember],
    *,
    about: str,
    round_number: int = 0,
    own_rows: Callable[[Sequence[RosterMember]], Payload] | None = None,
) -> str:
    """Send one mail to all of ``to`` who understand it; return its id. ``about`` distinguishes broadcasts of a type.

    With ``own_rows`` those who take own rows are sent mails of their own, each to the members of a few teams, in the
    order of ``to``; the others' order is that of the roster.
    """
    envelope = broadcast_envelope(turn, state, kind, payload, about=about, round_number=round_number)
    is_core = DECLARATIONS[kind].is_core
    members = [member for member in to if is_core or not member.is_core_only]
    if own_rows is not None:
        takers = [member for member in members if takes_own_rows(turn, state, member)]
        others = (member for member in members if not takes_own_rows(turn, state, member))
        members = sorted(others, key=lambda member: member.index)
        for number, few in enumerate(_of_few_teams(takers, turn.config.part_teams), start=1):
            part = broadcast_envelope(
                turn, state, kind, own_rows(few), about=f"{about} part {number}", round_number=round_number
            )
            turn.effects.append(Send(envelope=part, to=tuple(member.email for member in few)))
    if members:
        turn.effects.append(Send(envelope=envelope, to=tuple(member.email for member in members)))
    return envelope.broadcast_id or ""


def takes_own_rows(turn: SeasonTurn, state: ManagerState, member: RosterMember) -> bool:
    """Whether a member is sent the rows that it needs in place of whole tables."""
    return len(turn.config.teams) > turn.config.part_teams and state.attendance[member.index].takes_own_rows


def _of_few_teams(members: Sequence[RosterMember], most: int) -> Iterator[list[RosterMember]]:
    """The members in their order, as many together as are of at most so many teams."""
    few: list[RosterMember] = []
    teams: set[str] = set()
    for member in members:
        if member.team.group_id not in teams and len(teams) == most:
            yield few
            few, teams = [], set()
        few.append(member)
        teams.add(member.team.group_id)
    if few:
        yield few


def broadcast_envelope(
    turn: SeasonTurn,
    state: ManagerState,
    kind: MessageType,
    payload: Payload,
    *,
    about: str,
    round_number: int = 0,
    at: datetime | None = None,
) -> Envelope:
    """Build a broadcast. It is the same for the same season, type, ``about`` and instant."""
    config, resets = turn.config, state.season.resets
    stands_for = (config.season_id, resets, kind.value, about)
    return turn.envelope(
        kind,
        payload,
        message_id=turn.uuid("message", *stands_for),
        recipient_id=EVERYBODY,
        at=at,
        logical_id=turn.identity.participant_id or None,
        league_id=config.league_id,
        season_id=config.season_id,
        round_id=round_id(config, resets, round_number) if round_number else None,
        broadcast_id=f"bc-{DECLARATIONS[kind].id_word}-{turn.hex('broadcast', *stands_for, digits=12)}",
    )


def answer(
    turn: SeasonTurn,
    state: ManagerState,
    kind: MessageType,
    payload: Payload,
    to: RosterMember,
    *,
    about: str,
    correlation_id: str | None,
    is_repeat: bool = False,
) -> None:
    """Send a message to one member."""
    config = turn.config
    envelope = turn.envelope(
        kind,
        payload,
        message_id=turn.uuid("answer", config.season_id, state.season.resets, kind.value, to.key, about),
        recipient_id=to.email,
        logical_id=turn.identity.participant_id or None,
        correlation_id=correlation_id,
        league_id=config.league_id,
        season_id=config.season_id,
    )
    turn.effects.append(Send(envelope=envelope, to=(to.email,), is_repeat=is_repeat))


def audience(turn: SeasonTurn, state: ManagerState) -> tuple[RosterMember, ...]:
    """The members who registered or have a game; before there is a schedule, the whole roster."""
    schedule = state.schedule
    if schedule is None:
        return turn.roster.members
    return tuple(
        member
        for member, attendance in zip(turn.roster.members, state.attendance, strict=True)
        if attendance.registered_at is not None or schedule.involves(member.key)
    )


def not_withdrawn(state: ManagerState, members: Iterable[RosterMember]) -> Iterator[RosterMember]:
    """The members whose team is not withdrawn. Only these are waited for."""
    return (member for member in members if member.team.group_id not in state.season.withdrawn)


def judges(turn: SeasonTurn, state: ManagerState) -> tuple[RosterMember, ...]:
    """The referees in the audience."""
    return tuple(member for member in audience(turn, state) if member.role is Role.REFEREE)


def new_round(turn: SeasonTurn, state: ManagerState, number: int) -> NewRound:
    """The payload that announces a round."""
    total = state.total_rounds
    return NewRound(
        round_number=number,
        round_ended=number - 1 if number > 1 else None,
        total_rounds=total,
        is_final_round=number == total,
        participant_lookup_table=_present(turn, state),
    )


def _present(turn: SeasonTurn, state: ManagerState) -> tuple[str, ...] | None:
    """The addresses that count as present; ``None`` if the table is off or members had too little time to be heard."""
    if turn.config.lookup_table is LookupTable.OFF:
        return None
    heard = tuple(
        member.email
        for member, attendance in zip(turn.roster.members, state.attendance, strict=True)
        if attendance.is_heard
    )
    return heard if heard and _had_time_to_be_heard(turn, state) else None


def _had_time_to_be_heard(turn: SeasonTurn, state: ManagerState) -> bool:
    season, inquiry = state.season, state.inquiry
    closed, deadline = season.registration_closed_at, season.registration_deadline
    if closed is not None and deadline is not None and closed >= deadline:
        return True
    if inquiry is not None and inquiry.is_keep_alive and turn.now - inquiry.asked_at >= turn.config.presence_wait:
        return True
    return all(attendance.is_heard for attendance in state.attendance)
