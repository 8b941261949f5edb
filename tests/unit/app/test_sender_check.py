"""Mail that came back, as a mailbox of the league sees it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from league_agents.app.live_mailbox import SenderCheck
from league_agents.mail.identity import GMAIL, Require
from league_agents.mail.port import Mail

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
FAILURE = "Delivery Status Notification (Failure)"
DAEMON = "Mail Delivery Subsystem <mailer-daemon@googlemail.com>"
CHECK = SenderCheck("office@league.test", GMAIL, Require.PASS)


def mail(from_header: str, subject: str, **headers: str) -> Mail:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Mail(mail_id="m1", arrived_at=NOON, from_header=from_header, subject=subject, documents=(), headers=named)


def test_the_address_that_failed_is_named() -> None:
    said = CHECK.came_back(mail(DAEMON, FAILURE, x_failed_recipients="fallcons@league.test"))
    assert said == f"mail to fallcons@league.test was not delivered: {FAILURE}; look whether the address is right"


def test_an_address_in_the_subject_does_when_no_header_names_one() -> None:
    said = CHECK.came_back(mail("postmaster@school.test", "Undeliverable: no mailbox <fallcons@league.test>."))
    assert said is not None
    assert said.startswith("mail to fallcons@league.test was not delivered")


def test_a_notice_that_names_nobody_is_told_by_its_subject_made_fit_to_be_shown() -> None:
    said = CHECK.came_back(mail(DAEMON, "Failure \x1b[31m" + "x" * 500))
    assert said is not None
    assert "may not have arrived: Failure xxx" in said
    assert "\x1b" not in said
    assert len(said) < 250


@pytest.mark.parametrize(
    "other",
    [
        mail("Falcons <falcons@league.test>", FAILURE, x_failed_recipients="a@league.test"),
        mail("postmaster@school.test", "Lunch on Monday"),
        mail("a@x.test, mailer-daemon@x.test", FAILURE),
        mail(DAEMON, FAILURE, authentication_results=f"{GMAIL}; dmarc=fail header.from=googlemail.com"),
    ],
    ids=["a person", "a postmaster in person", "two senders", "forged"],
)
def test_other_mail_is_no_notice(other: Mail) -> None:
    assert CHECK.came_back(other) is None
