"""User code may do anything: what comes back is always an outcome, in time, and no instance is called twice at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.journal.port import PendingCall
from league_agents.kit.clock import ManualClock
from league_agents.league.machines.events import CallbackFailed, CallbackReturned, Failure
from league_agents.local_league.patience import LIMIT_S
from league_agents.runner.calls import AgentHost, InlineHost, Outcome
from league_agents.runner.workers import Workers
from league_agents.user_code.instances import here
from league_agents.user_code.process import UserProcess

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)


def call(number: int, callback: str = "get_answers", *, game: str = "0101001", timeout_s: float = 30) -> PendingCall:
    return PendingCall(
        call_id=f"c{number}",
        callback=callback,
        context={"dynamic": {"number": number}, "service": {}},
        timeout=timedelta(seconds=timeout_s),
        game_id=game,
    )


class Polite:
    """Counts what it was asked."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.asked = 0

    def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
        self.asked += 1
        return {"asked": self.asked}

    def on_score_received(self, ctx: Mapping[str, object]) -> None:
        self.asked += 1


def hosts(factory: type, *, one_game_each: bool = False) -> Sequence[AgentHost]:
    return [
        InlineHost(factory, ManualClock(NOON), one_game_each=one_game_each),
        Workers(here(factory), one_game_each=one_game_each, waits=True),
    ]


def ask(host: AgentHost, *calls: PendingCall) -> Sequence[Outcome]:
    for each in calls:
        host.submit(each)
    return host.collect()


def test_outcomes_come_in_the_order_of_the_calls() -> None:
    for host in hosts(Polite):
        outcomes = ask(host, *(call(number) for number in range(5)))
        assert outcomes == [CallbackReturned(call_id=f"c{n}", result={"asked": n + 1}) for n in range(5)]
        assert list(host.collect()) == []
        host.close()


def test_the_callback_that_gives_nothing_back_may_return_none() -> None:
    for host in hosts(Polite):
        assert ask(host, call(1, "on_score_received")) == [CallbackReturned(call_id="c1", result={})]
        host.close()


@pytest.mark.parametrize("error", [RuntimeError("no\nluck"), SystemExit(1), RecursionError(), MemoryError()])
def test_whatever_user_code_raises_becomes_one_line(error: BaseException) -> None:
    class Raising:
        def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            raise error

    for host in hosts(Raising):
        (outcome,) = ask(host, call(1))
        assert isinstance(outcome, CallbackFailed)
        assert outcome.failure is Failure.RAISED
        assert type(error).__name__ in outcome.detail
        assert "\n" not in outcome.detail
        host.close()


def test_user_code_on_its_own_thread_cannot_pretend_to_be_a_person_at_the_keyboard() -> None:
    class Pretending:
        def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            raise KeyboardInterrupt

    host = hosts(Pretending)[1]
    outcomes = ask(host, call(1), call(2))
    assert [type(outcome) for outcome in outcomes] == [CallbackFailed, CallbackFailed]
    host.close()


@pytest.mark.parametrize("value", [None, 7, "text", ["list"], float("nan")])
def test_a_result_that_is_no_dict_is_named(value: object) -> None:
    class Odd:
        def get_answers(self, ctx: Mapping[str, object]) -> object:
            return value

    for host in hosts(Odd):
        (outcome,) = ask(host, call(1))
        assert isinstance(outcome, CallbackFailed)
        assert outcome.failure is Failure.NOT_A_DICT
        host.close()


def test_a_result_that_is_too_large_was_returned_and_not_raised() -> None:
    class Huge:
        def get_answers(self, ctx: Mapping[str, object]) -> object:
            return {"answers": ["x"] * 50_000}

    host = hosts(Huge)[1]
    (outcome,) = ask(host, call(1))
    assert isinstance(outcome, CallbackFailed)
    assert (outcome.failure, outcome.detail) == (Failure.UNUSABLE, "get_answers returned more than 20000 values")
    host.close()


def test_a_missing_method_fails_the_call_and_not_the_process() -> None:
    for host in hosts(Polite):
        (outcome,) = ask(host, call(1, "get_round_start_info"))
        assert isinstance(outcome, CallbackFailed)
        assert "get_round_start_info" in outcome.detail
        host.close()


def test_an_object_that_cannot_be_shown_is_still_told_of() -> None:
    class Unshowable:
        def __repr__(self) -> str:
            raise ValueError("no")

    class Odd:
        def get_answers(self, ctx: Mapping[str, object]) -> object:
            return Unshowable()

    (outcome,) = ask(hosts(Odd)[1], call(1))
    assert isinstance(outcome, CallbackFailed)
    assert "Unshowable" in outcome.detail


def test_a_constructor_that_raises_fails_each_call() -> None:
    class Broken:
        def __init__(self) -> None:
            raise OSError("no model file")

    host = Workers(here(Broken), one_game_each=False, waits=True)
    outcomes = ask(host, call(1), call(2))
    assert [type(outcome) for outcome in outcomes] == [CallbackFailed, CallbackFailed]
    assert all("no model file" in outcome.detail for outcome in outcomes if isinstance(outcome, CallbackFailed))
    host.close()


def test_a_hung_callback_times_out_and_the_next_call_gets_a_new_instance() -> None:
    release = threading.Event()
    made: list[object] = []

    class Hanging:
        def __init__(self) -> None:
            made.append(self)

        def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            if self is made[0]:
                release.wait(timeout=LIMIT_S)
            return {"instance": made.index(self)}

    host = Workers(here(Hanging), one_game_each=False, waits=True)
    outcomes = ask(host, call(1, timeout_s=0.05), call(2, timeout_s=30))
    assert [type(outcome) for outcome in outcomes] == [CallbackFailed, CallbackReturned]
    assert isinstance(outcomes[0], CallbackFailed)
    assert outcomes[0].failure is Failure.TIMED_OUT
    assert outcomes[1] == CallbackReturned(call_id="c2", result={"instance": 1})
    # The late result of the first call reaches nobody.
    release.set()
    assert ask(host, call(3)) == [CallbackReturned(call_id="c3", result={"instance": 1})]
    host.close()


def test_calls_of_one_instance_never_overlap_and_those_of_two_may() -> None:
    both_inside = threading.Barrier(2)
    inside: dict[int, int] = {}
    overlaps: list[int] = []

    class Watched:
        def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            inside[id(self)] = inside.get(id(self), 0) + 1
            if inside[id(self)] > 1:
                overlaps.append(id(self))
            both_inside.wait(timeout=LIMIT_S)
            inside[id(self)] -= 1
            return {}

    host = Workers(here(Watched), one_game_each=True, waits=True)
    calls = [call(number, game=f"010100{number % 2}") for number in range(6)]
    outcomes = ask(host, *calls)
    assert [type(outcome) for outcome in outcomes] == [CallbackReturned] * 6
    assert overlaps == []
    assert len(inside) == 2
    host.close()


def test_a_released_instance_serves_the_next_game() -> None:
    for make in (
        lambda: InlineHost(Polite, ManualClock(NOON), one_game_each=True),
        lambda: Workers(here(Polite), one_game_each=True, waits=True),
    ):
        Polite.made = 0
        host = make()
        ask(host, call(1, game="0101001"))
        host.release("0101001")
        assert ask(host, call(2, game="0102001")) == [CallbackReturned(call_id="c2", result={"asked": 2})]
        assert ask(host, call(3, game="0102002")) == [CallbackReturned(call_id="c3", result={"asked": 1})]
        assert Polite.made == 2
        host.close()


class Slow:
    """Takes a minute of simulated time."""

    def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
        return {"late": True}

    def simulated_latency(self, callback: str) -> timedelta:
        return timedelta(minutes=1)


def test_simulated_latency_lets_the_result_come_when_its_time_has_come() -> None:
    clock = ManualClock(NOON)
    host = InlineHost(Slow, clock, one_game_each=False)
    assert list(ask(host, call(1, timeout_s=90))) == []
    assert host.next_wake() == NOON + timedelta(minutes=1)
    clock.sleep(timedelta(minutes=1))
    assert host.collect() == [CallbackReturned(call_id="c1", result={"late": True})]


def test_simulated_latency_beyond_the_limit_is_a_timeout_at_the_limit() -> None:
    clock = ManualClock(NOON)
    host = InlineHost(Slow, clock, one_game_each=False)
    ask(host, call(1, timeout_s=30))
    assert host.next_wake() == NOON + timedelta(seconds=30)
    clock.sleep(timedelta(seconds=30))
    (outcome,) = host.collect()
    assert isinstance(outcome, CallbackFailed)
    assert outcome.failure is Failure.TIMED_OUT


def test_without_waiting_a_running_call_does_not_hold_up_the_caller() -> None:
    release = threading.Event()
    began = threading.Event()

    class Patient:
        def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            began.set()
            release.wait(timeout=LIMIT_S)
            return {}

    host = Workers(here(Patient), one_game_each=False)
    assert list(ask(host, call(1))) == []
    assert began.wait(timeout=LIMIT_S)
    assert list(host.collect()) == []
    release.set()
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = list(host.collect())
    assert outcomes == [CallbackReturned(call_id="c1", result={})]
    host.close()


AGENT = """
class Hopeless:
    def get_answers(self, ctx):
        return self.look_up(ctx)

    def look_up(self, ctx):
        return ctx["dynamc"]

    def get_guess(self, ctx):
        import json
        return json.loads("{")


class Unmade:
    def __init__(self):
        self.key = {}["KEY"]
"""


@pytest.fixture
def users_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, type]:
    place = tmp_path / "my_player.py"
    place.write_text(AGENT, "utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, type] = {}
    exec(compile(AGENT, str(place), "exec"), names)
    return names


def test_a_failure_names_the_line_of_the_users_code(users_code: dict[str, type]) -> None:
    for host in hosts(users_code["Hopeless"]):
        raised, within_a_library = ask(host, call(1), call(2, "get_guess"))
        assert isinstance(raised, CallbackFailed)
        assert raised.detail == "get_answers raised KeyError (my_player.py:7): 'dynamc'"
        assert isinstance(within_a_library, CallbackFailed)
        assert "raised JSONDecodeError (my_player.py:11): Expecting" in within_a_library.detail
        host.close()


def test_an_agent_that_cannot_be_made_says_where(users_code: dict[str, type]) -> None:
    host = Workers(here(users_code["Unmade"]), one_game_each=False, waits=True)
    (failed,) = ask(host, call(1))
    assert isinstance(failed, CallbackFailed)
    assert failed.detail == "the agent could not be made: its constructor raised KeyError (my_player.py:16): 'KEY'"
    host.close()


def test_code_that_is_in_no_file_has_no_place() -> None:
    names: dict[str, type] = {}
    exec(compile(AGENT, "no such file\n", "exec"), names)
    (failed,) = ask(Workers(here(names["Hopeless"]), one_game_each=False, waits=True), call(1))
    assert isinstance(failed, CallbackFailed)
    assert failed.detail == "get_answers raised KeyError: 'dynamc'"


OWN = """
import os, time

class Player:
    def __init__(self):
        self.asked = 0

    def get_answers(self, ctx):
        number = ctx["dynamic"]["number"]
        self.asked += 1
        if number == 3:
            os._exit(5)
        if number == 4:
            while True:
                pass
        if number == 6:
            return ["list"]
        return {"asked": self.asked, "pid": os.getpid()}

    async def on_score_received(self, ctx):
        return "thrown away"

    get_warmup_question = get_round_start_info = get_score_feedback = get_answers
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], UserProcess]:
    (tmp_path / "own_referee.py").write_text(OWN, "utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda: UserProcess("own_referee:Player", ["referee"])


def test_agents_in_processes_answer_in_order_and_one_that_ends_or_hangs_is_replaced(
    own: Callable[[], UserProcess],
) -> None:
    host = Workers(own, one_game_each=False, waits=True)
    calls = [call(number, timeout_s=2.0 if number == 4 else LIMIT_S) for number in range(1, 7)]
    one, two, left, hung, again, odd = ask(host, *calls, call(7, "on_score_received"))[:6]
    assert isinstance(one, CallbackReturned)
    assert isinstance(two, CallbackReturned)
    assert (one.result["asked"], two.result) == (1, {"asked": 2, "pid": one.result["pid"]})
    assert isinstance(left, CallbackFailed)
    assert (left.failure, left.detail) == (
        Failure.DIED,
        "get_answers ended its process with exit code 5 (own_referee.py:12)",
    )
    assert isinstance(hung, CallbackFailed)
    assert hung.failure is Failure.TIMED_OUT
    assert isinstance(again, CallbackReturned)
    assert again.result["asked"] == 1
    assert isinstance(odd, CallbackFailed)
    assert (odd.failure, odd.detail) == (Failure.NOT_A_DICT, "get_answers returned list of 1, not a dict")
    host.close()


def test_each_game_has_a_process_of_its_own_where_instances_serve_one_at_a_time(
    own: Callable[[], UserProcess],
) -> None:
    host = Workers(own, one_game_each=True, waits=True)
    found = ask(host, call(1, game="0101001"), call(2, game="0101002"))
    pids = [outcome.result["pid"] for outcome in found if isinstance(outcome, CallbackReturned)]
    assert len(set(pids)) == 2
    host.release("0101001")
    (third,) = ask(host, call(5, game="0102001"))
    assert isinstance(third, CallbackReturned)
    assert third.result == {"asked": 2, "pid": pids[0]}
    host.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids), "not even as zombies"


def test_a_host_that_is_closed_waits_for_no_agent(own: Callable[[], UserProcess]) -> None:
    told = threading.Event()
    host = Workers(own, one_game_each=False, notify=told.set)
    host.submit(call(1, timeout_s=LIMIT_S))
    assert told.wait(timeout=LIMIT_S)
    (first,) = host.collect()
    host.submit(call(4, timeout_s=600))
    host.close()
    assert isinstance(first, CallbackReturned)
    assert not Path(f"/proc/{first.result['pid']}").exists()


def test_async_callbacks_are_run_in_this_process_too() -> None:
    class Player:
        async def get_answers(self, ctx: Mapping[str, object]) -> Mapping[str, object]:
            return {"asked": 1}

    host = Workers(here(Player), one_game_each=False, waits=True)
    assert ask(host, call(1), call(2)) == [CallbackReturned(call_id=f"c{n}", result={"asked": 1}) for n in (1, 2)]
    host.close()
