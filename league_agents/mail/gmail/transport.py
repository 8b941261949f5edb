"""Calls to Gmail over Google's client library. The only module that imports it, and so imported late.

Rule 1: one call at a time uses a connection. A call that did not end as it should closes it: an answer that it left
unread would be taken for that of the next one.
Rule 2: a send is written once, on a connection that was opened for it. ``httplib2`` writes a request again when the
connection breaks, which for a send means a second mail; and on a connection that was kept open, a server that hung up
long ago cannot be distinguished from one that accepted the mail.
Rule 3: the size of an answer and the time to read it are limited. A send is abandoned after ``LONGEST_SEND`` in all.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from league_agents.kit.advice import without_advice

with without_advice():
    import google_auth_httplib2
    import httplib2
    from google.auth.exceptions import GoogleAuthError
    from googleapiclient.discovery import build_from_document
    from googleapiclient.discovery_cache import get_static_doc

from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import AuthorizationExpired
from league_agents.mail.gmail.failures import (
    CHECK_CONNECTION,
    AnswerTooLarge,
    BrokenExchange,
    read_refusal,
    server_named,
)
from league_agents.mail.oauth import Authorization
from league_agents.mail.port import LONGEST_SEND
from league_agents.mail.service_clock import ServiceClock

LONGEST_ANSWER = timedelta(minutes=2)
LARGEST_ANSWER = 11_000_000
"""Bytes of JSON. The largest document that is read (5 MB) makes a mail of 7 MB and an answer of 9 MB."""

_SEND = "/messages/send"


class OnceOnlyHttp(httplib2.Http):  # type: ignore[misc]
    """``httplib2.Http`` that keeps the rules."""

    def __init__(self, timeout: timedelta) -> None:
        super().__init__(timeout=timeout.total_seconds())
        # Gmail's API never redirects, and no other server may get the token.
        self.follow_redirects = False
        self.send_ends_s: float | None = None
        """When to abandon the current send, on the monotonic clock; ``None`` for any other call."""

    def _conn_request(
        self, conn: Any, request_uri: str, method: str, body: Any, headers: Mapping[str, str]
    ) -> tuple[httplib2.Response, bytes]:
        is_send = method == "POST" and urlsplit(request_uri).path.endswith(_SEND)
        if is_send:
            conn.close()
        was_kept_open = conn.sock is not None
        headers = {**headers, "accept-encoding": "identity"}
        try:
            return self._exchange(conn, request_uri, method, body, headers, is_send=is_send)
        except BrokenExchange as error:
            if is_send or not was_kept_open or isinstance(error.__cause__, TimeoutError):
                raise
        # The server had closed the connection meanwhile.
        return self._exchange(conn, request_uri, method, body, headers, is_send=False)

    def _exchange(
        self, conn: Any, request_uri: str, method: str, body: Any, headers: Mapping[str, str], *, is_send: bool
    ) -> tuple[httplib2.Response, bytes]:
        is_handed_over = False
        try:
            if conn.sock is None:
                conn.timeout = self._wait_s()
                conn.connect()
            sock = conn.sock
            sock.settimeout(self._wait_s())
            is_handed_over = is_send
            conn.request(method, request_uri, body, headers)
            sock.settimeout(self._wait_s())
            response = conn.getresponse()
            content = self._read(response, sock)
        except AnswerTooLarge:
            conn.close()
            raise
        except (OSError, http.client.HTTPException, httplib2.HttpLib2Error) as error:
            conn.close()
            raise _broken(error, conn, may_have_been_sent=is_handed_over) from error
        return httplib2.Response(response), content

    def _read(self, response: http.client.HTTPResponse, sock: Any) -> bytes:
        if response.length is not None and response.length > LARGEST_ANSWER:
            raise AnswerTooLarge
        chunks = []
        size = 0
        ends_s = monotonic_s() + LONGEST_ANSWER.total_seconds()
        while True:
            sock.settimeout(self._wait_s())
            chunk = response.read1(1 << 16)
            if not chunk:
                break
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise AnswerTooLarge
            if monotonic_s() > ends_s:
                raise TimeoutError
            chunks.append(chunk)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()  # which leaves the connection open
        return b"".join(chunks)

    def _wait_s(self) -> float:
        """Return how long to wait for the network now. Raises ``TimeoutError`` if a send is to be abandoned."""
        if self.send_ends_s is None:
            return float(self.timeout)
        left_s = self.send_ends_s - monotonic_s()
        if left_s <= 0:
            raise TimeoutError
        return min(float(self.timeout), left_s)


def _broken(error: Exception, conn: Any, *, may_have_been_sent: bool) -> BrokenExchange:
    server = server_named(conn.host, conn.port)
    remedy = CHECK_CONNECTION
    if isinstance(error, socket.gaierror):
        proxy = conn.proxy_info
        is_proxied = proxy and proxy.isgood() and proxy.applies_to(conn.host)
        why = f"the name {proxy.proxy_host if is_proxied else conn.host} cannot be resolved"
        remedy = "check the network and its DNS"
    elif isinstance(error, TimeoutError):
        why = f"{server} did not answer in time"
    else:
        why = f"the connection to {server} broke ({type(error).__name__})"
    return BrokenExchange(why, may_have_been_sent=may_have_been_sent, remedy=remedy)


class GmailServer:
    """A server that speaks Gmail's API: its methods, and the connections on which accounts take turns."""

    def __init__(self, endpoint: str, timeout: timedelta) -> None:
        """``endpoint`` is ``https://gmail.googleapis.com`` or another server that speaks the same. ``timeout`` is for
        each wait for the network."""
        document = json.loads(get_static_doc("gmail", "v1"))
        # Redirecting by client options leaves some addresses as they are.
        for name in ("rootUrl", "baseUrl", "mtlsRootUrl"):
            document[name] = f"{endpoint}/"
        self.name = server_named(urlsplit(endpoint).hostname or "", urlsplit(endpoint).port)
        self.users = build_from_document(document, http=OnceOnlyHttp(timeout)).users()
        """``service.users()``, which builds requests and is not used to make them."""

        for name in ("messages", "history"):
            # The library makes a resource with all its methods anew for each call.
            made = getattr(self.users, name)()
            setattr(self.users, name, partial(_itself, made))
        self._timeout = timeout
        self._lock = threading.Lock()
        self._free: list[OnceOnlyHttp] = []

    @contextmanager
    def connection(self) -> Iterator[OnceOnlyHttp]:
        """Lend a connection for one call."""
        with self._lock:
            connection = self._free.pop() if self._free else OnceOnlyHttp(self._timeout)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._free.append(connection)

    def close(self) -> None:
        """Close the connections. No call may be under way."""
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()


def _itself(resource: Any) -> Any:
    return resource


class Transport:
    """Gmail's methods for one account, from any thread."""

    def __init__(self, authorization: Authorization, server: GmailServer, clock: ServiceClock) -> None:
        """``clock`` hears from each reply what time it is there."""
        self._authorization = authorization
        self._server = server
        self._clock = clock

    def call(self, build: Callable[[Any], Any]) -> Mapping[str, Any]:
        """Make one call and return its JSON answer. ``build`` gets ``service.users()`` and returns the request.

        Raises ``Refusal``, ``BrokenExchange``, ``AnswerTooLarge`` and, for the authorization, ``MailError``.
        """
        request = build(self._server.users)
        is_send = urlsplit(request.uri).path.endswith(_SEND)
        # A new login is taken up here.
        credentials = self._authorization.credentials()
        asked_s = self._clock.monotonic_s()
        try:
            with self._server.connection() as connection:
                connection.send_ends_s = monotonic_s() + LONGEST_SEND.total_seconds() if is_send else None
                # Not ``request.execute``: it tries again on its own, and writes what Gmail said into the log.
                response, content = google_auth_httplib2.AuthorizedHttp(credentials, http=connection).request(
                    request.uri, method=request.method, body=request.body, headers=dict(request.headers)
                )
        except GoogleAuthError as error:
            raise self._authorization.failure(error) from None
        self._clock.heard(response.get("date"), asked_s=asked_s)
        self._authorization.keep()
        if response.status >= 300:
            raise read_refusal(response.status, response, content)
        if not content.strip():
            return {}
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise BrokenExchange(f"what {self._server.name} answers is no JSON object", may_have_been_sent=is_send)
        return answer

    def expired(self, why: str) -> AuthorizationExpired:
        """Return the error for an authorization that Gmail does not accept."""
        return self._authorization.expired(why)
