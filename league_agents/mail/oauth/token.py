"""A token file: its content, its permissions and its lifetime.

Rule: the file is written atomically, for its owner only; a file that is read is untrusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from league_agents.kit.errors import AuthorizationExpired, ConfigError
from league_agents.kit.private_file import replace_private, wide_mode
from league_agents.mail.oauth.json_file import read_object, why

SCOPES = ("https://www.googleapis.com/auth/gmail.modify",)
"""All that the league needs: reading, sending, and marking as read."""

EVERYTHING = "https://mail.google.com/"
"""The scope that includes every other one of Gmail."""

LOGIN_COMMAND = "league-agents auth login"
TESTING_LIFETIME = timedelta(days=7)
"""How long an authorization lasts while the Google Cloud app is in status "Testing"."""

GOOGLE_TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token file as it was read."""

    path: Path
    fields: Mapping[str, object] = field(repr=False)
    """Google's "authorized user" JSON, and ``consented_at``."""

    def text(self, name: str) -> str | None:
        """Return a field as text; ``None`` if it is none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) and value else None

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """The granted scopes; ``None`` if the file does not list them."""
        scopes = self.fields.get("scopes", self.fields.get("scope"))
        if isinstance(scopes, str):
            return tuple(scopes.split())
        if isinstance(scopes, list):
            return tuple(scope for scope in scopes if isinstance(scope, str))
        return None

    @property
    def consented_at(self) -> datetime | None:
        """When a person consented; ``None`` for a file that another program wrote."""
        return instant_of(self.text("consented_at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStatus:
    """The status of a token, as far as it is known without asking Google."""

    path: Path
    scopes: tuple[str, ...] | None
    missing_scopes: tuple[str, ...]
    consented_at: datetime | None
    age: timedelta | None
    expires_at: datetime | None
    """The end that Google gave; ``None`` if it gave none (the app is published, or another program wrote the file)."""

    testing_ends_at: datetime | None
    """When it ends if the app is still in status "Testing"."""

    warnings: tuple[str, ...]
    """One line each, with the remedy."""


def load_token(path: Path, *, login_command: str = LOGIN_COMMAND) -> Token:
    """Return the token of a file. Raises ``AuthorizationExpired`` if there is no usable one."""
    remedy = f"run '{login_command}'"
    try:
        fields = read_object(path)
    except FileNotFoundError:
        raise AuthorizationExpired(f"{path}: there is no authorization yet; {remedy}") from None
    except (OSError, ValueError) as error:
        raise AuthorizationExpired(f"{path}: the token cannot be read ({why(error)}); {remedy}") from None
    token = Token(path=path, fields=fields)
    if "installed" in fields or "web" in fields:
        raise AuthorizationExpired(f"{path}: this is a client secret, not a token; {remedy}")
    missing = [name for name in ("refresh_token", "client_id", "client_secret") if token.text(name) is None]
    if missing:
        raise AuthorizationExpired(f"{path}: the token has no {' and no '.join(missing)}; {remedy}")
    return token


def save_token(path: Path, fields: Mapping[str, object]) -> None:
    """Write a token file atomically, for its owner only. Raises ``ConfigError``."""
    try:
        replace_private(path, json.dumps(dict(fields), indent=1))
    except OSError as error:
        raise ConfigError(str(path), f"the token cannot be written ({why(error)})") from None


def wider_mode(path: Path) -> str | None:
    """Return a one-line warning if others than the owner can read a file with secrets, else ``None``."""
    mode = wide_mode(path)
    if mode is None:
        return None
    return f"{path}: others can read it (mode {mode:04o}); run 'chmod 600 {path}'"


def missing_scopes(granted: Iterable[str] | None, needed: Iterable[str] = SCOPES) -> tuple[str, ...]:
    """Return the needed scopes that were not granted; none if ``granted`` is ``None``."""
    if granted is None:
        return ()
    given = set(granted)
    return () if EVERYTHING in given else tuple(scope for scope in needed if scope not in given)


def token_status(path: Path, *, now: datetime, login_command: str = LOGIN_COMMAND) -> TokenStatus:
    """Return the status of a token file. Raises ``AuthorizationExpired`` if it cannot be used."""
    token = load_token(path, login_command=login_command)
    consented_at = token.consented_at
    expires_at = instant_of(token.text("refresh_expires_at"))
    testing_ends_at = consented_at + TESTING_LIFETIME if consented_at is not None else None
    missing = missing_scopes(token.scopes)
    warnings = []
    if (mode := wider_mode(path)) is not None:
        warnings.append(mode)
    if missing:
        warnings.append(f"{path}: not granted: {', '.join(missing)}; run '{login_command}' and tick every box")
    if expires_at is not None:
        left = expires_at - now
        if left <= timedelta(0):
            warnings.append(f"{path}: the authorization ended at {shown(expires_at)}; run '{login_command}'")
        elif left <= TESTING_LIFETIME:
            warnings.append(
                f"{path}: the authorization ends at {shown(expires_at)}, because the Google Cloud app is in status "
                "Testing; publish the app and log in again, and it does not end"
            )
    elif consented_at is None:
        warnings.append(f"{path}: nobody knows when it was granted; while the app is in status Testing it lasts 7 days")
    return TokenStatus(
        path=path,
        scopes=token.scopes,
        missing_scopes=missing,
        consented_at=consented_at,
        age=now - consented_at if consented_at is not None else None,
        expires_at=expires_at,
        testing_ends_at=testing_ends_at,
        warnings=tuple(warnings),
    )


def instant_of(text: str | None) -> datetime | None:
    """Parse an instant, in UTC if it has no zone. Return ``None`` for any other text."""
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


def shown(instant: datetime) -> str:
    """Format an instant for people."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
