"""A chat model on a scripted service and a clock that is set by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.kit.errors import MalformedCompletion, ModelError, ModelRefused, ModelUnavailable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Finish, OverBudget, Patience, Rejected, Reply, Request, Unanswered
from league_agents.llm.port import Prompt, Usage
from tests.support.scripted_model import Scripted, ScriptedBackend

MINUTE = timedelta(minutes=1)
GOOD = '{"word": "whale"}'


class Word(BaseModel):
    word: str


def chat_on(seconds: Any, *script: Scripted, **patience: Any) -> tuple[Chat, ScriptedBackend]:
    backend = ScriptedBackend(script)
    return Chat(backend, Patience(**patience), monotonic=seconds, sleep=seconds.sleep), backend


def reply(text: str, finish: Finish = Finish.COMPLETE) -> Reply:
    usage = Usage(input_tokens=10, output_tokens=5, requests=1)
    return Reply(text=text, finish=finish, usage=usage, model="scripted:m")


def test_a_value_of_the_schema_comes_back(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, reply(GOOD))
    parsed = chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert parsed.value.word == "whale"
    assert parsed.completion.model == "scripted:m"
    (request,) = backend.requests
    assert request.schema is not None
    assert request.max_output_tokens == 50
    assert request.timeout < MINUTE  # so that the call ends before its timeout


def test_the_second_question_holds_the_reply_and_what_is_wrong_with_it(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, reply('{"wort": "Wal"}'), reply(GOOD))
    parsed = chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert parsed.completion.usage == Usage(input_tokens=20, output_tokens=10, requests=2)
    correction = backend.requests[1].correction
    assert correction is not None
    assert correction.reply == '{"wort": "Wal"}'
    assert "word: Field required" in correction.complaint
    assert backend.requests[0].digest == prompt_of().digest
    assert backend.requests[1].digest != prompt_of().digest


def test_a_reply_of_the_wrong_form_is_asked_for_once_more_and_not_twice(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, reply("no"), reply("no"), reply(GOOD))
    with pytest.raises(MalformedCompletion) as failed:
        chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert len(backend.requests) == 2
    assert failed.value.usage == Usage(input_tokens=20, output_tokens=10, requests=2)


def test_what_a_reply_was_good_for_is_told_to_whoever_keeps_the_books(seconds: Any, prompt_of: Any) -> None:
    heard: list[tuple[str, ModelWorkUse, Why | None]] = []

    def judged(text: str, finish: Finish = Finish.COMPLETE) -> Reply:
        return replace(reply(text, finish), judge=lambda work, why: heard.append((text, work, why)))

    chat, _ = chat_on(seconds, judged("no"), judged(GOOD))
    parsed = chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert heard == [("no", ModelWorkUse.REPLACED, Why.MALFORMED)]
    parsed.completion.judge(ModelWorkUse.PARTLY_USED, Why.TOO_FEW)
    assert heard[1:] == [(GOOD, ModelWorkUse.PARTLY_USED, Why.TOO_FEW)]
    for useless, why in ((judged(" "), Why.MALFORMED), (judged("x", Finish.CUT_OFF), Why.MALFORMED),
                         (judged("x", Finish.REFUSED), Why.REFUSED)):  # fmt: skip
        chat, _ = chat_on(seconds, useless)
        with pytest.raises(ModelError):
            chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)
        assert heard[-1][1:] == (ModelWorkUse.REPLACED, why)


def test_a_huge_reply_of_the_wrong_form_is_shown_back_shortly(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, reply("no " * 50_000), reply(GOOD))
    chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    correction = backend.requests[1].correction
    assert correction is not None
    assert len(correction.reply) + len(correction.complaint) < 8_000


def test_an_empty_text_is_malformed(seconds: Any, prompt_of: Any) -> None:
    chat, _ = chat_on(seconds, reply(" \n"))
    with pytest.raises(MalformedCompletion, match="empty"):
        chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)


def test_a_refusal_names_the_step(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, reply("I'd rather not.", Finish.REFUSED), reply(GOOD))
    with pytest.raises(ModelRefused, match="'opinion'"):
        chat.complete_json(prompt_of(), Word, timeout=MINUTE, max_output_tokens=50)
    assert len(backend.requests) == 1


@pytest.mark.parametrize(("error", "attempts"), [
    (ModelUnavailable("busy"), 4),
    (Unanswered("lost"), 4),
    (Rejected("wrong key"), 1),
    (OverBudget("too dear"), 1),
    (MalformedCompletion("no service"), 1),
])  # fmt: skip
def test_only_what_may_pass_is_tried_again(seconds: Any, prompt_of: Any, error: Exception, attempts: int) -> None:
    chat, backend = chat_on(seconds, *[error] * 9, retries=3)
    with pytest.raises(type(error)):
        chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)
    assert len(backend.requests) == attempts


def test_a_pause_is_as_long_as_the_service_says(seconds: Any, prompt_of: Any) -> None:
    chat, _ = chat_on(seconds, ModelUnavailable("busy", retry_after=timedelta(seconds=7)), reply("yes"))
    assert chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50).text == "yes"
    assert 7 <= seconds.slept[0] <= 8


def test_nobody_waits_past_the_timeout(seconds: Any, prompt_of: Any) -> None:
    chat, backend = chat_on(seconds, *[ModelUnavailable("busy", retry_after=timedelta(seconds=25))] * 9)
    with pytest.raises(ModelUnavailable) as failed:
        chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)
    assert len(backend.requests) == 3  # at 0, 25 and 50 s
    assert failed.value.retry_after == timedelta(seconds=25)
    assert sum(seconds.slept) < 60


def test_time_that_is_spent_is_not_given_again(seconds: Any, prompt_of: Any) -> None:
    def slow(request: Request) -> Scripted:
        seconds.now += 20
        return ModelUnavailable("busy")

    backend = ScriptedBackend(slow)
    chat = Chat(backend, Patience(retries=9), monotonic=seconds, sleep=seconds.sleep)
    with pytest.raises(ModelUnavailable):
        chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)
    left = [request.timeout.total_seconds() for request in backend.requests]
    assert left == sorted(left, reverse=True)
    assert left[-1] < 20.5


def test_the_models_own_limits_are_kept(seconds: Any, prompt_of: Any) -> None:
    patience = {"timeout": timedelta(seconds=10), "max_output_tokens": 40, "thinking_tokens": 1_000}
    chat, backend = chat_on(seconds, reply("yes"), **patience)
    chat.complete_text(prompt_of(), timeout=MINUTE, max_output_tokens=50)
    assert backend.requests[0].max_output_tokens == 1_040
    assert backend.requests[0].timeout < timedelta(seconds=10)


def test_the_same_words_have_the_same_digest_whatever_they_are_for() -> None:
    from league_agents.llm.port import Purpose

    one = Prompt(system="a", user="b", purpose=Purpose(match_id="1", callback="x", step="y"))
    other = Prompt(system="a", user="b", purpose=Purpose(match_id="2", callback="z", step="w"))
    assert one.digest == other.digest
    assert one.digest != Prompt(system="ab", user="", purpose=one.purpose).digest
