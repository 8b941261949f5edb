"""The waiting mails of one account: those of peers in front, oldest first, and all others behind them.

Gmail lists only ids cheaply, and neither ids nor the order of a listing follow the dates: a mail that was imported or
delayed has a new id and an old internal date. A date costs as much as the mail. So for the mails in front:

Rule 1: if few wait, all of them are opened, once, and sorted by internal date. The order is exact.
Rule 2: if many wait, Gmail's search selects those from before an instant; the instant is found by bisection, at a
quarter of the price of one mail for each step. The order is exact too.
Rule 3: opened mails are cached, up to a number of bytes, until they are done. Of a mail that does not fit only the date
is kept, and it is opened again when it is next.

Rule 4: of the mails behind, the latest arrivals come first, in their order, and then all others, the newest first.
There may be more of them than can ever be read, and only a mail that came lately can still be of use to a game.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from league_agents.kit.clock import Clock
from league_agents.mail.gmail.failures import Gone
from league_agents.mail.gmail.missing import Missing
from league_agents.mail.gmail.received import Received
from league_agents.mail.port import Mail

WINDOW = 200
"""Most mails to open before the first of them is returned: two thirds of a minute's quota."""

SHELF_BYTES = 16_000_000
"""Most bytes of cached mails, in raw form. A parsed document can take a dozen times the memory of its text."""

LATEST = 20
"""How many of the latest arrivals are taken in order. Newest first, one could wait long although few arrive."""

REMEMBERED = 20_000
"""How many done mails are remembered, because a search may show them as unread for a while."""


class Backlog:
    """Ids of waiting mails in the order in which they were found, the oldest first as far as that is known."""

    def __init__(
        self, open_mail: Callable[[str], Received], ids_before: Callable[[datetime], Iterator[str]], clock: Clock
    ) -> None:
        """``open_mail`` raises ``Gone``. ``ids_before`` searches among the mails in front by internal date."""
        self._open_mail = open_mail
        self._ids_before = ids_before
        self._clock = clock
        self._waiting: dict[str, None] = {}
        self._front: dict[str, None] = {}
        """The ids of ``_waiting`` that are in front: returned by date."""

        self._latest: deque[str] = deque(maxlen=LATEST)
        self._dates: dict[str, datetime] = {}
        self._shelf: dict[str, Received] = {}
        self._shelf_bytes = 0
        self._missing = Missing(clock)
        self._done: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_more_behind(self) -> bool:
        """Whether mails wait that are not in front."""
        return len(self._waiting) > len(self._front)

    def found(self, mail_ids: Iterable[str]) -> None:
        """Add waiting mails, in this order."""
        for mail_id in mail_ids:
            if mail_id not in self._done:
                self._waiting.setdefault(mail_id)

    def arrived(self, mail_ids: Sequence[str]) -> None:
        """Add mails that have just arrived, in this order."""
        self.found(mail_ids)
        self._latest.extend(mail_id for mail_id in mail_ids if mail_id in self._waiting)

    def listed(self, newest_first: Sequence[str]) -> None:
        """Add the mails of a listing. Known mails that are not in it still wait: a listing may lag behind."""
        before = self._waiting
        self._waiting = {}
        self.found(reversed(newest_first))
        for mail_id in before:
            self._waiting.setdefault(mail_id)

    def bring_forward(self, newest_first: Sequence[str]) -> None:
        """Move mails, which may be new, to the front: they are returned by date before all others."""
        self.found(reversed(newest_first))
        for mail_id in reversed(newest_first):
            if mail_id in self._waiting:
                self._front.setdefault(mail_id)

    def admit(self, mail_id: str, arrived_at: datetime) -> None:
        """Move one mail, whose headers were read, from behind to the front."""
        self._front[mail_id] = None
        self._dates[mail_id] = arrived_at

    def send_back(self) -> None:
        """Move the mails in front whose date is unknown back behind."""
        self._front = {mail_id: None for mail_id in self._front if mail_id in self._dates}

    def move_up(self, newest_first: Sequence[str]) -> None:
        """Make these the next of the mails behind."""
        for mail_id in reversed(newest_first):
            if mail_id not in self._done:
                self._waiting.pop(mail_id, None)
                self._waiting[mail_id] = None

    def done(self, mail_id: str) -> None:
        """Remove a mail, even if a listing shows it again."""
        self._drop(mail_id)
        self._done[mail_id] = None
        if len(self._done) > REMEMBERED:
            del self._done[next(iter(self._done))]

    def missed(self, mail_id: str) -> None:
        """Record that a mail was not found. Drop it if that happened too often, else try it again later."""
        if not self._missing.missed(mail_id):
            self._drop(mail_id)

    def oldest(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        """Return the oldest mails in front that are not ``known``, at most ``limit``; fewer if no more wait or they
        are large."""
        for mail_id in [mail_id for mail_id in self._front if known(mail_id)]:
            self._drop(mail_id)
        mails: list[Mail] = []
        # Chosen mails may turn out to be gone or not protocol mail.
        while not mails and limit > 0:
            ready = {mail_id: None for mail_id in self._front if not self._missing.is_resting(mail_id)}
            if not ready:
                break
            mails = self._first_of(self._choose(ready, limit), limit)
        return mails

    def behind(self, known: Callable[[str], bool], *, most: int) -> list[str]:
        """Return up to ``most`` mails that are neither in front nor ``known``, the next ones first."""
        found: dict[str, None] = {}
        dropped: list[str] = []
        for mail_id in chain(self._latest, reversed(self._waiting)):
            if len(found) == most:
                break
            if mail_id not in self._waiting or mail_id in self._front or self._missing.is_resting(mail_id):
                continue
            if known(mail_id):
                dropped.append(mail_id)
            else:
                found[mail_id] = None
        for mail_id in dropped:
            self._drop(mail_id)
        return list(found)

    def _choose(self, ready: Collection[str], limit: int) -> list[str]:
        """Return mails that include the oldest ``limit`` of ``ready``, after opening all that exist."""
        chosen = list(ready if len(ready) <= WINDOW else self._slice(ready, min(limit, WINDOW)))
        for mail_id in chosen:
            # Opening a mail may have moved the others back.
            if mail_id in self._front and mail_id not in self._dates:
                self._open(mail_id)
        return chosen

    def _first_of(self, chosen: Collection[str], limit: int) -> list[Mail]:
        rank = {mail_id: number for number, mail_id in enumerate(self._waiting)}
        there = [mail_id for mail_id in chosen if mail_id in self._dates]
        ordered = sorted(there, key=lambda mail_id: (self._dates[mail_id], rank[mail_id]))
        mails: list[Mail] = []
        weight = 0
        for mail_id in ordered:
            received = self._shelf.get(mail_id) or self._open(mail_id)
            if received is None:
                continue
            weight += received.size
            mails.append(received.mail)
            if len(mails) == limit or weight > SHELF_BYTES:
                break
        return mails

    def _open(self, mail_id: str) -> Received | None:
        """Open a mail; ``None`` if it is missing, perhaps temporarily, or not protocol mail."""
        try:
            received = self._open_mail(mail_id)
        except Gone:
            self._dates.pop(mail_id, None)
            self.missed(mail_id)
            return None
        self._missing.forget(mail_id)
        if not received.may_be_protocol_mail:
            self._drop(mail_id)
            return None
        self._dates[mail_id] = received.mail.arrived_at
        if self._shelf_bytes + received.size <= SHELF_BYTES:
            self._shelf[mail_id] = received
            self._shelf_bytes += received.size
        return received

    def _drop(self, mail_id: str) -> None:
        self._waiting.pop(mail_id, None)
        self._front.pop(mail_id, None)
        self._dates.pop(mail_id, None)
        self._missing.forget(mail_id)
        received = self._shelf.pop(mail_id, None)
        if received is not None:
            self._shelf_bytes -= received.size

    def _slice(self, ready: Collection[str], least: int) -> Collection[str]:
        """Return all mails of ``ready`` before some instant: at least ``least``, and at most ``WINDOW`` unless too many
        share one second."""
        early, late = 0, int((self._clock.now() + timedelta(days=2)).timestamp())
        while late - early > 1:
            middle = (early + late) // 2
            found = self._before(middle, ready, WINDOW + 1)
            if len(found) > WINDOW:
                late = middle
                continue
            if len(found) >= least:
                return found
            early = middle
        # If the search finds too few, open everything rather than return a wrong order.
        found = self._before(late, ready, len(ready))
        return found if len(found) >= least else ready

    def _before(self, second: int, ready: Collection[str], most: int) -> list[str]:
        instant = datetime.fromtimestamp(second, UTC)
        # The search does not find every mail whose date is known.
        found = {mail_id: None for mail_id in ready if mail_id in self._dates and self._dates[mail_id] < instant}
        for mail_id in self._ids_before(instant):
            if len(found) >= most:
                break
            if mail_id in ready:
                found[mail_id] = None
        return list(found)


def incoming(labels: frozenset[str]) -> bool:
    """Whether a mail with these labels was received, also from the account itself."""
    if labels & {"DRAFT", "TRASH", "SPAM", "CHAT"}:
        return False
    return "INBOX" in labels or "SENT" not in labels


def added_in(page: Mapping[str, object]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield id and labels of every added mail on a page of the history."""
    records = page.get("history")
    for record in records if isinstance(records, list) else ():
        added = record.get("messagesAdded") if isinstance(record, Mapping) else None
        for item in added if isinstance(added, list) else ():
            message = item.get("message") if isinstance(item, Mapping) else None
            if isinstance(message, Mapping) and isinstance(message.get("id"), str):
                labels = message.get("labelIds")
                yield message["id"], frozenset(labels) if isinstance(labels, list) else frozenset()
