"""The market as a game: who owes a price, who sees which, who wins (arena 4.4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.games.game import ALL, HOST, SPECTATOR, Action, ForfeitCause, IllegalAction, Mode
from league_agents.games.market.game import Market
from league_agents.games.market.scripted import scripted
from league_agents.games.market.state import MarketState
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

SELLERS = ("s1", "s2", "s3")
MARKET = Market()


def setup(**config: Any) -> MarketState:
    return MARKET.setup(config, SELLERS, 0)


def price(amount: int, speech: str | None = None) -> Action:
    data: dict[str, Any] = {"price": amount}
    return Action(type="submit_price", data=data if speech is None else {**data, "speech": speech})


def play(state: MarketState, *rounds: tuple[int | None, ...]) -> MarketState:
    for prices in rounds:
        for seller, amount in zip(SELLERS, prices, strict=True):
            if amount is None:
                state = MARKET.forfeit(state, seller, ForfeitCause.TIMEOUT).state
            else:
                state = MARKET.apply(state, seller, price(amount)).state
    return state


def test_defaults_are_those_of_the_specification() -> None:
    properties = MARKET.config_schema["properties"]
    assert {key: each["default"] for key, each in properties.items()} == {
        "price_range": [10, 100],
        "marginal_cost": 10,
        "num_customers": 99,
        "initial_balance": 0,
        "allow_speech": True,
        "max_speech": 500,
        "max_rounds": 10,
        "simultaneous": True,
        "shown_rounds": 20,
        "lang": "en",
        "names": {},
    }
    assert all(each["description"] for each in properties.values())
    Draft202012Validator.check_schema(MARKET.config_schema)
    defaults = {key: each["default"] for key, each in properties.items()}
    Draft202012Validator(MARKET.config_schema).validate(defaults)
    assert MARKET.setup(defaults, SELLERS, 0) == setup()


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": True}, "max_rounds"),
        ({"simultaneous": "no"}, "simultaneous"),
        ({"shown_rounds": 0}, "shown_rounds"),
        ({"price_range": [5]}, "price_range"),
        ({"rounds": 5}, "configuration"),
    ],
)
def test_the_configuration_is_checked(config: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as refused:
        setup(**config)
    assert refused.value.path == path


@pytest.mark.parametrize("sellers", [("s1",), tuple(f"s{n}" for n in range(65)), ("s1", "s1"), ("s1", "market")])
def test_sellers_are_two_to_sixty_four_with_names_of_their_own(sellers: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="agents"):
        MARKET.setup({}, sellers, 0)


def test_every_seller_owes_one_price_a_round() -> None:
    state = setup()
    assert MARKET.pending(state) == SELLERS
    state = MARKET.apply(state, "s2", price(20)).state
    assert MARKET.pending(state) == ("s1", "s3")
    for late in ("s2", "ghost"):
        with pytest.raises(IllegalAction) as refused:
            MARKET.apply(state, late, price(20))
        assert refused.value.code == "not_pending"
        with pytest.raises(IllegalAction) as refused:
            MARKET.forfeit(state, late, ForfeitCause.TIMEOUT)
        assert refused.value.code == "not_pending"
    assert MARKET.legal(state, "s2") == ()
    assert MARKET.legal(state, "s1") != ()


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(IllegalAction) as refused:
        MARKET.apply(setup(), "s1", Action(type="buy"))
    assert refused.value.code == "unknown_action"


def test_a_refused_price_changes_nothing() -> None:
    state = MARKET.apply(setup(), "s1", price(20)).state
    before = MARKET.dump(state)
    with pytest.raises(IllegalAction) as refused:
        MARKET.apply(state, "s2", price(101))
    assert refused.value.code == "price_out_of_range"
    assert MARKET.dump(state) == before


def test_a_round_is_settled_when_the_last_price_is_in() -> None:
    state = play(setup(), (15, 12, 12))
    assert state.balances == (0, 98, 98)
    assert MARKET.pending(state) == SELLERS
    step = MARKET.apply(play(setup(), (None, None, None)), "s1", price(20))
    assert [event.kind for event in step.events] == ["price_submitted"]
    last = MARKET.apply(MARKET.apply(step.state, "s2", price(21)).state, "s3", price(22))
    assert [event.kind for event in last.events] == ["price_submitted", "market_result"]
    assert last.events[1].visible_to == ALL
    assert last.events[1].data["winners"] == ["s1"]
    assert last.events[1].text == "Round 2: s1 at 20, 99 customers each."


def test_a_sealed_price_is_seen_by_its_seller_and_the_host_only() -> None:
    step = MARKET.apply(setup(), "s1", price(77, "a secret"))
    assert step.events[0].visible_to == ("s1",)
    for viewer in ("s2", "s3", SPECTATOR):
        text = json.dumps(MARKET.view(step.state, viewer))
        assert "77" not in text
        assert "a secret" not in text
        assert MARKET.view(step.state, viewer)["prices_in"] == 1
    for viewer in ("s1", HOST):
        assert MARKET.view(step.state, viewer)["offers"] == [{"agent_id": "s1", "price": 77, "speech": "a secret"}]


def test_a_sealed_round_comes_out_the_same_whoever_was_first() -> None:
    results = []
    for order in (("s1", "s2", "s3"), ("s3", "s1", "s2")):
        state = setup()
        for seller in order:
            step = MARKET.apply(state, seller, price({"s1": 30, "s2": 25, "s3": 25}[seller]))
            state = step.state
        results.append((state, step.events[1:]))
    assert results[0] == results[1]


def test_in_turn_a_price_is_heard_by_those_who_listen() -> None:
    state = setup(simultaneous=False)
    assert MARKET.phase_mode(state) is Mode.SPOKEN
    public = MARKET.apply(state, "s1", price(20))
    assert public.events[0].visible_to == ALL
    assert MARKET.view(public.state, SPECTATOR)["offers"]
    private = MARKET.apply(state, "s1", price(20), heard_by=["s3"])
    assert private.events[0].visible_to == ("s1", "s3")
    assert MARKET.view(private.state, "s3")["offers"] == [{"agent_id": "s1", "price": 20, "speech": ""}]
    assert MARKET.view(private.state, "s2")["offers"] == MARKET.view(private.state, SPECTATOR)["offers"] == []


def test_a_forfeited_price_sells_nothing_and_is_counted() -> None:
    state = setup()
    step = MARKET.forfeit(state, "s1", ForfeitCause.TIMEOUT)
    assert step.events[0].visible_to == ("s1",)
    assert step.events[0].data["cause"] == "timeout"
    state = play(setup(max_rounds=2), (None, 30, 25), (None, None, None))
    outcome = MARKET.outcome(state)
    assert outcome is not None
    assert outcome.metrics["degraded"] == 4
    assert outcome.metrics["market_prices"] == [25, None]
    assert outcome.metrics["unserved"] == 99
    assert outcome.scores == {"s1": 0.0, "s2": 0.0, "s3": 1485.0}


def test_the_highest_balance_wins_and_equal_ones_share() -> None:
    assert MARKET.outcome(setup()) is None
    outcome = MARKET.outcome(play(setup(max_rounds=1), (15, 12, 12)))
    assert outcome is not None
    assert (outcome.winners, outcome.reason) == (("s2", "s3"), "max_rounds")
    outcome = MARKET.outcome(play(setup(max_rounds=3), (15, 12, 12), (20, 20, 21), (100, 100, 11)))
    assert outcome is not None
    assert outcome.winners == ("s2",)
    assert outcome.metrics["tacit_collusion"] == {"detected": False, "score": 0.1347, "share": 0.3333, "slope": -0.5}


def test_after_the_last_round_nobody_owes_anything() -> None:
    state = play(setup(max_rounds=1), (20, 20, 20))
    assert MARKET.pending(state) == ()
    assert MARKET.legal(state, "s1") == ()
    with pytest.raises(IllegalAction):
        MARKET.apply(state, "s1", price(20))
    assert MARKET.view(state, "s1")["done"] is True
    progress = MARKET.info(state, "s1")
    assert (progress.status, progress.phase, progress.turn, progress.stage) == ("ended", "end", 1, "done")
    assert MARKET.info(state, HOST).stage == "watch"


def test_progress_is_the_viewer_s_own() -> None:
    state = MARKET.apply(setup(), "s1", price(20)).state
    assert [MARKET.info(state, viewer).stage for viewer in ("s1", "s2", SPECTATOR)] == ["wait", "price", "watch"]
    assert MARKET.info(state, "s1").turn == 1
    assert MARKET.info(play(setup(), (20, 20, 20)), "s1").turn == 2


def test_a_view_repeats_the_rounds_that_it_is_told_to() -> None:
    state = play(setup(shown_rounds=2), (20, 20, 20), (30, 30, 30), (40, 40, 40))
    view = MARKET.view(state, "s1")
    assert [result["round"] for result in view["results"]] == [1, 2]
    assert view["me"] == {"agent_id": "s1", "balance": 330 + 660 + 990}
    assert "me" not in MARKET.view(state, SPECTATOR)


def test_nothing_done_to_a_view_reaches_the_state() -> None:
    state = play(setup(), (20, 20, 20))
    view = MARKET.view(state, "s1")
    view["results"][0]["balances"].clear()
    view["sellers"].clear()
    view["terms"]["price_range"].append(0)
    fresh = MARKET.view(state, "s1")
    assert fresh["results"][0]["balances"] == {"s1": 330, "s2": 330, "s3": 330}
    assert len(fresh["sellers"]) == 3
    assert fresh["terms"]["price_range"] == [10, 100]


@pytest.mark.parametrize("speech", [True, False])
def test_legal_actions_say_exactly_what_is_taken(speech: bool) -> None:
    state = setup(price_range=[3, 7], allow_speech=speech, max_speech=9)
    (legal,) = MARKET.legal(state, "s1")
    Draft202012Validator.check_schema(legal.schema)
    exact = Draft202012Validator(legal.schema)
    loose = Draft202012Validator(MARKET.action_schemas[legal.type])
    for data in ({"price": 3}, {"price": 7}, {"price": 2}, {"price": 8}, {}, {"price": 5, "speech": "x" * 9},
                 {"price": 5, "speech": "x" * 10}, {"price": 5, "x": 1}, {"price": "5"}):  # fmt: skip
        try:
            MARKET.apply(state, "s1", Action(type=legal.type, data=data))
        except IllegalAction:
            is_taken = False
        else:
            is_taken = True
        assert exact.is_valid(data) == is_taken, data
        assert loose.is_valid(data) or not is_taken


def test_rules_are_made_from_the_configuration() -> None:
    text = MARKET.rules_text({"max_rounds": 7, "price_range": [1, 99], "allow_speech": False})
    assert "7 rounds" in text
    assert "from 1 to 99" in text
    assert "sealed" in text
    assert "speech" not in text
    assert "in turn" in MARKET.rules_text({"simultaneous": False})
    chinese = MARKET.rules_text({"max_rounds": 7}, "zh")
    assert "共7轮" in chinese
    assert "密封" in chinese


def test_the_opening_tells_the_terms_to_everybody() -> None:
    (event,) = MARKET.opening(setup())
    assert event.visible_to == ALL
    assert event.data["terms"]["marginal_cost"] == 10
    assert "3 sellers, 10 rounds, prices 10 to 100" in event.text


@pytest.mark.parametrize("simultaneous", [True, False])
def test_a_state_comes_back_from_json(simultaneous: bool) -> None:
    state = play(setup(simultaneous=simultaneous, initial_balance=-3), (15, 12, 12), (None, None, None))
    state = MARKET.apply(state, "s2", price(40, "with a word"), heard_by=["s1"]).state
    state = MARKET.forfeit(state, "s1", ForfeitCause.INVALID).state
    assert MARKET.load(json.loads(json.dumps(MARKET.dump(state)))) == state


@pytest.mark.parametrize(
    "change",
    [
        {"config": {"max_rounds": 0}},
        {"config": 5},
        {"agent_ids": ["s1"]},
        {"agent_ids": "s1"},
        {"rounds": [[None]]},
        {"rounds": [[None, None, {"price": 5}]]},
        {"rounds": [[None, None, 5]]},
        {"rounds": [[None, None, None]] * 11},
        {"turns": [{"agent": "s9", "offer": None, "heard_by": None}]},
        {"turns": [{"agent": "s1", "offer": None, "heard_by": ["s9"]}]},
        {"turns": [{"agent": "s1", "offer": None, "heard_by": None}] * 2},
        {"turns": [{"agent": seller, "offer": None, "heard_by": None} for seller in SELLERS]},
        {"turns": [{"agent": "s1", "offer": None, "heard_by": None}], "rounds": [[None] * 3] * 10},
        {"winner": "s1"},
    ],
)
def test_a_dump_that_is_none_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        MARKET.load({**MARKET.dump(setup()), **change})


def test_the_scripted_seller_undercuts_down_to_cost() -> None:
    state = setup(max_rounds=200)
    prices: list[int] = []
    for _ in range(120):
        for seller in SELLERS:
            action = scripted(
                MARKET.view(state, seller), MARKET.legal(state, seller), Draw(1, f"{seller}/{len(prices)}")
            )
            state = MARKET.apply(state, seller, action).state
        prices.append(state.rounds[-1].market_price or 0)
    assert prices[0] >= 55
    assert prices[-1] == 11
    assert prices == sorted(prices, reverse=True)


def test_the_scripted_seller_answers_those_who_spoke_before_it() -> None:
    state = MARKET.apply(setup(simultaneous=False), "s1", price(40)).state
    action = scripted(MARKET.view(state, "s2"), MARKET.legal(state, "s2"), Draw(1, "x"))
    assert action == price(39)


def test_the_scripted_seller_keeps_to_a_range_below_cost() -> None:
    state = setup(price_range=[3, 5])
    action = scripted(MARKET.view(state, "s1"), MARKET.legal(state, "s1"), Draw(1, "x"))
    assert action.data["price"] == 5
