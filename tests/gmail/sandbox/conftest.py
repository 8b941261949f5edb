"""A sandbox for each test, real Google clients on it, and a plain connection for what no client would send."""

from __future__ import annotations

import base64
import http.client
import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.local_league.patience import LIMIT_S
from league_agents.sandbox.server import Sandbox

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # which Python versions Google will support some day
    import google_auth_httplib2
    import httplib2
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build_from_document
    from googleapiclient.discovery_cache import get_static_doc

ALICE = "Alice@league.test"
BOB = "bob@league.test"
CAROL = "carol@league.test"
NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)

Start = Callable[..., Sandbox]
Open = Callable[..., Any]


@dataclass
class Reply:
    """What came back over a plain connection."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        return str(self.json["error"]["errors"][0]["reason"])


class Plain:
    """HTTP without a client library."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.connection = http.client.HTTPConnection("127.0.0.1", sandbox.port, timeout=LIMIT_S)

    def ask(
        self, verb: str, path: str, body: bytes | dict[str, Any] | None = None, token: str | None = None, **headers: str
    ) -> Reply:
        """One request. Underscores in the names of headers stand for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            named.setdefault("Content-Type", "application/json")
        self.connection.request(verb, path, body, named)
        answer = self.connection.getresponse()
        return Reply(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())


@pytest.fixture
def start() -> Iterator[Start]:
    """``start(accounts, **options)``: a running sandbox whose time stands still."""
    with ExitStack() as stack:

        def make(accounts: tuple[str, ...] = (ALICE, BOB, CAROL), **options: Any) -> Sandbox:
            options.setdefault("clock", ManualClock(NOON))
            sandbox = stack.enter_context(Sandbox(accounts, **options))
            stack.callback(lambda: _has_no_bugs(sandbox))
            return sandbox

        yield make


def _has_no_bugs(sandbox: Sandbox) -> None:
    assert sandbox.failures == ()


@pytest.fixture
def sandbox(start: Start) -> Sandbox:
    """A sandbox in which nothing goes wrong."""
    return start()


@dataclass
class Account:
    """One account, seen through google-api-python-client with credentials of google-auth."""

    address: str
    service: Any
    credentials: Any
    wire: Any

    @property
    def users(self) -> Any:
        return self.service.users()

    def post(
        self, to: str = "bob@league.test", *, body: str = "hello", thread: str | None = None, **headers: str
    ) -> Any:
        """Send a mail; underscores in the names of headers stand for dashes."""
        fields = {"To": to, "Subject": "a subject", **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        return self.post_raw(f"{head}\r\n{body}\r\n".encode(), **({} if thread is None else {"threadId": thread}))

    def post_raw(self, raw: bytes, **more: str) -> Any:
        document = {"raw": base64.urlsafe_b64encode(raw).decode(), **more}
        return self.users.messages().send(userId="me", body=document).execute()

    def ids(self, **query: Any) -> list[str]:
        """The ids of a listing's first page, newest first."""
        answer = self.users.messages().list(userId="me", **query).execute()
        return [message["id"] for message in answer.get("messages", [])]

    def raw(self, mail_id: str) -> bytes:
        answer = self.users.messages().get(userId="me", id=mail_id, format="raw").execute()
        return base64.urlsafe_b64decode(answer["raw"])

    def cursor(self) -> str:
        return str(self.users.getProfile(userId="me").execute()["historyId"])

    def changes(self, since: str, **query: Any) -> Any:
        return self.users.history().list(userId="me", startHistoryId=since, **query).execute()


@pytest.fixture
def account(tmp_path: Path) -> Iterator[Open]:
    """``account(sandbox, address)``."""
    with ExitStack() as stack:

        def make(sandbox: Sandbox, address: str = ALICE, *, timeout: float = 10, **token: Any) -> Account:
            document = json.loads(get_static_doc("gmail", "v1"))
            for name in ("rootUrl", "baseUrl", "mtlsRootUrl"):
                document[name] = f"{sandbox.url}/"
            wire = httplib2.Http(timeout=timeout)
            stack.callback(wire.close)
            kept = json.loads(sandbox.token_file(address, tmp_path, **token).read_text())
            # Not from_authorized_user_info: it always refreshes at Google's own address.
            wanted = ("token", "refresh_token", "token_uri", "client_id", "client_secret", "scopes")
            credentials = Credentials(**{name: kept[name] for name in wanted})
            http = google_auth_httplib2.AuthorizedHttp(credentials, http=wire)
            return Account(address, build_from_document(document, http=http), credentials, wire)

        yield make


@pytest.fixture
def plain() -> Iterator[Callable[[Sandbox], Plain]]:
    """``plain(sandbox)``."""
    with ExitStack() as stack:

        def make(sandbox: Sandbox) -> Plain:
            made = Plain(sandbox)
            stack.callback(made.connection.close)
            return made

        yield make
