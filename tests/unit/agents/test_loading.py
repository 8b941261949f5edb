"""A class is found by name, or one line says what to write instead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from league_agents.agents.loading import load_agent, load_class, role_of
from league_agents.agents.scripted import ScriptedPlayer, ScriptedReferee
from league_agents.errors import ConfigError

GOOD = """
class MyPlayerAI:
    def get_warmup_answer(self, ctx): return {"answer": "4"}
    def get_questions(self, ctx): return {"questions": []}
    def get_guess(self, ctx): return {}
    def on_score_received(self, ctx): pass

class Half:
    def get_warmup_answer(self, ctx): return {}

class Greedy(MyPlayerAI):
    def __init__(self, model): self.model = model

ready = MyPlayerAI()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_own_player.py").write_text(GOOD)
    monkeypatch.delitem(sys.modules, "my_own_player", raising=False)
    return tmp_path


def test_a_class_in_the_current_folder_is_found_though_it_inherits_from_nothing(folder: Path) -> None:
    found = load_agent("my_own_player:MyPlayerAI", "player")
    assert found.__name__ == "MyPlayerAI"
    assert role_of(found) == "player"


def test_a_file_may_be_named_instead_of_a_module(folder: Path) -> None:
    assert load_agent(f"{folder}/my_own_player.py:MyPlayerAI", "player").__name__ == "MyPlayerAI"


def test_a_file_is_run_once_finds_what_lies_beside_it_and_takes_nobodys_name(folder: Path) -> None:
    import random

    place = folder / "agents"
    place.mkdir()
    (place / "beside_it.py").write_text("RUNS = []")
    (place / "random.py").write_text(f"import beside_it\nbeside_it.RUNS.append(1)\n{GOOD}")
    spec = f"{place}/random.py:MyPlayerAI"
    assert load_agent(spec, "player") is load_agent(spec, "player")
    assert sys.modules["beside_it"].RUNS == [1]
    assert sys.modules["random"] is random


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("my_own_player", "write module:Class"),
        (":MyPlayerAI", "write module:Class"),
        ("my_own_player:", "write module:Class"),
        ("my_own_player:MyPlayer AI", "write module:Class"),
        ("my_own_player:MyPlayerAi", "it has MyPlayerAI"),
        ("my_own_player:ready", "is a MyPlayerAI, not a class"),
        ("my_own_player:Half", "lacks the player's get_questions, get_guess, on_score_received"),
        ("my_own_player:Greedy", "must be made without arguments"),
        ("no_such_module_here:X", "there is no module no_such_module_here"),
        ("no_such_file.py:X", "there is no file no_such_file.py"),
    ],
)
def test_a_wrong_name_is_answered_with_the_remedy(folder: Path, spec: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_agent(spec, "player")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import not_installed_anywhere", "needs not_installed_anywhere, which is not installed"),
        ("def broken(:\n    pass", "line 1"),
        ("x = 1\nraise SystemExit(3)", "SystemExit: 3, line 2"),
        ("x = 1\n\n1 / 0", "ZeroDivisionError: division by zero, line 3"),
    ],
)
def test_a_module_that_fails_is_told_with_its_line(folder: Path, source: str, said: str) -> None:
    (folder / "failing_module.py").write_text(source)
    sys.modules.pop("failing_module", None)
    with pytest.raises(ConfigError) as caught:
        load_class("failing_module:X")
    assert said in str(caught.value)


def test_a_class_of_neither_role_is_told_what_it_lacks() -> None:
    class Nothing:
        def get_questions(self, ctx: object) -> object: ...

    with pytest.raises(ConfigError, match="as a player it lacks get_warmup_answer, get_guess, on_score_received"):
        role_of(Nothing)


def test_a_class_of_both_roles_is_refused() -> None:
    class Both(ScriptedPlayer, ScriptedReferee):
        pass

    with pytest.raises(ConfigError, match="both roles"):
        role_of(Both)
