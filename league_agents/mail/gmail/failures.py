"""Gmail's failures, and the mailbox errors for them.

Rule 1: a send that was refused was not sent; a send whose answer is missing, broken or a server error may have been.
Rule 2: a message names the cause and the remedy. Of Gmail's text it quotes only the short reason codes.
"""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable, MailError, QuotaExhausted
from league_agents.mail.port import AmbiguousSend

LONGEST_WAIT = timedelta(hours=24)
"""Longest wait that is accepted from a server."""

SENDING_LIMIT_WAIT = timedelta(minutes=15)
"""How long Gmail usually refuses to send, if it gives no time."""

DAILY_LIMIT_WAIT = timedelta(hours=1)
"""Pause after a daily limit, whose end is unknown because the day is a rolling one."""

_ENDED = frozenset({500, 503})
"""Server errors of the service itself. Others come from a gateway, behind which the call may go on."""

_SHORT_WAIT = timedelta(minutes=1)
_RETRY_AFTER = re.compile(
    r"retry after (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))", re.IGNORECASE | re.ASCII
)
_RATE = frozenset(
    {"ratelimitexceeded", "userratelimitexceeded", "resourceexhausted", "toomanyrequests", "backenderror"}
)
_DAILY = frozenset({"dailylimitexceeded", "quotaexceeded", "dailylimitexceededunreg"})
_SCOPES = frozenset({"insufficientpermissions", "insufficientscopes", "accesstokenscopeinsufficient"})
_NO_GMAIL = "failedprecondition"
_NOT_ENABLED = frozenset({"accessnotconfigured", "servicedisabled"})


class GmailRefusal(Exception):
    """Gmail answered with an error status."""

    def __init__(self, status: int, reason: str = "", message: str = "", retry_after: str = "") -> None:
        super().__init__(f"status {status} {reason}".strip())
        self.status = status
        self.reason = reason
        """Google's code, such as ``rateLimitExceeded``; empty if the answer has none."""

        self.message = message
        """Google's text, used only to search for an instant."""

        self.retry_after = retry_after
        """The ``Retry-After`` header."""


CHECK_CONNECTION = "check the connection"


class BrokenExchange(Exception):
    """A call got no complete answer."""

    def __init__(self, why: str, *, may_have_been_sent: bool, remedy: str = CHECK_CONNECTION) -> None:
        super().__init__(why)
        self.remedy = remedy
        """The remedy, for a person."""

        self.may_have_been_sent = may_have_been_sent
        """Whether the call was a send and its first byte may have reached Gmail."""


class AnswerTooLarge(MailError):
    """Gmail's answer is larger than any mail of the league."""


class Gone(MailError):
    """The requested object is not in the mailbox."""


def read_refusal(status: int, headers: Mapping[str, str], content: bytes) -> GmailRefusal:
    """Return the refusal in an answer, in any of the formats of Google's errors."""
    retry_after = headers.get("retry-after", "")[:100]
    try:
        answer = json.loads(content[:20_000])
    except (ValueError, RecursionError):
        return GmailRefusal(status, retry_after=retry_after)
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return GmailRefusal(status, retry_after=retry_after)
    message = error.get("message")
    reasons = [
        item["reason"]
        for key in ("errors", "details")
        if isinstance(error.get(key), list)
        for item in error[key]
        if isinstance(item, dict) and isinstance(item.get("reason"), str)
    ]
    if isinstance(error.get("status"), str):
        reasons.append(error["status"])
    reason = reasons[0] if reasons and reasons[0].isascii() and reasons[0].replace("_", "").isalnum() else ""
    return GmailRefusal(status, reason[:60], message[:1_000] if isinstance(message, str) else "", retry_after)


def server_named(host: str, port: int | None) -> str:
    """Return the server's name for messages: Gmail, or the address of another server, which a person chose."""
    if host == "googleapis.com" or host.endswith(".googleapis.com"):
        return "Gmail"
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"


def is_gone(refusal: GmailRefusal, method: str) -> bool:
    """Whether what was asked for is not there (any more). Gmail calls an id that it never gave out invalid, and of a
    history it does so in several words: the position is all that can be wrong with a request for it."""
    if refusal.status == 400 and method == "history.list":
        return _code(refusal) != _NO_GMAIL
    return refusal.status in {404, 410} or (refusal.status == 400 and "id" in refusal.message.lower().split())


def _code(refusal: GmailRefusal) -> str:
    return refusal.reason.replace("_", "").lower()


def meaning_of(refusal: GmailRefusal, *, now: datetime, is_send: bool, expired: AuthorizationExpired) -> MailError:
    """Return the mailbox error for a refusal. ``expired`` is the error if a person must log in again."""
    reason = _code(refusal)
    wait = wait_of(refusal, now)
    shown = f"{refusal.status} {refusal.reason}".strip()
    if refusal.status == 401 or reason in _SCOPES:
        return expired
    if reason in _DAILY and refusal.status in {403, 429}:
        return QuotaExhausted(f"Gmail's daily limit is reached ({shown})", resets_at=now + (wait or DAILY_LIMIT_WAIT))
    if refusal.status == 429 or (refusal.status == 403 and reason in _RATE):
        if is_send and ((wait is not None and wait >= _SHORT_WAIT) or "sending" in refusal.message.lower()):
            return QuotaExhausted(
                f"Gmail takes no more mail from this account for a while ({shown})",
                resets_at=now + (wait or SENDING_LIMIT_WAIT),
            )
        return MailboxUnavailable(f"Gmail asks to go slower ({shown})", retry_after=wait)
    if refusal.status >= 500 or refusal.status == 408:
        if is_send:
            why = f"Gmail failed while it took the mail ({shown}): it may have been sent"
            return AmbiguousSend(why, was_answered=refusal.status in _ENDED)
        return MailboxUnavailable(f"Gmail has a failure ({shown})", retry_after=wait)
    if reason in _NOT_ENABLED:
        return MailError("the Gmail API is not enabled: enable it for your project in the Google Cloud console")
    if reason == "domainpolicy":
        return MailError("the account's administrator forbids this app: ask them to allow it")
    if reason == _NO_GMAIL and not is_send:
        return MailError("this Google account has no Gmail: use another one")
    return MailError(f"Gmail refuses the {'mail' if is_send else 'request'} ({shown})")


def wait_of(refusal: GmailRefusal, now: datetime) -> timedelta | None:
    """Return how long Gmail asks to wait; ``None`` if it gives no time, or one that has passed."""
    waits = []
    header = refusal.retry_after.strip()
    if header.isascii() and header.isdigit() and len(header) < 9:
        waits.append(timedelta(seconds=int(header)))
    elif header:
        with suppress(ValueError, TypeError, OverflowError):
            waits.append(_utc(email.utils.parsedate_to_datetime(header)) - now)
    found = _RETRY_AFTER.search(refusal.message)
    if found is not None:
        with suppress(ValueError):
            waits.append(_utc(datetime.fromisoformat(found[1])) - now)
    wait = max(waits, default=timedelta(0))
    return min(wait, LONGEST_WAIT) if wait > timedelta(0) else None


def _utc(instant: datetime) -> datetime:
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
