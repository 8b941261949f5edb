"""OAuth tokens: the mailbox, lifetime and scopes that each one grants.

Rule 1: the sandbox is as strict as Google: a code is valid once and for one client, one redirect address and one PKCE
verifier; an access token expires after an hour; withdrawing a grant ends every token that came from it.
Rule 2: a second consent gives a refresh token only if the request has ``prompt=consent``.
Source: RFC 6749, RFC 7636, and what google-auth and google-auth-oauthlib send.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from league_agents.kit.errors import LeagueError
from league_agents.sandbox.refusal import bad_credentials
from league_agents.sandbox.state import SandboxState
from league_agents.sandbox.timekeeping import SandboxClock

CLIENT_ID = "league-sandbox.apps.googleusercontent.com"
CLIENT_SECRET = "sandbox-client-secret"  # noqa: S105 - an installed application's secret is none; this one is local besides
SCOPE_ROOT = "https://www.googleapis.com/auth/"
FULL_SCOPE = "https://mail.google.com/"
MODIFY_SCOPE = SCOPE_ROOT + "gmail.modify"

ACCESS_LIFETIME_S = 3599
CODE_LIFETIME_MS = 600_000
MOST_CODES = 1_000
MOST_ACCESS_TOKENS = 20_000
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class OAuthRefused(LeagueError):
    """A refusal of the token endpoint, in the form of RFC 6749."""

    def __init__(self, error: str, description: str, *, code: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.code = code

    def document(self) -> dict[str, object]:
        """The error document."""
        return {"error": self.error, "error_description": str(self)}


@dataclass(slots=True, kw_only=True)
class Grant:
    """Permission for a client to use an account."""

    refresh_token: str
    account: str
    scopes: frozenset[str]
    made_ms: int
    is_live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A bearer token."""

    account: str
    scopes: frozenset[str]
    ends_ms: int
    refresh_token: str
    """The refresh token of its grant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    account: str
    scopes: frozenset[str]
    redirect_uri: str
    challenge: str
    method: str
    is_offline: bool
    ends_ms: int


class Authority:
    """The authorization server of one sandbox."""

    def __init__(
        self, clock: SandboxClock, state: SandboxState, *, access_lifetime_s: int, grant_lifetime_s: int | None
    ) -> None:
        self._clock = clock
        self._state = state
        self._access_lifetime_s = access_lifetime_s
        self._grant_lifetime_s = grant_lifetime_s
        self._grants: dict[str, Grant] = {}
        self._access: dict[str, AccessToken] = {}
        self._codes: dict[str, _Code] = {}
        for token, stored in state.load("grant").items():
            assert isinstance(stored, dict)
            self._grants[token] = Grant(
                refresh_token=token,
                account=stored["account"],
                scopes=frozenset(stored["scopes"]),
                made_ms=stored["made"],
                is_live=stored["live"],
            )
        for token, stored in state.load("access").items():
            assert isinstance(stored, dict)
            self._access[token] = AccessToken(
                account=stored["account"],
                scopes=frozenset(stored["scopes"]),
                ends_ms=stored["ends"],
                refresh_token=stored["grant"],
            )

    @property
    def access_lifetime_s(self) -> int:
        return self._access_lifetime_s

    def grant(self, account: str, scopes: frozenset[str]) -> Grant:
        """Let a client use an account."""
        grant = Grant(
            refresh_token="1//" + secrets.token_urlsafe(48),
            account=account.lower(),
            scopes=scopes,
            made_ms=self._clock.now_ms(),
        )
        self._grants[grant.refresh_token] = grant
        self._keep(grant)
        return grant

    def access(self, grant: Grant, scopes: frozenset[str] | None = None) -> str:
        """Issue an access token of a grant."""
        token = "ya29." + secrets.token_urlsafe(48)
        made = AccessToken(
            account=grant.account,
            scopes=grant.scopes if scopes is None else scopes,
            ends_ms=self._clock.now_ms() + 1000 * self._access_lifetime_s,
            refresh_token=grant.refresh_token,
        )
        self._access[token] = made
        self._state.put(
            "access",
            token,
            {"account": made.account, "scopes": sorted(made.scopes), "ends": made.ends_ms, "grant": made.refresh_token},
        )
        while len(self._access) > MOST_ACCESS_TOKENS:
            oldest = next(iter(self._access))
            self.expire(oldest)
        return token

    def find(self, token: str | None) -> AccessToken:
        """The access token of a request. Raises ``Refused`` (401)."""
        found = self._access.get(token or "")
        if found is None or found.ends_ms <= self._clock.now_ms() or not self._is_good(found.refresh_token):
            raise bad_credentials()
        return found

    def owner_of(self, token: str | None) -> str:
        """The account that a token, valid or not, belongs to; an empty text if it is unknown."""
        found = self._access.get(token or "")
        if found is not None:
            return found.account
        grant = self._grants.get(token or "")
        return "" if grant is None else grant.account

    def expire(self, token: str) -> None:
        """End an access token."""
        if self._access.pop(token, None) is not None:
            self._state.drop("access", token)

    def expire_all(self, account: str) -> None:
        """End all access tokens of an account."""
        for token in [token for token, each in self._access.items() if each.account == account.lower()]:
            self.expire(token)

    def withdraw(self, account: str) -> None:
        """End all grants of an account, as its owner can."""
        for grant in self._grants.values():
            if grant.account == account.lower() and grant.is_live:
                grant.is_live = False
                self._keep(grant)

    def revoke(self, token: str) -> None:
        """End the grant of a refresh or access token. Raises ``OAuthRefused``."""
        access = self._access.get(token)
        grant = self._grants.get(token if access is None else access.refresh_token)
        if grant is None or not grant.is_live:
            raise OAuthRefused("invalid_token", "Token expired or revoked")
        grant.is_live = False
        self._keep(grant)

    def code(
        self, *, account: str, scopes: frozenset[str], redirect_uri: str, challenge: str, method: str, prompt: str,
        access_type: str,
    ) -> str:  # fmt: skip
        """A code for the redirect after a consent."""
        consented = any(grant.account == account.lower() and grant.is_live for grant in self._grants.values())
        code = "4/" + secrets.token_urlsafe(32)
        self._codes[code] = _Code(
            account=account.lower(),
            scopes=scopes,
            redirect_uri=redirect_uri,
            challenge=challenge,
            method=method,
            is_offline=access_type == "offline" and (not consented or "consent" in prompt.split()),
            ends_ms=self._clock.now_ms() + CODE_LIFETIME_MS,
        )
        while len(self._codes) > MOST_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def token(self, form: Mapping[str, str], basic: str) -> dict[str, object]:
        """The answer of the token endpoint. ``basic`` is the ``Authorization`` header. Raises ``OAuthRefused``."""
        self._check_client(form, basic)
        kind = form.get("grant_type", "")
        if kind == "refresh_token":
            return self._refreshed(form)
        if kind == "authorization_code":
            return self._exchanged(form)
        raise OAuthRefused("unsupported_grant_type", f"Invalid grant_type: {kind[:60]}")

    def _refreshed(self, form: Mapping[str, str]) -> dict[str, object]:
        grant = self._grants.get(form.get("refresh_token", ""))
        if grant is None or not self._is_good(grant.refresh_token):
            raise OAuthRefused("invalid_grant", "Token has been expired or revoked.")
        scopes = frozenset(form.get("scope", "").split()) or grant.scopes
        if not scopes <= grant.scopes:
            raise OAuthRefused("invalid_scope", "Some requested scopes were not granted.")
        return self._answer(self.access(grant, scopes), scopes)

    def _exchanged(self, form: Mapping[str, str]) -> dict[str, object]:
        # A code is void after its first use, whether or not that succeeds.
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or code.ends_ms <= self._clock.now_ms():
            raise OAuthRefused("invalid_grant", "Malformed auth code.")
        if form.get("redirect_uri", "") != code.redirect_uri:
            raise OAuthRefused("redirect_uri_mismatch", "Bad Request")
        if code.challenge and not _fits(form.get("code_verifier", ""), code.challenge, code.method):
            raise OAuthRefused("invalid_grant", "Invalid code verifier.")
        grant = self.grant(code.account, code.scopes)
        answer = self._answer(self.access(grant), code.scopes)
        if code.is_offline:
            answer["refresh_token"] = grant.refresh_token
            if self._grant_lifetime_s is not None:
                answer["refresh_token_expires_in"] = self._grant_lifetime_s
        return answer

    def _answer(self, access: str, scopes: frozenset[str]) -> dict[str, object]:
        return {
            "access_token": access,
            "expires_in": self._access_lifetime_s,
            "scope": " ".join(sorted(scopes)),
            "token_type": "Bearer",
        }

    def _check_client(self, form: Mapping[str, str], basic: str) -> None:
        client, secret = form.get("client_id", ""), form.get("client_secret", "")
        if basic.lower().startswith("basic "):
            try:
                text = base64.b64decode(basic[6:], validate=True).decode()
            except (ValueError, binascii.Error):
                raise OAuthRefused("invalid_client", "Unauthorized", code=401) from None
            client, _, secret = (unquote(part) for part in text.partition(":"))
        if client != CLIENT_ID or not hmac.compare_digest(secret.encode(), CLIENT_SECRET.encode()):
            raise OAuthRefused("invalid_client", "The OAuth client was not found.", code=401)

    def _is_good(self, refresh_token: str) -> bool:
        grant = self._grants.get(refresh_token)
        if grant is None or not grant.is_live:
            return False
        if self._grant_lifetime_s is None:
            return True
        return self._clock.now_ms() < grant.made_ms + 1000 * self._grant_lifetime_s

    def _keep(self, grant: Grant) -> None:
        self._state.put(
            "grant",
            grant.refresh_token,
            {"account": grant.account, "scopes": sorted(grant.scopes), "made": grant.made_ms, "live": grant.is_live},
        )


def is_loopback(redirect_uri: str) -> bool:
    """Whether an address leads to this machine: codes are sent nowhere else."""
    try:
        parts = urlsplit(redirect_uri)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    visible = len(redirect_uri) <= 500 and redirect_uri.isascii() and redirect_uri.isprintable()
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    return visible and has_port and parts.scheme == "http" and local and not parts.username and not parts.fragment


def _fits(verifier: str, challenge: str, method: str) -> bool:
    if _VERIFIER.fullmatch(verifier) is None:
        return False
    if method == "S256":
        digest = hashlib.sha256(verifier.encode()).digest()
        verifier = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(verifier.encode(), challenge.encode())
