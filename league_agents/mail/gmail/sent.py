"""Find our mails among the sent mails.

Rule: a mail is identified by our transaction id in it, compared exactly. A search also finds similar ones, and Gmail
writes its own ``Message-ID``.
"""

from __future__ import annotations

from collections.abc import Iterable

from league_agents.mail.gmail.calls import Calls
from league_agents.mail.gmail.failures import Gone
from league_agents.mail.gmail.received import labels_of, transaction_ids_of

LOOKED_AT = 50
"""How many of the latest sent mails are checked: more than one flush of the outbox can leave in doubt."""

REMEMBERED = 1_000


class SentMail:
    """The known sent mails of one account."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._carried: dict[str, frozenset[str]] = {}
        """Mails in Sent -> the transaction ids that they carry."""

        self._noticed: dict[str, None] = {}
        """Mails that the history shows in Sent and that no answer to a send has named."""

    def remember(self, mail_id: str, transaction_ids: frozenset[str]) -> None:
        """Record that this mail is in Sent and carries these ids."""
        if not mail_id:
            return
        self._noticed.pop(mail_id, None)
        self._carried[mail_id] = transaction_ids
        if len(self._carried) > REMEMBERED:
            del self._carried[next(iter(self._carried))]

    def noticed(self, mail_id: str) -> None:
        """Record that the history shows this mail in Sent. It is read only if needed: answers name most sent mails."""
        if mail_id not in self._carried:
            self._noticed[mail_id] = None
            if len(self._noticed) > LOOKED_AT:
                del self._noticed[next(iter(self._noticed))]

    def is_known(self, transaction_id: str) -> bool:
        """Whether a mail with this id is known to be in Sent. Makes no call."""
        return any(transaction_id in carried for carried in self._carried.values())

    def find(self, transaction_id: str) -> bool:
        """Whether a mail with this id is in Sent.

        The history shows sent mails at once, but after a restart it may begin too late; a search may lag behind; the
        latest mails of the folder cost the most. So they are tried in this order.
        """
        if self._is_among(list(self._noticed), transaction_id):
            return True
        phrase = transaction_id.replace('"', " ")
        found = self._calls.message_ids(query=f'in:sent subject:"{phrase}"', most=LOOKED_AT)
        if self._is_among(found, transaction_id):
            return True
        return self._is_among(self._calls.message_ids(labels=["SENT"], most=LOOKED_AT), transaction_id)

    def _is_among(self, mail_ids: Iterable[str], transaction_id: str) -> bool:
        for mail_id in mail_ids:
            if mail_id not in self._carried:
                try:
                    answer = self._calls.message(mail_id, form="metadata", headers=["Subject", "X-League-Message-ID"])
                except Gone:
                    continue
                if "SENT" not in labels_of(answer):
                    continue
                self.remember(mail_id, transaction_ids_of(answer))
            if transaction_id in self._carried[mail_id]:
                return True
        return False
