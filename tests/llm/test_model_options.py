"""Temperature, seed, reasoning effort and service tier, from the league file to the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from league_agents.config.model_settings import read_models
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.llm.chat import Chat
from league_agents.llm.port import Prompt, Purpose
from league_agents.llm.provider import Access, ModelOptions
from league_agents.llm.providers.gemini.sdks import GenerativeLanguageClient
from league_agents.llm.registry import all_providers, provider_named
from tests.llm.conftest import KEY, LIMIT_S, Protocol, Service

PROMPT = Prompt(system="Answer as asked.", user="Which word?", purpose=Purpose(match_id="", callback="", step="word"))
EVERYTHING = "temperature: 0.5, seed: 7, reasoning_effort: medium, service_tier: {}"


class OneWord(BaseModel):
    """A word."""

    word: str


def entry_of(written: str) -> Any:
    document = yaml.safe_load(f"models: [{{name: a, model: m, {written}}}]")
    (entry,) = read_models(document, {}, Path("/league"), path="models").entries
    return entry


def asked(service: Service, written: str = "", *, thinks: bool = False, times: int = 1) -> list[Any]:
    """The requests of a model with these keys of the league file."""
    from datetime import timedelta

    provider = {"google-genai": "gemini"}.get(service.protocol.name, service.protocol.name)
    entry = entry_of(f"provider: {provider}, {written}")
    url = f"{service.url}/v1" if provider == "openai" else service.url
    access = Access(
        name=entry.full_name, model="m", base_url=url, key=KEY, key_name="K", options=entry.options, thinks=thinks
    )
    chat = Chat(provider_named(provider, "").connect(access))
    for _ in range(times):
        chat.complete_json(PROMPT, OneWord, timeout=timedelta(seconds=LIMIT_S), max_output_tokens=60)
    return service.asked


def test_openai_is_told_all_four(httpserver: Any) -> None:
    service = Service(Protocol("openai"), httpserver)
    service.says('{"word": "whale"}')
    (body,) = asked(service, EVERYTHING.format("flex"))
    assert {name: body[name] for name in ("temperature", "seed", "reasoning_effort", "service_tier")} == {
        "temperature": 0.5, "seed": 7, "reasoning_effort": "medium", "service_tier": "flex"
    }  # fmt: skip


def test_gemini_is_told_all_four(httpserver: Any) -> None:
    service = Service(Protocol("google-genai"), httpserver)
    service.says('{"word": "whale"}')
    (body,) = asked(service, EVERYTHING.format("priority"))
    config = body["generationConfig"]
    assert (config["temperature"], config["seed"]) == (0.5, 7)
    assert list(config["thinkingConfig"].values()) == ["MEDIUM"]
    assert "priority" in json.dumps(body).lower()


def test_anthropic_is_told_effort_and_tier(httpserver: Any) -> None:
    service = Service(Protocol("anthropic"), httpserver)
    service.says('{"word": "whale"}')
    (body,) = asked(service, "reasoning_effort: max, service_tier: standard_only")
    assert body["output_config"]["effort"] == "max"
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["service_tier"] == "standard_only"
    assert "thinking" not in body  # the user's order goes before the default


@pytest.mark.parametrize("name", ["openai", "google-genai", "anthropic"])
def test_nothing_is_sent_to_a_server_of_ones_own_that_nobody_ordered(name: str, httpserver: Any) -> None:
    service = Service(Protocol(name), httpserver)
    service.says('{"word": "whale"}')
    (body,) = asked(service, thinks=True)
    text = json.dumps(body)
    for word in ("temperature", "seed", "reasoning", "thinking", "effort", "ier"):
        assert f'{word}":' not in text


@pytest.mark.parametrize(("name", "module", "word"), [
    ("openai", "openai", "reasoning_effort"), ("google-genai", "gemini", "thinkingConfig"),
])  # fmt: skip
def test_a_service_keeps_reasoning_short_until_its_model_refuses(
    name: str, module: str, word: str, httpserver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service(Protocol(name), httpserver)
    address = f"{service.url}/v1" if name == "openai" else service.url
    monkeypatch.setattr(f"league_agents.llm.providers.{module}.ENDPOINT", address)
    said = "Unrecognized request argument: reasoning_effort" if name == "openai" else "Thinking level is not supported"
    service.says('{"word": "whale"}')
    service.fails(400, said)
    service.says('{"word": "whale"}')
    service.says('{"word": "whale"}')
    asked(service)
    asked(service, times=2)
    assert [word.lower() in json.dumps(body).lower() for body in service.asked] == [True, True, False, False]
    service.says('{"word": "whale"}')
    assert word.lower() not in json.dumps(asked(service, thinks=True)[-1]).lower()


def test_what_the_older_sdk_cannot_send_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from league_agents.llm.providers import gemini

    monkeypatch.setattr(gemini, "_is_installed", lambda name: name != "google.genai")
    access = Access(name="gemini:m", model="m", base_url="http://127.0.0.1:9", key=None, key_name="K")
    warm = evolve(access, options=ModelOptions(temperature=0.5))
    assert isinstance(gemini.connect(warm)._client, GenerativeLanguageClient)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="seed needs the package google-genai"):
        gemini.connect(evolve(access, options=ModelOptions(seed=1)))


@pytest.mark.parametrize(("written", "said"), [
    ("provider: anthropic, temperature: 0.5",
     "models.models[0].temperature: anthropic takes reasoning_effort, service_tier; leave it out"),
    ("provider: anthropic, seed: 1", "models.models[0].seed: anthropic takes"),
    ("provider: openai, service_tier: flexx", "service_tier: must be one of auto, default, flex"),
    ("provider: gemini, reasoning_effort: none", "reasoning_effort: must be one of minimal, low"),
    ("provider: openai, temperature: 3", "temperature: must be a number from 0 to 2"),
    ("provider: openai, seed: -1", "seed: must be a whole number from 0"),
])  # fmt: skip
def test_what_a_provider_does_not_take_is_one_clear_line(written: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        entry_of(written)
    assert said in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_every_provider_declares_which_options_it_takes() -> None:
    assert all(provider.options for provider in all_providers())
