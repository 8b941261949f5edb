"""Decisions: every one ends once, time is charged to who used it, refusals are counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.arena.decisions import ClockRules, Decisions, SettledDecision
from league_agents.games.game import Action, ForfeitCause, IllegalAction
from league_agents.games.q21.game import Q21
from league_agents.games.q21.scripted import scripted
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

START = datetime(2031, 5, 2, tzinfo=UTC)
AGENTS = ("judge", "ann", "ben")


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


class Told:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.all: list[SettledDecision] = []

    def settled(self, settled: SettledDecision) -> None:
        self.all.append(settled)


def asking(rules: ClockRules | None = None) -> tuple[Decisions, Told]:
    """A match in which both players owe their questions, asked at ``START``."""
    match = Match(Q21(), config={}, agent_ids=AGENTS, seed=1)
    match.act("judge", good(match, "judge"))
    told = Told()
    decisions = Decisions(match, rules or ClockRules(), told)
    decisions.ask(START)
    return decisions, told


def good(match: Match[Any], agent: str) -> Action:
    return scripted(match.view(agent), match.legal(agent), Draw(1, agent))


BAD = Action(type="ask", data={"questions": []})


def test_everybody_who_owes_an_action_is_asked_once() -> None:
    decisions, _ = asking()
    assert list(decisions.open_decisions) == ["ann", "ben"]
    assert decisions.ask(after(1)) == []


def test_an_accepted_action_ends_its_decision() -> None:
    decisions, told = asking()
    decisions.act("ben", good(decisions.match, "ben"), after(3))
    assert list(decisions.open_decisions) == ["ann"]
    assert [(s.decision.agent_id, s.at, s.cause) for s in told.all] == [("ben", after(3), None)]


def test_refusals_are_counted_down_and_the_one_too_many_forfeits() -> None:
    decisions, told = asking(ClockRules(max_invalid=2))
    in_time = good(decisions.match, "ann")
    left = []
    for second in (1, 2, 3):
        with pytest.raises(IllegalAction) as refused:
            decisions.act("ann", BAD, after(second))
        left.append(refused.value.data["attempts_left"])
    assert left == [2, 1, 0]
    assert told.all[-1].cause is ForfeitCause.INVALID
    assert len(told.all[-1].decision.refusals) == 3
    with pytest.raises(IllegalAction) as late:
        decisions.act("ann", in_time, after(4))
    assert late.value.code == "too_late"


def test_a_decision_is_forfeited_at_its_deadline_and_not_before() -> None:
    decisions, told = asking(ClockRules(turn_timeout=timedelta(seconds=10)))
    assert decisions.next_deadline() == after(10)
    decisions.expire(after(9.999))
    assert told.all == []
    decisions.expire(after(10))
    assert [(s.decision.agent_id, s.cause) for s in told.all] == [
        ("ann", ForfeitCause.TIMEOUT),
        ("ben", ForfeitCause.TIMEOUT),
    ]


def test_an_action_at_the_deadline_is_too_late() -> None:
    decisions, told = asking(ClockRules(turn_timeout=timedelta(seconds=10)))
    with pytest.raises(IllegalAction) as late:
        decisions.act("ann", good(decisions.match, "ann"), after(10))
    assert late.value.code == "too_late"
    assert told.all[-1].cause is ForfeitCause.TIMEOUT


def test_the_time_bank_is_used_up_over_the_match() -> None:
    rules = ClockRules(turn_timeout=timedelta(seconds=10), time_bank=timedelta(seconds=5))
    decisions, _ = asking(rules)
    assert decisions.open_decisions["ann"].deadline == after(15)
    decisions.act("ann", good(decisions.match, "ann"), after(13))  # three seconds of the bank
    decisions.act("ben", good(decisions.match, "ben"), after(4))
    for _ in range(2):
        decisions.ask(after(20))
        decisions.act("judge", good(decisions.match, "judge"), after(20))
    opened = {decision.agent_id: decision.deadline for decision in decisions.ask(after(30))}
    assert opened == {"ann": after(42), "ben": after(45)}


def test_without_a_clock_nothing_expires() -> None:
    decisions, told = asking(ClockRules(turn_timeout=None))
    assert decisions.next_deadline() is None
    decisions.expire(after(1e6))
    assert told.all == []


def test_who_is_disconnected_has_a_time_of_grace() -> None:
    decisions, told = asking(ClockRules(turn_timeout=None, disconnect_grace=timedelta(seconds=30)))
    decisions.disconnected("ann", after(5))
    assert decisions.next_deadline() == after(35)
    decisions.expire(after(34))
    assert told.all == []
    decisions.reconnected("ann")
    decisions.expire(after(60))
    assert told.all == []
    decisions.disconnected("ann", after(60))
    decisions.expire(after(90))
    assert [(s.decision.agent_id, s.cause) for s in told.all] == [("ann", ForfeitCause.DISCONNECTED)]


def test_who_forfeits_too_often_is_absent_until_it_comes_back() -> None:
    decisions, _ = asking(ClockRules(max_forfeits=1))
    decisions.forfeit("ann", ForfeitCause.TIMEOUT, after(1))
    assert decisions.absent() == {"ann"}
    decisions.reconnected("ann")
    assert decisions.absent() == frozenset()


def test_when_all_are_absent_the_match_is_abandoned() -> None:
    decisions, _ = asking(ClockRules(max_forfeits=1))
    decisions.leave("judge")
    decisions.forfeit("ann", ForfeitCause.TIMEOUT, after(1))
    assert not decisions.is_abandoned
    decisions.leave("ben")
    assert decisions.is_abandoned
    assert decisions.ask(after(2)) == []


def test_somebody_leaving_ends_the_match_where_the_rules_say_so() -> None:
    decisions, _ = asking(ClockRules(on_leave="abandon"))
    decisions.leave("ben")
    assert decisions.is_over


def test_an_action_of_somebody_who_was_not_asked_is_refused() -> None:
    decisions, told = asking()
    with pytest.raises(IllegalAction) as refused:
        decisions.act("judge", BAD, after(1))
    assert refused.value.code == "not_pending"
    assert told.all == []


def test_an_action_of_somebody_whose_turn_it_became_just_now_is_taken() -> None:
    decisions, told = asking()
    for player in ("ann", "ben"):
        decisions.act(player, good(decisions.match, player), after(1))
    decisions.act("judge", good(decisions.match, "judge"), after(2))
    assert [settled.decision.agent_id for settled in told.all] == ["ann", "ben", "judge"]


def test_an_action_after_the_match_was_given_up_is_refused() -> None:
    decisions, told = asking()
    action = good(decisions.match, "ben")
    decisions.abandon()
    with pytest.raises(IllegalAction) as refused:
        decisions.act("ben", action, after(1))
    assert refused.value.code == "match_over"
    assert told.all == []
