"""Messages between this program and a process that it starts: four bytes of length, then JSON."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any, Protocol

_LENGTH = struct.Struct(">I")
MAX_FRAME_BYTES = 1_000_000_000


class Sink(Protocol):
    """A binary file, or file-like object, to which frames are written."""

    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> None: ...


class Source(Protocol):
    """A binary file-like object from which frames are read."""

    def read(self, size: int, /) -> bytes:
        """``size`` bytes, fewer only at the end."""
        ...


def write_frame(
    stream: Sink, message: dict[str, Any], content: bytes = b"", *, default: Callable[[Any], object] | None = None
) -> None:
    """Write a message, then bytes whose number the message states. ``default`` as in ``json.dumps``."""
    body = json.dumps(message, default=default).encode("ascii")
    stream.write(_LENGTH.pack(len(body)) + body)
    if content:
        stream.write(content)
    stream.flush()


def read_frame(
    stream: Source, *, most: int = MAX_FRAME_BYTES, object_hook: Callable[[dict[str, Any]], object] | None = None
) -> dict[str, Any] | None:
    """Read the next message; ``None`` if the other side has closed. Raises ``ValueError`` for a malformed frame, or one
    of more than ``most`` bytes. ``object_hook`` as in ``json.loads``.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise ValueError("a frame is too long")
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body, object_hook=object_hook)
    except RecursionError:
        raise ValueError("a frame is nested too deep") from None
    if not isinstance(message, dict):
        raise ValueError("a frame is no object")
    return message
