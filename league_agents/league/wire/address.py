"""E-mail addresses: read the sender of a mail, and compare spellings of an address.

Rule 1: an address must be ASCII, and only ASCII letters are folded: some other letters become ASCII in lower case (the
Kelvin sign becomes ``k``), and would let a forged address compare equal to another. International domains are used in
their ASCII form (``xn--``).
Rule 2: only the address part of a header counts. Display names, comments and quoted texts are untrusted.
"""

from __future__ import annotations

import re
from functools import lru_cache

_REMEMBERED = 1_000
"""The number of cached spellings: a league has few addresses, and each is read with every mail."""

_LONGEST_HEADER = 2_000
_LONGEST_ADDRESS = 254

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
# The form of nearly all headers: the address alone, or after a name without special characters.
_PLAIN_MAILBOX = re.compile(
    rf"({_ADDRESS.pattern})|(?:\"[^\"\\\x00-\x1f\x7f]*\"|[^\"\\(),:;<>@\x00-\x1f\x7f]*) ?<({_ADDRESS.pattern})>",
    re.ASCII,
)
_FOLD = re.compile(r"\r?\n[ \t]+|\t")


def read_address(text: object) -> str | None:
    """The bare address in ``text``, with its spelling kept; ``None`` if ``text`` is not an address."""
    return _read_address(text) if isinstance(text, str) and len(text) <= 2 * _LONGEST_ADDRESS else None


@lru_cache(maxsize=_REMEMBERED)
def _read_address(text: str) -> str | None:
    text = text.strip()
    if not text.isascii():
        local, at, domain = text.rpartition("@")
        ascii_domain = _ascii_domain(domain)
        if not at or ascii_domain is None:
            return None
        text = f"{local}@{ascii_domain}"
    return text if len(text) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(text) else None


def read_mailbox(header: object) -> str | None:
    """The one address of a ``From`` header, or ``None`` when it names none or more than one.

    ``"lm@example.com" <x@example.org>`` is from ``x@example.org``.
    """
    return _read_mailbox(header) if isinstance(header, str) and len(header) <= _LONGEST_HEADER else None


@lru_cache(maxsize=_REMEMBERED)
def _read_mailbox(header: str) -> str | None:
    plain = _PLAIN_MAILBOX.fullmatch(header)
    if plain is not None:
        address = plain[1] or plain[2]
        return address if len(address) <= _LONGEST_ADDRESS else None
    header = _FOLD.sub(" ", header)
    if any(character < " " or character == "\x7f" for character in header):
        return None
    bare = _without_quotes_and_comments(header)
    if bare is None or any(mark in bare for mark in ",;:"):
        return None  # a list or a group has no single sender
    before, opening, rest = bare.partition("<")
    if not opening:
        return None if ">" in bare or '"' in bare else read_address(bare)
    address, closing, after = rest.partition(">")
    if not closing or after.strip() or "<" in address or ">" in before or '"' in address:
        return None
    return read_address(address)


def address_key(address: str) -> str:
    """The key by which an address is compared: without letter case (protocol 1.1). Other text is unchanged."""
    return _address_key(address) if len(address) <= 2 * _LONGEST_ADDRESS else address


@lru_cache(maxsize=_REMEMBERED)
def _address_key(address: str) -> str:
    read = read_address(address)
    return address if read is None else read.lower()


def same_address(one: str, other: str) -> bool:
    """Whether two spellings are the same address."""
    return one == other or address_key(one) == address_key(other)


def _ascii_domain(domain: str) -> str | None:
    labels = []
    for label in domain.split("."):
        if label.isascii():
            labels.append(label)
            continue
        try:
            encoded = label.encode("idna").decode("ascii")
        except UnicodeError:
            return None
        # A label that the mapping turns into plain ASCII (full-width letters) only looks like the other domain.
        if not encoded.startswith("xn--"):
            return None
        labels.append(encoded)
    return ".".join(labels)


def _without_quotes_and_comments(header: str) -> str | None:
    """The header with ``"…"`` as a lone quotation mark and ``(…)`` as a space; ``None`` when one is not closed."""
    kept: list[str] = []
    depth = 0
    is_quoted = False
    characters = iter(header)
    for character in characters:
        if character == "\\" and (is_quoted or depth):
            if next(characters, None) is None:
                return None
        elif is_quoted:
            is_quoted = character != '"'
        elif character == "(":
            depth += 1
            kept.append(" ")
        elif depth:
            depth -= character == ")"
        elif character == '"':
            is_quoted = True
            kept.append('"')
        else:
            kept.append(character)
    return None if is_quoted or depth else "".join(kept)
