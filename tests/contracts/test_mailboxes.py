"""Every mailbox keeps the contract."""

from __future__ import annotations

from league_agents.kit.clock import ManualClock
from league_agents.mail.memory import PostOffice
from league_agents.mail.port import Mailbox
from league_agents.testing.mailbox_contract import ALICE, BOB, NOON, MailboxContract


class TestMemoryMailbox(MailboxContract):
    through_mime = False

    def make(self) -> tuple[Mailbox, Mailbox]:
        office = PostOffice(ManualClock(NOON), through_mime=self.through_mime)
        return office.mailbox(ALICE), office.mailbox(BOB)


class TestMemoryMailboxThroughMime(TestMemoryMailbox):
    through_mime = True
