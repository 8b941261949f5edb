"""Who a mail is from, judged by the headers that a Gmail really writes."""

from __future__ import annotations

import pytest

from league_agents.mail import mime
from league_agents.mail.identity import MailVerdict, Require, Result, judge
from league_agents.mail.port import Mail
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB, letter, nothing_known

PASSED = b"Authentication-Results: mx.google.com; dmarc=pass header.from=league.test\r\n"


def verdict_on(mail: Mail, require: Require = Require.PASS) -> MailVerdict:
    return judge(mail.headers, mail.from_header, own_address=BOB, require=require)


def test_a_mail_from_another_account_is_confirmed(open_mailbox) -> None:
    alice, bob = open_mailbox(ALICE), open_mailbox(BOB)
    alice.send(letter(1))
    (mail,) = bob.fetch(5, nothing_known)
    assert verdict_on(mail) == MailVerdict(accepted=True, sender=ALICE, result=Result.PASS)


@pytest.mark.parametrize(
    ("verdict", "forged_header", "accepted"),
    [
        ({"spf": "pass", "dkim": "pass", "dmarc": "pass", "domain": "league.test"}, b"", True),
        ({"spf": "fail", "dkim": "none", "dmarc": "fail"}, b"", False),
        ({"spf": "fail", "dkim": "none", "dmarc": "fail"}, PASSED, False),
        ({"spf": "pass", "dkim": "pass", "dmarc": "none", "domain": "evil.test"}, PASSED, False),
    ],
)
def test_a_forged_mail_is_found_out_whatever_it_says_of_itself(
    sandbox: Sandbox, open_mailbox, verdict: dict[str, str], forged_header: bytes, accepted: bool
) -> None:
    sandbox.inject(forged_header + mime.build(letter(1)), to=[BOB], sender="x@evil.test", verdict=verdict)
    (mail,) = open_mailbox(BOB).fetch(5, nothing_known)
    assert verdict_on(mail).accepted is accepted


def test_a_mail_that_no_server_judged_is_not_confirmed(sandbox: Sandbox, open_mailbox) -> None:
    sandbox.inject(mime.build(letter(1)), to=[BOB], verdict=None)
    (mail,) = open_mailbox(BOB).fetch(5, nothing_known)
    assert not verdict_on(mail).accepted
    assert verdict_on(mail, Require.NO_FAILURE).accepted


def test_a_mail_to_oneself_is_never_answered(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB)
    bob.send(letter(1, sender=BOB, to=(BOB,)))
    (mail,) = bob.fetch(5, nothing_known)
    assert "from this mailbox itself" in verdict_on(mail, Require.NOTHING).reason


def test_a_notice_that_a_mail_could_not_be_delivered_is_never_answered(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB)
    bob.send(letter(1, sender=BOB, to=("nobody@league.test",)))
    (notice,) = sandbox.mail(BOB, "INBOX")
    parsed = mime.read(notice.raw)
    verdict = judge(parsed.headers, parsed.from_header, own_address=BOB, require=Require.NOTHING)
    assert not verdict.accepted
    assert "notice of a mail server" in verdict.reason
