"""Hide secrets from output for people: tokens, keys, and targets of open matches.

Rule: a text is filtered at the last moment before it is shown. Registered texts are removed in every place and in any
letter case; so are texts that only look like a token or a key, because no registration is complete.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
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
_WORD = re.compile(r"\w+")
_ALSO_ASCII = {0x17F: "s", 0x131: "i", 0x130: "i"}
"""Letters that a pattern takes for ASCII letters of another case, besides those whose lower case is ASCII."""

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
    """The texts that are hidden, and the functions that supply more. Used by any thread.

    A source may have an owner. A text of one owner makes only its own sources look for changes, so that the cost of a
    line does not grow with the number of owners; what the sources of others last said is hidden from it too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: Counter[str] = Counter()
        """How many sources name each secret."""

        self._by_beginning: dict[str, set[str]] = {}
        """The secrets by ``_beginning``."""

        self._sources: dict[str, list[_Source]] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Hide these texts from now on."""
        with self._lock:
            self._count(texts)

    def ask(self, source: Callable[[], Iterable[str]], owner: str = "") -> None:
        """Call ``source`` for each shown text, because its secrets change; if it has an owner, for texts of the owner
        and for those of nobody in particular. It runs on the thread that shows the text."""
        with self._lock:
            self._sources.setdefault(owner, []).append(_Source(source))

    def forget(self, owner: str) -> None:
        """Ask this owner's sources no more. What they said stays hidden."""
        with self._lock:
            self._sources.pop(owner, None)

    def hide(self, text: str, owner: str = "") -> str:
        """``text`` without its secrets."""
        found = _LOOKS_SECRET.sub(HIDDEN, text[:_LONGEST])
        with self._lock:
            owners = [*{"", owner}] if owner in self._sources else list(self._sources)
            sources = [source for each in owners for source in self._sources.get(each, ())]
        for source in sources:
            self._refresh(source)
        beginnings = {_folded(word) for word in _WORD.findall(found)}
        with self._lock:
            texts = set[str]().union(*(self._by_beginning.get(word, ()) for word in ("", *beginnings)))
        # The longest first: otherwise hiding a word could leave the rest of a sentence visible.
        for secret in sorted(texts, key=len, reverse=True):
            found = _spelled(secret).sub(HIDDEN, found)
        return found

    def _refresh(self, source: _Source) -> None:
        said = frozenset(source.ask())
        with self._lock:
            before, source.said = source.said, said
            self._count(said - before)
            self._uncount(before - said)

    def _count(self, texts: Iterable[str]) -> None:
        for secret in (text.strip() for text in texts):
            if len(secret) >= SHORTEST:
                self._uses[secret] += 1
                self._by_beginning.setdefault(_beginning(secret), set()).add(secret)

    def _uncount(self, texts: Iterable[str]) -> None:
        for secret in (text.strip() for text in texts):
            if len(secret) >= SHORTEST:
                self._uses[secret] -= 1
                if not self._uses[secret]:
                    del self._uses[secret]
                    self._by_beginning[_beginning(secret)].discard(secret)


class _Source:
    """One function that supplies secrets, and what it last said."""

    def __init__(self, ask: Callable[[], Iterable[str]]) -> None:
        self.ask = ask
        self.said: frozenset[str] = frozenset()


def _beginning(secret: str) -> str:
    """The first word of a secret, folded; empty if a text that holds the secret need not hold that word as a whole."""
    word = _WORD.search(secret)
    if word is None or not word[0].isascii():
        return ""
    is_cut = (word.start() == 0 and not secret[0].isalnum()) or (word.end() == len(secret) and not secret[-1].isalnum())
    return "" if is_cut else _folded(word[0])


def _folded(word: str) -> str:
    return word.translate(_ALSO_ASCII).lower()


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
