"""One game and one protocol: who is active, who hears, what is refused (arena 4.5).

Played with a toy game whose phases are a list, so that every order of spoken and sealed phases can be tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pytest

from league_agents.games.game import (
    ALL,
    HOST,
    SPECTATOR,
    Action,
    Event,
    ForfeitCause,
    IllegalAction,
    JsonObject,
    LegalAction,
    Mode,
    Outcome,
    Progress,
    Step,
    is_visible,
)
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, LocalProtocolError
from league_agents.turns import (
    BroadcastDeliberation,
    InformationFlowConfig,
    InteractionProtocol,
    MarketTurnBased,
    SequentialHandoff,
    StopCondition,
    Topology,
)
from league_agents.turns.match import Match

AGENTS = ("a", "b", "c")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyState:
    phases: tuple[tuple[Mode, tuple[str, ...]], ...]
    """Mode and who owes an action, of each phase to come; the first is the open one."""

    heard: tuple[tuple[str, tuple[str, ...] | None], ...] = ()
    forfeits: tuple[tuple[str, str], ...] = ()


class Toy:
    """Everybody says a word in each spoken phase and votes in each sealed one; ``end`` ends a phase early."""

    code = "toy"
    version = "1.2.0"
    min_agents, max_agents = 1, 9
    protocol = None
    config_schema: JsonObject = MappingProxyType({"type": "object", "properties": {}})
    action_schemas: JsonObject = MappingProxyType({"say": {}, "vote": {}, "end": {}})

    def setup(self, config: JsonObject, agent_ids: Sequence[str], seed: int) -> ToyState:
        phases = []
        for name, *members in config["phases"]:
            phases.append((Mode(name), tuple(members) or tuple(agent_ids)))
        return ToyState(phases=tuple(phases))

    def opening(self, state: ToyState) -> tuple[Event, ...]:
        return (Event(kind="opened", visible_to=ALL, text="Welcome."), Event(kind="seed", visible_to=HOST, text="7"))

    def rounds(self, config: JsonObject) -> None:
        """There is no limit."""

    def pending(self, state: ToyState) -> tuple[str, ...]:
        return state.phases[0][1] if state.phases else ()

    def phase_mode(self, state: ToyState) -> Mode:
        return state.phases[0][0]

    def legal(self, state: ToyState, agent: str) -> tuple[LegalAction, ...]:
        return (LegalAction(type="say", schema={}),) if agent in self.pending(state) else ()

    def apply(
        self, state: ToyState, agent: str, action: Action, heard_by: Sequence[str] | None = None
    ) -> Step[ToyState]:
        if action.data.get("bad"):
            raise IllegalAction("invalid_data", "bad")
        heard = None if heard_by is None else tuple(heard_by)
        after = self._without(replace(state, heard=(*state.heard, (agent, heard))), agent)
        if action.type == "end":
            after = replace(after, phases=after.phases[1:])
        visible = ALL if heard is None else (agent, *heard)
        return Step(state=after, events=(Event(kind=action.type, visible_to=visible, text=agent),))

    def forfeit(self, state: ToyState, agent: str, cause: ForfeitCause) -> Step[ToyState]:
        after = self._without(replace(state, forfeits=(*state.forfeits, (agent, cause.value))), agent)
        return Step(state=after, events=(Event(kind="missing", visible_to=ALL, text=agent),))

    def view(self, state: ToyState, viewer: str) -> dict[str, Any]:
        return {"viewer": viewer}

    def info(self, state: ToyState, viewer: str) -> Progress:
        stage = "describe" if viewer in self.pending(state) else "watch" if viewer in (HOST, SPECTATOR) else "wait"
        return Progress(
            status="started" if state.phases else "ended",
            phase=str(len(state.phases)),
            turn=1,
            stage=stage,
            active_agent_ids=self.pending(state),
        )

    def outcome(self, state: ToyState) -> Outcome | None:
        return None if state.phases else Outcome(winners=("a",), scores={"a": 1.0}, reason="done")

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        return "Talk."

    def dump(self, state: ToyState) -> dict[str, Any]:
        return {"state": repr(state)}

    def load(self, dumped: JsonObject) -> ToyState:
        raise ConfigError("state", "cannot be loaded")

    def _without(self, state: ToyState, agent: str) -> ToyState:
        mode, members = state.phases[0]
        left = tuple(member for member in members if member != agent)
        return replace(state, phases=((mode, left), *state.phases[1:]) if left else state.phases[1:])


def toy(*phases: str, protocol: InteractionProtocol | None = None) -> Match[ToyState]:
    """Phases: ``spoken``, ``sealed``, or ``spoken a b`` for some agents only."""
    config = {"phases": [phase.split() for phase in phases]}
    return Match(Toy(), config=config, agent_ids=AGENTS, seed=1, protocol=protocol)


def say(match: Match[ToyState], agent: str, **data: object) -> tuple[Event, ...]:
    return match.act(agent, Action(type="say", data=data))


def test_a_spoken_phase_lets_one_agent_speak_at_a_time() -> None:
    match = toy("spoken")
    trace = []
    while match.active():
        trace.append(match.active())
        say(match, match.active()[0])
    assert trace == [("a",), ("b",), ("c",)]
    assert match.is_over
    assert match.protocol.current_round == 1
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.reason == "done"


def test_a_sealed_phase_has_everybody_active_and_passes_the_protocol_by() -> None:
    match = toy("sealed", "spoken")
    assert match.active() == AGENTS
    say(match, "b")
    assert match.active() == ("a", "c")
    say(match, "c")
    say(match, "a")
    assert match.protocol.message_log == []
    assert match.protocol.current_round == 0
    assert match.active() == ("a",)
    assert [heard for _, heard in match.state.heard] == [None, None, None]


def test_every_spoken_phase_is_one_round_of_the_protocol() -> None:
    match = toy("spoken", "sealed", "spoken", "spoken")
    while match.active():
        say(match, match.active()[0])
    assert match.protocol.current_round == 3
    assert [message.sender for message in match.protocol.message_log] == list(AGENTS) * 3
    assert [message.round for message in match.protocol.message_log] == [0] * 3 + [1] * 3 + [2] * 3
    assert match.protocol.skips == []


def test_those_who_owe_nothing_have_no_turn() -> None:
    match = toy("spoken b c", "spoken c a b", "spoken a")
    trace = []
    while match.active():
        trace.append(match.active()[0])
        say(match, trace[-1])
    assert trace == ["b", "c", "c", "a", "b", "a"]


def test_one_agent_may_owe_phase_after_phase() -> None:
    match = toy("spoken a", "spoken a", "spoken a b")
    trace = []
    while match.active():
        trace.append(match.active()[0])
        say(match, trace[-1])
    assert trace == ["a", "a", "a", "b"]
    assert match.protocol.current_round == 3


def test_a_phase_that_ends_early_leaves_nobody_waiting() -> None:
    match = toy("spoken", "spoken")
    match.act("a", Action(type="end"))
    assert match.active() == ("a",)
    assert [skip.agent for skip in match.protocol.skips] == ["b", "c"]
    assert match.protocol.current_round == 1


def test_a_phase_that_is_cut_to_fewer_goes_on_with_them() -> None:
    match = toy("spoken", "spoken c")
    match.act("a", Action(type="end"))
    assert match.active() == ("c",)
    say(match, "c")
    assert match.is_over


def test_events_are_numbered_and_shown_to_those_who_may_see_them() -> None:
    match = toy("spoken", protocol=SequentialHandoff(AGENTS))
    assert [(event.seq, event.kind) for event in match.events] == [(1, "opened"), (2, "seed")]
    new = say(match, "a")
    assert [event.seq for event in new] == [3]
    say(match, "b")
    assert [event.seq for event in match.events_for(HOST)] == [1, 2, 3, 4]
    assert [event.seq for event in match.events_for(SPECTATOR)] == [1]
    assert [event.seq for event in match.events_for("spectator-4")] == [1]
    assert [event.seq for event in match.events_for("a")] == [1, 3]
    assert [event.seq for event in match.events_for("c", after=3)] == [4]
    assert match.events_for("c", after=99) == ()


@pytest.mark.parametrize(
    ("visible_to", "viewers"),
    [(ALL, {"a", "b", HOST, SPECTATOR}), (HOST, {HOST}), (("a",), {"a", HOST}), ((), {HOST})],
)
def test_visibility(visible_to: Any, viewers: set[str]) -> None:
    event = Event(kind="x", visible_to=visible_to, text="x")
    assert {viewer for viewer in ("a", "b", HOST, SPECTATOR) if is_visible(event, viewer)} == viewers


def test_listeners_are_those_of_the_protocol() -> None:
    def heard(protocol: InteractionProtocol) -> list[tuple[str, tuple[str, ...] | None]]:
        match = toy("spoken", protocol=protocol)
        while match.active():
            say(match, match.active()[0])
        return list(match.state.heard)

    assert heard(BroadcastDeliberation(AGENTS)) == [("a", None), ("b", None), ("c", None)]
    assert heard(SequentialHandoff(AGENTS)) == [("a", ("b", "c")), ("b", ("c",)), ("c", ())]
    link = Topology(AGENTS, edges=[("a", "c")])
    assert heard(BroadcastDeliberation(AGENTS, link)) == [("a", ("c",)), ("b", ()), ("c", ())]


def test_agents_of_one_stage_are_active_together() -> None:
    flow = InformationFlowConfig(flow_order=["c", ["a", "b"]])
    match = toy("spoken", "spoken b a", protocol=SequentialHandoff(AGENTS, flow=flow))
    assert match.active() == ("c",)
    say(match, "c")
    assert match.active() == ("a", "b")
    say(match, "b")
    assert match.active() == ("a",)
    match.forfeit("a", ForfeitCause.TIMEOUT)
    assert match.active() == ("a", "b")


def test_a_refused_action_leaves_everything_as_it_was() -> None:
    match = toy("spoken")
    before = (match.state, match.events, match.active(), match.protocol.message_count)
    for agent, action, code in [
        ("a", Action(type="say", data={"bad": True}), "invalid_data"),
        ("a", Action(type="shout"), "unknown_action"),
        ("a", Action(type="say", version="2.0.0"), "unsupported_game_version"),
        ("a", Action(type="say", version=""), "unsupported_game_version"),
        ("a", Action(type="say", data=["bad"]), "invalid_data"),  # type: ignore[arg-type]
        ("a", Action(type="say", data=None), "invalid_data"),  # type: ignore[arg-type]
        ("a", Action(type=["say"]), "invalid_data"),  # type: ignore[arg-type]
        ("a", Action(type="say", version=1), "invalid_data"),  # type: ignore[arg-type]
        ("b", Action(type="say"), "not_pending"),
        ("ghost", Action(type="say"), "not_pending"),
    ]:
        with pytest.raises(IllegalAction) as refused:
            match.act(agent, action)
        assert refused.value.code == code
    with pytest.raises(IllegalAction) as refused:
        match.forfeit("b", ForfeitCause.TIMEOUT)
    assert refused.value.code == "not_pending"
    assert (match.state, match.events, match.active(), match.protocol.message_count) == before
    match.act("a", Action(type="say", version="1.9.1"))  # the same major version


def test_a_forfeit_passes_the_turn() -> None:
    match = toy("spoken", "sealed")
    events = match.forfeit("a", ForfeitCause.DISCONNECTED)
    assert [event.kind for event in events] == ["missing"]
    assert match.active() == ("b",)
    assert [(skip.agent, skip.cause) for skip in match.protocol.skips] == [("a", "disconnected")]
    assert match.state.forfeits == (("a", "disconnected"),)


def test_an_action_after_its_forfeit_is_too_late_until_the_agent_is_asked_again() -> None:
    match = toy("sealed a b", "sealed b", "spoken a c")
    match.forfeit("a", ForfeitCause.TIMEOUT)
    with pytest.raises(IllegalAction) as refused:
        say(match, "a")
    assert refused.value.code == "too_late"
    say(match, "b")
    with pytest.raises(IllegalAction) as refused:
        match.forfeit("a", ForfeitCause.TIMEOUT)
    assert refused.value.code == "too_late"
    say(match, "b")
    say(match, "a")
    with pytest.raises(IllegalAction) as refused:
        say(match, "a")
    assert refused.value.code == "not_pending"


def test_nobody_acts_when_the_match_is_over() -> None:
    match = toy("spoken a")
    say(match, "a")
    for act in (lambda: say(match, "a"), lambda: match.forfeit("a", ForfeitCause.ERROR)):
        with pytest.raises(IllegalAction) as refused:
            act()
        assert refused.value.code == "match_over"
    assert match.legal("a") == ()
    assert match.info("a").stage == "done"
    assert match.info("a").status == "ended"


def test_only_the_active_have_legal_actions() -> None:
    match = toy("spoken")
    assert [len(match.legal(agent)) for agent in AGENTS] == [1, 0, 0]


def test_who_waits_for_its_turn_is_told_to_wait() -> None:
    match = toy("spoken")
    assert [match.info(viewer).stage for viewer in (*AGENTS, SPECTATOR)] == ["describe", "wait", "wait", "watch"]
    assert match.info("c").active_agent_ids == ("a",)


def test_viewers_are_agents_spectators_and_the_host() -> None:
    match = toy("spoken")
    assert match.view("spectator-12") == {"viewer": SPECTATOR}
    assert match.view(HOST) == {"viewer": HOST}
    for ask in (match.view, match.info, match.events_for):
        with pytest.raises(IllegalAction) as refused:
            ask("ghost")
        assert refused.value.code == "not_in_match"


def stopping(**condition: Any) -> BroadcastDeliberation:
    return BroadcastDeliberation(AGENTS, flow=InformationFlowConfig(stop_conditions=[condition]))


def test_the_protocol_may_stop_the_match() -> None:
    match = toy("spoken", "sealed", "spoken", protocol=stopping(type="max_messages", value=2))
    say(match, "a")
    events = say(match, "b")
    assert [event.kind for event in events] == ["say", "protocol_stop"]
    assert events[-1].visible_to == ALL
    assert match.active() == ()
    outcome = match.outcome()
    assert outcome is not None
    assert (outcome.winners, outcome.reason) == ((), "protocol_stop")
    assert outcome.scores == {"a": 0.0, "b": 0.0, "c": 0.0}
    assert outcome.metrics == {"protocol_rounds": 0, "messages": 2}
    assert [match.info(viewer).stage for viewer in ("a", SPECTATOR)] == ["done", "watch"]
    assert match.info("a").active_agent_ids == ()


def test_a_protocol_that_stops_after_a_round_keeps_the_next_phase_from_opening() -> None:
    match = toy("spoken", "sealed", protocol=stopping(type="max_rounds", value=1))
    for agent in AGENTS:
        say(match, agent)
    assert match.active() == ()
    assert match.is_over


def test_the_game_s_own_end_comes_before_the_protocol_s() -> None:
    match = toy("spoken", protocol=stopping(type="max_rounds", value=1))
    for agent in AGENTS:
        say(match, agent)
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.reason == "done"


def test_closing_a_phase_early_may_stop_the_protocol() -> None:
    match = toy("spoken", "spoken", protocol=stopping(type="max_rounds", value=1))
    match.act("a", Action(type="end"))
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.reason == "protocol_stop"


def test_a_protocol_may_stop_before_the_first_word() -> None:
    at_once = StopCondition(type="custom", check=lambda protocol: True)
    protocol = BroadcastDeliberation(AGENTS, flow=InformationFlowConfig(stop_conditions=[at_once]))
    assert toy("spoken", protocol=protocol).is_over


def test_a_protocol_that_lets_nobody_speak_is_named() -> None:
    class Mute(BroadcastDeliberation):
        def pending_speakers(self) -> tuple[str, ...]:
            return ()

    with pytest.raises(LocalProtocolError, match="lets none of those speak"):
        toy("spoken", protocol=Mute(AGENTS))


@pytest.mark.parametrize("simultaneous", [True, False])
def test_the_game_s_balances_are_the_protocol_s(simultaneous: bool) -> None:
    match = Match(game_of("market"), config={"simultaneous": simultaneous, "max_rounds": 4}, agent_ids=AGENTS, seed=1)
    prices = iter([15, 12, 12, 20, 20, 20, 30, 25, 40, 11])
    while active := match.active():
        agent = active[-1]
        amount = next(prices, None)
        if amount is None:
            match.forfeit(agent, ForfeitCause.TIMEOUT)
        else:
            match.act(agent, Action(type="submit_price", data={"price": amount}))
        protocol = match.protocol
        assert isinstance(protocol, MarketTurnBased)
        view = match.view(HOST)
        assert {each["agent_id"]: each["balance"] for each in view["sellers"]} == protocol.balances
        assert view["results"] == protocol.results
    assert match.protocol.current_round == 4
    assert len(match.protocol.skips) == 2


def test_a_market_in_turn_is_stopped_by_its_protocol() -> None:
    flow = InformationFlowConfig(stop_conditions=[{"type": "max_rounds", "value": 1}])
    protocol = MarketTurnBased(AGENTS, flow=flow, simultaneous=False)
    match = Match(game_of("market"), config={}, agent_ids=AGENTS, seed=1, protocol=protocol)
    for agent in AGENTS:
        match.act(agent, Action(type="submit_price", data={"price": 20}))
    outcome = match.outcome()
    assert outcome is not None
    assert outcome.reason == "protocol_stop"
    assert [event.kind for event in match.events][-2:] == ["market_result", "protocol_stop"]
    assert match.warnings


def test_an_agent_whose_name_is_a_part_of_the_host_s_sees_nothing_of_the_host_s() -> None:
    event = Event(kind="target", visible_to=HOST, text="secret")
    assert not any(is_visible(event, viewer) for viewer in ("h", "ho", "st", "s"))
    assert is_visible(event, HOST)
