"""Log in with a person's consent in a browser, on this machine or another, and log out."""

from __future__ import annotations

import json
import logging
import os
import urllib.error
import urllib.parse
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, MailboxUnavailable
from league_agents.mail.oauth.client_secret import load_client_secret
from league_agents.mail.oauth.token import GOOGLE_TOKEN_URI, SCOPES, Token, load_token, missing_scopes, save_token

_PASTED_REDIRECT = "http://localhost:8765/"

# Below level WARNING these loggers write the code, the client secret and the token.
_TALKATIVE = ("requests_oauthlib", "google_auth_oauthlib.flow", "oauthlib")


def login(
    client_secret: Path,
    token_path: Path,
    *,
    open_browser: bool = True,
    show: Callable[[str], object] = print,
    patience: timedelta = timedelta(minutes=5),
    clock: Clock | None = None,
) -> Token:
    """Get a person's consent in a browser on this machine, and store the token.

    ``show`` gets the address to open. Raises ``ConfigError``, ``AuthorizationExpired``, ``MailboxUnavailable``.
    """
    flow = _flow(load_client_secret(client_secret))
    make_address = flow.authorization_url

    def announced(**options: object) -> tuple[str, str]:
        address, state = make_address(**options)
        show(address)
        if open_browser:
            webbrowser.open(address)
        return address, state

    flow.authorization_url = announced  # the local server waits already when this is called
    with _consent(client_secret):
        # Port 0: a fixed port is still taken when a person tries a second time.
        flow.run_local_server(
            port=0,
            open_browser=False,
            authorization_prompt_message=None,
            timeout_seconds=patience.total_seconds(),
            access_type="offline",
            prompt="consent",  # without it a second consent brings no refresh token
        )
    return _keep(flow, token_path, clock or SystemClock())


def login_pasted(
    client_secret: Path,
    token_path: Path,
    *,
    show: Callable[[str], object],
    ask: Callable[[], str],
    clock: Clock | None = None,
) -> Token:
    """Get a person's consent in a browser on another machine, by pasting the address that it was redirected to.

    The browser cannot open that address, which is expected. Raises as ``login`` does.
    """
    flow = _flow(load_client_secret(client_secret))
    flow.redirect_uri = _PASTED_REDIRECT
    with _consent(client_secret):
        address, state = flow.authorization_url(access_type="offline", prompt="consent")
    show(address)
    pasted = ask()
    again = "start again, and paste the whole address of the page that could not be opened"
    if not pasted.strip():
        raise AuthorizationExpired(f"no address was pasted; {again}")
    answer = _pasted(pasted)
    if answer.get("error") == "access_denied":
        raise AuthorizationExpired("access was refused in the browser; start again and allow it")
    if "error" in answer or "code" not in answer:
        raise AuthorizationExpired(f"there is no authorization code in what was pasted; {again}")
    if answer.get("state") != state:
        raise AuthorizationExpired(f"what was pasted belongs to another attempt; {again}")
    with _consent(client_secret):
        flow.fetch_token(code=answer["code"])
    return _keep(flow, token_path, clock or SystemClock())


def logout(token_path: Path, *, timeout: timedelta = timedelta(seconds=30)) -> bool:
    """Revoke the authorization and delete the token. Return whether Google confirmed it.

    The file is deleted in any case.
    """
    try:
        token = load_token(token_path)
    except AuthorizationExpired:
        token_path.unlink(missing_ok=True)
        return False
    address = urllib.parse.urlsplit(token.text("token_uri") or GOOGLE_TOKEN_URI)
    body = urllib.parse.urlencode({"token": token.text("refresh_token")}).encode("ascii")
    target = urllib.parse.urlunsplit((address.scheme, address.netloc, "/revoke", "", ""))
    revoked = False
    if address.scheme in {"http", "https"}:
        try:
            with urllib.request.urlopen(target, data=body, timeout=timeout.total_seconds()) as response:  # noqa: S310
                revoked = response.status == 200
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass
    token_path.unlink(missing_ok=True)
    return revoked


def _flow(client: Mapping[str, object]) -> Any:
    from google_auth_oauthlib.flow import InstalledAppFlow

    return InstalledAppFlow.from_client_config({"installed": dict(client)}, scopes=list(SCOPES))


@contextmanager
def _consent(client_secret: Path) -> Iterator[None]:
    """Context manager that adapts oauthlib: fewer scopes raise no exception (they are compared later), a server on this
    machine may lack TLS, and each error becomes one line without secrets."""
    from oauthlib.oauth2 import MismatchingStateError, OAuth2Error
    from requests.exceptions import RequestException

    client = load_client_secret(client_secret)
    settings = {"OAUTHLIB_RELAX_TOKEN_SCOPE": "1"}
    if str(client["token_uri"]).startswith("http:"):
        settings["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    levels = {name: logging.getLogger(name).level for name in _TALKATIVE}
    for name in levels:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    except MismatchingStateError:
        raise AuthorizationExpired("the browser answered another attempt; start again") from None
    except OAuth2Error as error:
        if error.error == "access_denied":
            raise AuthorizationExpired("access was refused in the browser; start again and allow it") from None
        if error.error == "invalid_client":
            reason = "Google does not know this client: download its JSON again"
            raise ConfigError(str(client_secret), reason) from None
        raise AuthorizationExpired(f"Google refused the login ({word(error.error)}); start again") from None
    except RequestException:
        raise MailboxUnavailable("Google could not be reached to finish the login; try again") from None
    except AttributeError:  # raised by the library if no browser connected
        raise AuthorizationExpired("nobody agreed in the browser in time; start again") from None
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _keep(flow: Any, token_path: Path, clock: Clock) -> Token:
    """Store the token of a finished flow."""
    credentials = flow.credentials
    if not credentials.refresh_token:
        raise AuthorizationExpired(
            "Google gave no refresh token; remove the app at https://myaccount.google.com/permissions and start again"
        )
    answer: Mapping[str, object] = flow.oauth2session.token
    scope = answer.get("scope")
    granted = scope.split() if isinstance(scope, str) else list(scope) if isinstance(scope, list) else list(SCOPES)
    missing = missing_scopes(granted)
    if missing:
        raise AuthorizationExpired(f"the login did not grant {', '.join(missing)}; start again and tick every box")
    now = clock.now()
    fields = {**json.loads(credentials.to_json()), "scopes": granted, "consented_at": now.isoformat()}
    # Google gives an end only for an app in status Testing.
    lifetime = answer.get("refresh_token_expires_in")
    if isinstance(lifetime, int) and 0 < lifetime < 10**9:
        fields["refresh_expires_at"] = (now + timedelta(seconds=lifetime)).isoformat()
    save_token(token_path, fields)
    return Token(path=token_path, fields=fields)


def _pasted(text: str) -> dict[str, str]:
    text = text.strip().strip("'\"<>")
    query = urllib.parse.urlsplit(text).query if "?" in text else text
    try:
        return dict(urllib.parse.parse_qsl(query, max_num_fields=50))
    except ValueError:
        return {}


def word(code: object) -> str:
    """Return an OAuth error code in a form safe to show, because the server chose it."""
    is_word = isinstance(code, str) and len(code) < 60 and code.isascii() and code.replace("_", "").isalnum()
    return str(code) if is_word else "no known reason"
