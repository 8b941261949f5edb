"""Contract tests for mailboxes. A test class inherits from ``MailboxContract`` and creates two mailboxes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from league_agents.mail.port import Mail, Mailbox, OutgoingMail

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
ALICE = "Alice.Referee@league.test"
BOB = "bob@league.test"


def letter(number: int, *, sender: str = ALICE, to: tuple[str, ...] = (BOB,), **payload: object) -> OutgoingMail:
    """A protocol mail."""
    document: Mapping[str, object] = {
        "protocol": "league.v2",
        "message_type": "BROADCAST_FREE_TEXT",
        "message_id": f"m{number}",
        "payload": {"message_text": f"number {number}", **payload},
    }
    return OutgoingMail(
        sender=sender,
        to=to,
        subject=f"league.v2::LEAGUEMANAGER::{sender}::m{number}::BROADCAST_FREE_TEXT",
        document=document,
        transaction_id=f"m{number}",
        sent_at=NOON,
    )


def nothing_known(_mail_id: str) -> bool:
    """Report every mail as unknown, as for a reader that has seen no mail yet."""
    return False


def document(mail: Mail) -> object:
    """The mail's JSON object."""
    return next(value for value in mail.documents if isinstance(value, dict))


class MailboxContract(ABC):
    """Inherit, implement ``make`` and ``wait``, and let pytest collect the subclass."""

    @abstractmethod
    def make(self) -> tuple[Mailbox, Mailbox]:
        """Return the empty mailboxes of ``ALICE`` and ``BOB``, which deliver mail to each other."""

    def wait(self) -> None:  # noqa: B027 - mail that arrives at once needs no waiting
        """Wait until all sent mail has arrived."""

    def test_a_mail_arrives_as_it_was_sent(self) -> None:
        alice, bob = self.make()
        sent = letter(1, hebrew="שלום", chinese="谁是卧底", quote='"\\', decimal=1.5, nothing=None)
        alice.send(sent)
        self.wait()
        (mail,) = bob.fetch(10, nothing_known)
        assert document(mail) == sent.document
        assert mail.subject == sent.subject
        assert ALICE in mail.from_header
        assert mail.arrived_at.tzinfo is not None
        assert mail.arrived_at - NOON < timedelta(days=36500)

    def test_fetching_alters_nothing_and_acknowledging_ends_it(self) -> None:
        alice, bob = self.make()
        alice.send(letter(1))
        self.wait()
        (first,) = bob.fetch(10, nothing_known)
        (second,) = bob.fetch(10, nothing_known)
        assert first.mail_id == second.mail_id
        bob.acknowledge([first.mail_id])
        bob.acknowledge([first.mail_id, "unknown"])
        assert bob.fetch(10, nothing_known) == []

    def test_the_oldest_mails_come_first_over_the_whole_backlog(self) -> None:
        alice, bob = self.make()
        for number in range(25):
            alice.send(letter(number))
        self.wait()
        seen: list[object] = []
        while mails := bob.fetch(10, nothing_known):
            assert len(mails) <= 10
            for mail in mails:
                found = document(mail)
                assert isinstance(found, dict)
                seen.append(found["message_id"])
            bob.acknowledge([mail.mail_id for mail in mails])
        assert seen == [f"m{number}" for number in range(25)]

    def test_known_mails_are_passed_over_and_do_not_hide_others(self) -> None:
        alice, bob = self.make()
        for number in range(6):
            alice.send(letter(number))
        self.wait()
        known = {mail.mail_id for mail in bob.fetch(5, nothing_known)}
        assert len(known) == 5
        (rest,) = bob.fetch(5, known.__contains__)
        assert document(rest) == letter(5).document

    def test_one_mail_to_several_arrives_at_each(self) -> None:
        alice, bob = self.make()
        alice.send(letter(1, to=(BOB, ALICE)))
        self.wait()
        assert [document(mail) for mail in alice.fetch(10, nothing_known)] == [letter(1).document]
        assert [document(mail) for mail in bob.fetch(10, nothing_known)] == [letter(1).document]

    def test_addresses_are_the_same_in_any_letter_case(self) -> None:
        alice, bob = self.make()
        bob.send(letter(1, sender=BOB, to=(ALICE.upper(),)))
        self.wait()
        assert len(alice.fetch(10, nothing_known)) == 1

    def test_what_was_sent_is_found_by_its_transaction_id(self) -> None:
        alice, bob = self.make()
        assert not alice.was_sent("m1")
        alice.send(letter(1))
        self.wait()
        assert alice.was_sent("m1")
        assert not alice.was_sent("m")
        assert not bob.was_sent("m1")

    def test_each_mail_has_an_id_of_its_own_even_when_it_was_sent_twice(self) -> None:
        alice, bob = self.make()
        alice.send(letter(1))
        alice.send(letter(1))
        self.wait()
        assert len({mail.mail_id for mail in bob.fetch(10, nothing_known)}) == 2

    def test_the_address_is_told_as_it_is_spelled(self) -> None:
        alice, _ = self.make()
        assert alice.address == ALICE
