"""The mail in a call: base64 in the JSON document, or bytes sent to an upload address.

Two of the three upload forms exist: ``media`` (the body is the mail) and ``multipart`` (a document, then the mail).
"""

from __future__ import annotations

import re

from league_agents.sandbox.mail_view import decode_bytes
from league_agents.sandbox.refusal import SandboxRefusal, invalid
from league_agents.sandbox.request import SandboxRequest, read_document, text_of

_BOUNDARY = re.compile(r"boundary=(?:\"([^\"]{1,200})\"|([^;\s]{1,200}))", re.IGNORECASE)
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")


def mail_of(request: SandboxRequest, *, is_upload: bool) -> tuple[dict[str, object], bytes]:
    """The document and the mail's bytes. Raises ``SandboxRefusal``."""
    if is_upload:
        document, raw = _uploaded(request)
    else:
        document = request.document
        encoded = text_of(document, "raw") or ""
        decoded = decode_bytes(encoded)
        if decoded is None:
            raise invalid("Invalid value at 'message.raw' (TYPE_BYTES), Base64 decoding failed")
        raw = decoded
    if not raw.strip():
        raise invalid("'raw' RFC822 payload message string or uploading message via /upload/* URL required")
    return document, raw


def _uploaded(request: SandboxRequest) -> tuple[dict[str, object], bytes]:
    kind = request.text("uploadType")
    if kind == "media":
        return {}, request.body
    if kind == "multipart":
        parts = parts_of(request)
        if len(parts) != 2:
            raise SandboxRefusal(400, "badContent", "Malformed multipart body.")
        return read_document(parts[0][1]), parts[1][1]
    raise SandboxRefusal(
        501, "notImplemented", "This sandbox takes uploads of type media and multipart, not resumable ones."
    )


def parts_of(request: SandboxRequest, most: int = 10) -> list[tuple[bytes, bytes]]:
    """Headers and content of each part of a multipart body. Raises ``SandboxRefusal``."""
    found = _BOUNDARY.search(request.headers.get("content-type", ""))
    if found is None:
        raise SandboxRefusal(400, "badContent", "Missing multipart boundary.")
    boundary = re.escape((found[1] or found[2]).encode("latin-1", "replace"))
    pieces = re.split(rb"(?:\A|\r?\n)--" + boundary + rb"(--)?[ \t]*(?:\r?\n|\Z)", request.body, maxsplit=most + 2)
    # pieces: preamble, mark, part, mark, part, ..., closing mark, epilogue
    parts: list[tuple[bytes, bytes]] = []
    for place in range(1, len(pieces) - 1, 2):
        if pieces[place] is not None:
            return parts
        if len(parts) == most:
            raise SandboxRefusal(400, "badRequest", f"The batch or upload has more than {most} parts.")
        separated = _EMPTY_LINE.split(b"\n" + pieces[place + 1], maxsplit=1)
        parts.append((separated[0], separated[1] if len(separated) == 2 else b""))
    raise SandboxRefusal(400, "badContent", "Malformed multipart body.")
