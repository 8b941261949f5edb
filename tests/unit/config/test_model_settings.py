"""Which models there are, by the league file and the environment."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from league_agents.config.model_settings import ModelSettings, read_models, read_prices
from league_agents.kit.errors import ConfigError
from league_agents.llm.limits import Limit

KEYS = {"OPENAI_API_KEY": "sk-own", "GEMINI_API_KEY": "gem-own"}
TWO = """
models:
  - {name: clever, provider: openai, model: gpt}
  - {name: near, provider: openai, model: llama, base_url: "http://127.0.0.1:11434/v1", retries: 0, max_output: 900}
"""


def read(text: str = "", **environment: str) -> ModelSettings:
    section = yaml.safe_load(text) if text else None
    return read_models(section, environment, Path("/league"), path="league.yaml.models")


def wrong(text: str = "", **environment: str) -> str:
    with pytest.raises(ConfigError) as refused:
        read(text, **environment)
    return str(refused.value)


def names(settings: ModelSettings, callback: str) -> list[str]:
    return [entry.name for entry in settings.chain(callback)]


def test_nothing_said_is_no_model() -> None:
    assert read().entries == ()
    assert read(LLM_MODEL="meant-for-somebody-else").entries == ()


def test_the_environment_alone_describes_a_model() -> None:
    (entry,) = read(LEAGUE_LLM_PROVIDER="gemini", LEAGUE_LLM_MODEL="flash", **KEYS).entries
    assert (entry.full_name, entry.key, entry.key_name) == ("gemini:flash", "gem-own", "GEMINI_API_KEY")
    assert "gem-own" not in repr(entry)


def test_googles_other_name_of_the_key_is_read() -> None:
    (entry,) = read(LEAGUE_LLM_PROVIDER="gemini", LEAGUE_LLM_MODEL="flash", GOOGLE_API_KEY="g").entries
    assert entry.key == "g"


def test_the_names_of_deployed_players_are_honoured() -> None:
    (entry,) = read(
        LEAGUE_LLM_PROVIDER="openai", LLM_MODEL="gpt", LLM_TIMEOUT_SEC="45", LLM_MAX_RETRIES="1", **KEYS
    ).entries
    assert entry.model == "gpt"
    assert entry.patience.timeout == timedelta(seconds=45)
    assert entry.patience.retries == 1


def test_without_a_provider_an_address_means_openais_protocol_and_a_single_key_its_service() -> None:
    assert read(LEAGUE_LLM_MODEL="m", LEAGUE_LLM_BASE_URL="http://localhost:8080/v1").entries[0].provider == "openai"
    assert read(LEAGUE_LLM_MODEL="m", GEMINI_API_KEY="g").entries[0].provider == "gemini"
    assert read(LEAGUE_LLM_MODEL="m").entries[0].provider == "openai"


def test_the_environments_model_is_asked_before_those_of_the_file() -> None:
    settings = read(TWO + "use: {get_guess: [near], get_answers: []}", LEAGUE_LLM_MODEL="m", **KEYS)
    assert names(settings, "get_guess") == ["environment", "near"]
    assert names(settings, "get_questions") == ["environment", "clever", "near"]
    assert names(settings, "get_answers") == []  # nobody stays nobody


def test_each_callback_has_its_own_chain() -> None:
    settings = read(TWO + "use: {default: near, get_guess: [clever, near], arena.undercover: [clever]}", **KEYS)
    assert names(settings, "get_guess") == ["clever", "near"]
    assert names(settings, "get_questions") == ["near"]
    assert names(settings, "arena.undercover") == ["clever"]
    assert names(settings, "arena.market") == ["near"]
    assert "did you mean 'arena.undercover'" in wrong(TWO + "use: {arena.undrcover: [clever]}", **KEYS)


def test_without_fallback_only_the_first_model_of_a_chain_is_asked() -> None:
    settings = read(TWO + "use: {get_guess: [near, clever]}", LLM_FALLBACK_ENABLED="false", **KEYS)
    assert names(settings, "get_guess") == ["near"]
    assert names(settings, "get_questions") == ["clever"]


def test_a_key_goes_to_its_service_and_to_protected_places_only() -> None:
    def key(base_url: str) -> str | None:
        return read(LEAGUE_LLM_MODEL="m", LEAGUE_LLM_BASE_URL=base_url, **KEYS).entries[0].key

    assert key("https://models.example.org/v1") == "sk-own"
    assert key("http://127.0.0.1:1234/v1") == "sk-own"
    assert key("http://192.168.1.5:11434/v1") is None
    entry = "[{name: a, provider: openai, model: m, base_url: 'http://192.168.1.5/v1', key_variable: OPENAI_API_KEY}]"
    assert "would travel unprotected" in wrong(f"models: {entry}", **KEYS)


def test_a_missing_key_stops_nobody_who_asks_no_model() -> None:
    assert read(TWO).entries[0].needs_key
    assert read(TWO).entries[0].key is None
    assert not read(TWO).entries[1].needs_key


def test_limits_come_from_the_file_and_the_environment() -> None:
    text = "limits: {per_game: {usd: 0.1, calls: 6}, per_day: {tokens: 1000}}"
    limits = read(text, LEAGUE_LLM_USD_PER_GAME="$0.5", LEAGUE_LLM_USD_PER_SEASON="20").limits
    assert limits.per_game == Limit(usd=0.5, calls=6)
    assert limits.per_day == Limit(tokens=1000)
    assert limits.per_season == Limit(usd=20)


@pytest.mark.parametrize(("text", "environment", "said"), [
    ("", {"LEAGUE_LLM_PROVIDER": "claude"}, "LEAGUE_LLM_PROVIDER: must be one of anthropic, gemini, openai"),
    ("", {"LEAGUE_LLM_PROVIDER": "openai"}, "LEAGUE_LLM_MODEL: is not set"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LEAGUE_LLM_BASE_URL": "localhost:80"}, "LEAGUE_LLM_BASE_URL: must be a web"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LEAGUE_LLM_BASE_URL": "http://a:b@c/v1"}, "must have no user, password, ? or # in"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LEAGUE_LLM_BASE_URL": "http://a:99999/v1"}, "must be a web address"),
    ("", {"LEAGUE_LLM_MODEL": "m", "OPENAI_API_KEY": "a\nb"}, "OPENAI_API_KEY: holds more than one line"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LLM_MAX_RETRIES": "many"}, "LLM_MAX_RETRIES: must be a whole number"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LLM_MAX_RETRIES": "000000000999"}, "LLM_MAX_RETRIES: must be a whole number"),
    ("", {"LEAGUE_LLM_MODEL": "m", "LLM_TIMEOUT_SEC": "0"}, "LLM_TIMEOUT_SEC: must be a number of seconds"),
    ("", {"LEAGUE_LLM_USD_PER_DAY": "much"}, "LEAGUE_LLM_USD_PER_DAY: must be a number of dollars"),
    ("", {"LEAGUE_LLM_USD_PER_DAY": "nan"}, "LEAGUE_LLM_USD_PER_DAY: must be a number of dollars"),
    ("modells: []", {}, "did you mean 'models'"),
    ("models: [{name: a, provider: openai}]", {}, "models.models[0].model: is missing"),
    ("models: [{name: a, provider: mistral, model: m}]", {}, "provider: must be one of anthropic, gemini, openai"),
    ("models: [{name: a, provider: openai, model: m, key: sk-1}]", {}, "there is no key 'key'"),
    ("models: [{name: a, provider: openai, model: m}, {name: a, provider: openai, model: n}]", {}, "is taken already"),
    ("models: [{name: environment, provider: openai, model: m}]", {}, "is taken already"),
    ("use: {get_guess: [clever]}", {}, "none is listed under models"),
    ("use: {get_gues: []}", {}, "did you mean 'get_guess'"),
    ("use: [clever]", {}, "must be a mapping"),
    ("limits: {per_game: {usd: -1}}", {}, "per_game.usd: must be a number"),
    ("limits: {per_hour: {usd: 1}}", {}, "there is no key 'per_hour'"),
])  # fmt: skip
def test_what_is_wrong_is_named(text: str, environment: dict[str, str], said: str) -> None:
    assert said in wrong(text, **environment)


def test_prices_are_read_and_the_example_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text('prices:\n  "openai:m*": {input: 1, output: 2}\n')
    price = read_prices(path).of("openai:m-mini")
    assert price is not None
    assert (price.input_usd, price.output_usd, price.cached_usd) == (1, 2, None)
    example = Path(__file__).parents[3] / "config" / "prices.example.yaml"
    assert read_prices(example).of("openai:any") is None
    bare = example.read_text().replace('  # "', '  "').replace("  #   ", "    ")
    path.write_text(bare)
    found = read_prices(path).of("openai:YOUR-MODEL")
    assert found is not None
    assert found.cached_usd == 0.075


@pytest.mark.parametrize(("text", "said"), [
    ('prices: {"gpt-4": {input: 1, output: 2}}', "must be provider:MODEL"),
    ('prices: {"openai:*x": {input: 1, output: 2}}', "a star at the end"),
    ('prices: {"openai:x": {input: 1}}', "output: is missing"),
    ('prices: {"openai:x": {input: free, output: 2}}', "input: must be a number"),
    ("prices: [1]", "must be a mapping"),
])  # fmt: skip
def test_prices_that_cannot_be_right_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said.replace("*", r"\*")):
        read_prices(path)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://user:hunter2@127.0.0.1:1/v1", "must have no user, password, ? or # in the address"),
        ("http://user:hun#ter2@127.0.0.1/v1", "must have no user, password, ? or # in the address"),
        ("https://a.test/v1?key=hunter2", "must have no user, password, ? or # in the address"),
        ("http://user:hunter2/x@127.0.0.1/v1", "must "),
        ("http://127.0.0.1:hunter2/v1", "must be a web address"),
        ("hunter2", "must be a web address"),
    ],
)
def test_a_wrong_address_is_never_quoted(url: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(LEAGUE_LLM_MODEL="m", LEAGUE_LLM_BASE_URL=url)
    assert str(caught.value).startswith(f"LEAGUE_LLM_BASE_URL: {said}")
    assert "hun" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        read(f"models: [{{name: a, provider: openai, model: m, base_url: '{url}'}}]")
    assert said in str(caught.value)
    assert "hun" not in str(caught.value)
