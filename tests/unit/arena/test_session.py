"""Sessions: agents of every kind are asked, and whatever they do costs a decision, never the match."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from league_agents.arena.agents.random_agent import RandomAgent
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.decisions import ClockRules
from league_agents.arena.session import Session
from league_agents.arena.transcript import TranscriptWriter, read_transcript, redact, replay
from league_agents.games.game import Action, Event, LegalAction, Outcome
from league_agents.games.q21.game import Q21
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError
from league_agents.turns.match import Match

AGENTS = ("judge", "ann", "ben")


def match(seed: int = 3) -> Match[Any]:
    return Match(Q21(), config={}, agent_ids=AGENTS, seed=seed)


def scripted_agents(**others: object) -> dict[str, object]:
    return {agent: ScriptedAgent("q21", seed=3, agent_id=agent) for agent in AGENTS} | others


def played(**others: object) -> Outcome:
    session = Session(match(), scripted_agents(**others), clock_rules=ClockRules(turn_timeout=timedelta(seconds=5)))
    asyncio.run(session.run())
    outcome = session.match.outcome()
    assert outcome is not None
    return outcome


class Ordinary:
    """A user's agent: an ordinary method that gives a dict, and may spoil what it was handed."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._inner = ScriptedAgent("q21", seed=3)

    def act(self, view: dict[str, Any], legal: Sequence[LegalAction], deadline: datetime | None) -> dict[str, Any]:
        assert deadline is not None
        action = asyncio.run(self._inner.act(view, legal, deadline))
        view.clear()
        return {"type": action.type, "data": action.data}

    def observe(self, event: Event) -> None:
        self.seen.append(event.kind)
        raise RuntimeError("an observer that fails")


class Raising:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def act(self, view: Mapping[str, Any], legal: object, deadline: object) -> Action:
        raise self._error


class Stubborn:
    """Sends nonsense first and learns from the refusal."""

    def __init__(self) -> None:
        self.refusals: list[object] = []
        self._inner = ScriptedAgent("q21", seed=3)

    async def act(self, view: Mapping[str, Any], legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        self.refusals.append(view["refusal"] and view["refusal"]["attempts_left"])
        if len(self.refusals) < 3:
            return Action(type="ask", data={})
        return await self._inner.act(view, legal, deadline)


def test_scripted_agents_play_to_the_end() -> None:
    assert played().reason == "completed"


def test_random_agents_play_to_the_end() -> None:
    assert played(**{agent: RandomAgent(seed=1, agent_id=agent) for agent in AGENTS}).reason == "completed"


def test_an_ordinary_class_plays_too_and_cannot_reach_into_the_match() -> None:
    ann = Ordinary()
    assert played(ann=ann).scores["ann"] > 0
    assert ann.seen[0] == "phase"
    assert "target" not in ann.seen


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), StopIteration(), KeyError("k")])
def test_an_agent_that_raises_loses_its_decision_only(error: BaseException) -> None:
    outcome = played(ann=Raising(error))
    assert outcome.winners == ("ben",)
    assert outcome.metrics["forfeits"] == 1


@pytest.mark.parametrize("agent", [object(), 3, None.__class__])
def test_something_that_is_no_agent_loses_its_decision_only(agent: object) -> None:
    assert played(ann=agent).winners == ("ben",)


class Odd:
    """Returns whatever it was made with."""

    def __init__(self, answer: object) -> None:
        self._answer = answer
        self.raw_answer = object()

    def act(self, view: dict[str, Any], legal: Sequence[LegalAction], deadline: datetime | None) -> object:
        return self._answer


def deep(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"questions": found}
    return found


_circle: dict[str, Any] = {}
_circle["questions"] = _circle


@pytest.mark.parametrize(
    "answer",
    [
        Action(type="ask", data=[1]),  # type: ignore[arg-type]
        Action(type="ask", data=None),  # type: ignore[arg-type]
        Action(type=["ask"]),  # type: ignore[arg-type]
        Action(type="ask", version=1),  # type: ignore[arg-type]
        {"type": "ask", "data": "questions"},
        {"type": object()},
        Action(type="ask", data={"questions": object()}),
        Action(type="ask", data={"questions": float("nan")}),
        Action(type="ask", data={"questions": 10**5000}),
        Action(type="ask", data={"questions": "x" * 1_000_000}),
        Action(type="ask", data=deep(3000)),
        Action(type="ask", data=_circle),
    ],
    ids=range(12),
)
def test_an_answer_that_no_wire_could_carry_costs_one_decision_and_the_record_stays_whole(answer: object) -> None:
    file = io.StringIO()
    session = Session(match(), scripted_agents(ben=Odd(answer)), recorders=[TranscriptWriter(file)])
    asyncio.run(session.run())
    lines = read_transcript(file.getvalue().splitlines())
    assert [line["cause"] for line in lines if line["line"] == "decision" and line["agent"] == "ben"] == ["error"]
    assert replay(lines, Q21(), again).difference is None


def test_an_agent_is_told_why_its_action_was_refused_and_may_try_again() -> None:
    ann = Stubborn()
    assert played(ann=ann).scores["ann"] > 0
    assert ann.refusals[:3] == [None, 2, 1]


def test_whose_decision_is_forfeited_for_refused_actions_reads_the_reasons(caplog: pytest.LogCaptureFixture) -> None:
    class Hopeless:
        async def act(self, view: Mapping[str, Any], legal: object, deadline: object) -> Action:
            return Action(type="sing" if view["refusal"] is None else "ask", data={})

    with caplog.at_level(logging.WARNING):
        played(ann=Hopeless())
    lines = [record.getMessage() for record in caplog.records if "refused actions" in record.getMessage()]
    first, *_ = lines
    assert first.startswith("agent ann (")
    assert "3 refused actions, so the decision is forfeited: " in first
    assert first.count(";") >= 1, "two reasons, each once"


def test_an_agent_that_never_answers_is_left_behind_at_its_deadline() -> None:
    never = threading.Event()

    class Blocking:
        def act(self, view: object, legal: object, deadline: object) -> Action:
            never.wait()
            return Action(type="ask")

    class Pending:
        async def act(self, view: object, legal: object, deadline: object) -> Action:
            await asyncio.get_running_loop().create_future()
            return Action(type="ask")

    session = Session(
        match(),
        scripted_agents(ann=Blocking(), ben=Pending()),
        clock_rules=ClockRules(turn_timeout=timedelta(milliseconds=30)),
    )
    asyncio.run(session.run())
    never.set()
    outcome = session.match.outcome()
    assert outcome is not None
    assert outcome.metrics["forfeits"] == 2


class CountedRaising(Raising):
    asked = 0

    async def act(self, view: Mapping[str, Any], legal: object, deadline: object) -> Action:
        self.asked += 1
        return await super().act(view, legal, deadline)


def test_an_agent_that_is_absent_is_asked_no_more_and_leaves_no_error_behind() -> None:
    odd: list[dict[str, Any]] = []
    absent = CountedRaising(ValueError("gone"))
    game = Match(game_of("guess_number"), config={"max_steps": 20, "target": 9}, agent_ids=("a", "b"), seed=1)
    session = Session(
        game,
        {"a": ScriptedAgent("guess_number", seed=1, agent_id="a"), "b": absent},
        clock_rules=ClockRules(max_forfeits=3),
    )

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: odd.append(context))
        await session.run()

    asyncio.run(run())
    gc.collect()  # asyncio complains of an exception that nobody looked at when its task goes
    assert session.status == "ended"
    assert absent.asked == 3
    assert odd == []


def test_an_error_that_comes_when_the_match_is_over_is_not_complained_of() -> None:
    """Both players are asked; one of them ends the match by leaving while the other one is failing."""
    odd: list[dict[str, Any]] = []

    class Leaving:
        async def act(self, view: Mapping[str, Any], legal: object, deadline: object) -> Action:
            session.decisions.leave("ann")
            session.wake()
            raise ValueError("too late for anybody to care")

    session = Session(match(), scripted_agents(ann=Leaving()), clock_rules=ClockRules(on_leave="abandon"))

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: odd.append(context))
        await session.run()

    asyncio.run(run())
    gc.collect()
    assert session.status == "abandoned"
    assert odd == []


def test_a_seat_without_an_agent_acts_from_outside() -> None:
    async def play() -> Outcome | None:
        session = Session(match(), {agent: each for agent, each in scripted_agents().items() if agent != "ben"})
        running = asyncio.ensure_future(session.run())
        inner = ScriptedAgent("q21", seed=3)
        while not running.done():
            await asyncio.sleep(0)
            if "ben" in session.decisions.open_decisions:
                action = await inner.act(session.view_for("ben"), session.match.legal("ben"), None)
                session.submit("ben", action)
        return session.match.outcome()

    outcome = asyncio.run(play())
    assert outcome is not None
    assert outcome.scores["ben"] > 0


def recorded() -> list[dict[str, Any]]:
    file = io.StringIO()
    session = Session(match(), scripted_agents(), recorders=[TranscriptWriter(file, names={"judge": "scripted"})])
    asyncio.run(session.run())
    return read_transcript(file.getvalue().splitlines())


def again(game: Any, config: Any, agents: Sequence[str], seed: int, protocol: Any) -> Match[Any]:
    return Match(game, config=config, agent_ids=agents, seed=seed)


def test_a_recorded_match_replays_event_for_event() -> None:
    replayed = replay(recorded(), Q21(), again)
    assert replayed.difference is None
    assert (replayed.decisions, replayed.events) == (7, 14)


def test_a_changed_transcript_is_found_out() -> None:
    lines = recorded()
    guess = next(line for line in lines if line["line"] == "decision" and line["action"]["type"] == "guess")
    guess["action"]["data"]["opening_sentence"] = "It was quite another sentence."
    difference = replay(lines, Q21(), again).difference
    assert difference is not None
    assert "guess" in difference


def first(lines: list[dict[str, Any]], kind: str) -> int:
    return next(place for place, line in enumerate(lines) if line["line"] == kind)


def test_a_transcript_is_compared_line_by_line_and_strictly() -> None:
    whole = recorded()
    decision, event = first(whole, "decision"), first(whole, "event")
    changes: dict[str, list[dict[str, Any]]] = {
        "another number": [*whole[:event], {**whole[event], "seq": True}, *whole[event + 1 :]],
        "an event more": [*whole[:event], {**whole[event], "extra": 1}, *whole[event:]],
        "an event less": [*whole[:event], *whole[event + 1 :]],
        "before its cause": [*whole[:decision], whole[decision + 1], whole[decision], *whole[decision + 2 :]],
        "given up": [*whole[:-1], {**whole[-1], "status": "abandoned"}],
        "other winners": [*whole[:-1], {**whole[-1], "winners": ["judge"]}],
        "cut short": [*whole[:-2], whole[-1]],
    }
    for what, lines in changes.items():
        assert replay(lines, Q21(), again).difference is not None, what


def test_lines_that_no_match_writes_are_refused() -> None:
    whole = recorded()
    place = first(whole, "decision")
    for change in ({"action": None}, {"action": 1}, {"cause": "timeout"}, {"cause": []}):
        lines = [*whole[:place], {**whole[place], **change}, *whole[place + 1 :]]
        with pytest.raises(ConfigError, match=f"line {place + 1}"):
            replay(lines, Q21(), again)
    for lines in ([whole[0], *whole], [*whole, whole[-1]], [{**whole[0], "config": ""}, *whole[1:]]):
        with pytest.raises(ConfigError, match="line"):
            replay(lines, Q21(), again)


def test_a_transcript_whose_writer_died_tells_the_match_up_to_there() -> None:
    whole = recorded()
    lines = [json.dumps(line) + "\n" for line in whole]
    lines[5] = lines[5][:40]
    assert read_transcript(lines[:6]) == whole[:5]
    for torn in (lines, [*lines[:5], lines[5] + "\n"], [lines[0][:40]]):
        with pytest.raises(ConfigError, match=r"^line \d+: is not JSON$"):  # what a line says may be a secret
            read_transcript(torn)


def test_a_transcript_of_odd_types_is_refused_before_anybody_reads_it() -> None:
    header, decision = recorded()[0], recorded()[first(recorded(), "decision")]
    for wrong in (
        [{**header, "agents": None}],
        [{**header, "agents": ["ann"]}],
        [{**header, "agents": [{"id": 1}]}],
        [header, {**decision, "refusals": None}],
        [header, {**decision, "agent": ["ann"]}],
        [header, {"line": "event", "visible_to": {}}],
    ):
        with pytest.raises(ConfigError, match=f"line {len(wrong)}"):
            read_transcript([json.dumps(line) for line in wrong])


def test_what_was_agreed_to_stay_secret_cannot_be_worked_out_from_a_published_transcript() -> None:
    file = io.StringIO()
    seats = ("a", "b", "c")
    dealt = Match(game_of("undercover"), config={"reveal_at_end": False}, agent_ids=seats, seed=3)
    agents = {agent: RandomAgent(seed=3, agent_id=agent) for agent in seats}
    asyncio.run(Session(dealt, agents, recorders=[TranscriptWriter(file)]).run())
    lines = read_transcript(file.getvalue().splitlines())
    assert lines[-1]["seed"] == 3
    published = list(redact(lines, "spectator"))
    assert published[-1]["seed"] is None
    assert list(redact(published, "spectator")) == published


def test_a_transcript_that_was_cut_off_cannot_be_replayed() -> None:
    with pytest.raises(ConfigError, match="cut off"):
        replay(recorded()[:-1], Q21(), again)


@pytest.mark.parametrize("viewer", ["ann", "spectator"])
def test_a_redacted_transcript_holds_nothing_of_the_others(viewer: str) -> None:
    shown = list(redact(recorded(), viewer))
    decisions = [line for line in shown if line["line"] == "decision"]
    assert {line["agent"] for line in decisions} == set(AGENTS)
    assert {line["agent"] for line in decisions if "action" in line} == ({"ann"} if viewer == "ann" else set())
    kinds = [line["kind"] for line in shown if line["line"] == "event"]
    assert "target" not in kinds
    assert kinds.count("questions") == (1 if viewer == "ann" else 0)


def test_a_match_that_has_not_ended_is_published_without_its_configuration() -> None:
    shown = list(redact(recorded()[:-1], "spectator"))
    assert shown[0]["config"] is None


def test_a_transcript_is_redacted_for_those_who_were_there() -> None:
    with pytest.raises(ConfigError, match="ann"):
        list(redact(recorded(), "eve"))


@pytest.mark.parametrize(
    "text", ["", "hello", "[1]", '{"line": "event"}', '{"line": "header", "format": 9}', "[" * 9999], ids=range(6)
)
def test_a_file_that_is_no_transcript_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ConfigError, match="line 1"):
        read_transcript([text])
