"""One instance of a class that is not ours, and its methods called: on one thread, without a time limit.

Rule: nothing that user code does gets out of here but a ``Called``. Behind this border there are plain values.
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
    """Makes the instance when it is needed first. One that could not be made is tried again with the next call."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._agent: object = None
        self._is_made = False
        self._loop: asyncio.Runner | None = None
        """Of ``async`` methods: one for the life of the instance, because clients of services belong to their loop."""

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
        """Call a method; what it returns is copied into plain values. An awaitable is awaited."""
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
        # Takes longer to import than everything else here, and most agents do without.
        import asyncio

        async def wait() -> Any:
            return await awaitable

        self._loop = self._loop or asyncio.Runner()
        return self._loop.run(wait())
