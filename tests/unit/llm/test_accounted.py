"""The books around a service: found again, limited, written down."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import MalformedCompletion, ModelError, ModelUnavailable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.values import evolve
from league_agents.llm.accounted import Account, Accounted, most_of
from league_agents.llm.budget import Budget
from league_agents.llm.calls import ModelCall
from league_agents.llm.chat import Chat, schema_of
from league_agents.llm.exchange import Finish, OverBudget, Patience, Rejected, Reply, Unanswered
from league_agents.llm.ledger import Ledger
from league_agents.llm.limits import Limit, SpendingLimits
from league_agents.llm.port import Usage
from league_agents.llm.prices import Price, PriceList
from tests.support.scripted_model import Scripted, ScriptedBackend

MODEL = "scripted:model"
PRICES = PriceList({MODEL: Price(input_usd=1, output_usd=10)})


class Desk:
    """What one process has: a script, and books in a folder that outlives it."""

    def __init__(self, folder: Path, clock: ManualClock, *script: Scripted, **more: Any) -> None:
        self.path = folder / "ledger.db"
        limits = more.get("limits", SpendingLimits())
        self.service = ScriptedBackend(script, name=MODEL)
        account = Account(
            league="L",
            scope=more.get("scope", "player"),
            ledger=Ledger(self.path),
            budget=Budget(self.path, limits, {}, clock=clock),
            prices=more.get("prices", PRICES),
            clock=clock,
        )
        self.backend = Accounted(self.service, account)

    def calls(self) -> list[ModelCall]:
        return list(Ledger(self.path).calls())


def reply(text: str = "yes", *, is_counted: bool = True, finish: Finish = Finish.COMPLETE) -> Reply:
    usage = Usage(input_tokens=100, output_tokens=20, requests=1)
    return Reply(text=text, finish=finish, usage=usage, model=MODEL, is_counted=is_counted)


def test_an_exchange_is_written_down_with_what_it_cost(tmp_path: Path, clock: ManualClock, request_of: Any) -> None:
    desk = Desk(tmp_path, clock, reply())
    desk.backend.exchange(request_of())
    (call,) = desk.calls()
    assert (call.model, call.reply, call.outcome, call.is_cached) == (MODEL, "yes", "answered", False)
    assert call.cost_usd == (100 * 1 + 20 * 10) / 1_000_000
    assert call.purpose == request_of().prompt.purpose
    assert call.prompt_digest == request_of().prompt.digest
    assert call.at == clock.now()


def test_what_became_of_a_reply_stands_in_its_row_also_when_it_was_found_again(
    tmp_path: Path, clock: ManualClock, request_of: Any
) -> None:
    Desk(tmp_path, clock, reply()).backend.exchange(request_of()).judge(ModelWorkUse.REPLACED, Why.CONTRADICTED)
    again = Desk(tmp_path, clock)
    again.backend.exchange(request_of()).judge(ModelWorkUse.USED, None)
    assert [(call.work, call.why) for call in again.calls()] == [
        (ModelWorkUse.REPLACED, Why.CONTRADICTED), (ModelWorkUse.USED, None)
    ]  # fmt: skip


def test_after_a_crash_the_same_question_is_not_paid_for_twice(
    tmp_path: Path, clock: ManualClock, request_of: Any
) -> None:
    Desk(tmp_path, clock, reply()).backend.exchange(request_of())
    after = Desk(tmp_path, clock)  # its script is empty: the service may not be asked
    assert after.backend.exchange(request_of()).text == "yes"
    assert [call.is_cached for call in after.calls()] == [False, True]
    assert after.calls()[1].cost_usd == 0


def test_a_whole_call_goes_on_where_the_crash_was(tmp_path: Path, clock: ManualClock, prompt_of: Any) -> None:
    from datetime import timedelta

    class Word(BaseModel):
        word: str

    def ask(desk: Desk) -> Usage:
        minute = timedelta(minutes=1)
        chat = Chat(desk.backend, Patience(retries=0))
        parsed = chat.complete_json(prompt_of(), Word, timeout=minute, max_output_tokens=9)
        assert parsed.value.word == "whale"
        return parsed.completion.usage

    with pytest.raises(ModelError):
        ask(Desk(tmp_path, clock, reply("no JSON")))  # the process dies before the second reply
    assert ask(Desk(tmp_path, clock, reply('{"word": "whale"}'))).requests == 1


def test_another_participant_asks_for_itself(tmp_path: Path, clock: ManualClock, request_of: Any) -> None:
    Desk(tmp_path, clock, reply()).backend.exchange(request_of())
    other = Desk(tmp_path, clock, reply("no"), scope="another player")
    assert other.backend.exchange(request_of()).text == "no"


@pytest.mark.parametrize(("script", "prices", "cost", "tokens"), [
    (reply(is_counted=False), PRICES, None, None),
    (reply(), PriceList({}), None, 120),
    (Unanswered("late"), PRICES, None, None),  # it may be charged for
    (MalformedCompletion("huge"), PRICES, None, None),
    (ModelUnavailable("busy"), PRICES, 0.0, 0),
    (Rejected("wrong key"), PRICES, 0.0, 0),
])  # fmt: skip
def test_unknown_stays_unknown_and_what_cost_nothing_is_nothing(
    tmp_path: Path, clock: ManualClock, request_of: Any, script: Scripted, prices: PriceList, cost: Any, tokens: Any
) -> None:
    desk = Desk(tmp_path, clock, script, prices=prices)
    with suppress(ModelError):
        desk.backend.exchange(request_of())
    (call,) = desk.calls()
    assert call.cost_usd == cost
    found = None if call.usage is None else call.usage.input_tokens + call.usage.output_tokens
    assert found == tokens


@pytest.mark.parametrize(("error", "outcome"), [
    (Unanswered("x"), "unanswered"), (Rejected("x"), "rejected"), (ModelUnavailable("x"), "unavailable"),
    (MalformedCompletion("x"), "malformed"),
])  # fmt: skip
def test_failures_have_a_word(
    tmp_path: Path, clock: ManualClock, request_of: Any, error: ModelError, outcome: str
) -> None:
    desk = Desk(tmp_path, clock, error)
    with pytest.raises(type(error)):
        desk.backend.exchange(request_of())
    assert [call.outcome for call in desk.calls()] == [outcome]


def test_a_limit_that_is_reached_is_said_and_written_down(tmp_path: Path, clock: ManualClock, request_of: Any) -> None:
    desk = Desk(tmp_path, clock, reply(), limits=SpendingLimits(per_day=Limit(usd=0.000_1)))
    with pytest.raises(OverBudget, match="per day"):
        desk.backend.exchange(request_of())
    assert desk.service.requests == []
    assert [(call.outcome, call.cost_usd) for call in desk.calls()] == [("over_budget", 0.0)]


def test_what_failed_for_nothing_leaves_the_limit_as_it_was(
    tmp_path: Path, clock: ManualClock, request_of: Any
) -> None:
    most = most_of(request_of(), MODEL, PRICES)
    assert most.nano_usd is not None
    limits = SpendingLimits(per_day=Limit(usd=most.nano_usd * 1.5 / 1e9))
    desk = Desk(tmp_path, clock, ModelUnavailable("busy"), Unanswered("late"), reply(), limits=limits)
    for kind in (ModelUnavailable, Unanswered, OverBudget):
        with pytest.raises(kind):
            desk.backend.exchange(request_of())


def test_the_most_that_a_call_can_use_is_never_less_than_its_bytes(request_of: Any) -> None:
    class Word(BaseModel):
        word: str

    plain = most_of(request_of("שלום"), MODEL, PRICES)
    assert plain.tokens >= len("Answer.") + 2 * len("שלום") + 100
    with_schema = most_of(evolve(request_of("שלום"), schema=schema_of(Word)), MODEL, PRICES)
    assert with_schema.tokens > plain.tokens


def test_books_that_cannot_be_written_stop_what_costs_money(
    tmp_path: Path, clock: ManualClock, request_of: Any
) -> None:
    desk = Desk(tmp_path / "nowhere", clock, reply())
    with pytest.raises(ModelUnavailable, match="nobody can count"):
        desk.backend.exchange(request_of())
    assert desk.service.requests == []
