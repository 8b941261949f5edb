"""The methods of a whole mailbox: profile, history, labels, threads, watch."""

from __future__ import annotations

from datetime import timedelta

from league_agents.sandbox.history import TYPES
from league_agents.sandbox.mailbox import StoredMail
from league_agents.sandbox.messages_api import (
    MethodCall,
    changes,
    page_token,
    query_of,
    read_page_token,
    shown,
    wanted_form,
    wanted_labels,
)
from league_agents.sandbox.refusal import invalid, not_found
from league_agents.sandbox.request import text_of

WATCH_LIFETIME = timedelta(days=7)
_LARGEST_ID = 2**64 - 1
_PAGE = 100
_LARGEST_PAGE = 500


def get_profile(call: MethodCall) -> object:
    return {
        "emailAddress": call.box.address,
        "messagesTotal": len(call.box),
        "threadsTotal": len(call.box.threads()),
        "historyId": str(call.box.history.last_id),
    }


def list_history(call: MethodCall) -> object:
    request = call.request
    start = _history_id(request.text("startHistoryId"), "startHistoryId")
    types = frozenset(request.texts("historyTypes")) or frozenset(TYPES)
    if not types <= frozenset(TYPES):
        raise invalid("Invalid value at 'history_types' (TYPE_ENUM)")
    label = request.text("labelId") or None
    found = call.box.history.after(start)
    if request.text("pageToken"):
        reached = _history_id(request.text("pageToken"), "pageToken")
        found = [change for change in found if change.history_id > reached]
    most = request.number("maxResults", _PAGE, _LARGEST_PAGE)
    # As in Gmail, a page is cut before it is filtered: it may be empty and still have a next one.
    page, rest = found[:most], found[most:]
    documents = [document for change in page if (document := change.document(types, label)) is not None]
    answer: dict[str, object] = {"historyId": str(call.box.history.last_id)}
    if documents:
        answer["history"] = documents
    if rest:
        answer["nextPageToken"] = str(page[-1].history_id)
    return answer


def _history_id(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= _LARGEST_ID):
        raise invalid(f"Invalid value at '{name}' (TYPE_UINT64), {text[:40]!a}" if text else f"Missing {name}")
    return int(text)


def list_labels(call: MethodCall) -> object:
    return {"labels": [_label(call, label_id) for label_id in call.box.labels.ids()]}


def get_label(call: MethodCall) -> object:
    label_id = call.names["id"]
    document = _label(call, label_id)
    mails = call.box.with_label(label_id)
    unread = [mail for mail in mails if "UNREAD" in mail.labels]
    return {
        **document,
        "messagesTotal": len(mails),
        "messagesUnread": len(unread),
        "threadsTotal": len({mail.thread_id for mail in mails}),
        "threadsUnread": len({mail.thread_id for mail in unread}),
    }


def create_label(call: MethodCall) -> object:
    return _label(call, call.box.labels.make(text_of(call.request.document, "name")))


def update_label(call: MethodCall) -> object:
    name = text_of(call.request.document, "name")
    if name is not None or call.request.verb == "PUT":
        call.box.labels.rename(call.names["id"], name)
    return _label(call, call.names["id"])


def delete_label(call: MethodCall) -> None:
    label_id = call.names["id"]
    call.box.labels.remove(label_id)
    for mail in call.box.with_label(label_id):
        call.box.change_labels(mail, (), (label_id,), now_ms=call.now_ms)


def _label(call: MethodCall, label_id: str) -> dict[str, object]:
    labels = call.box.labels
    document: dict[str, object] = {"id": label_id, "name": labels.name_of(label_id)}
    if labels.is_system(label_id):
        return {**document, "type": "system"}
    return {**document, "type": "user", "messageListVisibility": "show", "labelListVisibility": "labelShow"}


def list_threads(call: MethodCall) -> object:
    most = call.request.number("maxResults", _PAGE, _LARGEST_PAGE)
    threads = call.box.threads()
    found: list[StoredMail] = []
    seen: set[str] = set()
    before = read_page_token(call.request.text("pageToken"))
    for mail in call.box.listed(
        labels=wanted_labels(call),
        query=query_of(call),
        with_hidden=call.request.flag("includeSpamTrash"),
        now_ms=call.now_ms,
    ):
        if mail.thread_id in seen:
            continue
        seen.add(mail.thread_id)
        if before is None or mail.place < before:
            found.append(mail)
    answer: dict[str, object] = {"resultSizeEstimate": len(found)}
    if found:
        answer["threads"] = [
            {
                "id": mail.thread_id,
                "snippet": mail.view.snippet,
                "historyId": str(max(each.history_id for each in threads[mail.thread_id])),
            }
            for mail in found[:most]
        ]
    if len(found) > most:
        answer["nextPageToken"] = page_token(found[most - 1].place)
    return answer


def get_thread(call: MethodCall) -> object:
    form = wanted_form(call)
    if form == "raw":
        raise invalid("Invalid value at 'format' (TYPE_ENUM), 'raw'")
    mails = _thread(call)
    headers = call.request.texts("metadataHeaders")
    return {
        "id": call.names["id"],
        "historyId": str(max(mail.history_id for mail in mails)),
        "messages": [shown(mail, form, headers) for mail in mails],
    }


def modify_thread(call: MethodCall) -> object:
    added, removed = changes(call)
    return _changed_thread(call, added, removed)


def trash_thread(call: MethodCall) -> object:
    return _changed_thread(call, ["TRASH"], ["INBOX"])


def untrash_thread(call: MethodCall) -> object:
    return _changed_thread(call, [], ["TRASH"])


def delete_thread(call: MethodCall) -> None:
    for mail in _thread(call):
        call.box.delete(mail, now_ms=call.now_ms)


def _changed_thread(call: MethodCall, added: list[str], removed: list[str]) -> object:
    mails = _thread(call)
    for mail in mails:
        call.box.change_labels(mail, added, removed, now_ms=call.now_ms)
    messages = [{"id": mail.mail_id, "threadId": mail.thread_id, "labelIds": mail.label_ids} for mail in mails]
    return {"id": call.names["id"], "messages": messages}


def _thread(call: MethodCall) -> list[StoredMail]:
    mails = call.box.threads().get(call.names["id"])
    if mails is None:
        raise not_found()
    return mails


def watch(call: MethodCall) -> object:
    topic = text_of(call.request.document, "topicName") or ""
    ends_ms = call.now_ms + WATCH_LIFETIME // timedelta(milliseconds=1)
    call.world.pubsub.watch(call.box.key, topic, ends_ms, call.box.history)
    return {"historyId": str(call.box.history.last_id), "expiration": str(ends_ms)}


def stop(call: MethodCall) -> None:
    call.world.pubsub.stop(call.box.key)
