"""Record exchanges in a file, and replay them without a network.

Rule 1: an exchange is found by its model and its prompt's digest; repeating a prompt returns the next reply.
Rule 2: each exchange, also a failed one, is one line, written as soon as the exchange has ended; ``close`` sorts the
lines into an order that does not depend on threads.
Rule 3: prompts and keys are not recorded. Replies are, and notes of the recording's owner.
Rule 4: an exchange left out for lack of time is left out in the replay too, although no time passes there: a model
without a line for a prompt that another model has, or without a line after a failure, raises ``NotAsked``.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from league_agents.kit.errors import ConfigError, MalformedCompletion, ModelError, ModelRefused, ModelUnavailable
from league_agents.kit.private_file import open_private, replace_private
from league_agents.llm.exchange import Backend, Finish, OverBudget, Rejected, Reply, Request, Unanswered, usage_of
from league_agents.llm.port import Usage

LARGEST_CASSETTE = 500_000_000
"""Bytes. An evaluation of a thousand games takes about thirty million."""

_FAILURES: Mapping[str, type[ModelError]] = {
    kind.reason: kind
    for kind in (OverBudget, Rejected, Unanswered, ModelUnavailable, ModelRefused, MalformedCompletion)
}

_Key = tuple[str, str, int]
"""Model, digest, and number of earlier identical requests; a note has an empty model and its name as digest."""


class NotAsked(Rejected):
    """The model was not asked at this point of the recording."""

    reason = ""
    """Empty: at recording time another failure was the reason."""


class Cassette:
    """A file that is being recorded. Several models may share it."""

    def __init__(self, path: Path, *, goes_on: bool = False) -> None:
        """Start the file anew, or continue an existing one (``goes_on``): its exchanges are not requested again.

        Raises ``ConfigError``.
        """
        self.path = path
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._kept = dict(_read(path, is_whole=False)) if goes_on and path.exists() else {}
        self._lines = {key: f"{_text(document)}\n" for key, document in self._kept.items()}
        self.is_new = not self._kept
        """Whether the file held neither exchanges nor notes before."""

        try:
            if self._kept:
                self._write_in_order()  # this drops a last line torn by a crash
            self._file = open_private(path, "a" if self._kept else "w")
        except OSError as error:
            raise ConfigError(str(path), f"cannot be written: {error.strerror}; name another file") from None

    def earlier(self, model: str, request: Request) -> Mapping[str, object] | None:
        """Return and count the next exchange with this prompt in an earlier recording; ``None`` after the last."""
        with self._lock:
            key = (model, request.digest, self._asked[model, request.digest])
            found = self._kept.get(key)
            if found is not None:
                self._asked[model, request.digest] += 1
            return found

    def keep(self, model: str, request: Request, reply: Reply | None, error: ModelError | None) -> None:
        """Write one exchange."""
        with self._lock:
            asked = self._asked[model, request.digest]
            self._asked[model, request.digest] += 1
            self._add((model, request.digest, asked), _line(model, request, asked, reply, error))

    def note(self, name: str, document: Mapping[str, object]) -> None:
        """Write a note of the owner; the last note of a name counts."""
        with self._lock:
            noted = {"note": name, "document": document}
            self._kept["", name, 0] = noted
            self._add(("", name, 0), f"{_text(noted)}\n")

    def noted(self, name: str) -> Mapping[str, object] | None:
        """Return the note with that name."""
        return _note(self._kept, name)

    def _add(self, key: _Key, line: str) -> None:
        self._lines[key] = line
        if not self._file.closed:
            self._file.write(line)
            self._file.flush()

    def _write_in_order(self) -> None:
        replace_private(self.path, "".join(self._lines[key] for key in sorted(self._lines)))

    def discard(self) -> None:
        """Remove the file if it was created here and holds no exchange."""
        with self._lock:
            if self.is_new and not any(model for model, _, _ in self._lines):
                self._file.close()
                self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Sort the lines: recordings of the same exchanges are equal bytes, whatever the order of completion."""
        with self._lock:
            if self._file.closed:
                return
            self._file.close()
            self._write_in_order()


class CassetteRecorder:
    """``Backend`` that records the exchanges of another one."""

    def __init__(self, backend: Backend, cassette: Cassette | Path) -> None:
        """Pass a ``Cassette`` to record several models into one file."""
        self._backend = backend
        self.cassette = Cassette(cassette) if isinstance(cassette, Path) else cassette

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        earlier = self.cassette.earlier(self.name, request)
        if earlier is not None:
            return _replayed(self.name, earlier)
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self.cassette.keep(self.name, request, None, error)
            raise
        self.cassette.keep(self.name, request, reply, None)
        return reply

    def close(self) -> None:
        """Sort the lines of the file and close it."""
        self.cassette.close()


class CassettePlayer:
    """``Backend`` that replays a recording and sends nothing."""

    def __init__(self, path: Path) -> None:
        """Raises ``ConfigError`` naming an invalid line."""
        self.path = path
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._kept: dict[_Key, Mapping[str, object]] = dict(_read(path))
        self._prompts = {digest for model, digest, _ in self._kept if model}
        self._missing: list[str] = []
        self._model = next((model for model, _, _ in self._kept if model), "cassette:empty")

    @property
    def name(self) -> str:
        """The first model of the recording."""
        return self._model

    @property
    def missing(self) -> tuple[str, ...]:
        """Requests without a recorded reply, one line each."""
        return tuple(self._missing)

    def noted(self, name: str) -> Mapping[str, object] | None:
        """Return the note of the recording's owner with that name."""
        return _note(self._kept, name)

    def of(self, model: str) -> Backend:
        """Return a backend for one of the recorded models."""
        return _Voice(self, model)

    def exchange(self, request: Request) -> Reply:
        """Replay the next exchange. Raises ``ConfigError`` naming the step if the prompt is not recorded, and recorded
        failures."""
        return self.play(self._model, request)

    def play(self, model: str, request: Request) -> Reply:
        """Return the next recorded reply of a model to this prompt."""
        with self._lock:
            asked = self._asked[model, request.digest]
            kept = self._kept.get((model, request.digest, asked))
            if kept is None and self._was_given_up(model, request, asked):
                raise NotAsked(f"{model}: was not asked here when {self.path.name} was recorded")
            self._asked[model, request.digest] += 1
            if kept is None:
                purpose = request.prompt.purpose
                times = f" for the {asked + 1}. time" if asked else ""
                game = f", game {purpose.match_id}" if purpose.match_id else ""
                said = (
                    f"holds no reply of {model} to the prompt of step '{purpose.step}'"
                    f" ({purpose.callback or 'no callback'}{game}, digest {request.digest[:12]}){times}; record again"
                )
                self._missing.append(said)
                raise ConfigError(str(self.path), said)
        return _replayed(model, kept)

    def _was_given_up(self, model: str, request: Request, asked: int) -> bool:
        """Return whether the prompt was recorded, but not this request."""
        if asked:
            before = self._kept.get((model, request.digest, asked - 1))
            return before is not None and "failure" in before
        return request.prompt.digest in self._prompts


class _Voice:
    """One model of a recording."""

    def __init__(self, player: CassettePlayer, model: str) -> None:
        self._player = player
        self._model = model

    @property
    def name(self) -> str:
        return self._model

    def exchange(self, request: Request) -> Reply:
        return self._player.play(self._model, request)


def _replayed(model: str, kept: Mapping[str, object]) -> Reply:
    """Return the recorded reply. Raises the recorded failure."""
    failure = kept.get("failure")
    if failure is None:
        return _reply(model, kept)
    error = _FAILURES[str(failure)](str(kept.get("message") or ""))
    wait = kept.get("retry_after_s")
    if isinstance(error, ModelUnavailable) and isinstance(wait, int | float):
        error.retry_after = timedelta(seconds=wait)
    error.usage = _usage(kept)
    raise error


def _note(kept: Mapping[_Key, Mapping[str, object]], name: str) -> Mapping[str, object] | None:
    found = kept.get(("", name, 0), {}).get("document")
    return found if isinstance(found, Mapping) else None


def _text(document: Mapping[str, object]) -> str:
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"))


def _line(model: str, request: Request, asked: int, reply: Reply | None, error: ModelError | None) -> str:
    purpose = request.prompt.purpose
    document: dict[str, object] = {
        "model": model,
        "prompt": request.digest,
        "asked_before": asked,
        "callback": purpose.callback,
        "step": purpose.step,
    }
    usage = usage_of(error) if error is not None else Usage()
    if reply is not None:
        usage = reply.usage
        document |= {"reply": reply.text, "finish": reply.finish.value, "is_counted": reply.is_counted}
    elif error is not None:
        # The message comes from an adapter, which keeps keys out of it.
        word = error.reason if error.reason in _FAILURES else ModelUnavailable.reason
        document |= {"failure": word, "message": str(error)}
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            document["retry_after_s"] = error.retry_after.total_seconds()
    document["usage"] = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.requests]
    return f"{_text(document)}\n"


def _read(path: Path, *, is_whole: bool = True) -> list[tuple[_Key, Mapping[str, object]]]:
    """Read all lines. If not ``is_whole``, the last line may be torn, because the writer was killed."""
    found: list[tuple[_Key, Mapping[str, object]]] = []
    try:
        if path.stat().st_size > LARGEST_CASSETTE:
            raise ConfigError(str(path), f"is larger than {LARGEST_CASSETTE} bytes; is it the right file?")
        with path.open(encoding="utf-8") as file:
            size = 0
            for number, line in enumerate(iter(lambda: file.readline(LARGEST_CASSETTE), ""), start=1):
                size += len(line)  # counts the bytes read: not every file reports its true size
                if size > LARGEST_CASSETTE:
                    raise ConfigError(str(path), f"is larger than {LARGEST_CASSETTE} bytes; is it the right file?")
                if line.strip() and (is_whole or line.endswith("\n")):
                    found.append(_checked(line, f"{path}, line {number}"))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}; record it first") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text; is it a recording?") from None
    return found


def _checked(line: str, where: str) -> tuple[_Key, Mapping[str, object]]:
    document: object = None
    with contextlib.suppress(ValueError, RecursionError):
        document = json.loads(line)
    if isinstance(document, dict):
        model, digest, asked = document.get("model"), document.get("prompt"), document.get("asked_before")
        is_reply = isinstance(document.get("reply"), str) and document.get("finish") in {each.value for each in Finish}
        is_right = is_reply or document.get("failure") in _FAILURES
        name = document.get("note")
        if isinstance(name, str) and isinstance(document.get("document"), dict):
            return ("", name, 0), document
        if is_right and isinstance(model, str) and isinstance(digest, str) and type(asked) is int:
            return (model, digest, asked), document
    raise ConfigError(where, "is no recorded exchange; record again")


def _reply(model: str, kept: Mapping[str, object]) -> Reply:
    return Reply(
        text=str(kept["reply"]),
        finish=Finish(str(kept["finish"])),
        usage=_usage(kept),
        model=model,
        is_counted=kept.get("is_counted") is not False,
    )


def _usage(kept: Mapping[str, object]) -> Usage:
    counted = kept.get("usage")
    numbers = counted if isinstance(counted, list) and len(counted) == 4 else []
    if not all(type(each) is int for each in numbers) or not numbers:
        return Usage()
    read, written, cached, requests = numbers
    return Usage(input_tokens=read, output_tokens=written, cached_tokens=cached, requests=requests)
