"""Assemble one match from the notes and mails of the league manager, its referee and its players.

Rule 1: the manager's record decides the result, the referee's the course, a player's its own actions. A missing
journal leaves a gap; nothing is inferred.
Rule 2: an open match is read from mails only, so its target is not in the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from league_agents.games.q21.model import Termination
from league_agents.journal.port import BELIEF, MODEL_WORK, WARNING, Note
from league_agents.kit.candidates_left import CANDIDATES_LEFT, read_candidates_left
from league_agents.kit.json_values import elements, mapping, mappings, number, text, text_or_empty, whole
from league_agents.kit.values import evolve
from league_agents.league.season.orders import Command
from league_agents.league.season.standings import MatchStatus
from league_agents.league.wire.address import address_key, same_address
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole
from league_agents.report.match_mails import MatchWords, Received, Sent, messages_of, words_of
from league_agents.report.models import model_steps
from league_agents.report.records import (
    ANNULLED,
    OPEN,
    REPLAYED,
    RESET,
    UNKNOWN,
    JsonObject,
    MatchRecord,
    MessageRecord,
    PlayerRecord,
    ScheduledMatch,
    Settlement,
)
from league_agents.report.season_frame import RoleJournal, SeasonFrame
from league_agents.report.trouble import troubles

MATCH, GAME, SETTLEMENT = "match", "game", "settlement"
"""Kinds of notes: of a referee or a league manager, of a player, and of a change by the organiser."""

_UNDOING = (Command.REINSTATE.word, Command.READMIT.word)
"""The orders that undo a settlement."""


@dataclass(slots=True, kw_only=True)
class MatchEvidence:
    """The contents of the journals about one match."""

    official: JsonObject = field(default_factory=dict)
    """The league manager's facts."""

    played: JsonObject = field(default_factory=dict)
    """The referee's facts."""

    own: dict[str, JsonObject] = field(default_factory=dict)
    """The players' facts, by group."""

    ended_at: datetime | None = None
    settlements: list[Settlement] = field(default_factory=list)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    """Warnings, models' work and beliefs, by the address of the journal."""

    sent: list[Sent] = field(default_factory=list)
    """Sent mails with the sender's address."""

    received: list[Received] = field(default_factory=list)
    """Received mails with the address of the journal."""

    def take(self, journal: RoleJournal, group: str, note: Note) -> None:
        """Add one note."""
        if note.kind == SETTLEMENT:
            settled = settlement_of(note)
            self.settlements.append(settled)
            if not settled.after:
                self.official = {}  # settled before any report; it waits for a report again
        elif note.kind in (MODEL_WORK, BELIEF, WARNING):
            self.notes.setdefault(journal.address, []).append(note)
        elif note.kind == GAME:
            self.own[group] = note.facts
            self.ended_at = self.ended_at or note.at
        elif journal.role == "manager":
            self.official, self.ended_at = note.facts, self.ended_at or note.at
        else:
            self.played, self.ended_at = note.facts, note.at


def assembled(
    game_id: str,
    evidence: MatchEvidence,
    frame: SeasonFrame,
    planned: ScheduledMatch | None,
    journals: Sequence[RoleJournal],
    *,
    result: JsonObject | None,
    rules: str,
) -> MatchRecord:
    """Assemble the match. ``result`` is its row in the round's results, as broadcast to players."""
    settlements = _settlements(evidence)
    facts = evidence.played or evidence.official
    official = evidence.official or facts
    referee_email = _referee_email(frame, planned)
    words = MatchWords()
    if evidence.official and not _is_ended(evidence, referee_email):
        # Settled by the organiser while its referee continues: it counts as over, but its contents are still secret.
        evidence.own.clear()
    elif not evidence.played:
        words = words_of(evidence.sent, evidence.received, [journal.address for journal in journals])
    # Only the referee of a match has notes of it, even among several referees' journals.
    judged = [note for each in journals if each.role == "referee" for note in evidence.notes.get(each.address, ())]
    messages = tuple(messages_of(evidence.sent, evidence.received))
    status = _status(settlements, official, result)
    return MatchRecord(
        game_id=game_id,
        season_id=frame.season_id or str(facts.get("season_id") or ""),
        round_number=planned.round_number if planned is not None else whole(facts.get("round_number")) or 0,
        division=planned.division if planned is not None else "",
        referee_id=planned.referee if planned is not None else text_or_empty(official.get("referee_group")),
        referee_email=referee_email,
        rules=rules,
        status=status,
        winner_id=text(official.get("winner_id") or (result or {}).get("winner_id")) or None,
        is_draw=official.get("is_draw") is True,
        abort_reason=text(official.get("abort_reason")) or None,
        absent=tuple(each for each in AssignmentRole if each in elements(official.get("absent"))),
        is_walkover=official.get("is_walkover") is True or status == MatchStatus.WALKOVER,
        caused_by=text(facts.get("caused_by")) or None,
        warmup_question=text(facts.get("warmup_question")) or words.warmup_question,
        brief=mapping(facts.get("brief")) or words.brief,
        target=mapping(evidence.played.get("target")) or None,
        players=tuple(_players(game_id, evidence, frame, planned, words, journals, _before_settled(settlements))),
        messages=messages,
        notes=tuple(troubles(judged, game_id)),
        models=tuple(model_steps(judged, game_id)),
        settlements=settlements,
        started_at=_started_at(messages, evidence.ended_at),
        ended_at=evidence.ended_at,
    )


def _started_at(messages: Sequence[MessageRecord], ended_at: datetime | None) -> datetime | None:
    """The earliest mail of the match; ``None`` if only reports are known, or mails that came after its end."""
    played = (each.at for each in messages if each.message_type != MessageType.MATCH_RESULT_REPORT)
    first = min(played, default=None)
    return None if first is None or (ended_at is not None and first >= ended_at) else first


def _referee_email(frame: SeasonFrame, planned: ScheduledMatch | None) -> str:
    team = None if planned is None else frame.teams.get(planned.referee)
    return "" if team is None else team.referee_email


def settlement_of(note: Note) -> Settlement:
    """A note of kind ``settlement``."""
    facts = note.facts
    return Settlement(
        at=note.at,
        order=text_or_empty(facts.get("order")),
        why=text_or_empty(facts.get("why")),
        by=text_or_empty(facts.get("by")),
        before=mapping(facts.get("before")),
        after=mapping(facts.get("after")),
        withdrawn=facts.get("withdrawn") is True,
    )


def _settlements(evidence: MatchEvidence) -> tuple[Settlement, ...]:
    """The settlements, oldest first. One that was reversed later is marked as withdrawn."""
    found: list[Settlement] = []
    for each in evidence.settlements:
        if each.order == "reinstate":
            found = [evolve(former, withdrawn=True) for former in found]
        found.append(each)
    return tuple(found)


def _before_settled(settlements: Sequence[Settlement]) -> JsonObject | None:
    """What counted before the settlement that holds; empty if nothing did, ``None`` if no result is settled."""
    found: JsonObject | None = None
    for each in settlements:
        if each.order in _UNDOING:
            found = None
        elif found is None and "league_points" in each.after:
            found = each.before
    return found


def _is_ended(evidence: MatchEvidence, referee_email: str) -> bool:
    """Whether the referee has ended the match: by its own note, or by its report."""
    senders = [(sender, item.message_type) for sender, item in evidence.sent]
    senders += [(row.sender, row.message_type) for _, row in evidence.received]
    report = MessageType.MATCH_RESULT_REPORT
    return bool(evidence.played) or any(
        kind == report and same_address(sender, referee_email) for sender, kind in senders
    )


def _status(settlements: Sequence[Settlement], official: JsonObject, result: JsonObject | None) -> str:
    if settlements and (status := settlements[-1].after.get("status")) in (ANNULLED, REPLAYED):
        return text_or_empty(status)
    if official:
        if official.get("termination") == Termination.RESET.value:
            return RESET
        return text(official.get("status")) or UNKNOWN
    if result is not None:
        return text(result.get("status")) or UNKNOWN
    return OPEN


def _players(
    game_id: str,
    evidence: MatchEvidence,
    frame: SeasonFrame,
    planned: ScheduledMatch | None,
    words: MatchWords,
    journals: Sequence[RoleJournal],
    before: JsonObject | None,
) -> Iterator[PlayerRecord]:
    rows = {text_or_empty(row.get("id")): row for row in mappings(evidence.played.get("players"))}
    official = {text_or_empty(row.get("id")): row for row in mappings(evidence.official.get("players"))}
    seats = [planned.player1, planned.player2] if planned is not None else [*(rows or official or evidence.own)]
    by_group = {frame.group_of(journal.address): journal for journal in journals if journal.role == "player"}
    for seat, group in enumerate(seats, start=1):
        team = frame.teams.get(group)
        row, counted, own = rows.get(group, {}), official.get(group, {}), evidence.own.get(group, {})
        email = (team.player_email if team is not None else "") or text_or_empty(row.get("email"))
        said = words.runs.get(address_key(email), {})
        journal = by_group.get(group)
        warnings = [] if journal is None else evidence.notes.get(journal.address, [])
        card = _first(row, own, said, "scorecard")
        # Of a settled match the manager's row has the points of the settlement, which nobody reported.
        stated = counted if before is None else _of_seat(before, seat)
        yield PlayerRecord(
            participant_id=group,
            display_name=team.display_name if team is not None else "",
            email=email,
            role=f"player{seat}",
            termination=text_or_empty(row.get("termination") or own.get("termination") or counted.get("termination")),
            phase=text_or_empty(row.get("phase") or own.get("phase")),
            league_points=_first_number(row, stated, mapping(card), "league_points"),
            counted_points=_first_number(counted, "counted_points"),
            private_score=_first_number(row, stated, mapping(card), "private_score"),
            warmup_answer=text(_first(row, said, "warmup_answer")) or None,
            questions=tuple(mappings(_first(row, own, said, "questions"))),
            answers=tuple(mappings(_first(row, own, said, "answers"))),
            candidates_left=_candidates_left(warnings, game_id) if own else (),
            guess=mapping(_first(row, own, said, "guess")) or None,
            scorecard=mapping(card) or None,
            own_report=text(counted.get("own_report")) or None,
            notes=tuple(troubles(warnings, game_id)),
            models=tuple(model_steps(warnings, game_id)),
        )


def _of_seat(outcome: JsonObject, seat: int) -> JsonObject:
    """The scores of one player in a settlement's record of an outcome, by the keys of a report."""
    both = {"league_points": "league_points", "private_score": "private_scores"}
    return {name: value for name, key in both.items() for value in elements(outcome.get(key))[seat - 1 : seat]}


def _candidates_left(notes: Sequence[Note], game_id: str) -> tuple[float, ...]:
    """The last statement of the player's agent. It is read only once the player has its score."""
    stated = (note for note in reversed(notes) if note.kind == BELIEF and note.key == game_id)
    return next((read_candidates_left(note.facts.get(CANDIDATES_LEFT)) for note in stated), ())


def _first(*places: Mapping[str, object] | str) -> object:
    """The first value of the last argument's key that is not empty."""
    *maps, key = places
    values = (each.get(str(key)) for each in maps if isinstance(each, Mapping))
    return next((value for value in values if value), None)


def _first_number(*places: Mapping[str, object] | str) -> float | None:
    """The first number under the last argument's key."""
    *maps, key = places
    values = (each.get(str(key)) for each in maps if isinstance(each, Mapping))
    return next((found for value in values if (found := number(value)) is not None), None)
