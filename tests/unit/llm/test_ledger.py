"""Every exchange is a row, and a reply that was paid for is found again."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from league_agents.errors import JournalError
from league_agents.journal.sqlite import SqliteJournal
from league_agents.llm.exchange import Finish
from league_agents.llm.ledger import ANSWERED, Ledger, ModelCall
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.values import evolve

PURPOSE = Purpose(match_id="0101001", callback="get_guess", step="guess", season_id="S1")
CALL = ModelCall(
    at=datetime(2031, 5, 2, 8, 0, 0, 250_000, tzinfo=UTC),
    scope="player",
    purpose=PURPOSE,
    model="openai:m",
    prompt_digest="d" * 64,
    reply="the reply",
    outcome=ANSWERED,
    usage=Usage(input_tokens=12, output_tokens=5, cached_tokens=2, requests=1),
    cost_usd=0.0125,
    is_cached=False,
    took_s=1.5,
)
UNKNOWN = evolve(CALL, reply=None, outcome="unanswered", usage=None, cost_usd=None)


def journal_at(path: Path) -> SqliteJournal:
    return SqliteJournal(path, role="player", address="a@b.c", dump=lambda name, part: "{}", synchronous="NORMAL")


@pytest.fixture(params=["ledger", "journal"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "calls.db"
    if request.param == "journal":
        journal_at(path).close()
    return path


def test_what_is_recorded_is_read_back_and_unknown_stays_unknown(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(CALL)
    ledger.record(UNKNOWN)
    assert list(Ledger(path).calls()) == [CALL, UNKNOWN]


def test_a_role_writes_beside_its_journal_while_that_is_open(tmp_path: Path) -> None:
    journal = journal_at(tmp_path / "player.db")
    ledger = Ledger(tmp_path / "player.db", in_journal=True)
    ledger.record(CALL)
    journal.keep("seed", "x")
    ledger.record(CALL)
    assert journal.kept("seed") == "x"
    journal.close()
    assert len(list(ledger.calls())) == 2


def test_a_reply_is_given_again_to_the_next_process_and_not_to_this_one(path: Path) -> None:
    ledger = Ledger(path)
    assert ledger.earlier("player", PURPOSE, CALL.prompt_digest) is None
    ledger.record(CALL)
    assert ledger.earlier("player", PURPOSE, CALL.prompt_digest) is None
    found = Ledger(path).earlier("player", PURPOSE, CALL.prompt_digest)
    assert found is not None
    assert (found.text, found.finish, found.model, found.usage) == ("the reply", Finish.COMPLETE, "openai:m", Usage())


def test_each_earlier_reply_is_given_once_in_order(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(evolve(CALL, reply="one"))
    ledger.record(UNKNOWN)
    ledger.record(evolve(CALL, reply="two", outcome="cut_off"))
    after = Ledger(path)
    found = [after.earlier("player", PURPOSE, CALL.prompt_digest) for _ in range(3)]
    assert [None if reply is None else (reply.text, reply.finish) for reply in found] == [
        ("one", Finish.COMPLETE),
        ("two", Finish.CUT_OFF),
        None,
    ]


@pytest.mark.parametrize(("scope", "purpose", "digest"), [
    ("referee", PURPOSE, CALL.prompt_digest),
    ("player", evolve(PURPOSE, match_id="0101002"), CALL.prompt_digest),
    ("player", evolve(PURPOSE, callback="get_questions"), CALL.prompt_digest),
    ("player", evolve(PURPOSE, match_id=""), CALL.prompt_digest),
    ("player", PURPOSE, "e" * 64),
])  # fmt: skip
def test_another_question_gets_no_earlier_reply(path: Path, scope: str, purpose: Purpose, digest: str) -> None:
    Ledger(path).record(CALL)
    Ledger(path).record(evolve(CALL, purpose=evolve(PURPOSE, match_id="")))
    assert Ledger(path).earlier(scope, purpose, digest) is None


def test_a_reply_from_the_books_is_not_a_reply_of_its_own(path: Path) -> None:
    Ledger(path).record(CALL)
    Ledger(path).record(evolve(CALL, reply="the reply", is_cached=True, cost_usd=0.0))
    after = Ledger(path)
    assert after.earlier("player", PURPOSE, CALL.prompt_digest) is not None
    assert after.earlier("player", PURPOSE, CALL.prompt_digest) is None


def test_looking_makes_no_file(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    assert list(ledger.calls()) == []
    assert ledger.earlier("player", PURPOSE, CALL.prompt_digest) is None
    assert list(tmp_path.iterdir()) == []


def test_calls_are_never_written_to_a_journal_that_nobody_made(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="unable to open"):
        Ledger(tmp_path / "player.db", in_journal=True).record(CALL)
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE t (a)")
    db.close()
    with pytest.raises(JournalError, match="another program"):
        Ledger(tmp_path / "other.db").record(CALL)
    (tmp_path / "text").write_text("not a database, but long enough to look like one" * 100)
    with pytest.raises(JournalError, match=r"text: is damaged or no journal \(file is not a database\)"):
        Ledger(tmp_path / "text").record(CALL)
    with pytest.raises(JournalError, match=r"text: is damaged or no journal \(file is not a database\)"):
        list(Ledger(tmp_path / "text").calls())


def test_a_journal_from_before_there_were_model_calls_has_none(tmp_path: Path) -> None:
    from league_agents.journal import migrations

    db = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    db.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {migrations.WITH_MODEL_CALLS - 1}")
    db.execute("CREATE TABLE t (a)")
    db.close()
    assert list(Ledger(tmp_path / "old.db").calls()) == []
    with pytest.raises(JournalError, match="older version"):
        Ledger(tmp_path / "old.db").record(CALL)


def test_halves_of_surrogate_pairs_are_stored_as_question_marks(path: Path) -> None:
    purpose = evolve(PURPOSE, match_id="\ud83d")
    Ledger(path).record(evolve(CALL, reply="wha\ud83dle", purpose=purpose))
    assert next(Ledger(path).calls()).reply == "wha?le"
    assert Ledger(path).earlier("player", purpose, CALL.prompt_digest) is not None


def test_two_processes_at_once_lose_nothing(path: Path, prompt_of: Any) -> None:
    import threading

    prompts: list[Prompt] = [prompt_of(str(number)) for number in range(8)]
    threads = [
        threading.Thread(target=Ledger(path).record, args=(evolve(CALL, prompt_digest=prompt.digest),))
        for prompt in prompts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {call.prompt_digest for call in Ledger(path).calls()} == {prompt.digest for prompt in prompts}
