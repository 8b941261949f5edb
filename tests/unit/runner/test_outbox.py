"""A message that may have been sent is looked for until no send can be under way, and only then goes again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import Journal, OutboxItem, OutboxState, StepCause, StepCommit
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import MailboxUnavailable, MailError, QuotaExhausted
from league_agents.league.machines.manager.broadcasts import EVERYBODY
from league_agents.mail.port import LONGEST_SEND, AmbiguousSend, OutgoingMail
from league_agents.runner.outbox import (
    LATENESS_COUNTS_FOR,
    LONGEST_DOUBT,
    SEND_FOR,
    SHOWS_UP,
    UNDER_WAY,
    Flushed,
    Outbox,
)

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
ME, OTHER = "me@league.test", "other@league.test"
NEVER = float("inf")
LONGEST_S = LONGEST_SEND.total_seconds()
DOUBT_S = (UNDER_WAY + SHOWS_UP).total_seconds()


class MachineOfTest(ManualClock):
    """A clock whose wall somebody sets."""

    wall_is_ahead = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.wall_is_ahead


class Killed(BaseException):
    """The process dies here."""


class SlowService:
    """A mail service that goes on with a send whose client has left it."""

    address = ME

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.latency_s: dict[str, list[float]] = {}
        """Of each attempt with a message; 0 for those that are not named."""

        self.kills_after_s: dict[str, list[float | None]] = {}
        self.refuses: list[MailError] = []
        self.looks_fail = False
        self.posts: list[tuple[str, float]] = []
        self.looks: list[float] = []
        self._taken_s: dict[str, list[float]] = {}

    def send(self, mail: OutgoingMail) -> None:
        if self.refuses:
            raise self.refuses.pop(0)
        key = mail.transaction_id
        attempt = sum(posted == key for posted, _ in self.posts)
        latency_s = next(iter(self.latency_s.get(key, [])[attempt:]), 0.0)
        kill_s = next(iter(self.kills_after_s.get(key, [])[attempt:]), None)
        now_s = self._clock.monotonic_s()
        self.posts.append((key, now_s))
        if latency_s != NEVER:
            self._taken_s.setdefault(key, []).append(now_s + latency_s)
        if kill_s is not None and kill_s <= min(latency_s, LONGEST_S):
            self._clock.sleep(timedelta(seconds=kill_s))
            raise Killed
        self._clock.sleep(timedelta(seconds=min(latency_s, LONGEST_S)))
        if latency_s > LONGEST_S:
            raise AmbiguousSend

    def was_sent(self, transaction_id: str) -> bool:
        now_s = self._clock.monotonic_s()
        self.looks.append(now_s)
        if self.looks_fail:
            raise MailboxUnavailable("not now")
        return any(at_s <= now_s for at_s in self._taken_s.get(transaction_id, []))

    def taken(self) -> Counter[str]:
        """How often each message was taken in the end."""
        return Counter({key: len(instants) for key, instants in self._taken_s.items()})


def item(key: str, game_id: str | None = None) -> OutboxItem:
    """A message; one whose key begins so is a broadcast."""
    return OutboxItem(
        transaction_id=key,
        message_type="HEARTBEAT",
        to=(OTHER,),
        subject="s",
        document={"recipient_id": EVERYBODY} if key.startswith("broadcast") else {},
        file_name="payload.json",
        game_id=game_id,
        created_at=NOON,
    )


class World:
    def __init__(self, path: Path | None = None) -> None:
        self.clock = MachineOfTest(NOON)
        self.service = SlowService(self.clock)
        self.path = path
        self.journal: Journal = self._open()
        self.outbox = self._outbox()
        self.notes: list[Mapping[str, object]] = []
        self.late: list[tuple[str, timedelta, OutboxState]] = []
        """Messages that were told to have left late, by how much, and what the journal said of them then."""

    def _open(self) -> Journal:
        if self.path is None:
            return MemoryJournal(dump=lambda _name, part: json.dumps(part))
        return SqliteJournal(self.path, role="player", address=ME, dump=lambda _name, part: json.dumps(part))

    def _outbox(self) -> Outbox:
        return Outbox(
            self.service,  # type: ignore[arg-type]
            self.journal,
            self.clock,
            keeps_order=LEAGUE_MAIL.keeps_order,
            on_late=self._hear_late,
        )

    def _hear_late(self, item: OutboxItem, by: timedelta) -> None:
        self.late.append((item.transaction_id, by, self.states()[item.transaction_id]))

    def queue(self, *keys: str) -> None:
        step = StepCommit(
            cause=StepCause.COMMAND, key=f"queue {keys}", at=self.clock.now(), sends=[item(key) for key in keys]
        )
        assert self.journal.commit(step)

    def flush(self) -> Flushed | None:
        """A flush; ``None`` if the process died in it and was started again."""
        try:
            flushed = self.outbox.flush()
        except Killed:
            self.restart()
            return None
        self.notes += [{"code": note.key, **note.facts} for note in flushed.notes]
        return flushed

    def restart(self) -> None:
        if self.path is not None:
            self.journal.close()
            self.journal = self._open()
        self.outbox = self._outbox()

    def states(self) -> dict[str, OutboxState]:
        return {each.transaction_id: each.state for each in self.journal.outbox()}

    def run_out(self) -> None:
        """Flush until nothing is left to be sent, letting the time pass that is waited for."""
        for _ in range(1_000):
            flushed = self.flush()
            if flushed is None or flushed.tried:
                continue
            wakes = [at for at in (self.outbox.next_look(), self.journal.next_wake()) if at is not None]
            if not wakes:
                return
            self.clock.sleep(min(wakes) - self.clock.now())
        raise AssertionError("it never ends")


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return World(tmp_path / "journal.db" if request.param == "sqlite" else None)


LATENCIES_S = [0.0, 1.5, 8.0, 19.9, 20.0, 20.1, 35.0, 55.0, 60.0, LONGEST_S + 60.0]


@pytest.mark.parametrize("latency_s", LATENCIES_S)
def test_a_send_that_outlives_its_client_is_made_once(world: World, latency_s: float) -> None:
    world.service.latency_s["t"] = [latency_s]
    world.queue("t")
    world.run_out()
    assert world.service.taken() == {"t": 1}
    assert world.states() == {"t": OutboxState.SENT}


@pytest.mark.parametrize("latency_s", LATENCIES_S[:-1])
@pytest.mark.parametrize("killed_after_s", [0.0, 0.7, 15.0])
def test_a_send_in_the_middle_of_which_the_process_is_killed_is_made_once(
    world: World, latency_s: float, killed_after_s: float
) -> None:
    world.service.latency_s["t"] = [latency_s]
    world.service.kills_after_s["t"] = [killed_after_s]
    world.queue("t")
    world.run_out()
    assert world.service.taken() == {"t": 1}
    assert world.states() == {"t": OutboxState.SENT}


def test_killed_again_and_again_it_is_sent_once(world: World) -> None:
    world.service.latency_s["t"] = [NEVER, NEVER, 40.0]
    world.service.kills_after_s["t"] = [1.0, 2.0, 3.0]
    world.queue("t")
    for _ in range(30):
        world.flush()
        world.clock.sleep(timedelta(seconds=20))
        world.restart()
    assert world.service.taken() == {"t": 1}
    assert len(world.service.posts) == 3
    assert world.states() == {"t": OutboxState.SENT}


def test_one_that_never_arrived_goes_again_when_no_send_can_be_under_way(world: World) -> None:
    world.service.latency_s["t"] = [NEVER]
    world.queue("t")
    world.run_out()
    (_, first_s), (_, second_s) = world.service.posts
    assert second_s - first_s == pytest.approx(LONGEST_S + DOUBT_S, abs=0.1)
    pauses = [after - before for before, after in zip(world.service.looks, world.service.looks[1:], strict=False)]
    assert pauses[0] < pauses[1] < pauses[2]
    assert len(world.service.looks) < 12
    assert world.service.looks[-1] - first_s >= LONGEST_S + DOUBT_S
    assert [note["code"] for note in world.notes] == ["send_in_doubt"]


def test_what_was_left_long_ago_goes_again_after_one_look(world: World) -> None:
    world.service.latency_s["t"] = [NEVER]
    world.service.kills_after_s["t"] = [1.0]
    world.queue("t")
    world.flush()
    world.clock.sleep(timedelta(hours=1))
    world.restart()
    world.flush()
    assert len(world.service.looks) == 1
    assert len(world.service.posts) == 2


def test_another_attempt_is_in_doubt_as_the_first_was(world: World) -> None:
    world.service.latency_s["t"] = [NEVER, 55.0]
    world.queue("t")
    world.run_out()
    assert len(world.service.posts) == 2
    assert world.service.taken() == {"t": 1}


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1), timedelta(days=400)])
@pytest.mark.parametrize("latency_s", [45.0, NEVER])
def test_a_wall_clock_that_is_set_shortens_and_lengthens_nothing(
    world: World, jump: timedelta, latency_s: float
) -> None:
    world.service.latency_s["t"] = [latency_s]
    world.queue("t")
    world.flush()
    world.clock.wall_is_ahead = jump
    world.run_out()
    assert world.service.taken() == {"t": 1}
    assert world.clock.monotonic_s() - world.service.posts[0][1] < LONGEST_S + DOUBT_S + 1


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1), timedelta(days=400)])
def test_a_wall_clock_that_is_set_while_the_process_is_down_shortens_and_lengthens_nothing(
    world: World, jump: timedelta
) -> None:
    world.service.latency_s["t"] = [58.0, NEVER]
    world.service.kills_after_s["t"] = [0.5]
    world.queue("t")
    world.flush()
    world.clock.wall_is_ahead = jump
    world.run_out()
    assert world.service.taken() == {"t": 1}
    assert world.clock.monotonic_s() - world.service.posts[0][1] < DOUBT_S + 1


def test_a_journal_that_was_moved_to_a_machine_that_runs_for_longer_is_waited_for(tmp_path: Path) -> None:
    here = World(tmp_path / "journal.db")
    here.service.latency_s["t"] = [58.0]
    here.service.kills_after_s["t"] = [0.5]
    here.queue("t")
    here.flush()
    item = here.journal.sends_in_doubt()[0]
    assert here.journal.begin_send(item, at=here.clock.now(), monotonic_s=here.clock.monotonic_s() - 10_000) is not None
    here.restart()
    here.run_out()
    assert here.service.taken() == {"t": 1}


def test_what_leaves_late_is_told_before_the_journal_takes_it_for_sent(world: World) -> None:
    world.service.latency_s["t"] = [NEVER]
    world.service.kills_after_s["t"] = [0.5]
    world.queue("t", "u")
    world.flush()
    assert world.late == []
    world.run_out()
    assert [(key, state) for key, _, state in world.late] == [("t", OutboxState.SENDING)]
    ((_, by, _),) = world.late
    assert by == world.clock.now() - NOON > UNDER_WAY


def test_other_messages_go_on_while_one_is_looked_for(world: World) -> None:
    world.service.latency_s["t"] = [NEVER]
    world.service.kills_after_s["t"] = [0.5]
    world.queue("t")
    world.flush()
    world.queue("u", "v")
    before_s = world.clock.monotonic_s()
    flushed = world.flush()
    assert flushed is not None
    assert [sent.transaction_id for sent in flushed.accepted] == ["u", "v"]
    assert world.clock.monotonic_s() == before_s
    assert world.states() == {"t": OutboxState.AMBIGUOUS, "u": OutboxState.SENT, "v": OutboxState.SENT}


def test_a_broadcast_waits_for_an_earlier_one_that_is_looked_for(world: World) -> None:
    world.service.latency_s["broadcast of the table"] = [NEVER]
    world.service.kills_after_s["broadcast of the table"] = [0.5]
    world.queue("broadcast of the table")
    world.flush()
    world.queue("broadcast of the round", "reply")
    world.run_out()
    assert [key for key, _ in world.service.posts] == [
        "broadcast of the table", "reply", "broadcast of the table", "broadcast of the round",
    ]  # fmt: skip


def test_a_broadcast_waits_for_an_earlier_one_that_was_put_off(world: World) -> None:
    world.service.refuses = [MailboxUnavailable("later", retry_after=timedelta(seconds=30))]
    world.queue("broadcast of the table")
    world.flush()
    world.queue("broadcast of the round", "reply")
    world.restart()
    world.run_out()
    assert [key for key, _ in world.service.posts] == ["reply", "broadcast of the table", "broadcast of the round"]


def test_after_a_send_that_took_too_long_new_mail_is_looked_at_before_the_next_one(world: World) -> None:
    world.service.latency_s = {"t": [NEVER], "u": [NEVER]}
    world.queue("t", "u")
    flushed = world.flush()
    assert flushed is not None
    assert world.outbox.is_due(None)
    assert [key for key, _ in world.service.posts] == ["t"]


def test_new_mail_is_looked_at_between_many_messages_of_a_slow_service_and_not_of_a_fast_one(world: World) -> None:
    slow, fast = [f"t{number}" for number in range(30)], [f"u{number}" for number in range(100)]
    world.service.latency_s = {key: [0.5] for key in slow}
    world.queue(*slow)
    began_s = world.clock.monotonic_s()
    world.flush()
    assert world.clock.monotonic_s() - began_s == SEND_FOR.total_seconds()
    assert world.outbox.is_due(None)
    world.run_out()
    world.queue(*fast)
    flushed = world.flush()
    assert flushed is not None
    assert [sent.transaction_id for sent in flushed.accepted] == fast
    assert world.service.taken() == dict.fromkeys([*slow, *fast], 1)


def test_a_flush_looks_for_a_few_messages_only(world: World) -> None:
    keys = [f"t{number}" for number in range(10)]
    world.service.latency_s = {key: [NEVER] for key in keys}
    world.queue(*keys)
    while len(world.service.posts) < len(keys):
        world.flush()
    world.service.looks.clear()
    world.clock.sleep(timedelta(seconds=15))
    world.flush()
    assert 0 < len(world.service.looks) <= 3
    world.run_out()
    assert world.service.taken() == dict.fromkeys(keys, 1)


def test_a_mailbox_that_cannot_be_searched_sends_nothing_again(world: World) -> None:
    world.service.latency_s["t"] = [55.0]
    world.queue("t")
    world.flush()
    world.service.looks_fail = True
    for _ in range(100):
        world.flush()
        world.clock.sleep(timedelta(seconds=10))
    assert len(world.service.posts) == 1
    assert len(world.service.looks) < 40
    world.service.looks_fail = False
    world.run_out()
    assert world.service.taken() == {"t": 1}


def test_what_is_refused_when_it_goes_again_is_looked_for_before_each_later_attempt(world: World) -> None:
    world.service.latency_s["t"] = [NEVER]
    world.queue("t")
    world.flush()
    resets_at = world.clock.now() + timedelta(hours=2)
    world.service.refuses = [
        MailboxUnavailable("later", retry_after=timedelta(seconds=30)),
        QuotaExhausted("tomorrow", resets_at=resets_at),
    ]
    world.run_out()
    assert world.service.taken() == {"t": 1}
    assert world.service.posts[1][1] >= (resets_at - NOON).total_seconds() + world.service.posts[0][1]
    assert [note["code"] for note in world.notes] == ["send_in_doubt", "send_postponed"]


def test_a_service_that_says_that_it_failed_is_not_waited_for_as_long() -> None:
    world = World()
    world.queue("t")
    world.service.refuses = [AmbiguousSend("503", was_answered=True)]
    before_s = world.clock.monotonic_s()
    world.run_out()
    assert len(world.service.posts) == 1
    assert world.service.posts[0][1] - before_s == pytest.approx(SHOWS_UP.total_seconds(), abs=0.1)


def test_mails_that_show_up_late_make_the_next_ones_be_waited_for_longer(world: World) -> None:
    world.service.latency_s = {"t": [LONGEST_S + 70.0], "u": [LONGEST_S + 130.0], "v": [NEVER]}
    for key in ("t", "u"):
        world.queue(key)
        world.run_out()
        world.restart()
    assert world.service.taken() == {"t": 1, "u": 1}
    before_s = world.clock.monotonic_s()
    world.queue("v")
    world.run_out()
    assert 2 * 130.0 < world.service.posts[-1][1] - before_s < LONGEST_DOUBT.total_seconds()
    world.clock.sleep(LATENESS_COUNTS_FOR)
    world.service.latency_s["w"] = [NEVER]
    before_s = world.clock.monotonic_s()
    world.queue("w")
    world.run_out()
    assert world.service.posts[-1][1] - before_s == pytest.approx(LONGEST_S + DOUBT_S, abs=0.1)


def test_a_failure_that_nobody_foresaw_is_a_doubt_and_at_last_for_a_person(world: World) -> None:
    world.queue("t")
    world.service.refuses = [ZeroDivisionError("a bug")] * 10  # type: ignore[list-item]
    world.run_out()
    assert world.states() == {"t": OutboxState.FAILED}
    assert len(world.service.refuses) == 5
    assert world.service.taken() == {}


def pauses_after(world: World, *errors: MailError) -> list[float]:
    """Seconds from each failed attempt to the next one."""
    world.queue("a")
    world.service.refuses = list(errors)
    pauses = []
    while world.service.refuses:
        world.flush()
        failed_at = world.clock.now()
        (waiting,) = world.journal.outbox()
        assert waiting.not_before is not None
        pauses.append((waiting.not_before - failed_at).total_seconds())
        world.clock.sleep(waiting.not_before - failed_at - timedelta(milliseconds=1))
        world.flush()
        assert len(world.service.refuses) == len(errors) - len(pauses), "not a moment before"
        world.clock.sleep(timedelta(milliseconds=1))
    world.flush()
    assert world.states() == {"a": OutboxState.SENT}
    return pauses


def test_a_failed_send_is_tried_again_after_pauses_that_double_up_to_a_minute() -> None:
    pauses = pauses_after(World(), *[MailboxUnavailable("busy")] * 9)
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 64, 64]


def test_a_service_that_names_a_longer_pause_is_left_alone_for_it_and_no_shorter_one_counts() -> None:
    errors = [MailboxUnavailable("busy", retry_after=timedelta(seconds=seconds)) for seconds in (30, 1, 0.5, 100)]
    assert pauses_after(World(), *errors) == [30, 2, 4, 100]


def test_a_spent_quota_is_waited_for_until_it_returns() -> None:
    back_at = NOON + timedelta(hours=3)
    pauses = pauses_after(World(), QuotaExhausted("spent", resets_at=back_at), QuotaExhausted("spent", resets_at=NOON))
    assert pauses == [3 * 3600, 0]


def test_many_broadcasts_are_sent_in_their_order_without_reading_all_of_them_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    reads = 0

    def due_sends(now: datetime, limit: int) -> list[OutboxItem]:
        nonlocal reads
        found = MemoryJournal.due_sends(world.journal, now, limit)  # type: ignore[arg-type]
        reads += len(found)
        return found

    monkeypatch.setattr(world.journal, "due_sends", due_sends)
    keys = [f"broadcast-{number:03d}" for number in range(60)]
    world.queue(*keys)
    flushed = world.flush()
    assert flushed is not None
    assert [each.transaction_id for each in flushed.accepted] == keys
    assert reads < 4 * len(keys)
