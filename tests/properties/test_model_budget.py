"""Whatever order games come in and whatever their calls use: no limit is passed, and no game that has begun starves."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from league_agents.kit.clock import ManualClock
from league_agents.llm.budget import Budget
from league_agents.llm.exchange import OverBudget
from league_agents.llm.limits import Amount, Limit, Planned, SpendingLimits
from league_agents.llm.port import Purpose
from league_agents.llm.prices import NANO

CALLBACKS = ("get_round_start_info", "get_answers", "get_score_feedback")
PLANNED = 100


@st.composite
def calls(draw: st.DrawFn) -> list[tuple[int, int, int, bool]]:
    """Game, the most that its next call can use, what it uses, and whether anybody learns that."""
    found = []
    for _ in range(draw(st.integers(4, 24))):
        most = draw(st.integers(1, PLANNED))
        found.append((draw(st.integers(0, 5)), most, draw(st.integers(0, most)), draw(st.booleans())))
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls(), st.integers(0, 1_500), st.sampled_from(["per_day", "per_season"]))
def test_limits_hold_and_games_that_have_begun_go_on(
    order: list[tuple[int, int, int, bool]], limit: int, period: str
) -> None:
    amount = Amount(nano_usd=PLANNED, tokens=PLANNED, calls=1)
    plan = {callback: Planned(amount=amount, stage=stage) for stage, callback in enumerate(CALLBACKS)}
    limits = SpendingLimits(**{period: Limit(usd=limit / NANO)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        clock = ManualClock(datetime(2031, 5, 2, tzinfo=UTC))
        # Two processes that share the file.
        budgets = [Budget(path, limits, plan, clock=clock) for _ in range(2)]
        spent = 0
        steps: dict[int, int] = {}
        begun: set[int] = set()
        for game, most, used, is_known in order:
            step = steps.get(game, 0)
            if step == len(CALLBACKS):
                continue
            if used or not is_known:
                steps[game] = step + 1  # otherwise the service was not reached, and the call is made again
            budget = budgets[game % 2]
            purpose = Purpose(match_id=f"g{game}", callback=CALLBACKS[step], step="s", season_id="S")
            try:
                hold = budget.hold(purpose, Amount(nano_usd=most, tokens=most, calls=1), league="L", scope="p")
            except OverBudget:
                assert game not in begun, "a game that has begun was refused a call that it had planned"
                continue
            begun.add(game)
            if is_known:
                budget.settle(hold, Amount(nano_usd=used, tokens=used, calls=min(used, 1)))
            spent += used  # what nobody learns of may be anything up to the most
            assert spent <= limit
