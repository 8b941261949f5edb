"""The secrets of a league file, read from files and the environment so that they can be hidden from output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.config.storage_url import DatabaseUrl
from league_agents.mail.oauth import wider_mode
from league_agents.report.secret_texts import SecretTexts, passwords_in, secrets_in, secrets_of_environment

_LARGEST = 100_000


def secret_texts_of(settings: LeagueSettings, environment: Mapping[str, str]) -> SecretTexts:
    """Tokens, the client secret, keys of the environment and of language models, and configured targets. Changed files
    are read again: an access token lives for an hour."""
    texts = SecretTexts()
    texts.add(secrets_of_environment(environment))
    for role in settings.roles:
        add_secrets_of(settings, role, texts)
    return texts


def add_secrets_of(settings: LeagueSettings, role: RoleSettings, texts: SecretTexts) -> None:
    """Hide the secrets of one role, whose texts are those of ``role.label``."""
    texts.add(entry.key for entry in settings.models.entries if entry.key is not None)
    for path in (settings.gmail.credentials, role.token):
        texts.ask(_SecretFile(path).secrets, role.label)
    if isinstance(role.journal, DatabaseUrl):
        texts.add(passwords_in(role.journal.url))
    texts.add(text for text in (role.opening_sentence, role.associative_word) if text)


def readable_by_others(settings: LeagueSettings) -> list[str]:
    """One line with the remedy for each user-written file that others can read, and that holds a target, a key or a
    password.

    The program makes its own files private when it writes them.
    """
    holds_secret = any(
        role.opening_sentence
        or role.associative_word
        or (isinstance(role.journal, DatabaseUrl) and passwords_in(role.journal.url))
        for role in settings.roles
    )
    env_files = dict.fromkeys(place / ".env" for place in (Path(), settings.path.parent))
    found = [settings.gmail.credentials, *(path for path in env_files if _holds_secret(path))]
    warnings = [wider_mode(path) for path in ([settings.path] if holds_secret else []) + found]
    return [warning for warning in warnings if warning is not None]


def _holds_secret(path: Path) -> bool:
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, interpolate=False) if path.is_file() else {}
    except (OSError, UnicodeDecodeError):
        return False  # the code that needs the file reports its error
    return bool(secrets_of_environment({name: value for name, value in values.items() if value is not None}))


class _SecretFile:
    """One JSON file with secrets. A secret stays secret after it is removed from the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._found: tuple[str, ...] = ()

    def secrets(self) -> Iterable[str]:
        """Its current and former secrets."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp and status.st_size <= _LARGEST:
                found = secrets_in(json.loads(self._path.read_text(encoding="utf-8")))
                self._found = tuple(dict.fromkeys((*found, *self._found)))[:50]
                self._stamp = stamp
        except (OSError, ValueError, RecursionError):
            pass  # the code that needs the file reports its error
        return self._found
