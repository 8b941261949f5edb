"""A mail as the Gmail API shows it: headers decoded, parts numbered, attachments behind ids.

Rule: no mail makes this module fail, whatever its bytes. A mail that is nested too deeply to parse is shown as one
text. Parsing is lazy.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import email.message
import email.parser
import email.policy
import html
import re
from functools import cached_property

from league_agents.mail.mime import decode_words
from league_agents.sandbox.raw_mail import RawMail, addresses_in, read_raw

MOST_CONTAINERS = 100
"""Mails with more are not parsed: the parser's work grows with their depth."""

MOST_PARTS = 2_000
_CONTAINER = re.compile(rb"multipart/|message/", re.IGNORECASE)
_CHARSET = re.compile(r"[A-Za-z0-9_-]{1,30}")
_WORD = re.compile(r"\w+")
_SNIPPET = 200
_SEARCHED_TEXT = 200_000


def encode_bytes(content: bytes) -> str:
    """Base64 in the alphabet of addresses, padded, as the API writes it."""
    return base64.urlsafe_b64encode(content).decode("ascii")


def decode_bytes(text: str) -> bytes | None:
    """Decode base64 in either alphabet, padded or not; ``None`` when ``text`` is not base64."""
    squeezed = text.translate({10: None, 13: None, ord("-"): "+", ord("_"): "/"}).rstrip("=")
    try:
        return base64.b64decode(squeezed + "=" * (-len(squeezed) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None


def words_of(text: str) -> str:
    """The words of a text in lower case, each between two spaces, for comparison in a search."""
    return " " + " ".join(_WORD.findall(text.lower())) + " "


class MailView:
    """One mail, parsed as far as requested."""

    def __init__(self, mail_id: str, raw: bytes) -> None:
        self._mail_id = mail_id
        self._raw = raw
        self._addresses: dict[str, list[str]] = {}
        self._words: dict[str, str] = {}

    @cached_property
    def top(self) -> RawMail:
        """The header fields."""
        return read_raw(self._raw)

    def header(self, name: str) -> str:
        """All values of a header, encoded words decoded."""
        return ", ".join(decode_words(value) for value in self.top.values(name))

    def addresses(self, name: str) -> list[str]:
        """The addresses in a header, in lower case."""
        if name not in self._addresses:
            self._addresses[name] = [address.lower() for address in addresses_in(self.top.values(name))]
        return self._addresses[name]

    def words(self, name: str) -> str:
        """The words of a header, as ``words_of`` returns them."""
        if name not in self._words:
            self._words[name] = words_of(self.header(name))
        return self._words[name]

    @cached_property
    def message_ids(self) -> tuple[str, ...]:
        """The value of ``Message-ID``, without brackets."""
        return tuple(value.strip().strip("<>") for value in self.top.values("message-id"))

    @cached_property
    def file_names(self) -> tuple[str, ...]:
        """The names of the attachments."""
        return tuple(_file_name(part) for part in self._leaves if _file_name(part))

    @cached_property
    def text(self) -> str:
        """The beginning of the mail's plain text."""
        for part in self._leaves:
            if part.get_content_type() == "text/plain" and not _file_name(part):
                return _utf8(part).decode("utf-8", "replace")[:_SEARCHED_TEXT]
        return ""

    @cached_property
    def snippet(self) -> str:
        """The first words, as HTML."""
        return html.escape(" ".join(self.text[: 4 * _SNIPPET].split())[:_SNIPPET], quote=True)

    def headers(self, names: frozenset[str] | None = None) -> list[dict[str, str]]:
        """The header list; ``names`` in lower case keeps only these."""
        return [
            {"name": field.name, "value": decode_words(field.value)}
            for field in self.top.fields
            if names is None or field.name.lower() in names
        ]

    @cached_property
    def payload(self) -> dict[str, object]:
        """The part tree of ``format=full``."""
        return self._shown(self._message, "")

    def attachment(self, attachment_id: str) -> bytes | None:
        """The content behind an attachment's id."""
        for number, part in self._numbered(self._message, ""):
            if self._attachment_id(number) == attachment_id and _is_attached(part):
                return _content(part)
        return None

    @cached_property
    def content_type(self) -> str:
        """The content type of the whole mail."""
        return self._message.get_content_type()

    @cached_property
    def _message(self) -> email.message.Message:
        tangled = sum(1 for _ in zip(_CONTAINER.finditer(self._raw), range(MOST_CONTAINERS + 1), strict=False))
        if tangled <= MOST_CONTAINERS:
            return email.parser.BytesParser(policy=email.policy.compat32).parsebytes(self._raw)
        alone = email.message.Message()
        alone.set_payload(self.top.body.decode("latin-1"))
        return alone

    @property
    def _leaves(self) -> list[email.message.Message]:
        return [part for _, part in self._numbered(self._message, "") if not part.is_multipart()]

    def _numbered(self, top: email.message.Message, number: str) -> list[tuple[str, email.message.Message]]:
        """Each part with its ``partId``, in reading order."""
        found: list[tuple[str, email.message.Message]] = []
        waiting = [(number, top)]
        while waiting and len(found) < MOST_PARTS:
            number, part = waiting.pop()
            found.append((number, part))
            waiting += reversed(_children(number, part))
        return found

    def _shown(self, top: email.message.Message, top_number: str) -> dict[str, object]:
        shown: dict[str, dict[str, object]] = {}
        for number, part in self._numbered(top, top_number):
            document: dict[str, object] = {
                "partId": number,
                "mimeType": part.get_content_type(),
                "filename": _file_name(part),
                "headers": _headers_of(part) if number else self.headers(),
                "body": self._body(number, part),
            }
            shown[number] = document
            if number:
                parent = shown[number.rpartition(".")[0]]
                parts = parent.setdefault("parts", [])
                assert isinstance(parts, list)
                parts.append(document)
        return shown[top_number]

    def _body(self, number: str, part: email.message.Message) -> dict[str, object]:
        if part.is_multipart():
            return {"size": 0}
        if _is_attached(part):
            return {"attachmentId": self._attachment_id(number), "size": len(_content(part))}
        # Gmail returns texts in UTF-8, whatever their original encoding.
        content = _utf8(part)
        return {"size": len(content), **({"data": encode_bytes(content)} if content else {})}

    def _attachment_id(self, number: str) -> str:
        return "ANGjdJ" + encode_bytes(f"{self._mail_id}/{number}".encode()).rstrip("=")


def _children(number: str, part: email.message.Message) -> list[tuple[str, email.message.Message]]:
    if not part.is_multipart():
        return []
    children = part.get_payload()
    assert isinstance(children, list)
    prefix = f"{number}." if number else ""
    return [(f"{prefix}{place}", child) for place, child in enumerate(children[:MOST_PARTS])]


def _headers_of(part: email.message.Message) -> list[dict[str, str]]:
    return [{"name": name, "value": decode_words(" ".join(str(value).split()))} for name, value in part.raw_items()][
        :200
    ]


def _file_name(part: email.message.Message) -> str:
    try:
        return decode_words(part.get_filename("") or "")[:500]
    except (LookupError, TypeError, ValueError):
        return ""


def _is_attached(part: email.message.Message) -> bool:
    """Whether the content is fetched on its own: with a file name, or neither text nor JSON."""
    if part.is_multipart():
        return False
    kind = part.get_content_type()
    return bool(_file_name(part)) or not (kind.startswith("text/") or kind == "application/json")


def _content(part: email.message.Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _utf8(part: email.message.Message) -> bytes:
    content = _content(part)
    try:
        charset = part.get_content_charset("utf-8")
        if charset == "utf-8" or _CHARSET.fullmatch(charset) is None:
            return content
        name = codecs.lookup(charset).name
        if not name.startswith(("utf", "iso8859", "cp", "ascii", "koi8", "gb", "big5", "shift", "euc")):
            return content
        return content.decode(name).encode()
    except (LookupError, TypeError, ValueError):
        return content
