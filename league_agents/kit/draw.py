"""Seeded randomness that gives the same draws on every machine and Python version.

Byte ``i`` blocks are SHA-256 of ``seed/label/i`` for i = 0, 1, …; integers come from 8-byte big-endian words by
rejection, orders by Fisher-Yates. The ``random`` module is not used: its algorithms may change between Python versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

_WORD = 1 << 64
_words_of = Struct(">4Q").unpack


class Draw:
    """A stream of draws for one purpose. Two draws with the same seed and label give the same stream."""

    __slots__ = ("_block", "_label", "_prefix", "_seed", "_words")

    def __init__(self, seed: int | str, label: str) -> None:
        self._seed = seed
        self._label = label
        # A label may hold untrusted text, and JSON can encode a lone surrogate.
        self._prefix = f"{seed}/{label}/".encode("utf-8", "surrogatepass")
        self._block = 0
        self._words: list[int] = []

    def fork(self, label: str) -> Draw:
        """An independent stream whose label extends this one's."""
        return Draw(self._seed, f"{self._label}/{label}")

    def _word(self) -> int:
        if not self._words:
            first, second, third, fourth = _words_of(sha256(b"%s%d" % (self._prefix, self._block)).digest())
            self._block += 1
            self._words = [fourth, third, second, first]
        return self._words.pop()

    def below(self, n: int) -> int:
        """An integer from 0 to ``n - 1``. Raises ``ValueError`` for ``n`` outside 1..2**64."""
        if not 1 <= n <= _WORD:
            raise ValueError(f"cannot draw below {n}")
        limit = _WORD - _WORD % n
        while True:
            word = self._words.pop() if self._words else self._word()
            if word < limit:
                return word % n

    def fraction(self) -> float:
        """A number in [0, 1)."""
        return (self._word() >> 11) / (1 << 53)

    def chance(self, probability: float) -> bool:
        """Return true with ``probability``."""
        return self.fraction() < probability

    def choice(self, items: Sequence[T]) -> T:
        """One of ``items``. Raises ``ValueError`` if it is empty."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list of ``items`` in a drawn order."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """The items at ``count`` different positions of ``items``, in a drawn order."""
        if count > len(items):
            raise ValueError(f"cannot draw {count} of {len(items)}")
        return self.shuffled(items)[:count]
