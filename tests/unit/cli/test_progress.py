"""What is told while a match is played."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from league_agents.cli.progress import ProgressPrinter
from league_agents.journal.port import MODEL_WORK, Note, OutboxItem
from league_agents.kit.model_work import ModelStep, ModelWorkUse, Why

START = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)


def item(kind: str, payload: Any, *, at: datetime = START, **document: Any) -> OutboxItem:
    return OutboxItem(
        transaction_id="t",
        message_type=kind,
        to=("player-b@league.test",),
        subject="",
        document={
            "payload": payload,
            "recipient_id": "player-b",
            "sender": {"logical_id": "player-a", "email": "player-a@league.test"},
            **document,
        },
        file_name="",
        game_id=None,
        created_at=at,
    )


def told(*events: tuple[str, OutboxItem | Note], **console: Any) -> list[str]:
    stream = io.StringIO()
    everybody = ProgressPrinter(Console(file=stream, **console), "Seed 1")
    for role, event in events:
        progress = everybody.of("player-a" if role == "player" else "")
        if isinstance(event, Note):
            progress.noted(role, event)
        else:
            progress.sent(role, event)
    return stream.getvalue().splitlines()


def test_lines_carry_the_time_of_the_match_since_its_first_event() -> None:
    lines = told(
        ("manager", item("BROADCAST_START_SEASON", {})),
        ("player", item("SEASON_REGISTRATION_REQUEST", {}, at=START + timedelta(hours=2, seconds=7))),
    )
    assert lines == ["Seed 1", " 0:00:00  The league manager opens the season", " 2:00:07  player-a registers"]


def test_nothing_is_told_of_a_match_that_does_not_start() -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("role", "kind", "payload", "line"),
    [
        ("referee", "Q21WARMUPCALL", {"warmup_question": "2+2?"}, "The referee asks player-b to warm up: “2+2?”"),
        ("player", "Q21WARMUPRESPONSE", {"answer": "4"}, "player-a answers “4”"),
        ("player", "Q21QUESTIONSBATCH", {"questions": [{"question_text": "Is it?"}, {}]},
         "player-a asks 2 questions, the first: “Is it?”"),
        ("referee", "Q21ANSWERSBATCH", {"answers": [{"answer": "A"}, {"answer": "Not Relevant"}]},
         "The referee answers player-b: A –"),
        ("player", "Q21GUESSSUBMISSION", {"opening_sentence": "It was.", "associative_word": "sea"},
         "player-a guesses “It was.” and the word “sea”"),
        ("referee", "Q21SCOREFEEDBACK", {"league_points": 1, "private_score": 51.5},
         "The referee gives player-b 1 point (private score 51.5)"),
        ("referee", "MATCH_RESULT_REPORT", {"status": "completed", "winner_id": None},
         "The referee reports the result: a draw"),
        ("referee", "MATCH_RESULT_REPORT", {"status": "aborted", "abort_reason": "player_timeout:x@y"},
         "The referee reports that the match ended early: x did not send its next message in time"),
        ("player", "MATCH_RESULT_REPORT", {"status": "TERMINATED"}, "player-a reports that its game ended early"),
        ("referee", "MATCH_RESULT_REPORT", {"status": "ODD"}, "The referee reports how the match ended: ODD"),
        ("player", "MATCH_RESULT_REPORT", {"status": "COMPLETED"}, "player-a reports the end of the match"),
        ("player", "SOMETHING_NEW", {}, "player-a sends SOMETHING_NEW to player-b"),
    ],
)  # fmt: skip
def test_a_message_is_told_in_plain_words(role: str, kind: str, payload: Any, line: str) -> None:
    assert told((role, item(kind, payload)))[1] == f" 0:00:00  {line}"


def test_warnings_are_told_and_records_are_not() -> None:
    warning = Note(at=START, kind="warning", key="odd", facts={"text": "something was odd"})
    record = Note(at=START, kind="match", key="0101001", facts={"target": "secret"})
    assert told(("referee", warning), ("referee", record))[1:] == [" 0:00:00  The referee notes: something was odd"]
    assert told(("player", warning))[1:] == [" 0:00:00  player-a notes: something was odd"]


def test_what_became_of_a_model_s_work_is_told_unless_it_was_not_wanted() -> None:
    def note(work: ModelWorkUse, why: Why | None) -> Note:
        step = ModelStep(step="player_questions", work=work, why=why, callback="get_questions")
        facts = {"callback": "get_questions", "player": None, "steps": [step.to_json()]}
        return Note(at=START, kind=MODEL_WORK, key="0101001", facts=facts)

    lines = told(
        ("player", note(ModelWorkUse.NOT_ASKED, Why.NO_MODEL)), ("player", note(ModelWorkUse.REPLACED, Why.UNANSWERED))
    )
    assert lines[1:] == [" 0:00:00  player-a in get_questions: the model's work was replaced (no answer came in time)"]


def test_a_note_is_told_whole_under_itself_where_other_lines_are_cut() -> None:
    why = "get_guess raised KeyError (my_player.py:11): 'dynamc'; " + "and so on " * 8 + "to its end"
    failed = {"text": f"get_guess in game 0101001: raised: {why}"}
    lines = told(
        ("player", Note(at=START, kind="warning", key="k", facts=failed)),
        ("player", item("Q21WARMUPRESPONSE", {"answer": "x " * 60})),
        width=80,
        force_terminal=True,
        color_system=None,
    )
    *note, answer = lines[1:]
    assert len(note) == 3
    assert " ".join("".join(line[10:].rstrip() + " " for line in note).split()) == f"player-a notes: {why}"
    assert all(line.startswith(" " * 10) for line in note[1:])
    assert answer.rstrip().endswith("…")
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize("payload", [None, 3, [], {"questions": 7, "answers": [None, 3], "guess": [], "status": []}])
@pytest.mark.parametrize(
    "kind",
    ["Q21WARMUPCALL", "Q21ROUNDSTART", "Q21QUESTIONSBATCH", "Q21ANSWERSBATCH", "Q21GUESSSUBMISSION",
     "Q21SCOREFEEDBACK", "MATCH_RESULT_REPORT", "BROADCAST_NEW_LEAGUE_ROUND"],
)  # fmt: skip
def test_a_message_of_any_form_is_one_line(kind: str, payload: object) -> None:
    assert len(told(("player", item(kind, payload, sender=None, recipient_id=None)))) == 2


def test_hostile_texts_cannot_touch_the_terminal() -> None:
    evil = "[red]\x1b]0;title\x07\x1b[2J\u202e" + "x" * 100_000
    lines = told(
        ("player", item("Q21GUESSSUBMISSION", {"opening_sentence": evil, "associative_word": evil})),
        ("player", item("Q21WARMUPRESPONSE", {"answer": evil}, sender={"logical_id": evil})),
        ("player", Note(at=START, kind="warning", key="k", facts={"text": evil})),
        width=80,
        force_terminal=True,
        color_system=None,
    )
    assert 4 <= len(lines) <= 13, "a note may have ten lines"
    assert not any(character in line for line in lines for character in "\x07\u202e")
    assert "[red]" in lines[1]
    assert all(len(line) < 150 for line in lines)
