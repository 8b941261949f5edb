"""The runner loses nothing and sends nothing twice, whatever line the process dies at.

The machine of these tests answers every free text: it asks its agent for a word, and sends that word back.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import (
    MODEL_WORK,
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    Order,
    OutboxItem,
    OutboxState,
    PendingCall,
)
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import JournalError, MailboxUnavailable, QuotaExhausted, RemoteProtocolError
from league_agents.kit.ids import GameId
from league_agents.kit.model_work import KEY, ModelStep, ModelWorkUse, Why
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Call, Effect, Send, SetDeadline, Warn
from league_agents.league.machines.events import (
    CallbackFailed,
    CallbackReturned,
    Command,
    DeadlinePassed,
    Event,
    MessageArrived,
    OperatorCommand,
    SentLate,
)
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import FreeText, FreeTextReply, WarmupCall
from league_agents.league.wire.subject import format_subject
from league_agents.mail.memory import MemoryMailbox, PostOffice
from league_agents.mail.port import AmbiguousSend, Mail, Mailbox, OutgoingMail, Stopping
from league_agents.report.models import steps_of
from league_agents.runner.calls import InlineHost
from league_agents.runner.role import RoleRunner

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
GAME = GameId("0101001")
OFFICE = "office@league.test"
PLAYER = "player@league.test"


@dataclass(frozen=True, slots=True)
class Echoes:
    waiting: tuple[str, ...] = ()
    """Ids of the messages to be answered."""

    answered: int = 0


@dataclass(frozen=True, slots=True)
class EchoMachine:
    role: str = "player"

    def initial(self) -> Echoes:
        return Echoes()

    def step(self, state: Echoes, event: Event, now: datetime) -> tuple[Echoes, Sequence[Effect]]:
        match event:
            case MessageArrived(envelope=envelope) if isinstance(envelope.payload, FreeText):
                text, key = envelope.payload.message_text, envelope.message_id
                if text == "unusable":
                    raise RemoteProtocolError("the text cannot be used")
                if text == "bug":
                    raise ZeroDivisionError("a bug of the machine")
                call = Call(
                    call_id=key,
                    callback="get_warmup_answer",
                    context={"dynamic": {"text": text}, "service": {}},
                    timeout=timedelta(seconds=20),
                    game_id="0101001",
                )
                return evolve(state, waiting=(*state.waiting, key)), [call]
            case CallbackReturned(call_id=call_id, result=result):
                word = str(result["answer"])
            case CallbackFailed(call_id=call_id, detail=word):
                pass
            case DeadlinePassed(name=name):
                return state, [Warn(code="woken", text=name)]
            case OperatorCommand(nonce=nonce):
                return state, [SetDeadline(name=nonce, at=now + timedelta(minutes=1))]
            case _:
                return state, []
        waiting = tuple(key for key in state.waiting if key != call_id)
        reply = Envelope(
            protocol=Protocol.LEAGUE,
            message_type=MessageType.FREE_TEXT_RESPONSE,
            message_id=f"reply-{call_id}",
            timestamp=now,
            sender=Sender(email=PLAYER, role=Role.PLAYER),
            recipient_id="LEAGUEMANAGER",
            payload=FreeTextReply(message_text=word, response_timestamp=now),
            league_id="L",
            broadcast_id=f"bc-{call_id}",
        )
        return Echoes(waiting, state.answered + 1), [Send(envelope=reply, to=(OFFICE,))]

    def parts(self, state: Echoes, since: Echoes | None = None) -> Mapping[str, object]:
        return {"waiting": state.waiting, "answered": state.answered}

    def dump_part(self, name: str, part: object) -> str:
        return json.dumps(part)

    def load(self, parts: Mapping[str, str]) -> Echoes:
        return Echoes(tuple(json.loads(parts["waiting"])), json.loads(parts["answered"]))


STEP = ModelStep(step="echo", work=ModelWorkUse.REPLACED, why=Why.MALFORMED, callback="get_warmup_answer")


class EchoAgent:
    def get_warmup_answer(self, ctx: Mapping[str, Any]) -> Mapping[str, object]:
        if ctx["dynamic"]["text"] == "fail":
            raise ValueError("no word today")
        text = ctx["dynamic"]["text"]
        return {"answer": text[::-1], **({KEY: [STEP.to_json()]} if text == "model" else {})}


def text_mail(number: int, text: str) -> OutgoingMail:
    envelope = Envelope(
        protocol=Protocol.LEAGUE,
        message_type=MessageType.BROADCAST_FREE_TEXT,
        message_id=f"m{number}",
        timestamp=NOON,
        sender=Sender(email=OFFICE, role=Role.LEAGUEMANAGER),
        recipient_id="BROADCAST",
        payload=FreeText(message_text=text),
        league_id="L",
        broadcast_id=f"bc-{number}",
    )
    return OutgoingMail(
        sender=OFFICE,
        to=(PLAYER,),
        subject=format_subject(envelope),
        document=encode(envelope),
        transaction_id=f"m{number}",
        sent_at=NOON,
    )


def word_of(mail: object) -> object:
    assert isinstance(mail, dict)
    return mail["payload"]["message_text"]


class World:
    """A post office, a player's journal, and as many lives of the player's process as are needed."""

    def __init__(self, journal_path: Path | None = None) -> None:
        self.clock = ManualClock(NOON)
        self.post = PostOffice(self.clock)
        self.office = self.post.mailbox(OFFICE)
        self.player = self.post.mailbox(PLAYER)
        self.path = journal_path
        self.memory = MemoryJournal(dump=EchoMachine().dump_part)

    def open_journal(self) -> Journal:
        if self.path is None:
            return self.memory
        return SqliteJournal(
            self.path, role="player", address=PLAYER, dump=EchoMachine().dump_part, synchronous="NORMAL"
        )

    def runner(
        self, journal: Journal | None = None, mailbox: Mailbox | None = None, observer: Any = None
    ) -> RoleRunner[Echoes]:
        return RoleRunner(
            EchoMachine(),
            mailbox or self.player,
            journal or self.open_journal(),
            InlineHost(EchoAgent, self.clock, one_game_each=False),
            self.clock,
            codec=LEAGUE_MAIL,
            observer=observer,
        )

    def replies(self) -> list[object]:
        return [word_of(mail.documents[0]) for mail in self.office.fetch(1000, lambda _: False)]


def run_out(world: World, runner: RoleRunner[Echoes]) -> None:
    """Tick until nothing is left, letting time pass where that is what is waited for."""
    while True:
        while runner.tick():
            pass
        wake = runner.next_wake()
        if wake is None:
            return
        world.clock.advance_to(max(wake, world.clock.now() + timedelta(seconds=1)))


def test_a_message_is_answered_and_acknowledged() -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    runner = world.runner()
    runner.start()
    run_out(world, runner)
    assert world.replies() == ["cba"]
    assert world.player.fetch(10, lambda _: False) == []
    assert runner.state == Echoes((), 1)


def test_a_failed_callback_is_an_event_too() -> None:
    world = World()
    world.office.send(text_mail(1, "fail"))
    runner = world.runner()
    runner.start()
    run_out(world, runner)
    (reply,) = world.replies()
    assert "no word today" in str(reply)


class Killed(BaseException):
    """The process dies here."""


class DyingJournal:
    """Dies before or after the n-th write."""

    WRITES = ("commit", "begin_send", "finish_sends", "postpone_send", "doubt_send", "fail_send")

    def __init__(self, journal: Journal, plan: Plan) -> None:
        self._journal = journal
        self._plan = plan

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._journal, name)
        return self._plan.around(name, method) if name in self.WRITES else method


class DyingMailbox:
    """Dies before or after the n-th call."""

    CALLS = ("fetch", "acknowledge", "send", "was_sent")

    def __init__(self, mailbox: MemoryMailbox, plan: Plan) -> None:
        self._mailbox = mailbox
        self._plan = plan
        self.address = mailbox.address

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._mailbox, name)
        return self._plan.around(name, method) if name in self.CALLS else method


class Plan:
    """Counts the points at which a process may die, and lets it die at one of them."""

    def __init__(self, die_at: int | None) -> None:
        self.points = 0
        self.die_at = die_at
        self.died_in = ""

    def _point(self, name: str) -> None:
        self.points += 1
        if self.points == self.die_at:
            self.died_in = name
            raise Killed(name)

    def around(self, name: str, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self._point(f"before {name}")
            result = method(*arguments, **named)
            self._point(f"after {name}")
            return result

        return call


TEXTS = ("one", "two", "unusable", "bug", "fail", "three")


def a_life(world: World, plan: Plan) -> None:
    """One life of the process: it ends when everything is done, or when it is killed."""
    journal = world.open_journal()
    runner = world.runner(DyingJournal(journal, plan), DyingMailbox(world.player, plan))  # type: ignore[arg-type]
    try:
        runner.start()
        run_out(world, runner)
    except Killed:
        pass
    finally:
        journal.close()


def the_world_after(die_at: int | None, path: Path | None) -> tuple[World, Plan]:
    world = World(path)
    for number, text in enumerate(TEXTS):
        world.office.send(text_mail(number, text))
    plan = Plan(die_at)
    a_life(world, plan)
    if die_at is not None:
        a_life(world, Plan(None))
    return world, plan


def expect_everything_exactly_once(world: World) -> None:
    replies = world.replies()
    assert len(replies) == 4
    # A reply that may have been sent is overtaken by the others while it is looked for.
    assert sorted(str(word) for word in replies if "no word" not in str(word)) == ["eerht", "eno", "owt"]
    assert world.player.fetch(10, lambda _: False) == []
    journal = world.open_journal()
    verdicts = [row.verdict for row in journal.inbox()]
    assert verdicts == [
        InboxVerdict.PROCESSED,
        InboxVerdict.PROCESSED,
        InboxVerdict.REJECTED,
        InboxVerdict.PARKED,
        InboxVerdict.PROCESSED,
        InboxVerdict.PROCESSED,
    ]
    assert journal.pending_calls() == []
    assert {item.state for item in journal.outbox()} == {OutboxState.SENT}
    journal.close()


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "sqlite"])
def test_a_process_killed_at_any_write_or_call_loses_nothing_and_sends_nothing_twice(
    tmp_path: Path, on_disk: bool
) -> None:
    world, plan = the_world_after(None, tmp_path / "whole.db" if on_disk else None)
    expect_everything_exactly_once(world)
    points = plan.points
    assert points >= 40
    died_in = set()
    for die_at in range(1, points + 1):
        world, plan = the_world_after(die_at, tmp_path / f"killed{die_at}.db" if on_disk else None)
        died_in.add(plan.died_in)
        expect_everything_exactly_once(world)
    assert {"before send", "after send", "before commit", "after commit", "before acknowledge"} <= died_in


def test_a_mail_that_is_no_protocol_mail_is_left_unread_and_looked_at_once() -> None:
    world = World()
    newsletter = evolve(text_mail(1, "buy"), subject="News", document={"message_type": "NEWS", "payload": {}})
    world.office.send(newsletter)
    world.office.send(text_mail(2, "abc"))
    runner = world.runner()
    runner.start()
    run_out(world, runner)
    assert world.replies() == ["cba"]
    assert [mail.subject for mail in world.player.fetch(10, lambda _: False)] == ["News"]
    verdicts = [row.verdict for row in world.memory.inbox()]
    assert verdicts == [InboxVerdict.IGNORED, InboxVerdict.PROCESSED]


def test_a_forged_mail_is_rejected_with_its_reason() -> None:
    world = World()
    forged = text_mail(1, "abc")
    forged = evolve(forged, document={**forged.document, "sender": {"email": "king@league.test", "role": "REFEREE"}})
    world.office.send(forged)
    runner = world.runner()
    runner.start()
    run_out(world, runner)
    assert world.replies() == []
    (row,) = world.memory.inbox()
    assert row.verdict is InboxVerdict.REJECTED
    assert "king@league.test" in row.reason
    assert world.player.fetch(10, lambda _: False) == []


class Faulty:
    """A mailbox whose first sends fail in the given ways."""

    def __init__(self, mailbox: MemoryMailbox, failures: list[str]) -> None:
        self._mailbox = mailbox
        self.failures = failures
        self.address = mailbox.address
        self.sends: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def send(self, mail: OutgoingMail) -> None:
        failure = self.failures.pop(0) if self.failures else "none"
        self.sends.append(failure)
        if failure == "unavailable":
            raise MailboxUnavailable("try later", retry_after=timedelta(seconds=30))
        if failure == "ambiguous, taken":
            self._mailbox.send(mail)
            raise AmbiguousSend()
        if failure == "ambiguous, lost":
            raise AmbiguousSend()
        self._mailbox.send(mail)


@pytest.mark.parametrize(
    ("failures", "posts"),
    [
        (["unavailable", "unavailable"], 3),
        (["ambiguous, taken"], 1),  # found among the sent mails: not posted again
        (["ambiguous, lost"], 2),
        (["ambiguous, lost", "unavailable", "ambiguous, taken"], 3),
    ],
)
def test_a_send_that_fails_is_tried_again_and_one_that_may_have_worked_is_looked_for_first(
    failures: list[str], posts: int
) -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    mailbox = Faulty(world.player, list(failures))
    runner = world.runner(mailbox=mailbox)  # type: ignore[arg-type]
    runner.start()
    run_out(world, runner)
    assert world.replies() == ["cba"]
    assert len(mailbox.sends) == posts
    assert [item.state for item in world.memory.outbox()] == [OutboxState.SENT]


def test_the_servers_own_waiting_time_is_kept() -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    runner = world.runner(mailbox=Faulty(world.player, ["unavailable"]))  # type: ignore[arg-type]
    runner.start()
    while runner.tick():
        pass
    assert runner.next_wake() == NOON + timedelta(seconds=30)


def test_a_command_is_carried_out_once_and_its_deadline_fires_once_even_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path / "j.db")
    runner = world.runner()
    runner.start()
    command = OperatorCommand(command=Command.KEEP_ALIVE, nonce="wake me")
    assert runner.command(command)
    assert not runner.command(command)
    runner.close()
    runner = world.runner()
    runner.start()
    run_out(world, runner)
    journal = world.open_journal()
    assert [note.facts["text"] for note in journal.notes()] == ["wake me"]
    journal.close()
    runner.close()


def test_the_journal_is_closed_when_the_agent_s_host_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_host: InlineHost) -> None:
        raise OSError("a process does not end")

    world = World(tmp_path / "j.db")
    journal = world.open_journal()
    runner = world.runner(journal)
    runner.start()
    monkeypatch.setattr(InlineHost, "close", fail)
    with pytest.raises(OSError, match="does not end"):
        runner.close()
    with pytest.raises(JournalError):
        journal.next_wake()


@dataclass(frozen=True, slots=True)
class AskingMachine(EchoMachine):
    """Asks somebody in a game when it is ordered to, and waits for a minute."""

    def step(self, state: Echoes, event: Event, now: datetime) -> tuple[Echoes, Sequence[Effect]]:
        if isinstance(event, SentLate):
            return state, [SetDeadline(name=f"wait:{event.game_id}:player1", at=now + timedelta(minutes=1))]
        if not isinstance(event, OperatorCommand):
            return EchoMachine.step(self, state, event, now)
        payload = WarmupCall(warmup_question="?", deadline=now, auth_token=None)
        call = Envelope(
            protocol=Protocol.GAME,
            message_type=MessageType.Q21WARMUPCALL,
            message_id="call",
            timestamp=now,
            sender=Sender(email=PLAYER, role=Role.REFEREE),
            recipient_id="other",
            payload=payload,
            game_id=GAME,
        )
        deadline = SetDeadline(name=f"wait:{GAME}:player1", at=now + timedelta(minutes=1))
        return state, [Send(envelope=call, to=(OFFICE,), game_id=GAME), deadline]


@pytest.mark.parametrize("failure", ["unavailable", "ambiguous, lost"])
def test_a_deadline_of_a_game_is_not_over_while_what_was_asked_may_be_unsent(failure: str) -> None:
    world = World()
    failing = Faulty(world.player, [failure] * 3)
    runner = RoleRunner(AskingMachine(), failing, world.memory, None, world.clock, codec=LEAGUE_MAIL)
    runner.start()
    assert runner.command(OperatorCommand(command=Command.KEEP_ALIVE, nonce="ask"))
    run_out(world, runner)
    (left,) = world.office.fetch(10, lambda _: False)
    (woken,) = (note for note in world.memory.notes() if note.key == "woken")
    assert left.arrived_at > NOON + timedelta(minutes=1)
    assert woken.at >= left.arrived_at + timedelta(minutes=1)


class Watcher:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def received(self, role: str, row: InboxRow) -> None:
        self.seen.append(f"{role} received {row.message_type}")

    def sent(self, role: str, item: OutboxItem) -> None:
        self.seen.append(f"{role} sent {item.message_type}")

    def noted(self, role: str, note: Note) -> None:
        self.seen.append(f"{role} noted {note.key}")


def test_an_observer_is_told_what_was_committed() -> None:
    world = World()
    world.office.send(text_mail(1, "bug"))
    world.office.send(text_mail(2, "abc"))
    watcher = Watcher()
    runner = world.runner(observer=watcher)
    runner.start()
    run_out(world, runner)
    assert watcher.seen == [
        "player received BROADCAST_FREE_TEXT",
        "player noted mail_parked",
        "player received BROADCAST_FREE_TEXT",
        "player sent FREE_TEXT_RESPONSE",
    ]


class OnlyTheOffice:
    """Turns away everybody else."""

    def refuse(self, mail: Mail) -> str | None:
        return None if OFFICE in mail.from_header else f"{mail.from_header} is a stranger"

    def came_back(self, mail: Mail) -> str | None:
        return mail.subject if mail.from_header.startswith("mailer-daemon@") else None


def test_a_mail_that_came_back_is_a_warning_once_and_stays_unread_for_a_person() -> None:
    world = World()
    watcher = Watcher()
    world.player.send(evolve(text_mail(1, "abc"), sender=PLAYER, to=("typo@league.test",)))

    for _ in range(2):
        host = InlineHost(EchoAgent, world.clock, one_game_each=False)
        runner = RoleRunner(
            EchoMachine(),
            world.player,
            world.memory,
            host,
            world.clock,
            codec=LEAGUE_MAIL,
            observer=watcher,
            intake=OnlyTheOffice(),
        )
        runner.start()
        run_out(world, runner)
    (note,) = world.memory.notes()
    assert (note.kind, note.key) == ("warning", "bounced")
    assert "typo@league.test" in str(note.facts["text"])
    assert watcher.seen.count("player noted bounced") == 1
    assert len(world.player.fetch(10, lambda _: False)) == 1


def test_who_is_turned_away_reaches_no_machine_and_is_told_with_the_reason() -> None:
    world = World()
    stranger = world.post.mailbox("stranger@league.test")
    document = dict(text_mail(1, "abc").document)
    document["sender"] = {"email": "stranger@league.test", "role": "LEAGUEMANAGER"}
    subject = text_mail(1, "abc").subject.replace(OFFICE, "stranger@league.test")
    stranger.send(evolve(text_mail(1, "abc"), sender="stranger@league.test", subject=subject, document=document))
    world.office.send(text_mail(2, "xyz"))
    watcher = Watcher()
    runner = RoleRunner(
        EchoMachine(),
        world.player,
        world.memory,
        InlineHost(EchoAgent, world.clock, one_game_each=False),
        world.clock,
        codec=LEAGUE_MAIL,
        observer=watcher,
        intake=OnlyTheOffice(),
    )
    runner.start()
    run_out(world, runner)
    assert world.replies() == ["zyx"]
    rejected, processed = world.memory.inbox()
    assert (rejected.verdict, processed.verdict) == (InboxVerdict.REJECTED, InboxVerdict.PROCESSED)
    assert "is a stranger" in rejected.reason
    assert world.player.fetch(10, lambda _: False) == [], "it is protocol mail, and so marked as read"
    assert "player noted mail_rejected" in watcher.seen


@pytest.mark.parametrize("path", [None, "journal.db"])
def test_what_became_of_a_model_s_work_is_noted_with_the_step_that_its_result_causes(
    path: str | None, tmp_path: Path
) -> None:
    world = World(None if path is None else tmp_path / path)
    for number, text in enumerate(("abc", "model", "fail"), start=1):
        world.office.send(text_mail(number, text))
    watcher = Watcher()
    runner = world.runner(observer=watcher)
    runner.start()
    run_out(world, runner)
    runner.close()
    assert world.replies()[:2] == ["cba", "ledom"]
    assert watcher.seen.count("player noted 0101001") == 1
    (note,) = [note for note in world.open_journal().notes() if note.kind == MODEL_WORK]
    assert note.key == "0101001"
    assert (steps_of(note), note.facts["callback"]) == ((STEP,), "get_warmup_answer")


class Forgetful:
    """A mailbox whose first acknowledgements fail."""

    def __init__(self, mailbox: MemoryMailbox, failures: int) -> None:
        self._mailbox = mailbox
        self.failures = failures
        self.address = mailbox.address

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        if self.failures:
            self.failures -= 1
            raise MailboxUnavailable("not now")
        self._mailbox.acknowledge(mail_ids)


def test_an_acknowledgement_that_failed_is_made_later_and_the_mail_is_answered_once() -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    runner = world.runner(mailbox=Forgetful(world.player, 2))  # type: ignore[arg-type]
    runner.start()
    for _ in range(2):
        with pytest.raises(MailboxUnavailable):
            runner.tick()
    run_out(world, runner)
    assert world.replies() == ["cba"]
    assert world.player.fetch(10, lambda _: False) == []


def test_without_a_look_into_the_mailbox_no_deadline_is_over_but_results_are_sent() -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    runner = world.runner()
    runner.start()
    runner.command(OperatorCommand(command=Command.KEEP_ALIVE, nonce="wake me"))
    world.clock.advance_to(NOON + timedelta(hours=1))
    assert not runner.tick(fetches=False)
    assert list(world.memory.notes()) == []
    assert runner.tick()
    while runner.tick(fetches=False):
        pass
    assert world.replies() == ["cba"]
    assert [note.facts["text"] for note in world.memory.notes()] == ["wake me"]


class Heavy:
    """A mailbox that hands out one mail at a time, as Gmail's does when mails are large, and at last fails."""

    def __init__(self, mailbox: MemoryMailbox, fetches: int = 1_000) -> None:
        self._mailbox = mailbox
        self._fetches = fetches
        self.address = mailbox.address

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        self._fetches -= 1
        if self._fetches < 0:
            raise MailboxUnavailable("this minute's units are used up")
        return self._mailbox.fetch(min(limit, 1), known)


def test_no_deadline_is_over_while_heavy_mail_that_came_before_it_is_unread() -> None:
    world = World()
    for number in range(3):
        world.office.send(text_mail(number, f"abc{number}"))
    runner = world.runner(mailbox=Heavy(world.player))
    runner.start()
    runner.command(OperatorCommand(command=Command.KEEP_ALIVE, nonce="wake me"))
    world.clock.advance_to(NOON + timedelta(hours=1))
    runner.tick()
    assert len(list(world.memory.inbox())) == 3
    assert [note.facts["text"] for note in world.memory.notes()] == ["wake me"]
    assert runner.state.answered == 3


def test_a_mailbox_that_cannot_be_read_to_its_end_holds_up_deadlines_and_no_answers() -> None:
    world = World()
    for number in range(3):
        world.office.send(text_mail(number, f"abc{number}"))
    runner = world.runner(mailbox=Heavy(world.player, fetches=2))
    runner.start()
    runner.command(OperatorCommand(command=Command.KEEP_ALIVE, nonce="wake me"))
    world.clock.advance_to(NOON + timedelta(hours=1))
    with pytest.raises(MailboxUnavailable):
        runner.tick()
    assert world.replies() == ["0cba", "1cba"]
    assert list(world.memory.notes()) == [], "the third mail came before the deadline and is unread"


class Strangers:
    """A mailbox that has the mails of a peer and then those of strangers, for ever."""

    def __init__(self, mailbox: MemoryMailbox) -> None:
        self._mailbox = mailbox
        self.address = mailbox.address
        self.fetches = 0
        self.acknowledged: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        self.acknowledged += mail_ids
        self._mailbox.acknowledge(mail_ids)

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        self.fetches += 1
        return self._mailbox.fetch(limit, known) or [
            Mail(
                mail_id=f"stranger-{self.fetches}",
                arrived_at=NOON,
                from_header="x@evil.test",
                subject="league.v2::PLAYER::x::t::BROADCASTFREETEXT",
                documents=(),
                refusal="x@evil.test is nobody",
                is_from_peer=False,
            )
        ]


def test_a_deadline_does_not_wait_for_strangers_who_write_for_ever() -> None:
    world = World()
    world.office.send(text_mail(1, "abc"))
    mailbox = Strangers(world.player)
    runner = world.runner(mailbox=mailbox)
    runner.start()
    runner.command(OperatorCommand(command=Command.KEEP_ALIVE, nonce="wake me"))
    world.clock.advance_to(NOON + timedelta(hours=1))
    assert runner.tick()
    assert mailbox.fetches == 2
    assert "wake me" in [note.facts["text"] for note in world.memory.notes()]
    assert world.replies() == ["cba"]


def test_a_mail_that_was_not_opened_is_recorded_with_its_reason_and_marked_as_read() -> None:
    world = World()
    mailbox = Strangers(world.player)
    runner = world.runner(mailbox=mailbox)
    runner.start()
    runner.tick()
    (row,) = world.memory.inbox()
    assert (row.verdict, row.reason, row.document) == (InboxVerdict.REJECTED, "x@evil.test is nobody", None)
    assert mailbox.acknowledged == ["stranger-1"]


def test_a_notice_that_was_not_opened_is_told_and_left_to_a_person() -> None:
    class Notices:
        def refuse(self, mail: Mail) -> str | None:
            return "it is a notice of a mail server"

        def came_back(self, mail: Mail) -> str | None:
            return "mail to a@b.test was not delivered"

    world = World()
    mailbox = Strangers(world.player)
    runner = RoleRunner(
        EchoMachine(),
        mailbox,
        world.memory,
        InlineHost(EchoAgent, world.clock, one_game_each=False),
        world.clock,
        codec=LEAGUE_MAIL,
        intake=Notices(),
    )
    runner.start()
    runner.tick()
    assert [row.verdict for row in world.memory.inbox()] == [InboxVerdict.IGNORED]
    assert [note.key for note in world.memory.notes()] == ["bounced"]
    assert mailbox.acknowledged == []


def test_whoever_is_to_end_takes_no_further_mail_in_and_the_next_life_loses_none() -> None:
    world = World()
    for number in range(5):
        world.office.send(text_mail(number, f"abc{number}"))
    stopping = threading.Event()

    class StoppedAtTheSecond(EchoMachine):
        def step(self, state: Echoes, event: Event, now: datetime) -> tuple[Echoes, Sequence[Effect]]:
            if isinstance(event, MessageArrived) and event.envelope.message_id == "m1":
                stopping.set()
            return EchoMachine.step(self, state, event, now)

    runner = RoleRunner(
        StoppedAtTheSecond(),
        world.player,
        world.memory,
        InlineHost(EchoAgent, world.clock, one_game_each=False),
        world.clock,
        codec=LEAGUE_MAIL,
        stopping=stopping,
    )
    runner.start()
    with pytest.raises(Stopping):
        runner.tick()
    assert [row.message_id for row in world.memory.inbox()] == ["m0", "m1"]
    first = world.replies()
    assert first == ["0cba", "1cba"], "what is ready leaves"
    world.office.acknowledge([mail.mail_id for mail in world.office.fetch(10, lambda _: False)])
    again = world.runner()
    again.start()
    run_out(world, again)
    assert world.replies() == ["2cba", "3cba", "4cba"]
    assert len(list(world.memory.inbox())) == 5


def test_nothing_of_a_batch_is_performed_before_all_of_it_is_durable(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    world = World(path)
    for number in range(3):
        world.office.send(text_mail(number, f"abc{number}"))
    durable: list[int] = []

    class Host(InlineHost):
        def submit(self, call: PendingCall) -> None:
            look = SqliteJournal.to_look_at(path)
            durable.append(len(look.pending_calls()))
            look.close()
            super().submit(call)

    class Observer:
        def received(self, role: str, row: InboxRow) -> None:
            look = SqliteJournal.to_look_at(path)
            durable.append(len(list(look.inbox())))
            look.close()

        def sent(self, role: str, item: OutboxItem) -> None: ...

        def noted(self, role: str, note: Note) -> None: ...

    host = Host(EchoAgent, world.clock, one_game_each=False)
    runner = RoleRunner(
        EchoMachine(), world.player, world.open_journal(), host, world.clock, codec=LEAGUE_MAIL, observer=Observer()
    )
    runner.start()
    runner.tick()
    assert durable == [3] * 6
    runner.close()


def test_a_batch_that_cannot_be_made_durable_was_not_taken_in(tmp_path: Path) -> None:
    world = World(tmp_path / "j.db")
    for number in range(3):
        world.office.send(text_mail(number, f"abc{number}"))
    journal = world.open_journal()
    host = InlineHost(EchoAgent, world.clock, one_game_each=False)

    class Full(EchoMachine):
        def step(self, state: Echoes, event: Event, now: datetime) -> tuple[Echoes, Sequence[Effect]]:
            if isinstance(event, MessageArrived) and event.envelope.message_id == "m2":
                raise JournalError("the disk is full")
            return EchoMachine.step(self, state, event, now)

    runner = RoleRunner(Full(), world.player, journal, host, world.clock, codec=LEAGUE_MAIL)
    runner.start()
    with pytest.raises(JournalError):
        runner.tick()
    assert runner.state == Echoes(), "the state is that of the journal"
    assert list(journal.inbox()) == []
    assert host.collect() == (), "no call was begun"
    runner.close()
    assert len(world.player.fetch(10, lambda _: False)) == 3, "no mail was acknowledged"
    again = world.runner(world.open_journal())
    again.start()
    run_out(world, again)
    assert world.replies() == ["0cba", "1cba", "2cba"]


def test_an_order_in_the_journal_is_carried_out_once_and_one_that_nobody_knows_is_used_up(tmp_path: Path) -> None:
    world = World(tmp_path / "j.db")
    journal = world.open_journal()
    journal.order(Order(nonce="n1", command="keep_alive", text="", at=NOON))
    journal.order(Order(nonce="n2", command="dance", text="", at=NOON))
    runner = world.runner(journal)
    runner.start()
    assert runner.obey()
    assert not runner.obey()
    assert [(note.key, note.facts["text"]) for note in journal.notes()] == [("order_refused", "'dance' is no command")]
    assert journal.next_wake() == NOON + timedelta(minutes=1)
    runner.close()
    again = world.runner()
    again.start()
    assert not again.obey()
    again.close()


class Spent:
    """A mailbox that may send no more today."""

    def __init__(self, mailbox: MemoryMailbox, resets_at: datetime) -> None:
        self._mailbox = mailbox
        self._resets_at = resets_at
        self.address = mailbox.address

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def send(self, mail: OutgoingMail) -> None:
        if self._mailbox._clock.now() < self._resets_at:
            raise QuotaExhausted("no sends are left", resets_at=self._resets_at)
        self._mailbox.send(mail)


def test_a_message_that_waits_for_tomorrows_quota_is_told_once_and_sent_then() -> None:
    world, told = World(), Told()
    world.office.send(text_mail(1, "abc"))
    tomorrow = NOON + timedelta(hours=20)
    runner = world.runner(mailbox=Spent(world.player, tomorrow), observer=told)
    runner.start()
    while runner.tick():
        pass
    assert world.replies() == []
    assert [note.key for note in told.notes] == ["send_postponed"]
    assert "waits until 2031-05-03 08:00 UTC: no sends are left" in str(told.notes[0].facts["text"])
    run_out(world, runner)
    assert world.replies() == ["cba"]
    assert len(told.notes) == 1


class Told:
    """An observer that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None:
        self.notes.append(note)


class Broken:
    """A mailbox whose sends fail in a way that nobody foresaw."""

    def __init__(self, mailbox: MemoryMailbox) -> None:
        self._mailbox = mailbox
        self.address = mailbox.address
        self.sends = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mailbox, name)

    def send(self, mail: OutgoingMail) -> None:
        self.sends += 1
        if "bad" in mail.transaction_id:
            raise ZeroDivisionError("a bug of the adapter")
        self._mailbox.send(mail)


def test_a_message_that_cannot_be_sent_for_a_bug_is_put_aside_and_the_others_go_out() -> None:
    world = World()
    world.office.send(evolve(text_mail(1, "abc")))
    bad = text_mail(2, "xyz")
    world.office.send(evolve(bad, document={**bad.document, "message_id": "bad-2"}))
    mailbox = Broken(world.player)
    runner = world.runner(mailbox=mailbox)  # type: ignore[arg-type]
    runner.start()
    run_out(world, runner)
    assert world.replies() == ["cba"]
    states = [item.state for item in world.memory.outbox()]
    assert sorted(states) == sorted([OutboxState.SENT, OutboxState.FAILED])
    assert mailbox.sends == 6, "five attempts, and the good one"
    assert [note.key for note in world.memory.notes()] == []
