"""Protocols of the user's own: the five documented methods make one (seed 001, arena 4.1)."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from league_agents.arena.agents.scripted_agent import script_of
from league_agents.arena.scenario import scenario_of
from league_agents.games.game import ForfeitCause, Outcome
from league_agents.games.registry import game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.turns import (
    FIVE_METHODS,
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionError,
    InteractionProtocol,
    Message,
    Topology,
    load_protocol,
)
from league_agents.turns.match import Match

ABC = ("a", "b", "c")


class Backwards(InteractionProtocol):
    """The last one first; everybody hears the two neighbours only.

    Has a constructor of its own, which does not call ours.
    """

    def __init__(self, agents: list[str], start: int = 0) -> None:
        self.order = list(reversed(agents))
        self.place = start
        self.log: list[Message] = []
        self.rounds = 0

    def get_next_speaker(self) -> str | None:
        return self.order[self.place] if self.place < len(self.order) else None

    def get_listeners(self, speaker: str) -> list[str]:
        at = self.order.index(speaker)
        return [name for name in self.order if abs(self.order.index(name) - at) == 1]

    def advance(self) -> None:
        if self.place < len(self.order):
            self.place += 1
            self.rounds += self.place == len(self.order)
        else:
            self.place = 0

    def route_message(self, message: Message) -> None:
        self.log.append(message)
        message.receivers.append("whoever")  # a copy of its own: nobody else sees that

    def should_stop(self) -> bool:
        return self.rounds >= 1000


class RoundAndRound(Backwards):
    """Never says that a round is over."""

    def advance(self) -> None:
        self.place = (self.place + 1) % len(self.order)


class Unrelated:
    """Has the five methods and no ancestor of ours."""

    def __init__(self, agents: list[str]) -> None:
        self._inner = Backwards(agents)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def get_next_speaker(self) -> str | None:
        return self._inner.get_next_speaker()

    def get_listeners(self, speaker: str) -> list[str]:
        return self._inner.get_listeners(speaker)

    def advance(self) -> None:
        self._inner.advance()

    def route_message(self, message: Message) -> None:
        self._inner.route_message(message)

    def should_stop(self) -> bool:
        return self._inner.should_stop()


class OfOurs(InteractionProtocol):
    """Uses what the constructor of the interface keeps."""

    said = 0

    def get_next_speaker(self) -> str | None:
        return self.agent_ids[self.said % len(self.agent_ids)]

    def get_listeners(self, speaker: str) -> list[str]:
        return list(self.agent_ids)

    def advance(self) -> None:
        self.said += 1

    def route_message(self, message: Message) -> None:
        """Nothing is kept."""

    def should_stop(self) -> bool:
        return any(each.type == "max_messages" and self.said >= each.value for each in self.flow.stop_conditions)


def play(match: Match[Any], most: int = 2000) -> Outcome:
    script = script_of(match.game.code)
    draw = Draw(1, "play")
    for _ in range(most):
        if match.is_over:
            break
        agent = match.active()[0]
        view = {**match.view(agent), "agent_id": agent}
        match.act(agent, script(view, match.legal(agent), draw))
    found = match.outcome()
    assert found is not None
    return found


def match_of(code: str, protocol: Any, agents: tuple[str, ...] = ABC, **config: Any) -> Match[Any]:
    return Match(game_of(code), config=config, agent_ids=agents, seed=5, protocol=protocol)


def test_the_interface_is_the_five_documented_methods() -> None:
    assert InteractionProtocol.__abstractmethods__ == set(FIVE_METHODS)
    assert len(FIVE_METHODS) == 5
    own = {name for name, value in vars(InteractionProtocol).items() if inspect.isfunction(value)}
    assert own == {*FIVE_METHODS, "__init__"}
    for name in FIVE_METHODS:
        lacking = type("Lacking", (Backwards,), {name: None})
        with pytest.raises(ConfigError, match=f"Lacking: is no interaction protocol: it lacks {name};"):
            match_of("guess_number", lacking(list(ABC)))


def test_a_message_is_the_plain_dataclass_of_the_document() -> None:
    @dataclasses.dataclass
    class Documented:
        sender: str
        receivers: list[str]
        content: Any
        round: int
        metadata: dict = dataclasses.field(default_factory=dict)

    for made in (Message("a", ["b"], {"x": 1}, 0), Documented("a", ["b"], {"x": 1}, 0)):
        made.metadata["seen"] = True
        made.round += 1
        made.anything = "more"  # an ordinary object: whoever wants may put something by
        assert dataclasses.asdict(made) == {
            "sender": "a", "receivers": ["b"], "content": {"x": 1}, "round": 1, "metadata": {"seen": True}
        }  # fmt: skip
    names = [[field.name for field in dataclasses.fields(each)] for each in (Message, Documented)]
    assert names[0] == names[1]


@pytest.mark.parametrize("made_of", [Backwards, RoundAndRound, Unrelated, OfOurs])
@pytest.mark.parametrize(
    ("code", "agents"),
    [("guess_number", ABC), ("undercover", ("a", "b", "c", "d")), ("q21", ("referee", "p1", "p2"))],
)
def test_five_methods_are_enough_to_play_any_talking_game(made_of: Any, code: str, agents: tuple[str, ...]) -> None:
    outcome = play(match_of(code, made_of(list(agents)), agents))
    assert outcome.reason != "protocol_stop"


def test_the_order_and_the_hearers_are_those_of_the_class() -> None:
    mine = Backwards(list(ABC))
    match = match_of("guess_number", mine, num_choices=4, proposals=False, max_steps=1)
    assert match.active() == ("c",)
    assert match.protocol.get_listeners("c") == ["b"]
    play(match)
    assert [(message.sender, message.receivers) for message in mine.log] == [
        ("c", ["b", "whoever"]),
        ("b", ["a", "c", "whoever"]),
        ("a", ["b", "whoever"]),
    ]
    assert [message.receivers for message in match.protocol.message_log] == [["b"], ["a", "c"], ["b"]]
    heard = [message["sender"] for message in match.view("a")["messages"] if message["sender"] != "a"]
    assert heard == ["b"]  # the game honours it too


def test_whoever_owes_nothing_is_passed_over() -> None:
    match = match_of("undercover", Backwards(["a", "b", "c", "d"]), ("a", "b", "c", "d"), lang="en", tie="random")
    alive = len(match.active())
    play(match)
    rounds = [message.round for message in match.protocol.message_log]
    assert alive == 1
    assert rounds == sorted(rounds)
    speakers = [message.sender for message in match.protocol.message_log if message.round == 0]
    assert speakers == ["d", "c", "b", "a"]
    if len(set(rounds)) > 1:
        assert len([each for each in rounds if each == 1]) < 4


def test_a_forfeited_turn_passes_on() -> None:
    match = match_of("guess_number", Backwards(list(ABC)), proposals=False)
    match.forfeit("c", ForfeitCause.TIMEOUT)
    assert match.active() == ("b",)
    assert [skip.agent for skip in match.protocol.skips] == ["c"]


def test_both_the_class_and_the_flow_may_stop_a_match() -> None:
    stopping = type("Stopping", (Backwards,), {"should_stop": lambda self: self.rounds >= 2})
    assert play(match_of("guess_number", stopping(list(ABC)), num_choices=1000)).reason == "protocol_stop"
    flow = InformationFlowConfig(stop_conditions=[{"type": "max_messages", "value": 4}])
    match = match_of("guess_number", OfOurs(ABC, flow=flow), num_choices=1000)
    assert play(match).reason == "protocol_stop"
    assert match.protocol.message_count == 4


def test_a_topology_narrows_what_the_class_lets_through() -> None:
    topology = Topology(ABC, edges=[["a", "b"]])
    match = match_of("guess_number", OfOurs(ABC, topology))
    assert match.protocol.get_listeners("a") == ["b"]
    assert match_of("guess_number", OfOurs(ABC)).protocol.is_public("a")


def raising(*_: object) -> Any:
    raise ValueError("oh no")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"get_next_speaker": raising}, "Broken: get_next_speaker raised ValueError: oh no"),
        ({"get_next_speaker": lambda self: "eve"}, "Broken: get_next_speaker gave 'eve', which is none of a, b, c"),
        ({"get_next_speaker": lambda self: 7}, "gave 7"),
        ({"get_next_speaker": lambda self: None}, "gives no turn to a, b, c"),
        ({"get_next_speaker": lambda self: "a"}, "gives no turn to b, c"),
        ({"get_listeners": lambda self, speaker: "abc"}, "get_listeners gave 'abc', not a list"),
        ({"get_listeners": lambda self, speaker: ["eve"]}, "get_listeners gave 'eve'"),
        ({"get_listeners": raising}, "get_listeners raised"),
        ({"advance": raising}, "advance raised"),
        ({"route_message": raising}, "route_message raised"),
        ({"should_stop": raising}, "should_stop raised"),
    ],
)
def test_a_class_that_fails_is_one_line(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InteractionError) as failed:
        play(match_of("guess_number", type("Broken", (Backwards,), changes)(list(ABC))))
    assert said in str(failed.value)
    assert "\n" not in str(failed.value)


# In YAML


def loaded(text: str, **classes: type) -> Any:
    def load_class(spec: str) -> type:
        if spec.partition(":")[2] not in classes:
            raise ConfigError(spec, "there is no such class")
        return classes[spec.partition(":")[2]]

    return load_protocol(text, ABC, load_class=load_class)


def test_a_class_can_be_named() -> None:
    protocol = loaded("protocol: {type: 'mine:Backwards', start: 1}", Backwards=Backwards)
    assert protocol.get_next_speaker() == "b"
    assert protocol.type == "mine:Backwards"
    assert protocol.rule_text() == "The last one first; everybody hears the two neighbours only."
    text = "protocol: {type: 'mine:OfOurs'}\nflow: {flow_order: [c, b, a], cyclic: false}"
    protocol = loaded(text, OfOurs=OfOurs)
    assert protocol.inner.flow.stages == (("c",), ("b",), ("a",))
    assert isinstance(loaded("protocol: {type: 'x:Mine'}", Mine=BroadcastDeliberation), BroadcastDeliberation)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protocol: {type: 'mine:Nobody'}", "protocol.type: mine:Nobody: there is no such class"),
        ("protocol: {type: 'mine:dict'}", "mine:dict: is no interaction protocol: it lacks get_next_speaker"),
        ("protocol: {type: 'mine:Backwards', order: 1}", "protocol.order: is no parameter of mine:Backwards"),
        ("protocol: {type: 'mine:Backwards', flow: 1}", "protocol.flow: stands beside protocol"),
        ("protocol: {type: 'mine:Backwards', start: -9}", "get_next_speaker raised IndexError"),
        ("protocol: {type: 'mine:Backwards'}\nflow: {flow_order: [a, b, c]}", "flow.flow_order: is never read"),
        ("protocol: {type: 'mine:Needy'}", "its constructor raised TypeError"),
    ],
)
def test_what_is_wrong_with_a_named_class_is_one_line(text: str, said: str) -> None:
    needy = type("Needy", (Backwards,), {"__init__": lambda self: None})
    with pytest.raises(LeagueError) as refused:
        loaded(text, Backwards=Backwards, dict=dict, Needy=needy)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_configuration_of_a_stranger_runs_no_class() -> None:
    scenario = {"game": "guess_number", "agents": [{"id": "a"}, {"id": "b"}], "protocol": {"type": "os:PathLike"}}
    with pytest.raises(ConfigError, match="names a class, and none is run here; write market_turn_based, sequential"):
        scenario_of(scenario)


def test_the_market_needs_a_protocol_that_settles_it() -> None:
    with pytest.raises(ConfigError, match="must be market_turn_based for market, found Backwards"):
        match_of("market", Backwards(list(ABC)))
