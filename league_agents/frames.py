"""Messages between this program and a process that it starts: four bytes of length, then JSON."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">I")
MAX_FRAME_BYTES = 1_000_000_000


def write_frame(stream: IO[bytes], message: dict[str, Any], content: bytes = b"") -> None:
    """A message, and behind it bytes whose number the message gives."""
    body = json.dumps(message).encode("ascii")
    stream.write(_LENGTH.pack(len(body)) + body)
    if content:
        stream.write(content)
    stream.flush()


def read_frame(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message; ``None`` when the other side has gone. Raises ValueError for what is no frame."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise ValueError("a frame is too long")
    body = stream.read(length)
    if len(body) < length:
        return None
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a frame is no object")
    return message
