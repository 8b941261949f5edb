"""One account's token in use: refreshed, stored, and reloaded after a new login."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.kit.errors import AuthorizationExpired, ConfigError, MailboxUnavailable, MailError
from league_agents.mail.oauth.login import word
from league_agents.mail.oauth.token import (
    GOOGLE_TOKEN_URI,
    LOGIN_COMMAND,
    Token,
    instant_of,
    load_token,
    missing_scopes,
    save_token,
)

if TYPE_CHECKING:
    from google.oauth2.credentials import Credentials


class Authorization:
    """One account's token in use. A token replaced on disk by a new login is loaded with the next call."""

    def __init__(self, path: Path, *, login_command: str = LOGIN_COMMAND) -> None:
        """Raises ``AuthorizationExpired`` if the token cannot be used or lacks a scope."""
        self._path = path
        self._login_command = login_command
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._token = Token(path=path, fields={})
        self._credentials: Credentials | None = None
        self._trouble: str | None = None
        self.credentials()

    def credentials(self) -> Credentials:
        """Return Google's object for the token, reloaded if the file has changed."""
        with self._lock:
            stamp = self._file_stamp()
            if self._credentials is None or (stamp is not None and stamp != self._stamp):
                self._credentials = self._load()
                self._stamp = self._file_stamp()
            return self._credentials

    @property
    def trouble(self) -> str | None:
        """Why the token could not be stored the last time; ``None`` if it was."""
        return self._trouble

    def keep(self) -> None:
        """Store the token if it was refreshed.

        Never raises: it may be called after a mail was sent, which a full disk must not report as failed. The refresh
        token in the file stays valid, so only a refresh is lost.
        """
        with self._lock:
            current = self._credentials
            if current is None or current.token == self._token.fields.get("token"):
                return
            fields = {**self._token.fields, "token": current.token, "refresh_token": current.refresh_token}
            if current.expiry is not None:
                fields["expiry"] = f"{current.expiry.isoformat()}Z"
            self._token = Token(path=self._path, fields=fields)
            if self._file_stamp() == self._stamp:  # else keep the token of a new login
                try:
                    save_token(self._path, fields)
                    self._trouble = None
                except ConfigError as error:
                    self._trouble = str(error)
                self._stamp = self._file_stamp()

    def failure(self, error: Exception) -> MailError:
        """Return the mailbox error for an error of Google's authentication library."""
        from google.auth.exceptions import RefreshError

        if isinstance(error, RefreshError) and not error.retryable:
            details = error.args[1] if len(error.args) > 1 else None
            code = details.get("error") if isinstance(details, Mapping) else None
            if code == "invalid_grant":
                why = "the authorization has ended or was taken back"
            elif code in {"invalid_client", "unauthorized_client"}:
                why = "Google does not know the client of this token any more"
            else:
                why = f"Google refuses to renew the authorization ({word(code)})"
            return AuthorizationExpired(f"{self._path}: {why}; run '{self._login_command}'")
        return MailboxUnavailable("the authorization cannot be renewed at the moment: Google's token server fails")

    def expired(self, why: str) -> AuthorizationExpired:
        """Return the error for an authorization that Gmail does not accept."""
        return AuthorizationExpired(f"{self._path}: {why}; run '{self._login_command}'")

    def _load(self) -> Credentials:
        from google.oauth2.credentials import Credentials

        token = load_token(self._path, login_command=self._login_command)
        missing = missing_scopes(token.scopes)
        if missing:
            raise self.expired(f"not granted: {', '.join(missing)}")
        self._token = token
        expiry = instant_of(token.text("expiry"))
        # Not ``from_authorized_user_info``: it replaces the file's token server by Google's own.
        make: Callable[..., Credentials] = Credentials
        return make(
            token=token.text("token"),
            refresh_token=token.text("refresh_token"),
            token_uri=token.text("token_uri") or GOOGLE_TOKEN_URI,
            client_id=token.text("client_id"),
            client_secret=token.text("client_secret"),
            # Without an expiry the library learns the end of the access token from a refusal.
            expiry=expiry.astimezone(UTC).replace(tzinfo=None) if expiry is not None else None,
        )

    def _file_stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino
