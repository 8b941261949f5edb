"""A sandbox as an object: start it, connect real Google clients to it, inspect the result.

with Sandbox(["alice@league.test", "bob@league.test"]) as sandbox:
    token = sandbox.token_file("alice@league.test", folder)     # what the Gmail adapter loads
    build("gmail", "v1", credentials=…, client_options={"api_endpoint": sandbox.url})
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, timedelta
from pathlib import Path
from types import TracebackType

from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import make_private_folder, replace_private
from league_agents.sandbox.desk import report_document
from league_agents.sandbox.faults import Fault
from league_agents.sandbox.http import HOST, SandboxServer
from league_agents.sandbox.mailbox import SandboxMailbox, StoredMail
from league_agents.sandbox.oauth import CLIENT_ID, CLIENT_SECRET, MODIFY_SCOPE, Grant
from league_agents.sandbox.service import Service
from league_agents.sandbox.state import NoState, SqliteState
from league_agents.sandbox.world import Rules, World

_POLL_S = 0.02


class Sandbox:
    """A local stand-in for Gmail, in this process."""

    def __init__(
        self,
        accounts: Iterable[str] = (),
        *,
        port: int = 0,
        faults: Sequence[Fault] = (),
        seed: int | str = 0,
        rules: Rules | None = None,
        clock: Clock | None = None,
        state: Path | None = None,
        may_kill: bool = False,
    ) -> None:
        """``clock`` is the machine's unless a manual one is given; ``state`` keeps everything in a file.

        ``may_kill`` allows faults that end the process. Raises ``ConfigError``.
        """
        self._state = NoState() if state is None else SqliteState(state)
        try:
            self.world = World(
                accounts,
                clock=clock or SystemClock(),
                state=self._state,
                rules=rules or Rules(),
                faults=faults,
                seed=seed,
                may_kill=may_kill,
            )
            self._wire = SandboxServer(Service(self.world), port)
        except BaseException:
            self._state.close()
            raise
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._wire.port

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return f"http://{HOST}:{self.port}"

    @property
    def accounts(self) -> list[str]:
        """The addresses that the sandbox serves."""
        return self.world.addresses

    @property
    def failures(self) -> Sequence[BaseException]:
        """Unexpected exceptions of connections: bugs of the sandbox."""
        return tuple(self._wire.failures)

    def start(self) -> None:
        """Start answering, in a thread of its own."""
        if self._thread is None and not self._is_stopped:
            self._thread = threading.Thread(
                target=self._wire.serve_forever, args=(_POLL_S,), name="sandbox", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """End every connection and keep the state. May be repeated."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._wire.stopping.set()
        with self.world.lock:
            self.world.is_ending = True
            self.world.news.notify_all()
        self.clear_faults()  # release the answers that wait
        if self._thread is not None:
            self._wire.shutdown()
            self._thread.join()
        self._wire.close_connections()
        self._wire.server_close()
        with self.world.lock:
            self._state.close()

    def token_file(self, account: str, folder: Path, *, scopes: Sequence[str] = (MODIFY_SCOPE,)) -> Path:
        """Write a new token of an account in the form of ``Credentials.from_authorized_user_file``; mode 0600."""
        with self.world.lock:
            grant = self._grant(account, scopes)
            document = {
                "token": self.world.authority.access(grant),
                "refresh_token": grant.refresh_token,
                "token_uri": f"{self.url}/token",
                "client_id": CLIENT_ID,
                "client_secret": CLIENT_SECRET,
                "scopes": list(scopes),
                "universe_domain": "googleapis.com",
                "account": self._box(account).address,
                "expiry": self._expiry(),
                "consented_at": SystemClock().now().astimezone(UTC).isoformat(timespec="seconds"),
            }
            self._state.commit()
        name = re.sub(r"[^a-z0-9._+-]", "-", account.lower().replace("@", ".at."))
        return _write_json(folder / f"token.{name}.json", document)

    def client_secret_file(self, folder: Path) -> Path:
        """Write the client's file, in the form that ``InstalledAppFlow.from_client_secrets_file`` loads; mode 0600."""
        document = {
            "installed": {
                "client_id": CLIENT_ID,
                "client_secret": CLIENT_SECRET,
                "project_id": "league-sandbox",
                "auth_uri": f"{self.url}/auth",
                "token_uri": f"{self.url}/token",
                "redirect_uris": ["http://localhost"],
            }
        }
        return _write_json(folder / "client_secret.json", document)

    def access_token(self, account: str, *, scopes: Sequence[str] = (MODIFY_SCOPE,)) -> str:
        """A bearer token of an account."""
        with self.world.lock:
            token = self.world.authority.access(self._grant(account, scopes))
            self._state.commit()
            return token

    def mail(self, account: str, label: str | None = None) -> list[StoredMail]:
        """The mails of an account, oldest first; only those with ``label`` if it is given."""
        with self.world.lock:
            self.world.catch_up()
            return [mail for mail in self._box(account).mails() if label is None or label in mail.labels]

    def sends_under_way(self, account: str) -> list[str]:
        """The transaction ids of an account's mails that have reached the server and are still under way."""
        with self.world.lock:
            return [key for (owner, key), count in self.world.under_way.items() if count and owner == account.lower()]

    def report(self) -> dict[str, object]:
        """The document of ``GET /sandbox/report``."""
        with self.world.lock:
            self.world.catch_up()
            return report_document(self.world)

    def advance(self, duration: timedelta) -> None:
        """Let time pass at once."""
        with self.world.lock:
            self.world.clock.advance(duration.total_seconds())
            self.world.catch_up()
            self._state.commit()

    def inject(
        self, raw: bytes, *, to: Sequence[str], sender: str = "stranger@internet.invalid",
        verdict: Mapping[str, str] | None = None, labels: Sequence[str] = ("INBOX", "UNREAD"),
    ) -> list[str]:  # fmt: skip
        """Deliver a mail from the internet. Return its new ids."""
        with self.world.lock:
            ids = self.world.office.inject(raw, to=to, sender=sender, verdict=verdict, labels=labels)
            self._state.commit()
            self.world.news.notify_all()
            return ids

    def publish(self, topic: str, data: bytes) -> None:
        """Publish a message that Gmail has not written."""
        with self.world.lock:
            self.world.pubsub.publish(topic, data)
            self.world.news.notify_all()

    def watched_topic(self, account: str) -> str | None:
        """The topic that an account's changes are published to; ``None`` if they are not."""
        with self.world.lock:
            return self.world.pubsub.watched_topic(self._box(account).key)

    def notices_waiting(self, topic: str) -> int:
        """How many messages of a topic were not acknowledged."""
        with self.world.lock:
            return self.world.pubsub.waiting(topic)

    def add_fault(self, fault: Fault) -> None:
        """Add a fault. Raises ``ConfigError``."""
        with self.world.lock:
            self.world.plan.add(fault)

    def clear_faults(self) -> None:
        """Remove all faults."""
        with self.world.lock:
            self.world.plan.clear()

    def withdraw(self, account: str) -> None:
        """Withdraw every grant of an account, as its owner would: refresh tokens are refused with ``invalid_grant``."""
        with self.world.lock:
            self.world.authority.withdraw(self._box(account).key)
            self._state.commit()

    def _grant(self, account: str, scopes: Sequence[str]) -> Grant:
        return self.world.authority.grant(self._box(account).key, frozenset(scopes))

    def _box(self, account: str) -> SandboxMailbox:
        box = self.world.boxes.get(account.lower())
        if box is None:
            raise ConfigError("accounts", f"{account[:100]!a} is no account of this sandbox")
        return box

    def _expiry(self) -> str:
        # Clients compare the expiry with the machine's own clock, whatever the sandbox's clock shows.
        ends = SystemClock().now() + timedelta(seconds=self.world.authority.access_lifetime_s)
        return ends.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _write_json(path: Path, document: Mapping[str, object]) -> Path:
    """Write a file that only its owner may read, atomically. Raises ``ConfigError``."""
    try:
        make_private_folder(path.parent)
        replace_private(path, json.dumps(document, indent=2))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be written ({error.strerror})") from error
    return path
