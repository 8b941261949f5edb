"""The match as nodes, in a plain loop and in LangGraph."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from league_agents.games.game import IllegalAction
from league_agents.games.undercover import nodes
from league_agents.games.undercover.agents import ScriptedUndercoverAgent, UndercoverAgent
from league_agents.games.undercover.game import Undercover
from league_agents.games.undercover.record import dump
from league_agents.kit.errors import ConfigError

EN = {"lang": "en"}


def scripted_agents(count: int = 6) -> dict[str, Any]:
    return {f"p{seat}": ScriptedUndercoverAgent(seat) for seat in range(1, count + 1)}


class Silent(UndercoverAgent):
    """Gives the answers that it was made with."""

    def __init__(self, describe: Callable[[], Any], vote: Callable[[], Any]) -> None:
        super().__init__()
        self._describe, self._vote = describe, vote

    def generate_description(self, round_num: int) -> Any:
        return self._describe()

    def vote(self, *question: Any) -> Any:
        return self._vote()


def failing() -> Any:
    raise RuntimeError("no idea")


def test_a_plain_loop_plays_a_whole_match_with_the_agents_kept_in_the_state() -> None:
    agents = scripted_agents()
    after = nodes.play({"seed": 3, "config": EN, "agents_map": agents})
    assert after["game_over"] is True
    assert after["agents_map"] is agents
    assert after["outcome"]["reason"] in ("all_undercover_out", "parity")
    assert [player["agent_id"] for player in after["players"]] == list(agents)
    record = {key: value for key, value in after.items() if key not in ("agents_map", "outcome")}
    assert Undercover().load(json.loads(json.dumps(record))).winner is not None


def test_without_agents_six_scripted_ones_play() -> None:
    after = nodes.play({"seed": 3})
    assert list(after["agents_map"]) == [f"agent_{seat}" for seat in range(1, 7)]
    assert after["config"]["lang"] == "zh"


def test_each_node_does_its_phase_and_no_more() -> None:
    state: dict[str, Any] = {"seed": 3, "config": EN, "agents_map": scripted_agents()}
    phases = []
    for node in (nodes.initialize_game, nodes.description_phase, nodes.voting_phase, nodes.check_win_condition):
        state.update(node(state))
        phases.append((state["phase"], len(state["current_descriptions"]), len(state["current_votes"])))
    assert phases[:3] == [("description", 0, 0), ("voting", 6, 0), ("check", 6, 6)]
    assert state["phase"] in ("description", "end")
    assert len(state["all_votes_history"]) == 1
    assert state["round"] == 2 or state["game_over"]


def test_everybodys_memory_is_filled_before_the_next_one_is_asked() -> None:
    heard: list[list[str]] = []

    class Listener(ScriptedUndercoverAgent):
        def generate_description(self, round_num: int) -> str:
            heard.append(self.memory.heard_in(round_num))
            return super().generate_description(round_num)

        def vote(self, alive_players: Any, current_descriptions: Any, round_num: int) -> Mapping[str, Any]:
            assert len(self.memory.heard_in(round_num)) == len(current_descriptions) == 5
            assert all(entry["round"] < round_num for entry in self.memory.all_votes_history)
            return super().vote(alive_players, current_descriptions, round_num)

    nodes.play({"seed": 2, "config": {**EN, "max_rounds": 1}, "agents_map": {f"p{n}": Listener(n) for n in range(5)}})
    assert [len(texts) for texts in heard] == [0, 1, 2, 3, 4]


def test_a_revote_happens_within_the_voting_node() -> None:
    picks = iter([2, 1, 2, 1, 2, 1, 1, 1])
    agents = {
        f"p{seat}": Silent(lambda seat=seat: f"remark {seat}", lambda: {"reason": "r", "vote_number": next(picks)})
        for seat in (1, 2, 3, 4)
    }
    state: dict[str, Any] = {"seed": 1, "config": {**EN, "tie": "revote"}, "agents_map": agents}
    for node in (nodes.initialize_game, nodes.description_phase, nodes.voting_phase):
        state.update(node(state))
    assert (state["phase"], state["ballot"]) == ("check", 2)
    state.update(nodes.check_win_condition(state))
    assert state["eliminated_players"] == [1]


@pytest.mark.parametrize(
    ("describe", "vote", "cause"),
    [
        (failing, failing, "error"),
        (lambda: "", lambda: {"vote_number": 99, "reason": "r"}, "invalid"),
        (lambda: None, dict, "invalid"),
        (lambda: "x" * 500, lambda: None, "invalid"),
    ],
)
def test_an_agent_that_fails_is_silent_and_abstains(
    describe: Callable[[], Any], vote: Callable[[], Any], cause: str
) -> None:
    agents = {**scripted_agents(4), "odd": Silent(describe, vote)}
    after = nodes.play({"seed": 1, "config": {**EN, "max_rounds": 1}, "agents_map": agents})
    entry = after["conversation_history"][4]
    assert (entry["player_id"], entry["description"], entry["cause"]) == (5, "", cause)
    votes = [entry for entry in after["conversation_history"] if entry["kind"] == "vote"]
    assert votes[4]["target_id"] is None
    assert votes[4]["cause"] in (cause, "error")


def test_a_refused_agent_is_told_why_and_asked_again() -> None:
    answers = iter(["", "grey", "grey"])
    agent = Silent(lambda: next(answers), lambda: {"reason": "r", "vote_number": None})
    agents = {"p0": agent, **scripted_agents(4)}
    state: dict[str, Any] = {"seed": 1, "config": EN, "agents_map": agents}
    state.update(nodes.initialize_game(state))
    state.update(nodes.description_phase(state))
    assert state["current_descriptions"][0]["description"] == "grey"
    assert agent.refusals == ["empty_description: The description says nothing."]


@pytest.mark.parametrize(
    ("state", "named"),
    [
        ({}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"seed": 7, "agents_map": {"a": None, "b": None}}, "agents"),
        ({"seed": 7, "config": {"tie": "coin"}}, "tie"),
    ],
)
def test_a_state_that_cannot_be_played_is_refused(state: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        nodes.initialize_game(state)
    assert caught.value.path == named


def test_a_missing_agent_is_named() -> None:
    agents = scripted_agents(4)
    state = {"seed": 1, "config": EN, "agents_map": agents}
    state.update(nodes.initialize_game(state))
    del agents["p3"]
    with pytest.raises(ConfigError, match="agents_map: has no agent for p3"):
        nodes.description_phase(state)


def test_a_tampered_state_is_refused() -> None:
    state: dict[str, Any] = {"seed": 1, "config": EN, "agents_map": scripted_agents(4)}
    state.update(nodes.initialize_game(state))
    state["players"][0]["word"] = "another"
    with pytest.raises(ConfigError, match="players"):
        nodes.description_phase(state)


# Here LangGraph itself runs the match.


class Unstorable(ScriptedUndercoverAgent):
    """No serializer can store it."""

    def __reduce__(self) -> Any:
        raise TypeError("an agent must not be stored")


def test_langgraph_plays_the_same_match_and_checkpoints_hold_no_agent() -> None:
    agents = {f"p{seat}": Unstorable(seat) for seat in range(1, 7)}
    saver = InMemorySaver()
    graph = nodes.build_graph(EN, checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "one"}}
    after = graph.invoke({"seed": 3}, thread, context={"agents_map": agents})
    plain = nodes.play({"seed": 3, "config": EN, "agents_map": scripted_agents()})
    assert after["agents_map"] == agents
    assert {key: value for key, value in after.items() if key != "agents_map"} == {
        key: value for key, value in plain.items() if key != "agents_map"
    }
    kept = graph.get_state(thread).values
    assert "agents_map" not in kept
    assert kept["outcome"] == plain["outcome"]
    snapshots = list(saver.list(thread))
    assert len(snapshots) >= 6
    for snapshot in snapshots:
        assert "agents_map" not in snapshot.checkpoint["channel_values"]
        assert "agents_map" not in snapshot.checkpoint["channel_values"].get("__start__", {})
        assert "agents_map" not in [channel for _, channel, _ in snapshot.pending_writes or ()]


def test_a_match_goes_on_from_a_checkpoint_with_new_agents_who_are_told_what_they_missed() -> None:
    class Breaks(ScriptedUndercoverAgent):
        def vote(self, *question: Any) -> Any:
            raise KeyboardInterrupt  # the program is stopped in the middle of the vote

    graph = nodes.build_graph(EN, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    with pytest.raises(KeyboardInterrupt):
        graph.invoke({"seed": 3}, thread, context={"agents_map": {f"p{n}": Breaks(n) for n in range(1, 7)}})
    assert graph.get_state(thread).next == ("voting_phase",)
    agents = scripted_agents()
    after = graph.invoke(None, thread, context={"agents_map": agents})
    plain = nodes.play({"seed": 3, "config": EN, "agents_map": scripted_agents()})
    assert after["conversation_history"] == plain["conversation_history"]
    assert agents["p1"].memory.heard_in(1) == [entry["description"] for entry in plain["conversation_history"][:6]]


def test_the_longest_match_stays_within_the_recursion_limit() -> None:
    votes = iter([2, 1, 2, 1] * 100)
    agents = {
        f"p{seat}": Silent(
            lambda seat=seat, said=[]: said.append(0) or f"remark {seat} {len(said)}",  # type: ignore[func-returns-value]
            lambda: {"reason": "r", "vote_number": next(votes)},
        )
        for seat in (1, 2, 3, 4)
    }
    graph = nodes.build_graph({**EN, "tie": "revote", "max_rounds": 7})
    after = graph.invoke({"seed": 1}, context={"agents_map": agents})
    assert (after["round"], after["reason"], len(after["all_votes_history"])) == (7, "max_rounds", 14)
    assert nodes.recursion_limit(7) == 38


def test_a_graph_refuses_a_longer_match_than_it_was_built_for() -> None:
    with pytest.raises(ConfigError, match="max_rounds"):
        nodes.build_graph({"max_rounds": 3}).invoke({"seed": 1, "config": {"max_rounds": 4}})


def test_the_state_keys_of_the_graph_are_those_of_the_record(table: Any) -> None:
    assert set(nodes._STATE_KEYS) == set(dump(table().state))


def test_no_refusal_escapes_a_node() -> None:
    agents = {f"p{seat}": Silent(lambda: "same", lambda: {"vote_number": 1, "reason": "r"}) for seat in (1, 2, 3)}
    try:
        after = nodes.play({"seed": 1, "config": {**EN, "max_rounds": 2}, "agents_map": agents})
    except IllegalAction:
        pytest.fail("a refusal left the node")
    assert [entry["description"] for entry in after["conversation_history"][:3]] == ["same", "", ""]
