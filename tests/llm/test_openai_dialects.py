"""Servers that speak OpenAI's protocol, each a little differently."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.kit.errors import ModelRefused
from league_agents.llm.exchange import Rejected
from league_agents.llm.port import Prompt, Purpose

PROMPT = Prompt(system="Answer as asked.", user="Which word?", purpose=Purpose(match_id="", callback="", step="word"))


class Word(BaseModel):
    """A word."""

    word: str


def ask(chat: Any) -> str:
    parsed = chat.complete_json(PROMPT, Word, timeout=timedelta(seconds=5), max_output_tokens=60)
    found: str = parsed.value.word
    return found


def forms(service: Any) -> list[str | None]:
    return [asked.get("response_format", {}).get("type") for asked in service.asked]


def test_a_server_without_json_schema_is_asked_for_an_object_from_then_on(openai_service: Any) -> None:
    service = openai_service
    service.fails(400, "response_format json_schema is not supported")
    service.says('{"word": "whale"}')
    service.says('{"word": "sea"}')
    chat = service.chat()
    assert [ask(chat), ask(chat)] == ["whale", "sea"]
    assert forms(service) == ["json_schema", "json_object", "json_object"]
    # It now learns of the schema by the prompt, which also says JSON, as json_object wants it.
    assert '"word"' in service.asked[1]["messages"][0]["content"]
    assert "JSON" in service.asked[1]["messages"][0]["content"]


def test_a_server_without_any_response_format_is_asked_in_words(openai_service: Any) -> None:
    service = openai_service
    service.fails(422, "extra fields not permitted")
    service.fails(400, "unknown parameter")
    service.says('Of course: {"word": "whale"}')
    service.says('{"word": "sea"}')
    chat = service.chat()
    assert [ask(chat), ask(chat)] == ["whale", "sea"]
    assert forms(service) == ["json_schema", "json_object", None, None]


def test_a_server_whose_grammar_breaks_on_the_schema_is_asked_more_simply(openai_service: Any) -> None:
    service = openai_service
    service.fails(500, "failed to parse grammar")
    service.says('{"word": "whale"}')
    assert ask(service.chat()) == "whale"
    assert forms(service) == ["json_schema", "json_object"]


def test_what_a_server_refuses_in_every_form_is_not_learnt(openai_service: Any) -> None:
    service = openai_service
    for _ in range(3):
        service.fails(400, "this prompt is too long")
    service.says('{"word": "whale"}')
    chat = service.chat()
    with pytest.raises(Rejected, match="too long"):
        ask(chat)
    assert ask(chat) == "whale"
    assert forms(service)[3] == "json_schema"


@pytest.mark.parametrize(("refused", "taken"), [("max_tokens", "max_completion_tokens")])
def test_the_limit_of_the_output_has_the_name_that_the_server_knows(
    openai_service: Any, refused: str, taken: str
) -> None:
    service = openai_service
    service.fails(400, f"Unsupported parameter: '{refused}' is not supported with this model. Use '{taken}' instead.")
    service.says('{"word": "whale"}')
    assert ask(service.chat()) == "whale"
    assert service.asked[0][refused] == 60
    assert service.asked[1][taken] == 60
    assert refused not in service.asked[1]


def test_a_refusal_field_is_a_refusal(openai_service: Any) -> None:
    document = openai_service.protocol.message("")
    document["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    openai_service.sends(document)
    with pytest.raises(ModelRefused):
        ask(openai_service.chat())


def test_a_used_up_account_is_not_asked_again(openai_service: Any) -> None:
    document = openai_service.protocol.error(429, "You exceeded your current quota")
    document["error"]["code"] = "insufficient_quota"
    openai_service.sends(document, status=429)
    with pytest.raises(Rejected, match="quota"):
        ask(openai_service.chat())


def test_a_reply_in_parts_is_joined(openai_service: Any) -> None:
    document = openai_service.protocol.message("")
    parts = [{"type": "text", "text": '{"word": '}, {"type": "text", "text": '"whale"}'}, {"type": "image"}]
    document["choices"][0]["message"]["content"] = parts
    openai_service.sends(document)
    assert ask(openai_service.chat()) == "whale"


def test_a_server_of_ones_own_needs_no_key(openai_service: Any) -> None:
    openai_service.says('{"word": "whale"}')
    backend = openai_service.protocol.backend(openai_service.url, None)
    from league_agents.llm.chat import Chat

    assert ask(Chat(backend)) == "whale"
    (request, _) = openai_service.server.log[0]
    assert request.headers["Authorization"] == "Bearer none"


def test_a_packed_body_is_not_unpacked(openai_service: Any) -> None:
    from league_agents.kit.errors import MalformedCompletion

    openai_service.sends(json.dumps(openai_service.protocol.message("{}")), headers={"Content-Encoding": "gzip"})
    with pytest.raises(MalformedCompletion, match="packed"):
        ask(openai_service.chat())
