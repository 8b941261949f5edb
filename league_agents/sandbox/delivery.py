"""Mail delivery between the accounts of a sandbox.

Rule 1: the sender is the signed-in account. ``From`` is forced to it, ``Message-ID`` is the server's, as Gmail does,
and a sender's claims about its own authentication stand below the receiving server's verdict.
Rule 2: one mail in Sent, one in each recipient's inbox; a mail to oneself is a single mail in both and never in
transit, so no server has judged it.
Rule 3: mailer-daemon answers mail to an unknown address.
"""

from __future__ import annotations

import email.utils
import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from league_agents.kit.ids import derive_hex
from league_agents.sandbox.accounting import SandboxAccounts
from league_agents.sandbox.faults import DELIVERY, Fault, FaultAction, FaultPlan
from league_agents.sandbox.history import Numbers
from league_agents.sandbox.mailbox import SandboxMailbox, StoredMail
from league_agents.sandbox.raw_mail import (
    LONGEST_HEADER,
    RawMail,
    addresses_in,
    is_address,
    read_raw,
    with_network_line_ends,
)
from league_agents.sandbox.refusal import SandboxRefusal, invalid, not_found
from league_agents.sandbox.state import SandboxState
from league_agents.sandbox.timekeeping import SandboxClock

AUTHORITY = "mx.google.com"
"""The authentication server in ``Authentication-Results``: the name that Gmail's own servers write there."""

MOST_RECIPIENTS = 500
MOST_MAIL_BYTES = 36_700_160
REORDER_WAIT_S = 30.0
TRANSACTION_HEADER = "X-League-Message-ID"

_VERDICT = re.compile(r"[a-z]{1,20}")
_DOMAIN = re.compile(r"[A-Za-z0-9.-]{1,253}")
_FOLD = "\r\n       "


@dataclass(frozen=True, slots=True, order=True)
class OnItsWay:
    """A mail that arrives later."""

    due_ms: int
    number: int
    recipient: str = field(compare=False)
    raw: bytes = field(compare=False, repr=False)
    labels: tuple[str, ...] = field(compare=False)
    skew_ms: int = field(compare=False, default=0)
    unlisted_ms: int = field(compare=False, default=0)
    own_mail_id: str = field(compare=False, default="")
    """For a mail to oneself: the mail in Sent that gets the inbox labels."""

    waits_for_next: bool = field(compare=False, default=False)
    """Arrives right after the next mail for the same account."""

    is_withheld: bool = field(compare=False, default=False)
    """Whether the history omits its arrival."""


class SandboxPostOffice:
    """Accepts mail from accounts and from the internet, and delivers it."""

    def __init__(
        self,
        boxes: Mapping[str, SandboxMailbox],
        clock: SandboxClock,
        numbers: Numbers,
        plan: FaultPlan,
        ledger: SandboxAccounts,
        state: SandboxState,
    ) -> None:
        self._boxes = boxes
        self._clock = clock
        self._numbers = numbers
        self._plan = plan
        self._ledger = ledger
        self._state = state
        self._waiting: list[OnItsWay] = []
        raws = state.load("late-raw")
        for key, stored in state.load("late").items():
            raw = raws[key]
            assert isinstance(stored, list)
            assert isinstance(raw, bytes)
            due, number, recipient, labels, *rest = stored
            heapq.heappush(self._waiting, OnItsWay(due, number, recipient, raw, tuple(labels), *rest))

    @property
    def on_its_way(self) -> int:
        """The number of mails that have not arrived yet."""
        return len(self._waiting)

    def send(
        self, box: SandboxMailbox, raw: bytes, *, thread_id: str | None, faults: Sequence[Fault] = ()
    ) -> StoredMail:
        """Accept a mail from an account. Return the mail in Sent. Raises ``SandboxRefusal``."""
        if len(raw) > MOST_MAIL_BYTES:
            raise SandboxRefusal(413, "uploadTooLarge", f"Message too large: the limit is {MOST_MAIL_BYTES} bytes")
        mail = read_raw(with_network_line_ends(raw))
        recipients = _recipients(mail)
        if thread_id is not None and not box.has_thread(thread_id):
            raise not_found()
        self._ledger.check_day(box.key)
        now_ms = self._clock.now_ms()
        written = self._as_sent(box, mail)
        fates = {
            address.lower(): self._plan.strikes(DELIVERY, address)
            for address in recipients
            if address.lower() in self._boxes
        }
        to_self = fates.pop(box.key, None)
        unlisted_ms = sum(round(fault.seconds * 1000) for fault in faults if fault.action is FaultAction.UNLISTED)
        labels = {"SENT"}
        if to_self is not None and _arrives_at_once(to_self):
            labels |= set(_arrival_labels(to_self))
            self._ledger.arrived(box.key)
        stored = box.add(
            written.to_bytes(),
            labels,
            at_ms=now_ms + (_skew_ms(to_self) if to_self is not None else 0),
            now_ms=now_ms,
            thread_id=thread_id,
            listed_from_ms=now_ms + unlisted_ms if unlisted_ms else 0,
        )
        self._ledger.accepted(box.key, transaction_of(mail))
        if to_self is not None:
            self._deliver_to_self(box, stored, to_self)
        if fates:
            carried = written.without("Bcc")
            for key, struck in fates.items():
                self._deliver(key, self._as_received(carried, key, box.key, _passed(box.key)), struck)
        for address in recipients:
            if address.lower() not in self._boxes:
                self._bounce(box, written, address)
        return stored

    def inject(
        self, raw: bytes, *, to: Sequence[str], sender: str, verdict: Mapping[str, str] | None, labels: Sequence[str]
    ) -> list[str]:
        """Deliver a mail from the internet. Return its new ids, one for each recipient. Raises ``SandboxRefusal``.

        ``verdict`` is the receiving server's result (``spf``, ``dkim``, ``dmarc``; ``domain`` for the signature's);
        ``None`` writes no verdict.
        """
        if len(raw) > MOST_MAIL_BYTES:
            raise SandboxRefusal(413, "uploadTooLarge", f"Message too large: the limit is {MOST_MAIL_BYTES} bytes")
        boxes = []
        for address in to:
            if address.lower() not in self._boxes:
                raise invalid(f"no account {address[:100]!a} in this sandbox")
            boxes.append(self._boxes[address.lower()])
        if not boxes:
            raise invalid("to must name at least one account")
        if not is_address(sender):
            raise invalid(f"sender {sender[:100]!a} is no mail address")
        mail = read_raw(raw)
        results = None if verdict is None else _results(verdict, sender, mail)
        ids = []
        now_ms = self._clock.now_ms()
        for box in boxes:
            box.labels.check_change(labels, [])
            arrived = self._as_received(mail, box.key, sender, results)
            ids.append(box.add(arrived, labels, at_ms=now_ms, now_ms=now_ms).mail_id)
            self._ledger.arrived(box.key)
        return ids

    def deliver_due(self) -> None:
        """Deliver all mail that is due."""
        now_ms = self._clock.now_ms()
        while self._waiting and self._waiting[0].due_ms <= now_ms:
            late = heapq.heappop(self._waiting)
            self._arrive(late, late.due_ms)

    def _as_sent(self, box: SandboxMailbox, mail: RawMail) -> RawMail:
        """The mail in its Sent form."""
        now = self._clock.now()
        claimed = mail.values("from")
        names = [name for value in claimed for name, _ in email.utils.getaddresses([value[:LONGEST_HEADER]]) if name]
        number = self._numbers.history
        if len(claimed) == 1 and addresses_in(claimed) and addresses_in(claimed)[0].lower() == box.key:
            kept = mail
        else:
            clean = re.sub(r"[^\w .-]", "", names[0])[:100].strip() if names else ""
            sender = f'"{clean}" <{box.address}>' if clean and clean.isascii() else box.address
            kept = mail.without("From").above(("From", sender))
        kept = kept.without("Message-ID", "Return-Path", "Delivered-To")
        added = [("Message-ID", f"<CA{derive_hex(box.key, 'sent', number, digits=40)}@mail.gmail.com>")]
        if not mail.values("date"):
            added.append(("Date", email.utils.format_datetime(now)))
        return kept.above(*added).below(
            ("Received", f"from sandbox named unknown by gmailapi.google.com with HTTPREST; {_stamp(self._clock)}")
        )

    def _as_received(self, mail: RawMail, recipient: str, sender: str, results: str | None) -> bytes:
        hop = f"by {AUTHORITY} with ESMTPS id {derive_hex(recipient, 'hop', self._numbers.history, digits=16)}"
        return mail.below(
            ("Delivered-To", recipient),
            ("Return-Path", f"<{sender}>"),
            *([] if results is None else [("Authentication-Results", results)]),
            ("Received", f"{hop} for <{recipient}>; {_stamp(self._clock)}"),
        ).to_bytes()

    def _deliver(self, recipient: str, raw: bytes, struck: Sequence[Fault], own_mail_id: str = "") -> None:
        """Deliver one mail to one account, subject to the faults ``struck``."""
        actions = {fault.action for fault in struck}
        if FaultAction.LOSE in actions:
            return
        now_ms = self._clock.now_ms()
        late_ms = sum(round(fault.seconds * 1000) for fault in struck if fault.action is FaultAction.LATE)
        held_s = [fault.seconds or REORDER_WAIT_S for fault in struck if fault.action is FaultAction.REORDER]
        unlisted_ms = sum(round(fault.seconds * 1000) for fault in struck if fault.action is FaultAction.UNLISTED)
        for _ in range(2 if FaultAction.DUPLICATE in actions else 1):
            mail = OnItsWay(
                due_ms=now_ms + late_ms + round(1000 * max(held_s, default=0)),
                number=self._numbers.next_mail(),
                recipient=recipient,
                raw=raw,
                labels=_arrival_labels(struck),
                skew_ms=_skew_ms(struck),
                unlisted_ms=unlisted_ms,
                own_mail_id=own_mail_id,
                waits_for_next=bool(held_s),
                is_withheld=FaultAction.WITHHELD in actions,
            )
            own_mail_id = ""
            if mail.due_ms > now_ms:
                self._hold(mail)
            else:
                self._arrive(mail, now_ms, is_held=False)

    def _deliver_to_self(self, box: SandboxMailbox, stored: StoredMail, struck: Sequence[Fault]) -> None:
        if not _arrives_at_once(struck):
            self._deliver(box.key, stored.raw, struck, own_mail_id=stored.mail_id)
        elif any(fault.action is FaultAction.DUPLICATE for fault in struck):
            once = [fault for fault in struck if fault.action is not FaultAction.DUPLICATE]
            self._deliver(box.key, stored.raw, once)
        else:
            self._release(box.key)

    def _hold(self, mail: OnItsWay) -> None:
        heapq.heappush(self._waiting, mail)
        key = f"{mail.number:012d}"
        self._state.put("late-raw", key, mail.raw)
        kept = [mail.due_ms, mail.number, mail.recipient, mail.labels, mail.skew_ms, mail.unlisted_ms]
        self._state.put("late", key, [*kept, mail.own_mail_id, mail.waits_for_next, mail.is_withheld])

    def _arrive(self, mail: OnItsWay, at_ms: int, *, is_held: bool = True) -> None:
        box = self._boxes.get(mail.recipient)
        if is_held:
            self._state.drop("late", f"{mail.number:012d}")
            self._state.drop("late-raw", f"{mail.number:012d}")
        if box is None:
            return  # the account is no longer served
        now_ms = self._clock.now_ms()
        if mail.own_mail_id and box.holds(mail.own_mail_id):
            box.change_labels(box.find(mail.own_mail_id), mail.labels, (), now_ms=now_ms)
        else:
            box.add(
                mail.raw,
                mail.labels,
                at_ms=at_ms + mail.skew_ms,
                now_ms=now_ms,
                listed_from_ms=at_ms + mail.unlisted_ms if mail.unlisted_ms else 0,
                is_withheld=mail.is_withheld,
            )
        self._ledger.arrived(box.key)
        if not mail.waits_for_next:
            self._release(box.key)

    def _release(self, recipient: str) -> None:
        """Deliver the mails that only waited for another one to overtake them."""
        freed = sorted(mail for mail in self._waiting if mail.waits_for_next and mail.recipient == recipient)
        if freed:
            self._waiting = [mail for mail in self._waiting if mail not in freed]
            heapq.heapify(self._waiting)
            for mail in freed:
                self._arrive(mail, self._clock.now_ms())

    def _bounce(self, box: SandboxMailbox, written: RawMail, address: str) -> None:
        """Tell the sender that the address does not exist."""
        from_daemon = "mailer-daemon@googlemail.com"
        boundary = f"bounce{derive_hex(box.key, address, self._numbers.history, digits=24)}"
        headers = b"".join(field.raw for field in written.without("Bcc").fields)
        body = (
            f"--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
            f"** Address not found **\r\n\r\nYour message wasn't delivered to {address} because the address couldn't be"
            " found, or is unable to receive mail.\r\n"
            f"--{boundary}\r\nContent-Type: message/delivery-status\r\n\r\n"
            f"Reporting-MTA: dns; {AUTHORITY}\r\n\r\nFinal-Recipient: rfc822; {address}\r\nAction: failed\r\n"
            "Status: 5.1.1\r\nDiagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not"
            f" exist.\r\n--{boundary}\r\nContent-Type: text/rfc822-headers\r\n\r\n"
        ).encode() + headers + f"\r\n--{boundary}--\r\n".encode()  # fmt: skip
        notice = RawMail(fields=(), body=body).above(
            ("From", f"Mail Delivery Subsystem <{from_daemon}>"),
            ("To", box.address),
            ("Auto-Submitted", "auto-replied"),
            ("Subject", "Delivery Status Notification (Failure)"),
            ("X-Failed-Recipients", address),
            ("References", written.first("message-id")),
            ("In-Reply-To", written.first("message-id")),
            ("Message-ID", f"<{boundary}@mx.google.com>"),
            ("Date", _stamp(self._clock)),
            ("MIME-Version", "1.0"),
            ("Content-Type", f'multipart/report; report-type=delivery-status; boundary="{boundary}"'),
        )
        now_ms = self._clock.now_ms()
        raw = self._as_received(notice, box.key, from_daemon, _passed(from_daemon))
        box.add(raw, ("INBOX", "UNREAD"), at_ms=now_ms, now_ms=now_ms)
        self._ledger.arrived(box.key)


def transaction_of(mail: RawMail) -> str:
    """The id of a mail among all that its sender sends; an empty text when the mail has none."""
    return mail.first(TRANSACTION_HEADER)[:200]


def _recipients(mail: RawMail) -> list[str]:
    found = addresses_in(value for name in ("to", "cc", "bcc") for value in mail.values(name))
    if not found:
        if any(mail.values(name) for name in ("to", "cc", "bcc")):
            raise invalid("Invalid To header")
        raise invalid("Recipient address required")
    if len(found) > MOST_RECIPIENTS:
        raise invalid(f"Too many recipients: at most {MOST_RECIPIENTS}")
    return found


def _arrives_at_once(struck: Sequence[Fault]) -> bool:
    return not {fault.action for fault in struck} & {FaultAction.LOSE, FaultAction.LATE, FaultAction.REORDER}


def _arrival_labels(struck: Sequence[Fault]) -> tuple[str, ...]:
    is_spam = any(fault.action is FaultAction.SPAM for fault in struck)
    return ("SPAM", "UNREAD") if is_spam else ("INBOX", "UNREAD")


def _skew_ms(struck: Sequence[Fault]) -> int:
    return sum(round(fault.seconds * 1000) for fault in struck if fault.action is FaultAction.SKEW)


def _passed(sender: str) -> str:
    """The verdict on a mail sent by an account of this sandbox."""
    domain = sender.rpartition("@")[2]
    reason = f"google.com: domain of {sender} designates 127.0.0.1 as permitted sender"
    return _FOLD.join(
        [
            f"{AUTHORITY};",
            f"dkim=pass header.i=@{domain} header.s=sandbox header.b=c2FuZGJv;",
            f"spf=pass ({reason}) smtp.mailfrom={sender};",
            f"dmarc=pass (p=NONE sp=NONE dis=NONE) header.from={domain}",
        ]
    )


def _results(verdict: Mapping[str, str], sender: str, mail: RawMail) -> str:
    unknown = sorted(set(verdict) - {"spf", "dkim", "dmarc", "domain"})
    if unknown:
        raise invalid(f"verdict has no key {unknown[0][:40]!a}; the keys are spf, dkim, dmarc and domain")
    senders = addresses_in(mail.values("from"))
    from_domain = senders[0].rpartition("@")[2] if senders else "unknown.invalid"
    domain = verdict.get("domain", from_domain)
    for name, value in verdict.items():
        allowed = _DOMAIN if name == "domain" else _VERDICT
        if allowed.fullmatch(value) is None:
            raise invalid(f"verdict {name} must be one word such as pass, fail or none, not {value[:40]!a}")
    parts = [f"{AUTHORITY};"]
    if "dkim" in verdict:
        parts.append(f"dkim={verdict['dkim']} header.i=@{domain} header.s=outside header.b=b3V0c2lk;")
    if "spf" in verdict:
        parts.append(f"spf={verdict['spf']} smtp.mailfrom={sender};")
    if "dmarc" in verdict:
        parts.append(f"dmarc={verdict['dmarc']} (p=NONE sp=NONE dis=NONE) header.from={from_domain};")
    return _FOLD.join(parts).rstrip(";") if len(parts) > 1 else f"{AUTHORITY}; none"


def _stamp(clock: SandboxClock) -> str:
    return email.utils.format_datetime(clock.now())
