"""From settings to models that agents ask, and what is left in the books."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app import models
from league_agents.app.agents import choose_agent
from league_agents.app.live_machine import agent_of
from league_agents.app.live_mailbox import SharedByMailboxes
from league_agents.app.models import Books, chat_models
from league_agents.app.outages import Outages
from league_agents.config.league_file import read_league_file
from league_agents.config.model_settings import ModelEntry, ModelSettings
from league_agents.games.q21.rules import PRD
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, ModelUnavailable
from league_agents.kit.values import evolve
from league_agents.llm.cassette import Cassette, CassettePlayer
from league_agents.llm.exchange import Backend, Patience
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Prompt, Purpose
from tests.support.scripted_model import ScriptedBackend

SECOND = timedelta(seconds=1)


def entry(name: str, **more: Any) -> ModelEntry:
    given: dict[str, Any] = {
        "provider": "openai", "model": name, "base_url": "http://127.0.0.1:9/v1", "key": None,
        "key_name": "OPENAI_API_KEY", "needs_key": False, "patience": Patience(retries=0), **more,
    }  # fmt: skip
    return ModelEntry(name=name, **given)


def settings(*entries: ModelEntry, **more: Any) -> ModelSettings:
    return ModelSettings(where="league.yaml.models", entries=entries, **more)


def prompt(callback: str = "get_guess") -> Prompt:
    return Prompt(system="s", user="u", purpose=Purpose(match_id="0101001", callback=callback, step="guess"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2031, 5, 2, 8, 0, tzinfo=UTC))


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL", "LEAGUE_LLM_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def test_without_any_model_the_remedy_is_told() -> None:
    with pytest.raises(ConfigError, match=r"league.yaml.models: no language model is configured; set LEAGUE_LLM_PROV"):
        chat_models(settings(), role="player", books=Books.of_one_run("a"))


def test_an_llm_agent_without_a_model_or_a_key_tells_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no language model is configured"):
        choose_agent("llm", "player", rules=PRD, seed=1)
    monkeypatch.setenv("LEAGUE_LLM_PROVIDER", "openai")
    monkeypatch.setenv("LEAGUE_LLM_MODEL", "gpt")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY: is not set, and openai:gpt needs a key"):
        choose_agent("llm", "referee", rules=PRD, seed=1)
    for shortened_by_a_page in ("sk-…", "sk-a b"):
        monkeypatch.setenv("OPENAI_API_KEY", shortened_by_a_page)
        with pytest.raises(ConfigError, match="OPENAI_API_KEY: has a character that no key has; copy the whole key"):
            choose_agent("llm", "referee", rules=PRD, seed=1)


@pytest.mark.parametrize("role", ["referee", "player"])
def test_an_llm_agent_runs_on_threads_with_a_time_limit(role: Any) -> None:
    made = chat_models(settings(entry("m")), role=role, books=Books.of_one_run("a"))
    agent = choose_agent("llm", role, rules=PRD, seed=1, models=lambda: made)
    assert not agent.is_ours
    assert agent.spec == "llm"


def test_a_callback_asks_its_chain_and_one_without_asks_nobody(clock: ManualClock) -> None:
    made = chat_models(
        settings(entry("a"), entry("b"), use={"get_guess": ("b", "a"), "get_answers": ()}),
        role="player",
        books=Books.of_one_run("x"),
        backend_of=lambda each: ScriptedBackend([each.name], name=f"openai:{each.name}"),
        clock=clock,
    )
    assert made.for_callback("get_answers") is None
    guess = made.for_callback("get_guess")
    assert guess is not None
    assert guess.name == "openai:b, then openai:a"
    assert made.for_callback("get_guess") is guess
    assert guess.complete_text(prompt(), timeout=SECOND, max_output_tokens=9).text == "b"


def ask(made: Any) -> str:
    model = made.for_callback("get_guess")
    found: str = model.complete_text(prompt(), timeout=SECOND, max_output_tokens=9).text
    return found


def test_a_roles_calls_stand_in_its_journal_and_its_spending_in_the_ledger(
    tmp_path: Path, clock: ManualClock, own_data_folder: Path
) -> None:
    path = tmp_path / "player.db"
    SqliteJournal(path, role="player", address="a@b.c", dump=lambda name, part: "{}").close()
    books = Books(league="L", scope="player a@b.c", journal=path)

    def process(*script: str) -> Any:
        return chat_models(
            settings(entry("m")), role="player", books=books, clock=clock, backend_of=lambda _: ScriptedBackend(script)
        )

    assert ask(process("yes")) == "yes"
    assert ask(process()) == "yes"  # from the journal
    assert [call.is_cached for call in Ledger(path).calls()] == [False, True]
    assert list(Ledger(own_data_folder / "ledger.db").calls()) == []


def test_a_game_that_nobody_goes_on_with_finds_nothing_of_another_one(
    clock: ManualClock, own_data_folder: Path
) -> None:
    def process(*script: str) -> Any:
        books = Books.of_one_run("player-a")
        return chat_models(
            settings(entry("m")), role="player", books=books, clock=clock, backend_of=lambda _: ScriptedBackend(script)
        )

    assert ask(process("one")) == "one"
    assert ask(process("two")) == "two"
    assert len(list(Ledger(own_data_folder / "ledger.db").calls())) == 2


def test_a_recording_plays_without_a_network_a_key_or_a_ledger(
    tmp_path: Path, clock: ManualClock, own_data_folder: Path
) -> None:
    tape = Cassette(tmp_path / "tape")
    models = settings(entry("m", needs_key=True))
    books = Books(league="L", scope="p", ledger=tmp_path / "ledger.db")
    recorded = chat_models(
        models, role="player", books=books, clock=clock, record=tape,
        backend_of=lambda each: ScriptedBackend([ModelUnavailable("busy"), "yes"], name=each.full_name),
    )  # fmt: skip
    with pytest.raises(ModelUnavailable):
        ask(recorded)
    assert ask(recorded) == "yes"
    tape.close()
    again = chat_models(models, role="player", books=books, replay=CassettePlayer(tmp_path / "tape"))
    with pytest.raises(ModelUnavailable, match="busy"):
        ask(again)
    assert ask(again) == "yes"
    assert not own_data_folder.exists()


def test_a_limit_in_dollars_needs_a_price_or_a_limit_that_can_be_counted(own_data_folder: Path) -> None:
    from league_agents.llm.limits import Limit, SpendingLimits

    def make(limit: Limit) -> None:
        # What another period allows limits nothing of the day.
        limited = settings(entry("m"), limits=SpendingLimits(per_game=Limit(calls=9), per_day=limit))
        chat_models(limited, role="player", books=Books.of_one_run("x"))

    with pytest.raises(ConfigError, match=r"models.limits: a limit in dollars cannot be kept for openai:m"):
        make(Limit(usd=1))
    make(Limit(usd=1, calls=100))
    own_data_folder.mkdir(exist_ok=True)
    (own_data_folder / "prices.yaml").write_text('prices: {"openai:*": {input: 1, output: 1}}')
    make(Limit(usd=1))


def test_the_whole_game_of_a_player_is_reserved_when_it_begins(clock: ManualClock, own_data_folder: Path) -> None:
    from league_agents.llm.exchange import OverBudget
    from league_agents.llm.limits import Limit, SpendingLimits

    own_data_folder.mkdir()
    (own_data_folder / "prices.yaml").write_text('prices: {"openai:*": {input: 1, output: 1}}')
    # One game of a player may need 20,000 + 3,000 and 10,000 + 600 tokens.
    limited = settings(entry("m"), limits=SpendingLimits(per_day=Limit(usd=0.05)))
    books = Books.of_one_run("a")
    made = chat_models(
        limited, role="player", books=books, clock=clock, backend_of=lambda _: ScriptedBackend(["q", "g"])
    )
    first = made.for_callback("get_questions")
    assert first is not None
    first.complete_text(prompt("get_questions"), timeout=SECOND, max_output_tokens=9)
    other = chat_models(
        limited, role="player", books=Books.of_one_run("b"), clock=clock, backend_of=lambda _: ScriptedBackend(["q"])
    ).for_callback("get_questions")
    assert other is not None
    with pytest.raises(OverBudget, match="kept for games that have begun"):
        other.complete_text(prompt("get_questions"), timeout=SECOND, max_output_tokens=9)
    assert ask(made) == "g"


def test_the_mailboxes_of_a_process_share_the_connections_to_services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ModelEntry] = []
    connect = models.limited_backend

    def counted(wanted: ModelEntry) -> Backend:
        made.append(wanted)
        return connect(wanted)

    monkeypatch.setattr(models, "limited_backend", counted)
    (tmp_path / "league.yaml").write_text(
        "league: {manager_email: o@league.test}\n"
        "models: {models: [{name: m, provider: openai, model: m, base_url: 'http://127.0.0.1:9/v1'}]}\n"
        "roles: {player: [{address: a@league.test, agent: llm}, {address: b@league.test, agent: llm}]}\n"
    )
    league, shared = read_league_file(tmp_path / "league.yaml", {}), SharedByMailboxes()
    for role in league.roles:
        agent: Any = agent_of(league, role, "s", Outages(failed=print, recovered=print), shared).factory()
        assert agent._asker._models("get_guess") is not None
    assert len(made) == 1
    shared.backends.of(evolve(made[0], key="another"))
    assert len(made) == 2, "another team's key is another connection"
