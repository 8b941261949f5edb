"""What Gmail's refusals mean, and when it is asked again."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, MailboxUnavailable, MailError, QuotaExhausted
from league_agents.mail.gmail.breaker import LONGEST_PAUSE, Breaker
from league_agents.mail.gmail.failures import (
    LONGEST_WAIT,
    GmailRefusal,
    is_gone,
    meaning_of,
    read_refusal,
    server_named,
    wait_of,
)
from league_agents.mail.gmail.mailbox import GMAIL_ENDPOINT, endpoint_of
from league_agents.mail.port import AmbiguousSend

NOW = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
EXPIRED = AuthorizationExpired("log in")


def meaning(status: int, reason: str = "", message: str = "", *, is_send: bool = False) -> MailError:
    return meaning_of(GmailRefusal(status, reason, message), now=NOW, is_send=is_send, expired=EXPIRED)


@pytest.mark.parametrize(
    ("status", "reason", "read", "send"),
    [
        (400, "badRequest", MailError, MailError),
        (400, "failedPrecondition", MailError, MailError),
        (401, "authError", AuthorizationExpired, AuthorizationExpired),
        (403, "rateLimitExceeded", MailboxUnavailable, MailboxUnavailable),
        (403, "userRateLimitExceeded", MailboxUnavailable, MailboxUnavailable),
        (429, "", MailboxUnavailable, MailboxUnavailable),
        (429, "RESOURCE_EXHAUSTED", MailboxUnavailable, MailboxUnavailable),
        (403, "dailyLimitExceeded", QuotaExhausted, QuotaExhausted),
        (403, "domainPolicy", MailError, MailError),
        (403, "accessNotConfigured", MailError, MailError),
        (403, "insufficientPermissions", AuthorizationExpired, AuthorizationExpired),
        (403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT", AuthorizationExpired, AuthorizationExpired),
        (403, "", MailError, MailError),
        (408, "", MailboxUnavailable, AmbiguousSend),
        (500, "backendError", MailboxUnavailable, AmbiguousSend),
        (502, "", MailboxUnavailable, AmbiguousSend),
        (503, "", MailboxUnavailable, AmbiguousSend),
        (302, "", MailError, MailError),
    ],
)
def test_a_refusal_means_what_the_table_says(
    status: int, reason: str, read: type[MailError], send: type[MailError]
) -> None:
    assert type(meaning(status, reason)) is read
    assert type(meaning(status, reason, is_send=True)) is send


@pytest.mark.parametrize(
    ("header", "message", "seconds"),
    [
        ("7", "", 7),
        ("Fri, 02 May 2031 12:01:00 GMT", "", 60),
        ("", "User-rate limit exceeded.  Retry after 2031-05-02T12:15:00.000Z", 900),
        ("5", "Retry after 2031-05-02T12:15:00Z (Mail sending)", 900),
        ("", "Retry after 2031-05-02T11:00:00Z", None),  # in the past: the server's clock is not ours
        ("", "Retry after 2099-01-01T00:00:00Z", LONGEST_WAIT.total_seconds()),
        ("-5", "", None),
        ("soon", "Retry after tomorrow", None),
        ("9" * 50, "Retry after 2031-99-99T12:15:00Z", None),
        ("0", "", None),
    ],
)
def test_the_servers_own_time_is_believed_within_reason(header: str, message: str, seconds: float | None) -> None:
    wait = wait_of(GmailRefusal(429, "rateLimitExceeded", message, header), NOW)
    assert wait == (timedelta(seconds=seconds) if seconds is not None else None)


def test_when_no_mail_is_taken_for_a_while_the_end_is_told() -> None:
    error = meaning(429, "rateLimitExceeded", "Retry after 2031-05-02T12:15:00.000Z", is_send=True)
    assert isinstance(error, QuotaExhausted)
    assert error.resets_at == NOW + timedelta(minutes=15)
    vague = meaning(429, "rateLimitExceeded", "Limit for Mail Sending exceeded", is_send=True)
    assert isinstance(vague, QuotaExhausted)
    assert vague.resets_at == NOW + timedelta(minutes=15)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[1]",
        b'{"error": "no"}',
        b'{"error": {"errors": 5, "details": [1, {"reason": 2}], "message": []}}',
        b"[" * 50_000,
        b'{"error": {"errors": [{"reason": "a b\\nc"}]}}',
    ],
)
def test_any_content_of_a_refusal_is_read(content: bytes) -> None:
    refusal = read_refusal(418, {}, content)
    assert refusal.status == 418
    assert refusal.reason == ""


@pytest.mark.parametrize(
    "error",
    [
        {"errors": [{"reason": "rateLimitExceeded"}], "message": "x"},
        {"details": [{"@type": "ErrorInfo", "reason": "rateLimitExceeded"}], "status": "PERMISSION_DENIED"},
        {"status": "rateLimitExceeded"},
    ],
)
def test_the_reason_is_found_in_every_shape_of_googles_errors(error: dict[str, object]) -> None:
    assert read_refusal(403, {}, json.dumps({"error": error}).encode()).reason == "rateLimitExceeded"


def test_what_gmail_wrote_is_not_repeated() -> None:
    for is_send in (True, False):
        for status in (400, 403, 429, 500):
            assert "planted" not in str(meaning(status, "odd", "ya29.planted", is_send=is_send))


def test_an_id_that_never_was_is_as_gone_as_one_that_was_deleted() -> None:
    assert is_gone(GmailRefusal(404, "notFound"), "messages.get")
    assert is_gone(GmailRefusal(400, "invalidArgument", "Invalid id value"), "messages.get")
    assert not is_gone(GmailRefusal(400, "invalidArgument", "Invalid label"), "messages.list")


@pytest.mark.parametrize(
    ("refusal", "gone"),
    [
        (GmailRefusal(404, "notFound"), True),
        (GmailRefusal(400, "invalidArgument", "Invalid startHistoryId"), True),
        (GmailRefusal(400, "badRequest"), True),
        (GmailRefusal(400, "failedPrecondition", "Mail service not enabled"), False),
        (GmailRefusal(403, "forbidden"), False),
    ],
)
def test_a_position_that_gmail_refuses_is_gone(refusal: GmailRefusal, gone: bool) -> None:
    assert is_gone(refusal, "history.list") is gone


def test_a_breaker_pauses_after_failures_in_a_row_and_longer_each_time() -> None:
    clock = ManualClock(NOW)
    breaker = Breaker(clock)
    pauses = []
    for _ in range(12):
        breaker.failed(None)
        try:
            breaker.check()
        except MailboxUnavailable as error:
            assert error.retry_after is not None  # noqa: PT017
            pauses.append(error.retry_after.total_seconds())
            clock.sleep(error.retry_after)
    assert pauses[:4] == [2, 4, 8, 16]
    assert pauses[-1] == LONGEST_PAUSE.total_seconds()
    breaker.succeeded()
    breaker.failed(None)
    breaker.check()
    assert breaker.failures == 1


def test_a_breaker_keeps_to_what_the_server_says() -> None:
    clock = ManualClock(NOW)
    breaker = Breaker(clock)
    breaker.failed(timedelta(minutes=5))
    clock.sleep(timedelta(minutes=4))
    with pytest.raises(MailboxUnavailable) as caught:
        breaker.check()
    assert caught.value.retry_after == timedelta(minutes=1)
    clock.sleep(timedelta(minutes=1))
    breaker.check()


@pytest.mark.parametrize(
    ("argument", "environment", "chosen"),
    [
        (None, {}, GMAIL_ENDPOINT),
        (None, {"LEAGUE_GMAIL_ENDPOINT": "http://127.0.0.1:8025/"}, "http://127.0.0.1:8025"),
        ("http://localhost:1", {"LEAGUE_GMAIL_ENDPOINT": "http://127.0.0.1:2"}, "http://localhost:1"),
        ("https://gmail.example.com", {}, "https://gmail.example.com"),
    ],
)
def test_the_endpoint_is_gmail_unless_another_is_named(
    argument: str | None, environment: dict[str, str], chosen: str
) -> None:
    assert endpoint_of(argument, environment) == chosen


@pytest.mark.parametrize("endpoint", ["http://gmail.example.com", "http://127.0.0.1.evil.test", "ftp://localhost", "x"])
def test_a_token_is_never_sent_in_the_clear_to_another_machine(endpoint: str) -> None:
    with pytest.raises(ConfigError, match=r"gmail\.endpoint"):
        endpoint_of(endpoint, {})
    with pytest.raises(ConfigError, match="LEAGUE_GMAIL_ENDPOINT"):
        endpoint_of(None, {"LEAGUE_GMAIL_ENDPOINT": endpoint})


@pytest.mark.parametrize(
    ("host", "port", "name"),
    [
        ("gmail.googleapis.com", 443, "Gmail"),
        ("notgoogleapis.com", 443, "notgoogleapis.com:443"),
        ("127.0.0.1", 8025, "127.0.0.1:8025"),
        ("::1", 8025, "[::1]:8025"),
    ],
)
def test_a_server_that_is_not_gmail_is_called_by_its_address(host: str, port: int, name: str) -> None:
    assert server_named(host, port) == name
