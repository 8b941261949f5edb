"""The sandbox's own switches, under ``/sandbox/``: requests of a test or an operator that the Gmail API does not have.

No token is needed: the server listens on this machine only, and requests from pages of other origins are refused.
"""

from __future__ import annotations

import email.utils
from collections.abc import Callable, Mapping

from league_agents.kit.errors import ConfigError
from league_agents.sandbox.faults import read_fault
from league_agents.sandbox.mail_view import decode_bytes, encode_bytes
from league_agents.sandbox.mailbox import SandboxMailbox, StoredMail
from league_agents.sandbox.raw_mail import RawMail, addresses_in, is_address
from league_agents.sandbox.refusal import SandboxRefusal, invalid
from league_agents.sandbox.request import SandboxAnswer, SandboxRequest, json_answer, text_of, texts_of
from league_agents.sandbox.world import World


def report(world: World, _request: SandboxRequest) -> SandboxAnswer:
    return json_answer(report_document(world))


def report_document(world: World) -> dict[str, object]:
    """The account book and the number of mails that have not arrived yet."""
    return {
        **world.ledger.report(),
        "on_its_way": world.office.on_its_way,
        "now": world.clock.now().isoformat(),
        "mailboxes": {
            box.address: {"messages": len(box), "unread": box.count("UNREAD"), "sent": box.count("SENT")}
            for box in world.boxes.values()
        },
    }


def mail(world: World, request: SandboxRequest) -> SandboxAnswer:
    """All mail; ``account=`` chooses one mailbox, ``raw=true`` adds the bytes."""
    boxes = [_box(world, request.text("account"))] if request.text("account") else list(world.boxes.values())
    with_raw = request.flag("raw")
    return json_answer({"mail": [_shown(box, each, with_raw) for box in boxes for each in box.mails()]})


def _shown(box: SandboxMailbox, stored: StoredMail, with_raw: bool) -> dict[str, object]:
    view = stored.view
    document: dict[str, object] = {
        "account": box.address,
        "id": stored.mail_id,
        "threadId": stored.thread_id,
        "labelIds": stored.label_ids,
        "internalDate": str(stored.internal_ms),
        "from": view.header("from"),
        "to": view.header("to"),
        "subject": view.header("subject"),
        "size": len(stored.raw),
    }
    if with_raw:
        document["raw"] = encode_bytes(stored.raw)
    return document


def inject(world: World, request: SandboxRequest) -> SandboxAnswer:
    """Deliver a mail from the internet.

    JSON: ``to``, then ``raw`` (base64) or ``from``, ``subject``, ``text``, ``headers``; ``sender`` of the envelope,
    ``verdict``, ``labels``. Or the mail itself as ``message/rfc822``, with ``to=`` and ``labels=`` in the address.
    """
    if request.headers.get("content-type", "").split(";")[0].strip().lower() == "message/rfc822":
        document: Mapping[str, object] = {"to": request.texts("to"), "labels": request.texts("labels")}
        raw = request.body
    else:
        document = request.document
        raw = _raw_of(world, document)
    ids = world.office.inject(
        raw,
        to=_addressees(document),
        sender=text_of(document, "sender") or _sender_of(document),
        verdict=_verdict_of(document),
        labels=texts_of(document, "labels") or ["INBOX", "UNREAD"],
    )
    return json_answer({"ids": ids})


def _raw_of(world: World, document: Mapping[str, object]) -> bytes:
    encoded = text_of(document, "raw")
    if encoded is not None:
        raw = decode_bytes(encoded)
        if raw is None:
            raise invalid("raw is no base64")
        return raw
    headers = document.get("headers", {})
    if not isinstance(headers, dict):
        raise invalid("headers must be an object")
    fields = {
        "From": text_of(document, "from") or "",
        "To": ", ".join(_addressees(document)),
        "Subject": text_of(document, "subject") or "",
        "Date": email.utils.format_datetime(world.clock.now()),
        **headers,
        "Content-Type": "text/plain; charset=utf-8",
    }
    for name, value in fields.items():
        if not (isinstance(value, str) and value.isprintable() and name.isascii() and name.replace("-", "").isalnum()):
            raise invalid(f"header {name[:60]!a} must be one line of text; send raw for anything else")
    text = text_of(document, "text") or ""
    return RawMail(fields=(), body=text.encode("utf-8", "replace")).above(*fields.items()).to_bytes()


def _addressees(document: Mapping[str, object]) -> list[str]:
    to = document.get("to")
    return [to] if isinstance(to, str) else texts_of(document, "to")


def _sender_of(document: Mapping[str, object]) -> str:
    claimed = addresses_in([text_of(document, "from") or ""])
    return claimed[0] if claimed and is_address(claimed[0]) else "stranger@internet.invalid"


def _verdict_of(document: Mapping[str, object]) -> dict[str, str] | None:
    verdict = document.get("verdict")
    if verdict is None:
        return None
    if not isinstance(verdict, dict) or not all(isinstance(value, str) for value in verdict.values()):
        raise invalid('verdict must be an object such as {"spf": "fail", "dkim": "none", "dmarc": "fail"}')
    return verdict


def clock(world: World, _request: SandboxRequest) -> SandboxAnswer:
    return json_answer({"now": world.clock.now().isoformat(), "now_ms": world.clock.now_ms()})


def advance(world: World, request: SandboxRequest) -> SandboxAnswer:
    """Let ``advance_s`` seconds pass at once."""
    seconds = request.document.get("advance_s")
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        raise invalid("advance_s must be a number of seconds")
    world.clock.advance(float(seconds))
    world.catch_up()
    return clock(world, request)


def add_faults(world: World, request: SandboxRequest) -> SandboxAnswer:
    """Add one rule, or several under ``faults``."""
    rules = request.document.get("faults", [request.document])
    if not isinstance(rules, list):
        raise invalid("faults must be a list of rules")
    try:
        for fault in [read_fault(rule, where=f"fault {place}") for place, rule in enumerate(rules, start=1)]:
            world.plan.add(fault)
    except ConfigError as error:
        raise invalid(str(error)) from error
    return json_answer({"added": len(rules)})


def clear_faults(world: World, _request: SandboxRequest) -> SandboxAnswer:
    world.plan.clear()
    return json_answer({})


def withdraw(world: World, request: SandboxRequest) -> SandboxAnswer:
    """Withdraw every grant of ``account``, as its owner would."""
    world.authority.withdraw(_box(world, text_of(request.document, "account") or "").key)
    return json_answer({})


def expire(world: World, request: SandboxRequest) -> SandboxAnswer:
    """End the access tokens (``what: tokens``) or the history (``what: history``) of ``account``."""
    box = _box(world, text_of(request.document, "account") or "")
    what = text_of(request.document, "what")
    if what == "tokens":
        world.authority.expire_all(box.key)
    elif what == "history":
        box.history.expire(world.numbers)
    else:
        raise invalid("what must be tokens or history")
    return json_answer({})


def _box(world: World, account: str) -> SandboxMailbox:
    box = world.boxes.get(account.lower())
    if box is None:
        raise SandboxRefusal(404, "notFound", f"no account {account[:100]!a} in this sandbox")
    return box


DESK: Mapping[tuple[str, str], Callable[[World, SandboxRequest], SandboxAnswer]] = {
    ("GET", "/sandbox/report"): report,
    ("GET", "/sandbox/mail"): mail,
    ("POST", "/sandbox/inject"): inject,
    ("GET", "/sandbox/clock"): clock,
    ("POST", "/sandbox/clock"): advance,
    ("POST", "/sandbox/faults"): add_faults,
    ("DELETE", "/sandbox/faults"): clear_faults,
    ("POST", "/sandbox/withdraw"): withdraw,
    ("POST", "/sandbox/expire"): expire,
}
