"""How long a mail waits until its reply is on the way, with a real daemon and without any callback."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from league_agents.kit.clock import SystemClock, sleep_s
from league_agents.kit.draw import Draw
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import FreeText
from league_agents.league.wire.subject import format_subject
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague
from league_agents.mail import mime
from league_agents.mail.port import OutgoingMail

VERDICT = {"spf": "pass", "dkim": "pass", "dmarc": "pass", "domain": "league.test"}
_NUMBER = re.compile(r"latency-(\d+)-")


def free_text(number: int, to: str) -> bytes:
    """A word of the league manager to everybody, which each of them answers at once."""
    now = SystemClock().now()
    envelope = Envelope(
        protocol=Protocol.LEAGUE,
        message_type=MessageType.BROADCAST_FREE_TEXT,
        message_id=f"word-{number}",
        timestamp=now,
        sender=Sender(email=MANAGER, role=Role.LEAGUEMANAGER),
        recipient_id="BROADCAST",
        payload=FreeText(message_text="Are you there?"),
        league_id="LOCAL",
        broadcast_id=f"latency-{number}-",
    )
    return mime.build(
        OutgoingMail(
            sender=MANAGER,
            to=(to,),
            subject=format_subject(envelope),
            document=encode(envelope),
            transaction_id=envelope.message_id,
            sent_at=now,
        )
    )


def measure(folder: Path, *, poll: timedelta, mails: int, seed: int = 1) -> list[timedelta]:
    """The waits of so many mails, which come at drawn moments, and seldom enough for the quota.

    Raises ``LimitExceeded`` when one is not answered.
    """
    draw = Draw(seed, "latency")
    player = LeagueProcess(role="player", group="falcons")
    with LocalLeague(folder=folder, seats=[player], poll=poll) as league:
        league.start(player)
        asked: dict[int, int] = {}
        league.wait_for_log(player, "watching")
        sleep_s(2 * poll.total_seconds())
        for number in range(mails):
            (mail_id,) = league.sandbox.inject(
                free_text(number, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT
            )
            asked[number] = next(
                mail.internal_ms for mail in league.sandbox.mail(player.address) if mail.mail_id == mail_id
            )
            sleep_s(4 * poll.total_seconds() * draw.fraction())
        league.until(lambda: len(league.sandbox.mail(player.address, "SENT")) >= mails, "all mails are answered")
        waits = []
        for reply in league.sandbox.mail(player.address, "SENT"):
            found = _NUMBER.search(str(mime.read(reply.raw).documents))
            assert found is not None, "a reply names the word that it answers"
            waits.append(timedelta(milliseconds=reply.internal_ms - asked[int(found[1])]))
        league.stop()
    return sorted(waits)
