"""Find the incoming mail of one account, and decide in which order it is read and which mail is not opened.

Rule 1: new mail is found in the history, at two units a look. Mail missing there is found by a search for the peers'
mail, often while a peer waits for this role, and by a listing of all unread mail every few minutes.
Rule 2: mail whose ``From`` names a peer is read first, however much other mail waits. A peer's name that was forged
several times loses this priority for a while: its mail is judged by the headers, like that of strangers.
Rule 3: all other mail is judged by its headers, the latest arrival first, within a limited share of the quota; mail
that the headers disqualify is returned unopened.
Rule 4: without a list of peers every sender counts as a peer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice

from league_agents.kit.clock import Clock
from league_agents.kit.values import evolve
from league_agents.league.wire.address import address_key, read_mailbox
from league_agents.mail.gmail.backlog import Backlog, added_in, incoming
from league_agents.mail.gmail.calls import PAGE, Calls
from league_agents.mail.gmail.failures import AnswerTooLarge, Gone
from league_agents.mail.gmail.queries import from_any_of
from league_agents.mail.gmail.received import Received, read_headers, read_raw
from league_agents.mail.gmail.share import Share
from league_agents.mail.identity import JUDGED_BY
from league_agents.mail.port import Mail, Peers
from league_agents.mail.quota import QuotaLedger, search_period

SEARCH_LAG = timedelta(minutes=1)
"""How long a search may fail to find a mail that has arrived."""

FORGERIES = 3
"""Number of forged mails after which a peer's name loses its priority."""

REMEMBERED = timedelta(hours=1)
"""How long forged mails count after the latest of them."""

JUDGED_AT_ONCE = 4
"""Headers of strangers' mails that are read between two looks into the history."""

SAVED_UP = 20
"""Number of strangers' mails that may be read without a pause when there were few before."""

LISTED_AT_ONCE = 4 * PAGE
"""Ids of a listing that are read between two looks into the history."""


class Inbox:
    """The waiting mail of one account. Used by one thread at a time."""

    def __init__(
        self,
        calls: Calls,
        ledger: QuotaLedger,
        clock: Clock,
        *,
        query: str,
        cursor: str | None,
        list_every: timedelta,
        spam_every: timedelta | None,
        history_id: Callable[[], str],
        sent: Callable[[str], None],
        peers: Callable[[], Peers] | None,
        refuse: Callable[[Mail], str | None],
    ) -> None:
        """``history_id`` requests the newest history position; ``sent`` is called with each mail that the history
        shows in Sent. ``refuse`` judges a mail by its headers: the reason to reject it, or ``None``."""
        self._calls = calls
        self._clock = clock
        self._query = query
        self._list_every = list_every
        self._spam_every = spam_every
        self._history_id = history_id
        self._sent = sent
        self._peers = peers
        self._refuse = refuse
        self._backlog = Backlog(self._open, self._ids_before, clock)
        self._price = ledger.price("messages.get")
        per_minute = ledger.limits.units_for_strangers
        most_saved = max(self._price, min(SAVED_UP * self._price, per_minute))
        self._share = Share(clock, units_per_minute=per_minute, most_saved=most_saved)
        self._forged: dict[str, tuple[int, float]] = {}
        """Peer -> how many mails named it and were not from it, and when the last of them was read."""

        self._searched: tuple[frozenset[str], float] | None = None
        """The addresses of the last search, and its time; ``None`` before the first."""

        self._arrived_at_s: float | None = None
        """When the history last showed an arrival; ``None`` if never."""

        self._has_arrivals = False
        """Whether the history showed an arrival since the last search."""

        self._listing: Iterator[str] | None = None
        self._listing_began_s = 0.0
        self._listed: list[str] = []
        self._listed_at_s: float | None = None
        self._spam_at_s: float | None = None
        self.cursor = cursor
        """The position in the history: everything before it was seen."""

        self.resyncs = 0
        """How often Gmail's history no longer reached back to the last look."""

        self.spam_found = 0
        """Number of possible protocol mails found in the spam folder."""

    def __len__(self) -> int:
        return len(self._backlog)

    @property
    def is_read(self) -> bool:
        """Whether no mail waits that the history or a listing has shown."""
        return not self._backlog and self._listing is None and self._listed_at_s is not None

    def done(self, mail_id: str) -> None:
        """Remove a mail from the waiting ones."""
        self._backlog.done(mail_id)

    def look(self) -> None:
        """Look for waiting mail."""
        now_s = self._clock.monotonic_s()
        self.read_history()
        if self._peers is not None:
            self._search(self._peers(), now_s)
        self._list(now_s, at_once=None if self._peers is None else LISTED_AT_ONCE)
        self._look_into_spam(now_s)

    def mails(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        """Return the next mails, as ``Mailbox.fetch`` does."""
        mails = self._backlog.oldest(limit, known)
        if mails or self._peers is None:
            return mails
        peers = self._peers()
        turned_away = self._judge_strangers(min(limit, JUDGED_AT_ONCE), known, peers)
        admitted = [
            evolve(mail, is_from_peer=_is_one_of(peers, read_mailbox(mail.from_header)))
            for mail in self._backlog.oldest(limit - len(turned_away), known)
        ]
        return [*admitted, *turned_away]

    # -- finding mail -----------------------------------------------------------------------------------------------

    def read_history(self) -> None:
        """Take in the mails added since the last call. The position moves only after all of them."""
        if self.cursor is None:
            # Before the first listing, so that a mail that arrives in between is seen twice rather than never.
            self.cursor = self._history_id()
            return
        newest = self.cursor
        arrived: list[str] = []
        try:
            for page in self._calls.history(self.cursor):
                for mail_id, labels in added_in(page):
                    if "SENT" in labels:
                        self._sent(mail_id)
                    if incoming(labels):
                        arrived.append(mail_id)
                newest = _later(newest, page.get("historyId"))
        except Gone:
            self.resyncs += 1
            self._searched = self._listing = self._listed_at_s = None
            newest = _later(newest, self._history_id())
        if self._peers is None:
            self._backlog.bring_forward(arrived[::-1])
        elif arrived:
            self._backlog.arrived(arrived)
            self._arrived_at_s, self._has_arrivals = self._clock.monotonic_s(), True
        self.cursor = newest

    def arrivals_since(self, cursor: str) -> list[str]:
        """Ids of what came into the inbox or the spam folder since a position in the history."""
        try:
            return [
                mail_id
                for page in self._calls.history(cursor)
                for mail_id, labels in added_in(page)
                if labels & {"INBOX", "SPAM"}
            ]
        except Gone:
            return [
                mail_id
                for label in ("INBOX", "SPAM")
                for mail_id in self._calls.message_ids(labels=[label], spam_too=True, most=20)
            ]

    def _search(self, peers: Peers, now_s: float) -> None:
        """Search for the peers' mail if that is due."""
        addresses = self._believed(peers)
        if not self._is_search_due(peers, addresses, now_s):
            return
        for query in from_any_of(self._query, addresses):
            self._backlog.bring_forward(list(self._calls.message_ids(query=query)))
        for query in from_any_of(self._query, peers.addresses - addresses):
            self._backlog.move_up(list(self._calls.message_ids(query=query, most=PAGE)))
        if peers.admits_others:
            self._backlog.found(reversed(list(self._calls.message_ids(query=self._query, most=PAGE))))
        self._searched, self._has_arrivals = (addresses, now_s), False

    def _is_search_due(self, peers: Peers, addresses: frozenset[str], now_s: float) -> bool:
        if self._searched is None or self._searched[0] != addresses or self._has_arrivals:
            return True
        is_lagging = self._arrived_at_s is not None and now_s - self._arrived_at_s < SEARCH_LAG.total_seconds()
        if is_lagging and self._backlog.has_more_behind:
            return True
        return now_s - self._searched[1] >= search_period(peers.shortest_wait, self._list_every).total_seconds()

    def _believed(self, peers: Peers) -> frozenset[str]:
        """Return the peers whose name was not forged repeatedly of late."""
        if not self._forged:
            return peers.addresses
        return frozenset(
            address
            for address in peers.addresses
            if not self._was_forged_lately(address) or self._forged[address][0] < FORGERIES
        )

    def _was_forged_lately(self, address: str) -> bool:
        found = self._forged.get(address)
        return found is not None and self._clock.monotonic_s() - found[1] < REMEMBERED.total_seconds()

    def _list(self, now_s: float, *, at_once: int | None) -> None:
        """List everything that is unread, a part of it at a time."""
        if self._listing is None:
            if self._listed_at_s is not None and now_s - self._listed_at_s < self._list_every.total_seconds():
                return
            self._listing, self._listing_began_s, self._listed = self._calls.message_ids(query=self._query), now_s, []
        listing, self._listing = self._listing, None  # a listing that fails starts again
        part = list(islice(listing, at_once))
        self._listed += part
        if at_once is not None and len(part) == at_once:
            self._listing = listing
            return
        self._backlog.listed(self._listed)
        if self._peers is None:
            self._backlog.bring_forward(self._listed)
        self._listed, self._listed_at_s = [], self._listing_began_s

    def _look_into_spam(self, now_s: float) -> None:
        if self._spam_every is None:
            return
        if self._spam_at_s is not None and now_s - self._spam_at_s < self._spam_every.total_seconds():
            return
        peers = None if self._peers is None else self._peers()
        is_for_all = peers is None or peers.admits_others
        queries = [self._query] if is_for_all or peers is None else from_any_of(self._query, peers.addresses)
        before = len(self._backlog)
        for query in queries:
            spam = list(self._calls.message_ids(query=query, labels=["SPAM"], spam_too=True))
            # Forged mail often lands in spam, so peers' names give no priority there.
            (self._backlog.bring_forward if peers is None else self._backlog.move_up)(spam)
        self.spam_found += len(self._backlog) - before
        self._spam_at_s = now_s

    def _ids_before(self, instant: datetime) -> Iterator[str]:
        queries = [self._query]
        if self._peers is not None:
            queries = from_any_of(self._query, self._believed(self._peers()))
        for query in queries:
            yield from self._calls.message_ids(query=f"{query} before:{int(instant.timestamp())}")

    # -- reading mail -----------------------------------------------------------------------------------------------

    def _open(self, mail_id: str) -> Received:
        try:
            received = read_raw(self._calls.message(mail_id))
        except AnswerTooLarge:
            received = self._headers(mail_id, problem="the mail is larger than any mail of the league and was not read")
        if self._peers is not None:
            self._note_forgery(received.mail, self._peers())
        return received

    def _headers(self, mail_id: str, *, problem: str = "") -> Received:
        try:
            answer = self._calls.message(mail_id, form="metadata", headers=JUDGED_BY)
        except AnswerTooLarge:
            answer = self._calls.message(mail_id, form="minimal")
        return read_headers(answer, problem=problem)

    def _note_forgery(self, mail: Mail, peers: Peers) -> None:
        """Count an opened mail as a forgery of the peers that it names, unless it is from a peer."""
        if self._disqualified(mail, peers) is None:
            return
        # A search also matches the display name before the address.
        header = mail.from_header.lower()
        named = [address for address in peers.addresses if address in header] or peers.addresses
        before = self._believed(peers)
        for address in named:
            count = self._forged[address][0] if self._was_forged_lately(address) else 0
            self._forged[address] = (count + 1, self._clock.monotonic_s())
        if self._believed(peers) != before:
            self._backlog.send_back()

    def _disqualified(self, mail: Mail, peers: Peers) -> str | None:
        """Return the reason to reject a mail by its headers; ``None`` to open it."""
        sender = read_mailbox(mail.from_header)
        refusal = self._refuse(mail)
        if refusal is not None or peers.admits_others or _is_one_of(peers, sender):
            return refusal
        return f"{sender} is nobody of whom the league has told this role; the mail was not opened"

    def _judge_strangers(self, most: int, known: Callable[[str], bool], peers: Peers) -> list[Mail]:
        """Read strangers' headers within the share; move acceptable mails to the front. Return those rejected."""
        turned_away: list[Mail] = []
        for mail_id in self._backlog.behind(known, most=most):
            if not self._share.take(self._price):
                break
            try:
                received = self._headers(mail_id)
            except Gone:
                self._backlog.missed(mail_id)
                continue
            refusal = self._disqualified(received.mail, peers)
            if refusal is None:
                self._share.owe(self._price)
                self._backlog.admit(mail_id, received.mail.arrived_at)
            elif received.may_be_protocol_mail:
                turned_away.append(evolve(received.mail, refusal=refusal, is_from_peer=False))
            else:
                self._backlog.done(mail_id)
        return turned_away


def _is_one_of(peers: Peers, sender: str | None) -> bool:
    return sender is not None and address_key(sender) in peers.addresses


def _later(cursor: str, candidate: object) -> str:
    """Return the later of two positions, which are texts of up to 21 digits."""
    text = str(candidate) if isinstance(candidate, str | int) else ""
    if not (text.isascii() and text.isdigit() and len(text) <= 40):
        return cursor
    return text if not cursor.isdigit() or int(text) > int(cursor) else cursor
