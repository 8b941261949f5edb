"""A class is found by name, or one line says what to write instead."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from league_agents.agents.scripted import ScriptedPlayer, ScriptedReferee
from league_agents.kit.errors import ConfigError
from league_agents.user_code.loading import load_agent, load_class, role_of

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


def test_of_many_classes_only_three_are_named(folder: Path) -> None:
    (folder / "many_classes_here.py").write_text("class A: ...\nclass B: ...\nclass C: ...\nclass D: ...\n")
    with pytest.raises(ConfigError, match=r"has no class Missing; it has A, B, C, …$"):
        load_class("many_classes_here:Missing")


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
        ("my_own_player:Qqq", "it has MyPlayerAI, Half, Greedy"),
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


def test_an_interrupt_that_a_module_raises_itself_is_its_own_failure(folder: Path) -> None:
    (folder / "pressing_player.py").write_text("x = 1\nraise KeyboardInterrupt('no')\n")
    for spec in ("pressing_player:MyPlayerAI", f"{folder}/pressing_player.py:MyPlayerAI"):
        with pytest.raises(ConfigError, match=r"cannot be imported: KeyboardInterrupt: no, line 2 of .*pressing"):
            load_class(spec)


@pytest.mark.parametrize(
    "text",
    [
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n",
        "import os, signal\ntry: os.kill(os.getpid(), signal.SIGINT)\nexcept BaseException: raise ValueError\n",
    ],
)
def test_ctrl_c_during_an_import_interrupts(folder: Path, text: str) -> None:
    (folder / "slow_player.py").write_text(text)
    before = signal.getsignal(signal.SIGINT)
    for spec in ("slow_player:MyPlayerAI", f"{folder}/slow_player.py:MyPlayerAI"):
        with pytest.raises(KeyboardInterrupt):
            load_class(spec)
    assert signal.getsignal(signal.SIGINT) is before


def test_on_another_thread_only_the_module_can_have_raised_an_interrupt(folder: Path) -> None:
    (folder / "threaded_player.py").write_text("raise KeyboardInterrupt\n")
    with ThreadPoolExecutor(1) as pool, pytest.raises(ConfigError, match="KeyboardInterrupt"):
        pool.submit(load_class, f"{folder}/threaded_player.py:MyPlayerAI").result()


def test_a_handler_that_the_module_installs_stays(folder: Path) -> None:
    (folder / "own_handler.py").write_text(f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{GOOD}")
    before = signal.getsignal(signal.SIGINT)
    try:
        load_class(f"{folder}/own_handler.py:MyPlayerAI")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_error_whose_text_ends_the_process_is_a_failed_import(folder: Path) -> None:
    text = "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E\n"
    (folder / "ending_player.py").write_text(text)
    with pytest.raises(ConfigError, match="cannot be imported: E, line 3 of"):
        load_class(f"{folder}/ending_player.py:MyPlayerAI")
