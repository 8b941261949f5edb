"""Gmail's methods for the mailbox: counted, rate-limited, retried where that is safe, with the mailbox's errors.

Rule 1: idempotent calls are retried for a bounded time; a send is tried once.
Rule 2: every call is counted, also a failed one. No call is made while the budget or the breaker forbids it.
Rule 3: once the process is to end, no call or wait begins, except that sends may begin for ``LAST_SENDS``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from league_agents.kit.errors import (
    AuthorizationExpired,
    MailboxUnavailable,
    MailboxUnreachable,
    MailError,
    QuotaExhausted,
)
from league_agents.mail.gmail.breaker import Breaker
from league_agents.mail.gmail.connections import Connections
from league_agents.mail.gmail.failures import BrokenExchange, GmailRefusal, Gone, is_gone, meaning_of
from league_agents.mail.oauth import Authorization
from league_agents.mail.port import AmbiguousSend, Stopping
from league_agents.mail.quota import QuotaLedger
from league_agents.mail.service_clock import ServiceClock

if TYPE_CHECKING:
    from league_agents.mail.gmail.transport import Transport

PAGE = 500
MOST_PAGES = 400
"""Most pages of one listing: 200,000 mails."""

PATIENCE = timedelta(seconds=8)
"""How long a call may be retried. The mailbox does nothing else meanwhile."""

SHORT_PATIENCE = timedelta(seconds=1)
"""The same where many mailboxes share a few threads."""

MOST_ATTEMPTS = 5
MOST_DOUBTS = 4
"""Most extra calls for the service's time when its replies contradict each other."""

LAST_SENDS = timedelta(seconds=1)
"""How long sends may begin after the process was asked to end."""

_NEXT_PAGE = "nextPageToken"


class Calls:
    """The methods of one account. Used by one thread at a time."""

    def __init__(
        self,
        authorize: Callable[[], Authorization],
        endpoint: str,
        clock: ServiceClock,
        ledger: QuotaLedger,
        *,
        timeout: timedelta,
        patience: timedelta = PATIENCE,
        connections: Connections | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        """A call is retried for ``patience``. ``connections`` are shared with others, who close them; without them this
        account has its own. ``stopping`` is set when the process is to end; every method then raises ``Stopping``,
        ``send`` after ``LAST_SENDS``."""
        self._authorize = authorize
        self._endpoint = endpoint
        self._clock = clock
        self._ledger = ledger
        self._timeout = timeout
        self._patience = patience
        self._shared = connections
        self._connections = connections or Connections()
        self._stopping = stopping or threading.Event()
        self._last_sends_end_s: float | None = None
        self._transport: Transport | None = None
        self.breaker = Breaker(clock)

    def close(self) -> None:
        """Close the connections, unless they are shared."""
        if self._shared is None:
            self._connections.close()

    # -- methods ----------------------------------------------------------------------------------------------------

    def profile(self) -> Mapping[str, Any]:
        """Return the account's profile. Raises ``MailError``, naming the endpoint, if the server lacks the method."""
        try:
            return self._again("getProfile", lambda users: users.getProfile(userId="me"))
        except Gone:
            raise MailError(
                f"{self._endpoint} does not know Gmail's methods (it answers 'not found'); correct gmail.endpoint"
            ) from None

    def watch(self, topic: str) -> None:
        """Have the changes of the inbox published to a topic. Tried once. Raises ``MailError``."""
        wanted = {"topicName": topic, "labelIds": ["INBOX"], "labelFilterBehavior": "INCLUDE"}
        self._attempt("watch", lambda users: users.watch(userId="me", body=wanted))

    def message_ids(
        self, *, query: str = "", labels: Sequence[str] = (), spam_too: bool = False, most: int | None = None
    ) -> Iterator[str]:
        """Yield ids of the matching mails in Gmail's order (newest first), over all pages or until ``most``."""
        wanted: dict[str, object] = {"userId": "me", "maxResults": min(most or PAGE, PAGE)}
        if query:
            wanted["q"] = query
        if labels:
            wanted["labelIds"] = list(labels)
        if spam_too:
            wanted["includeSpamTrash"] = True
        count = 0
        for page in self._pages("messages.list", lambda users, more: users.messages().list(**wanted, **more)):
            for item in objects(page, "messages"):
                mail_id = item.get("id")
                if isinstance(mail_id, str):
                    yield mail_id
                    count += 1
                    if count == most:
                        return

    def history(self, cursor: str) -> Iterator[Mapping[str, Any]]:
        """Yield pages of the mails added since ``cursor``. Raises ``Gone`` if the history no longer reaches back."""

        def request(users: Any, more: Mapping[str, str]) -> Any:
            return users.history().list(
                userId="me", startHistoryId=cursor, historyTypes=["messageAdded"], maxResults=PAGE, **more
            )

        return self._pages("history.list", request)

    def message(self, mail_id: str, *, form: str = "raw", headers: Sequence[str] = ()) -> Mapping[str, Any]:
        """Return one mail. Raises ``Gone``, ``AnswerTooLarge``."""
        wanted: dict[str, object] = {"userId": "me", "id": mail_id, "format": form}
        if headers:
            wanted["metadataHeaders"] = list(headers)
        answer = self._again("messages.get", lambda users: users.messages().get(**wanted))
        if answer.get("id") != mail_id:
            # Seen with a connection that was shared between threads: another mail's content under this id.
            raise MailboxUnavailable(f"Gmail was asked for the mail {mail_id[:40]!a} and answered with another one")
        return answer

    def unlabel(self, mail_id: str, labels: Sequence[str]) -> None:
        """Take labels off a mail. Raises ``Gone``."""
        body = {"removeLabelIds": list(labels)}
        self._again("messages.modify", lambda users: users.messages().modify(userId="me", id=mail_id, body=body))

    def unlabel_all(self, mail_ids: Sequence[str], labels: Sequence[str]) -> None:
        """Take labels off up to 1,000 mails. Raises ``Gone`` when one of them is not there."""
        body = {"ids": list(mail_ids), "removeLabelIds": list(labels)}
        self._again("messages.batchModify", lambda users: users.messages().batchModify(userId="me", body=body))

    def send(self, raw: str) -> str:
        """Send a mail given in base64url. Return its id. Raises as ``Mailbox.send``."""
        self._begin("messages.send", is_send=True)
        try:
            answer = self._call("messages.send", lambda users: users.messages().send(userId="me", body={"raw": raw}))
        except GmailRefusal as refusal:
            error = meaning_of(refusal, now=self._clock.now(), is_send=True, expired=self._expired(refusal))
            if isinstance(error, QuotaExhausted):
                self._ledger.refused("messages.send", no_sends_before=error.resets_at)
            elif isinstance(error, MailboxUnavailable):
                self._ledger.refused("messages.send")
                self.breaker.failed(error.retry_after)
            elif isinstance(error, AmbiguousSend):
                self.breaker.failed(None)
            raise error from None
        except BrokenExchange as error:
            self.breaker.failed(None)
            if error.may_have_been_sent:
                raise AmbiguousSend(f"{error}: the mail may have been sent") from None
            raise MailboxUnreachable(f"{error}: nothing was sent; {error.remedy}") from None
        self.breaker.succeeded()
        sent_id = answer.get("id")
        return sent_id if isinstance(sent_id, str) else ""

    # -- making a call ----------------------------------------------------------------------------------------------

    def _pages(self, method: str, request: Callable[..., Any]) -> Iterator[Mapping[str, Any]]:
        more: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = self._again(method, partial(request, more=dict(more)))
            yield page
            # A page may be empty and yet not be the last one.
            token = page.get(_NEXT_PAGE)
            if not isinstance(token, str) or not token:
                return
            more["pageToken"] = token

    def _again(self, method: str, build: Callable[[Any], Any]) -> Mapping[str, Any]:
        """Make an idempotent call, and retry it after temporary failures for ``PATIENCE``."""
        retrying = Retrying(
            retry=retry_if_exception(_may_pass),
            wait=_wait,
            stop=self._has_lost_patience,
            sleep=self._pause,
            reraise=True,
        )
        answer: Mapping[str, Any] = retrying(self._attempt, method, build)
        return answer

    def _attempt(self, method: str, build: Callable[[Any], Any]) -> Mapping[str, Any]:
        self._begin(method, is_send=False)
        try:
            answer = self._call(method, build)
        except GmailRefusal as refusal:
            if is_gone(refusal, method):
                self.breaker.succeeded()
                raise Gone from None
            error = meaning_of(refusal, now=self._clock.now(), is_send=False, expired=self._expired(refusal))
            if isinstance(error, MailboxUnavailable):
                if refusal.status in {403, 429}:
                    self._ledger.refused(method)
                self.breaker.failed(error.retry_after)
            raise error from None
        except BrokenExchange as error:
            self.breaker.failed(None)
            raise MailboxUnreachable(f"{error}; {error.remedy}") from None
        self.breaker.succeeded()
        return answer

    def _call(self, method: str, build: Callable[[Any], Any]) -> Mapping[str, Any]:
        transport = self._opened()
        was_asked = True
        try:
            answer = transport.call(build)
        except (AuthorizationExpired, MailboxUnavailable):  # the token server's answer: Gmail was not asked
            was_asked = False
            raise
        except BrokenExchange as error:
            was_asked = error.may_have_been_sent or method != "messages.send"
            raise
        finally:
            if was_asked:
                self._ledger.spend(method)
        self._dispel_doubt(transport)
        return answer

    def _dispel_doubt(self, transport: Transport) -> None:
        """Make cheap extra calls if a reply contradicts the service clock, because the next steps are dated by it."""
        for _ in range(MOST_DOUBTS):
            if not self._clock.is_in_doubt:
                return
            try:
                transport.call(lambda users: users.getProfile(userId="me"))
            except (MailError, GmailRefusal, BrokenExchange):
                return  # the call that mattered was answered
            self._ledger.spend("getProfile")

    def _has_lost_patience(self, state: RetryCallState) -> bool:
        waited_s = state.idle_for + state.upcoming_sleep
        return state.attempt_number >= MOST_ATTEMPTS or waited_s > self._patience.total_seconds()

    def _pause(self, seconds: float) -> None:
        self._clock.wait(self._stopping, timedelta(seconds=seconds))

    def _begin(self, method: str, *, is_send: bool) -> None:
        """Raises the reason why a call must not be made now."""
        if self._stopping.is_set() and not (is_send and self._may_still_send()):
            raise Stopping
        self.breaker.check()
        wait = self._ledger.wait_for(self._ledger.price(method), is_send=is_send)
        if wait:
            raise MailboxUnavailable("this minute's quota units are used up", retry_after=wait)

    def _may_still_send(self) -> bool:
        now_s = self._clock.monotonic_s()
        if self._last_sends_end_s is None:
            self._last_sends_end_s = now_s + LAST_SENDS.total_seconds()
        return now_s < self._last_sends_end_s

    def _opened(self) -> Transport:
        if self._transport is None:
            from league_agents.mail.gmail.transport import Transport

            authorization = self._authorize()
            server = self._connections.to(self._endpoint, timeout=self._timeout)
            self._transport = Transport(authorization, server, self._clock)
        return self._transport

    def _expired(self, refusal: GmailRefusal) -> AuthorizationExpired:
        why = "Gmail does not accept the authorization" if refusal.status == 401 else "it does not allow what is needed"
        return self._opened().expired(why)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, MailboxUnavailable) and not isinstance(error, Stopping)


def _wait(state: RetryCallState) -> float:
    """Return the seconds until the next attempt: the time that Gmail gives, at least a growing random time."""
    seconds = wait_random_exponential(multiplier=0.3, max=5)(state)
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
        seconds = max(seconds, error.retry_after.total_seconds())
    return seconds


def objects(page: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, which Gmail omits if it is empty."""
    items = page.get(key)
    if isinstance(items, list):
        for item in items:
            if isinstance(item, Mapping):
                yield item
