"""One instance of a user's class, called on one thread, without a time limit.

Rule: every action of user code ends here as a ``Called`` with plain values; no exception of it leaves this module.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from league_agents.kit.printable import line_of
from league_agents.user_code.called import Called, End, failed_with
from league_agents.user_code.place import place_of
from league_agents.user_code.plain import plain_reply

if TYPE_CHECKING:
    import asyncio


class UserInstance:
    """Makes the instance at the first call. If that fails, the next call tries again."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._agent: object = None
        self._is_made = False
        self._loop: asyncio.Runner | None = None
        """The event loop for ``async`` methods: one per instance, because service clients are bound to their loop."""

    def make(self) -> Called:
        """Make the instance, if there is none. ``RETURNED`` or ``NOT_MADE``."""
        if not self._is_made:
            try:
                self._agent = self._make()
            except BaseException as error:  # the constructor is user code
                detail = f"its constructor raised {line_of(error)}"
                return Called(end=End.NOT_MADE, detail=detail, where=place_of(error))
            self._is_made = True
        return Called(end=End.RETURNED)

    def call(self, method: str, args: Sequence[object]) -> Called:
        """Call a method and copy its result into plain values. An awaitable is awaited."""
        made = self.make()
        if made.end is not End.RETURNED:
            return made
        began_s = time.perf_counter()
        try:
            returned = getattr(self._agent, method)(*args)
            if hasattr(type(returned), "__await__"):
                returned = self._awaited(returned)
            result = plain_reply(returned)
        except BaseException as error:  # user code may raise anything, SystemExit and KeyboardInterrupt included
            seconds = time.perf_counter() - began_s
            return failed_with(error, seconds)
        return Called(end=End.RETURNED, result=result, seconds=time.perf_counter() - began_s)

    def close(self) -> None:
        """End the event loop, if there is one."""
        if self._loop is not None:
            loop, self._loop = self._loop, None
            loop.close()

    def _awaited(self, awaitable: Awaitable[Any]) -> Any:
        # Imported late: slow to import, and most agents do not need it.
        import asyncio

        async def wait() -> Any:
            return await awaitable

        self._loop = self._loop or asyncio.Runner()
        return self._loop.run(wait())
