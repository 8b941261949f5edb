"""What a referee and a player are told before anything happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from league_agents.games.q21.rules import RuleSet
from league_agents.league.machines.events import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantConfig:
    """What both roles need to know."""

    identity: Identity
    manager_email: str
    """The only address whose league messages are obeyed (protocol 2.6)."""

    rules: RuleSet

    repeat_limit: int = 5
    """How often one stored message goes out again because a peer repeats itself. A peer that is stuck, or a mail
    service that delivers everything twice, must not make two machines answer each other for ever."""

    held_limit: int = 200
    """How many events are kept during a pause; later ones are dropped with a warning."""

    held_limit_of_sender: int = 20
    """The same for one sender, so that nobody fills what is kept for the others. A game needs four of its referee."""

    answers_free_text: bool = True
    """Whether a word to everybody is answered by ``noted`` (protocol 4.3.3: optional)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeConfig(ParticipantConfig):
    """One referee."""

    actual_opening_sentence: str | None = field(default=None, repr=False)
    actual_associative_word: str | None = field(default=None, repr=False)
    """The target, if it is configured instead of chosen by the agent (protocol 6.1)."""

    assignment_table_id: str | None = None
    """Handed to callbacks; nothing here depends on it."""

    avoid_not_relevant: bool = False
    """Send ``D`` for ``Not Relevant``: one deployed player client cannot store the longer word (protocol 4.4.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerConfig(ParticipantConfig):
    """One player."""

    guess_resend: timedelta = timedelta(seconds=15)
    guess_resend_limit: int = 10
    """How often the guess is sent again while no score has come (protocol 4.4.6)."""

    reply_margin: timedelta = timedelta(seconds=5)
    """How much of the time to a message's deadline is kept for sending the reply."""

    sends_player_report: bool = True
    """Whether the league manager is told how each game ended (protocol 4.5.2)."""

    unassigned_limit: int = 4
    """How many games are played at the same time that no assignment table names (protocol 5.6)."""
