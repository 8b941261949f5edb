"""Which protocol goes with which game, and what is odd about their limits (arena 4.5)."""

from __future__ import annotations

import pytest

from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionProtocol,
    MarketTurnBased,
    QueueBased,
    SequentialHandoff,
)
from league_agents.turns.fit import default_protocol, limit_warnings
from league_agents.turns.match import Match

AGENTS = ("a", "b", "c")


def match_of(code: str, protocol: InteractionProtocol | None, **config: object) -> Match[object]:
    return Match(game_of(code), config=config, agent_ids=AGENTS, seed=1, protocol=protocol)


@pytest.mark.parametrize(
    ("code", "kind"),
    [("guess_number", BroadcastDeliberation), ("undercover", BroadcastDeliberation), ("market", MarketTurnBased)],
)
def test_every_game_has_its_protocol(code: str, kind: type[InteractionProtocol]) -> None:
    assert type(default_protocol(game_of(code), AGENTS, {})) is kind
    assert type(match_of(code, None).protocol) is kind


@pytest.mark.parametrize(
    ("code", "protocol"),
    [
        ("market", BroadcastDeliberation(AGENTS)),
        ("market", SequentialHandoff(AGENTS)),
        ("guess_number", MarketTurnBased(AGENTS)),
        ("guess_number", QueueBased(AGENTS)),
        ("undercover", MarketTurnBased(AGENTS)),
        ("undercover", QueueBased(AGENTS)),
    ],
)
def test_what_cannot_work_together_is_refused(code: str, protocol: InteractionProtocol) -> None:
    with pytest.raises(ConfigError) as refused:
        match_of(code, protocol)
    assert refused.value.path == "protocol.type"


def test_talking_games_also_go_in_turns() -> None:
    for code in ("guess_number", "undercover"):
        assert match_of(code, SequentialHandoff(AGENTS)).protocol.type == "sequential"


def test_the_protocol_is_for_the_same_agents_and_fresh() -> None:
    with pytest.raises(ConfigError, match="not those of the match"):
        match_of("market", MarketTurnBased(("a", "b")))
    used = MarketTurnBased(AGENTS)
    used.say("a", {"price": 20})
    with pytest.raises(ConfigError, match="has been used"):
        match_of("market", used)


def test_an_order_without_an_agent_is_refused() -> None:
    flow = InformationFlowConfig(flow_order=["a", "c"])
    with pytest.raises(ConfigError, match="b would never speak"):
        match_of("undercover", BroadcastDeliberation(AGENTS, flow=flow))


@pytest.mark.parametrize("simultaneous", [True, False])
def test_the_protocol_says_whether_prices_are_sealed(simultaneous: bool) -> None:
    match = match_of("market", MarketTurnBased(AGENTS, simultaneous=simultaneous))
    assert match.config["simultaneous"] is simultaneous
    assert match.active() == (AGENTS if simultaneous else ("a",))
    assert match_of("market", None, simultaneous=simultaneous).active() == match.active()
    with pytest.raises(ConfigError, match="simultaneous"):
        match_of("market", MarketTurnBased(AGENTS, simultaneous=simultaneous), simultaneous=not simultaneous)


def test_a_market_is_played_by_the_game_s_terms() -> None:
    match = match_of("market", MarketTurnBased(AGENTS), num_customers=10, initial_balance=5)
    assert isinstance(match.protocol, MarketTurnBased)
    assert match.protocol.terms.num_customers == 10
    assert match.protocol.balances == {"a": 5, "b": 5, "c": 5}
    match_of("market", MarketTurnBased(AGENTS, market={"num_customers": 10}), num_customers=10)
    with pytest.raises(ConfigError) as refused:
        match_of("market", MarketTurnBased(AGENTS, market={"num_customers": 11}), num_customers=10)
    assert refused.value.path == "protocol.market"


@pytest.mark.parametrize(
    ("code", "config", "value", "said"),
    [
        ("market", {"max_rounds": 5}, 5, None),
        ("market", {"max_rounds": 5}, 3, "stops after 3 rounds of the protocol, before the game's max_rounds"),
        ("market", {}, 11, "is never reached: the game's max_rounds ends it after 10 rounds"),
        ("undercover", {}, 1, "stops after 1 round of the protocol"),
        ("guess_number", {}, 20, None),
        ("guess_number", {"proposals": False}, 20, "is never reached: the game's max_steps ends it after 10 rounds"),
    ],
)
def test_limits_that_differ_are_a_warning(code: str, config: dict[str, object], value: int, said: str | None) -> None:
    flow = InformationFlowConfig(stop_conditions=[{"type": "max_rounds", "value": value}])
    protocol = MarketTurnBased(AGENTS, flow=flow) if code == "market" else BroadcastDeliberation(AGENTS, flow=flow)
    warnings = match_of(code, protocol, **config).warnings
    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_a_flow_of_one_round_is_a_limit_too() -> None:
    protocol = BroadcastDeliberation(AGENTS, flow=InformationFlowConfig(cyclic=False))
    assert "flow.cyclic stops after 1 round" in match_of("undercover", protocol).warnings[0]
    assert limit_warnings(game_of("q21"), {}, protocol) == ()
