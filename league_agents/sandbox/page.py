"""The overview page for people: mail counts and the latest mails. Every text is escaped; tokens are not shown."""

from __future__ import annotations

import heapq
import html

from league_agents.sandbox.timekeeping import instant
from league_agents.sandbox.world import World

_LAST = 30
_LONGEST = 160
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%;margin:0 0 2rem}"
    "th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;overflow-wrap:anywhere}"
    "td.n{text-align:right;width:5rem}"
)


def home_page(world: World) -> str:
    """The page at ``/``."""
    accounts = [
        (box.address, len(box), box.count("UNREAD"), box.count("SENT"), box.count("SPAM"))
        for box in world.boxes.values()
    ]
    newest = heapq.nlargest(
        _LAST,
        ((mail.place, box, mail) for box in world.boxes.values() for mail in box.listed(
            with_hidden=True, now_ms=world.clock.now_ms())),
        key=lambda each: each[0],
    )  # fmt: skip
    mails = [
        (
            f"{instant(mail.internal_ms):%Y-%m-%d %H:%M:%S}",
            box.address,
            ", ".join(mail.label_ids),
            mail.view.header("from"),
            mail.view.header("subject"),
        )
        for _, box, mail in newest
    ]
    body = (
        f"<h1>Mail sandbox</h1><p>{world.clock.now():%Y-%m-%d %H:%M:%S} UTC,"
        f" {world.office.on_its_way} on the way. <a href=/sandbox/report>Report</a></p>"
        + _table(("Account", "Mails", "Unread", "Sent", "Spam"), accounts)
        + f"<h2>Last {_LAST} mails</h2>"
        + _table(("Date", "Mailbox", "Labels", "From", "Subject"), mails)
    )
    head = f'<meta charset="utf-8"><title>Mail sandbox</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en">{head}{body}</html>'


def _table(heads: tuple[str, ...], rows: object) -> str:
    assert isinstance(rows, list)
    head = "".join(f"<th>{html.escape(name)}" for name in heads)
    lines = ["<tr>" + "".join(_cell(value) for value in row) for row in rows]
    return f"<table><tr>{head}{''.join(lines)}</table>"


def _cell(value: object) -> str:
    mark = " class=n" if isinstance(value, int) else ""
    return f"<td{mark}>{html.escape(str(value)[:_LONGEST])}"
