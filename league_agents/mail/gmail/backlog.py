"""The mails that wait in one account: those of peers, the oldest first, and behind them everybody else's.

What Gmail tells cheaply are ids, and neither ids nor the order of a listing are dates: a mail that was imported, or
that was long on its way, has a new id and an old internal date. A date costs as much as the mail. So of the mails in
front:

Rule 1: when few wait, all of them are opened, once, and sorted by internal date: exact, and nothing is assumed.
Rule 2: when many wait, Gmail's search selects those from before an instant; the instant is found by halving, at a
quarter of the price of one mail for each step. All that is before an instant precedes all that is after it: also exact.
Rule 3: opened mails are kept on a shelf of bounded weight until they are done with. What does not fit keeps its date
only and is opened again when its turn has come.

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
"""At most so many mails are opened before the first of them is handed out: two thirds of a minute's quota."""

SHELF_BYTES = 16_000_000
"""Of mails as they came. A document can weigh a dozen times its text once it is read."""

LATEST = 20
"""So many of the latest arrivals are taken in their order. Newest first, one could wait long although few come."""

REMEMBERED = 20_000
"""Mails that are done with and remembered: a search may still show them as unread for a while."""


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
        """Those of ``_waiting`` that are handed out by date."""

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
        """These mails wait, in this order."""
        for mail_id in mail_ids:
            if mail_id not in self._done:
                self._waiting.setdefault(mail_id)

    def arrived(self, mail_ids: Sequence[str]) -> None:
        """These mails have just come, in this order."""
        self.found(mail_ids)
        self._latest.extend(mail_id for mail_id in mail_ids if mail_id in self._waiting)

    def listed(self, newest_first: Sequence[str]) -> None:
        """A listing shows these mails. Those that are known and not in it still wait: a listing may lag behind."""
        before = self._waiting
        self._waiting = {}
        self.found(reversed(newest_first))
        for mail_id in before:
            self._waiting.setdefault(mail_id)

    def bring_forward(self, newest_first: Sequence[str]) -> None:
        """These mails, which may be new, are handed out by date before all others."""
        self.found(reversed(newest_first))
        for mail_id in reversed(newest_first):
            if mail_id in self._waiting:
                self._front.setdefault(mail_id)

    def admit(self, mail_id: str, arrived_at: datetime) -> None:
        """This mail of those behind comes forward by itself: its headers were read."""
        self._front[mail_id] = None
        self._dates[mail_id] = arrived_at

    def send_back(self) -> None:
        """The mails in front that were not opened yet are nothing special any more."""
        self._front = {mail_id: None for mail_id in self._front if mail_id in self._dates}

    def move_up(self, newest_first: Sequence[str]) -> None:
        """Of the mails behind, these come next."""
        for mail_id in reversed(newest_first):
            if mail_id not in self._done:
                self._waiting.pop(mail_id, None)
                self._waiting[mail_id] = None

    def done(self, mail_id: str) -> None:
        """This mail does not wait any more, even if a listing shows it again."""
        self._drop(mail_id)
        self._done[mail_id] = None
        if len(self._done) > REMEMBERED:
            del self._done[next(iter(self._done))]

    def missed(self, mail_id: str) -> None:
        """This mail was not there. It waits until it is asked for again, unless that happened too often."""
        if not self._missing.missed(mail_id):
            self._drop(mail_id)

    def oldest(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        """The oldest mails in front that are not ``known``, at most ``limit``; fewer if no more wait or they are
        heavy."""
        for mail_id in [mail_id for mail_id in self._front if known(mail_id)]:
            self._drop(mail_id)
        mails: list[Mail] = []
        # What was chosen may turn out to be gone or no business of ours.
        while not mails and limit > 0:
            ready = {mail_id: None for mail_id in self._front if not self._missing.is_resting(mail_id)}
            if not ready:
                break
            mails = self._first_of(self._choose(ready, limit), limit)
        return mails

    def behind(self, known: Callable[[str], bool], *, most: int) -> list[str]:
        """Up to ``most`` of the mails that are not in front and not ``known``, those that come next first."""
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
        """Mails that hold the oldest ``limit`` of ``ready``; all of them opened, or found to be gone."""
        chosen = list(ready if len(ready) <= WINDOW else self._slice(ready, min(limit, WINDOW)))
        for mail_id in chosen:
            # One that was opened may have sent the others back.
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
        """A mail with its date; ``None`` when it is not there, perhaps for a while, or no business of the league's."""
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
        """All of ``ready`` from before some instant: at least ``least``, at most ``WINDOW`` if one second has no more
        than the difference."""
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
        # A search that finds too little is none: better to open everything than to hand out a wrong order.
        found = self._before(late, ready, len(ready))
        return found if len(found) >= least else ready

    def _before(self, second: int, ready: Collection[str], most: int) -> list[str]:
        instant = datetime.fromtimestamp(second, UTC)
        # Not every mail whose date is known is found by the search.
        found = {mail_id: None for mail_id in ready if mail_id in self._dates and self._dates[mail_id] < instant}
        for mail_id in self._ids_before(instant):
            if len(found) >= most:
                break
            if mail_id in ready:
                found[mail_id] = None
        return list(found)


def incoming(labels: frozenset[str]) -> bool:
    """Whether a mail with these labels came in from outside, or from oneself to oneself."""
    if labels & {"DRAFT", "TRASH", "SPAM", "CHAT"}:
        return False
    return "INBOX" in labels or "SENT" not in labels


def added_in(page: Mapping[str, object]) -> Iterator[tuple[str, frozenset[str]]]:
    """Id and labels of every mail that a page of the history says was added."""
    records = page.get("history")
    for record in records if isinstance(records, list) else ():
        added = record.get("messagesAdded") if isinstance(record, Mapping) else None
        for item in added if isinstance(added, list) else ():
            message = item.get("message") if isinstance(item, Mapping) else None
            if isinstance(message, Mapping) and isinstance(message.get("id"), str):
                labels = message.get("labelIds")
                yield message["id"], frozenset(labels) if isinstance(labels, list) else frozenset()
