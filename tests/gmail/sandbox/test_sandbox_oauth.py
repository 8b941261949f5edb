"""Signing in, staying signed in and being thrown out, with google-auth and google-auth-oauthlib."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
import warnings
from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.local_league.patience import LIMIT_S
from league_agents.sandbox.oauth import CLIENT_ID, CLIENT_SECRET
from league_agents.sandbox.world import Rules

ALICE, BOB = "Alice@league.test", "bob@league.test"
MODIFY = "https://www.googleapis.com/auth/gmail.modify"
READONLY = "https://www.googleapis.com/auth/gmail.readonly"
CLIENT = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
FORM = "application/x-www-form-urlencoded"
VERIFIER = "v" * 43


def ask_form(wire, path: str, **fields: str):
    return wire.ask("POST", path, urllib.parse.urlencode(fields).encode(), Content_Type=FORM)


def asked(sandbox, **fields: str) -> str:
    """The address of the consent page."""
    query = {
        "client_id": CLIENT_ID,
        "redirect_uri": "http://localhost:1/",
        "response_type": "code",
        "scope": MODIFY,
        "state": "s",
        **fields,
    }
    return f"/auth?{urllib.parse.urlencode(query)}"


def code_from(wire, **fields: str) -> str:
    answer = wire.ask("GET", asked(wire.sandbox, **fields))
    assert answer.status == 302, answer.body
    return urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["location"]).query)["code"][0]


class Owner:
    """Somebody who opens the address that the flow shows, agrees, and lets the browser be redirected."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.thread = threading.Thread(target=self._visit, args=(url,))
        self.thread.start()
        return True

    def _visit(self, url: str) -> None:
        location = self._get(url)
        assert location is not None
        self._get(location)

    def _get(self, url: str) -> str | None:
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=LIMIT_S)
        connection.request("GET", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.getheader("Location")


def test_an_installed_application_signs_in_with_its_own_flow(sandbox, tmp_path: Path, monkeypatch) -> None:
    import webbrowser

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        from google_auth_oauthlib.flow import InstalledAppFlow

    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the sandbox speaks plain HTTP, on the loopback
    owner = Owner()
    monkeypatch.setattr(webbrowser, "get", lambda _browser=None: owner)
    flow = InstalledAppFlow.from_client_secrets_file(str(sandbox.client_secret_file(tmp_path)), [MODIFY])
    credentials = flow.run_local_server(
        port=0, access_type="offline", prompt="consent", login_hint=BOB, timeout_seconds=LIMIT_S,
        authorization_prompt_message=None,
    )  # fmt: skip
    assert owner.thread is not None
    owner.thread.join()
    flow.oauth2session.close()
    assert credentials.refresh_token
    assert credentials.granted_scopes == [MODIFY]
    assert sandbox.world.authority.find(credentials.token).account == BOB


def test_an_access_token_ends_after_an_hour_and_is_refreshed(sandbox, account) -> None:
    alice = account(sandbox)
    first = alice.credentials.token
    sandbox.advance(timedelta(minutes=59))
    alice.cursor()
    assert alice.credentials.token == first
    sandbox.advance(timedelta(minutes=2))
    alice.cursor()
    assert alice.credentials.token != first


def test_a_withdrawn_grant_is_an_invalid_grant(sandbox, account) -> None:
    from google.auth.exceptions import RefreshError

    alice = account(sandbox)
    alice.cursor()
    sandbox.withdraw(ALICE)
    with pytest.raises(RefreshError) as refusal:
        alice.cursor()
    assert refusal.value.args[1]["error"] == "invalid_grant"
    assert not refusal.value.retryable


def test_an_application_in_testing_loses_its_grant_after_seven_days(start, account) -> None:
    from google.auth.exceptions import RefreshError

    sandbox = start(rules=Rules(grant_lifetime=timedelta(days=7)))
    alice = account(sandbox)
    sandbox.advance(timedelta(days=6, hours=23))
    alice.cursor()
    sandbox.advance(timedelta(hours=2))
    with pytest.raises(RefreshError):
        alice.cursor()


def test_revoking_ends_access_and_refresh(sandbox, plain) -> None:
    wire = plain(sandbox)
    token = sandbox.access_token(ALICE)
    assert ask_form(wire, "/revoke", token=token).status == 200
    assert wire.ask("GET", "/gmail/v1/users/me/profile", token=token).status == 401
    again = ask_form(wire, "/revoke", token=token)
    assert (again.status, again.json["error"]) == (400, "invalid_token")


@pytest.mark.parametrize("token", [None, "", "x", "ya29.guess", "Bearer"])
def test_an_unknown_token_is_refused_in_googles_words(sandbox, plain, token: str | None) -> None:
    reply = plain(sandbox).ask("GET", "/gmail/v1/users/me/profile", token=token)
    assert (reply.status, reply.reason) == (401, "authError")
    assert reply.json["error"]["status"] == "UNAUTHENTICATED"
    assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("scope", "verb", "path", "status"),
    [
        ("gmail.readonly", "GET", "messages", 200),
        ("gmail.readonly", "POST", "messages/send", 403),
        ("gmail.readonly", "POST", "messages/batchModify", 403),
        ("gmail.send", "GET", "messages", 403),
        ("gmail.send", "POST", "messages/send", 400),  # allowed, but the mail is missing
        ("gmail.labels", "GET", "labels", 200),
        ("gmail.labels", "GET", "messages", 403),
        ("gmail.metadata", "GET", "messages", 200),
        ("gmail.metadata", "GET", "messages?q=is:unread", 403),
        ("gmail.metadata", "GET", "messages/1?format=raw", 404),
        ("gmail.modify", "DELETE", "messages/1", 403),  # deleting for good needs the widest scope
    ],
)
def test_a_method_needs_its_scope(sandbox, plain, scope: str, verb: str, path: str, status: int) -> None:
    token = sandbox.access_token(ALICE, scopes=[f"https://www.googleapis.com/auth/{scope}"])
    reply = plain(sandbox).ask(verb, f"/gmail/v1/users/me/{path}", token=token)
    assert reply.status == status
    if status == 403 and "q=" not in path:
        assert reply.reason == "insufficientPermissions"


def test_metadata_shows_no_content(sandbox, account, plain) -> None:
    account(sandbox, BOB).post(ALICE)
    mail_id = sandbox.mail(ALICE)[0].mail_id
    token = sandbox.access_token(ALICE, scopes=["https://www.googleapis.com/auth/gmail.metadata"])
    wire = plain(sandbox)
    for form, status in (("raw", 403), ("full", 403), ("metadata", 200), ("minimal", 200)):
        assert wire.ask("GET", f"/gmail/v1/users/me/messages/{mail_id}?format={form}", token=token).status == status


def test_a_code_is_good_once_and_with_its_verifier_only(sandbox, plain) -> None:
    import base64
    import hashlib

    wire = plain(sandbox)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    pkce = {"code_challenge": challenge, "code_challenge_method": "S256", "access_type": "offline"}
    form = {"grant_type": "authorization_code", "redirect_uri": "http://localhost:1/", **CLIENT}
    wrong = {
        "no verifier": {"code": code_from(wire, **pkce)},
        "another verifier": {"code": code_from(wire, **pkce), "code_verifier": "w" * 43},
        "another address": {
            "code": code_from(wire, **pkce), "code_verifier": VERIFIER, "redirect_uri": "http://localhost:2/",
        },
        "no code": {"code_verifier": VERIFIER},
    }  # fmt: skip
    assert {
        why: ask_form(wire, "/token", **{**form, **fields}).status for why, fields in wrong.items()
    } == dict.fromkeys(wrong, 400)
    code = code_from(wire, **pkce)
    good = ask_form(wire, "/token", **form, code=code, code_verifier=VERIFIER)
    assert good.json["token_type"] == "Bearer"
    assert good.json["refresh_token"]
    assert ask_form(wire, "/token", **form, code=code, code_verifier=VERIFIER).json["error"] == "invalid_grant"
    late = code_from(wire, **pkce)
    sandbox.advance(timedelta(minutes=11))
    assert ask_form(wire, "/token", **form, code=late, code_verifier=VERIFIER).json["error"] == "invalid_grant"


def test_a_second_consent_gives_a_refresh_token_only_when_asked_for(sandbox, plain) -> None:
    wire = plain(sandbox)
    form = {"grant_type": "authorization_code", "redirect_uri": "http://localhost:1/", **CLIENT}

    def has_refresh_token(**fields: str) -> bool:
        answer = ask_form(wire, "/token", **form, code=code_from(wire, **fields))
        return "refresh_token" in answer.json

    assert has_refresh_token(access_type="offline")
    assert not has_refresh_token(access_type="offline")
    assert has_refresh_token(access_type="offline", prompt="consent")
    assert not has_refresh_token(prompt="consent")


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"grant_type": "refresh_token", "refresh_token": "x", **CLIENT}, 400, "invalid_grant"),
        ({"grant_type": "refresh_token", **CLIENT}, 400, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, 401, "invalid_client"),
        ({"grant_type": "refresh_token", **CLIENT, "client_secret": "guess"}, 401, "invalid_client"),
        ({"grant_type": "password", **CLIENT}, 400, "unsupported_grant_type"),
        ({**CLIENT}, 400, "unsupported_grant_type"),
    ],
)
def test_the_token_endpoint_says_what_is_wrong(sandbox, plain, fields, status: int, error: str) -> None:
    reply = ask_form(plain(sandbox), "/token", **fields)
    assert (reply.status, reply.json["error"]) == (status, error)


def test_the_client_may_show_itself_in_a_header(sandbox, plain, tmp_path: Path) -> None:
    import base64

    kept = json.loads(sandbox.token_file(ALICE, tmp_path).read_text())
    body = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": kept["refresh_token"]}).encode()
    basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
    reply = plain(sandbox).ask("POST", "/token", body, Authorization=f"Basic {basic}", Content_Type=FORM)
    assert reply.status == 200
    broken = plain(sandbox).ask("POST", "/token", body, Authorization="Basic é!", Content_Type=FORM)
    assert broken.status == 401


def test_fewer_scopes_can_be_asked_for_but_not_more(sandbox, plain, tmp_path: Path) -> None:
    kept = json.loads(sandbox.token_file(ALICE, tmp_path, scopes=[MODIFY, READONLY]).read_text())
    form = {"grant_type": "refresh_token", "refresh_token": kept["refresh_token"], **CLIENT}
    assert ask_form(plain(sandbox), "/token", **form, scope=READONLY).json["scope"] == READONLY
    assert ask_form(plain(sandbox), "/token", **form, scope="https://mail.google.com/").json["error"] == "invalid_scope"


@pytest.mark.parametrize(
    "redirect",
    [
        "https://evil.example/",
        "http://evil.example/",
        "http://localhost.evil.example/",
        "http://localhost@evil.example/",
        "http://localhost:x/",
        "http://localhost:1/\r\nSet-Cookie: a=b",
        "javascript:alert(1)",
        "",
    ],
)
def test_a_code_goes_to_this_machine_only(sandbox, plain, redirect: str) -> None:
    reply = plain(sandbox).ask("GET", asked(sandbox, redirect_uri=redirect))
    assert reply.status == 400
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    "fields",
    [
        {"client_id": "<script>"},
        {"response_type": "token"},
        {"scope": ""},
        {"scope": "https://www.googleapis.com.evil.example/"},
        {"code_challenge_method": "none"},
        {"login_hint": "<script>alert(1)</script>"},
    ],
)
def test_a_wrong_consent_request_is_explained_on_an_escaped_page(sandbox, plain, fields) -> None:
    reply = plain(sandbox).ask("GET", asked(sandbox, **fields))
    assert reply.status == 400
    assert b"<script" not in reply.body


def test_the_owner_may_choose_the_account_or_say_no(start, plain) -> None:
    sandbox = start(rules=Rules(asks_for_account=True))
    wire = plain(sandbox)
    page = wire.ask("GET", asked(sandbox))
    assert page.status == 200
    assert b"Allow as bob@league.test" in page.body
    assert wire.ask("GET", asked(sandbox, login_hint=BOB)).status == 302
    assert wire.ask("GET", asked(sandbox, login_hint=BOB, prompt="select_account")).status == 200
    chosen = wire.ask("GET", asked(sandbox, login_hint=BOB, prompt="select_account", decision="allow"))
    assert "code=4" in chosen.headers["location"]
    denied = wire.ask("GET", asked(sandbox, decision="deny"))
    assert denied.headers["location"] == "http://localhost:1/?error=access_denied&state=s"


def test_files_that_are_written_are_for_their_owner_only(sandbox, tmp_path: Path) -> None:
    for path in (sandbox.token_file(BOB, tmp_path / "new"), sandbox.client_secret_file(tmp_path / "new")):
        assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "client_secret.json",
        "token.bob.at.league.test.json",
    ]


def test_what_a_token_is_good_for_can_be_asked(sandbox, plain) -> None:
    wire = plain(sandbox)
    told = wire.ask("GET", f"/tokeninfo?access_token={sandbox.access_token(BOB)}").json
    assert (told["email"], told["scope"], told["expires_in"]) == (BOB, MODIFY, "3599")
    assert wire.ask("GET", "/tokeninfo?access_token=x").status == 400
