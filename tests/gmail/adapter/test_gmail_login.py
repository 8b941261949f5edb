"""A person logs in, here or elsewhere, and out again; and nothing secret is ever said or logged."""

from __future__ import annotations

import json
import logging
import threading
import traceback
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, LeagueError, MailboxUnavailable
from league_agents.local_league.patience import LIMIT_S
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.oauth import SCOPES, Authorization, login, login_pasted, logout, token_status
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB, letter, nothing_known

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: object) -> None:
        return None


def answer_of(address: str) -> str:
    """Where the consent page sends a browser that agrees."""
    try:
        urllib.request.build_opener(_Stay).open(address, timeout=LIMIT_S).close()
    except urllib.error.HTTPError as moved:
        with moved:
            return moved.headers["Location"]
    raise AssertionError("the consent page asks more than it should")


def browse(change: Callable[[str], str] = str) -> Callable[[str], None]:
    """A browser of somebody who agrees."""

    def visit(address: str) -> None:
        with urllib.request.urlopen(change(answer_of(address)), timeout=LIMIT_S) as page:
            page.read()

    return lambda address: threading.Thread(target=visit, args=(address,), daemon=True).start()


def test_a_login_in_the_browser_gives_a_token_that_works(sandbox: Sandbox, tmp_path: Path) -> None:
    token_path = tmp_path / "token.json"
    token = login(
        sandbox.client_secret_file(tmp_path), token_path, open_browser=False, show=browse(), clock=ManualClock(NOON)
    )
    assert token_path.stat().st_mode & 0o777 == 0o600
    assert token.consented_at == NOON
    assert set(token.scopes or ()) == set(SCOPES)
    status = token_status(token_path, now=NOON + timedelta(days=3))
    assert status.age == timedelta(days=3)
    mailbox = GmailMailbox(token_path, endpoint=sandbox.url)
    assert mailbox.profile().address == ALICE
    mailbox.close()


def test_a_login_on_a_server_takes_the_pasted_address(sandbox: Sandbox, tmp_path: Path) -> None:
    shown: list[str] = []
    token_path = tmp_path / "token.json"
    login_pasted(
        sandbox.client_secret_file(tmp_path),
        token_path,
        show=shown.append,
        ask=lambda: f"  {answer_of(shown[0])}\n",
    )
    (address,) = shown
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
    assert query["access_type"] == "offline"
    assert query["prompt"] == "consent"
    assert query["code_challenge_method"] == "S256"
    mailbox = GmailMailbox(token_path, endpoint=sandbox.url)
    assert mailbox.fetch(1, nothing_known) == []
    mailbox.close()


@pytest.mark.parametrize(
    ("pasted", "reason"),
    [
        ("", "no address was pasted"),
        (" \n", "no address was pasted"),
        ("4/0AcodeAlone", "no authorization code"),
        ("http://localhost:8765/?state=STATE&code=", "no authorization code"),
        ("http://localhost:8765/?code=abc&state=other", "another attempt"),
        ("http://localhost:8765/?code=abc", "another attempt"),
        ("http://localhost:8765/?error=access_denied&state=STATE", "access was refused"),
        ("http://localhost:8765/?error=server_error&state=STATE", "no authorization code"),
        ("http://localhost:8765/?state=STATE&code=wrong", "invalid_grant"),
        ("?" + "a=1&" * 100, "no authorization code"),
    ],
)
def test_a_wrong_paste_is_explained_in_one_line(sandbox: Sandbox, tmp_path: Path, pasted: str, reason: str) -> None:
    shown: list[str] = []

    def ask() -> str:
        state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(shown[0]).query))["state"]
        return pasted.replace("STATE", state)

    with pytest.raises(AuthorizationExpired, match=reason) as caught:
        login_pasted(sandbox.client_secret_file(tmp_path), tmp_path / "token.json", show=shown.append, ask=ask)
    assert "\n" not in str(caught.value)
    assert "start again" in str(caught.value)
    assert not (tmp_path / "token.json").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda address: address.replace("state=", "state=x"), "another attempt"),
        (lambda address: address.replace("code=", "error=access_denied&x="), "access was refused"),
        (lambda address: address.replace("code=", "code=x"), "invalid_grant"),
    ],
)
def test_a_login_that_goes_wrong_in_the_browser_is_explained(
    sandbox: Sandbox, tmp_path: Path, change: Callable[[str], str], reason: str
) -> None:
    with pytest.raises(AuthorizationExpired, match=reason):
        login(sandbox.client_secret_file(tmp_path), tmp_path / "token.json", open_browser=False, show=browse(change))


def test_a_browser_that_never_comes_is_not_waited_for_for_ever(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(AuthorizationExpired, match="in time"):
        login(
            sandbox.client_secret_file(tmp_path),
            tmp_path / "token.json",
            open_browser=False,
            show=lambda address: None,
            patience=timedelta(seconds=0.2),
        )


def test_a_server_that_cannot_be_reached_ends_the_login(tmp_path: Path) -> None:
    with Sandbox([ALICE]) as gone:
        client = gone.client_secret_file(tmp_path)
    states: list[str] = []
    with pytest.raises(MailboxUnavailable):
        login_pasted(
            client,
            tmp_path / "token.json",
            show=lambda address: states.append(dict(urllib.parse.parse_qsl(address))["state"]),
            ask=lambda: f"http://localhost:8765/?code=x&state={states[0]}",
        )


def test_a_client_that_google_does_not_know_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    client = sandbox.client_secret_file(tmp_path)
    document = json.loads(client.read_text())
    document["installed"]["client_secret"] = "planted"
    client.write_text(json.dumps(document))
    with pytest.raises(ConfigError, match="download its JSON again") as caught:
        login(client, tmp_path / "token.json", open_browser=False, show=browse())
    assert "planted" not in str(caught.value)


def test_a_logout_gives_the_authorization_back_and_deletes_the_token(sandbox: Sandbox, tmp_path: Path) -> None:
    path = sandbox.token_file(BOB, tmp_path)
    kept = tmp_path / "copy.json"
    kept.write_bytes(path.read_bytes())
    assert logout(path)
    assert not path.exists()
    mailbox = GmailMailbox(kept, endpoint=sandbox.url)
    with pytest.raises(AuthorizationExpired):
        mailbox.profile()
    mailbox.close()
    assert not logout(path)


def test_a_logout_without_a_connection_still_deletes_the_token(tmp_path: Path) -> None:
    with Sandbox([ALICE]) as gone:
        path = gone.token_file(ALICE, tmp_path)
    assert not logout(path)
    assert not path.exists()


def test_a_token_with_too_few_scopes_is_refused_before_anything_is_asked(sandbox: Sandbox, tmp_path: Path) -> None:
    path = sandbox.token_file(BOB, tmp_path, scopes=["https://www.googleapis.com/auth/gmail.readonly"])
    with pytest.raises(AuthorizationExpired, match=r"gmail\.modify"):
        Authorization(path)


def test_the_command_to_run_is_the_one_for_this_mailbox(tmp_path: Path) -> None:
    command = "league-agents auth login --role player"
    mailbox = GmailMailbox(tmp_path / "token.json", login_command=command)
    with pytest.raises(AuthorizationExpired, match=f"there is no authorization yet; run '{command}'"):
        mailbox.fetch(1, nothing_known)


def test_a_token_file_that_claims_more_than_was_granted_is_found_out(sandbox: Sandbox, tmp_path: Path) -> None:
    path = sandbox.token_file(BOB, tmp_path, scopes=["https://www.googleapis.com/auth/gmail.readonly"])
    path.write_text(json.dumps({**json.loads(path.read_text()), "scopes": list(SCOPES)}))
    mailbox = GmailMailbox(path, endpoint=sandbox.url)
    with pytest.raises(AuthorizationExpired, match="does not allow what is needed"):
        mailbox.send(letter(1, sender=BOB, to=(ALICE,)))
    mailbox.close()


def test_no_secret_is_said_or_logged_whatever_happens(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG)
    client = sandbox.client_secret_file(tmp_path)
    token_path = tmp_path / "token.json"
    answers: list[str] = []

    def noted(address: str) -> str:
        answers.append(address)
        return address

    login(client, token_path, open_browser=False, show=browse(noted))
    secrets = {json.loads(client.read_text())["installed"]["client_secret"]}
    secrets.add(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answers[0]).query))["code"])
    said: list[str] = []

    def attempt(what: Callable[[], object]) -> None:
        secrets.update(json.loads(token_path.read_text())[name] for name in ("token", "refresh_token"))
        try:
            said.append(repr(what()))
        except LeagueError:
            said.append(traceback.format_exc())

    clock = ManualClock(datetime.now(UTC))
    mailbox = GmailMailbox(token_path, endpoint=sandbox.url, clock=clock)
    attempt(mailbox.profile)
    for fault in (
        Fault(action=FaultAction.ERROR, status=403, reason="rateLimitExceeded"),
        Fault(action=FaultAction.ERROR, status=403, reason="domainPolicy"),
        Fault(action=FaultAction.ERROR, status=400),
        Fault(action=FaultAction.ERROR, status=503),
        Fault(action=FaultAction.GARBLE),
        Fault(action=FaultAction.DROP_UNDONE),
        Fault(action=FaultAction.EXPIRE_TOKEN),
        Fault(action=FaultAction.ERROR, method="token", status=503),
        Fault(action=FaultAction.REVOKE),
    ):
        sandbox.add_fault(fault)
        attempt(lambda: mailbox.send(letter(1)))
        attempt(lambda: mailbox.fetch(5, nothing_known))
        sandbox.clear_faults()
        clock.sleep(timedelta(minutes=10))
    said.append(repr(mailbox))
    said.append(repr(vars(mailbox)))
    mailbox.close()
    attempt(lambda: logout(token_path)) if token_path.exists() else None
    output = capfd.readouterr()
    text = "\n".join([*said, caplog.text, output.out, output.err])
    assert len(secrets) >= 4
    secrets |= {urllib.parse.quote(secret, safe="") for secret in secrets}
    assert [secret for secret in secrets if secret in text] == []
    assert sum("AuthorizationExpired" in each for each in said) >= 1
