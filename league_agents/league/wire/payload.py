"""The payload of a league message: the base class of all, and the two that no declaration describes.

Rule 1: payloads are values in the program's words; the spelling of their keys stands in their declarations. An optional
field that is ``None`` was absent, and is left out when it is sent.
Rule 2: ids that the envelope holds (``broadcast_id``, ``league_id``, ``season_id``, ``round_id``, ``game_id``, which is
also ``match_id``) and the sender's own address are not repeated in a payload's fields.
Rule 3: everything received was bounded: texts are at most 20,000 characters, lists at most 1,000 items.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from league_agents.kit.violation import Violation


class Payload:
    """What one league message says (protocol section 4).

    A class apart from ``LeagueMessage``, so that a field of this type is read as any of its classes.
    """

    __slots__ = ()

    def refusal(self) -> str | None:
        """Why this payload must not be sent, as the end of a sentence; ``None`` if it may be."""
        return None


class LeagueMessage(Payload, Struct, frozen=True, tag_field="is", tag=True):
    """The base of every payload. In a journal each carries the name of its class under ``is``."""


class Legacy(LeagueMessage, frozen=True, kw_only=True):
    """A type of protocol 4.6 that asks for no behaviour. Recorded."""

    fields: Mapping[str, object]
    """The payload as it came, bounded: JSON values only."""


class BrokenPayload(LeagueMessage, frozen=True, kw_only=True):
    """A known type whose content cannot be used. The referee counts these (5.3.2)."""

    violations: tuple[Violation, ...]
    """At least one."""
