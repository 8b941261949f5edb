"""Several calls in one request, in the format of Google's batch endpoint.

Rule: the calls are independent: each is charged, fails and is counted alone, and its answer has the call's
``Content-ID`` with ``response-`` in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from league_agents.kit.ids import derive_hex
from league_agents.sandbox.refusal import SandboxRefusal
from league_agents.sandbox.request import SandboxAnswer, SandboxRequest
from league_agents.sandbox.upload import parts_of

MOST_CALLS = 100
_REQUEST_LINE = re.compile(rb"([A-Z]{1,10}) (\S{1,4000})(?: HTTP/1\.[01])?[ \t]*\r?(?:\n|\Z)")
_HEADER = re.compile(rb"^([!-9;-~]{1,200}):[ \t]*([^\r\n]{0,8000})", re.MULTILINE)
_EMPTY_LINE = re.compile(rb"\r?\n\r?\n")


def read_batch(request: SandboxRequest) -> list[tuple[str, SandboxRequest]]:
    """The calls of a batch, each with its ``Content-ID`` or an empty text. Raises ``SandboxRefusal``."""
    calls = []
    for head, content in parts_of(request, most=MOST_CALLS):
        content_id = _headers(head).get("content-id", "")
        found = _REQUEST_LINE.match(content.lstrip(b"\r\n"))
        if found is None:
            raise SandboxRefusal(
                400, "badRequest", "Failed to parse batch request, error: Failed in parsing HTTP payload."
            )
        rest = b"\n" + content.lstrip(b"\r\n")[found.end() :]
        separated = _EMPTY_LINE.split(rest, maxsplit=1)
        address = urlsplit(found[2].decode("latin-1"))
        body = separated[1] if len(separated) == 2 else b""
        headers = _headers(separated[0])
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit():
            body = body[: int(length[:10])]
        calls.append(
            (
                content_id,
                SandboxRequest(
                    verb=found[1].decode("ascii"),
                    path=address.path,
                    query=parse_qs(address.query, max_num_fields=2_000),
                    headers=headers,
                    body=body.strip(),
                ),
            )
        )
    return calls


def batch_answer(answers: Sequence[tuple[str, SandboxAnswer]]) -> SandboxAnswer:
    """The answers of a batch as one answer."""
    digest = derive_hex("batch", *(answer.body for _, answer in answers), digits=32)
    boundary = f"batch_{digest}"
    parts = []
    for content_id, answer in answers:
        name = re.sub(r"\A<?", "<response-", content_id, count=1)
        named = f"Content-ID: {name}\r\n" if content_id else ""
        headers = "".join(f"{header}: {value}\r\n" for header, value in answer.headers.items())
        parts.append(
            (
                f"--{boundary}\r\nContent-Type: application/http\r\n{named}\r\n"
                f"HTTP/1.1 {answer.code} {HTTPStatus(answer.code).phrase}\r\n{headers}"
                f"Content-Length: {len(answer.body)}\r\n\r\n"
            ).encode("latin-1", "replace")
            + answer.body
            + b"\r\n"
        )
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    return SandboxAnswer(body=body, headers={"Content-Type": f"multipart/mixed; boundary={boundary}"})


def _headers(text: bytes) -> dict[str, str]:
    return {name.decode("ascii").lower(): value.decode("latin-1").strip() for name, value in _HEADER.findall(text)}
