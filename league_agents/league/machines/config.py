"""The configuration of a referee and a player."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from league_agents.games.q21.rules import RuleSet
from league_agents.league.machines.events import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantConfig:
    """The settings that both roles share."""

    identity: Identity
    manager_email: str
    """The only address whose league messages are obeyed (protocol 2.6)."""

    rules: RuleSet

    repeat_limit: int = 5
    """How often one stored message is sent again because a peer repeats a request. A peer that is stuck, or a mail
    service that delivers everything twice, must not make two machines answer each other for ever."""

    held_limit: int = 200
    """How many events are kept during a pause; later ones are dropped with a warning."""

    held_limit_of_sender: int = 20
    """The limit for one sender, so that no sender uses up ``held_limit``. A game needs four events of its referee."""

    answers_free_text: bool = True
    """Whether a free-text broadcast is answered by ``noted`` (protocol 4.3.3: optional)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeConfig(ParticipantConfig):
    """The settings of one referee."""

    actual_opening_sentence: str | None = field(default=None, repr=False)
    actual_associative_word: str | None = field(default=None, repr=False)
    """The configured target; ``None`` if the agent chooses it (protocol 6.1)."""

    assignment_table_id: str | None = None
    """Passed to callbacks; the machine does not use it."""

    avoid_not_relevant: bool = False
    """Send ``D`` for ``Not Relevant``: one deployed player client cannot store the longer word (protocol 4.4.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerConfig(ParticipantConfig):
    """The settings of one player."""

    guess_resend: timedelta = timedelta(seconds=15)
    guess_resend_limit: int = 10
    """How often the guess is sent again while no score has arrived (protocol 4.4.6)."""

    reply_margin: timedelta = timedelta(seconds=5)
    """How much of the time to a message's deadline is kept for sending the reply."""

    sends_player_report: bool = True
    """Whether the league manager is told how each game ended (protocol 4.5.2)."""

    unassigned_limit: int = 4
    """How many games that no assignment table names are played at the same time (protocol 5.6)."""
