"""The Gmail mailbox keeps the contract of all mailboxes, on our own Gmail."""

from __future__ import annotations

import pytest

from league_agents.mail.port import Mailbox
from league_agents.testing.mailbox_contract import ALICE, BOB, MailboxContract


class TestGmailMailboxOnTheSandbox(MailboxContract):
    @pytest.fixture(autouse=True)
    def _mailboxes(self, open_mailbox) -> None:
        self._pair = (open_mailbox(ALICE), open_mailbox(BOB))

    def make(self) -> tuple[Mailbox, Mailbox]:
        return self._pair
