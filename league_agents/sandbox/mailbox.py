"""The mail of one account.

Rule 1: each change of a mail is one history record and one stored row, made together.
Rule 2: a page of a listing begins after a position in the order, not after a number of mails, so mail that arrives
meanwhile neither repeats nor hides an entry.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from league_agents.kit.ids import derive_hex
from league_agents.sandbox.history import Change, History, Numbers
from league_agents.sandbox.labels import Labels
from league_agents.sandbox.mail_view import MailView
from league_agents.sandbox.refusal import not_found
from league_agents.sandbox.search import ANYTHING, Query
from league_agents.sandbox.state import SandboxState

HIDDEN = frozenset({"SPAM", "TRASH"})
_REPLY = re.compile(r"\s*(?:re|fwd?|aw)\s*:\s*", re.IGNORECASE)
_FEW = 500

Place = tuple[int, int]
"""Sort key: (internal date in ms, sequence number)."""


@dataclass(slots=True, kw_only=True)
class StoredMail:
    """One mail in one mailbox."""

    mail_id: str
    thread_id: str
    raw: bytes
    internal_ms: int
    number: int
    """Sequence number over all mails of the sandbox."""

    labels: set[str]
    history_id: int
    """Id of its last change."""

    listed_from_ms: int = 0
    """Listings omit the mail before this instant."""

    _view: MailView | None = field(default=None, repr=False)

    @property
    def place(self) -> Place:
        return (self.internal_ms, self.number)

    @property
    def view(self) -> MailView:
        if self._view is None:
            self._view = MailView(self.mail_id, self.raw)
        return self._view

    @property
    def label_ids(self) -> list[str]:
        """The label ids in a fixed order."""
        return sorted(self.labels)


class SandboxMailbox:
    """Mails, labels and history of one address."""

    def __init__(self, address: str, numbers: Numbers, state: SandboxState) -> None:
        self.address = address
        """The address, spelled as when the account was made."""

        self.key = address.lower()
        self.labels = Labels(self.key, state)
        self.history = History(self.key, numbers, state)
        self._numbers = numbers
        self._state = state
        self._mails: dict[str, StoredMail] = {}
        self._order: list[tuple[Place, str]] = []
        self._with_label: dict[str, set[str]] = {}
        self._by_message_id: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._mails)

    def mails(self) -> Iterator[StoredMail]:
        """The mails, oldest first."""
        return (self._mails[mail_id] for _, mail_id in self._order)

    def threads(self) -> dict[str, list[StoredMail]]:
        """Thread id -> its mails, oldest first."""
        found: dict[str, list[StoredMail]] = {}
        for mail in self.mails():
            found.setdefault(mail.thread_id, []).append(mail)
        return found

    def has_thread(self, thread_id: str) -> bool:
        """Whether any mail is in this thread."""
        return any(mail.thread_id == thread_id for mail in self._mails.values())

    def count(self, label: str) -> int:
        """How many mails have a label."""
        return len(self._with_label.get(label, ()))

    def with_label(self, label: str) -> list[StoredMail]:
        """The mails that have a label, unordered."""
        return [self._mails[mail_id] for mail_id in self._with_label.get(label, ())]

    def holds(self, mail_id: str) -> bool:
        """Whether the mailbox has the mail."""
        return mail_id in self._mails

    def find(self, mail_id: str) -> StoredMail:
        """The mail with this id. Raises ``Refused`` (404)."""
        mail = self._mails.get(mail_id)
        if mail is None:
            raise not_found()
        return mail

    def add(
        self, raw: bytes, labels: Collection[str], *, at_ms: int, now_ms: int, thread_id: str | None = None,
        listed_from_ms: int = 0, is_withheld: bool = False,
    ) -> StoredMail:  # fmt: skip
        """Add a mail. The caller has checked ``thread_id``; without it the references decide. A withheld mail gets no
        history record."""
        number = self._numbers.next_mail()
        mail_id = f"1{derive_hex('mail', self.key, number, digits=15)}"
        mail = StoredMail(
            mail_id=mail_id,
            thread_id=mail_id,
            raw=raw,
            internal_ms=at_ms,
            number=number,
            labels=set(labels),
            history_id=self._numbers.next_history(),
            listed_from_ms=listed_from_ms,
        )
        mail.thread_id = thread_id or self._thread_of(mail) or mail_id
        self._take(mail)
        self._state.put("raw", f"{self.key}/{mail_id}", raw)
        if is_withheld:
            self._keep_mail(mail)
        else:
            self._keep(mail, "messageAdded", now_ms)
        return mail

    def restore(self, stored: dict[str, object], raw: bytes) -> None:
        """Restore one stored mail."""
        labels = stored["labels"]
        assert isinstance(labels, list)
        self._take(
            StoredMail(
                mail_id=str(stored["id"]),
                thread_id=str(stored["thread"]),
                raw=raw,
                internal_ms=int(str(stored["at"])),
                number=int(str(stored["number"])),
                labels={str(label) for label in labels},
                history_id=int(str(stored["history"])),
                listed_from_ms=int(str(stored["listed"])),
            )
        )

    def change_labels(self, mail: StoredMail, add: Collection[str], remove: Collection[str], *, now_ms: int) -> None:
        """Add and remove labels; no-op if the labels stay the same."""
        added = sorted(set(add) - mail.labels)
        removed = sorted(set(remove) & mail.labels)
        if not added and not removed:
            return
        mail.labels = (mail.labels | set(added)) - set(removed)
        for label in added:
            self._with_label.setdefault(label, set()).add(mail.mail_id)
        for label in removed:
            self._with_label[label].discard(mail.mail_id)
        mail.history_id = self._numbers.next_history()
        self._keep(mail, "labels", now_ms, tuple(added), tuple(removed))

    def delete(self, mail: StoredMail, *, now_ms: int) -> None:
        """Delete a mail permanently."""
        del self._mails[mail.mail_id]
        del self._order[bisect_left(self._order, (mail.place, mail.mail_id))]
        for label in mail.labels:
            self._with_label[label].discard(mail.mail_id)
        for message_id in mail.view.message_ids:
            if self._by_message_id.get(message_id) == mail.mail_id:
                del self._by_message_id[message_id]
        mail.history_id = self._numbers.next_history()
        self._keep(mail, "messageDeleted", now_ms)
        self._state.drop("mail", f"{self.key}/{mail.mail_id}")
        self._state.drop("raw", f"{self.key}/{mail.mail_id}")

    def listed(
        self, *, labels: Collection[str] = (), query: Query = ANYTHING, with_hidden: bool = False, now_ms: int,
        before: Place | None = None,
    ) -> Iterator[StoredMail]:  # fmt: skip
        """The matching mails, newest first, beginning after a place."""
        needed = {*labels, *query.labels}
        shows_hidden = with_hidden or query.names_spam_or_trash or bool(HIDDEN & needed)
        for mail in self._candidates(needed, before):
            if not shows_hidden and HIDDEN & mail.labels:
                continue
            if mail.listed_from_ms <= now_ms and needed <= mail.labels and query.fits(mail):
                yield mail

    def _candidates(self, needed: set[str], before: Place | None) -> Iterator[StoredMail]:
        smallest = min((self._with_label.get(label, set()) for label in needed), key=len, default=None)
        if smallest is not None and len(smallest) <= _FEW:
            few = sorted((self._mails[mail_id] for mail_id in smallest), key=lambda mail: mail.place, reverse=True)
            yield from (mail for mail in few if before is None or mail.place < before)
            return
        end = len(self._order) if before is None else bisect_left(self._order, (before, ""))
        for index in range(end - 1, -1, -1):
            yield self._mails[self._order[index][1]]

    def _thread_of(self, mail: StoredMail) -> str | None:
        """The thread that a reply belongs to: one with a mail that it refers to and the same subject."""
        view = mail.view
        referred = f"{view.top.first('references')} {view.top.first('in-reply-to')}".split()
        for reference in reversed(referred[-20:]):
            earlier = self._mails.get(self._by_message_id.get(reference.strip("<>"), ""))
            if earlier is not None and _topic(earlier) == _topic(mail):
                return earlier.thread_id
        return None

    def _take(self, mail: StoredMail) -> None:
        self._mails[mail.mail_id] = mail
        insort(self._order, (mail.place, mail.mail_id))
        for label in mail.labels:
            self._with_label.setdefault(label, set()).add(mail.mail_id)
        for message_id in mail.view.message_ids:
            self._by_message_id[message_id] = mail.mail_id

    def _keep(
        self, mail: StoredMail, event: str, now_ms: int, added: tuple[str, ...] = (), removed: tuple[str, ...] = ()
    ) -> None:
        self.history.write(
            Change(
                history_id=mail.history_id,
                at_ms=now_ms,
                mail_id=mail.mail_id,
                thread_id=mail.thread_id,
                labels=tuple(mail.label_ids),
                event=event,
                added=added,
                removed=removed,
            )
        )
        self._keep_mail(mail)

    def _keep_mail(self, mail: StoredMail) -> None:
        self._state.put(
            "mail",
            f"{self.key}/{mail.mail_id}",
            {
                "address": self.key,
                "id": mail.mail_id,
                "thread": mail.thread_id,
                "at": mail.internal_ms,
                "number": mail.number,
                "labels": mail.label_ids,
                "history": str(mail.history_id),
                "listed": mail.listed_from_ms,
            },
        )


def _topic(mail: StoredMail) -> str:
    subject = mail.view.header("subject").strip().lower()[:1000]
    while (found := _REPLY.match(subject)) is not None:
        subject = subject[found.end() :]
    return subject
