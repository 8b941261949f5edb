"""What a daemon's log says about results."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from league_agents.cli.logs import DaemonLog, _Foreign, open_log
from league_agents.journal.port import MODEL_WORK, NOTICE, Note
from league_agents.kit.model_work import ModelStep, ModelWorkUse, Why
from league_agents.local_league.patience import LIMIT_S
from league_agents.report.secret_texts import SecretTexts
from league_agents.user_code.said import LOGGED, SaidLines, prints_are_told

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
ROWS = [{"rank": 1, "participant_id": "falcons", "display_name": "Falcons", "total_points": 3}]


def logged(kind: str, key: str, facts: Mapping[str, object], *, is_json: bool = False) -> str:
    written = io.StringIO()
    log = DaemonLog(logging.StreamHandler(written), level="INFO", is_json=is_json, secrets=SecretTexts())
    log.noted("player", Note(at=NOON, kind=kind, key=key, facts=facts))
    return written.getvalue().strip()


def test_the_end_of_a_game_is_told_with_its_points_and_without_what_was_guessed() -> None:
    facts = {"termination": "completed", "scorecard": {"league_points": 2}, "guess": {"opening_sentence": "Call me."}}
    line = logged("game", "0101001", facts)
    assert line.endswith("game 0101001 ended: termination completed, points us 2")
    document = json.loads(logged("game", "0101001", facts, is_json=True))
    assert document["points"] == [{"who": "us", "points": 2}]
    assert "Call me" not in str(document)


def test_the_end_of_a_season_is_told_with_winner_and_ranks() -> None:
    line = logged("season", "SPRING", {"termination": "completed", "final_standings": ROWS})
    assert line.endswith("season SPRING ended: termination completed, winner Falcons, standings 1. Falcons 3")


STEP = ModelStep(step="referee_answers", work=ModelWorkUse.PARTLY_USED, why=Why.CONTRADICTED, used=7, of=9)
MODEL_FACTS = {"callback": "get_answers", "player": "falcons", "steps": [STEP.to_json()]}


def test_what_became_of_a_model_s_work_is_told_with_its_game() -> None:
    assert logged(MODEL_WORK, "0101001", MODEL_FACTS).endswith(
        "get_answers for falcons: the model's work was partly used, 7 of 9 (the text does not bear out what it said)"
        " (game 0101001)"
    )
    document = json.loads(logged(MODEL_WORK, "0101001", MODEL_FACTS, is_json=True))
    assert (document["event"], document["game_id"], document["level"]) == ("model_work", "0101001", "INFO")
    assert document["steps"][0]["why"] == "contradicted"


def test_a_bye_is_no_warning() -> None:
    said = logged(NOTICE, "bye", {"text": "round 3 has no game for this participant"})
    assert "round 3 has no game for this participant" in said
    assert "WARNING" not in said


def test_a_mail_that_came_back_is_a_warning() -> None:
    assert "WARNING mail to x@y.test was not delivered" in logged(
        "warning", "bounced", {"text": "mail to x@y.test was not delivered"}
    )


def test_what_a_process_of_the_users_prints_and_logs_is_looked_through_for_secrets(tmp_path: Path) -> None:
    file, secrets = tmp_path / "log", SecretTexts()
    secrets.add(["lanternfish"])
    record = {"name": "mine", "level": logging.ERROR, "text": "lost: lanternfish", "trace": "a lanternfish"}
    with closing(open_log(level="INFO", is_json=True, file=file, secrets=secrets)):
        pipe, writes = os.pipe()
        said = SaidLines(pipe, "mine.py:Mine")
        os.write(writes, f"found the lanternfish\n{LOGGED}{json.dumps(record)}\nno end: lanternfish".encode())
        os.close(writes)
        said.join(LIMIT_S)
        logging.getLogger("library").info("nobody wants to know")
        logging.getLogger("here").error("lanternfish")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["level"], line["event"], line["text"]) for line in lines] == [
        ("INFO", "own_log", "mine.py:Mine: found the [hidden]"),
        ("ERROR", "foreign_log", "mine: lost: [hidden]"),
        ("INFO", "own_log", "mine.py:Mine: no end: [hidden]"),
        ("ERROR", "foreign_log", "here: [hidden]"),
    ]


def test_what_a_class_in_this_process_prints_is_looked_through_line_by_line(capfd: pytest.CaptureFixture[str]) -> None:
    secrets = SecretTexts()
    secrets.add(["sk-planted-0123456789"])
    with closing(open_log(level="INFO", is_json=False, file=None, secrets=secrets)), prints_are_told():
        print("my key is", "sk-planted-0123456789")
        print("sk-planted-", end="", file=sys.stderr)
        beside = threading.Thread(target=print, args=("another thread",), name="agent")
        beside.start()
        beside.join()
        print("0123456789 in pieces", file=sys.stderr)
        print("a prompt without an end", end="", flush=True)
    print("sk-planted-0123456789")
    out, err = capfd.readouterr()
    assert out == "sk-planted-0123456789\n"
    assert [line.partition("Z ")[2].strip() for line in err.splitlines()] == [
        "my key is [hidden]",
        "agent    another thread",
        "[hidden] in pieces",
        "a prompt without an end",
    ]


def test_a_log_that_cannot_be_written_ends_no_print() -> None:
    gone = io.StringIO()
    log = DaemonLog(logging.StreamHandler(gone), level="INFO", is_json=False, secrets=SecretTexts())
    foreign = _Foreign(log)
    logging.getLogger().addHandler(foreign)
    gone.close()
    try:
        with prints_are_told():
            print("nobody hears it")
    finally:
        logging.getLogger().removeHandler(foreign)


def test_a_log_on_a_full_disk_says_so_once_and_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handler: object) -> None:
        raise OSError(28, "No space left on device")

    with closing(open_log(level="INFO", is_json=False, file=tmp_path / "log", secrets=SecretTexts())) as log:
        for words in (("one", "two"), ("three",)):
            monkeypatch.setattr(logging.StreamHandler, "flush", full)
            for word in words:
                log.say("player", word)
            monkeypatch.undo()
            log.say("player", "works again")
    once = "the log cannot be written: No space left on device; its lines are lost until it can\n"
    assert capsys.readouterr().err == 2 * once
