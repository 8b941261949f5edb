"""A Gmail of our own for each test, and mailboxes on it that are closed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from league_agents.mail.gmail import GmailMailbox
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB

OpenMailbox = Callable[..., GmailMailbox]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Gmail with the accounts of Alice and Bob."""
    with Sandbox([ALICE, BOB], seed="adapter") as running:
        yield running
    assert running.failures == ()


@pytest.fixture
def open_mailbox(sandbox: Sandbox, tmp_path: Path) -> Iterator[OpenMailbox]:
    """``open_mailbox(address, **options)``."""
    opened: list[GmailMailbox] = []

    def make(address: str, **options: Any) -> GmailMailbox:
        mailbox = GmailMailbox(sandbox.token_file(address, tmp_path), endpoint=sandbox.url, **options)
        opened.append(mailbox)
        return mailbox

    yield make
    for mailbox in opened:
        mailbox.close()
