"""The Gmail mailbox keeps the contract on a Gmail that somebody else wrote: the npm package ``emulate``.

So our own sandbox and our own adapter do not only agree with each other. ``emulate`` delivers nothing, has no profile,
and understands no ``OR``, no phrases and no instants in a search: a sidecar carries the mail, and the adapter is told
the address, the position in the history and a simpler query. Everything else is the adapter as it runs on Gmail.
"""

from __future__ import annotations

import base64
import email
import email.utils
import json
import os
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from league_agents.local_league.patience import LIMIT_S, until
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.port import Mailbox
from league_agents.testing.mailbox_contract import ALICE, BOB, MailboxContract, letter, nothing_known

PACKAGE = "emulate@0.11.2"  # the newest that starts on Node 20; without a version npm installs another project
TOKENS = {ALICE: "tok-alice", BOB: "tok-bob"}
START_S = 30


def missing(what: str) -> None:
    pytest.skip(f"THE CROSS-CHECK ON {PACKAGE} DID NOT RUN: {what}")


def installed() -> Path:
    """The folder of the installed package; installed once, kept in the user's cache."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        missing("install Node.js 20 or later, with npm")
    named = os.environ.get("LEAGUE_AGENTS_CACHE")
    cache = Path(named).expanduser() if named else platformdirs.user_cache_path("league-agents")
    folder = cache / PACKAGE.replace("@", "-")
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".emulate-", dir=cache))
        command = [str(npm), "install", "--prefix", str(fresh), "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            shutil.rmtree(fresh)
            missing(f"npm could not install it ({done.stderr.strip().splitlines()[-1][:200] if done.stderr else '?'})")
        try:
            fresh.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(fresh)
    return folder


class Emulate:
    """A running server, spoken to with nothing but the standard library."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._carried: set[tuple[str, str]] = set()

    def call(self, account: str, path: str, body: object = None) -> dict[str, object]:
        request = urllib.request.Request(
            f"{self.url}/gmail/v1/users/me/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKENS[account]}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT_S) as response:
            content = response.read()
        return json.loads(content) if content.strip() else {}

    def ids(self, account: str, query: str = "") -> list[str]:
        """Of all mails, the oldest first."""
        found: list[str] = []
        token = ""
        while True:
            page = self.call(account, f"messages?maxResults=100&includeSpamTrash=true{query}{token}")
            found += [message["id"] for message in page.get("messages", [])]
            if not page.get("nextPageToken"):
                return found[::-1]
            token = f"&pageToken={page['nextPageToken']}"

    def deliver(self) -> None:
        """Carry everything that was sent to the inboxes of its recipients, once."""
        for sender in TOKENS:
            for mail_id in self.ids(sender, "&labelIds=SENT"):
                if (sender, mail_id) in self._carried:
                    continue
                self._carried.add((sender, mail_id))
                raw = self.call(sender, f"messages/{mail_id}?format=raw")["raw"]
                headers = email.message_from_bytes(base64.urlsafe_b64decode(f"{raw}=="))
                recipients = {address.lower() for _, address in email.utils.getaddresses(headers.get_all("To", []))}
                for account in TOKENS:
                    if account.lower() in recipients:
                        self.call(account, "messages/import", {"raw": raw, "labelIds": ["INBOX", "UNREAD"]})

    def empty(self) -> None:
        """Delete every mail."""
        for account in TOKENS:
            ids = self.ids(account)
            if ids:
                self.call(account, "messages/batchDelete", {"ids": ids})


@pytest.fixture(scope="module")
def emulate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulate]:
    folder = installed()
    seed = tmp_path_factory.mktemp("emulate") / "seed.yaml"
    tokens = {token: {"login": address, "scopes": ["https://www.googleapis.com/auth/gmail.modify"]}
              for address, token in TOKENS.items()}  # fmt: skip
    # JSON is YAML.
    seed.write_text(json.dumps({"tokens": tokens, "google": {"users": [{"email": address} for address in TOKENS]}}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = folder / "node_modules" / "emulate" / "dist" / "index.js"
    command = ["node", str(program), "start", "--service", "google", "--port", str(port), "--seed", str(seed)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=seed.parent)
    server = Emulate(f"http://localhost:{port}")
    try:

        def answers() -> bool:
            assert process.poll() is None, f"{PACKAGE} does not start"
            try:
                server.call(ALICE, "labels")
            except OSError:
                return False
            return True

        until(answers, f"{PACKAGE} starts")
        yield server
    finally:
        process.terminate()
        process.wait(timeout=LIMIT_S)


@pytest.fixture
def mailboxes(emulate: Emulate, tmp_path: Path) -> Iterator[tuple[GmailMailbox, GmailMailbox]]:
    emulate.empty()
    opened = []
    for address, token in TOKENS.items():
        path = tmp_path / f"{token}.json"
        path.write_text(
            json.dumps({"token": token, "refresh_token": "r", "client_id": "c", "client_secret": "s"}), encoding="utf-8"
        )
        opened.append(
            GmailMailbox(path, endpoint=emulate.url, address=address, cursor="1", query="is:unread", spam_every=None)
        )
    yield (opened[0], opened[1])
    for mailbox in opened:
        mailbox.close()


class TestGmailMailboxOnEmulate(MailboxContract):
    @pytest.fixture(autouse=True)
    def _mailboxes(self, emulate: Emulate, mailboxes: tuple[GmailMailbox, GmailMailbox]) -> None:
        self._emulate = emulate
        self._pair = mailboxes

    def make(self) -> tuple[Mailbox, Mailbox]:
        return self._pair

    def wait(self) -> None:
        self._emulate.deliver()


def test_what_arrives_later_comes_from_the_history(
    emulate: Emulate, mailboxes: tuple[GmailMailbox, GmailMailbox]
) -> None:
    alice, bob = mailboxes
    assert bob.fetch(10, nothing_known) == []
    before = Counter(bob.ledger.calls)
    alice.send(letter(1))
    emulate.deliver()
    (mail,) = bob.fetch(10, nothing_known)
    assert mail.subject == letter(1).subject
    assert Counter(bob.ledger.calls) - before == {"history.list": 1, "messages.get": 1}


def test_a_mail_that_is_not_there_is_no_failure(mailboxes: tuple[GmailMailbox, GmailMailbox]) -> None:
    _, bob = mailboxes
    bob.acknowledge(["nothing-like-this"])
    bob.acknowledge([f"none-{number}" for number in range(20)])
    assert bob.failures_in_a_row == 0
