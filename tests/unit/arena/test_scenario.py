"""A match as a file says it; every example in ``config/arena`` is one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.arena.decisions import ClockRules
from league_agents.arena.scenario import ScenarioSeat, read_scenario, scenario_of
from league_agents.games.registry import game_codes, game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.turns import BroadcastDeliberation, MarketTurnBased, SequentialHandoff

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "config" / "arena").glob("*.yaml"))

LEAST: dict[str, Any] = {"game": "market", "agents": [{"id": "s1"}, {"id": "s2"}]}


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_example_can_be_played(path: Path) -> None:
    scenario = read_scenario(path)
    match = scenario.new_match(scenario.seed or 1)
    assert match.active()
    assert match.warnings == ()
    assert match.agent_ids == scenario.agent_ids
    assert all(seat.agent in ("scripted", "random") for seat in scenario.seats)


def test_there_is_an_example_for_every_kind_of_scenario() -> None:
    assert {path.stem for path in EXAMPLES} >= {
        "guess_number",
        "undercover",
        "undercover_en",
        "market",
        "market_sequential",
        "negotiation",
    }


def test_a_scenario_of_two_keys_has_the_defaults() -> None:
    scenario = scenario_of(LEAST)
    assert scenario.seats == (
        ScenarioSeat(id="s1", name="s1", agent="scripted"),
        ScenarioSeat(id="s2", name="s2", agent="scripted"),
    )
    assert (scenario.seed, scenario.lang, scenario.clock, scenario.interaction) == (None, "en", ClockRules(), None)
    assert scenario.new_protocol() is None
    assert isinstance(scenario.new_match(1).protocol, MarketTurnBased)


def test_a_scenario_may_be_text() -> None:
    scenario = read_scenario("""
game: guess_number
config: {num_choices: 4}
agents:
  - {id: a, name: Ann, agent: random}
  - {id: b}
seed: 12
lang: zh
clock: {turn_timeout_s: 2.5, time_bank_s: 10, max_invalid: 0, max_forfeits: 1, disconnect_grace_s: 0, on_leave: abandon}
protocol: {type: sequential}
flow: {flow_order: [b, a]}
""")
    assert scenario.seats[0] == ScenarioSeat(id="a", name="Ann", agent="random")
    assert (scenario.game, scenario.config, scenario.seed, scenario.lang) == (
        "guess_number",
        {"num_choices": 4, "lang": "zh", "names": {"a": "Ann"}},
        12,
        "zh",
    )
    assert scenario.clock == ClockRules(
        turn_timeout=timedelta(seconds=2.5),
        time_bank=timedelta(seconds=10),
        max_invalid=0,
        max_forfeits=1,
        disconnect_grace=timedelta(0),
        on_leave="abandon",
    )
    match = scenario.new_match(12)
    assert isinstance(match.protocol, SequentialHandoff)
    assert match.active() == ("b",)


def test_every_match_has_a_protocol_of_its_own() -> None:
    scenario = scenario_of({**LEAST, "game": "undercover", "agents": [{"id": name} for name in "abc"],
                            "protocol": {"type": "broadcast"}})  # fmt: skip
    first, second = scenario.new_match(1), scenario.new_match(1)
    assert isinstance(first.protocol, BroadcastDeliberation)
    assert first.protocol is not second.protocol


def test_without_a_clock_a_turn_lasts_as_long_as_it_takes() -> None:
    assert scenario_of({**LEAST, "clock": {"turn_timeout_s": None}}).clock.turn_timeout is None
    assert scenario_of({**LEAST, "clock": {}}).clock == ClockRules()


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"game": "chess"}, "game", "must be one of guess_number, market"),
        ({"game": None}, "game", "is missing"),
        ({"gmae": "market"}, "configuration", "did you mean 'game'"),
        ({"agents": []}, "agents", "a list of 2 to 64 agents"),
        ({"agents": [{"id": "a"}]}, "agents", "a list of 2 to 64 agents"),
        ({"agents": {"a": "b"}}, "agents", "a list of"),
        ({"agents": [{"id": "a"}, {"id": "a"}]}, "agents[1]", "is there twice"),
        ({"agents": [{"id": "a"}, {"id": "market"}]}, "agents[1]", "cannot name an agent"),
        ({"agents": [{"id": "a"}, {"name": "b"}]}, "agents[1].id", "is missing"),
        ({"agents": [{"id": "a"}, "b"]}, "agents[1]", "must be a mapping"),
        ({"agents": [{"id": "a"}, {"id": "b", "agnet": "x"}]}, "agents[1]", "did you mean 'agent'"),
        ({"agents": [{"id": "a"}, {"id": "b", "name": "x\ny"}]}, "agents[1].name", "one line"),
        ({"config": {"max_rounds": 0}}, "config.max_rounds", "from 1 to 10000"),
        ({"config": {"rounds": 3}}, "config", "there is no key 'rounds'"),
        ({"config": 3}, "config", "a mapping of the game's keys"),
        ({"seed": -1}, "seed", "a whole number"),
        ({"seed": 2**64}, "seed", "a whole number"),
        ({"seed": True}, "seed", "a whole number"),
        ({"lang": "fr"}, "lang", "must be one of en, zh"),
        ({"lang": "zh", "config": {"lang": "en"}}, "lang", "is zh, and config.lang is en; keep one"),
        ({"config": {"lang": "fr"}}, "config.lang", "must be one of en, zh"),
        ({"config": {"names": {"s3": "Cy"}}}, "config.names", "s3 has no seat"),
        ({"config": {"names": 5}}, "config.names", "must map at most"),
        ({"agents": [{"id": "a", "name": "Ann"}, {"id": "b", "name": "ann "}]}, "agents[1].name", "reads like"),
        ({"agents": [{"id": "a", "name": "B"}, {"id": "b"}]}, "agents[1].name", "reads like"),
        (
            {"agents": [{"id": "a", "name": "Ann"}, {"id": "b"}], "config": {"names": {"a": "Bob"}}},
            "agents[0].name",
            "is not config.names.a; keep one",
        ),
        ({"clock": {"turn_timeout": 5}}, "clock", "did you mean 'turn_timeout_s'"),
        ({"clock": {"turn_timeout_s": 0}}, "clock.turn_timeout_s", "a number from"),
        ({"clock": {"time_bank_s": float("nan")}}, "clock.time_bank_s", "a number from"),
        ({"clock": {"max_forfeits": 0}}, "clock.max_forfeits", "a whole number"),
        ({"clock": {"on_leave": "stay"}}, "clock.on_leave", "must be one of continue, abandon"),
        ({"clock": 5}, "clock", "must be a mapping"),
        ({"protocol": {"type": "broadcast"}}, "protocol.type", "must be market_turn_based for market"),
        ({"topology": {}}, "topology", "needs a protocol"),
        ({"flow": {}}, "flow", "needs a protocol"),
        ({"protocol": {"type": "market_turn_based"}, "topology": {"matrix": []}}, "topology.matrix", "2 rows"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        scenario_of({**LEAST, **change})
    assert refused.value.path == path
    assert said in str(refused.value)


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("lang", [None, "en", "zh"])
def test_the_language_is_one_wherever_it_stands(code: str, lang: str | None) -> None:
    agents = [{"id": f"p{place}"} for place in range(game_of(code).min_agents)]
    usual = "zh" if code == "undercover" else "en"
    scenario: dict[str, Any] = {"game": code, "agents": agents}
    for given in [{}] if lang is None else [{"lang": lang}, {"config": {"lang": lang}}]:
        found = scenario_of({**scenario, **given})
        assert found.lang == (lang or usual)
        assert found.config.get("lang", usual) == found.lang
        assert found.new_match(1).config.get("lang", usual) == found.lang


def test_names_of_seats_and_of_the_configuration_are_one() -> None:
    found = scenario_of({**LEAST, "config": {"names": {"s1": "Ann"}}})
    assert found.seats[0].name == "Ann"
    assert found.config == {"names": {"s1": "Ann"}}
    found = scenario_of({**LEAST, "agents": [{"id": "s1", "name": "Ann"}, {"id": "s2"}]})
    assert found.config == {"names": {"s1": "Ann"}}
    assert scenario_of({**LEAST, "config": {"names": None}}).config == {"names": None}


def test_a_fault_in_a_file_names_the_file_and_the_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("game: market\nagents: [{id: a}, {id: b}]\nconfig: {max_rounds: 0}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_scenario(str(path))
    assert refused.value.path == f"{path}: config.max_rounds"
    assert str(refused.value).endswith("config.max_rounds: must be a whole number from 1 to 10000, found 0")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"game: [", "is not valid YAML in line 1"),
        (b"game: market\ngame: market\n", "stands in line 1 already"),
        (b" " * 1_000_001, "is larger than"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as refused:
        read_scenario(path)
    assert refused.value.path == str(path)


def test_a_scenario_with_a_mark_at_its_beginning_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("\ufeffgame: market\nagents: [{id: a}, {id: b}]\n", encoding="utf-8")
    assert read_scenario(path).game == "market"


def test_the_seed_s_range_is_that_of_a_draw() -> None:
    scenario = scenario_of({**LEAST, "seed": 2**64 - 1})
    assert scenario.seed is not None
    assert game_of("market").setup({}, scenario.agent_ids, scenario.seed)
    assert Draw(scenario.seed, "x").below(2) in (0, 1)
