"""A journal that version 0.1.0 left in the middle of a match is taken up: ``tests/golden/journal``."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from league_agents.games.q21.flow import SeatPhase
from league_agents.games.q21.model import Guess
from league_agents.games.q21.rules import PRD
from league_agents.journal.sqlite import SqliteJournal
from league_agents.league.machines.config import RefereeConfig
from league_agents.league.machines.effects import Call, Send
from league_agents.league.machines.events import CallbackReturned, Identity, MessageArrived
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.machines.stored import dump
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import GuessSubmission, MatchReport

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "journal" / "referee_in_a_match.0.1.0.sql"
REFEREE = "referee.house@league.test"
NOW = datetime(2031, 5, 2, 8, 10, 30, tzinfo=UTC)
GUESS = Guess(
    opening_sentence="Call me Ishmael.",
    sentence_justification="",
    associative_word="whale",
    word_justification="",
    confidence=None,
)


def former_journal(folder: Path) -> SqliteJournal:
    path = folder / "referee.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(GOLDEN.read_text(encoding="utf-8"))
    return SqliteJournal(path, role="referee", address=REFEREE, dump=lambda _, part: dump(part))


def house() -> Referee:
    identity = Identity(email=REFEREE, participant_id="REF-HOUSE", group_id="house", display_name="House")
    return Referee(config=RefereeConfig(identity=identity, manager_email="league-office@league.test", rules=PRD))


def test_every_part_says_what_it_said(tmp_path: Path) -> None:
    with closing(former_journal(tmp_path)) as journal:
        state = house().load(journal.load_parts())
    match = state.matches["0101001"]  # type: ignore[index]
    assert [seat.phase for seat in match.seats] == [SeatPhase.GUESSED, SeatPhase.ANSWERED]
    assert [(len(seat.questions), len(seat.answers)) for seat in match.seats] == [(20, 20), (20, 20)]
    assert match.player1.guess is not None
    assert match.player1.guess.opening_sentence == "Call me Ishmael."
    assert match.target is not None
    assert [fixture.game_id for fixture in state.league.fixtures] == ["0101001"]
    assert [type(reply.envelope.payload).__name__ for reply in state.league.replies] == [
        "RegistrationRequest",
        "AssignmentAck",
    ]


def test_what_waits_and_what_was_sent_is_known(tmp_path: Path) -> None:
    with closing(former_journal(tmp_path)) as journal:
        assert [call.callback for call in journal.pending_calls()] == ["get_score_feedback"]
        assert journal.next_wake() is not None
        assert sum(item.message_type == "Q21ANSWERSBATCH" for item in journal.outbox()) == 2


def test_the_match_is_played_to_its_end(tmp_path: Path) -> None:
    referee = house()
    with closing(former_journal(tmp_path)) as journal:
        state = referee.load(journal.load_parts())
        waiting = [call.call_id for call in journal.pending_calls()]
    guess = Envelope(
        protocol=Protocol.GAME,
        message_type=MessageType.Q21GUESSSUBMISSION,
        message_id="guess-of-player-b",
        timestamp=NOW,
        sender=Sender(email="player-b@league.test", role=Role.PLAYER),
        recipient_id="REF-HOUSE",
        payload=GuessSubmission(guess=GUESS),
        game_id=state.matches["0101001"].game_id,  # type: ignore[index]
    )
    effects: list[Any] = []
    state, told = referee.step(state, MessageArrived(envelope=guess, mail_id="late", arrived_at=NOW), NOW)
    effects += told
    waiting += [effect.call_id for effect in told if isinstance(effect, Call)]
    assert len(waiting) == 2
    for call_id in waiting:
        scored = CallbackReturned(call_id=call_id, result={"league_points": 3, "private_score": 90.0})
        state, told = referee.step(state, scored, NOW + timedelta(seconds=1))
        effects += told
    reports = [
        effect.envelope.payload
        for effect in effects
        if isinstance(effect, Send) and isinstance(effect.envelope.payload, MatchReport)
    ]
    assert [[row.participant_id for row in report.scores] for report in reports] == [["player-a", "player-b"]]
