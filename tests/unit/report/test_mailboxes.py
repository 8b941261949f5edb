"""The table of many mailboxes."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from rich.console import Console

from league_agents.report.mailboxes import MAILBOXES, MOST_TROUBLES, MailboxLine, trouble_lines
from league_agents.report.status import RoleStatus, TokenState
from league_agents.report.tables import text_table

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)
TROUBLE = "client_secret.json: there is no such file; create an OAuth client of type Desktop app and save its JSON here"


def line(name: str, trouble: str) -> MailboxLine:
    status = RoleStatus(
        role="referee",
        name=name,
        address=f"{name}.referee@gmail.com",
        state="never started",
        is_running=False,
        stuck=trouble,
        outbox={},
        token=TokenState(),
    )
    return MailboxLine(status=status, file="league.yaml", now=NOW)


def test_trouble_has_lines_of_its_own_and_the_table_fits_a_terminal() -> None:
    lines = [line("falcons", TROUBLE), line("otters", ""), *(line(f"r{number}", "full") for number in range(30))]
    screen = Console(file=io.StringIO(), width=80, record=True)
    screen.print(text_table(MAILBOXES, lines))
    table = screen.export_text().splitlines()
    assert max(len(each.rstrip()) for each in table) <= 80
    assert not any("client_secret" in each for each in table)
    told = list(trouble_lines(lines))
    assert told[:2] == [f"referee falcons: {TROUBLE}", "referee r0: full"]
    assert told[MOST_TROUBLES:] == ["11 more are in trouble: --json has all"]
