"""Hide secrets from output for people: tokens, keys, and targets of open matches.

Rule: a text is filtered at the last moment before it is shown. Registered texts are removed in every place and in any
letter case; so are texts that only look like a token or a key, because no registration is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote

HIDDEN = "[hidden]"
QUOTING = frozenset({"callback_failed", "result_repaired"})
"""The codes of warnings that quote an agent."""

SHORTEST = 3
"""Hiding shorter texts would turn half of a log into gaps."""

_LONGEST = 100_000
_SECRET_NAMES = frozenset({"token", "refresh_token", "access_token", "id_token", "client_secret", "private_key"})
_SECRET_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$")
_SAID = re.compile(r"(\braised \w{1,100}(?: \([^\n]{1,200}?:\d{1,9}\))?): .*", re.DOTALL)
_QUOTED = re.compile(r"(?<!\w)'.*'(?!\w)|\".*\"", re.DOTALL)
_PASSWORD_OF_ADDRESS = re.compile(r"://[^/@:\s]*:([^@/\s]+)@")
_PASSWORD_OPTION = re.compile(r"\bpassword=([^&\s]+)")
_LOOKS_SECRET = re.compile(
    r"ya29\.[\w.-]{8,}"  # access tokens of Google
    r"|1//[\w-]{8,}"  # its refresh tokens
    r"|GOCSPX-[\w-]{8,}"  # its client secrets
    r"|AIza[\w-]{20,}"  # its keys
    r"|sk-[\w-]{12,}"  # keys of language models
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?<=refresh_token=)[\w.~%+/-]{4,}|(?<=access_token=)[\w.~%+/-]{4,}|(?<=client_secret=)[\w.~%+/-]{4,}"
    r"|(?<=[?&]code=)[\w.~%+/-]{4,}"
)


class SecretTexts:
    """The texts that are hidden, and the functions that supply more."""

    def __init__(self) -> None:
        self._texts: frozenset[str] = frozenset()
        self._sources: tuple[Callable[[], Iterable[str]], ...] = ()

    def add(self, texts: Iterable[str]) -> None:
        """Hide these texts from now on."""
        self._texts |= {text.strip() for text in texts if len(text.strip()) >= SHORTEST}

    def ask(self, source: Callable[[], Iterable[str]]) -> None:
        """Call ``source`` for each shown text, because its secrets change. It runs on the thread that shows it."""
        self._sources = (*self._sources, source)

    def hide(self, text: str) -> str:
        """``text`` without its secrets."""
        found = _LOOKS_SECRET.sub(HIDDEN, text[:_LONGEST])
        texts = set(self._texts)
        for source in self._sources:
            texts.update(each.strip() for each in source() if len(each.strip()) >= SHORTEST)
        # The longest first: otherwise hiding a word could leave the rest of a sentence visible.
        for secret in sorted(texts, key=len, reverse=True):
            found = _spelled(secret).sub(HIDDEN, found)
        return found


def _spelled(secret: str) -> re.Pattern[str]:
    """A pattern for a secret in any letter case and with any white space. It matches whole words only."""
    body = r"\s+".join(re.escape(word) for word in secret.split())
    start = r"(?<!\w)" if secret[0].isalnum() else ""
    end = r"(?!\w)" if secret[-1].isalnum() else ""
    return re.compile(f"{start}{body}{end}", re.IGNORECASE)


def without_quotations(text: str) -> str:
    """A failure without its quotations: the texts of an exception and of a refused result of a referee's agent, which
    may be the target of an open match."""
    return _QUOTED.sub(HIDDEN, _SAID.sub(rf"\1: {HIDDEN}", text))


def secrets_in(document: object) -> list[str]:
    """The secret values of a token file or a client secret."""
    found: list[str] = []
    if isinstance(document, Mapping):
        for name, value in document.items():
            if name in _SECRET_NAMES and isinstance(value, str):
                found.append(value)
            else:
                found += secrets_in(value)
    return found


def passwords_in(address: str) -> list[str]:
    """The passwords in an address such as ``postgresql://USER:PASSWORD@HOST/DATABASE?password=…``, as they are written
    there and as they are meant."""
    found = [*_PASSWORD_OF_ADDRESS.findall(address), *_PASSWORD_OPTION.findall(address)]
    return [*found, *(unquote(each) for each in found)]


def secrets_of_environment(variables: Mapping[str, str]) -> list[str]:
    """The values of variables whose names mark them as secret, and the passwords in addresses."""
    named = [value for name, value in variables.items() if _SECRET_VARIABLE.search(name.upper()) and len(value) >= 8]
    return [*named, *(password for value in variables.values() if "://" in value for password in passwords_in(value))]
