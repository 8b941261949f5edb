"""The player's side by mail: what is read, what the agent is told and asked, what is answered once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from league_agents.arena.by_mail.letters import LetterHeading, dump_part, format_subject
from league_agents.games.game import Action, Event, LegalAction
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import OutboxItem, StepCause, StepCommit
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import MailboxUnavailable
from league_agents.kit.ids import derive_hex
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.mail.memory import PostOffice, Weather
from league_agents.mail.port import AmbiguousSend, Mail, OutgoingMail
from league_agents.report.models import steps_of
from league_agents.runner.outbox import UNDER_WAY
from tests.support import crash as reaping
from tests.support.crash import CALLS, WRITES, Mortal, Reaper
from tests.support.mail_match import RunningSeat

HOST, ME, STRANGER = "table@arena.test", "ann@arena.test", "stranger@arena.test"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Pricing:
    """Names one price and notes everything."""

    def __init__(self, *, fails: bool = False) -> None:
        self.views: list[dict[str, Any]] = []
        self.heard: list[int] = []
        self._fails = fails

    def act(self, view: dict[str, Any], legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        self.views.append(view)
        if self._fails:
            raise RuntimeError("no idea")
        assert legal[0].type == "submit_price"
        return Action(type="submit_price", data={"price": 20 + len(self.views)})

    def observe(self, event: Event) -> None:
        self.heard.append(event.seq)


def push(seq: int) -> dict[str, Any]:
    data = {"seq": seq, "event": "result", "round": 1}
    return {"type": "push_message", "message_response": {"version": "1.0.0", "message": f"event {seq}", "data": data}}


def state(seq: int, status: str = "started", winners: Sequence[str] = ()) -> dict[str, Any]:
    legal = [{"type": "submit_price", "schema": {"type": "object"}}]
    data = {"seq": seq, "legal": legal, "rules": "The rules.", "view": {"round": 1}}
    inner = {"version": "1.0.0", "data": data}
    return {"type": "get_state_response", "status": status, "winners": list(winners), "state": inner}


def letter(number: int = 1, *, left: int = 3, after: int = 0, pushes: Sequence[int] = (), **others: Any) -> Any:
    template = {
        "version": "1.0.0", "type": "perform_action", "game": "market", "match_id": "m-1", "agent_id": "s1",
        "request_id": f"decision-{number}-{3 - left}", "action": {},
    }  # fmt: skip
    return {
        "boardgame_mail": "1.0.0", "kind": "your_turn", "game": "market", "match_id": "m-1", "agent_id": "s1",
        "decision": {"number": number, "attempts_left": left, "reply_by": None, "refusal": None,
                     "answer_with": template},
        "after": after, "messages": [*map(push, pushes), state(max([after, *pushes]))], **others,
    }  # fmt: skip


class Post:
    """A seat, and a host that writes by hand."""

    def __init__(self, weather: Weather | None = None, **options: Any) -> None:
        self.clock = ManualClock(START)
        self.office = PostOffice(self.clock, weather=weather or Weather(), through_mime=True)
        self.host = self.office.mailbox(HOST)
        self.office.mailbox(STRANGER)
        self.agent = options.pop("agent", Pricing())
        self.options = options
        self.journal = MemoryJournal(dump=dump_part)
        self.written = 0
        self.restart()

    def restart(self) -> None:
        """Another life of the seat's process."""
        self.seat = RunningSeat(
            self.agent, self.office.mailbox(ME), self.journal, HOST, clock=self.clock, **self.options
        )

    def unread(self) -> int:
        """How many mails wait, that another process would read."""
        return len(self.office.mailbox(ME).fetch(100, lambda _mail_id: False))

    def run_out(self) -> None:
        """Tick until nothing is left to be done, letting the time pass that is waited for."""
        while True:
            if not self.seat.tick():
                wake = self.seat.next_wake()
                if wake is None:
                    return
                self.clock.advance_to(wake)

    def write(self, document: Any, *, sender: str = HOST, subject: str | None = None) -> None:
        self.written += 1
        heading = LetterHeading(game="market", match_id="m-1", agent_id="s1")
        self.office.mailbox(sender).send(
            OutgoingMail(
                sender=sender,
                to=(ME,),
                subject=subject or format_subject(heading, f"t-{self.written}"),
                document=document,
                transaction_id=f"t-{self.written}",
                sent_at=self.clock.now(),
            )
        )

    def answers(self) -> list[Any]:
        mails = self.host.fetch(100, lambda _mail_id: False)
        self.host.acknowledge([mail.mail_id for mail in mails])
        return [document for mail in mails for document in mail.documents]


def test_a_turn_is_answered_with_the_envelope_that_was_asked_for() -> None:
    post = Post()
    post.write(letter())
    assert post.seat.tick()
    (answer,) = post.answers()
    assert answer["request_id"] == "decision-1-0"
    assert answer["action"] == {"version": "1.0.0", "type": "submit_price", "data": {"price": 21}}
    (view,) = post.agent.views
    assert (view["round"], view["agent_id"], view["game"], view["rules_text"]) == (1, "s1", "market", "The rules.")
    assert not post.seat.tick()


def test_whose_work_an_answer_is_stands_in_the_journal_and_outlives_the_process() -> None:
    class Replaced(Pricing):
        model_work = ({"step": "arena_market", "work": "replaced", "why": "unavailable"},)

    post = Post(agent=Replaced())
    for number in (1, 2):
        post.write(letter(number))
        post.seat.tick()
        post.restart()
    steps = [step for note in post.journal.notes() if note.key == "m-1" for step in steps_of(note)]
    assert [(step.work, step.why) for step in steps] == [(ModelWorkUse.REPLACED, Why.UNAVAILABLE)] * 2
    assert all("model_work" not in str(answer) for answer in post.answers())


def test_a_letter_that_comes_twice_is_answered_once() -> None:
    post = Post()
    for _ in range(3):
        post.write(letter())
        post.seat.tick()
    assert len(post.answers()) == 1


def test_a_refusal_is_shown_to_the_agent_that_tries_again() -> None:
    post = Post()
    post.write(letter())
    post.seat.tick()
    refused = letter(left=2)
    refused["decision"]["refusal"] = {"code": "price_out_of_range", "message": "no", "attempts_left": 2, "data": {}}
    post.write(refused)
    post.seat.tick()
    assert [answer["request_id"] for answer in post.answers()] == ["decision-1-0", "decision-1-1"]
    assert post.agent.views[1]["refusal"]["code"] == "price_out_of_range"


def test_an_older_letter_that_comes_late_is_not_answered() -> None:
    post = Post()
    post.write(letter(2, after=5, pushes=[6]))
    post.seat.tick()
    post.write(letter(1, pushes=[1, 2]))
    post.seat.tick()
    assert [answer["request_id"] for answer in post.answers()] == ["decision-2-0"]


def test_of_two_letters_that_come_together_the_newer_one_is_answered() -> None:
    post = Post()
    post.write(letter(2, after=2, pushes=[3]))
    post.write(letter(1, pushes=[1, 2]))
    post.seat.tick()
    assert [answer["request_id"] for answer in post.answers()] == ["decision-2-0"]
    assert post.agent.heard == [1, 2, 3]


def test_events_are_told_in_order_when_letters_are_not() -> None:
    post = Post()
    post.write(letter(1, pushes=[1, 2]))
    post.seat.tick()
    post.write(letter(3, after=4, pushes=[5, 7]))
    post.seat.tick()
    assert post.agent.heard == [1, 2]
    post.write(letter(2, after=2, pushes=[3, 4]))
    post.seat.tick()
    assert post.agent.heard == [1, 2, 3, 4, 5, 7]


def test_a_seat_that_starts_in_the_middle_is_told_from_there() -> None:
    post = Post()
    post.write(letter(4, after=30, pushes=[31, 33]))
    post.seat.tick()
    assert post.agent.heard == [31, 33]


def test_what_the_earlier_loop_answered_is_not_answered_again() -> None:
    post = Post()
    digits = derive_hex(ME, "m-1", "s1", "decision-1-0", digits=16)
    item = OutboxItem(
        transaction_id=f"a-{digits}", message_type="perform_action", to=(HOST,), subject="s", document={},
        file_name="boardgame.json", game_id=None, created_at=START,
    )  # fmt: skip
    post.journal.commit(StepCommit(cause=StepCause.COMMAND, key=item.transaction_id, at=START, sends=[item]))
    post.journal.finish_sends([item.transaction_id], START)
    post.write(letter(1, pushes=[1]))
    post.run_out()
    post.write(letter(2, after=1, pushes=[2]))
    post.run_out()
    assert [answer["request_id"] for answer in post.answers()] == ["decision-2-0"]


def test_an_agent_that_is_started_again_is_told_everything_again() -> None:
    post = Post()
    post.write(letter(1, pushes=[1, 2]))
    post.seat.tick()
    post.agent = Pricing()
    post.restart()
    post.write(letter(2, after=2, pushes=[3]))
    post.seat.tick()
    assert post.agent.heard == [1, 2, 3]


def test_an_agent_that_fails_sends_nothing_and_the_letter_is_done_with(caplog: pytest.LogCaptureFixture) -> None:
    post = Post(agent=Pricing(fails=True))
    post.write(letter())
    post.seat.tick()
    assert post.answers() == []
    assert not post.seat.tick()
    assert "no idea" in caplog.text


def test_what_is_not_from_the_host_is_not_read() -> None:
    post = Post()
    post.write(letter(), sender=STRANGER)
    post.write(letter(), subject="league.v2::manager::table@arena.test::m-1::BROADCAST")
    post.seat.tick()
    assert post.agent.views == []
    assert post.unread() == 2


class Forged:
    def refuse(self, mail: Mail) -> str | None:
        return "the mail server did not confirm the sender"

    def came_back(self, mail: Mail) -> str | None:
        return None


def test_a_letter_whose_sender_is_not_confirmed_is_not_read() -> None:
    post = Post(intake=Forged())
    post.write(letter())
    post.seat.tick()
    assert post.agent.views == []
    assert [note.key for note in post.journal.notes()] == ["mail_rejected"]


def test_letters_for_another_seat_or_match_are_left_alone() -> None:
    post = Post(match_id="m-1", agent_id="s2")
    post.write(letter())
    post.seat.tick()
    assert (post.agent.views, post.unread()) == ([], 1)
    bound = Post()
    bound.write(letter())
    bound.seat.tick()
    bound.write(letter(5, match_id="m-2"))
    bound.seat.tick()
    assert (len(bound.agent.views), bound.unread()) == (1, 1)
    bound.options["match_id"] = "m-2"
    bound.restart()
    bound.seat.tick()
    assert (len(bound.agent.views), bound.unread()) == (2, 0), "the next process plays it"


@pytest.mark.parametrize(
    "document",
    [
        {"boardgame_mail": "1.0.0"},
        {**letter(), "messages": "none"},
        {**letter(), "messages": [3, {"type": "get_state_response"}, {"message_response": []}], "decision": 4},
        {**letter(), "decision": {"number": "1", "attempts_left": None, "answer_with": 3}},
        {**letter(), "decision": {**letter()["decision"], "answer_with": {"request_id": 3}}},
        {**letter(), "after": "x"},
    ],
)
def test_a_host_that_writes_nonsense_does_no_harm(document: Any) -> None:
    post = Post()
    post.write(document)
    post.seat.tick()
    assert post.answers() == []
    post.write(letter(2))
    post.seat.tick()
    assert len(post.answers()) == 1


def test_an_answer_that_could_not_be_sent_is_sent_later_and_the_agent_not_asked_again() -> None:
    post = Post()
    post.write(letter())
    send = post.seat.mailbox.send
    post.seat.mailbox.send = refuse  # type: ignore[method-assign]
    post.seat.tick()
    assert post.answers() == []
    post.seat.mailbox.send = send  # type: ignore[method-assign]
    post.run_out()
    assert len(post.answers()) == 1
    assert len(post.agent.views) == 1


def refuse(_mail: OutgoingMail) -> None:
    raise MailboxUnavailable("not now")


def test_an_answer_that_may_have_been_sent_is_looked_for_and_not_sent_again() -> None:
    post = Post()
    post.write(letter())
    mailbox = post.seat.mailbox
    send = mailbox.send

    def send_and_break_off(mail: OutgoingMail) -> None:
        send(mail)
        raise AmbiguousSend

    mailbox.send = send_and_break_off  # type: ignore[method-assign]
    post.run_out()
    assert len(post.answers()) == 1


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("was_taken", [False, True])
def test_a_seat_that_is_killed_in_the_middle_of_a_send_answers_once(was_taken: bool) -> None:
    post = Post()
    post.write(letter())
    mailbox = post.seat.mailbox
    send = mailbox.send

    def die(mail: OutgoingMail) -> None:
        if was_taken:
            send(mail)
        raise Killed

    mailbox.send = die  # type: ignore[method-assign]
    with pytest.raises(Killed):
        post.seat.tick()
    mailbox.send = send  # type: ignore[method-assign]
    killed_at = post.clock.now()
    post.restart()
    post.run_out()
    (answer,) = post.answers()
    assert answer["action"]["data"] == {"price": 21}, "the agent was not asked a second time"
    assert len(post.agent.views) == 1
    assert (post.clock.now() - killed_at >= UNDER_WAY) is not was_taken


def test_a_seat_that_is_killed_anywhere_answers_once_and_knows_what_it_knew() -> None:
    deaths = 0
    for point in itertools.count(1):
        post = Post()
        journal, mailbox = post.journal, post.office.mailbox(ME)
        reaper = Reaper(lambda number, point=point: number == point)  # type: ignore[misc]
        dying = RunningSeat(
            post.agent, Mortal(mailbox, CALLS, reaper), Mortal(journal, WRITES, reaper), HOST, clock=post.clock
        )
        post.write(letter(1, pushes=[1, 2]))
        post.seat = dying
        try:
            post.run_out()
        except reaping.Killed:
            deaths += 1
            post.restart()
            post.run_out()
        assert [answer["request_id"] for answer in post.answers()] == ["decision-1-0"]
        machine = post.seat.machine
        state = post.seat.runner.state
        assert machine.load(journal.load_parts()) == state
        assert [event.seq for event in state.heard("m-1/s1")] == [1, 2]
        if reaper.points < point:
            break
    assert deaths > 20


def test_the_end_is_known_by_the_last_letter() -> None:
    post = Post()
    post.write(letter())
    post.seat.tick()
    assert not post.seat.is_over
    over = letter(after=1, decision=None, kind="over")
    over["messages"] = [state(9, "ended", ["s1"])]
    post.write(over)
    post.seat.tick()
    assert post.seat.is_over
    assert post.seat.winners == ["s1"]


def test_no_longer_than_the_deadline_is_waited_for_an_agent() -> None:
    post = Post()
    late = letter()
    late["decision"]["reply_by"] = (START - timedelta(hours=1)).isoformat()
    post.write(late)
    post.seat.tick()
    assert post.answers() == []
