"""A mail as bytes: header fields can be changed, everything else stays as it is.

Rule: only whole fields are removed or added. Everything else keeps its bytes, so a ``raw`` download is the sender's
text below the fields that the servers added.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable
from dataclasses import dataclass

_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:(.*)", re.DOTALL)
_FOLD = re.compile(r"\r?\n[ \t]*|[\r\n]")
_ADDRESS = re.compile(r"[^\s@<>(),;:\\\"\[\]\x00-\x1f\x7f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
LONGEST_HEADER = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One header field."""

    name: str
    """The name as it is spelled."""

    raw: bytes
    """The whole field with its folds and its line end."""

    @property
    def value(self) -> str:
        """The value, unfolded; encoded words stay encoded."""
        text = self.raw.split(b":", 1)[1][:LONGEST_HEADER].decode("utf-8", "replace")
        return _FOLD.sub(" ", text).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawMail:
    """A mail split at the empty line."""

    fields: tuple[Field, ...]
    body: bytes
    """The bytes after the empty line."""

    def values(self, name: str) -> list[str]:
        """The values of all fields of that name, in any letter case."""
        return [field.value for field in self.fields if field.name.lower() == name.lower()]

    def first(self, name: str) -> str:
        """The first value, or an empty text."""
        return next(iter(self.values(name)), "")

    def without(self, *names: str) -> RawMail:
        """The mail without these fields."""
        gone = {name.lower() for name in names}
        return RawMail(fields=tuple(each for each in self.fields if each.name.lower() not in gone), body=self.body)

    def below(self, *added: tuple[str, str]) -> RawMail:
        """The mail with these fields put on top of it, in this order."""
        return RawMail(fields=(*map(_field, added), *self.fields), body=self.body)

    def above(self, *added: tuple[str, str]) -> RawMail:
        """The mail with these fields after its own."""
        return RawMail(fields=(*self.fields, *map(_field, added)), body=self.body)

    def to_bytes(self) -> bytes:
        """The mail."""
        return b"".join(field.raw for field in self.fields) + b"\r\n" + self.body


def _field(added: tuple[str, str]) -> Field:
    name, value = added
    # Folds are written by this module; any other line break would let a sender inject a field.
    assert "\r" not in value.replace("\r\n ", "")
    assert "\n" not in value.replace("\r\n ", "")
    return Field(name=name, raw=f"{name}: {value}\r\n".encode("utf-8", "replace"))


def read_raw(raw: bytes) -> RawMail:
    """Split a mail. Never raises: text that cannot be a header begins the body."""
    fields: list[Field] = []
    start = 0
    while start < len(raw):
        end = raw.find(b"\n", start) + 1 or len(raw)
        line = raw[start:end]
        if line.strip(b"\r\n") == b"":
            return RawMail(fields=tuple(fields), body=raw[end:])
        while end < len(raw) and raw[end : end + 1] in (b" ", b"\t"):
            end = raw.find(b"\n", end) + 1 or len(raw)
        whole = raw[start:end]
        found = _FIELD.match(whole)
        if found is None:
            break
        whole = whole if whole.endswith(b"\n") else whole + b"\r\n"
        fields.append(Field(name=found[1].decode("ascii"), raw=whole))
        start = end
    return RawMail(fields=tuple(fields), body=raw[start:])


def with_network_line_ends(raw: bytes) -> bytes:
    """The mail with every line ended by CR LF, as in transit."""
    return re.sub(rb"\r?\n", b"\r\n", raw)


def addresses_in(values: Iterable[str]) -> list[str]:
    """The addresses in header values, in order, each spelled as at its first occurrence; without names and comments."""
    found: dict[str, str] = {}
    for _, address in email.utils.getaddresses([value[:LONGEST_HEADER] for value in values]):
        if is_address(address):
            found.setdefault(address.lower(), address)
    return list(found.values())


def is_address(text: str) -> bool:
    """Whether ``text`` is one bare address that a mail can be sent to."""
    return len(text) <= 254 and text.isascii() and _ADDRESS.fullmatch(text) is not None
