"""``league-agents check`` with agents as users write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line

FILE = Path(__file__).with_name("checked_agents.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(name: str, *options: str) -> Result:
    return CliRunner().invoke(command_line, ["check", f"{FILE}:{name}", *options])


def findings(name: str, *options: str) -> dict[str, list[dict[str, Any]]]:
    """Callback -> what was found."""
    report = json.loads(check(name, "--json", *options).stdout)
    return {each["callback"]: each["findings"] for each in report["callbacks"]}


@pytest.mark.parametrize("name", ["GoodPlayer", "GoodReferee"])
def test_a_good_agent_keeps_every_contract(name: str) -> None:
    shown = check(name)
    assert shown.exit_code == 0, shown.stdout
    assert "Every contract is kept." in shown.stdout
    report = json.loads(check(name, "--json").stdout)
    assert report["verdict"] == "kept"
    assert "✗" not in shown.stderr
    assert shown.stderr.splitlines()[0].split()[:2] == ["✓", "valid"]
    assert all(each["tried"]["valid"]["calls"] >= 3 for each in report["callbacks"])
    assert all(each["tried"]["hostile"]["calls"] >= 5 for each in report["callbacks"])


@pytest.mark.parametrize("role", ["referee", "player"])
@pytest.mark.parametrize("rules", ["prd", "course"])
@pytest.mark.parametrize("spec", ["scripted", "offline"])
def test_the_built_in_agents_keep_their_own_contracts(spec: str, rules: str, role: str) -> None:
    shown = CliRunner().invoke(command_line, ["check", spec, "--role", role, "--rules", rules])
    assert shown.exit_code == 0, shown.stdout


def test_what_is_repaired_is_told_with_its_line_and_the_value_and_what_became_of_it() -> None:
    shown = check("WrongKeyPlayer")
    assert shown.exit_code == 0
    told = " ".join(shown.stdout.split())
    assert "'No': the rules fix the answer key" in told
    assert "'Never'" in told
    assert "questions[0].options.B" in told
    assert "35 or more words" in told
    assert "found 1 words" in told
    assert "it is lengthened to" in told
    assert "found 90" in told
    assert "1 is sent" in told
    assert "Every result can be used, some after a repair: 3 repaired." in told
    assert "✓ valid as player 1: repaired" in " ".join(shown.stderr.split())


def test_what_is_broken_is_crossed_and_counted() -> None:
    shown = check("CarelessPlayer")
    assert shown.exit_code == 1
    assert "✗" in shown.stderr
    assert "Contracts are broken: " in shown.stdout


def test_twenty_equal_faults_are_one_finding() -> None:
    [options] = findings("WrongKeyPlayer", "--valid-only")["get_questions"]
    assert options["times"] == 20 * 3
    assert options["severity"] == "repaired"


def test_the_rules_decide_what_is_broken() -> None:
    assert findings("WrongKeyPlayer", "--rules", "course", "--valid-only")["get_questions"] == []


def test_an_exception_with_an_odd_context_breaks_the_contract_and_says_where() -> None:
    found = findings("CarelessPlayer")["get_guess"]
    assert {finding["severity"] for finding in found} == {"broken"}
    assert {finding["kind"] for finding in found} <= {"odd", "hostile"}
    place = FILE.read_text("utf-8").splitlines().index('        first = ctx["dynamic"]["answers"][0]["answer"]') + 1
    assert all(finding["where"].endswith(f"checked_agents.py:{place}") for finding in found)
    assert {"IndexError", "KeyError", "TypeError"} <= {finding["found"].partition(":")[0] for finding in found}
    assert check("CarelessPlayer").exit_code == 1
    assert check("CarelessPlayer", "--valid-only").exit_code == 0


def test_what_an_agent_remembers_is_carried_from_game_to_game() -> None:
    [warmup] = findings("ForgetfulPlayer", "--valid-only")["get_warmup_answer"]
    assert warmup["game"] == "as player 2"
    assert "a game is open already" in warmup["found"]


def test_a_callback_that_hangs_costs_its_limit_once() -> None:
    report = json.loads(check("HangingPlayer", "--json", "--time-limit", "5").stdout)
    questions = next(each for each in report["callbacks"] if each["callback"] == "get_questions")
    assert [finding["rule"] for finding in questions["findings"]] == ["a result within 5 s (protocol 6)"]
    assert sum(tried["calls"] for tried in questions["tried"].values()) == 1
    assert next(each for each in report["callbacks"] if each["callback"] == "get_guess")["verdict"] == "kept"


def test_a_class_that_cannot_be_made_is_told_at_once() -> None:
    shown = check("UnmadePlayer")
    assert shown.exit_code == 1
    told = " ".join(shown.stdout.split())
    assert "RuntimeError: no key in the environment" in told
    assert "checked_agents.py:" in told


def test_a_referee_that_obeys_its_players_is_warned() -> None:
    [finding] = findings("PersuadedReferee")["get_score_feedback"]
    assert finding["severity"] == "warning"
    assert "only argues for points" in finding["rule"]
    assert check("PersuadedReferee").exit_code == 0


def test_a_role_is_needed_only_where_it_is_in_doubt() -> None:
    shown = CliRunner().invoke(command_line, ["check", "scripted"])
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (2, 1)
    assert "--role" in shown.stderr
    assert check("GoodPlayer", "--role", "referee").exit_code == 3


@pytest.mark.parametrize(
    "spec", ["nothing", "missing.py:Agent", "json:JSONDecoder", f"{FILE}:Missing", f"{FILE}:OPTIONS"]
)
def test_what_cannot_be_loaded_is_one_line(spec: str) -> None:
    shown = CliRunner().invoke(command_line, ["check", spec])
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (3, 1)
    assert shown.stdout == ""
