"""What waits to be sent over one connection.

Rule: nobody waits for a reader. A connection whose messages pile up is closed, and its client asks for the state again
when it comes back.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Outbox:
    """Texts in the order in which they are to be sent."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[str] = deque()
        self._filled = asyncio.Event()
        self.is_overflowing = False
        """Whether the reader was too slow. Nothing is kept for it any more."""

    def put(self, text: str) -> None:
        """Send this when the connection is ready."""
        if self.is_overflowing:
            return
        if len(self._waiting) >= self._most:
            self.is_overflowing = True
            self._waiting.clear()
        else:
            self._waiting.append(text)
        self._filled.set()

    async def take(self) -> str | None:
        """The next text; ``None`` when the connection is to be closed."""
        while not self._waiting:
            if self.is_overflowing:
                return None
            self._filled.clear()
            await self._filled.wait()
        return self._waiting.popleft()
