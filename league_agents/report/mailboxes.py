"""Every mailbox of a process in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from league_agents.kit.printable import printable
from league_agents.report.status import RoleStatus, ago, span
from league_agents.report.tables import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxLine:
    """One mailbox."""

    status: RoleStatus
    file: str
    """The league file that names it."""

    now: datetime
    """By the mail service's clock."""

    @property
    def state(self) -> str:
        """What it does, in words."""
        return self.status.state if self.status.is_running else f"not running ({self.status.state})"

    @property
    def next_deadline(self) -> datetime | None:
        """The earliest instant by which somebody owes something in an open game; ``None`` if nobody does."""
        return min((owed.due_at for game in self.status.games for owed in game.owed if owed.due_at), default=None)

    @property
    def trouble(self) -> str:
        """Why it cannot do its work; empty if it can."""
        status = self.status
        now = status.trouble if status.is_running else ""
        return status.stuck or now or status.clock_trouble or next(iter(status.token.trouble), "")

    def to_json(self) -> dict[str, object]:
        """The status as JSON values, with what the table has besides."""
        due_at = self.next_deadline
        return {
            "file": self.file,
            **self.status.to_json(self.now + self.status.clock_error),
            "next_deadline_at": None if due_at is None else due_at.isoformat(),
            "trouble": self.trouble,
        }


def _deadline(line: MailboxLine) -> str:
    if line.next_deadline is None:
        return ""
    left = line.next_deadline - line.now
    return f"in {span(left)}" if left.total_seconds() > 0 else f"overdue for {span(-left)}"


MAILBOXES = (
    Column(key="role", title="role", value=lambda line: line.status.label, is_whole=True),
    Column(key="address", title="mailbox", value=lambda line: line.status.address, is_whole=True),
    Column(key="state", title="state", value=lambda line: line.state),
    Column(key="last_mail", title="last mail", value=lambda line: ago(line.status.received_at, line.now)),
    Column(key="open_games", title="games", value=lambda line: len(line.status.games), is_number=True),
    Column(key="next_deadline", title="next deadline", value=_deadline),
)
MOST_TROUBLES = 20


def trouble_lines(lines: Sequence[MailboxLine]) -> Iterator[str]:
    """A line for each mailbox that cannot do its work: in a column there would be no room for it."""
    troubled = [line for line in lines if line.trouble]
    for line in troubled[:MOST_TROUBLES]:
        yield f"{line.status.label}: {printable(line.trouble, 1_000)}"
    if len(troubled) > MOST_TROUBLES:
        yield f"{len(troubled) - MOST_TROUBLES} more are in trouble: --json has all"


def count_words(lines: list[MailboxLine]) -> str:
    """The mailboxes in one line."""
    running = sum(line.status.is_running for line in lines)
    troubled = sum(bool(line.trouble) for line in lines)
    games = sum(len(line.status.games) for line in lines)
    count = "1 mailbox" if len(lines) == 1 else f"{len(lines)} mailboxes"
    return f"{count}, {running} running, {troubled} in trouble, {games} open games"
