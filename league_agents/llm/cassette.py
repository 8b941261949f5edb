"""Exchanges recorded in a file, and played back without any network.

Rule 1: an exchange is found by its model and its prompt's digest; the same prompt asked again gets the next reply.
Rule 2: one line for each exchange, failures too. While it records, a line is written as soon as its exchange has ended;
``close`` puts the lines in an order that does not depend on which thread was first.
Rule 3: prompts and keys are not in it. What models wrote is.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from league_agents.errors import ConfigError, MalformedCompletion, ModelError, ModelRefused, ModelUnavailable
from league_agents.llm.exchange import Backend, Finish, OverBudget, Rejected, Reply, Request, Unanswered, usage_of
from league_agents.llm.port import Usage

LARGEST_CASSETTE = 500_000_000
"""Bytes. An evaluation of a thousand games has about thirty million."""

_FAILURES: Mapping[str, type[ModelError]] = {
    # The narrower kinds first.
    "over_budget": OverBudget,
    "rejected": Rejected,
    "unanswered": Unanswered,
    "unavailable": ModelUnavailable,
    "refused": ModelRefused,
    "malformed": MalformedCompletion,
}

_Key = tuple[str, str, int]
"""Model, digest, and how often this was asked before."""


class Cassette:
    """A file that is being recorded. Several models may share one."""

    def __init__(self, path: Path) -> None:
        """Begins the file anew. Raises ``ConfigError``."""
        self.path = path
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._lines: list[tuple[_Key, str]] = []
        try:
            self._file = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(str(path), f"cannot be written: {error.strerror}; name another file") from None

    def keep(self, model: str, request: Request, reply: Reply | None, error: ModelError | None) -> None:
        """Write one exchange."""
        with self._lock:
            asked = self._asked[model, request.digest]
            self._asked[model, request.digest] += 1
            line = _line(model, request, asked, reply, error)
            self._lines.append(((model, request.digest, asked), line))
            if not self._file.closed:
                self._file.write(line)
                self._file.flush()

    def close(self) -> None:
        """Put the lines in order. The recording of the same exchanges is the same bytes, whichever came first."""
        with self._lock:
            if self._file.closed:
                return
            self._file.close()
            ordered = self.path.with_name(f"{self.path.name}.new")
            ordered.write_text("".join(line for _, line in sorted(self._lines)), encoding="utf-8", newline="\n")
            os.replace(ordered, self.path)  # noqa: PTH105  # one step: the file is whole at any time


class CassetteRecorder:
    """``Backend`` that keeps what another one does."""

    def __init__(self, backend: Backend, cassette: Cassette | Path) -> None:
        """Give a ``Cassette`` where several models are recorded into one file."""
        self._backend = backend
        self.cassette = Cassette(cassette) if isinstance(cassette, Path) else cassette

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self.cassette.keep(self.name, request, None, error)
            raise
        self.cassette.keep(self.name, request, reply, None)
        return reply

    def close(self) -> None:
        """Put the file in order."""
        self.cassette.close()


class CassettePlayer:
    """``Backend`` that answers from a recording. Nothing else is asked."""

    def __init__(self, path: Path) -> None:
        """Raises ``ConfigError`` that names the line that is wrong."""
        self._path = path
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._kept: dict[_Key, Mapping[str, object]] = dict(_read(path))
        self._missing: list[str] = []
        self._model = next((model for model, _, _ in self._kept), "cassette:empty")

    @property
    def name(self) -> str:
        """The first model of the recording."""
        return self._model

    @property
    def missing(self) -> tuple[str, ...]:
        """What was asked for in vain, one line each."""
        return tuple(self._missing)

    def of(self, model: str) -> Backend:
        """One of the recorded models."""
        return _Voice(self, model)

    def exchange(self, request: Request) -> Reply:
        """Raises ``ConfigError`` that names the step when the recording lacks the prompt, and what was recorded as a
        failure."""
        return self.play(self._model, request)

    def play(self, model: str, request: Request) -> Reply:
        """The next recorded exchange of a model with this prompt."""
        with self._lock:
            asked = self._asked[model, request.digest]
            self._asked[model, request.digest] += 1
            kept = self._kept.get((model, request.digest, asked))
            if kept is None:
                purpose = request.prompt.purpose
                times = f" for the {asked + 1}. time" if asked else ""
                said = (
                    f"holds no reply of {model} to the prompt of step '{purpose.step}'"
                    f" ({purpose.callback or 'no callback'}, digest {request.digest[:12]}){times}; record again"
                )
                self._missing.append(said)
                raise ConfigError(str(self._path), said)
        failure = kept.get("failure")
        if failure is None:
            return _reply(model, kept)
        error = _FAILURES[str(failure)](str(kept.get("message") or ""))
        wait = kept.get("retry_after_s")
        if isinstance(error, ModelUnavailable) and isinstance(wait, int | float):
            error.retry_after = timedelta(seconds=wait)
        error.usage = _usage(kept)
        raise error


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
        document |= {"failure": _word(error), "message": str(error)}
        if isinstance(error, ModelUnavailable) and error.retry_after is not None:
            document["retry_after_s"] = error.retry_after.total_seconds()
    document["usage"] = [usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.requests]
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")) + "\n"


def _word(error: ModelError) -> str:
    return next((word for word, kind in _FAILURES.items() if isinstance(error, kind)), "unavailable")


def _read(path: Path) -> list[tuple[_Key, Mapping[str, object]]]:
    found: list[tuple[_Key, Mapping[str, object]]] = []
    try:
        if path.stat().st_size > LARGEST_CASSETTE:
            raise ConfigError(str(path), f"is larger than {LARGEST_CASSETTE} bytes; is it the right file?")
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
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
