"""What ``league-agents costs`` shows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.values import evolve
from league_agents.llm.calls import ANSWERED, ModelCall
from league_agents.llm.exchange import OverBudget
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Purpose, Usage

CALL = ModelCall(
    at=datetime(2031, 5, 2, 8, 0, tzinfo=UTC),
    scope="player",
    purpose=Purpose(match_id="0101001", callback="get_guess", step="guess", season_id="S1"),
    model="openai:m",
    prompt_digest="d" * 64,
    reply="secret reply",
    outcome=ANSWERED,
    usage=Usage(input_tokens=1_200, output_tokens=50, cached_tokens=200, requests=1),
    cost_usd=0.0125,
    is_cached=False,
    took_s=1.5,
)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    for name in ("LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL", "LEAGUE_LLM_BASE_URL", "LEAGUE_LLM_PRICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    return Ledger(tmp_path / "data" / "ledger.db")


def costs(*arguments: str) -> str:
    shown = CliRunner().invoke(command_line, ["costs", *arguments])
    assert shown.exit_code == 0, shown.output
    return shown.output


def test_before_the_first_call_there_is_nothing_and_nothing_is_made(ledger: Ledger) -> None:
    assert costs() == "No language model was asked yet.\n"
    assert not ledger.path.exists()


def test_calls_tokens_money_and_cache_hits_are_added_up(ledger: Ledger) -> None:
    ledger.record(CALL)
    ledger.record(CALL)
    ledger.record(evolve(CALL, is_cached=True, cost_usd=0.0))
    ledger.record(evolve(CALL, reply=None, outcome="unavailable", usage=Usage(requests=1), cost_usd=0.0))
    lines = costs().splitlines()
    assert " ".join(lines[0].split()) == "model calls failed unusable forbidden cached in of it cached out cost"
    assert lines[1].split() == ["openai:m", "3", "1", "0", "0", "1", "2,400", "400", "100", "$0.0250"]
    assert len(lines) == 2  # one model is its own total


def test_a_cost_that_is_estimated_says_so(ledger: Ledger) -> None:
    ledger.record(CALL)
    ledger.record(evolve(CALL, outcome="overdue"))
    assert costs().splitlines()[1].endswith("$0.0250 (1 call estimated)")
    assert json.loads(costs("--json"))["total"]["calls_of_estimated_tokens"] == 1


def test_replies_of_which_nothing_was_used_are_counted(ledger: Ledger) -> None:
    for work, why in (
        (ModelWorkUse.USED, None),
        (ModelWorkUse.PARTLY_USED, Why.TOO_FEW),
        (ModelWorkUse.REPLACED, Why.MALFORMED),
    ):
        ledger.judge(ledger.record(CALL), work, why)
    ledger.record(CALL)
    total = json.loads(costs("--json"))["total"]
    assert (total["calls"], total["failures"], total["unusable"]) == (4, 0, 1)


def test_a_call_that_a_limit_forbids_is_neither_made_nor_failed(ledger: Ledger) -> None:
    ledger.record(evolve(CALL, reply=None, outcome=OverBudget.reason, usage=Usage(), cost_usd=0.0))
    ledger.record(CALL)
    total = json.loads(costs("--json"))["total"]
    assert (total["calls"], total["failures"], total["forbidden"]) == (1, 0, 1)


def test_unknown_stays_unknown(ledger: Ledger) -> None:
    ledger.record(CALL)
    ledger.record(evolve(CALL, reply=None, outcome="unanswered", usage=None, cost_usd=None))
    ledger.record(evolve(CALL, model="gemini:n", cost_usd=None))
    text = costs()
    assert "unknown (1 call)" in text
    assert "$0.0125 + unknown (1 call)" in text
    assert "$0.0125 + unknown (2 calls)" in text
    assert "1,200+?" in text
    document = json.loads(costs("--json"))
    assert document["total"]["cost_usd"] is None
    assert document["total"]["known_cost_usd"] == 0.0125
    assert document["total"]["calls_of_unknown_cost"] == 2
    assert document["total"]["calls_of_unknown_tokens"] == 1


def test_a_price_that_became_known_later_counts(ledger: Ledger) -> None:
    ledger.record(evolve(CALL, cost_usd=None))
    ledger.path.with_name("prices.yaml").write_text(
        'prices: {"openai:*": {input: 1000, cached: 0, output: 0}}', encoding="utf-8"
    )
    assert "$1.0000" in costs()


@pytest.mark.parametrize(("by", "names"), [
    ("game", ["0101001 player", "0101002 player", "outside a game"]),
    ("callback", ["get_guess", "test"]),
    ("model", ["openai:m"]),
])  # fmt: skip
def test_calls_are_added_up_by_what_was_asked(ledger: Ledger, by: str, names: list[str]) -> None:
    ledger.record(CALL)
    ledger.record(evolve(CALL, purpose=evolve(CALL.purpose, match_id="0101002")))
    ledger.record(evolve(CALL, purpose=Purpose(match_id="", callback="test", step="connectivity")))
    document = json.loads(costs("--by", by, "--json"))
    assert [each["name"] for each in document["costs"]] == names
    assert document["total"]["calls"] == 3


def test_journals_of_the_league_file_and_files_that_are_named_are_read(ledger: Ledger, tmp_path: Path) -> None:
    for name in ("player.db", "other.db"):
        path = tmp_path / name
        SqliteJournal(path, role="player", address="a@b.c", dump=lambda name, part: "{}").close()
        Ledger(path, in_journal=True).record(CALL)
    ledger.record(CALL)
    assert json.loads(costs("--json"))["total"]["calls"] == 1
    (tmp_path / "league.yaml").write_text(
        "league: {manager_email: office@example.com}\nroles: {player: {address: a@example.com, group_id: g}}\n",
        encoding="utf-8",
    )
    assert json.loads(costs("--json"))["total"]["calls"] == 2
    assert json.loads(costs("--json", "--file", "other.db", "--file", "player.db"))["total"]["calls"] == 3


def test_a_file_that_holds_no_calls_is_named(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x" * 5_000)
    shown = CliRunner().invoke(command_line, ["costs", "--file", "text"])
    assert shown.exit_code == 3
    assert "text: is damaged or no journal (file is not a database)" in shown.output


def test_what_models_said_is_not_shown(ledger: Ledger) -> None:
    ledger.record(CALL)
    assert "secret" not in costs() + costs("--json")


def test_a_model_of_a_hostile_name_stays_one_line(ledger: Ledger) -> None:
    ledger.record(evolve(CALL, model="openai:\x1b[31mred\nline"))
    assert len(costs().splitlines()) == 2
    assert "\x1b" not in costs()
