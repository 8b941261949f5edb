"""A class of the user's own in a process of its own: whatever it does is one failed call, in time, and one line."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.user_code import process as process_module
from league_agents.user_code.called import Called, End
from league_agents.user_code.child import read_called
from league_agents.user_code.own import OwnClass
from league_agents.user_code.process import UserProcess

AGENT = """\
import asyncio, ctypes, logging, os, re, stat, subprocess, sys, threading, time


class Player:
    def __init__(self):
        self.calls = 0

    def get_warmup_answer(self, ctx):
        self.calls += 1
        return {"answer": self.calls, "told": ctx}

    def get_questions(self, ctx):
        return getattr(self, ctx["do"])(ctx)

    async def get_guess(self, ctx):
        self.loops = getattr(self, "loops", set()) | {id(asyncio.get_running_loop())}
        await asyncio.sleep(0)
        return {"loops": len(self.loops)}

    def on_score_received(self, ctx):
        pass

    def hang(self, ctx):
        while True:
            pass

    def backtrack(self, ctx):
        re.match(r"(a+)+$", "a" * 64 + "b")

    def leave(self, ctx):
        os._exit(7)

    def leave_politely(self, ctx):
        sys.exit(3)

    def crash(self, ctx):
        ctypes.string_at(0)

    def be_killed(self, ctx):
        os.kill(os.getpid(), 9)

    def explode(self, ctx):
        kept = []
        while True:
            kept.append(bytearray(20_000_000))

    def write_there(self, ctx):
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"no frame at all, and more of it")
            except OSError:
                pass
        time.sleep(600)

    def leave_the_group(self, ctx):
        os.setpgid(0, os.getpgid(os.getppid()))
        while True:
            pass

    def flood(self, ctx):
        pipes = [fd for fd in range(3, 20) if is_fifo(fd)]
        while True:
            for fd in pipes:
                try:
                    os.write(fd, b"File x " * 5_000)
                except OSError:
                    pass

    def copy_itself(self, ctx):
        os.fork()
        return {"copied": True}

    def look_around(self, ctx):
        return {
            "open": [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2
                     and os.path.exists(f"/proc/self/fd/{fd}")],
            "read": sys.stdin.read(),
            "key": os.environ.get("OPENAI_API_KEY"),
            "arguments": sys.argv,
            "pid": os.getpid(),
        }

    def start_child(self, ctx):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        if ctx.get("then") == "leave":
            os._exit(0)
        return {"pid": child.pid}

    def say(self, ctx):
        print("printed")
        logging.getLogger("mine.own").warning("%s of %s: \u2603", 2, 3)
        logging.getLogger("mine.own").info("nobody asked for it")
        print("half a line, ", end="", flush=True)
        try:
            1 / 0
        except ZeroDivisionError:
            logging.getLogger("mine.own").exception("it failed")
        os.write(1, b"from the descriptor\\n")
        subprocess.run(["echo", "from a child"])
        print("last words", end="", file=sys.stderr)

    def stream(self, ctx):
        for word in ("word ", "by ", "word"):
            print(word, end="")

    def say_and_leave(self, ctx):
        os.write(2, b"no end of line")
        os._exit(7)

    def print_much(self, ctx):
        print("x" * 1_000_000)
        for _ in range(199_999):
            print("x")

    def forge(self, ctx):
        for text in ('{"name": 3}', "[]", "{"):
            print("\\0logged " + text)

    def configure_logging(self, ctx):
        logging.basicConfig(level=logging.INFO)
        logging.getLogger("mine.own").info("a detail")

    def talk(self, ctx):
        print("said by the agent")
        return {}

    def give_much(self, ctx):
        return {"text": "x" * 5_000_000}

    def give_odd(self, ctx):
        return {"object": object(), "surrogate": "\\ud800", "nan": float("nan"), "big": 10**5000, 3: (1, 2)}

    def fail(self, ctx):
        return ctx["dynamc"]


def is_fifo(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False


class Slow(Player):
    def __init__(self):
        while True:
            pass


class Leaves(Player):
    def __init__(self):
        os._exit(3)


class Unmade(Player):
    def __init__(self):
        raise RuntimeError("no licence")


class Prints(Player):
    def __init__(self):
        import atexit
        atexit.register(print, "said at the end", flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # Folders of other tests stay on the path, and some have a module of this name.
    monkeypatch.setattr(sys, "path", [each for each in sys.path if not Path(each, "mine.py").exists()])
    (tmp_path / "mine.py").write_text(AGENT, "utf-8")
    return tmp_path


@pytest.fixture
def player() -> Iterator[UserProcess]:
    made = UserProcess("mine:Player", ["player"], memory_bytes=1_000_000_000)
    yield made
    made.close()


def do(player: UserProcess, what: str, limit_s: float = LIMIT_S, **more: object) -> Called:
    return player.call("get_questions", [{"do": what, **more}], limit_s)


def answer(player: UserProcess) -> object:
    called = player.call("get_warmup_answer", [{}], LIMIT_S)
    assert called.end is End.RETURNED, called
    assert isinstance(called.result, dict)
    return called.result["answer"]


def until_gone(pid: int) -> None:
    """The kernel kills in its own time."""
    until(lambda: not is_alive(pid), f"process {pid} is gone")


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_an_instance_keeps_its_state_between_calls(player: UserProcess) -> None:
    assert [answer(player) for _ in range(3)] == [1, 2, 3]


def test_nothing_of_the_class_is_imported_here(player: UserProcess) -> None:
    loaded = player.load()
    assert (loaded.role, loaded.source) == ("player", str(Path("mine.py").resolve()))
    assert "mine" not in sys.modules


def test_async_methods_are_run_on_one_loop(player: UserProcess) -> None:
    assert [player.call("get_guess", [{}], LIMIT_S).result for _ in range(2)] == [{"loops": 1}] * 2


DYNAMC = 'return ctx["dynamc"]'


def line_of(text: str) -> int:
    return [line.strip() for line in AGENT.splitlines()].index(text) + 1


@pytest.mark.parametrize(
    ("what", "end", "said"),
    [
        ("leave", End.DIED, f"get_questions ended its process with exit code 7 (mine.py:{line_of('os._exit(7)')})"),
        ("leave_politely", End.RAISED, f"get_questions raised SystemExit (mine.py:{line_of('sys.exit(3)')}): 3"),
        ("crash", End.DIED, f"get_questions crashed its process (SIGSEGV) (mine.py:{line_of('ctypes.string_at(0)')})"),
        ("be_killed", End.DIED, "get_questions was killed, as the system does when memory runs out"),
        ("write_there", End.DIED, "get_questions wrote where it should not, so its process was ended"),
        ("explode", End.RAISED, "get_questions raised MemoryError (mine.py:"),
        ("give_much", End.UNUSABLE, "texts with more than 4000000 characters"),
        ("fail", End.RAISED, f"get_questions raised KeyError (mine.py:{line_of(DYNAMC)}): 'dynamc'"),
    ],
)
def test_whatever_goes_wrong_is_one_failed_call_and_the_next_one_works(
    player: UserProcess, what: str, end: End, said: str
) -> None:
    answer(player)
    called = do(player, what)
    assert called.end is end
    assert said in called.in_words("get_questions", LIMIT_S)
    assert answer(player) == (1 if end is End.DIED else 2)


@pytest.mark.parametrize("what", ["leave_the_group", "flood"])
def test_a_call_cannot_keep_its_caller_by_other_means(player: UserProcess, what: str) -> None:
    answer(player)
    assert do(player, what, 2.0).end is End.TIMED_OUT
    assert answer(player) == 1


def test_the_answer_of_a_copy_is_not_taken_for_another_one(player: UserProcess) -> None:
    answer(player)
    assert do(player, "copy_itself").end is End.RETURNED
    # Both processes answered, and both may read what comes next.
    for number in range(4):
        called = player.call("get_warmup_answer", ({"number": number},), LIMIT_S)
        if called.end is not End.DIED:
            assert isinstance(called.result, dict)
            assert called.result["told"] == {"number": number}


@pytest.mark.parametrize(
    "frame",
    [
        {"end": "returned", "seconds": 10**400},
        {"end": "returned"},
        {"end": "returned", "seconds": []},
        {"end": "no end", "seconds": 1},
    ],
)
def test_an_answer_with_wrong_values_is_nonsense_and_nothing_else(frame: dict[str, object]) -> None:
    with pytest.raises(process_module._NONSENSE):
        read_called(frame)


@pytest.mark.parametrize("what", ["hang", "backtrack"])
def test_a_call_without_end_is_killed_and_says_where_it_was(player: UserProcess, what: str) -> None:
    answer(player)
    first = do(player, "look_around").result
    assert isinstance(first, dict)
    called = do(player, what, 2.0)
    assert called.end is End.TIMED_OUT
    assert not is_alive(first["pid"])
    first_line = line_of(f"def {what}(self, ctx):") + 1
    assert called.where in (f"mine.py:{first_line}", f"mine.py:{first_line + 1}")
    said = called.in_words("get_questions", 2)
    assert said == f"get_questions did not return within 2 s; it was at {called.where}"
    assert answer(player) == 1


def test_a_wait_of_many_seconds_is_told_while_it_lasts(
    player: UserProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer(player)
    monkeypatch.setattr(process_module, "SLOW_S", 0.01)
    told: list[str] = []

    def heard(record: logging.LogRecord) -> bool:
        told.append(record.getMessage())
        if len(told) == 2:
            player.kill()
        return True

    caplog.handler.addFilter(heard)
    assert do(player, "hang", 600.0).end is End.DIED
    assert all(line.startswith("mine:Player: get_questions is still running after ") for line in told)
    assert all(" s of at most 600 s" in line for line in told)


def test_it_has_the_users_environment_and_nothing_of_ours(
    player: UserProcess, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the user's own")
    secret = folder / "token.json"
    with secret.open("w", encoding="utf-8"):
        found = do(player, "look_around").result
    assert isinstance(found, dict)
    assert (found["key"], found["read"], found["arguments"]) == ("the user's own", "", ["-c"])
    kinds = sorted(name.partition(":")[0] for name in found["open"])
    assert kinds == ["pipe", "pipe", "socket"]
    assert os.getpgid(found["pid"]) == found["pid"]
    assert os.getpgrp() != found["pid"]


def test_values_that_json_does_not_know_come_through_by_their_names(player: UserProcess) -> None:
    found = do(player, "give_odd").result
    assert isinstance(found, dict)
    assert type(found["object"]).__name__ == "object"
    assert type(found["big"]).__name__ == "int"
    assert type(found["big"]) is not int
    assert (found["surrogate"], found["3"]) == ("\ud800", [1, 2])
    assert found["nan"] != found["nan"]


@pytest.mark.parametrize("then", ["", "leave"])
def test_children_of_the_agent_end_with_it(player: UserProcess, then: str) -> None:
    called = do(player, "start_child")
    assert isinstance(called.result, dict)
    pid = called.result["pid"]
    if then:
        assert do(player, "start_child", then=then).end is End.DIED
    else:
        player.close()
    until_gone(pid)


def test_no_zombie_stays_behind(player: UserProcess) -> None:
    pids = []
    for what in ("leave", "crash", "be_killed"):
        found = do(player, "look_around").result
        assert isinstance(found, dict)
        pids.append(found["pid"])
        do(player, what)
    player.close()
    assert len(set(pids)) == 3
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_process_that_nobody_holds_any_more_is_ended() -> None:
    player = UserProcess("mine:Player", ["player"])
    found = do(player, "look_around").result
    assert isinstance(found, dict)
    del player
    assert not is_alive(found["pid"])


def test_it_dies_with_a_parent_that_is_killed_whatever_it_is_doing(folder: Path) -> None:
    (folder / "parent.py").write_text(
        """\
import os, signal, sys
from league_agents.user_code.process import UserProcess

player = UserProcess("mine:Player", ["player"])
print(player.call("get_questions", [{"do": "look_around"}], 60).result["pid"], flush=True)
print(player.call("get_questions", [{"do": "start_child"}], 60).result["pid"], flush=True)
signal.setitimer(signal.ITIMER_REAL, 0.5)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
player.call("get_questions", [{"do": "backtrack"}], 600)
""",
        "utf-8",
    )
    parent = subprocess.run([sys.executable, "parent.py"], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S)
    assert parent.returncode == -signal.SIGKILL
    pids = [int(line) for line in parent.stdout.split()]
    assert len(pids) == 2
    for pid in pids:
        until_gone(pid)


def test_what_it_prints_goes_to_standard_error_and_its_exit_functions_run() -> None:
    script = "from league_agents.user_code.process import UserProcess\n"
    script += "player = UserProcess('mine:Prints', ['player'])\n"
    script += "player.call('get_questions', [{'do': 'talk'}], 60)\nplayer.close()\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT_S)
    assert (done.stdout, done.stderr) == ("", "said by the agent\nsaid at the end\n")


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int, str]]:
    return [(record.name, record.levelno, record.getMessage()) for record in caplog.records]


def test_what_it_prints_and_logs_is_logged_here_in_its_order(
    player: UserProcess, caplog: pytest.LogCaptureFixture
) -> None:
    do(player, "say")
    player.close()
    printed = process_module.SaidLines.__module__ + ".printed"
    assert told(caplog) == [
        (printed, logging.INFO, "mine:Player: printed"),
        ("mine.own", logging.WARNING, "2 of 3: \u2603"),
        (printed, logging.INFO, "mine:Player: half a line, "),
        ("mine.own", logging.ERROR, "it failed"),
        (printed, logging.INFO, "mine:Player: from the descriptor"),
        (printed, logging.INFO, "mine:Player: from a child"),
        (printed, logging.INFO, "mine:Player: last words"),
    ]
    assert "ZeroDivisionError" in (caplog.records[3].exc_text or "")


def test_the_last_words_of_a_process_come_before_its_end_is_told(
    player: UserProcess, caplog: pytest.LogCaptureFixture
) -> None:
    assert do(player, "say_and_leave").end is End.DIED
    assert [text for _, _, text in told(caplog)] == ["mine:Player: no end of line"]


def test_what_is_printed_without_the_end_of_a_line_is_told_when_the_call_ends(
    player: UserProcess, caplog: pytest.LogCaptureFixture
) -> None:
    do(player, "stream")
    until(lambda: bool(caplog.records), "the words are told")
    assert [text for _, _, text in told(caplog)] == ["mine:Player: word by word"]


def test_a_flood_of_lines_holds_nobody_up_and_is_counted(player: UserProcess, caplog: pytest.LogCaptureFixture) -> None:
    assert do(player, "print_much").end is End.RETURNED
    player.close()
    lines = [text for _, _, text in told(caplog)]
    left_out = [int(line.split("(")[1].split()[0]) for line in lines if "left out here" in line]
    printed = [line for line in lines if line.endswith("x")]
    assert len(printed) + sum(left_out) == 200_000
    assert len(printed) < 20_000
    assert max(map(len, lines)) < 20_000


def test_what_is_no_record_is_printed(player: UserProcess, caplog: pytest.LogCaptureFixture) -> None:
    do(player, "forge")
    player.close()
    assert [text for _, _, text in told(caplog)] == ['mine:Player: {"name": 3}', "mine:Player: []", "mine:Player: {"]


def test_code_that_sets_logging_up_gets_what_it_asks_for(player: UserProcess, caplog: pytest.LogCaptureFixture) -> None:
    do(player, "configure_logging")
    player.close()
    assert [text for _, _, text in told(caplog)] == ["mine:Player: INFO:mine.own:a detail"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("while True:\n    pass\n", "was not imported within 2 s"),
        (
            "import os\nos._exit(0)\n",
            "it ended its process with exit code 0 at endless.py:2; importing a file must not end the process, so",
        ),
        ("1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero, line 1 of"),
        ("import ctypes\nctypes.string_at(0)\n", "cannot be imported: it crashed its process (SIGSEGV)"),
    ],
)
def test_a_module_that_does_not_come_back_is_one_line(folder: Path, text: str, said: str) -> None:
    (folder / "endless.py").write_text(text, "utf-8")
    process = UserProcess("endless:Player", ["player"])
    with pytest.raises(ConfigError) as caught:
        process.load(2.0 if "while" in text else LIMIT_S)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_takes_its_time_is_not_imported_twice(folder: Path) -> None:
    (folder / "counting.py").write_text(f"print('imported', flush=True)\n{AGENT}", "utf-8")
    script = "from league_agents.user_code.own import OwnClass\nown = OwnClass('counting:Player', ['player'])\n"
    script += "own.try_making()\nown().call('get_warmup_answer', [{}], 60)\n"
    run = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    assert run.stderr == "imported\n"


def test_an_instance_that_cannot_be_made_is_told_before_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match=r"its constructor raised RuntimeError \(mine.py:\d+\): no licence; mend it, or try it"
    ):
        OwnClass("mine:Unmade", ["player"]).try_making()
    slow = OwnClass("mine:Slow", ["player"])
    monkeypatch.setattr("league_agents.user_code.own.LOAD_LIMIT_S", 1.0)
    with pytest.raises(ConfigError, match=r"its constructor did not return within 1 s.*; mend it"):
        slow.try_making()


def test_a_constructor_that_ends_the_process_is_blamed_and_not_the_method() -> None:
    player = UserProcess("mine:Leaves", ["player"])
    called = player.call("get_guess", [{}], LIMIT_S)
    place = f"mine.py:{line_of('os._exit(3)')}"
    said = f"the agent could not be made: its constructor ended its process with exit code 3 ({place})"
    assert called.in_words("get_guess", LIMIT_S) == said
    slow = UserProcess("mine:Slow", ["player"]).call("get_guess", [{}], 2.0)
    assert slow.end is End.NOT_MADE
    assert slow.error.startswith("its constructor did not return within 2 s (mine.py:")


def test_a_process_that_is_started_often_is_watched_once(player: UserProcess) -> None:
    watched = []
    for _ in range(3):
        do(player, "leave")
        answer(player)
        watched.append(sum(each.alive for each in _finalizers(player)))
    assert watched == [1, 1, 1]


def _finalizers(player: UserProcess) -> list[weakref.finalize[..., UserProcess]]:
    registered: dict[weakref.finalize[..., UserProcess], object] = weakref.finalize._registry  # type: ignore[attr-defined]
    return [each for each in registered if (alive := each.peek()) is not None and alive[0] is player]


def test_it_ends_when_its_parent_is_gone_before_it_listens() -> None:
    ours, theirs = socket.socketpair()
    lifeline, parents_end = os.pipe()
    os.close(parents_end)
    _, trace = os.pipe()
    passed = (theirs.fileno(), lifeline, trace)
    command = [sys.executable, "-c", process_module._BOOT, *map(str, passed), str(10**9), *sys.path]
    child = subprocess.Popen(command, pass_fds=passed, process_group=0, stdin=subprocess.DEVNULL)
    assert child.wait(LIMIT_S) == -signal.SIGKILL
    ours.close()
    theirs.close()


def test_a_class_that_is_gone_fails_its_call_and_not_the_match(folder: Path) -> None:
    # Other tests leave folders with a module mine in the path.
    (folder / "mine.py").rename(folder / "soon_gone.py")
    player = UserProcess("soon_gone:Player", ["player"])
    answer(player)
    (folder / "soon_gone.py").unlink()
    do(player, "leave")
    called = player.call("get_warmup_answer", [{}], LIMIT_S)
    assert called.end is End.NOT_MADE
    assert "there is no module soon_gone" in called.in_words("get_warmup_answer", LIMIT_S)
