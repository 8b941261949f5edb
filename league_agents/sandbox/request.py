"""One call and its answer as the methods see them: no sockets, no threads.

Rule: every parameter is read through a function that refuses invalid values, in Google's words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from league_agents.sandbox.refusal import SandboxRefusal, invalid

MOST_BODY_BYTES = 37_000_000
"""A mail of 35 MiB as an upload, with some overhead. Inside JSON a mail can have three quarters of that."""

JSON_TYPE = "application/json; charset=UTF-8"
_MOST_PARAMETERS = 1_000


@dataclass(frozen=True, kw_only=True)
class SandboxRequest:
    """What a client sent."""

    verb: str
    path: str
    """The path without the query, still percent-encoded."""

    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header names are in lower case."""

    body: bytes = b""

    def text(self, name: str, default: str = "") -> str:
        """The last value of a parameter."""
        values = self.query.get(name)
        return values[-1] if values else default

    def texts(self, name: str) -> list[str]:
        """All values of a repeated parameter."""
        return [value for value in self.query.get(name, ()) if value][:_MOST_PARAMETERS]

    def flag(self, name: str) -> bool:
        """A Boolean parameter. Raises ``SandboxRefusal``."""
        value = self.text(name, "false").lower()
        if value not in ("true", "false", "1", "0"):
            raise invalid(f"Invalid value at '{name}' (TYPE_BOOL), {value[:40]!a}")
        return value in ("true", "1")

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1; larger ones count as ``most``, as in Gmail. Raises ``SandboxRefusal``."""
        value = self.text(name, str(default))
        if not (value.isascii() and value.isdigit() and len(value) <= 10):
            raise invalid(f"Invalid value at '{name}' (TYPE_UINT32), {value[:40]!a}")
        return min(max(1, int(value)), most)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of ``choices``; the first is the default. Raises ``SandboxRefusal``."""
        value = self.text(name, choices[0])
        found = next((choice for choice in choices if choice.lower() == value.lower()), None)
        if found is None:
            raise invalid(f"Invalid value at '{name}' (TYPE_ENUM), {value[:40]!a}")
        return found

    @property
    def bearer(self) -> str | None:
        """The access token of the request; ``None`` if there is none."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
        return self.text("access_token") or self.text("oauth_token") or None

    @cached_property
    def document(self) -> dict[str, object]:
        """The JSON object in the body. Raises ``SandboxRefusal``."""
        return read_document(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxAnswer:
    """The answer to a client."""

    code: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def read_document(body: bytes) -> dict[str, object]:
    """Parse a body as a JSON object; an empty body is an empty object. Raises ``SandboxRefusal``."""
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        # The value itself may be a user's mail: only its place is named.
        place = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise SandboxRefusal(400, "parseError", f"Invalid JSON payload received. Parse Error{place}.") from None
    if not isinstance(value, dict):
        raise SandboxRefusal(400, "parseError", "Invalid JSON payload received. Root element must be a message.")
    return value


def text_of(document: Mapping[str, object], name: str) -> str | None:
    """A text in a document; ``None`` when it is absent. Raises ``SandboxRefusal``."""
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(f"Invalid value at '{name}' (TYPE_STRING)")
    return value or None


def texts_of(document: Mapping[str, object], name: str) -> list[str]:
    """A list of texts in a document. Raises ``SandboxRefusal``."""
    value = document.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise invalid(f"Invalid value at '{name}' (TYPE_STRING list)")
    return value


def json_answer(document: object, *, code: int = 200, headers: Mapping[str, str] | None = None) -> SandboxAnswer:
    """An answer with a JSON document."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return SandboxAnswer(code=code, body=body, headers={"Content-Type": JSON_TYPE, **(headers or {})})


def html_answer(page: str, *, code: int = 200) -> SandboxAnswer:
    """An answer with a page, which may neither run scripts nor be framed."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
    return SandboxAnswer(code=code, body=page.encode("utf-8", "replace"), headers=headers)


def refusal_answer(refused: SandboxRefusal) -> SandboxAnswer:
    """An answer that refuses the call."""
    return json_answer(refused.document(), code=refused.code, headers=refused.headers())
