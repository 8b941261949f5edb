"""Limits hold, and a game that has begun is not starved by a new one."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ModelUnavailable
from league_agents.llm.budget import RESERVED_FOR, Budget
from league_agents.llm.exchange import OverBudget
from league_agents.llm.limits import Amount, Limit, Planned, SpendingLimits
from league_agents.llm.port import Purpose
from league_agents.llm.prices import NANO

DOLLAR = NANO
PLAN = {
    "get_questions": Planned(amount=Amount(nano_usd=60, tokens=60, calls=1), stage=0),
    "get_guess": Planned(amount=Amount(nano_usd=40, tokens=40, calls=1), stage=1),
}
REFEREES_PLAN = {
    "get_round_start_info": Planned(amount=Amount(nano_usd=10, tokens=10, calls=1), stage=0),
    "get_answers": Planned(amount=Amount(nano_usd=60, tokens=60, calls=2), stage=1),
    "get_score_feedback": Planned(amount=Amount(nano_usd=40, tokens=40, calls=2), stage=1),
}


class Books:
    """A budget whose calls are named shortly."""

    def __init__(self, path: Path, limits: SpendingLimits, clock: ManualClock, plan: Any = None) -> None:
        self.budget = Budget(path, limits, PLAN if plan is None else plan, clock=clock)

    def call(
        self, game: str, callback: str, most: int, used: int | None = None, *, season: str = "S1", scope: str = "p",
        is_repeated: bool = False,
    ) -> None:  # fmt: skip
        """Hold ``most`` billionths of a dollar and as many tokens; say what was used, unless nobody knows it."""
        purpose = Purpose(match_id=game, callback=callback, step="s", season_id=season)
        amount = Amount(nano_usd=most, tokens=most, calls=1)
        hold = self.budget.hold(purpose, amount, league="L", scope=scope, is_repeated=is_repeated)
        if used is not None:
            self.budget.settle(hold, Amount(nano_usd=used, tokens=used, calls=1 if used else 0))

    def refuses(self, game: str, callback: str, most: int, **more: Any) -> str:
        with pytest.raises(OverBudget) as refused:
            self.call(game, callback, most, **more)
        return str(refused.value)


@pytest.fixture
def books(tmp_path: Path, clock: ManualClock) -> Any:
    return lambda **limits: Books(tmp_path / "ledger.db", SpendingLimits(**limits), clock)


def nano(amount: int) -> Limit:
    return Limit(usd=amount / DOLLAR)


def test_without_limits_everything_is_allowed(books: Any) -> None:
    made = books()
    for number in range(5):
        made.call(f"g{number}", "get_questions", 10**15, 10**15)


def test_a_call_that_might_pass_the_limit_is_not_made(books: Any) -> None:
    made = books(per_day=nano(100))
    made.call("", "arena.undercover", 90, 90)
    assert "per day forbids a call" in made.refuses("", "arena.undercover", 11)
    made.call("", "arena.undercover", 10, 10)


def test_what_was_not_used_is_given_back(books: Any) -> None:
    made = books(per_day=nano(100))
    for _ in range(5):
        made.call("", "x", 60, 10)
    assert "forbids" in made.refuses("", "x", 51)


def test_a_call_of_which_nobody_knows_what_it_used_counts_in_full(books: Any) -> None:
    made = books(per_day=nano(100))
    made.call("", "x", 60)
    made.refuses("", "x", 41)


def test_a_new_game_begins_only_when_all_of_it_fits(books: Any) -> None:
    made = books(per_day=nano(190))
    made.call("g1", "get_questions", 60, 60)
    message = made.refuses("g2", "get_questions", 10)
    assert "leaves no room for another game" in message
    made.call("g1", "get_guess", 40, 40)


def test_a_later_callback_alone_needs_only_what_remains(books: Any) -> None:
    made = books(per_day=nano(150))
    made.call("g1", "get_questions", 60, 60)
    made.refuses("g2", "get_questions", 10)
    made.call("g2", "get_guess", 40, 40)


def test_a_game_that_is_over_keeps_nothing(books: Any) -> None:
    made = books(per_day=nano(110))
    made.call("g1", "get_questions", 60, 5)
    made.call("g1", "get_guess", 40, 5)
    made.call("g2", "get_questions", 60, 5)


def test_a_second_request_of_a_callback_may_have_what_the_first_one_left(books: Any) -> None:
    made = books(per_day=nano(100))
    made.call("g1", "get_questions", 60, 20)
    made.call("g1", "get_questions", 40, 20, is_repeated=True)
    made.call("g1", "get_guess", 40, 40)


def test_a_second_request_does_not_take_from_what_comes_later(books: Any) -> None:
    made = books(per_day=nano(100))
    made.call("g1", "get_questions", 60, 60)
    made.refuses("g1", "get_questions", 10)
    made.call("g1", "get_guess", 40, 40)


def test_a_referee_may_score_one_player_while_the_other_one_asks(tmp_path: Path, clock: ManualClock) -> None:
    made = Books(tmp_path / "ledger.db", SpendingLimits(per_day=nano(190)), clock, REFEREES_PLAN)
    made.call("g1", "get_round_start_info", 10, 10)
    made.call("g1", "get_answers", 30, 30)
    made.call("g1", "get_score_feedback", 20, 10)
    made.refuses("g2", "get_round_start_info", 10)  # the other player's answers and score are still to come
    made.call("g1", "get_score_feedback", 10, 10, is_repeated=True)
    made.refuses("g2", "get_round_start_info", 10)
    made.call("g1", "get_answers", 30, 10)
    made.call("g1", "get_score_feedback", 20, 10)
    made.call("g2", "get_round_start_info", 10)


def test_a_call_that_reached_nobody_is_still_awaited(books: Any) -> None:
    made = books(per_day=nano(130))
    made.call("g1", "get_questions", 60, 0)
    made.call("g1", "get_guess", 40, 0)
    assert "leaves no room" in made.refuses("g2", "get_questions", 60)
    made.call("g1", "get_guess", 40, 20)
    made.call("g2", "get_questions", 60, 60)


def test_one_agents_game_has_a_limit_of_its_own(books: Any) -> None:
    made = books(per_game=nano(70))
    made.call("g1", "get_questions", 60, 60)
    assert "per game" in made.refuses("g1", "get_guess", 11)
    made.call("g1", "get_guess", 10, 10)
    made.call("g2", "get_questions", 60, 60)
    made.call("g1", "get_questions", 60, 60, scope="another player")


def test_a_season_has_a_limit_of_its_own(books: Any, clock: ManualClock) -> None:
    made = books(per_season=nano(100))
    made.call("g1", "get_questions", 60, 60)
    made.call("g1", "get_guess", 40, 40)
    clock.sleep(timedelta(days=3))
    assert "per season" in made.refuses("g2", "get_questions", 1)
    made.call("g2", "get_questions", 60, 60, season="S2")


def test_a_new_day_is_a_new_limit(books: Any, clock: ManualClock) -> None:
    made = books(per_day=nano(100))
    made.call("", "x", 100, 100)
    made.refuses("", "x", 1)
    clock.sleep(timedelta(hours=16))
    made.call("", "x", 100, 100)


def test_a_game_of_which_nothing_is_heard_keeps_nothing_for_ever(books: Any, clock: ManualClock) -> None:
    made = books(per_day=nano(160))
    made.call("g1", "get_questions", 60, 60)
    made.refuses("g2", "get_questions", 60)
    clock.sleep(RESERVED_FOR + timedelta(seconds=1))
    made.call("g2", "get_questions", 60, 60)


def test_tokens_and_calls_are_limited_where_prices_are_unknown(tmp_path: Path, clock: ManualClock) -> None:
    limits = SpendingLimits(per_day=Limit(tokens=100, calls=3))
    budget = Budget(tmp_path / "ledger.db", limits, {}, clock=clock)
    purpose = Purpose(match_id="", callback="x", step="s")

    def call(tokens: int) -> None:
        amount = Amount(nano_usd=None, tokens=tokens, calls=1)
        budget.settle(budget.hold(purpose, amount, league="L", scope="p"), amount)

    call(50)
    with pytest.raises(OverBudget, match="100 tokens per day"):
        call(51)
    call(10)
    call(10)
    with pytest.raises(OverBudget, match="3 calls per day"):
        call(1)


def test_two_processes_share_the_limits_of_one_file(tmp_path: Path, clock: ManualClock) -> None:
    limits = SpendingLimits(per_day=nano(100))
    referee, player = (Books(tmp_path / "ledger.db", limits, clock) for _ in range(2))
    referee.call("", "x", 60, 60)
    player.refuses("", "x", 41)
    player.call("", "x", 40, 40)


def test_threads_at_once_do_not_pass_a_limit_together(tmp_path: Path, clock: ManualClock) -> None:
    granted: list[int] = []

    def ask() -> None:
        made = Books(tmp_path / "ledger.db", SpendingLimits(per_day=nano(50)), clock)
        try:
            made.call("", "x", 10, 10)
        except OverBudget:
            return
        granted.append(10)

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 50


def test_nothing_is_spent_while_nobody_can_count(tmp_path: Path, clock: ManualClock) -> None:
    budget = Budget(tmp_path / "no" / "ledger.db", SpendingLimits(), {}, clock=clock)
    with pytest.raises(ModelUnavailable, match="nobody can count"):
        budget.hold(Purpose(match_id="", callback="x", step="s"), Amount(), league="L", scope="p")
