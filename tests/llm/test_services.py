"""Every misfortune of a language model service, through the SDKs as they are. Nothing inside of them is replaced."""

from __future__ import annotations

import json
import socket
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, Field

from league_agents.kit.errors import MalformedCompletion, ModelError, ModelRefused, ModelUnavailable
from league_agents.llm.accounted import may_cost
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import LARGEST_REPLY, Patience, Rejected, Unanswered
from league_agents.llm.port import Prompt, Purpose, Usage
from league_agents.llm.time_limit import TimeLimited
from league_agents.local_league.patience import LIMIT_S


class Opinion(BaseModel):
    """What the model is asked for."""

    word: str
    points: int


class Batch(BaseModel):
    """What has bounds."""

    numbers: list[int] = Field(min_length=1, max_length=3)
    points: int = Field(ge=0, le=4)


PROMPT = Prompt(
    system="Answer as asked.",
    user="Which word?",
    purpose=Purpose(match_id="0101001", callback="get_guess", step="opinion"),
)
GOOD = json.dumps({"word": "whale", "points": 3})
SECONDS = timedelta(seconds=LIMIT_S)
SHORT = timedelta(seconds=0.4)
KEY = "sk-this-key-is-secret-0123456789"


def opinion(chat: Chat, timeout: timedelta = SECONDS) -> Any:
    return chat.complete_json(PROMPT, Opinion, timeout=timeout, max_output_tokens=60)


def failure(chat: Chat, timeout: timedelta = SECONDS) -> ModelError:
    with pytest.raises(ModelError) as failed:
        opinion(chat, timeout)
    assert KEY not in str(failed.value)
    assert "\n" not in str(failed.value)
    return failed.value


def test_a_value_comes_back_with_what_it_used(service: Any) -> None:
    service.says(GOOD)
    parsed = opinion(service.chat())
    assert parsed.value == Opinion(word="whale", points=3)
    assert parsed.completion.usage == Usage(input_tokens=12, output_tokens=5, cached_tokens=2, requests=1)
    assert parsed.completion.model.endswith(":m")


def test_a_text_comes_back_as_it_is(service: Any) -> None:
    service.says("A whale, “כן”.")
    assert service.chat().complete_text(PROMPT, timeout=SECONDS, max_output_tokens=60).text == "A whale, “כן”."


def test_the_service_is_told_the_schema_the_limit_and_both_texts(service: Any) -> None:
    service.says(GOOD)
    opinion(service.chat())
    (asked,) = service.asked
    text = json.dumps(asked)
    for word in ("Answer as asked.", "Which word?", "points", "60"):
        assert word in text


def test_every_service_is_told_how_long_a_list_may_be(service: Any) -> None:
    service.says('{"numbers": [1], "points": 2}')
    service.chat().complete_json(PROMPT, Batch, timeout=SECONDS, max_output_tokens=60)
    (asked,) = service.asked
    said = json.dumps(asked).replace("max_items", "maxItems").replace('"3"', "3")
    assert '"maxItems": 3' in said or "items at most 3" in said


def test_nobody_listens(protocol: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    chat = Chat(TimeLimited(protocol.backend(f"http://127.0.0.1:{port}")), Patience(retries=1, first_pause_s=0.01))
    error = failure(chat)
    assert isinstance(error, ModelUnavailable)
    assert not isinstance(error, Unanswered)  # nothing was sent, so nothing is charged
    assert "cannot be reached" in str(error)


@pytest.mark.parametrize("head", [
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX-Long: ",  # even the header never ends
    b"",
], ids=["slow body", "slow header", "silence"])  # fmt: skip
def test_a_server_that_drips_does_not_outlive_the_timeout(protocol: Any, raw_server: Any, head: bytes) -> None:
    def drip(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(head)
        while not stopped.wait(0.05):
            if head:
                connection.sendall(b" ")

    chat = Chat(TimeLimited(protocol.backend(raw_server(drip).url)), Patience(retries=3, first_pause_s=0.01))
    error = failure(chat, SHORT)  # the server would go on for ever
    assert isinstance(error, Unanswered)


def test_a_connection_that_breaks_off_is_tried_again(protocol: Any, raw_server: Any) -> None:
    connections: list[int] = []

    def serve(connection: socket.socket, _stopped: threading.Event) -> None:
        connections.append(1)
        if len(connections) == 1:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{")
            return
        body = json.dumps(protocol.message(GOOD)).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    chat = Chat(TimeLimited(protocol.backend(raw_server(serve).url)), Patience(retries=2, first_pause_s=0.01))
    assert opinion(chat).value.word == "whale"
    assert len(connections) == 2


def test_retry_after_is_honoured_when_there_is_time(service: Any) -> None:
    service.fails(429, retry_after="0.3")
    service.says(GOOD)
    began = time.monotonic()
    parsed = opinion(service.chat())
    assert time.monotonic() - began >= 0.3
    assert parsed.completion.usage.requests == 2


def test_retry_after_beyond_the_deadline_is_not_waited_for(service: Any) -> None:
    service.fails(429, retry_after="6000")
    error = failure(service.chat())
    assert isinstance(error, ModelUnavailable)
    assert error.retry_after == timedelta(seconds=6000)


def test_429_for_ever_ends_after_its_retries(service: Any) -> None:
    service.fails(429, forever=True)
    error = failure(service.chat(retries=3))
    assert isinstance(error, ModelUnavailable)
    assert len(service.asked) == 4
    assert error.usage == Usage(requests=4)


def test_a_server_error_is_tried_again(service: Any) -> None:
    service.fails(500)
    service.fails(503)
    service.says(GOOD)
    assert opinion(service.chat()).value.points == 3


def test_a_refused_key_is_not_tried_again_and_is_not_shown(service: Any) -> None:
    service.fails(401, f"Incorrect API key provided: {KEY}", forever=True)
    error = failure(service.chat(retries=8))
    assert isinstance(error, Rejected)
    # google.auth itself asks three times, because a token of another kind might have run out.
    assert len(service.asked) == (3 if service.protocol.name == "google-generativeai" else 1)
    assert "_API_KEY" in str(error)


def test_a_key_that_a_service_repeats_is_taken_out(service: Any) -> None:
    service.fails(500, f"cannot use {KEY} today\nat all", forever=True)
    assert "cannot use [hidden] today at all" in str(failure(service.chat(retries=0)))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_followed_to_another_address_with_the_key_and_the_prompt(service: Any, status: int) -> None:
    service.fails(status, "over there", forever=True, location=f"{service.url}/stolen")
    error = failure(service.chat())
    assert isinstance(error, Rejected)
    assert "another address" in str(error)
    assert [request.path for request, _ in service.server.log if "stolen" in request.path] == []
    assert len(service.asked) == 1


def test_a_model_that_is_not_there_is_named(service: Any) -> None:
    service.fails(404, "no such model")
    error = failure(service.chat())
    assert isinstance(error, Rejected)
    assert ":m: " in str(error)


def test_a_refusal_is_not_asked_again(service: Any) -> None:
    service.says("", finish="refused")
    error = failure(service.chat())
    assert isinstance(error, ModelRefused)
    assert error.usage.requests == 1


def test_a_truncated_value_is_asked_for_once_more_and_shorter(service: Any) -> None:
    service.says(GOOD[:12], finish="length")
    service.says(GOOD)
    assert opinion(service.chat()).value.word == "whale"
    assert "cut off" in json.dumps(service.asked[1])


def test_a_truncated_text_is_malformed(service: Any) -> None:
    service.says("Once upon a", finish="length")
    with pytest.raises(MalformedCompletion, match="cut off after 60 tokens"):
        service.chat().complete_text(PROMPT, timeout=SECONDS, max_output_tokens=60)


def test_another_schema_is_asked_for_again_with_what_is_wrong(service: Any) -> None:
    service.says('{"word": "whale", "points": "many"}')
    service.says(GOOD)
    parsed = opinion(service.chat())
    assert parsed.completion.usage.requests == 2
    assert parsed.completion.usage.output_tokens == 10
    second = json.dumps(service.asked[1], ensure_ascii=False)
    assert "points: Input should be a valid integer" in second
    assert "many" in second  # the model sees what it wrote


def test_a_service_that_ignores_the_schema_twice_is_given_up_with_what_it_used(service: Any) -> None:
    service.says("I would rather talk.")
    service.says("As I said.")
    error = failure(service.chat())
    assert isinstance(error, MalformedCompletion)
    assert error.usage == Usage(input_tokens=24, output_tokens=10, cached_tokens=4, requests=2)


def test_a_fence_and_prose_around_the_value_do_not_matter(service: Any) -> None:
    service.says(f"Here you are:\n```json\n{GOOD}\n```\nAnything else?")
    assert opinion(service.chat()).value.word == "whale"


def test_a_page_instead_of_json_points_at_the_address(service: Any) -> None:
    service.sends("<html><body>Welcome to the hotel</body></html>", forever=True)
    error = failure(service.chat(retries=1))
    assert isinstance(error, ModelUnavailable)
    assert "base_url" in str(error)


@pytest.mark.parametrize("status", [200, 500])
def test_a_huge_body_is_not_read_to_its_end(service: Any, status: int) -> None:
    service.sends(json.dumps(service.protocol.message("x" * (LARGEST_REPLY + 100))), status=status)
    error = failure(service.chat())
    assert isinstance(error, MalformedCompletion)
    assert "bytes" in str(error)
    assert len(service.asked) == 1


@pytest.mark.parametrize("body", [
    "[]", "null", "{}", '{"choices": []}', '{"choices": [{"message": null}]}', '{"candidates": [null]}',
    '{"choices": {"a": 1}, "candidates": 3}', "[" * 50_000, '{"error": {"message": "later"}}',
])  # fmt: skip
def test_json_without_a_reply_is_no_reply(service: Any, body: str) -> None:
    service.sends(body)
    error = failure(service.chat(retries=0))
    assert isinstance(error, ModelUnavailable)
    if body == "{}":
        assert may_cost(error)
    if "later" in body and service.protocol.name != "google-generativeai":  # which drops what it does not know
        assert not may_cost(error)


def test_half_of_a_surrogate_pair_survives_neither_way(service: Any) -> None:
    if service.protocol.name == "google-generativeai":
        service.says(GOOD)  # its own reader refuses a response with one
    else:
        service.says('{"word": "wha\ud83dle", "points": 3}')
    prompt = Prompt(system="Answer.", user="Which \udc00 word?", purpose=PROMPT.purpose)
    parsed = service.chat().complete_json(prompt, Opinion, timeout=SECONDS, max_output_tokens=60)
    parsed.value.word.encode("utf-8")


def test_a_service_that_counts_nothing_leaves_the_tokens_unknown(service: Any) -> None:
    service.says(GOOD, counted=None)
    backend = service.protocol.backend(service.url)
    from league_agents.llm.exchange import Request

    reply = backend.exchange(Request(prompt=PROMPT, schema=None, max_output_tokens=60, timeout=SECONDS))
    assert not reply.is_counted


def test_nothing_shows_the_key(protocol: Any) -> None:
    backend = protocol.backend("http://127.0.0.1:9")
    assert KEY not in repr(backend)
    assert KEY not in repr(TimeLimited(backend))
