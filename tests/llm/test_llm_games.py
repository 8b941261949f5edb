"""From the command line to a service and back: what is asked, what is in the books, what a person reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.app.connectivity import Check, Trouble, check_everything
from league_agents.app.live import outages_told
from league_agents.app.live_machine import agent_of
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.kit.clock import SystemClock
from league_agents.llm.ledger import Ledger

pytestmark = pytest.mark.usefixtures("slow_time")

GAME = ("run", "--single-game", "--seed", "1", "--json", "--player-a", "llm")
KEY = "sk-this-key-is-secret-0123456789"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ("LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL", "LEAGUE_LLM_BASE_URL", "LLM_MODEL")
    for name in (*settings, "OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


def league_agents(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, list(arguments))


def provider_of(service: Any) -> str:
    name: str = service.protocol.name
    return {"google-genai": "gemini"}.get(name, name)


def configure(service: Any, folder: Path, **more: str) -> None:
    provider = provider_of(service)
    values = {
        "LEAGUE_LLM_PROVIDER": provider,
        "LEAGUE_LLM_MODEL": "m",
        "LEAGUE_LLM_BASE_URL": f"{service.url}/v1" if provider == "openai" else service.url,
        f"{provider.upper()}_API_KEY": KEY,
        "LLM_MAX_RETRIES": "0",
        **more,
    }
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()), encoding="utf-8")


def test_an_llm_player_without_a_model_is_one_line_with_the_remedy() -> None:
    shown = league_agents(*GAME)
    assert shown.exit_code == 3
    assert shown.stderr.splitlines() == [shown.stderr.strip()]
    assert "set LEAGUE_LLM_PROVIDER" in shown.stderr


def test_a_match_ends_although_its_model_is_down(game_service: Any, tmp_path: Path) -> None:
    game_service.fails(503, forever=True)
    configure(game_service, tmp_path)
    shown = league_agents(*GAME)
    assert shown.exit_code == 0, shown.output
    document = json.loads(shown.stdout)
    assert document["match"]["status"] == "completed"
    assert KEY not in shown.output
    costs = json.loads(league_agents("costs", "--json", "--by", "callback").stdout)
    assert costs["total"]["failures"] == costs["total"]["calls"] > 0
    assert costs["total"]["cost_usd"] == 0
    steps = document["players"][0]["models"]
    assert [(step["callback"], step["work"], step["why"]) for step in steps] == [
        ("get_questions", "replaced", "unavailable"), ("get_guess", "replaced", "unavailable")
    ]  # fmt: skip
    assert all("503" in step["detail"] for step in steps)


def test_a_match_ends_although_its_model_talks_nonsense_and_what_that_costs_is_unknown(
    game_service: Any, tmp_path: Path
) -> None:
    game_service.sends(game_service.protocol.message("I would rather sing."), forever=True)
    configure(game_service, tmp_path)
    shown = league_agents(*GAME, "--journal", "match.db")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["match"]["status"] == "completed"
    # The player's calls stand in its journal, and the ledger has none.
    assert json.loads(league_agents("costs", "--json").stdout)["total"]["calls"] == 0
    calls = list(Ledger(tmp_path / "match.player-a.db").calls())
    assert {call.purpose.callback for call in calls} <= {"get_warmup_answer", "get_questions", "get_guess"}
    assert all(call.reply == "I would rather sing." and call.cost_usd is None for call in calls)
    assert len(calls) == len(game_service.asked)


SORRY = "I am sorry, I cannot do that."


def test_a_model_whose_every_reply_is_useless_is_told_wherever_its_work_would_be(
    game_service: Any, tmp_path: Path
) -> None:
    game_service.sends(game_service.protocol.message(SORRY), forever=True)
    configure(game_service, tmp_path)
    shown = league_agents(*GAME, "--referee", "llm", "--record", "match.json", "--journal", "match.db")
    assert shown.exit_code == 0, shown.output
    document = json.loads(shown.stdout)
    assert json.loads(Path("match.json").read_text(encoding="utf-8")) == document
    referee, player = document["match"]["models"], document["players"][0]["models"]
    assert {step["callback"] for step in referee} == {"get_round_start_info", "get_answers", "get_score_feedback"}
    assert [step["callback"] for step in player] == ["get_questions", "get_guess"]
    assert {(step["work"], step["why"]) for step in player} == {("replaced", "malformed")}
    # What code can do all of is no loss.
    assert {step["work"] for step in referee} <= {"replaced", "not_asked"}
    assert document["players"][1]["models"] == []
    assert "player-a: nothing of a language model's work was used: code stood in for it in both steps" in shown.stderr
    assert "The referee: nothing of a language model's work was used" in shown.stderr
    costs = json.loads(league_agents("costs", "--json", "--file", "match.player-a.db").stdout)["total"]
    assert costs["unusable"] == costs["calls"] > 0
    assert costs["failures"] == 0


def test_a_person_reads_in_which_callbacks_code_stood_in_for_a_model(openai_service: Any, tmp_path: Path) -> None:
    openai_service.sends(openai_service.protocol.message(SORRY), forever=True)
    configure(openai_service, tmp_path)
    told = league_agents("run", "--single-game", "--seed", "1", "--player-a", "llm")
    assert "Language models" in told.stdout
    assert "- get_questions: replaced (the reply is not in the form that was asked for" in " ".join(told.stdout.split())
    assert "player-a in get_questions: the model's work was replaced" in told.stderr
    assert "player-a: nothing of a language model's work was used" in told.stderr


@pytest.mark.parametrize("role", ["player", "referee"])
def test_an_evaluation_credits_a_useless_model_with_nothing(role: str, openai_service: Any, tmp_path: Path) -> None:
    openai_service.sends(openai_service.protocol.message(SORRY), forever=True)
    configure(openai_service, tmp_path)
    arguments = ("evaluate", role, "llm", "--games", "2", "--rules", "course")
    found = json.loads(league_agents(*arguments, "--json").stdout)
    none = {"games": 2, "used": 0, "partly_used": 0, "replaced": 2, "not_asked": 0}
    assert found["models"][role]["games"] == none
    assert all(figure["models"]["own"] == none for figure in found["figures"].values())
    assert found["remarks"][0].startswith(f"The {role}: nothing of a language model's work was used")
    assert "2 of 2 games show what code does, not a model" in found["remarks"][0]
    told = league_agents(*arguments).stdout
    assert all("0 of 2" in line for line in told.splitlines() if line.startswith((" League points", " Answers right")))
    assert re.search(rf"{role}, get_\w+ \(\w+\) +0 +0 +\d+ +\d+ +the reply is not", told)


ARENA = ("arena", "play", "market", "--agents", "llm,llm,scripted", "--seed", "1", "--config", "max_rounds=2",
         "--turn-timeout", "5")  # fmt: skip


def test_an_arena_match_says_that_its_models_are_down(game_service: Any, tmp_path: Path) -> None:
    game_service.fails(503, forever=True)
    configure(game_service, tmp_path)
    told = league_agents(*ARENA)
    assert told.exit_code == 0, told.output
    name = f"{provider_of(game_service)}:m"
    assert f"league-agents: {name} does not answer: answers 503" in told.stderr
    assert "s1: nothing of a language model's work was used: code stood in for it in" in " ".join(told.stdout.split())
    document = json.loads(league_agents(*ARENA, "--json").stdout)
    assert set(document["models"]) == {"s1", "s2"}
    for found in document["models"].values():
        assert found["replaced"] == found["steps"] > 0
        assert found["reasons"] == {"unavailable": found["steps"]}


def test_an_arena_match_says_that_its_models_are_of_no_use(openai_service: Any, tmp_path: Path) -> None:
    openai_service.sends(openai_service.protocol.message(SORRY), forever=True)
    configure(openai_service, tmp_path)
    told = league_agents(*ARENA, "--json", "--record", "match.jsonl")
    assert {found["used"] for found in json.loads(told.stdout)["models"].values()} == {0}
    assert "openai:m answers, and nothing of it can be used: the reply is not in the form" in told.stderr
    assert "s1: nothing of a language model's work was used" in " ".join(told.stderr.split())
    lines = [json.loads(line) for line in Path("match.jsonl").read_text(encoding="utf-8").splitlines()]
    decisions = [line for line in lines if line["line"] == "decision"]
    assert {line["agent"]: line.get("models", [{}])[0].get("why") for line in decisions} == {
        "s1": "malformed", "s2": "malformed", "s3": None
    }  # fmt: skip
    assert "all as recorded" in league_agents("arena", "replay", "match.jsonl").stdout
    costs = json.loads(league_agents("costs", "--json").stdout)["total"]
    assert costs["unusable"] == costs["calls"] > 0


def test_a_limit_of_nothing_plays_offline_without_a_request(game_service: Any, tmp_path: Path) -> None:
    prices = f'prices: {{"{provider_of(game_service)}:m": {{input: 1, output: 1}}}}'
    (tmp_path / "prices.yaml").write_text(prices, encoding="utf-8")
    configure(game_service, tmp_path, LEAGUE_LLM_USD_PER_GAME="0", LEAGUE_LLM_PRICES="prices.yaml")
    shown = league_agents(*GAME)
    assert shown.exit_code == 0, shown.output
    assert game_service.asked == []
    assert {step["why"] for step in json.loads(shown.stdout)["players"][0]["models"]} == {"over_budget"}
    costs = json.loads(league_agents("costs", "--json").stdout)["total"]
    assert (costs["calls"], costs["failures"], costs["forbidden"] > 0) == (0, 0, True)


class Notes:
    """An observer that keeps what is noted."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Note]] = []

    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None:
        self.found.append((role, note))


def test_a_daemon_hears_of_a_model_that_falls_silent_and_of_its_return(openai_service: Any, tmp_path: Path) -> None:
    # A referee answers from one page: next to nothing of the time for models is spent on computing.
    league = LEAGUE.replace("player: {{", "referee: {{id: R1, ").replace("get_answers: [two]", "get_guess: [two]")
    (tmp_path / "league.yaml").write_text(league.format(url=openai_service.url), encoding="utf-8")
    settings = read_league_file(tmp_path / "league.yaml", {"OPENAI_API_KEY": KEY})
    (role,) = settings.roles
    notes = Notes()
    referee: Any = agent_of(settings, role, "s", outages_told(notes, role, SystemClock())).factory()
    openai_service.fails(503, f"not\nnow, {KEY}")
    openai_service.sends(openai_service.protocol.message("I would rather sing."), forever=True)
    for match_id in ("0101001", "0102001"):
        question = {"question_number": 1, "question_text": "Is it a merry scene?", "options": ["Yes", "No", "?", "-"]}
        secret = {"actual_opening_sentence": "The sea was calm at noon.", "actual_associative_word": "wave"}
        told = {"match_id": match_id, "book_name": "A Book", "questions": [question], **secret}
        assert len(referee.get_answers({"dynamic": told, "service": {}})["answers"]) == 1
    heard = [(who, note.kind, note.key, str(note.facts["text"])) for who, note in notes.found]
    # It answers, and nothing that it says can be used: that is trouble of another kind.
    assert [each[:3] for each in heard] == [
        ("referee", "warning", "model_failed"), ("referee", "daemon", "model_recovered"),
        ("referee", "warning", "model_failed"),
    ]  # fmt: skip
    assert heard[0][3].startswith("openai:m does not answer: ")
    assert heard[2][3].startswith("openai:m answers, and nothing of it can be used: the reply is not in the form")
    assert all(KEY not in text and "\n" not in text for *_, text in heard)


LEAGUE = """
league: {{manager_email: office@example.com}}
roles:
  player: {{address: a@example.com, group_id: g, agent: llm}}
models:
  models:
    - {{name: one, provider: openai, model: m, base_url: "{url}/v1", retries: 0}}
    - {{name: two, provider: openai, model: n, base_url: "http://127.0.0.1:9/v1", retries: 0}}
  use: {{default: [one], get_answers: [two]}}
"""


def model_checks(service: Any, folder: Path) -> list[Check]:
    path = folder / "league.yaml"
    path.write_text(LEAGUE.format(url=service.url), encoding="utf-8")
    settings = read_league_file(path, {"OPENAI_API_KEY": KEY})
    return [check for check in check_everything(settings, SystemClock()) if check.name == "model"]


def test_the_connectivity_test_asks_each_model_that_the_role_would_ask(openai_service: Any, tmp_path: Path) -> None:
    openai_service.says("ready")
    (check,) = model_checks(openai_service, tmp_path)
    assert check.trouble is None
    assert re.fullmatch(r"openai:m answered within \d+\.\d s", check.said)
    (asked,) = openai_service.asked
    assert asked["max_tokens"] == 16
    costs = json.loads(league_agents("costs", "--json", "--by", "callback").stdout)
    (row,) = costs["costs"]
    assert (row["name"], row["calls"], row["input_tokens"], row["output_tokens"]) == ("connectivity", 1, 12, 5)


def test_the_connectivity_test_keeps_the_limits_of_a_day(
    openai_service: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "league.yaml"
    path.write_text(LEAGUE.format(url=openai_service.url) + "  limits: {per_day: {calls: 1}}\n", encoding="utf-8")
    settings = read_league_file(path, {"OPENAI_API_KEY": KEY})
    openai_service.says("ready")
    first, second = (
        next(check for check in check_everything(settings, SystemClock()) if check.name == "model") for _ in range(2)
    )
    assert first.trouble is None
    assert second.trouble is Trouble.UNAVAILABLE
    assert "per day" in second.said
    assert len(openai_service.asked) == 1


def test_the_connectivity_test_says_what_is_wrong_with_a_model(openai_service: Any, tmp_path: Path) -> None:
    openai_service.fails(401)
    (refused,) = model_checks(openai_service, tmp_path)
    assert refused.trouble is Trouble.CONFIGURATION
    assert "OPENAI_API_KEY" in refused.said
    assert KEY not in refused.said
    openai_service.fails(503)
    (down,) = model_checks(openai_service, tmp_path)
    assert down.trouble is Trouble.UNAVAILABLE
