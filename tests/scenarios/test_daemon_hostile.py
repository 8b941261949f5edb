"""Mail that nobody should send reaches a daemon: each is recorded with one reason, memory is bounded, and the next
honest mail is answered."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from league_agents.journal.port import InboxRow, InboxVerdict
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.errors import JournalError
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague
from league_agents.local_league.patience import LIMIT_S, until
from tests.support.latency import VERDICT, free_text
from tests.support.turns import turns

PLAYER = LeagueProcess(role="player", group="falcons")
HEAD = (
    b"From: " + MANAGER.encode() + b"\r\nTo: falcons@league.test\r\nMIME-Version: 1.0\r\n"
    b"Subject: league.v2::LEAGUEMANAGER::" + MANAGER.encode() + b"::%s::BROADCASTFREETEXT\r\n"
)
FORGED = {"spf": "fail", "dkim": "fail", "dmarc": "fail", "domain": "evil.test"}
MOST_MEMORY_KB = 150_000
"""Of the whole process. One mail alone has 35,000, a daemon that has read nothing 60,000."""


def attachment(content: bytes, *, encoding: bytes = b"8bit", kind: bytes = b"application/json") -> bytes:
    return (
        b"Content-Type: " + kind + b'; name="payload.json"\r\nContent-Transfer-Encoding: ' + encoding
        + b'\r\nContent-Disposition: attachment; filename="payload.json"\r\n\r\n' + content
    )  # fmt: skip


def many_parts(number: int) -> bytes:
    part = b"--b\r\nContent-Type: application/json\r\n\r\n[]\r\n"
    return b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' + part * number + b"--b--\r\n"


HOSTILE = {
    "35 MB": attachment(b'{"a": "' + b"x" * 34_900_000 + b'"}'),
    "9 MB of numbers": attachment(b"[" + b"1," * 4_500_000 + b"1]"),
    "100,000 levels": attachment(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "100,000 lists": attachment(b"[" * 100_000 + b"]" * 100_000),
    "invalid base64": attachment(b"%%%not base64%%%", encoding=b"base64"),
    "wrong charset": attachment(b'{"a": "\xff\xfe\xfa"}', kind=b"application/json; charset=klingon"),
    "10,000 parts": many_parts(10_000),
    "HTML only": b"Content-Type: text/html\r\n\r\n<html><body><p>{&quot;protocol&quot;: 1}</p></body></html>\r\n",
    "no object": attachment(b"[1, 2, 3]"),
    "a number": attachment(b"5"),
    "a long number": attachment(b'{"a": ' + b"9" * 100_000 + b"}"),
    "half a character": attachment(b'{"message_type": "\\udc00"}'),
    "a bomb of encodings": attachment(b"=" * 500_000, encoding=b"quoted-printable"),
    "nothing": b"\r\n",
}
INJECTIONS = {
    "a header in the subject": b"Subject: =?utf-8?q?league.v2::PLAYER::x=0D=0ABcc:_victim@league.test::t::Q21G?=\r\n",
    "a header in the sender": b"From: =?utf-8?q?x=0D=0ABcc:_victim@league.test?= <stranger@league.test>\r\n"
    b"Subject: league.v2::PLAYER::x::t::BROADCASTFREETEXT\r\n",
    "two senders": b"From: " + MANAGER.encode() + b"\r\nFrom: stranger@league.test\r\n"
    b"Subject: league.v2::PLAYER::x::t::BROADCASTFREETEXT\r\n",
    "a thousand headers": b"From: stranger@evil.test\r\n"
    + b"X-Noise: y\r\n" * 1_000
    + b"Subject: league.v2::PLAYER::x::t::BROADCASTFREETEXT\r\n",
    "a long subject": b"Subject: league.v2::" + b"A" * 900_000 + b"\r\n",
}


def inbox(league: LocalLeague) -> list[InboxRow]:
    try:
        journal = SqliteJournal.to_look_at(league.journal_of(PLAYER))
    except JournalError:
        return []  # it is being made at this moment
    try:
        return list(journal.inbox())
    finally:
        journal.close()


@contextmanager
def daemon(folder: Path) -> Iterator[tuple[LocalLeague, dict[str, int]]]:
    """A player's daemon; afterwards the most memory that it ever had, and its exit code."""
    ended: dict[str, int] = {}
    with LocalLeague(folder=folder, seats=[PLAYER]) as league:
        league.start(PLAYER)
        with league.processes.pop(PLAYER.name) as process:
            try:
                yield league, ended
            finally:
                ended["memory_kb"] = most_memory_kb(process.pid)
                process.send_signal(signal.SIGTERM)
                ended["code"] = process.wait(LIMIT_S)


def most_memory_kb(pid: int) -> int:
    """Of this process since it was started, as Linux counts it; 0 elsewhere. What a process reports of its children
    begins with the size of whoever started them."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("ascii")) if status.exists() else None
    return int(found[1]) if found is not None else 0


def wait_for(league: LocalLeague, mails: int) -> list[InboxRow]:
    until(lambda: len(inbox(league)) >= mails, f"{mails} mails are recorded", story=lambda: log(league))
    return inbox(league)


def log(league: LocalLeague) -> str:
    return league.log_of(PLAYER).read_text("utf-8")


def test_hostile_mail_is_recorded_with_one_reason_each_and_the_daemon_goes_on(tmp_path: Path) -> None:
    with daemon(tmp_path / "league") as (league, ended):
        names = {}
        until(lambda: "watching" in log(league), "the daemon watches", story=lambda: log(league))
        sandbox = league.sandbox
        for number, (name, body) in enumerate(HOSTILE.items()):
            (mail_id,) = sandbox.inject(HEAD % f"t{number}".encode() + body, to=[PLAYER.address], sender=MANAGER,
                                        verdict=VERDICT)  # fmt: skip
            names[mail_id] = name
        for name, head in INJECTIONS.items():
            raw = b"To: falcons@league.test\r\n" + head + attachment(encode_text("injected"))
            (mail_id,) = sandbox.inject(raw, to=[PLAYER.address], sender=MANAGER, verdict=FORGED)
            names[mail_id] = name
        wait_for(league, len(names))
        sandbox.inject(free_text(1, PLAYER.address), to=[PLAYER.address], sender=MANAGER, verdict=VERDICT)
        rows = wait_for(league, len(names) + 1)
        replies = until(lambda: sandbox.mail(PLAYER.address, "SENT"), "the honest mail is answered")
        victims: dict[str, Any] = sandbox.report()
    found = {names[row.mail_id]: row for row in rows if row.mail_id in names}
    assert sorted(found) == sorted(names.values()), "each once"
    assert [name for name, row in found.items() if row.verdict is InboxVerdict.PROCESSED] == []
    assert [name for name, row in found.items() if not row.reason or "\n" in row.reason] == []
    assert [name for name, row in found.items() if row.verdict is InboxVerdict.PARKED] == [], "no bug was hit"
    assert rows[-1].verdict is InboxVerdict.PROCESSED
    assert len(replies) == 1
    assert [account for account in victims["delivered"] if "victim" in account] == []
    assert ended["code"] == 0
    assert ended["memory_kb"] < MOST_MEMORY_KB


def encode_text(text: str) -> bytes:
    return b'{"protocol": "league.v2", "message_type": "BROADCAST_FREE_TEXT", "message_text": "' + text.encode() + b'"}'


def test_a_storm_of_strangers_holds_nobody_up(tmp_path: Path) -> None:
    """Their mail was there first, and the office's is taken in before any of it."""
    with LocalLeague(folder=tmp_path / "waiting", seats=[PLAYER]) as waiting:
        for number in range(300):
            sender = b"From: s%d@evil.test\r\n" % number
            subject = b"Subject: league.v2::PLAYER::x::t%d::BROADCASTFREETEXT\r\n" % number
            waiting.sandbox.inject(sender + subject + attachment(b"{}"), to=[PLAYER.address])
        waiting.sandbox.inject(free_text(1, PLAYER.address), to=[PLAYER.address], sender=MANAGER, verdict=VERDICT)
        with turns(waiting) as one:
            one.until(lambda: bool(waiting.sandbox.mail(PLAYER.address, "SENT")))
            rows = list(one.lives[0].role.wired.journal.inbox())
    assert rows[0].verdict is InboxVerdict.PROCESSED
    assert {row.verdict for row in rows[1:]} <= {InboxVerdict.REJECTED}
    assert [row.document for row in rows[1:] if row.document is not None] == []
