"""Contract tests for journals. A test class inherits from ``JournalContract`` and implements ``make``.

A persistent journal overrides ``reopen`` to return a new object on the same file, as after a killed process.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta

from league_agents.journal.port import (
    Deadline,
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    Order,
    OutboxItem,
    OutboxState,
    PendingCall,
    StepCause,
    StepCommit,
)
from league_agents.kit.values import evolve

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def dump_part(name: str, part: object) -> str:  # noqa: ARG001
    """Encode a part as JSON; the parts in these tests are JSON values."""
    return json.dumps(part)


def mail_row(mail_id: str, verdict: InboxVerdict = InboxVerdict.PROCESSED) -> InboxRow:
    """An inbox row about a mail."""
    return InboxRow(
        mail_id=mail_id,
        arrived_at=NOON,
        sender="a@league.test",
        subject="league.v2::PLAYER::a@league.test::x::HEARTBEAT",
        message_type="HEARTBEAT",
        message_id="x",
        game_id=None,
        verdict=verdict,
        reason="",
        document={"half a pair": "\ud800", "hebrew": "שלום"},
    )


def outgoing(transaction_id: str, game_id: str | None = None, not_before: datetime | None = None) -> OutboxItem:
    """A message to be sent."""
    return OutboxItem(
        transaction_id=transaction_id,
        message_type="HEARTBEAT",
        to=("b@league.test", "c@league.test"),
        subject="s",
        document={"n": 1, "text": "ä"},
        file_name="payload.json",
        game_id=game_id,
        created_at=NOON,
        not_before=not_before,
    )


def call(call_id: str) -> PendingCall:
    """A callback to be run."""
    return PendingCall(
        call_id=call_id,
        callback="get_answers",
        context={"dynamic": {"q": [1]}, "service": {}},
        timeout=timedelta(seconds=1.5),
        game_id="0101001",
    )


def begin(journal: Journal, monotonic_s: float = 0.0) -> None:
    """Begin an attempt with everything that is due at the end of these tests."""
    for item in journal.due_sends(NOON + 3600 * SECOND, 10):
        assert journal.begin_send(item, at=NOON, monotonic_s=monotonic_s) is not None


class JournalContract(ABC):
    """Inherit, implement ``make``, and let pytest collect the subclass."""

    @abstractmethod
    def make(self) -> Journal:
        """A new, empty journal."""

    def reopen(self, journal: Journal) -> Journal:
        """The same journal after the process was killed."""
        return journal

    def command(self, nonce: str, **changes: object) -> StepCommit:
        """A step that was caused by a command."""
        return StepCommit(cause=StepCause.COMMAND, key=nonce, at=NOON, **changes)  # type: ignore[arg-type]

    def test_a_new_journal_holds_nothing(self) -> None:
        journal = self.make()
        assert journal.load_parts() == {}
        assert journal.pending_calls() == []
        assert journal.due_sends(NOON, 10) == []
        assert journal.sends_in_doubt() == []
        assert journal.next_wake() is None
        assert list(journal.notes()) == []

    def test_a_journal_may_be_closed_twice(self) -> None:
        one = self.make()
        one.close()
        one.close()

    def test_steps_of_one_block_are_all_there_at_its_end(self) -> None:
        journal = self.make()
        with journal.together():
            assert journal.commit(self.command("1", parts={"n": 1}, sends=[outgoing("m1")]))
            assert not journal.commit(self.command("1", parts={"n": "again"}))
            assert journal.commit(self.command("2", parts={"m": 2}))
            assert [item.transaction_id for item in journal.due_sends(NOON, 10)] == ["m1"]
        journal = self.reopen(journal)
        assert journal.load_parts() == {"n": "1", "m": "2"}
        assert journal.commit(self.command("3", parts={"n": 3}))

    def test_parts_are_replaced_one_by_one_and_none_removes(self) -> None:
        journal = self.make()
        assert journal.commit(self.command("1", parts={"league": {"n": 1}, "game/1": [1]}))
        assert journal.commit(self.command("2", parts={"game/1": None, "game/2": "new"}))
        parts = self.reopen(journal).load_parts()
        assert {name: json.loads(text) for name, text in parts.items()} == {"league": {"n": 1}, "game/2": "new"}

    def test_a_mail_is_taken_in_once(self) -> None:
        journal = self.make()
        step = StepCommit(cause=StepCause.MAIL, key="m1", at=NOON, inbox=mail_row("m1"), parts={"n": 1})
        assert not journal.has_mail("m1")
        assert journal.commit(step)
        again = StepCommit(cause=StepCause.MAIL, key="m1", at=NOON, inbox=mail_row("m1"), parts={"n": 2})
        journal = self.reopen(journal)
        assert journal.has_mail("m1")
        assert not journal.commit(again)
        assert json.loads(journal.load_parts()["n"]) == 1

    def test_what_was_taken_in_is_told_as_it_was(self) -> None:
        journal = self.make()
        journal.commit(StepCommit(cause=StepCause.MAIL, key="m1", at=NOON, inbox=mail_row("m1")))
        assert list(self.reopen(journal).inbox()) == [mail_row("m1")]

    def test_the_latest_protocol_mails_are_known_for_acknowledging_again(self) -> None:
        journal = self.make()
        for number in range(4):
            verdict = InboxVerdict.IGNORED if number == 2 else InboxVerdict.REJECTED
            row = mail_row(f"m{number}", verdict)
            journal.commit(StepCommit(cause=StepCause.MAIL, key=row.mail_id, at=NOON, inbox=row))
        assert journal.latest_mail_ids(2) == ["m3", "m1"]

    def test_messages_of_games_go_first(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("league"), outgoing("game", "0101001")]))
        due = self.reopen(journal).due_sends(NOON, 10)
        assert [item.transaction_id for item in due] == ["game", "league"]
        assert due[1].to == ("b@league.test", "c@league.test")
        assert due[1].document == {"n": 1, "text": "ä"}

    def test_an_attempt_that_began_is_known_after_the_process_died(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t"), outgoing("u")]))
        (item, other) = journal.due_sends(NOON, 10)
        begun = journal.begin_send(item, at=NOON, monotonic_s=12.5)
        assert begun == evolve(item, state=OutboxState.SENDING, attempts=1, began_at=NOON, began_s=12.5)
        journal = self.reopen(journal)
        assert journal.due_sends(NOON + 1000 * SECOND, 10) == [other]
        assert journal.sends_in_doubt() == [begun]
        assert journal.next_wake() is None
        assert list(journal.outbox()) == [begun, other]

    def test_an_attempt_begins_once(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t")]))
        (item,) = journal.due_sends(NOON, 10)
        assert journal.begin_send(item, at=NOON, monotonic_s=1.0) is not None
        assert journal.begin_send(item, at=NOON + SECOND, monotonic_s=2.0) is None
        (begun,) = journal.sends_in_doubt()
        assert begun.began_at == NOON
        journal.finish_sends(["t"], NOON)
        assert journal.begin_send(begun, at=NOON + SECOND, monotonic_s=2.0) is None
        assert [item.state for item in journal.outbox()] == [OutboxState.SENT]

    def test_a_transaction_id_is_queued_once_even_after_it_was_sent(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t")]))
        begin(journal)
        journal.finish_sends(["t"], NOON)
        journal = self.reopen(journal)
        journal.commit(self.command("2", sends=[outgoing("t")]))
        assert journal.due_sends(NOON, 10) == []
        assert [item.state for item in journal.outbox()] == [OutboxState.SENT]

    def test_a_postponed_message_waits_and_wakes(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t")]))
        begin(journal)
        journal.postpone_send("t", not_before=NOON + 5 * SECOND, error="busy")
        journal = self.reopen(journal)
        assert journal.due_sends(NOON + 4 * SECOND, 10) == []
        assert journal.next_wake() == NOON + 5 * SECOND
        (item,) = journal.due_sends(NOON + 5 * SECOND, 10)
        assert (item.state, item.attempts) == (OutboxState.QUEUED, 1)

    def test_a_message_in_doubt_is_never_due_and_remembers_when_its_latest_attempt_began(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t", not_before=NOON)]))
        begin(journal, 1.0)
        journal.doubt_send("t", error="broken off")
        journal = self.reopen(journal)
        assert journal.due_sends(NOON + 1000 * SECOND, 10) == []
        assert journal.next_wake() is None
        (item,) = journal.sends_in_doubt()
        assert (item.state, item.attempts, item.began_at, item.began_s) == (OutboxState.AMBIGUOUS, 1, NOON, 1.0)
        again = journal.begin_send(item, at=NOON + SECOND, monotonic_s=2.0)
        assert again is not None
        assert (again.attempts, again.began_at, again.began_s) == (2, NOON + SECOND, 2.0)
        assert self.reopen(journal).sends_in_doubt() == [again]

    def test_a_message_is_due_with_its_present_state_in_the_process_that_queued_it(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t", "0101001")]))
        (first,) = journal.due_sends(NOON, 10)
        assert first == outgoing("t", "0101001")
        begin(journal, 1.0)
        journal.postpone_send("t", not_before=NOON + SECOND, error="busy")
        assert journal.due_sends(NOON, 10) == []
        (second,) = journal.due_sends(NOON + SECOND, 10)
        assert second == evolve(first, attempts=1, not_before=NOON + SECOND, began_at=NOON, began_s=1.0)
        begin(journal)
        journal.finish_sends(["t"], NOON)
        assert journal.due_sends(NOON + 1000 * SECOND, 10) == []
        assert journal.next_wake() is None
        assert [(item.state, item.attempts) for item in journal.outbox()] == [(OutboxState.SENT, 2)]

    def test_of_two_messages_with_one_id_the_first_is_sent(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t")]))
        journal.commit(self.command("2", sends=[evolve(outgoing("t"), subject="another")]))
        (item,) = journal.due_sends(NOON, 10)
        assert item == outgoing("t")

    def test_no_more_are_due_than_asked_for(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing(str(number)) for number in range(5)]))
        assert [item.transaction_id for item in journal.due_sends(NOON, 2)] == ["0", "1"]

    def test_a_failed_message_is_kept_and_never_sent(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("t")]))
        begin(journal)
        journal.fail_send("t", NOON, "no such address")
        journal = self.reopen(journal)
        assert journal.due_sends(NOON + 1000 * SECOND, 10) == []
        assert journal.sends_in_doubt() == []
        assert journal.next_wake() is None
        assert [item.state for item in journal.outbox()] == [OutboxState.FAILED]

    def test_why_a_send_failed_may_hold_half_of_a_surrogate_pair(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", sends=[outgoing("a"), outgoing("b"), outgoing("c")]))
        begin(journal)
        journal.postpone_send("a", not_before=NOON, error="\ud800")
        journal.doubt_send("b", error="\ud800")
        journal.fail_send("c", NOON, "\ud800")
        states = [item.state for item in self.reopen(journal).outbox()]
        assert states == [OutboxState.QUEUED, OutboxState.AMBIGUOUS, OutboxState.FAILED]

    def test_a_call_is_pending_until_its_result_is_committed_and_then_a_late_one_changes_nothing(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", calls=[call("c1"), call("c2"), call("c1")]))
        journal = self.reopen(journal)
        assert journal.pending_calls() == [call("c1"), call("c2")]
        done = StepCommit(cause=StepCause.CALL, key="c1", at=NOON, parts={"n": 1})
        assert journal.commit(done)
        assert not journal.commit(done)
        assert not journal.commit(StepCommit(cause=StepCause.CALL, key="never asked for", at=NOON, parts={"n": 3}))
        journal = self.reopen(journal)
        assert journal.pending_calls() == [call("c2")]
        assert json.loads(journal.load_parts()["n"]) == 1
        # A step that is run again requests the same call, which already has its reply.
        journal.commit(self.command("2", calls=[call("c1")]))
        assert journal.pending_calls() == [call("c2")]

    def test_deadlines_are_replaced_cleared_and_fired_once(self) -> None:
        journal = self.make()
        journal.commit(
            self.command(
                "1",
                deadlines=[
                    Deadline(name="b", at=NOON + 2 * SECOND),
                    Deadline(name="a", at=NOON + 2 * SECOND),
                    Deadline(name="c", at=NOON + SECOND),
                ],
            )
        )
        journal.commit(self.command("2", deadlines=[Deadline(name="b", at=NOON + 9 * SECOND)], cleared=["c", "none"]))
        journal = self.reopen(journal)
        assert journal.next_wake() == NOON + 2 * SECOND
        assert journal.due_deadlines(NOON + SECOND) == []
        assert [d.name for d in journal.due_deadlines(NOON + 9 * SECOND)] == ["a", "b"]
        fired = StepCommit(cause=StepCause.DEADLINE, key="a", at=NOON)
        assert journal.commit(fired)
        assert not journal.commit(fired)
        assert [d.name for d in journal.due_deadlines(NOON + 9 * SECOND)] == ["b"]

    def test_a_deadline_that_its_own_step_sets_again_stays(self) -> None:
        journal = self.make()
        journal.commit(self.command("1", deadlines=[Deadline(name="a", at=NOON)]))
        again = [Deadline(name="a", at=NOON + SECOND)]
        assert journal.commit(StepCommit(cause=StepCause.DEADLINE, key="a", at=NOON, deadlines=again))
        assert self.reopen(journal).due_deadlines(NOON + SECOND) == again

    def test_a_command_is_carried_out_once(self) -> None:
        journal = self.make()
        assert journal.commit(self.command("open"))
        assert not self.reopen(journal).commit(self.command("open", parts={"n": 1}))

    def test_every_start_counts(self) -> None:
        journal = self.make()
        start = StepCommit(cause=StepCause.START, key="start", at=NOON)
        assert journal.commit(start)
        assert self.reopen(journal).commit(start)

    def test_notes_keep_their_order(self) -> None:
        journal = self.make()
        notes = [Note(at=NOON, kind="match", key=str(n), facts={"n": n, "half": "\udc00"}) for n in range(3)]
        journal.commit(self.command("1", notes=notes))
        assert list(self.reopen(journal).notes()) == notes

    def test_readers_of_one_match_are_given_its_rows_alone(self) -> None:
        journal = self.make()
        kinds = (("match", "0102001"), ("match", "0101001"), ("game", "0101002"), ("warning", "0101001"))
        notes = [Note(at=NOON, kind=kind, key=key, facts={}) for kind, key in kinds]
        sends = [outgoing("one", "0101001"), outgoing("two", "0102001"), outgoing("all")]
        journal.commit(self.command("1", notes=notes, sends=sends))
        for game_id in ("0101001", "0102001", None):
            row = evolve(mail_row(f"m{game_id}"), game_id=game_id)
            journal.commit(StepCommit(cause=StepCause.MAIL, key=row.mail_id, at=NOON, inbox=row))
        journal = self.reopen(journal)
        found = journal.notes(kinds=("match", "game"), about="0101")
        assert [(note.kind, note.key) for note in found] == [("match", "0101001"), ("game", "0101002")]
        assert [note.key for note in journal.notes(kinds=("match",))] == ["0102001", "0101001"]
        assert [item.transaction_id for item in journal.outbox(game="0101")] == ["one"]
        assert [row.game_id for row in journal.inbox(game="0102001", types=("HEARTBEAT",))] == ["0102001"]
        assert list(journal.inbox(types=("Q21WARMUPCALL",))) == []

    def test_orders_are_told_after_they_were_carried_out(self) -> None:
        journal = self.make()
        order = Order(nonce="n", command="pause", text="fire drill", at=NOON)
        journal.order(order)
        journal.commit(self.command("n"))
        journal = self.reopen(journal)
        assert journal.open_orders() == []
        assert list(journal.orders()) == [order]

    def test_what_is_kept_beside_the_steps_is_replaced_by_name_and_survives(self) -> None:
        journal = self.make()
        assert journal.kept("quota") is None
        journal.keep("quota", {"minutes": [[1, 2]]})
        journal.keep("quota", {"minutes": [], "half": "\ud800"})
        journal.keep("seed", "abc")
        journal = self.reopen(journal)
        assert journal.kept("quota") == {"minutes": [], "half": "\ud800"}
        assert journal.kept("seed") == "abc"
        # It is not a step: the next step still commits.
        assert journal.commit(self.command("1", parts={"n": 1}))

    def test_an_order_waits_until_its_command_is_committed_and_is_given_once(self) -> None:
        journal = self.make()
        first = Order(nonce="n1", command="pause", text="storm", at=NOON)
        second = Order(nonce="n2", command="continue", text="", at=NOON + SECOND)
        journal.order(first)
        journal.order(second)
        journal.order(Order(nonce="n1", command="reset", text="", at=NOON))
        journal = self.reopen(journal)
        assert journal.open_orders() == [first, second]
        assert journal.commit(self.command("n1"))
        assert self.reopen(journal).open_orders() == [second]
