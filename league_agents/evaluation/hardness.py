"""How hard the games of an evaluation are: what the brief leaves open against what noisy answers can tell.

Rule: an answer with four options tells at most two bits less the entropy of its errors (the capacity of a symmetric
channel). Where all answers together can tell much more than is open, every sensible player finds the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from league_agents.evaluation.results import PlayerGame

_EASY, _HARD = 0.5, 1.0
"""Shares of the tellable bits that are open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardness:
    """The difficulty class of a series of games."""

    open_bits: float
    """Mean over the games."""

    tellable_bits: float
    """Most that the answers of one game can tell."""

    @property
    def grade(self) -> str:
        """``easy``, ``medium`` or ``hard``."""
        if self.open_bits < _EASY * self.tellable_bits:
            return "easy"
        return "medium" if self.open_bits < _HARD * self.tellable_bits else "hard"

    def to_json(self) -> dict[str, object]:
        return {
            "grade": self.grade,
            "open_bits": round(self.open_bits, 6),
            "tellable_bits": round(self.tellable_bits, 6),
        }

    def words(self) -> str:
        """One sentence."""
        return (
            f"These games are {self.grade}: the brief leaves {self.open_bits:.1f} bits open, and the answers can tell"
            f" at most {self.tellable_bits:.1f}."
        )


def hardness(games: Sequence[PlayerGame], *, questions: int, noise: float) -> Hardness | None:
    """Return the difficulty of the games; ``None`` if no target was a known candidate. ``noise``: 0 to 1."""
    possible = [game.player.bits_possible for game in games if game.player is not None]
    known = [bits for bits in possible if bits is not None]
    if not known:
        return None
    return Hardness(open_bits=sum(known) / len(known), tellable_bits=questions * _capacity(noise))


def _capacity(noise: float) -> float:
    """Bits of one answer: errors are spread evenly over the other three options."""
    right, wrong = 1 - noise, noise / 3
    return 2 + (right * log2(right) if right > 0 else 0.0) + (3 * wrong * log2(wrong) if wrong > 0 else 0.0)
