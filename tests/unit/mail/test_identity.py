"""Whether a mail is from whom it says, and whether it should be answered at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.mail.identity import Require, Result, authenticated, judge, not_delivered_to

WHISTLE = "whistle@example.com"
OWN = "Falcon.Player@league.test"
# As Gmail writes it, unfolded.
GOOD = (
    "mx.google.com;       dkim=pass header.i=@example.com header.s=20251104 header.b=fK2+a/B=;       "
    "spf=pass (google.com: domain of whistle@example.com designates 209.85.220.41 as permitted sender) "
    "smtp.mailfrom=whistle@example.com;       dmarc=pass (p=NONE sp=QUARANTINE dis=NONE) header.from=example.com"
)


def results(*statements: str, server: str = "mx.google.com") -> str:
    return "; ".join((server, *statements))


def test_a_mail_that_its_domain_signed_is_accepted() -> None:
    verdict = judge({"authentication-results": GOOD}, f"The Whistle <{WHISTLE}>", own_address=OWN)
    assert verdict.accepted
    assert verdict.sender == WHISTLE
    assert verdict.result is Result.PASS


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (GOOD, Result.PASS),
        (results("dmarc=pass header.from=example.com"), Result.PASS),
        (results("dmarc=pass header.from=EXAMPLE.com."), Result.PASS),
        (results("dmarc=pass header.from=example.com", server="MX.Google.com 1"), Result.PASS),
        (results("dmarc=fail (p=REJECT) header.from=example.com", "dkim=pass header.d=example.com"), Result.FAIL),
        # Of two statements the worse counts.
        (results("dmarc=pass header.from=example.com", "dmarc=fail header.from=example.com"), Result.FAIL),
        # Passing as another domain says nothing about this one.
        (results("dmarc=pass header.from=evil.test"), Result.UNKNOWN),
        (results("dkim=pass header.i=@evil.test", "spf=pass smtp.mailfrom=x@evil.test"), Result.UNKNOWN),
        (results("dkim=pass header.d=evil-example.com"), Result.UNKNOWN),
        (results("dkim=pass header.d=com"), Result.UNKNOWN),
        # A domain without a policy: its own signature or its own servers are as good.
        (results("dkim=pass header.i=@example.com"), Result.PASS),
        (results("dkim=pass header.i=x@mail.example.com"), Result.PASS),
        (results("spf=pass smtp.mailfrom=bounce@example.com", "dmarc=none header.from=example.com"), Result.PASS),
        (results('dkim=pass header.i="@example.com"'), Result.PASS),
        (results("dkim=fail header.d=example.com", "spf=softfail smtp.mailfrom=x@example.com"), Result.FAIL),
        (results("dkim=neutral header.d=example.com"), Result.UNKNOWN),
        (results("dmarc=temperror header.from=example.com"), Result.UNKNOWN),
        (results("none"), Result.UNKNOWN),
        ("", Result.UNKNOWN),
        # Somebody else's server.
        (results("dmarc=pass header.from=example.com", server="mx.evil.test"), Result.UNKNOWN),
        (results("dmarc=pass header.from=example.com", server="mx.google.com.evil.test"), Result.UNKNOWN),
        ("dmarc=pass header.from=example.com", Result.UNKNOWN),
        ("mx.google.com=x; dmarc=pass header.from=example.com", Result.UNKNOWN),
        # The sender writes its own address: quoted texts and comments in it are no statements.
        (results('spf=fail smtp.mailfrom="a; dmarc=pass header.from=example.com "@evil.test'), Result.UNKNOWN),
        (results('spf=pass smtp.mailfrom="@example.com "@evil.test'), Result.UNKNOWN),
        (results('dkim=pass header.i="x@example.com"@evil.test'), Result.UNKNOWN),
        (results("spf=fail (of x; dmarc=pass header.from=example.com) smtp.mailfrom=x@evil.test"), Result.UNKNOWN),
        (results("spf=fail (of x(y\\); dmarc=pass header.from=example.com)) smtp.mailfrom=x"), Result.UNKNOWN),
        (results("spf=fail (of x) ; dmarc=pass) header.from=example.com"), Result.UNKNOWN),
        (results('spf=fail "; dmarc=pass header.from=example.com'), Result.UNKNOWN),
        (results("dmarc=pass header.from=example.com" + " x" * 2_000), Result.UNKNOWN),
    ],
)
def test_only_a_clear_statement_about_the_domain_of_the_sender_counts(header: str, expected: Result) -> None:
    assert authenticated(header, WHISTLE) is expected


@pytest.mark.parametrize(
    ("header", "nothing", "no_failure", "must_pass"),
    [
        (GOOD, True, True, True),
        ("", True, True, False),
        (results("dmarc=fail header.from=example.com"), True, False, False),
    ],
)
def test_one_chooses_how_sure_one_wants_to_be(header: str, nothing: bool, no_failure: bool, must_pass: bool) -> None:
    accepted = [
        judge({"authentication-results": header}, WHISTLE, own_address=OWN, require=require).accepted
        for require in (Require.NOTHING, Require.NO_FAILURE, Require.PASS)
    ]
    assert accepted == [nothing, no_failure, must_pass]


def test_another_server_can_be_the_one_that_receives() -> None:
    headers = {"authentication-results": results("dmarc=pass header.from=example.com", server="mx.league.test")}
    assert judge(headers, WHISTLE, own_address=OWN, authserv_id="mx.league.test").accepted
    assert not judge(headers, WHISTLE, own_address=OWN).accepted


@pytest.mark.parametrize(
    ("from_header", "headers", "reason"),
    [
        ("falcon.player@LEAGUE.test", {}, "this mailbox itself"),
        ("Mail Delivery <mailer-daemon@googlemail.com>", {}, "notice of a mail server"),
        ("POSTMASTER@example.com", {}, "notice of a mail server"),
        (WHISTLE, {"return-path": " <> "}, "delivery report"),
        (WHISTLE, {"content-type": "Multipart/Report; report-type=delivery-status"}, "delivery report"),
        (WHISTLE, {"auto-submitted": "auto-replied (vacation)"}, "automatic answer"),
        (WHISTLE, {"auto-submitted": "auto-notified"}, "automatic answer"),
        (WHISTLE, {"precedence": " Bulk"}, "Precedence: bulk"),
        (WHISTLE, {"precedence": "auto_reply"}, "Precedence: auto_reply"),
        (WHISTLE, {"x-autoreply": "yes"}, "x-autoreply"),
        ("a@example.com, b@example.com", {}, "does not name one address"),
        ("", {}, "does not name one address"),
        ("x" * 100_000, {}, "does not name one address"),
    ],
)
def test_mail_that_must_not_be_answered_is_refused_with_its_reason(
    from_header: str, headers: dict[str, str], reason: str
) -> None:
    verdict = judge({"authentication-results": GOOD, **headers}, from_header, own_address=OWN, require=Require.NOTHING)
    assert not verdict.accepted
    assert reason in verdict.reason
    assert len(verdict.reason) < 300


@pytest.mark.parametrize(
    "headers",
    [
        {"auto-submitted": "auto-generated"},
        {"auto-submitted": "Auto-Generated; owner-email=x@y.test"},
        {"auto-submitted": "no"},
        {"precedence": "list"},  # a league manager may write to a mailing list
        {"x-autoreply": "no"},
        {"return-path": f"<{WHISTLE}>"},
    ],
)
def test_mail_that_a_program_wrote_of_its_own_accord_is_welcome(headers: dict[str, str]) -> None:
    assert judge({"authentication-results": GOOD, **headers}, WHISTLE, own_address=OWN).accepted


@given(
    st.text(alphabet='mx.google.com;=() "\\@dpkirasf-/\n', max_size=120),
    st.text(alphabet='example.com@<>" ,', max_size=40),
)
def test_no_header_can_raise_and_noise_never_passes(noise: str, from_header: str) -> None:
    verdict = judge({"authentication-results": f"mx.google.com; {noise}"}, from_header, own_address=OWN)
    assert not verdict.accepted


@given(st.text(max_size=200).filter(lambda text: "pass" not in text))
def test_no_local_part_of_the_sender_turns_into_a_pass(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    header = results(f'spf=fail smtp.mailfrom="{quoted}; dmarc=pass header.from=example.com"@evil.test')
    assert authenticated(header, WHISTLE) is not Result.PASS


FAILED = {"X-Failed-Recipients": "a@league.test, b@league.test"}
REPORT = {"Content-Type": 'Multipart/Report; report-type="delivery-status"'}


@pytest.mark.parametrize(
    ("sender", "headers", "subject", "expected"),
    [
        ("mailer-daemon@gmail.test", FAILED, "x", ("a@league.test", "b@league.test")),
        ("Mailer-Daemon@gmail.test", {}, "Gone: a@league.test.", ("a@league.test",)),
        ("mailer-daemon@gmail.test", {}, "Hello", ()),  # a program's mail, whatever it says
        ("postmaster@league.test", FAILED, "Hello", ("a@league.test", "b@league.test")),
        ("postmaster@league.test", REPORT, "Hello", ()),
        ("postmaster@league.test", {}, "Undeliverable: a@league.test", ("a@league.test",)),
        ("postmaster@league.test", {}, "Returned mail", ()),
        ("postmaster@league.test", {}, "Hello a@league.test", None),  # a person wrote it
        ("postmaster@league.test", {"Content-Type": "text/plain"}, "Hello", None),
        ("ann@league.test", {**FAILED, **REPORT}, "Undeliverable: a@league.test", None),
        ("no address", FAILED, "Undeliverable", None),
        ("mailer-daemon@gmail.test", {}, "a@league.test (a@league.test) <b@league.test>",
         ("a@league.test", "b@league.test")),
        ("mailer-daemon@gmail.test", {}, "x" * 3_986 + " a@league.test b@league.test", ("a@league.test",)),
    ],
)  # fmt: skip
def test_a_mail_servers_notice_says_whom_a_mail_did_not_reach(
    sender: str, headers: dict[str, str], subject: str, expected: tuple[str, ...] | None
) -> None:
    folded = {name.lower(): value for name, value in headers.items()}
    assert not_delivered_to(folded, sender, subject) == expected
