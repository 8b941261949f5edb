"""Encode a protocol document as a MIME mail, and decode the mails of any client.

Rule 1: the bytes depend on the outgoing mail alone: the same mail always gives the same bytes.
Rule 2: decoding never raises. Parts that cannot be used are left out with a reason, and the cost is bounded before
parsing: bytes, lines, containers, parts, the size and depth of a document.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import email.errors
import email.header
import email.message
import email.parser
import email.policy
import email.utils
import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC

import msgspec

from league_agents.kit.errors import LocalProtocolError
from league_agents.league.wire.address import read_address
from league_agents.mail.port import OutgoingMail

MOST_BYTES = 35_000_000
"""Most bytes of a mail: the transfer-encoded size of the largest mail that Gmail accepts."""

MOST_LINES = 600_000
MOST_CONTAINERS = 20
MOST_PARTS = 200
MOST_DOCUMENT_BYTES = 5_000_000
MOST_DOCUMENT_VALUES = 300_000
MOST_DOCUMENT_LEVELS = 64

_MOST_HEADERS = 200
_LONGEST_HEADER = 4_000
_MOST_PROBLEMS = 20

# Not JSON, because the older referee takes a body that parses as JSON for the message itself (protocol 2.3).
_BODY = "A league message for the program that reads this mailbox: see the attached document."

_JOIN = ",\r\n "
_VISIBLE = re.compile(r"[\x20-\x7e]{1,900}", re.ASCII)
_FILE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}\.json", re.ASCII)
_FOLD = re.compile(r"\r?\n[ \t]*|[\r\n]")
_PLAIN_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,99}): ([\x21-\x7e](?:[\x20-\x7e]{0,3990}[\x21-\x7e])?)", re.ASCII)
_PLAIN_FOLD = re.compile(r"\r\n[ \t]+(?=[\x21-\x7e])")
_PLAIN_MIXED = re.compile(r'multipart/mixed; boundary="([A-Za-z0-9_=.+-]{1,70})"')
_PLAIN_NAME = re.compile(r'(?:attachment; )?filename="((?:[A-Za-z0-9_.-]{1,100}\.json)?)"')
_CHARSET = re.compile(
    r"utf[-_]?(?:8|16|32)(?:[-_]?[lb]e)?|(?:us[-_])?ascii|iso[-_]?8859[-_]?\d{1,2}(?:-[ie])?|latin[-_]?\d|"
    r"(?:windows|cp)[-_]?\d{3,4}|koi8[-_][ru]|gb\d{4,5}|gbk|big5|shift[-_]?jis|euc[-_](?:jp|kr)",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A part of a mail without subparts."""

    content_type: str
    """``application/json``, without parameters, in lower case."""

    content: bytes
    """The content without its transfer encoding."""

    file_name: str = ""
    charset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMail:
    """A parsed mail that is not judged (see ``port.Mail``)."""

    subject: str
    """Unfolded, encoded words decoded."""

    from_header: str
    """Unfolded, otherwise unchanged. Several ``From`` headers are all included, so that no single one is believed."""

    headers: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[object, ...] = ()
    problems: tuple[str, ...] = ()


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def build(mail: OutgoingMail) -> bytes:
    """Return the mail in the form of protocol 2.3. Raises ``LocalProtocolError`` for values that it cannot hold."""
    sender = _address(mail.sender)
    recipients = [_address(address) for address in mail.to]
    if not recipients:
        raise LocalProtocolError("a mail needs a recipient")
    subject = _header("subject", mail.subject)
    transaction = _header("transaction id", mail.transaction_id)
    if _FILE_NAME.fullmatch(mail.file_name) is None:
        raise LocalProtocolError(f"attachment name {mail.file_name[:60]!a} must be ASCII and end in .json")
    digest = hashlib.sha256(f"{sender}\x1f{transaction}".encode()).hexdigest()[:32]
    # Base64 has no "_", and the text between the boundaries is fixed: the boundary cannot occur in a part.
    boundary = f"=_{digest}"
    encoded = binascii.b2a_base64(_document(mail.document), newline=False)
    attachment = b"".join([encoded[start : start + 76] + b"\r\n" for start in range(0, len(encoded), 76)])
    head = (
        f"From: {sender}\r\n"
        f"To: {_JOIN.join(recipients)}\r\n"
        f"Subject: {subject}\r\n"
        f"Date: {email.utils.format_datetime(mail.sent_at.astimezone(UTC))}\r\n"
        f"Message-ID: <{digest}@{sender.rpartition('@')[2]}>\r\n"
        "Auto-Submitted: auto-generated\r\n"
        f"X-League-Message-ID: {transaction}\r\n"
        "MIME-Version: 1.0\r\n"
        f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n'
        "\r\n"
        f"--{boundary}\r\n"
        'Content-Type: text/plain; charset="utf-8"\r\n'
        "Content-Transfer-Encoding: 7bit\r\n"
        "\r\n"
        f"{_BODY}\r\n"
        f"--{boundary}\r\n"
        "Content-Type: application/json\r\n"
        "Content-Transfer-Encoding: base64\r\n"
        f'Content-Disposition: attachment; filename="{mail.file_name}"\r\n'
        "\r\n"
    )
    return head.encode("ascii") + attachment + f"--{boundary}--\r\n".encode("ascii")


def _address(address: str) -> str:
    if read_address(address) != address:
        raise LocalProtocolError(f"{address[:60]!a} is no mail address")
    return address


def _header(name: str, value: str) -> str:
    # A line break would allow header injection.
    if _VISIBLE.fullmatch(value) is None:
        raise LocalProtocolError(f"the {name} {value[:60]!a} must be one line of at most 900 ASCII characters")
    return value


def _document(document: Mapping[str, object]) -> bytes:
    try:
        return _JSON.encode(dict(document)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError(f"the document is no JSON: {error}") from error


def read(raw: bytes) -> ParsedMail:
    """Parse a mail (protocol 2.5, steps 1 and 2). Never raises."""
    refusal = _refusal(raw)
    if refusal is not None:
        return ParsedMail(subject="", from_header="", problems=(refusal,))
    return read_plain(raw) or read_any(raw)


def read_plain(raw: bytes) -> ParsedMail | None:
    """Parse a mail of the form that ``build`` writes, much faster than ``read_any`` but with the same result. Return
    ``None`` for any other mail."""
    if not raw.isascii() or not raw.count(b"\r\n") == raw.count(b"\n") == raw.count(b"\r"):
        return None
    head, _, body = raw.decode("ascii").partition("\r\n\r\n")
    pairs = _plain_headers(head)
    if pairs is None:
        return None
    headers = dict(reversed(pairs))  # the first of each name
    mixed = _PLAIN_MIXED.fullmatch(headers.get("content-type", ""))
    if mixed is None or "content-transfer-encoding" in headers:
        return None
    delimiter = f"--{mixed[1]}"
    opening, closing = f"{delimiter}\r\n", f"\r\n{delimiter}--\r\n"
    if not (body.startswith(opening) and body.endswith(closing)):
        return None
    parts = body[len(opening) : -len(closing)].split(f"\r\n{opening}")
    if body.count(delimiter) != len(parts) + 1 or len(parts) > MOST_CONTAINERS:
        return None
    leaves = [_plain_leaf(part) for part in parts]
    usable = [leaf for leaf in leaves if leaf is not None]
    if len(usable) < len(leaves):
        return None
    problems: list[str] = []
    documents = tuple(documents_of(usable, problems))
    return ParsedMail(
        subject=decode_words(headers.get("subject", "")),
        from_header=", ".join(value for name, value in pairs if name == "from"),
        headers={name: headers[name] for name, _ in pairs},
        documents=documents,
        problems=tuple(problems[:_MOST_PROBLEMS]),
    )


def _plain_headers(head: str) -> list[tuple[str, str]] | None:
    """Return names in lower case and unfolded values; ``None`` if a line has an unusual form."""
    pairs = []
    for line in _PLAIN_FOLD.sub(" ", head).split("\r\n"):
        found = _PLAIN_HEADER.fullmatch(line)
        if found is None:
            return None
        pairs.append((found[1].lower(), found[2]))
    return pairs if len(pairs) <= _MOST_HEADERS else None


def _plain_leaf(part: str) -> Leaf | None:
    head, _, content = part.partition("\r\n\r\n")
    headers = dict(reversed(_plain_headers(head) or ()))
    content_type, _, parameter = headers.pop("content-type", "").partition("; ")
    if content_type not in ("application/json", "text/plain") or parameter not in ("", 'charset="utf-8"'):
        return None
    named = _PLAIN_NAME.fullmatch(headers.pop("content-disposition", 'filename=""'))
    encoding = headers.pop("content-transfer-encoding", "7bit")
    if named is None or headers:
        return None
    raw = content.encode("ascii")
    if encoding == "base64":
        try:
            raw = base64.b64decode(raw.replace(b"\r\n", b""), validate=True)
        except binascii.Error:
            return None
    elif encoding != "7bit":
        return None
    return Leaf(content_type=content_type, content=raw, file_name=named[1], charset="utf-8" if parameter else "")


def read_any(raw: bytes) -> ParsedMail:
    """Parse a mail of any form that ``_refusal`` accepts."""
    # The compat32 policy does not parse header values: it is several times faster and cannot fail on a hostile one.
    message = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(raw)
    headers: dict[str, str] = {}
    senders: list[str] = []
    for name, value in _headers_of(message):
        if name == "from":
            senders.append(value)
        headers.setdefault(name, value)
    problems: list[str] = []
    documents = tuple(documents_of(_leaves_of(message, problems), problems))
    return ParsedMail(
        subject=decode_words(headers.get("subject", "")),
        from_header=", ".join(senders),
        headers=headers,
        documents=documents,
        problems=tuple(problems[:_MOST_PROBLEMS]),
    )


def _refusal(raw: bytes) -> str | None:
    """Return the reason not to parse a mail; ``None`` to parse it."""
    if len(raw) > MOST_BYTES:
        return f"the mail has {len(raw)} bytes, the limit is {MOST_BYTES}"
    if max(raw.count(b"\n"), raw.count(b"\r")) > MOST_LINES:
        return f"the mail has more than {MOST_LINES} lines"
    lowered = raw.lower()
    if lowered.count(b"multipart/") + lowered.count(b"message/") > MOST_CONTAINERS:
        return f"the mail has more than {MOST_CONTAINERS} containers"
    return None


def _headers_of(message: email.message.Message) -> Iterator[tuple[str, str]]:
    for count, (name, value) in enumerate(message.raw_items()):
        if count == _MOST_HEADERS:
            return
        text = str(value)[: 2 * _LONGEST_HEADER]
        if not text.isascii():
            text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        yield name.lower()[:100], _FOLD.sub(" ", text).strip()[:_LONGEST_HEADER]


def decode_words(text: str) -> str:
    """Return a header with its encoded words decoded, or unchanged if they cannot be decoded."""
    if "=?" not in text:
        return text
    try:
        chunks = email.header.decode_header(text)
    except (email.errors.HeaderParseError, ValueError):
        return text
    decoded = [
        chunk if isinstance(chunk, str) else chunk.decode(_known_charset(charset) or "utf-8", "replace")
        for chunk, charset in chunks
    ]
    return "".join(decoded)[:_LONGEST_HEADER]


def _leaves_of(message: email.message.Message, problems: list[str]) -> Iterator[Leaf]:
    for count, part in enumerate(message.walk()):
        if count == MOST_PARTS:
            problems.append(f"the mail has more than {MOST_PARTS} parts")
            return
        if part.is_multipart():
            continue
        if not _is_short(part):
            problems.append(f"part {count} has headers of more than {_LONGEST_HEADER} characters")
            continue
        content_type = part.get_content_type()
        try:
            file_name = part.get_filename("") or ""
            charset = part.get_content_charset("") or ""
        except (LookupError, TypeError, ValueError):
            problems.append(f"part {count} has parameters that cannot be read")
            file_name = charset = ""
        file_name = decode_words(file_name)
        if not _may_hold_document(content_type, file_name):
            continue
        content = part.get_payload(decode=True)
        if isinstance(content, bytes):
            yield Leaf(content_type=content_type, content=content, file_name=file_name, charset=charset)


def _is_short(part: email.message.Message) -> bool:
    """Whether the headers that describe a part are short enough to parse."""
    return all(
        len(str(value)) <= _LONGEST_HEADER
        for name, value in part.raw_items()
        if name.lower() in {"content-type", "content-disposition", "content-transfer-encoding"}
    )


def _may_hold_document(content_type: str, file_name: str) -> bool:
    return content_type in {"application/json", "text/plain"} or _is_json_name(file_name)


def _is_json_name(file_name: str) -> bool:
    return file_name.strip().lower().endswith(".json")


def documents_of(leaves: Iterable[Leaf], problems: list[str]) -> Iterator[object]:
    """Yield the JSON values of a mail's leaves in reading order: attached documents, then texts that begin with ``{``.

    For each document that cannot be read, one line is added to ``problems``.
    """
    texts: list[Leaf] = []
    for leaf in leaves:
        if leaf.content_type == "application/json" or _is_json_name(leaf.file_name):
            yield from _document_of(leaf, problems)
        elif leaf.content_type == "text/plain" and leaf.content.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:1] == b"{":
            texts.append(leaf)
    for leaf in texts:
        yield from _document_of(leaf, problems)


def _document_of(leaf: Leaf, problems: list[str]) -> Iterator[object]:
    name = (leaf.file_name or leaf.content_type)[:60]
    if len(leaf.content) > MOST_DOCUMENT_BYTES:
        problems.append(f"{name!a} has {len(leaf.content)} bytes, the limit is {MOST_DOCUMENT_BYTES}")
        return
    known = _READ.find(leaf)
    if known is not None:
        yield known
        return
    text = _text_of(leaf)
    if text is None:
        problems.append(f"{name!a} is no text in a known character set")
        return
    if text.count(",") + text.count("[") + text.count("{") > MOST_DOCUMENT_VALUES:
        problems.append(f"{name!a} has more than {MOST_DOCUMENT_VALUES} values")
        return
    try:
        value = _json_of(text)
    except RecursionError:
        problems.append(f"{name!a} is more than {MOST_DOCUMENT_LEVELS} levels deep")
        return
    except ValueError as error:
        problems.append(f"{name!a} is no JSON: {str(error)[:100]}")
        return
    if text.count("[") + text.count("{") > MOST_DOCUMENT_LEVELS and _is_deeper(value, MOST_DOCUMENT_LEVELS):
        problems.append(f"{name!a} is more than {MOST_DOCUMENT_LEVELS} levels deep")
        return
    _READ.keep(leaf, value)
    yield value


class _DocumentsRead:
    """The objects that were read last, by the digest of their bytes: a broadcast reaches many mailboxes of one process.

    Nobody changes a document, so all of them may have the same one.
    """

    _LEAST, _MOST = 4_000, 8_000_000
    """Bytes of a document that is worth keeping, and of all that are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[bytes, str], tuple[dict[str, object], int]] = {}
        self._bytes = 0

    def find(self, leaf: Leaf) -> dict[str, object] | None:
        if len(leaf.content) < self._LEAST:
            return None
        found = self._kept.get(self._key(leaf))
        return found[0] if found is not None else None

    def keep(self, leaf: Leaf, value: object) -> None:
        size = len(leaf.content)
        if size < self._LEAST or not isinstance(value, dict):
            return
        with self._lock:
            former = self._kept.pop(self._key(leaf), None)
            self._bytes += size - (former[1] if former is not None else 0)
            self._kept[self._key(leaf)] = (value, size)
            while self._bytes > self._MOST:
                self._bytes -= self._kept.pop(next(iter(self._kept)))[1]

    def _key(self, leaf: Leaf) -> tuple[bytes, str]:
        return hashlib.sha256(leaf.content).digest(), leaf.charset


_READ = _DocumentsRead()


def _json_of(text: str) -> object:
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = json.loads(text)  # also accepts NaN and lone surrogates, and gives the error text
    return value


def _text_of(leaf: Leaf) -> str | None:
    """Return the text of a leaf: UTF-8 unless it declares another charset that fits (protocol 2.5)."""
    content = leaf.content
    charset = _known_charset(leaf.charset)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        order = ["utf-16"]
    elif charset is not None and charset.lower().replace("_", "").replace("-", "").startswith(("utf16", "utf32")):
        order = [charset]
    else:
        order = ["utf-8-sig", *([charset] if charset is not None else [])]
    for name in order:
        try:
            return content.decode(name)
        except (UnicodeError, LookupError):
            continue
    return None


def _known_charset(name: str | None) -> str | None:
    """Return ``name`` if it is a usual charset, else ``None``: some other codecs are very slow on hostile input."""
    if not name or len(name) > 40 or _CHARSET.fullmatch(name) is None:
        return None
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None


def _is_deeper(value: object, levels: int) -> bool:
    """Whether a JSON value nests more than ``levels`` objects and arrays."""
    layer = [value]
    for _ in range(levels):
        layer = [
            item
            for holder in layer
            if isinstance(holder, (dict, list))
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, (dict, list))
        ]
        if not layer:
            return False
    return True
