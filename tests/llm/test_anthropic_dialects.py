"""Anthropic's messages API: what is sent in each form, what its errors mean, what its counts cost."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, Field

from league_agents.kit.errors import ModelError, ModelUnavailable
from league_agents.llm.exchange import Rejected
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.llm.prices import Price

PROMPT = Prompt(
    system="The rules of the game. The mark is abc.",
    user="Which word?",
    purpose=Purpose(match_id="", callback="", step="word"),
    stable=len("The rules of the game."),
)


class AWord(BaseModel):
    """A word."""

    word: str
    points: int = Field(default=0, ge=0, le=3)


def ask(chat: Any) -> Any:
    return chat.complete_json(PROMPT, AWord, timeout=timedelta(seconds=20), max_output_tokens=60)


def failure(chat: Any) -> ModelError:
    with pytest.raises(ModelError) as failed:
        ask(chat)
    return failed.value


def tool_reply(service: Any) -> Any:
    document = service.protocol.message("")
    document["content"] = [
        {"type": "text", "text": "I call it."},
        {"type": "tool_use", "id": "t", "name": "AWord", "input": {"word": "whale", "points": 1}},
    ]
    document["stop_reason"] = "tool_use"
    return document


def test_the_schema_is_the_output_format_and_the_stable_part_is_marked_for_the_cache(anthropic_service: Any) -> None:
    anthropic_service.says('{"word": "whale", "points": 1}')
    assert ask(anthropic_service.chat()).value.word == "whale"
    (asked,) = anthropic_service.asked
    assert asked["system"] == [
        {"type": "text", "text": "The rules of the game.", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "The mark is abc."},
    ]
    assert asked["messages"] == [{"role": "user", "content": "Which word?"}]
    assert asked["max_tokens"] == 60
    schema = asked["output_config"]["format"]["schema"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["points"] == {"type": "integer", "description": "at least 0, at most 3"}
    assert "temperature" not in asked


def test_a_model_without_output_formats_is_given_a_tool_and_without_tools_words(anthropic_service: Any) -> None:
    service = anthropic_service
    service.fails(400, "output_config.format: Extra inputs are not permitted")
    service.sends(tool_reply(service))
    service.fails(400, "tool_choice forces tool use, which this model does not do")
    service.says('{"word": "sea"}')
    service.says('{"word": "eel"}')
    chat = service.chat()
    assert [ask(chat).value.word for _ in range(3)] == ["whale", "sea", "eel"]
    forms = [[key for key in ("output_config", "tools") if key in asked] for asked in service.asked]
    assert forms == [["output_config"], ["tools"], ["tools"], [], []]
    assert service.asked[1]["tool_choice"] == {"type": "tool", "name": "AWord"}
    assert "JSON Schema" in service.asked[4]["system"][1]["text"]


def test_a_model_that_cannot_be_told_not_to_reason_is_not_told_again(anthropic_service: Any) -> None:
    service = anthropic_service
    service.fails(400, "thinking.type: 'disabled' is not supported by this model")
    service.says('{"word": "whale"}')
    service.says('{"word": "sea"}')
    chat = service.chat()
    assert [ask(chat).value.word, ask(chat).value.word] == ["whale", "sea"]
    assert ["thinking" in asked for asked in service.asked] == [True, False, False]
    assert all("output_config" in asked for asked in service.asked)


@pytest.mark.parametrize(("status", "kind", "said", "expected"), [
    (529, "overloaded_error", "Overloaded", ModelUnavailable),
    (429, "rate_limit_error", "slow down", ModelUnavailable),
    (500, "api_error", "oops", ModelUnavailable),
    (400, "invalid_request_error", "Your credit balance is too low to access the API", Rejected),
    (402, "billing_error", "pay first", Rejected),
    (403, "permission_error", "not yours", Rejected),
    (413, "request_too_large", "too large", Rejected),
])  # fmt: skip
def test_an_error_is_told_as_what_it_is(
    anthropic_service: Any, status: int, kind: str, said: str, expected: type[ModelError]
) -> None:
    anthropic_service.sends({"type": "error", "error": {"type": kind, "message": said}}, status=status, forever=True)
    assert type(failure(anthropic_service.chat(retries=0))) is expected
    assert len(anthropic_service.asked) == 1


def test_tokens_of_the_cache_are_counted_at_their_own_prices(anthropic_service: Any) -> None:
    document = anthropic_service.protocol.message('{"word": "whale"}')
    document["usage"] = {
        "input_tokens": 100, "cache_read_input_tokens": 1_000, "cache_creation_input_tokens": 400, "output_tokens": 10
    }  # fmt: skip
    anthropic_service.sends(document)
    usage = ask(anthropic_service.chat()).completion.usage
    assert usage == Usage(input_tokens=1_500, cached_tokens=1_000, stored_tokens=400, output_tokens=10, requests=1)
    price = Price(input_usd=3, cached_usd=0.3, stored_usd=3.75, output_usd=15)
    assert price.nano_usd(usage) == 300_000 + 300_000 + 1_500_000 + 150_000
    assert Price(input_usd=3, output_usd=15).nano_usd(usage) == 4_500_000 + 150_000


def test_a_reply_that_is_corrected_stands_between_two_turns_of_ours(anthropic_service: Any) -> None:
    anthropic_service.says("")
    anthropic_service.says('{"word": "whale"}')
    assert ask(anthropic_service.chat()).value.word == "whale"
    turns = anthropic_service.asked[1]["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"].strip()  # the service refuses an empty turn
    assert "JSON Schema" in turns[2]["content"]


def test_the_key_of_the_environment_goes_to_nobody_but_the_service_in_the_settings(
    anthropic_service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-environment")
    anthropic_service.says('{"word": "whale"}')
    from league_agents.llm.chat import Chat

    ask(Chat(anthropic_service.protocol.backend(anthropic_service.url, None)))
    (request, _) = anthropic_service.server.log[0]
    assert "of-the-environment" not in json.dumps(dict(request.headers))
