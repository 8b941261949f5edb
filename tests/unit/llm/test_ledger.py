"""Every exchange is a row, and a reply that was paid for is found again."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.errors import JournalError
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.values import evolve
from league_agents.llm.calls import ANSWERED, ModelCall
from league_agents.llm.exchange import Finish
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Prompt, Purpose, Usage

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
    db.execute(f"PRAGMA user_version = {migrations.SCRIPTS.index(migrations.MODEL_CALLS)}")
    db.execute("CREATE TABLE t (a)")
    db.close()
    assert list(Ledger(tmp_path / "old.db").calls()) == []
    with pytest.raises(JournalError, match="older version"):
        Ledger(tmp_path / "old.db").record(CALL)


def test_what_became_of_a_reply_is_written_beside_it(path: Path) -> None:
    ledger = Ledger(path)
    first, second = ledger.record(CALL), ledger.record(CALL)
    ledger.judge(second, ModelWorkUse.PARTLY_USED, Why.CONTRADICTED)
    assert first != second
    assert [(call.work, call.why) for call in Ledger(path).calls()] == [
        (None, None), (ModelWorkUse.PARTLY_USED, Why.CONTRADICTED)
    ]  # fmt: skip


def test_a_ledger_from_before_replies_were_judged_can_be_read_as_it_is_and_gets_the_columns(tmp_path: Path) -> None:
    from league_agents.journal import migrations
    from league_agents.llm.ledger import LEDGER_ID, LEDGER_SCRIPTS

    path = tmp_path / "old.db"
    db = sqlite3.connect(path, isolation_level=None)
    for script in LEDGER_SCRIPTS[: LEDGER_SCRIPTS.index(migrations.MODEL_WORK)]:
        db.executescript(script)
    db.execute(f"PRAGMA application_id = {LEDGER_ID}")
    db.execute(f"PRAGMA user_version = {LEDGER_SCRIPTS.index(migrations.MODEL_WORK)}")
    db.execute(
        "INSERT INTO model_calls (at, scope, season_id, match_id, callback, step, model, prompt_digest, reply,"
        " outcome, is_cached, took_s) VALUES ('2031-05-02T08:00:00+00:00', 'p', '', '', '', '', 'm', 'd', 'r',"
        " 'answered', 0, 1.0)"
    )
    db.close()
    before = path.read_bytes()
    assert [(call.reply, call.work) for call in Ledger(path).calls()] == [("r", None)]
    assert path.read_bytes() == before
    ledger = Ledger(path)
    ledger.judge(ledger.record(CALL), ModelWorkUse.USED, None)
    assert [call.work for call in ledger.calls()] == [None, ModelWorkUse.USED]


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
