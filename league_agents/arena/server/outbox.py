"""The send queue of one connection.

Rule: the server never waits for a slow reader. A connection whose messages pile up is closed, and its client requests
the state again when it reconnects.
"""

from __future__ import annotations

import asyncio
from collections import deque


class SocketOutbox:
    """Texts in sending order."""

    def __init__(self, most: int, most_characters: int = 8_000_000) -> None:
        self._most = most
        self._most_characters = most_characters
        self._waiting: deque[str] = deque()
        self._characters = 0
        self._filled = asyncio.Event()
        self.overflowed = asyncio.Event()
        """Set when the reader was too slow. Later messages are dropped."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_overflowing(self) -> bool:
        return self.overflowed.is_set()

    def put(self, text: str, *, is_repeated: bool = False) -> None:
        """Queue a text.

        ``is_repeated``: requested by the reader. There may be many of these, so only their size is limited.
        """
        if self.is_overflowing:
            return
        is_full = len(self._waiting) >= self._most and not is_repeated
        if is_full or self._characters + len(text) > self._most_characters:
            self.overflowed.set()
            self._waiting.clear()
            self._characters = 0
        else:
            self._waiting.append(text)
            self._characters += len(text)
        self._filled.set()

    def drain(self) -> list[str]:
        """Remove and return all queued texts at once."""
        found = list(self._waiting)
        self._waiting.clear()
        self._characters = 0
        return found

    async def take(self) -> str | None:
        """Wait for the next text; ``None`` if the connection is to be closed."""
        while not self._waiting:
            if self.is_overflowing:
                return None
            self._filled.clear()
            await self._filled.wait()
        text = self._waiting.popleft()
        self._characters -= len(text)
        return text
