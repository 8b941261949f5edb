"""One match put together from what the league manager, its referee and its players noted and wrote.

Rule 1: the manager says what counts, the referee what happened, a player what it did itself. Whoever is missing leaves
a gap; nothing is computed from a guess.
Rule 2: while a match goes on it is read from mails alone, so its target is nowhere to be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from league_agents.games.q21.as_json import (
    answers_as_json,
    breakdown_as_json,
    brief_as_json,
    feedback_as_json,
    guess_as_json,
    question_as_json,
)
from league_agents.games.q21.model import Scorecard, Termination
from league_agents.journal.port import MODEL_WORK, WARNING, InboxRow, Note, OutboxItem, OutboxState
from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.values import evolve
from league_agents.league.wire.address import address_key
from league_agents.league.wire.decode import decode
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AnswersBatch,
    GuessSubmission,
    MatchReport,
    QuestionsBatch,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from league_agents.league.wire.payload import Payload
from league_agents.league.wire.reading import instant_of
from league_agents.report.cells import mapping, mappings
from league_agents.report.models import model_steps
from league_agents.report.records import (
    ANNULLED,
    OPEN,
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
"""Kinds of notes: of a referee or a league manager, of a player, and of what the organiser changed."""

_REPLY_TO = {
    MessageType.Q21WARMUPRESPONSE.value: MessageType.Q21WARMUPCALL.value,
    MessageType.Q21QUESTIONSBATCH.value: MessageType.Q21ROUNDSTART.value,
    MessageType.Q21GUESSSUBMISSION.value: MessageType.Q21ANSWERSBATCH.value,
}


@dataclass(slots=True, kw_only=True)
class Evidence:
    """What the journals hold about one match."""

    official: JsonObject = field(default_factory=dict)
    """The league manager's facts."""

    played: JsonObject = field(default_factory=dict)
    """The referee's."""

    own: dict[str, JsonObject] = field(default_factory=dict)
    """The players', by their groups."""

    ended_at: datetime | None = None
    settlements: list[Settlement] = field(default_factory=list)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    """Warnings and models' work, by the address of the journal."""

    sent: list[tuple[str, OutboxItem]] = field(default_factory=list)
    """With the sender's address."""

    received: list[tuple[str, InboxRow]] = field(default_factory=list)
    """With the address of the journal."""

    def take(self, journal: RoleJournal, group: str, note: Note) -> None:
        """One note more."""
        if note.kind == SETTLEMENT:
            self.settlements.append(settlement_of(note))
        elif note.kind in (MODEL_WORK, WARNING):
            self.notes.setdefault(journal.address, []).append(note)
        elif note.kind == GAME:
            self.own[group] = note.facts
            self.ended_at = self.ended_at or note.at
        elif journal.role == "manager":
            self.official, self.ended_at = note.facts, self.ended_at or note.at
        else:
            self.played, self.ended_at = note.facts, note.at


@dataclass(slots=True, kw_only=True)
class _Words:
    """What was said in a match, as far as it stands in mails."""

    warmup_question: str | None = None
    brief: JsonObject | None = None
    runs: dict[str, dict[str, object]] = field(default_factory=dict)
    """Fields of a ``PlayerRecord`` by the ``address_key`` of the player."""


def assembled(
    game_id: str,
    evidence: Evidence,
    frame: SeasonFrame,
    planned: ScheduledMatch | None,
    journals: Sequence[RoleJournal],
    *,
    result: JsonObject | None,
    rules: str,
) -> MatchRecord:
    """The match. ``result`` is what the league told a player of it, the row of its round's results."""
    facts = evidence.played or evidence.official
    official = evidence.official or facts
    words = _words_of(evidence, [journal.address for journal in journals])
    # Only the referee of a match has notes of it, however many referees' journals there are.
    judged = [note for each in journals if each.role == "referee" for note in evidence.notes.get(each.address, ())]
    messages = tuple(_messages(evidence))
    status = _status(evidence, official, result)
    return MatchRecord(
        game_id=game_id,
        season_id=frame.season_id or str(facts.get("season_id") or ""),
        round_number=planned.round_number if planned is not None else _whole(facts.get("round_number")),
        division=planned.division if planned is not None else "",
        referee_id=planned.referee if planned is not None else _text(official.get("referee_group")),
        referee_email=_referee_email(frame, planned),
        rules=rules,
        status=status,
        winner_id=_text(official.get("winner_id") or (result or {}).get("winner_id")) or None,
        is_draw=official.get("is_draw") is True,
        abort_reason=_text(official.get("abort_reason")) or None,
        caused_by=_text(facts.get("caused_by")) or None,
        warmup_question=_text(facts.get("warmup_question")) or words.warmup_question,
        brief=mapping(facts.get("brief")) or words.brief,
        target=mapping(evidence.played.get("target")) or None,
        players=tuple(_players(game_id, evidence, frame, planned, words, journals)),
        messages=messages,
        notes=tuple(troubles(judged, game_id)),
        models=tuple(model_steps(judged, game_id)),
        settlements=tuple(evidence.settlements),
        started_at=min((message.at for message in messages), default=None),
        ended_at=evidence.ended_at,
    )


def _referee_email(frame: SeasonFrame, planned: ScheduledMatch | None) -> str:
    team = None if planned is None else frame.teams.get(planned.referee)
    return "" if team is None else team.referee_email


def settlement_of(note: Note) -> Settlement:
    """A note of kind ``settlement``."""
    facts = note.facts
    return Settlement(
        at=note.at,
        order=_text(facts.get("order")),
        why=_text(facts.get("why")),
        by=_text(facts.get("by")),
        before=mapping(facts.get("before")),
        after=mapping(facts.get("after")),
        withdrawn=facts.get("withdrawn") is True,
    )


def _status(evidence: Evidence, official: JsonObject, result: JsonObject | None) -> str:
    standing = [each for each in evidence.settlements if not each.withdrawn]
    if standing and standing[-1].order == "annul":
        return ANNULLED
    if official:
        if official.get("termination") == Termination.RESET.value and not official.get("status"):
            return RESET
        return _text(official.get("status")) or UNKNOWN
    if result is not None:
        return _text(result.get("status")) or UNKNOWN
    return OPEN


def _players(
    game_id: str,
    evidence: Evidence,
    frame: SeasonFrame,
    planned: ScheduledMatch | None,
    words: _Words,
    journals: Sequence[RoleJournal],
) -> Iterator[PlayerRecord]:
    rows = {_text(row.get("id")): row for row in mappings(evidence.played.get("players"))}
    official = {_text(row.get("id")): row for row in mappings(evidence.official.get("players"))}
    seats = [planned.player1, planned.player2] if planned is not None else [*(rows or official or evidence.own)]
    by_group = {frame.group_of(journal.address): journal for journal in journals if journal.role == "player"}
    for seat, group in enumerate(seats, start=1):
        team = frame.teams.get(group)
        row, counted, own = rows.get(group, {}), official.get(group, {}), evidence.own.get(group, {})
        email = (team.player_email if team is not None else "") or _text(row.get("email"))
        said = words.runs.get(address_key(email), {})
        journal = by_group.get(group)
        warnings = [] if journal is None else evidence.notes.get(journal.address, [])
        card = _first(row, own, said, "scorecard")
        yield PlayerRecord(
            participant_id=group,
            display_name=team.display_name if team is not None else "",
            email=email,
            role=f"player{seat}",
            termination=_text(row.get("termination") or own.get("termination") or counted.get("termination")),
            phase=_text(row.get("phase") or own.get("phase")),
            league_points=_number(row, counted, mapping(card), "league_points"),
            counted_points=_number(counted, "counted_points"),
            private_score=_number(row, counted, mapping(card), "private_score"),
            warmup_answer=_text(_first(row, said, "warmup_answer")) or None,
            questions=tuple(mappings(_first(row, own, said, "questions"))),
            answers=tuple(mappings(_first(row, own, said, "answers"))),
            guess=mapping(_first(row, own, said, "guess")) or None,
            scorecard=mapping(card) or None,
            own_report=_text(counted.get("own_report")) or None,
            notes=tuple(troubles(warnings, game_id)),
            models=tuple(model_steps(warnings, game_id)),
        )


def _words_of(evidence: Evidence, owners: Iterable[str]) -> _Words:
    """What mails say. Of each mail the copy of the one who sent it, where there is one."""
    words = _Words()
    own = {address_key(address) for address in owners}
    for sender, item in evidence.sent:
        if item.state is OutboxState.SENT:
            _hear(words, item.subject, sender, item.to, item.document, item.transaction_id)
    for owner, row in evidence.received:
        if address_key(row.sender) not in own and row.document is not None:
            _hear(words, row.subject, row.sender, (owner,), row.document, row.mail_id)
    return words


def _hear(
    words: _Words, subject: str, sender: str, to: Sequence[str], document: Mapping[str, object], mail_id: str
) -> None:
    try:
        payload: Payload = decode(subject=subject, from_header=sender, documents=[document], mail_id=mail_id).payload
    except RemoteProtocolError:
        return
    found: dict[str, object] = {}
    player = next(iter(to), "")
    match payload:
        case WarmupCall():
            words.warmup_question = payload.warmup_question
        case RoundStart():
            words.brief = brief_as_json(payload.brief)
        case WarmupResponse():
            player, found = sender, {"warmup_answer": payload.answer}
        case QuestionsBatch():
            player, found = sender, {"questions": [question_as_json(question) for question in payload.questions]}
        case AnswersBatch():
            found = {"answers": answers_as_json(payload.answers)}
        case GuessSubmission():
            player, found = sender, {"guess": guess_as_json(payload.guess)}
        case ScoreFeedback():
            found = {"scorecard": _card(payload.scorecard)}
        case MatchReport():
            for row in payload.scores:
                if row.feedback is not None:
                    card: dict[str, object] = {"league_points": row.league_points, "private_score": row.private_score}
                    card["feedback"] = feedback_as_json(row.feedback)
                    words.runs.setdefault(address_key(row.email), {}).setdefault("scorecard", card)
    if found:
        words.runs.setdefault(address_key(player), {}).update(found)


def _card(card: Scorecard) -> dict[str, object]:
    return {
        "league_points": card.league_points,
        "private_score": card.private_score,
        "breakdown": {} if card.breakdown is None else breakdown_as_json(card.breakdown),
        "feedback": {} if card.feedback is None else feedback_as_json(card.feedback),
    }


def _messages(evidence: Evidence) -> list[MessageRecord]:
    """Each mail once, oldest first, with how late an answer came."""
    arrived = {(address_key(row.sender), row.message_id): row.arrived_at for _, row in evidence.received}
    found: dict[tuple[str, str, tuple[str, ...]], MessageRecord] = {}
    sent = {
        (address_key(sender), str(item.document.get("message_id", item.transaction_id)))
        for sender, item in evidence.sent
    }
    # What arrived at an instant stands before what was sent at it: the answer.
    for owner, row in evidence.received:
        if (address_key(row.sender), row.message_id) not in sent:
            found[address_key(row.sender), row.mail_id, (owner,)] = MessageRecord(
                at=row.arrived_at,
                sender=row.sender,
                to=(owner,),
                message_type=row.message_type,
                message_id=row.message_id,
                deadline=_deadline(row.document or {}),
            )
    for sender, item in evidence.sent:
        if item.state is OutboxState.SENT:
            found[address_key(sender), item.transaction_id, item.to] = MessageRecord(
                at=item.created_at,
                sender=sender,
                to=item.to,
                message_type=item.message_type,
                message_id=str(item.document.get("message_id", item.transaction_id)),
                deadline=_deadline(item.document),
            )
    ordered = sorted(found.values(), key=lambda message: message.at)
    return [_with_lateness(message, ordered, arrived) for message in ordered]


def _with_lateness(
    message: MessageRecord, ordered: Sequence[MessageRecord], arrived: Mapping[tuple[str, str], datetime]
) -> MessageRecord:
    asked = _REPLY_TO.get(message.message_type)
    if asked is None:
        return message
    at = arrived.get((address_key(message.sender), message.message_id), message.at)
    due = [
        each.deadline
        for each in ordered
        if each.message_type == asked
        and each.deadline is not None
        and any(address_key(to) == address_key(message.sender) for to in each.to)
    ]
    if not due or at <= max(due):
        return message
    return evolve(message, late_by_s=(at - max(due)).total_seconds())


def _deadline(document: Mapping[str, object]) -> datetime | None:
    return instant_of(mapping(document.get("payload")).get("deadline"))


def _first(*places: Mapping[str, object] | str) -> object:
    """The first value of the last argument's key that is not empty."""
    *maps, key = places
    values = (each.get(str(key)) for each in maps if isinstance(each, Mapping))
    return next((value for value in values if value), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def _number(*places: Mapping[str, object] | str) -> float | None:
    *maps, key = places
    values = (each.get(str(key)) for each in maps if isinstance(each, Mapping))
    return next((value for value in values if isinstance(value, int | float) and not isinstance(value, bool)), None)
