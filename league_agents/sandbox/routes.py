"""The addresses of the methods and the scopes that may call them (discovery document of the Gmail API, 2026-10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from league_agents.sandbox import mailbox_api, messages_api
from league_agents.sandbox.messages_api import MethodCall
from league_agents.sandbox.oauth import FULL_SCOPE, SCOPE_ROOT

Perform = Callable[[MethodCall], object]
LONGEST_PATH = 4_000


def _scopes(*names: str) -> frozenset[str]:
    return frozenset({FULL_SCOPE, *(f"{SCOPE_ROOT}gmail.{name}" for name in names)})


_READ_BRIEF = _scopes("modify", "readonly", "metadata")
_READ = _scopes("modify", "readonly")
_CHANGE = _scopes("modify")
_SEND = _scopes("modify", "compose", "send")
_PUT = _scopes("modify", "insert")
_LABEL = _scopes("modify", "labels")
_ALL = _scopes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method of the API."""

    name: str
    """The name in prices and faults: the discovery document's id without ``gmail.users.``."""

    verb: str
    path: tuple[str, ...]
    """The path after ``/gmail/v1/users/{userId}``; ``{x}`` stands for one segment."""

    scopes: frozenset[str]
    perform: Perform
    takes_upload: bool = False


def _method(name: str, verb: str, path: str, scopes: frozenset[str], perform: Perform, upload: bool = False) -> Method:
    return Method(
        name=name, verb=verb, path=tuple(path.split("/")), scopes=scopes, perform=perform, takes_upload=upload
    )


METHODS = (
    _method("getProfile", "GET", "profile", _scopes("modify", "readonly", "metadata", "compose"),
            mailbox_api.get_profile),
    _method("messages.list", "GET", "messages", _READ_BRIEF, messages_api.list_messages),
    _method("messages.insert", "POST", "messages", _PUT, messages_api.insert, upload=True),
    _method("messages.send", "POST", "messages/send", _SEND, messages_api.send, upload=True),
    _method("messages.import", "POST", "messages/import", _PUT, messages_api.import_, upload=True),
    _method("messages.batchModify", "POST", "messages/batchModify", _CHANGE, messages_api.batch_modify),
    _method("messages.batchDelete", "POST", "messages/batchDelete", _ALL, messages_api.batch_delete),
    _method("messages.get", "GET", "messages/{id}", _READ_BRIEF, messages_api.get_message),
    _method("messages.delete", "DELETE", "messages/{id}", _ALL, messages_api.delete),
    _method("messages.modify", "POST", "messages/{id}/modify", _CHANGE, messages_api.modify),
    _method("messages.trash", "POST", "messages/{id}/trash", _CHANGE, messages_api.trash),
    _method("messages.untrash", "POST", "messages/{id}/untrash", _CHANGE, messages_api.untrash),
    _method("messages.attachments.get", "GET", "messages/{messageId}/attachments/{id}", _READ,
            messages_api.get_attachment),
    _method("history.list", "GET", "history", _READ_BRIEF, mailbox_api.list_history),
    _method("labels.list", "GET", "labels", _READ_BRIEF | _LABEL, mailbox_api.list_labels),
    _method("labels.create", "POST", "labels", _LABEL, mailbox_api.create_label),
    _method("labels.get", "GET", "labels/{id}", _READ_BRIEF | _LABEL, mailbox_api.get_label),
    _method("labels.update", "PUT", "labels/{id}", _LABEL, mailbox_api.update_label),
    _method("labels.patch", "PATCH", "labels/{id}", _LABEL, mailbox_api.update_label),
    _method("labels.delete", "DELETE", "labels/{id}", _LABEL, mailbox_api.delete_label),
    _method("threads.list", "GET", "threads", _READ_BRIEF, mailbox_api.list_threads),
    _method("threads.get", "GET", "threads/{id}", _READ_BRIEF, mailbox_api.get_thread),
    _method("threads.delete", "DELETE", "threads/{id}", _ALL, mailbox_api.delete_thread),
    _method("threads.modify", "POST", "threads/{id}/modify", _CHANGE, mailbox_api.modify_thread),
    _method("threads.trash", "POST", "threads/{id}/trash", _CHANGE, mailbox_api.trash_thread),
    _method("threads.untrash", "POST", "threads/{id}/untrash", _CHANGE, mailbox_api.untrash_thread),
    _method("watch", "POST", "watch", _READ_BRIEF, mailbox_api.watch),
    _method("stop", "POST", "stop", _READ_BRIEF, mailbox_api.stop),
)  # fmt: skip
"""In the order of matching: an exact segment before a variable one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The method that an address names."""

    method: Method
    user: str
    """``me`` or an address."""

    names: dict[str, str]
    is_upload: bool


def find_method(verb: str, path: str) -> Found | None:
    """The method of a path; ``None`` if there is none."""
    if len(path) > LONGEST_PATH:
        return None
    segments = [unquote(segment) for segment in path.split("/")]
    is_upload = segments[:2] == ["", "upload"]
    if is_upload:
        segments = ["", *segments[2:]]
    if len(segments) < 6 or segments[:4] != ["", "gmail", "v1", "users"]:
        return None
    user, rest = segments[4], segments[5:]
    for method in METHODS:
        if method.verb != verb or len(method.path) != len(rest) or (is_upload and not method.takes_upload):
            continue
        names = {}
        for part, segment in zip(method.path, rest, strict=True):
            if part.startswith("{") and segment:
                names[part.strip("{}")] = segment
            elif part != segment:
                break
        else:
            return Found(method=method, user=user, names=names, is_upload=is_upload)
    return None
