"""Handle one request, from its route to its answer.

Rule 1: routing and the choice of faults precede reading the body, so a fault can strike at any point of it.
Rule 2: the changes of a call are committed before its answer is visible.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from league_agents.kit.clock import monotonic_s
from league_agents.sandbox.batch import batch_answer, read_batch
from league_agents.sandbox.consent import consent
from league_agents.sandbox.delivery import transaction_of
from league_agents.sandbox.desk import DESK
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.messages_api import MethodCall
from league_agents.sandbox.oauth import CLIENT_ID, OAuthRefused
from league_agents.sandbox.page import home_page
from league_agents.sandbox.partial import pick, read_fields
from league_agents.sandbox.pubsub import subscription_call
from league_agents.sandbox.raw_mail import read_raw
from league_agents.sandbox.refusal import SandboxRefusal, missing_scope
from league_agents.sandbox.request import SandboxAnswer, SandboxRequest, html_answer, json_answer, refusal_answer
from league_agents.sandbox.routes import Found, find_method
from league_agents.sandbox.upload import mail_of
from league_agents.sandbox.world import World

_MOST_FORM_FIELDS = 100
LONGEST_PULL_S = 5.0
_BATCH_PATHS = ("/batch", "/batch/gmail/v1")
_NO_ANSWER = frozenset({FaultAction.DROP_UNREAD, FaultAction.DROP_UNDONE, FaultAction.TRUNCATE, FaultAction.GARBLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The handler of a request."""

    name: str
    """The name that faults and the account book use."""

    perform: Callable[[SandboxRequest, str, Sequence[Fault]], SandboxAnswer]
    """Called with the request, its account and its faults. Raises ``SandboxRefusal``."""

    reads_body_first: bool = False
    """Whether the body is needed to determine the account."""

    can_fail: bool = True
    """Whether faults apply; the sandbox's own pages and switches never fail."""


class Service:
    """The request handlers of the sandbox."""

    def __init__(self, world: World) -> None:
        self._world = world

    def let_pass(self, ending: threading.Event, seconds: float) -> None:
        """Let ``seconds`` pass on the sandbox's clock, or less when ``ending`` is set."""
        if seconds:
            self._world.clock.wait(ending, seconds)

    def route(self, request: SandboxRequest) -> Route:
        """The route of a request; an unknown address gets a route that refuses it."""
        verb, path = request.verb, request.path
        if path.startswith(("/gmail/", "/upload/")):
            found = find_method(verb, path)
            if found is not None:
                return self._gmail(found)
        if verb == "POST" and path in _BATCH_PATHS:
            return Route(name="batch", perform=self._batch)
        if verb == "POST" and path in ("/token", "/o/oauth2/token"):
            return Route(name="token", perform=self._token, reads_body_first=True)
        if verb == "POST" and path == "/revoke":
            return Route(name="revoke", perform=self._revoke, reads_body_first=True)
        if verb == "GET" and path in ("/auth", "/o/oauth2/auth"):
            return Route(name="auth", perform=self._auth)
        if verb == "GET" and path == "/tokeninfo":
            return Route(name="tokeninfo", perform=self._tokeninfo)
        if verb == "GET" and path == "/":
            return Route(name="page", can_fail=False, perform=self._home)
        subscribed = subscription_call(path) if verb == "POST" else None
        if subscribed is not None:
            topic, method = subscribed
            perform_it = self._pull if method == "pull" else self._acknowledge
            return Route(
                name=f"subscriptions.{method}", perform=lambda asked, _account, _faults: perform_it(topic, asked)
            )
        own = DESK.get((verb, path))
        if own is not None:
            perform = own
            return Route(
                name="desk", can_fail=False, perform=lambda asked, _account, _faults: perform(self._world, asked)
            )
        return Route(name="unknown", perform=_unknown)

    def now_s(self) -> float:
        """Seconds since 1970, for the ``Date`` of a reply."""
        return self._world.clock.now().timestamp()

    def account_of(self, route: Route, request: SandboxRequest) -> str:
        """The account of the call; an empty text if it cannot be determined."""
        if route.reads_body_first:
            form = _form(request)
            return self._world.authority.owner_of(form.get("refresh_token") or form.get("token"))
        return self._world.authority.owner_of(request.bearer)

    def strikes(self, route: Route, account: str) -> list[Fault]:
        """Count the call and return the faults that strike it."""
        if not route.can_fail:
            return []
        with self._world.lock:
            return self._world.plan.strikes(route.name, account)

    def hold(self, seconds: float) -> None:
        """Delay an answer."""
        self._world.plan.hold(seconds)

    def undone(self, route: Route, request: SandboxRequest, account: str) -> None:
        """Note a call that was dropped before it was done."""
        with self._world.lock:
            self._world.ledger.refuse(route.name, account)
            self._world.state.commit()

    def perform(self, route: Route, request: SandboxRequest, account: str, faults: Sequence[Fault]) -> SandboxAnswer:
        """Perform the call."""
        world = self._world
        with world.lock:
            world.catch_up()
            try:
                self._interfere(request, account, faults)
                answer = route.perform(request, account, faults)
                if route.can_fail and route.name != "batch":
                    world.ledger.done(route.name, account)
            except OAuthRefused as refused:
                world.ledger.refuse(route.name, account)
                answer = json_answer(refused.document(), code=refused.code)
            except SandboxRefusal as refused:
                if route.can_fail and route.name != "batch":
                    world.ledger.refuse(route.name, account)
                answer = refusal_answer(refused)
            world.state.commit()
            world.news.notify_all()
            if any(fault.action is FaultAction.KILL_DONE for fault in faults):
                _die()
            return answer

    @contextmanager
    def under_way(self, route: Route, request: SandboxRequest, account: str) -> Iterator[None]:
        """Mark a send as under way from its arrival at the server until it is done or dropped.

        A send is counted by its transaction id, before any fault can strike it.
        """
        transaction = self._transaction_of(route, request, account)
        if transaction is None:
            yield
            return
        world = self._world
        with world.lock:
            world.ledger.posted(account, transaction)
            world.under_way[account, transaction] += 1
            world.state.commit()
        try:
            yield
        finally:
            with world.lock:
                world.under_way[account, transaction] -= 1

    def _transaction_of(self, route: Route, request: SandboxRequest, account: str) -> str | None:
        """The transaction id of a send; ``None`` for any other call."""
        if route.name != "messages.send" or not account or not request.body:
            return None
        try:
            _, raw = mail_of(request, is_upload=request.path.startswith("/upload/"))
        except SandboxRefusal:
            return None
        return transaction_of(read_raw(raw))

    def _interfere(self, request: SandboxRequest, account: str, faults: Sequence[Fault]) -> None:
        """Apply the faults that act before the call is read. Raises ``SandboxRefusal``."""
        world = self._world
        for fault in faults:
            if fault.action is FaultAction.EXPIRE_TOKEN:
                world.authority.expire(request.bearer or "")
            elif fault.action is FaultAction.REVOKE:
                world.authority.withdraw(account)
            elif fault.action is FaultAction.EXPIRE_HISTORY and account in world.boxes:
                world.boxes[account].history.expire(world.numbers)
            elif fault.action is FaultAction.KILL_UNDONE:
                world.state.commit()
                _die()
        for fault in faults:
            if fault.action is FaultAction.ERROR:
                message = fault.message or _usual_message(fault)
                raise SandboxRefusal(fault.status, fault.usual_reason(), message, retry_after_s=fault.retry_after_s)

    def _home(self, _request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        return html_answer(home_page(self._world))

    def _gmail(self, found: Found) -> Route:
        method = found.method

        def perform(request: SandboxRequest, _account: str, faults: Sequence[Fault]) -> SandboxAnswer:
            token = self._world.authority.find(request.bearer)
            if not token.scopes & method.scopes:
                raise missing_scope()
            user = found.user.lower()
            if user not in ("me", token.account):
                raise SandboxRefusal(403, "forbidden", f"Delegation denied for {token.account}")
            if request.text("alt", "json") not in ("json", "media"):
                raise SandboxRefusal(400, "invalidParameter", "Invalid value for alt: this sandbox speaks json")
            selection = read_fields(request.text("fields")) if request.text("fields") else {}
            self._world.ledger.charge(method.name, token.account)
            call = MethodCall(
                world=self._world,
                box=self._world.boxes[token.account],
                request=request,
                names=found.names,
                scopes=token.scopes,
                is_upload=found.is_upload,
                faults=faults,
            )
            result = method.perform(call)
            return SandboxAnswer(code=204) if result is None else json_answer(pick(result, selection))

        return Route(name=method.name, perform=perform)

    def _batch(self, request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        outer = request.headers.get("authorization")
        answers = []
        for content_id, part in read_batch(request):
            inner = part
            if "authorization" not in part.headers and outer is not None:
                inner = replace(part, headers={**part.headers, "authorization": outer})
            answers.append((content_id, self._part(inner)))
        return batch_answer(answers)

    def _part(self, request: SandboxRequest) -> SandboxAnswer:
        """One call of a batch. It has no connection of its own, so faults that break one become 503."""
        route = self.route(request)
        if find_method(request.verb, request.path) is None or request.path.startswith("/upload/"):
            route = Route(name="unknown", perform=_unknown)
        account = self.account_of(route, request)
        faults = self.strikes(route, account)
        actions = {fault.action for fault in faults}
        unavailable = refusal_answer(SandboxRefusal(503, "backendError", "The service is currently unavailable."))
        with self.under_way(route, request, account):
            if actions & _NO_ANSWER:
                self.undone(route, request, account)
                return unavailable
            answer = self.perform(route, request, account, faults)
        return unavailable if FaultAction.DROP_DONE in actions else answer

    def _token(self, request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        document = self._world.authority.token(_form(request), request.headers.get("authorization", ""))
        return json_answer(document, headers={"Cache-Control": "no-store"})

    def _revoke(self, request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        self._world.authority.revoke(_form(request).get("token") or request.text("token"))
        return json_answer({})

    def _tokeninfo(self, request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        try:
            token = self._world.authority.find(request.bearer)
        except SandboxRefusal:
            raise OAuthRefused("invalid_token", "Invalid Value") from None
        left = (token.ends_ms - self._world.clock.now_ms()) // 1000
        described = {"azp": CLIENT_ID, "aud": CLIENT_ID, "scope": " ".join(sorted(token.scopes))}
        return json_answer({**described, "expires_in": str(left), "email": token.account, "access_type": "offline"})

    def _pull(self, topic: str, request: SandboxRequest) -> SandboxAnswer:
        """Wait for messages for ``LONGEST_PULL_S``. Others work on the world meanwhile."""
        world, ends_s = self._world, monotonic_s() + LONGEST_PULL_S
        while True:
            world.catch_up()
            found = world.pubsub.pull(topic, request.document)
            left_s = ends_s - monotonic_s()
            if found or left_s <= 0 or world.is_ending:
                return json_answer({"receivedMessages": found} if found else {})
            # Nobody notifies of mail that is only due later.
            world.news.wait(min(left_s, 0.25))

    def _acknowledge(self, topic: str, request: SandboxRequest) -> SandboxAnswer:
        self._world.pubsub.acknowledge(topic, request.document)
        return json_answer({})

    def _auth(self, request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
        query = {name: request.text(name) for name in request.query}
        world = self._world
        visit = consent(query, world.addresses, world.authority, asks=world.rules.asks_for_account)
        if visit.redirect_to is not None:
            return SandboxAnswer(code=302, headers={"Location": visit.redirect_to, "Cache-Control": "no-store"})
        return html_answer(visit.page, code=visit.code)


def _form(request: SandboxRequest) -> Mapping[str, str]:
    """The fields of an HTML form in the body."""
    try:
        pairs = parse_qsl(request.body[:100_000].decode("ascii"), max_num_fields=_MOST_FORM_FIELDS)
    except (UnicodeError, ValueError):
        return {}
    return dict(pairs)


def _unknown(request: SandboxRequest, _account: str, _faults: Sequence[Fault]) -> SandboxAnswer:
    raise SandboxRefusal(404, "notFound", f"The sandbox has no {request.verb} {request.path[:100]!a}")


def _usual_message(fault: Fault) -> str:
    reason = fault.usual_reason()
    if reason in ("rateLimitExceeded", "userRateLimitExceeded"):
        return "Rate Limit Exceeded" if reason[0] == "r" else "User Rate Limit Exceeded"
    if reason == "dailyLimitExceeded":
        return "Daily Limit Exceeded"
    return "Backend Error" if fault.status >= 500 else f"The sandbox's fault plan says {fault.status}"


def _die() -> None:
    """End this process as a power cut would: nothing is flushed and no client is answered."""
    os.kill(os.getpid(), signal.SIGKILL)
