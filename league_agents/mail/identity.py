"""Check the authenticity of a mail's sender, and whether the mail may be answered.

Rule 1: only headers of the receiving mail server count. Mail servers add headers at the top, so of all
``Authentication-Results`` headers only the topmost is read, and only if it carries our server's name (RFC 8601); any
other may have come with the mail.
Rule 2: if two statements of that header contradict each other, the worse one counts; one that cannot be parsed is
ignored.
Rule 3: automatic mail about another mail, and our own mail, is never answered, or two programs would mail each other
for ever. ``Auto-Submitted: auto-generated`` does not mark such mail: every message of the league carries it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from league_agents.league.wire.address import read_address, read_mailbox, same_address

GMAIL = "mx.google.com"
"""The name (authserv-id) of Gmail's receiving servers."""

JUDGED_BY = (
    "From",
    "Subject",
    "Authentication-Results",
    "Return-Path",
    "Content-Type",
    "Auto-Submitted",
    "Precedence",
    "X-Autoreply",
    "X-Autorespond",
    "X-Autoresponder",
    "X-Failed-Recipients",
)
"""The headers that ``judge`` reads: they suffice to judge a mail without its body."""

_LONGEST = 4_000
_NO_ANSWER = frozenset({"bulk", "junk", "auto_reply"})
_MACHINES = frozenset({"mailer-daemon", "postmaster"})
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"|([^"\s;=]+)|([;=])|(\s+)')
_NOTICE = re.compile(r"undeliver|not delivered|delivery|returned mail|failure notice", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;:<>()\"']+")
_METHOD = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,30})(?:/[0-9]+)?", re.ASCII)


class Require(StrEnum):
    """The evidence required of a sender's identity."""

    NOTHING = "nothing"
    """Believe the ``From`` header. For a local server only."""

    NO_FAILURE = "no_failure"
    """Refuse mail that the receiving server found forged; accept mail without a result."""

    PASS = "pass"  # noqa: S105 - no password
    """Accept only mail that the receiving server found to be from the domain of the ``From`` header."""


class Result(StrEnum):
    """The receiving server's result for the domain of the ``From`` header."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    UNKNOWN = "unknown"
    """There is no result, or none for this domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailVerdict:
    """Whether a mail is accepted, and why not."""

    accepted: bool
    reason: str = ""
    """The reason for a refusal, in one line."""

    sender: str | None = None
    """The address of the ``From`` header; ``None`` unless it names exactly one. Trustworthy only if accepted."""

    result: Result = Result.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """One statement, such as ``dkim=pass header.d=example.com``."""

    method: str
    result: str
    properties: Mapping[str, str]


def judge(
    headers: Mapping[str, str],
    from_header: str,
    *,
    own_address: str,
    authserv_id: str = GMAIL,
    require: Require = Require.PASS,
) -> MailVerdict:
    """Judge a mail by its headers. ``headers`` has names in lower case and the topmost header of each name.

    Never raises, even for hostile headers.
    """
    sender = read_mailbox(from_header)
    if sender is None:
        return MailVerdict(accepted=False, reason=f"the From header {from_header[:100]!a} does not name one address")
    loop = _loop(headers, sender, own_address)
    if loop is not None:
        return MailVerdict(accepted=False, reason=loop, sender=sender)
    result = authenticated(headers.get("authentication-results", ""), sender, authserv_id=authserv_id)
    if require is Require.NOTHING or result is Result.PASS:
        return MailVerdict(accepted=True, sender=sender, result=result)
    if result is Result.FAIL:
        reason = f"{authserv_id} found that the mail is not from {sender}"
        return MailVerdict(accepted=False, reason=reason, sender=sender, result=result)
    if require is Require.NO_FAILURE:
        return MailVerdict(accepted=True, sender=sender, result=result)
    reason = f"{authserv_id} does not confirm that the mail is from {sender}"
    return MailVerdict(accepted=False, reason=reason, sender=sender, result=result)


def _loop(headers: Mapping[str, str], sender: str, own_address: str) -> str | None:
    """Return the reason not to answer this mail; ``None`` if it may be answered."""
    if same_address(sender, own_address):
        return "it is from this mailbox itself"
    local_part = sender.rpartition("@")[0].lower()
    if local_part in _MACHINES:
        return f"it is a notice of a mail server ({sender})"
    if headers.get("return-path", "").strip() == "<>" or headers.get("content-type", "").lower().startswith(
        "multipart/report"
    ):
        return "it is a delivery report"
    submitted = headers.get("auto-submitted", "").partition(";")[0].partition("(")[0].strip().lower()
    if submitted not in {"", "no", "auto-generated"}:
        return f"it is an automatic answer (Auto-Submitted: {submitted[:40]!a})"
    precedence = headers.get("precedence", "").strip().lower()
    if precedence in _NO_ANSWER:
        return f"it is automatic mail (Precedence: {precedence})"
    for name in ("x-autoreply", "x-autorespond", "x-autoresponder"):
        if headers.get(name, "no").strip().lower() not in {"", "no", "false"}:
            return f"it is an automatic answer ({name})"
    return None


def not_delivered_to(headers: Mapping[str, str], from_header: str, subject: str) -> tuple[str, ...] | None:
    """Return the failed recipients that a mail server's notice names; ``()`` if it names none.

    Return ``None`` for any other mail. A postmaster may be a person, so its mail must also look like a notice.
    """
    sender = read_mailbox(from_header)
    local_part = "" if sender is None else sender.rpartition("@")[0].lower()
    if sender is None or local_part not in _MACHINES:
        return None
    failed = headers.get("x-failed-recipients", "")[:_LONGEST]
    is_report = headers.get("content-type", "").lower().startswith("multipart/report")
    if local_part == "postmaster" and not failed and not is_report and _NOTICE.search(subject[:_LONGEST]) is None:
        return None
    found: dict[str, None] = {}
    for word in _BETWEEN.split(failed or subject[:_LONGEST]):
        address = read_address(word.rstrip(".")) if "@" in word else None
        if address is not None:
            found.setdefault(address)
    return tuple(found)


def authenticated(header: str, sender: str, *, authserv_id: str = GMAIL) -> Result:
    """Return the result of the receiving server's ``Authentication-Results`` header for the domain of ``sender``.

    A DMARC result for this domain decides; without one, a DKIM signature or an SPF pass of the same domain does.
    """
    findings = _findings(header, authserv_id)
    if not findings:
        return Result.UNKNOWN
    domain = sender.rpartition("@")[2].lower()
    dmarc = [
        finding.result
        for finding in findings
        if finding.method == "dmarc" and _same_house(finding.properties.get("header.from", ""), domain)
    ]
    if any(result != "none" for result in dmarc):
        if all(result == "pass" for result in dmarc):
            return Result.PASS
        return Result.FAIL if "fail" in dmarc else Result.UNKNOWN
    aligned = [
        finding.result
        for finding in findings
        if (finding.method == "dkim" and _same_house(_signer(finding), domain))
        or (finding.method == "spf" and _same_house(_domain_of(finding.properties.get("smtp.mailfrom", "")), domain))
    ]
    if "pass" in aligned:
        return Result.PASS
    return Result.FAIL if "fail" in aligned else Result.UNKNOWN


def _signer(finding: _Finding) -> str:
    return finding.properties.get("header.d", "") or _domain_of(finding.properties.get("header.i", ""))


def _domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def _same_house(found: str, domain: str) -> bool:
    """Whether two domains are the same or one is under the other (relaxed alignment). No top-level domain counts."""
    found = found.lower().rstrip(".")
    if found == domain:
        return bool(found)
    shorter, longer = sorted((found, domain), key=len)
    return "." in shorter and longer.endswith(f".{shorter}") and read_address(f"x@{shorter}") is not None


def _findings(header: str, authserv_id: str) -> list[_Finding]:
    """Return the statements of a header; none if it is not our server's or cannot be parsed."""
    text = _without_comments(header[:_LONGEST]) if len(header) <= _LONGEST else None
    if text is None:
        return []
    statements = _statements(text)
    if not statements:
        return []
    name, *rest = statements
    # ``mx.google.com`` or ``mx.google.com 1`` (RFC 8601, 2.2)
    if not name or len(name) > 2 or name[0].lower() != authserv_id.lower() or "=" in name:
        return []
    return [finding for words in rest if (finding := _finding(words)) is not None]


def _without_comments(text: str) -> str | None:
    """Remove comments. Return ``None`` if a comment or a quoted text is not closed, so that no statement is certain."""
    kept: list[str] = []
    depth = 0
    is_quoted = False
    characters = iter(text)
    for character in characters:
        if character == "\\" and (depth or is_quoted):
            following = next(characters, None)
            if following is None:
                return None
            if not depth:
                kept += [character, following]
        elif depth:
            depth += (character == "(") - (character == ")")
        elif character == '"':
            is_quoted = not is_quoted
            kept.append(character)
        elif is_quoted:
            kept.append(character)
        elif character == "(":
            depth = 1
            kept.append(" ")
        elif character == ")":
            return None
        else:
            kept.append(character)
    return None if depth or is_quoted else "".join(kept)


def _statements(text: str) -> list[list[str]]:
    """Split at semicolons into words. ``=`` is a word; adjacent quoted and unquoted text form one word."""
    statements: list[list[str]] = [[]]
    touches = False
    for piece in _PIECE.finditer(text):
        quoted, bare, mark, _space = piece.groups()
        if mark == ";":
            statements.append([])
            touches = False
        elif mark == "=":
            statements[-1].append("=")
            touches = False
        elif quoted is not None or bare is not None:
            # Keep the quotation marks, so that quoted text never equals a domain or a result.
            word = f'"{quoted}"' if quoted is not None else bare
            if touches:
                statements[-1][-1] += word
            else:
                statements[-1].append(word)
            touches = True
        else:
            touches = False
    return statements


def _finding(words: list[str]) -> _Finding | None:
    if len(words) < 3 or words[1] != "=":
        return None
    method = _METHOD.fullmatch(words[0])
    if method is None:
        return None
    properties: dict[str, str] = {}
    for index in range(4, len(words) - 1):
        if words[index] == "=":
            properties.setdefault(words[index - 1].lower(), _unquoted(words[index + 1]))
    return _Finding(method=method[1].lower(), result=words[2].lower(), properties=properties)


def _unquoted(word: str) -> str:
    """Return ``"@example.com"`` without its quotation marks; any other text unchanged."""
    inner = word[1:-1]
    return inner if len(word) > 1 and word[0] == word[-1] == '"' and not set(inner) & set('"\\ ;=') else word
