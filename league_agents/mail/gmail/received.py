"""Convert an answer of ``messages.get`` into a ``Mail``. Never raises, even for hostile mail."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from league_agents.league.wire.subject import parse_subject
from league_agents.mail import mime
from league_agents.mail.identity import not_delivered_to
from league_agents.mail.port import Mail

_MARK = re.compile(r"league\.v2|q21g", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A mail and what is known of it besides."""

    mail: Mail
    size: int
    """Raw size in bytes, to which its size in memory is related."""

    labels: frozenset[str]

    @property
    def may_be_protocol_mail(self) -> bool:
        """Whether the league could have anything to do with it (protocol 2.4). Mail that came back has."""
        mail = self.mail
        if mail.documents or mail.problems or _MARK.search(mail.subject):
            return True
        return not_delivered_to(mail.headers, mail.from_header, mail.subject) is not None


def read_raw(answer: Mapping[str, Any]) -> Received:
    """A mail that was asked for with ``format=raw``."""
    raw = answer.get("raw")
    encoded = raw if isinstance(raw, str) else ""
    try:
        content = base64.urlsafe_b64decode(encoded + "==")
    except (ValueError, binascii.Error):
        content = b""
    parsed = mime.read(content)
    problems = parsed.problems if content else ("Gmail's copy of the mail cannot be decoded",)
    return Received(
        mail=Mail(
            mail_id=str(answer.get("id", "")),
            arrived_at=arrived_at(answer),
            from_header=parsed.from_header,
            subject=parsed.subject,
            documents=parsed.documents,
            headers=parsed.headers,
            problems=problems,
        ),
        size=len(content),
        labels=labels_of(answer),
    )


def read_headers(answer: Mapping[str, Any], *, problem: str = "") -> Received:
    """A mail that was asked for with ``format=metadata``; ``problem`` is why not all of it was."""
    headers: dict[str, str] = {}
    senders: list[str] = []
    for name, value in headers_of(answer):
        if name == "from":
            senders.append(value)
        headers.setdefault(name, value)
    subject = mime.decode_words(headers.get("subject", ""))
    mail = Mail(
        mail_id=str(answer.get("id", "")),
        arrived_at=arrived_at(answer),
        from_header=", ".join(senders),
        subject=subject,
        documents=(),
        headers=headers,
        problems=(problem,) if problem else (),
    )
    return Received(mail=mail, size=0, labels=labels_of(answer))


def headers_of(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The headers of ``format=metadata``, names in lower case."""
    payload = answer.get("payload")
    headers = payload.get("headers") if isinstance(payload, Mapping) else None
    return [
        (item["name"].lower(), item["value"][:4_000])
        for item in (headers[:500] if isinstance(headers, list) else ())
        if isinstance(item, Mapping) and isinstance(item.get("name"), str) and isinstance(item.get("value"), str)
    ]


def transaction_ids_of(answer: Mapping[str, Any]) -> frozenset[str]:
    """The transaction ids that a sent mail carries, in its own header and in its subject."""
    found = set()
    for name, value in headers_of(answer):
        if name == "x-league-message-id":
            found.add(value.strip())
        elif name == "subject":
            parts = value.split("::")
            if len(parts) >= 5:
                found.add(parts[3].strip())
            parsed = parse_subject(value)
            if parsed is not None and parsed.transaction_id is not None:
                found.add(parsed.transaction_id)
    return frozenset(found)


def labels_of(answer: Mapping[str, Any]) -> frozenset[str]:
    """The ids of a mail's labels."""
    labels = answer.get("labelIds")
    return frozenset(label for label in labels if isinstance(label, str)) if isinstance(labels, list) else frozenset()


def arrived_at(answer: Mapping[str, Any]) -> datetime:
    """Gmail's internal date: milliseconds since 1970, as a text."""
    try:
        return datetime.fromtimestamp(int(answer.get("internalDate", 0)) / 1000, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
