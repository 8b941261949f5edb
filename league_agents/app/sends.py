"""The number of mails that a mailbox may still send today, from the book that counts all its sends.

Rule: all code that shows or uses this number calls this module, so that the numbers agree.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from league_agents.app.storage import STORAGE
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.kit.clock import ManualClock
from league_agents.knowledge.corpus import default_index_path
from league_agents.mail.gmail.mailbox import endpoint_of
from league_agents.mail.quota import QuotaLedger
from league_agents.mail.send_counts import StoredSendCounts

BOOK_NAME = "sends.db"


def book_path() -> Path:
    """The path of the book of all mailboxes, beside the knowledge index. Raises ``ConfigError``."""
    return default_index_path().with_name(BOOK_NAME)


def book_of(settings: LeagueSettings, role: RoleSettings) -> StoredSendCounts:
    """The book of a role's mailbox; the caller closes it. Raises ``ConfigError``."""
    return STORAGE.sends(book_path(), endpoint=endpoint_of(settings.gmail.endpoint), address=role.address)


def sends_left(settings: LeagueSettings, role: RoleSettings, now: datetime) -> int | None:
    """The number of mails that a role's mailbox may still send; ``None`` if there is no count. Read only."""
    endpoint = endpoint_of(settings.gmail.endpoint)
    book = STORAGE.look_at_sends(book_path(), endpoint=endpoint, address=role.address)
    if book is None:
        return None
    try:
        return QuotaLedger(ManualClock(now), limits=settings.gmail.limits, sends=book).sends_left()
    finally:
        book.close()
