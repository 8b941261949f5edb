"""The methods of ``users.messages``."""

from __future__ import annotations

import email.utils
from collections.abc import Sequence
from dataclasses import dataclass

from league_agents.sandbox.faults import Fault
from league_agents.sandbox.labels import SYSTEM
from league_agents.sandbox.mail_view import encode_bytes
from league_agents.sandbox.mailbox import Place, SandboxMailbox, StoredMail
from league_agents.sandbox.oauth import SCOPE_ROOT
from league_agents.sandbox.raw_mail import read_raw
from league_agents.sandbox.refusal import SandboxRefusal, invalid, not_found
from league_agents.sandbox.request import SandboxRequest, text_of, texts_of
from league_agents.sandbox.search import Query, read_query
from league_agents.sandbox.upload import mail_of
from league_agents.sandbox.world import World

METADATA_SCOPE = SCOPE_ROOT + "gmail.metadata"
FORMATS = ("full", "minimal", "metadata", "raw")
MOST_IDS = 1_000
_PAGE = 100
_LARGEST_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodCall:
    """One authorized call of a method."""

    world: World
    box: SandboxMailbox
    request: SandboxRequest
    names: dict[str, str]
    """The variables of the method's path, such as ``id``."""

    scopes: frozenset[str]
    is_upload: bool = False
    faults: Sequence[Fault] = ()

    @property
    def now_ms(self) -> int:
        return self.world.clock.now_ms()

    @property
    def mail(self) -> StoredMail:
        """The mail named in the path. Raises ``SandboxRefusal`` (404)."""
        return self.box.find(self.names["id"])

    @property
    def sees_headers_only(self) -> bool:
        """Whether the token may read headers only."""
        return {scope for scope in self.scopes if scope.startswith(SCOPE_ROOT + "gmail.")} == {METADATA_SCOPE}


def brief(mail: StoredMail) -> dict[str, object]:
    """The fields of a mail in listings."""
    return {"id": mail.mail_id, "threadId": mail.thread_id}


def labelled(mail: StoredMail) -> dict[str, object]:
    """The answer to a change of labels."""
    return {**brief(mail), "labelIds": mail.label_ids}


def shown(mail: StoredMail, form: str, headers: Sequence[str] = ()) -> dict[str, object]:
    """A mail in one of the formats."""
    view = mail.view
    document = {
        **labelled(mail),
        "snippet": view.snippet,
        "historyId": str(mail.history_id),
        "internalDate": str(mail.internal_ms),
        "sizeEstimate": len(mail.raw),
    }
    if form == "raw":
        document["raw"] = encode_bytes(mail.raw)
    elif form == "metadata":
        names = frozenset(name.lower() for name in headers) if headers else None
        document["payload"] = {"mimeType": view.content_type, "headers": view.headers(names)}
    elif form == "full":
        document["payload"] = view.payload
    return document


def wanted_form(call: MethodCall) -> str:
    """The format that the request asks for. Raises ``SandboxRefusal``."""
    form = call.request.choice("format", FORMATS)
    if call.sees_headers_only and form in ("full", "raw"):
        raise SandboxRefusal(403, "forbidden", f"Metadata scope doesn't allow format {form.upper()}")
    return form


def query_of(call: MethodCall) -> Query:
    """The query of the request. Raises ``SandboxRefusal``."""
    text = call.request.text("q")
    if text and call.sees_headers_only:
        raise SandboxRefusal(403, "forbidden", "Metadata scope does not support 'q' parameter")
    return read_query(text, label_id=call.box.labels.find, now=call.world.clock.now())


def wanted_labels(call: MethodCall) -> list[str]:
    """The label ids of the request. Raises ``SandboxRefusal``."""
    labels = call.request.texts("labelIds")
    known = set(call.box.labels.ids())
    for label in labels:
        if label not in known:
            raise invalid(f"Invalid label: {label[:80]}")
    return labels


def page_token(place: Place) -> str:
    """The token of the next page, which begins after ``place``."""
    return f"{place[0]:016d}{place[1]:010d}"


def read_page_token(text: str) -> Place | None:
    """The place in a page token. Raises ``SandboxRefusal``."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) == 26):
        raise invalid("Invalid pageToken")
    return int(text[:16]), int(text[16:])


def list_messages(call: MethodCall) -> object:
    most = call.request.number("maxResults", _PAGE, _LARGEST_PAGE)
    found: list[StoredMail] = []
    for mail in call.box.listed(
        labels=wanted_labels(call),
        query=query_of(call),
        with_hidden=call.request.flag("includeSpamTrash"),
        now_ms=call.now_ms,
        before=read_page_token(call.request.text("pageToken")),
    ):
        if len(found) == most:
            return {
                "messages": [brief(each) for each in found],
                "nextPageToken": page_token(found[-1].place),
                "resultSizeEstimate": most + 1,
            }
        found.append(mail)
    if not found:
        return {"resultSizeEstimate": 0}  # an empty listing has no key for its mails
    return {"messages": [brief(mail) for mail in found], "resultSizeEstimate": len(found)}


def get_message(call: MethodCall) -> object:
    return shown(call.mail, wanted_form(call), call.request.texts("metadataHeaders"))


def get_attachment(call: MethodCall) -> object:
    content = call.box.find(call.names["messageId"]).view.attachment(call.names["id"])
    if content is None:
        raise invalid("Invalid attachment token")
    return {"size": len(content), "data": encode_bytes(content)}


def send(call: MethodCall) -> object:
    document, raw = mail_of(call.request, is_upload=call.is_upload)
    thread = text_of(document, "threadId")
    mail = call.world.office.send(call.box, raw, thread_id=thread, faults=call.faults)
    return labelled(mail)


def insert(call: MethodCall) -> object:
    return _placed(call, default_labels=(), dates_by_header=False)


def import_(call: MethodCall) -> object:
    # As with mail that comes in by SMTP, a mail without labels goes to the inbox.
    return _placed(call, default_labels=("INBOX", "UNREAD"), dates_by_header=True)


def _placed(call: MethodCall, *, default_labels: Sequence[str], dates_by_header: bool) -> object:
    source = call.request.choice("internalDateSource", ("", "receivedTime", "dateHeader"))
    document, raw = mail_of(call.request, is_upload=call.is_upload)
    labels = texts_of(document, "labelIds") or list(default_labels)
    for label in labels:
        if label not in SYSTEM:
            call.box.labels.name_of(label)
    thread = text_of(document, "threadId")
    if thread is not None and not call.box.has_thread(thread):
        raise not_found()
    at_ms = call.now_ms
    if source == "dateHeader" or (not source and dates_by_header):
        at_ms = _date_ms(read_raw(raw).first("date"), at_ms)
    return labelled(call.box.add(raw, labels, at_ms=at_ms, now_ms=call.now_ms, thread_id=thread))


def _date_ms(header: str, default: int) -> int:
    try:
        return max(0, int(email.utils.parsedate_to_datetime(header[:200]).timestamp() * 1000))
    except (TypeError, ValueError, OverflowError, IndexError):
        return default


def modify(call: MethodCall) -> object:
    added, removed = changes(call)
    call.box.change_labels(call.mail, added, removed, now_ms=call.now_ms)
    return labelled(call.mail)


def changes(call: MethodCall) -> tuple[list[str], list[str]]:
    """The labels to add and to remove. Raises ``SandboxRefusal``."""
    added = texts_of(call.request.document, "addLabelIds")
    removed = texts_of(call.request.document, "removeLabelIds")
    call.box.labels.check_change(added, removed)
    return added, removed


def batch_modify(call: MethodCall) -> None:
    added, removed = changes(call)
    for mail in _named(call):
        call.box.change_labels(mail, added, removed, now_ms=call.now_ms)


def batch_delete(call: MethodCall) -> None:
    for mail in _named(call):
        call.box.delete(mail, now_ms=call.now_ms)


def _named(call: MethodCall) -> list[StoredMail]:
    """The mails in the document, without ids that do not exist, as in Gmail. Raises ``SandboxRefusal``."""
    ids = texts_of(call.request.document, "ids")
    if not ids:
        raise invalid("No message ids specified")
    if len(ids) > MOST_IDS:
        raise invalid(f"Too many message ids: at most {MOST_IDS}")
    found = {}
    for mail_id in ids:
        try:
            found[mail_id] = call.box.find(mail_id)
        except SandboxRefusal:
            continue
    return list(found.values())


def trash(call: MethodCall) -> object:
    call.box.change_labels(call.mail, ("TRASH",), ("INBOX",), now_ms=call.now_ms)
    return labelled(call.mail)


def untrash(call: MethodCall) -> object:
    call.box.change_labels(call.mail, (), ("TRASH",), now_ms=call.now_ms)
    return labelled(call.mail)


def delete(call: MethodCall) -> None:
    call.box.delete(call.mail, now_ms=call.now_ms)
