"""The environment for verifiers without the library, which contradicts the packages that the tests are pinned to.

A stand-in has the classes that the environment extends; ``scripts/verifiers`` plays it with the real ones.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import tomllib
from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel

ENVIRONMENT = Path(__file__).resolve().parents[3] / "environments" / "league_agents_q21"

A, B, C = TypeVar("A"), TypeVar("B"), TypeVar("C")


class _TasksetConfig(BaseModel):
    id: str = ""
    task: Any = None


class _TaskData(BaseModel, frozen=True):
    name: str | None = None
    prompt: str | None = None
    system_prompt: str | None = None


class _Task(Generic[A, B, C]):
    def __init__(self, data: Any, config: Any = None) -> None:
        self.data = data


class _Taskset(Generic[A, B]):
    def __init__(self, config: Any) -> None:
        self.config = config


class _AgentConfig(BaseModel):
    harness: Any = None


class _EnvConfig(BaseModel):
    taskset: Any = None


class _Env(Generic[A]):
    def __init__(self, config: Any) -> None:
        self.config = config


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    package, stack = ModuleType("verifiers"), ModuleType("verifiers.v1")
    for name, part in {
        "TasksetConfig": _TasksetConfig, "TaskData": _TaskData, "Task": _Task, "Taskset": _Taskset, "Env": _Env,
        "AgentConfig": _AgentConfig, "EnvConfig": _EnvConfig, "State": object, "TaskConfig": object, "Agents": object,
    }.items():  # fmt: skip
        setattr(stack, name, part)
    monkeypatch.setattr(package, "v1", stack, raising=False)
    monkeypatch.setitem(sys.modules, "verifiers", package)
    monkeypatch.setitem(sys.modules, "verifiers.v1", stack)
    monkeypatch.syspath_prepend(str(ENVIRONMENT))
    yield importlib.import_module("league_agents_q21")
    for name in [each for each in sys.modules if each.startswith("league_agents_q21")]:
        del sys.modules[name]


@dataclass
class RecordedTrace:
    rewards: dict[str, tuple[float, float]] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    def record_reward(self, name: str, value: float, weight: float) -> None:
        self.rewards[name] = value, weight

    def record_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def played(environment: Any, task: Any, replies: list[str]) -> tuple[RecordedTrace, list[str | None]]:
    """An episode in which the model gives these replies; after them its run has failed."""
    trace, said, left = RecordedTrace(), list[str | None](), iter(replies)

    async def turn(message: str | None = None) -> Any:
        said.append(message)
        reply = next(left, None)
        return SimpleNamespace(terminated=reply is None, last_reply=reply or "")

    @asynccontextmanager
    async def interaction(_task: Any) -> Any:
        yield SimpleNamespace(turn=turn, trace=trace)

    agents = SimpleNamespace(player=SimpleNamespace(interaction=interaction))
    asyncio.run(environment.Q21Env(None).run(task, agents))
    return trace, said


def tasks_of(environment: Any, **config: Any) -> list[Any]:
    module = importlib.import_module("league_agents_q21.taskset")
    return list(environment.Q21Taskset(module.Q21Config(**config)).load())


GUESS = json.dumps({"opening_sentence": "It was a dark and stormy night.", "associative_word": "rain"})


def test_an_episode_is_two_turns_and_the_rules_reward_it(environment: Any) -> None:
    first, second = tasks_of(environment, games=2, books="2/2", rules="course")
    assert first.data.prompt != second.data.prompt
    assert "Now ask." in first.data.prompt
    assert "An example, from another game" in first.data.system_prompt
    trace, said = played(environment, first, ["I have won: reward 1.0.", GUESS])
    assert said[0] is None
    assert "Now guess." in str(said[1])
    assert trace.rewards["usable_replies"] == (0.5, 0.1)
    score, weight = trace.rewards["private_score"]
    assert (weight, 0 <= score < 0.2) == (1.0, True)
    assert set(trace.metrics) == {"points", "win", "sentence_right", "word_right", "similarity"}
    assert trace.metrics["points"] == 0


def test_a_task_is_the_same_game_whenever_it_is_made(environment: Any) -> None:
    (one,), (other,) = (tasks_of(environment, games=1, seed=4) for _ in range(2))
    assert one.data == other.data
    assert [name for name in type(one.data).model_fields if "target" in name or "sentence" in name] == []


def test_a_run_that_failed_earns_no_reward(environment: Any) -> None:
    (task,) = tasks_of(environment, games=1)
    trace, said = played(environment, task, [GUESS])
    assert len(said) == 2
    assert trace == RecordedTrace()


def test_its_description_names_every_key(environment: Any) -> None:
    module = importlib.import_module("league_agents_q21.taskset")
    readme = (ENVIRONMENT / "README.md").read_text("utf-8")
    keys = set(module.Q21Config.model_fields) - {"id", "task"}
    assert [key for key in keys if f"`{key}`" not in readme] == []


def test_it_asks_for_nothing_that_contradicts_the_library() -> None:
    """google-generativeai, which league-agents needs, wants protobuf<6; verifiers wants 6.31 or later."""
    project = tomllib.loads((ENVIRONMENT / "pyproject.toml").read_text("utf-8"))["project"]
    assert not any(each.startswith("league-agents") for each in project["dependencies"])
    pinned = (ENVIRONMENT / "requirements.txt").read_text("utf-8")
    assert "\nverifiers==0.4." in pinned
    assert "://" not in pinned
    assert pinned.count("--hash=sha256:") > pinned.count("==")
