"""A provider that is declared is finished: it can be configured, asked, tried out, listed, paid for and looked up.

Each test names the provider that lacks something, so that it says what is left to do for a new one.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from pytest_httpserver import HTTPServer
from werkzeug import Response

from league_agents.app.models import ask_for_a_word, limited_backend
from league_agents.app.providers import list_providers
from league_agents.cli import command_line
from league_agents.config.model_settings import ModelEntry, read_models, read_prices
from league_agents.kit.errors import ConfigError, ModelError
from league_agents.kit.values import evolve
from league_agents.llm import providers, registry
from league_agents.llm.calls import ANSWERED, ModelCall
from league_agents.llm.exchange import Request, Schema
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.llm.provider import Access, Provider, faults_of
from league_agents.llm.registry import DEFAULT_PROVIDER, all_providers, provider_named, provider_names
from league_agents.report.secret_texts import secrets_of_environment

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-this-key-is-secret-0123456789"
each_provider = pytest.mark.parametrize("provider", all_providers(), ids=lambda provider: provider.name)


def from_environment(**variables: str) -> ModelEntry:
    (entry,) = read_models(None, variables, Path("/league")).entries
    return entry


def from_file(text: str, **variables: str) -> ModelEntry:
    (entry,) = read_models(yaml.safe_load(text), variables, Path("/league"), path="league.yaml.models").entries
    return entry


@each_provider
def test_it_is_declared_without_faults(provider: Provider) -> None:
    assert list(faults_of(provider, provider.name)) == []
    assert provider.title


@each_provider
def test_the_environment_configures_it(provider: Provider) -> None:
    for variable in provider.key_variables:
        named = from_environment(LEAGUE_LLM_PROVIDER=provider.name, LEAGUE_LLM_MODEL="m", **{variable: KEY})
        assert (named.full_name, named.key) == (f"{provider.name}:m", KEY)
        assert from_environment(LEAGUE_LLM_MODEL="m", **{variable: KEY}).provider == provider.name


@each_provider
def test_a_league_file_configures_it(provider: Provider) -> None:
    keys = dict.fromkeys(provider.key_variables[:1], KEY)
    entry = from_file(f"models: [{{name: a, provider: {provider.name}, model: m}}]", **keys)
    assert (entry.full_name, entry.key) == (f"{provider.name}:m", KEY if keys else None)
    assert entry.needs_key == bool(keys)


@each_provider
def test_its_keys_are_hidden_wherever_something_is_shown(provider: Provider) -> None:
    keys = {variable: f"{KEY}{place}" for place, variable in enumerate(provider.key_variables)}
    assert secrets_of_environment(keys) == list(keys.values())


@each_provider
def test_it_is_asked_itself_and_tried_out_by_a_word(
    provider: Provider, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request(re.compile(".*")).respond_with_response(Response("{}", status=404))
    url = httpserver.url_for("").rstrip("/")
    monkeypatch.setenv("LEAGUE_LLM_USD_PER_DAY", "")
    entry = from_environment(LEAGUE_LLM_PROVIDER=provider.name, LEAGUE_LLM_MODEL="m", LEAGUE_LLM_BASE_URL=url)
    assert limited_backend(entry).name == f"{provider.name}:m"
    with pytest.raises(ModelError, match=f"^{provider.name}:m: "):
        ask_for_a_word(read_models(None, {}, Path("/league")), entry)
    assert len(httpserver.log) == 1


@each_provider
def test_it_is_listed(provider: Provider) -> None:
    shown = CliRunner().invoke(command_line, ["config", "providers"], env={"LEAGUE_LLM_PROVIDER": ""})
    assert f"{provider.name}: {provider.title} (built in)" in shown.stdout.splitlines()
    told = CliRunner().invoke(command_line, ["config", "providers", "--json"])
    (found,) = [each for each in json.loads(told.stdout)["providers"] if each["name"] == provider.name]
    assert found["key_variables"] == list(provider.key_variables)
    with pytest.raises(ConfigError, match=f"one of .*{provider.name}"):
        from_environment(LEAGUE_LLM_PROVIDER="nobody", LEAGUE_LLM_MODEL="m")


@each_provider
def test_what_it_costs_is_shown(provider: Provider, tmp_path: Path) -> None:
    model = f"{provider.name}:m"
    prices = tmp_path / "prices.yaml"
    prices.write_text(f'prices: {{"{provider.name}:*": {{input: 1, output: 2}}}}')
    assert read_prices(prices).of(model) is not None
    ledger = Ledger(tmp_path / "calls.db")
    ledger.record(
        ModelCall(
            at=datetime(2031, 5, 2, 8, 0, tzinfo=UTC),
            scope="a",
            purpose=Purpose(match_id="0101001", callback="get_guess", step="guess"),
            model=model,
            prompt_digest="d" * 64,
            reply="a reply",
            outcome=ANSWERED,
            usage=Usage(input_tokens=1_000_000, requests=1),
            cost_usd=None,
            is_cached=False,
            took_s=0.1,
        )
    )
    shown = CliRunner().invoke(
        command_line, ["costs", "--file", str(tmp_path / "calls.db")], env={"LEAGUE_LLM_PRICES": str(prices)}
    )
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines()[1].split()[0] == model
    assert shown.stdout.splitlines()[1].split()[-1] == "$1.0000"


@each_provider
def test_it_is_documented(provider: Provider) -> None:
    environment = (ROOT / ".env.example").read_text(encoding="utf-8")
    settings = (ROOT / "config" / "league.example.yaml").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "how-to" / "providers.md").read_text(encoding="utf-8")
    for word in (provider.name, *provider.key_variables):
        assert re.search(rf"\b{word}\b", environment), f"{word} is missing in .env.example"
        assert re.search(rf"\b{word}\b", settings), f"{word} is missing in config/league.example.yaml"
        assert f"`{word}`" in page, f"{word} is missing in docs/how-to/providers.md"
    assert f"`{provider.base_url}`" in page


THIRD = '''
"""A third service."""

from league_agents.llm.exchange import Finish, Reply
from league_agents.llm.port import Usage
from league_agents.llm.provider import Provider


class Third:
    def __init__(self, access):
        self.access = access
        self.name = access.name

    def exchange(self, request):
        assert request.schema is None
        return Reply(text=request.prompt.system, finish=Finish.COMPLETE, usage=Usage(requests=1), model=self.name)


PROVIDER = Provider(
    name="third",
    title="A third service",
    base_url="https://third.example.org",
    key_variables=("THIRD_API_KEY",),
    connect=Third,
    default_model="best",
    takes_schema=False,
)
'''


@pytest.fixture
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """One more file among the providers, and nothing else."""
    (tmp_path / "third.py").write_text(THIRD)
    monkeypatch.setattr(providers, "__path__", [*providers.__path__, str(tmp_path)])
    return provider_named("third", "provider")


def test_one_more_file_is_one_more_provider(third: Provider) -> None:
    assert "third" in provider_names()
    entry = from_environment(LEAGUE_LLM_PROVIDER="Third", THIRD_API_KEY=KEY)
    assert (entry.full_name, entry.key) == ("third:best", KEY)
    assert from_file("models: [{name: a, provider: third}]").full_name == "third:best"
    assert type(limited_backend(entry)._backend._backend).__name__ == "Third"  # type: ignore[attr-defined]
    listed, unusable = list_providers({"THIRD_API_KEY": KEY})
    assert [each.key_variable for each in listed if each.provider == third] == ["THIRD_API_KEY"]
    assert not unusable


def test_a_provider_that_takes_no_schema_gets_it_in_words(third: Provider) -> None:
    backend = limited_backend(from_environment(LEAGUE_LLM_PROVIDER="third", THIRD_API_KEY=KEY))
    prompt = Prompt(system="s", user="u", purpose=Purpose(match_id="", callback="c", step="s"))
    request = Request(
        prompt=prompt,
        schema=Schema(name="word", document={"type": "object"}),
        max_output_tokens=10,
        timeout=timedelta(seconds=30),
    )
    assert 'JSON Schema: {"type":"object"}' in backend.exchange(request).text


@pytest.mark.parametrize(("change", "said"), [
    ({"name": "Third"}, "its name is 'Third'"),
    ({"name": "other"}, "it must be the entry point's"),
    ({"key_variables": ("THIRD_KEYS",)}, "'THIRD_KEYS' must be in capitals and end in KEY"),
    ({"base_url": "third.example.org"}, "'third.example.org', not a web address"),
    ({"base_url": None}, "its base_url is None"),
    ({"key_variables": "THIRD_API_KEY"}, "its key_variables is 'THIRD_API_KEY'"),
    ({"key_variables": (1,)}, "its key variable 1 must be"),
    ({"connect": None}, "its connect is None, which cannot be called"),
])  # fmt: skip
def test_a_wrong_declaration_is_told(change: dict[str, object], said: str, third: Provider) -> None:
    (fault,) = faults_of(evolve(third, **change), "third")  # type: ignore[arg-type]
    assert said in fault


def _without_sdk(_access: Access) -> Any:
    raise ModuleNotFoundError(f"No module named 'third_sdk' for {KEY}")


class _Nameless:
    name = "m"


@pytest.mark.parametrize(("connect", "said"), [
    (_without_sdk, "provider third: cannot be used: ModuleNotFoundError: No module named 'third_sdk' for [hidden]"),
    (lambda _: None, "provider third: cannot be used: AttributeError: 'NoneType' object has no attribute 'name'"),
    (lambda _: _Nameless(), "provider third: its backend is called 'm', not third:best"),
])  # fmt: skip
def test_a_provider_that_cannot_connect_is_one_line(
    connect: Any, said: str, third: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("league_agents.llm.providers.third.PROVIDER", evolve(third, connect=connect))
    with pytest.raises(ConfigError) as wrong:
        limited_backend(from_environment(LEAGUE_LLM_PROVIDER="third", THIRD_API_KEY=KEY))
    assert str(wrong.value) == said


@pytest.mark.parametrize(("written", "said"), [
    ("opnai", "LEAGUE_LLM_PROVIDER: must be one of anthropic, gemini, openai, found 'opnai'; did you mean 'openai'?"),
    ("gemni", "did you mean 'gemini'?"),
    ("claude", "must be one of anthropic, gemini, openai, found 'claude'"),
])  # fmt: skip
def test_an_unknown_provider_is_never_taken_for_another(written: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as wrong:
        from_environment(LEAGUE_LLM_PROVIDER=written, LEAGUE_LLM_MODEL="m")
    assert said in str(wrong.value)
    where = "models.models[0].provider"
    with pytest.raises(ConfigError, match=re.escape(where)) as wrong:
        from_file(f"models: [{{name: a, provider: {written}, model: m}}]")
    assert said.removeprefix("LEAGUE_LLM_PROVIDER: ") in str(wrong.value)
    prices = tmp_path / "prices.yaml"
    prices.write_text(f'prices: {{"{written}:m": {{input: 1, output: 2}}}}')
    with pytest.raises(ConfigError) as wrong:
        read_prices(prices)
    assert said.removeprefix("LEAGUE_LLM_PROVIDER: ") in str(wrong.value)


def test_a_provider_that_is_there_twice_is_told_whichever_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "false-2.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: false\nVersion: 2.0\n")
    (folder / "entry_points.txt").write_text("[test.providers]\nopenai = no_such_module:PROVIDER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "GROUP", "test.providers")
    with pytest.raises(ConfigError) as wrong:
        provider_named("gemini", "provider")
    said = "openai of false 2.0 has the name of a built-in one; uninstall false"
    assert str(wrong.value) == f"entry point test.providers: {said}"


def test_the_default_provider_is_one_of_them() -> None:
    assert DEFAULT_PROVIDER in provider_names()
