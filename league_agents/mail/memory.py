"""A simulated mail service in memory, with delays and faults (``Weather``).

Rule: faults are drawn from the seed for each mail, so that the same season has the same faults. A mail is lost for one
recipient only; a duplicated mail arrives as two mails with two ids, as if the sender had sent it twice.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct

from league_agents.kit.clock import Clock
from league_agents.kit.draw import Draw
from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable
from league_agents.mail.mime import ParsedMail, build, read
from league_agents.mail.port import AmbiguousSend, Mail, OutgoingMail


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """Probabilities of faults, from 0 to 1, for each mail and recipient. The default has no faults."""

    delay: timedelta = timedelta(0)
    """The longest delay; the delay of each mail is drawn up to this."""

    reordering: float = 0.0
    """The chance of arriving after mails that were sent up to three delays later (at least three seconds)."""

    loss: float = 0.0
    duplication: float = 0.0
    refusal: float = 0.0
    """The chance that a send fails and nothing was sent."""

    ambiguity: float = 0.0
    """The chance that the connection breaks after the mail was accepted: it is delivered, but the send raises."""

    throttling: float = 0.0
    """The chance, for each mailbox and minute, that the service is unavailable during a part of that minute. In every
    second case it gives the time to wait, as a 429 does and a 503 does not."""

    lapses: float = 0.0
    """The chance, for each mailbox and quarter of an hour, that its authorization is refused during a part of it."""

    def __post_init__(self) -> None:
        for name in ("reordering", "loss", "duplication", "refusal", "ambiguity", "throttling", "lapses"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"the chance of {name} must be from 0 to 1, not {getattr(self, name)}")


FINE = Weather()

_MINUTE, _QUARTER = 60, 900
"""Lengths, in seconds, of the periods for which outages are drawn."""


class Posted(Struct, frozen=True, kw_only=True):
    """An accepted mail that is not delivered yet."""

    mail: OutgoingMail
    arrivals: tuple[tuple[str, tuple[datetime, ...]], ...]
    """(recipient, instants of arrival); no instants for a lost mail."""


@dataclass(frozen=True, slots=True)
class _Outage:
    """An outage within a period, in seconds since the epoch. Two equal instants mean no outage."""

    begins: float
    ends: float
    names_its_end: bool

    def holds(self, second: float) -> bool:
        return self.begins <= second < self.ends


class PostOffice:
    """Accepts mail for its addresses and delivers it after its delay."""

    def __init__(
        self,
        clock: Clock,
        *,
        seed: int | str = 0,
        weather: Weather = FINE,
        through_mime: bool = False,
        holds_mail: bool = False,
    ) -> None:
        """With ``through_mime`` every mail is encoded as MIME and decoded again, as with a real mail service. With
        ``holds_mail`` accepted mail waits for ``take_held``, and is delivered by ``deliver`` only."""
        self._clock = clock
        self._weather = weather
        self._is_fine = weather == FINE
        self._seed = seed
        self._through_mime = through_mime
        self._boxes: dict[str, MemoryMailbox] = {}
        self._sent: Counter[str] = Counter()
        """The number of mails by their sender. A sender's faults do not depend on what others send."""

        self._held: list[Posted] | None = [] if holds_mail else None
        self._outages: dict[tuple[str, str], tuple[int, _Outage]] = {}
        """(mailbox, kind) -> the latest period requested, and its outage."""

    def mailbox(self, address: str) -> MemoryMailbox:
        """Return the mailbox of an address; create it if it does not exist."""
        key = address.lower()
        if key not in self._boxes:
            self._boxes[key] = MemoryMailbox(self, address, self._clock)
        return self._boxes[key]

    def next_arrival(self) -> datetime | None:
        """The arrival of the next mail in transit; ``None`` if there is none."""
        return min((box.on_its_way[0][0] for box in self._boxes.values() if box.on_its_way), default=None)

    def check(self, address: str) -> None:
        """Raises ``AuthorizationExpired`` or ``MailboxUnavailable`` if this mailbox cannot be used now."""
        if self._is_fine:
            return
        second = self._clock.now().timestamp()
        if self._outage(address, "lapse", _QUARTER, second, self._weather.lapses).holds(second):
            raise AuthorizationExpired
        outage = self._outage(address, "throttling", _MINUTE, second, self._weather.throttling)
        if outage.holds(second):
            wait = timedelta(seconds=outage.ends - second) if outage.names_its_end else None
            raise MailboxUnavailable("the post office answers nobody at the moment", retry_after=wait)

    def login(self, address: str) -> object:
        """Return a value that changes when this mailbox's authorization is lost and when it is restored."""
        second = self._clock.now().timestamp()
        lapse = self._outage(address, "lapse", _QUARTER, second, self._weather.lapses)
        return lapse if lapse.holds(second) else None

    def _outage(self, address: str, kind: str, length: int, second: float, chance: float) -> _Outage:
        period = int(second // length)
        key = (address, kind)
        found = self._outages.get(key)
        if found is None or found[0] != period:
            draw = Draw(self._seed, f"{kind}/{address}/{period}")
            begins = ends = float(period * length)
            if draw.chance(chance):
                begins += length * draw.fraction()
                ends = begins + (ends + length - begins) * draw.fraction()
            found = self._outages[key] = (period, _Outage(begins, ends, draw.chance(0.5)))
        return found[1]

    def accept(self, mail: OutgoingMail) -> None:
        """Accept a mail for delivery. Raises as ``Mailbox.send`` does."""
        if self._is_fine:
            self._post(Posted(mail=mail, arrivals=tuple((address, (mail.sent_at,)) for address in mail.to)))
            return
        sender = mail.sender.lower()
        self._sent[sender] += 1
        draw = Draw(self._seed, f"mail/{sender}/{self._sent[sender]}")
        if draw.chance(self._weather.refusal):
            raise MailboxUnavailable("the post office takes no mail at the moment")
        instants = [self._fate(mail.sent_at, draw) for _ in mail.to]
        ambiguous = draw.chance(self._weather.ambiguity)
        self._post(Posted(mail=mail, arrivals=tuple(zip(mail.to, instants, strict=True))))
        if ambiguous:
            raise AmbiguousSend()

    def take_held(self) -> list[Posted]:
        """Return the mail that was accepted since the last call, in its order."""
        held, self._held = self._held or [], []
        return held

    def deliver(self, each: Posted) -> None:
        """Deliver a mail to its recipients."""
        received = self._received(each.mail)
        for address, arrivals in each.arrivals:
            self._deliver(each.mail, received, address, arrivals)

    def _post(self, each: Posted) -> None:
        if self._held is None:
            self.deliver(each)
        else:
            self._held.append(each)

    def _deliver(self, mail: OutgoingMail, received: ParsedMail, address: str, arrivals: Sequence[datetime]) -> None:
        box = self._boxes.get(address.lower())
        if box is None:
            self._bounce(mail, address)
            return
        for arrived_at in arrivals:
            box.put(received, arrived_at)

    def _fate(self, sent_at: datetime, draw: Draw) -> tuple[datetime, ...]:
        """Return the instants at which the mail arrives for one recipient; none if it is lost."""
        weather = self._weather
        if draw.chance(weather.loss):
            return ()
        copies = 2 if draw.chance(weather.duplication) else 1
        arrivals = []
        for _ in range(copies):
            wait = weather.delay * draw.fraction()
            if draw.chance(weather.reordering):
                wait += 3 * max(weather.delay, timedelta(seconds=1)) * draw.fraction()
            arrivals.append(sent_at + wait)
        return tuple(arrivals)

    def _received(self, mail: OutgoingMail) -> ParsedMail:
        if self._through_mime:
            return read(build(mail))
        return ParsedMail(subject=mail.subject, from_header=mail.sender, documents=(mail.document,))

    def _bounce(self, mail: OutgoingMail, address: str) -> None:
        sender = self._boxes.get(mail.sender.lower())
        if sender is None:
            return
        notice = ParsedMail(
            subject=f"Delivery Status Notification (Failure): no mailbox {address}",
            from_header="mailer-daemon@post.invalid",
            headers={"auto-submitted": "auto-replied"},
        )
        sender.put(notice, mail.sent_at)


class MemoryMailbox:
    """``Mailbox`` of one address of a post office."""

    def __init__(self, office: PostOffice, address: str, clock: Clock) -> None:
        self._office = office
        self._address = address
        self._clock = clock
        self._delivered = 0
        self._waiting: dict[str, Mail] = {}
        self._sent: set[str] = set()
        self.on_its_way: list[tuple[datetime, int, Mail]] = []
        """A heap of mails by their arrival."""

    @property
    def address(self) -> str:
        return self._address

    def put(self, content: ParsedMail, arrived_at: datetime) -> None:
        """Deliver a mail at ``arrived_at``."""
        self._delivered += 1
        mail = Mail(
            mail_id=f"mail-{self._delivered}",
            arrived_at=arrived_at,
            from_header=content.from_header,
            subject=content.subject,
            documents=content.documents,
            headers=content.headers,
            problems=content.problems,
        )
        heapq.heappush(self.on_its_way, (arrived_at, self._delivered, mail))

    @property
    def login(self) -> object:
        """Return a value that changes when this mailbox is authorized again."""
        return self._office.login(self._address)

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        self._office.check(self._address)
        if not self.on_its_way and not self._waiting:
            return []
        now = self._clock.now()
        while self.on_its_way and self.on_its_way[0][0] <= now:
            mail = heapq.heappop(self.on_its_way)[2]
            self._waiting[mail.mail_id] = mail
        found: list[Mail] = []
        for mail in self._waiting.values():
            if not known(mail.mail_id):
                found.append(mail)
                if len(found) == limit:
                    break
        return found

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        self._office.check(self._address)
        for mail_id in mail_ids:
            self._waiting.pop(mail_id, None)

    def send(self, mail: OutgoingMail) -> None:
        if mail.sender.lower() != self._address.lower():
            raise ValueError(f"{self._address} cannot send in the name of {mail.sender}")
        self._office.check(self._address)
        try:
            self._office.accept(mail)
        except AmbiguousSend:
            self._sent.add(mail.transaction_id)
            raise
        self._sent.add(mail.transaction_id)

    def was_sent(self, transaction_id: str) -> bool:
        self._office.check(self._address)
        return transaction_id in self._sent
