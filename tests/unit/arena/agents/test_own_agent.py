"""A class of the user's own at the table: the same match wherever it runs, and whatever it does costs it a decision."""

from __future__ import annotations

import asyncio
import copy
import importlib
import logging
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import arena_agent, session_of, usual_scenario
from league_agents.app.own_seat import close_agents
from league_agents.arena.agents.callback_agent import CallbackAgent, callbacks_of
from league_agents.arena.agents.own_agent import OwnAgent
from league_agents.arena.answers import raw_of, steps_of
from league_agents.arena.decisions import ClockRules, SettledDecision
from league_agents.arena.session import Session, ask_agent
from league_agents.games.game import Action, Event, ForfeitCause, LegalAction
from league_agents.games.q21.rules import PRD
from league_agents.games.undercover.agents import UndercoverSeat
from league_agents.kit.clock import utc_now
from league_agents.kit.errors import AgentError, CallbackTimeout, ConfigError

OWN = '''\
import os
import random

import msgspec

from league_agents.agents.scripted import PLAYERS, REFEREES
from league_agents.arena.agents.scripted_agent import script_of
from league_agents.kit.draw import Draw
from league_agents.games.q21.rules import PRD
from league_agents.games.undercover.agents import ScriptedUndercoverAgent


def typed(value):
    """The value with the types of all that is in it."""
    if isinstance(value, dict):
        return [type(value).__name__, [[key, typed(each)] for key, each in value.items()]]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [typed(each) for each in value]]
    if isinstance(value, msgspec.Struct):
        return [type(value).__name__, [[key, typed(getattr(value, key))] for key in value.__struct_fields__]]
    return [type(value).__name__, str(value)]


class Mirror:
    """Plays by the script, and shows what it was handed."""

    def __init__(self):
        self.heard = []
        self.random = random.Random(4)

    def reset(self):
        self.heard = ["reset"]

    def observe(self, event):
        self.heard.append(typed(event))

    def act(self, view, legal, deadline):
        seen = [typed(view), typed(legal), type(deadline).__name__, str(deadline.tzinfo)]
        self.raw_answer = repr([*seen, self.random.random(), self.heard])
        self.heard = []
        self.model_work = [{"step": "mirror", "work": "used", "why": None}]
        return script_of(view["game"])(view, legal, Draw(5, view["agent_id"]))


class AsyncMirror(Mirror):
    async def act(self, view, legal, deadline):
        return super().act(view, legal, deadline)


class Words(ScriptedUndercoverAgent):
    """The two methods, no seed of its own."""


class AsyncWords(Words):
    async def generate_description(self, round_num):
        return super().generate_description(round_num)

    async def vote(self, alive_players, current_descriptions, round_num):
        return super().vote(alive_players, current_descriptions, round_num)


class Referee(REFEREES["fixed"]):
    def __init__(self):
        super().__init__(rules=PRD)


class Player(PLAYERS["fixed"]):
    def __init__(self):
        super().__init__(rules=PRD)

    def on_score_received(self, ctx):
        with open("scores.txt", "a") as file:
            print(ctx["dynamic"]["match_id"], file=file)


class Trouble:
    """Does the next of the things that ``todo.txt`` names; its events are in its answer."""

    def __init__(self):
        self.heard = []

    def observe(self, event):
        self.heard.append(event.seq)

    def act(self, view, legal, deadline):
        with open("todo.txt") as file:
            todo = file.read().split()
        with open("todo.txt", "w") as file:
            print(*todo[1:], file=file)
        if todo:
            return getattr(self, todo[0])()
        self.raw_answer = repr(self.heard)
        return {"type": "submit_price", "data": {"price": 12}}

    def hang(self):
        while True:
            pass

    def leave(self):
        os._exit(7)

    def fail(self):
        return {}["dynamc"]

    def leave_politely(self):
        raise SystemExit(3)

    def sulk(self):
        return None


class DeafTrouble(Trouble):
    def observe(self, event):
        raise ValueError("not now")


class LastWords(Trouble):
    def observe(self, event):
        super().observe(event)
        with open("heard.txt", "a") as file:
            print(event.seq, file=file)


class Unmade:
    def __init__(self):
        os._exit(4)

    def act(self, view, legal, deadline):
        pass


class Needy(Trouble):
    def __init__(self, key):
        pass


class Useless:
    """No method that anybody would call."""
'''
WAIT = "        import threading\n        threading.Event().wait()\n"
VIEW = {"agent_id": "s1"}
LEGAL = (LegalAction(type="submit_price", schema={}, choices=({"price": 1},)),)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_at_table.py").write_text(OWN, "utf-8")
    yield tmp_path
    sys.modules.pop("own_at_table", None)


class Heard:
    """A recorder of what each agent answered, its raw text included."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Action | None, Any, Any]] = []

    def begin(self, session: Session) -> None:
        self.session = session

    def settled(self, settled: SettledDecision) -> None:
        self.answers.append((settled.decision.agent_id, settled.action, settled.raw, settled.models))

    def end(self, session: Session) -> None:
        """The match is over."""


def played(game: str, names: list[str], *, in_process: bool) -> tuple[list[Event], list[Any]]:
    heard = Heard()
    specs = [name if name == "scripted" else f"own_at_table:{name}" for name in names]
    scenario = usual_scenario(game, agents=specs, lang="en" if game == "undercover" else None)
    session = session_of(scenario, seed=3, company=Company(in_process=in_process), recorders=[heard])
    in_turn(session)
    return list(session.match.events), heard.answers


def in_turn(session: Session) -> None:
    """One asked after the other: in a session, who answers first is anybody's guess."""
    session.begin()
    while not session.decisions.is_over:
        session._tell()
        session.decisions.ask(utc_now())
        seat = session.match.active()[0]
        agent, deadline = session.agents[seat], session.decisions.open_decisions[seat].deadline
        view, legal = copy.deepcopy((session.view_for(seat), session.match.legal(seat)))
        action = asyncio.run(ask_agent(agent, view, legal, deadline))
        assert isinstance(action, Action)
        session.decisions.act(seat, action, utc_now(), raw_of(agent), steps_of(agent))
    session.end()
    close_agents(session.agents.values())


def as_objects(game: str, names: list[str]) -> tuple[list[Event], list[Any]]:
    """The same match with agents that are handed to the session as they are."""
    module, heard = importlib.import_module("own_at_table"), Heard()
    scenario = usual_scenario(game, agents=["scripted"], lang="en" if game == "undercover" else None)
    session = session_of(scenario, seed=3, company=Company(), recorders=[heard])
    for seat, name in zip(scenario.agent_ids, names, strict=False):
        if name == "scripted":
            continue
        agent = getattr(module, name)()
        if hasattr(agent, "generate_description"):
            agent = UndercoverSeat(agent)
        if hasattr(agent, "get_guess") or hasattr(agent, "get_answers"):
            agent = CallbackAgent(callbacks_of(agent), rules=PRD, match_id="q21-referee-player_a-player_b", now=utc_now)
        session.agents[seat] = agent
    in_turn(session)
    return list(session.match.events), heard.answers


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("guess_number", ["Mirror", "scripted"]),
        ("market", ["AsyncMirror", "scripted"]),
        ("undercover", ["Mirror", "Words", "AsyncWords", "scripted"]),
        ("q21", ["Mirror", "Mirror", "scripted"]),
        ("q21", ["Referee", "Player", "scripted"]),
    ],
)
def test_the_same_match_is_played_wherever_the_class_runs(game: str, names: list[str]) -> None:
    elsewhere = played(game, names, in_process=False)
    assert "own_at_table" not in sys.modules
    assert elsewhere == played(game, names, in_process=True)
    assert elsewhere == as_objects(game, [name.removeprefix("Async") for name in names])
    assert len(elsewhere[1]) > 4


@pytest.mark.parametrize("in_process", [False, True])
def test_a_player_of_the_league_is_told_its_score(folder: Path, in_process: bool) -> None:
    played("q21", ["scripted", "Player", "scripted"], in_process=in_process)
    assert (folder / "scores.txt").read_text() == "q21-referee-player_a-player_b\n"


def at_table(name: str, *todo: str, in_process: bool = False) -> OwnAgent:
    Path("todo.txt").write_text(" ".join(todo), "utf-8")
    scenario = usual_scenario("market", agents=[f"own_at_table:{name}"])
    company = Company(in_process=in_process)
    agent = arena_agent(scenario.seats[0], scenario, company, seed=1, match_id="m")
    assert isinstance(agent, OwnAgent)
    return agent


def event(seq: int) -> Event:
    return Event(kind="told", visible_to=("s1",), text="", seq=seq)


def asked(agent: OwnAgent, limit_s: float | None = None) -> Any:
    deadline = None if limit_s is None else utc_now() + timedelta(seconds=limit_s)
    return asyncio.run(agent.act(VIEW, LEGAL, deadline))


FAIL = f"own_at_table.py:{OWN[: OWN.index('dynamc')].count(chr(10)) + 1}"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("leave", "act ended its process with exit code 7"),
        ("fail", f"act raised KeyError ({FAIL}): 'dynamc'"),
        ("leave_politely", "act raised SystemExit (own_at_table.py:"),
        ("sulk", 'act returned None, not an action; return {"type": ..., "data": {...}} with a type'),
    ],
)
def test_what_an_agent_does_costs_it_one_decision_and_is_one_line(what: str, said: str) -> None:
    agent = at_table("Trouble", what)
    agent.observe(event(1))
    with pytest.raises(AgentError) as caught:
        asked(agent)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    agent.observe(event(2))
    # A new instance is told all that happened.
    assert asked(agent)["raw"] == "[1, 2]"
    agent.close()


def test_a_late_agent_is_killed_and_told_and_the_next_one_knows_the_match(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("league_agents.user_code.process.SLOW_S", 0.1)
    agent = at_table("Trouble", "hang")
    agent.reset()
    agent.observe(event(1))
    with pytest.raises(CallbackTimeout, match=r"return within [01](\.\d)? s; it was at own_at_table.py:\d+$"):
        asked(agent, 1.0)
    assert any("own_at_table:Trouble: act is still running after " in each for each in caplog.messages)
    (line,) = [each for each in caplog.messages if "s1" in each]
    assert line.startswith("agent s1 (submit_price): act did not return within ")
    assert asked(agent)["raw"] == "[1]"
    agent.close()


def test_a_late_agent_of_this_process_is_left_behind(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = OWN.replace("        while True:\n            pass\n", WAIT)
    (folder / "own_at_table.py").write_text(text, "utf-8")
    scenario = usual_scenario("market", agents=["own_at_table:Trouble", "scripted"])
    Path("todo.txt").write_text("hang", "utf-8")
    heard = Heard()
    session = session_of(
        scenario,
        seed=3,
        company=Company(in_process=True),
        clock_rules=ClockRules(turn_timeout=timedelta(seconds=1)),
        recorders=[heard],
    )
    asyncio.run(session.run())
    close_agents(session.agents.values())
    assert "agent s1 (submit_price): did not answer in time" in caplog.messages
    answers = [action for seat, action, _, _ in heard.answers if seat == "s1"]
    assert answers[0] is None
    assert answers[1] is not None


def test_what_it_raises_when_it_is_told_something_costs_it_nothing(caplog: pytest.LogCaptureFixture) -> None:
    agent = at_table("DeafTrouble")
    agent.observe(event(1))
    assert asked(agent)["data"]["price"] == 12
    agent.close()
    (line,) = caplog.messages
    assert line.startswith("agent s1: observe raised ValueError (own_at_table.py:")
    assert line.endswith("): not now")


def test_the_end_of_the_match_is_told_before_the_process_ends(folder: Path) -> None:
    agent = at_table("LastWords")
    agent.observe(event(1))
    asked(agent)
    agent.observe(event(2))
    agent.close()
    assert (folder / "heard.txt").read_text().split() == ["1", "2"]


def test_a_session_says_who_failed_at_what_and_where(caplog: pytest.LogCaptureFixture) -> None:
    scenario = usual_scenario("market", agents=["scripted"])
    session = session_of(scenario, seed=3, company=Company())

    class Failing:
        def act(self, view: object, legal: object, deadline: object) -> None:
            raise KeyError("dynamc")

    session.agents["s1"] = Failing()
    with caplog.at_level(logging.WARNING):
        asyncio.run(session.run())
    *lines, dropped = [record for record in caplog.records if "agent s1" in record.getMessage()]
    assert dropped.getMessage() == "agent s1: failed 3 times in a row and is not asked again in this match"
    assert len(lines) == session.decisions.rules.max_forfeits
    assert all(record.exc_info is None for record in lines)
    place = r"agent s1 \(submit_price\): act raised KeyError \(.*test_own_agent.py:\d+\): 'dynamc'"
    assert re.fullmatch(place, lines[0].getMessage())


def test_a_late_agent_forfeits_for_its_time_and_not_for_an_error() -> None:
    scenario = usual_scenario("market", agents=["scripted"])
    session = session_of(scenario, seed=3, company=Company(), clock_rules=ClockRules(turn_timeout=None))

    class Late:
        def act(self, view: object, legal: object, deadline: object) -> None:
            raise CallbackTimeout

    session.agents["s1"] = Late()
    causes: list[ForfeitCause | None] = []
    session._recorders = (type("Causes", (Heard,), {"settled": lambda _self, each: causes.append(each.cause)})(),)
    asyncio.run(session.run())
    assert ForfeitCause.TIMEOUT in causes
    assert ForfeitCause.ERROR not in causes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Unmade", r"cannot be made: its constructor ended its process with exit code 4 \(.*\); mend it$"),
        ("Useless", r"give it a method act\(view, legal, deadline\)"),
        ("Needy", "must be made without arguments"),
        ("Missing", "has no class Missing"),
    ],
)
def test_what_cannot_play_is_told_before_the_match(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        at_table(name)
