"""Nothing that is secret is ever shown: secrets are planted everywhere, and every output is searched for them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.report.secret_texts import SecretTexts, secrets_in, secrets_of_environment, without_quotations

AGENTS = Path(__file__).with_name("leaking_agents.py")
MODEL_KEY = "sk-planted-0123456789abcdef"
PLANTED = {
    "OPENAI_API_KEY": MODEL_KEY,
    "GTAI_DB_PASSWORD": "correct horse battery",
}
SENTENCE = "The lighthouse keeper counted his matches twice before the storm."
WORD = "lanternfish"


def values_in(path: Path) -> list[str]:
    return secrets_in(json.loads(path.read_text("utf-8")))


def expect_no_secret(text: str, where: str, secrets: list[str]) -> None:
    folded = re.sub(r"\s+", " ", text).casefold()
    for secret in secrets:
        assert secret.casefold() not in folded, f"{where} shows {secret[:4]}…"


def test_tokens_keys_and_targets_are_in_no_output_of_a_whole_season(tmp_path: Path) -> None:
    seats = four_seats(referee=f"{AGENTS}:LeakingReferee")
    with unhurried(tmp_path / "league", seats, environment=PLANTED) as league:
        secrets = [value for file in league.folder.glob("*.json") for value in values_in(file)]
        assert len(secrets) >= 9, "an access token, a refresh token and the client's secret for each mailbox"
        secrets += [*PLANTED.values(), SENTENCE, WORD, "abcdefghijklmnop0123456789"]
        for seat in seats:
            text = league.config_of(seat).read_text("utf-8")
            is_json = str(seat.role == "referee").lower()
            league.config_of(seat).write_text(f"{text}log: {{level: DEBUG, json: {is_json}}}\n", "utf-8")
        league.start_all()
        league.wait_for_season()
        # An authorization that is lost in the middle, and what is said about it.
        for seat in seats:
            league.sandbox.withdraw(seat.address)
            secrets += values_in(league.folder / f"token_{seat.name}.json")
        ended = dict(league.processes)
        until(lambda: all(process.poll() is not None for process in ended.values()), "every process ends")
        assert {process.returncode for process in ended.values()} == {5}
        commands = (["status"], ["status", "--json"], ["auth", "status"], ["run", "--test-connectivity"],
                    ["run", "--scan"])  # fmt: skip
        for seat in seats:
            for command in commands:
                # The referee's in a process of their own: it knows the target.
                shown = (show if seat.role == "referee" else shown_here)(league, seat, command)
                expect_no_secret(shown, f"{command} of {seat.name}", secrets)
    for seat in seats:
        expect_no_secret(league.log_of(seat).read_text("utf-8"), seat.name, secrets)
    lines = league.log_of(seats[1]).read_text("utf-8").splitlines()
    documents = [json.loads(line) for line in lines if line.startswith("{")]
    events = {document["event"] for document in documents}
    assert {"callback_failed", "foreign_log", "sent", "mail_processed", "match_ended", "authorization_needed"} <= events
    hidden = {document["event"] for document in documents if "[hidden]" in document["text"]}
    # What the referee logs, and what it prints, from its own process.
    assert {"foreign_log", "own_log"} <= hidden
    assert "Q21SCOREFEEDBACK" in json.dumps(documents)


def show(league: LocalLeague, seat: LeagueProcess, command: list[str]) -> str:
    """Everything that a command prints, its traceback included."""
    environment = {**os.environ, **PLANTED, "LEAGUE_AGENTS_DEBUG": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "league_agents", *command, "--config", str(league.config_of(seat))],
        cwd=league.folder, env=environment, capture_output=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    return done.stdout.decode() + done.stderr.decode()


def shown_here(league: LocalLeague, seat: LeagueProcess, command: list[str]) -> str:
    """The same of a command within this process."""
    runner = CliRunner(env={**PLANTED, "LEAGUE_AGENTS_DEBUG": "1"})
    shown = runner.invoke(command_line, [*command, "--config", str(league.config_of(seat))])
    return shown.output + "".join(traceback.format_exception(*shown.exc_info) if shown.exc_info else ())


@pytest.mark.parametrize("more", [(), ("--in-process",)])
def test_what_a_class_prints_is_looked_through_wherever_it_runs(tmp_path: Path, more: tuple[str, ...]) -> None:
    text = AGENTS.read_text("utf-8") + 'print("imported with the key", os.environ["OPENAI_API_KEY"])\n'
    (tmp_path / "shouting.py").write_text(text, "utf-8")
    referee = LeagueProcess(role="referee", group="house", agent=f"{tmp_path}/shouting.py:LeakingReferee")
    with LocalLeague(folder=tmp_path / "league", seats=[referee], environment=PLANTED) as league:
        log = league.run(referee, "run", "--scan", *more).stderr.decode()
    assert "imported with the key [hidden]" in log
    expect_no_secret(log, "the log", [MODEL_KEY])


@pytest.fixture
def secrets() -> Iterator[SecretTexts]:
    texts = SecretTexts()
    texts.add(["whale", "Call me Ishmael.", "ab"])
    return texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a whale!", "a [hidden]!"),
        ("WHALE", "[hidden]"),
        ("whaler", "whaler"),  # another word
        ("call  me\nISHMAEL. he said", "[hidden] he said"),
        ("ab", "ab"),  # too short to be hidden
        ("Bearer abcdefgh12345", "Bearer [hidden]"),
        ("ya29.a0AfH6SMBx-12345", "[hidden]"),
        ("token 1//0gAbCdEfGhIj", "token [hidden]"),
        ("?code=4/0AX4XfWh&scope=x", "?code=[hidden]&scope=x"),
        ("client_secret=GOCSPX-abcdefgh", "client_secret=[hidden]"),
        ("sk-proj-abcdefghijkl", "[hidden]"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_is_secret_or_looks_so_is_hidden(secrets: SecretTexts, text: str, shown: str) -> None:
    assert secrets.hide(text) == shown


def test_a_source_is_asked_each_time(secrets: SecretTexts) -> None:
    current = ["first"]
    secrets.ask(lambda: current)
    assert secrets.hide("first second") == "[hidden] second"
    current[:] = ["second"]
    assert secrets.hide("first second") == "first [hidden]"


def test_a_long_secret_is_hidden_before_a_word_of_it() -> None:
    texts = SecretTexts()
    texts.add(["storm", "The storm came."])
    assert texts.hide("The storm came. A storm.") == "[hidden] A [hidden]."


def test_secret_variables_are_known_by_their_names() -> None:
    variables = {"A_KEY": "12345678", "MY_TOKEN": "12345678x", "KEYBOARD": "12345678y", "B_KEY": "1"}
    found = secrets_of_environment(variables)
    assert found == ["12345678", "12345678x"]


def test_passwords_of_addresses_are_known() -> None:
    variables = {
        "LEAGUE_JOURNAL_URL": "postgresql://ann:s3c%40ret@db/league?password=other",
        "PAGE": "https://a.b/c:d@e",
    }
    assert sorted(set(secrets_of_environment(variables))) == ["other", "s3c%40ret", "s3c@ret"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("in game 1: f raised ValueError: it's whale; none", "in game 1: f raised ValueError: [hidden]"),
        ("f raised ValueError (me.py:11): a whale (x.py:3): b", "f raised ValueError (me.py:11): [hidden]"),
        ("word: one word, found 'two whales'; again", "word: one word, found [hidden]; again"),
        ('word: found "it\'s"; again', "word: found [hidden]; again"),
        ("did not return within 30 s", "did not return within 30 s"),
    ],
)  # fmt: skip
def test_what_an_agent_said_is_not_quoted(text: str, shown: str) -> None:
    assert without_quotations(text) == shown


def test_nothing_is_lost_of_documents_that_are_no_tokens() -> None:
    document: Any = {"installed": {"client_secret": "s3cret", "client_id": "public"}, "list": [1], "token": 5}
    assert secrets_in(document) == ["s3cret"]
