"""The page on which the owner of an account lets a program use it.

Rule: codes are sent to this machine and nowhere else, and every text on the page is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from league_agents.sandbox.oauth import CLIENT_ID, FULL_SCOPE, SCOPE_ROOT, Authority, is_loopback

_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}a{display:block}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The result of a visit."""

    redirect_to: str | None = None
    page: str = ""
    code: int = 200


def consent(query: Mapping[str, str], accounts: Sequence[str], authority: Authority, *, asks: bool) -> Consent:
    """Answer ``/auth``. Without ``asks`` the hinted account, or the first one, agrees at once."""
    problem = _problem(query)
    if problem is not None:
        return Consent(page=_page("This request cannot be granted", f"<p>{html.escape(problem)}</p>"), code=400)
    back = query["redirect_uri"]
    hinted = query.get("login_hint", "").lower()
    chosen = next((account for account in accounts if account.lower() == hinted), None)
    if query.get("decision") == "deny":
        return Consent(redirect_to=_joined(back, {"error": "access_denied", "state": query.get("state", "")}))
    wants_choice = "select_account" in query.get("prompt", "").split() or query.get("page") == "1"
    is_decided = query.get("decision") == "allow" and chosen is not None
    if not is_decided and (wants_choice or not accounts or (asks and chosen is None and len(accounts) > 1)):
        return Consent(page=_choice(query, accounts))
    if hinted and chosen is None:
        wrong = f"<p>There is no account {html.escape(hinted[:200])} in this sandbox.</p>"
        return Consent(page=_page("No such account", wrong), code=400)
    scopes = frozenset(query["scope"].split())
    code = authority.code(
        account=chosen or accounts[0],
        scopes=scopes,
        redirect_uri=back,
        challenge=query.get("code_challenge", ""),
        method=query.get("code_challenge_method", "plain"),
        prompt=query.get("prompt", ""),
        access_type=query.get("access_type", "online"),
    )
    return Consent(
        redirect_to=_joined(back, {"state": query.get("state", ""), "code": code, "scope": " ".join(sorted(scopes))})
    )


def _problem(query: Mapping[str, str]) -> str | None:
    """The reason why the request is refused before the page is shown; ``None`` if it is valid."""
    if query.get("client_id") != CLIENT_ID:
        return "invalid_client: this program does not use the sandbox's client_secret.json"
    if query.get("response_type") != "code":
        return "invalid_request: response_type must be code"
    if not is_loopback(query.get("redirect_uri", "")):
        return "redirect_uri_mismatch: the redirect address must be http on this machine"
    scopes = query.get("scope", "").split()
    known = (FULL_SCOPE, "openid", "email", "profile")
    if not scopes or not all(scope.startswith(SCOPE_ROOT) or scope in known for scope in scopes):
        return "invalid_scope: ask for Gmail scopes"
    if query.get("code_challenge_method", "plain") not in ("plain", "S256"):
        return "invalid_request: code_challenge_method must be S256 or plain"
    return None


def _choice(query: Mapping[str, str], accounts: Sequence[str]) -> str:
    kept = {name: value for name, value in query.items() if name not in ("decision", "login_hint")}
    links = [
        f'<a href="/auth?{html.escape(urlencode({**kept, "login_hint": account, "decision": "allow"}))}">'
        f"Allow as {html.escape(account)}</a>"
        for account in accounts
    ]
    deny = f'<a href="/auth?{html.escape(urlencode({**kept, "decision": "deny"}))}">Deny</a>'
    asked = ", ".join(scope.removeprefix(SCOPE_ROOT) for scope in query["scope"].split())
    return _page("Which account?", f"<p>A program asks for {html.escape(asked[:500])}.</p>{''.join(links)}{deny}")


def _page(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en">{head}<h1>{html.escape(title)}</h1>{body}</html>'


def _joined(address: str, query: Mapping[str, str]) -> str:
    mark = "&" if urlsplit(address).query else "?"
    return f"{address}{mark}{urlencode({name: value for name, value in query.items() if value})}"
