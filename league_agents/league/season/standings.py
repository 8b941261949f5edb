"""The points and duties of all groups in a season, updated match by match.

Rule 1: the referee's report counts; nothing is recomputed from a guess (protocol 7).
Rule 2: a match can be removed again exactly. Private scores are therefore summed as whole millionths.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct

from league_agents.games.q21.rules import AbortedPoints, RuleSet, Walkover
from league_agents.kit.values import evolve
from league_agents.league.season.schedule import Pairing
from league_agents.league.wire.messages import AssignmentRole

_MILLIONTHS = 1_000_000
_PLAYERS = (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2)


class MatchStatus(StrEnum):
    """How a match ended for the league. The first four are spelled as in reports (protocol 4.5.1)."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    SINGLE_PLAYER = "COMPLETED_SINGLE_PLAYER"
    CANCELLED = "CANCELLED_ALL_PLAYERS_MALFUNCTION"
    NO_REPORT = "no_report"
    WALKOVER = "walkover"
    """Not played, because a team is withdrawn: the other team wins."""

    ANNULLED = "annulled"
    """Removed by the organiser, as if it had not been played."""

    REPLAYED = "replayed"
    """Removed by the organiser, because the match is played again under another id."""

    @property
    def is_removed(self) -> bool:
        """Whether the match counts for nobody, not even for its referee."""
        return self in (MatchStatus.ANNULLED, MatchStatus.REPLAYED)


class MatchOutcome(Struct, frozen=True, kw_only=True):
    """The result of a match, as reported."""

    status: MatchStatus
    winner: AssignmentRole | None = None
    """The winner; ``None`` for a draw or a match without a winner."""

    league_points: tuple[int, int] = (0, 0)
    """The league points of player 1 and player 2."""

    private_scores: tuple[float, float] = (0.0, 0.0)
    reason: str = ""
    """The abort reason; empty for every other status."""

    missing: AssignmentRole | None = None
    """The absent player of a single-player game."""

    absent: tuple[AssignmentRole, ...] = ()
    """Everybody who did not do their part: withdrawn, absent from the start, silent, or sending nothing usable."""

    awarded: tuple[int, int] | None = None
    """The points that the walkover rule gives instead of the reported ones; ``None`` if it gives none. Stored with the
    outcome, so that a later change of the rules does not change what was counted."""

    @property
    def victor(self) -> AssignmentRole | None:
        """The winner that counts: of an awarded match the only player that was there."""
        if self.awarded is None:
            return self.winner
        there = [role for role in _PLAYERS if role not in self.absent]
        return there[0] if len(there) == 1 else None

    @property
    def is_walkover(self) -> bool:
        """Whether the points were given without a game that was played to its end."""
        return self.awarded is not None or self.status is MatchStatus.WALKOVER


class StandingsTally(Struct, frozen=True, kw_only=True):
    """The points and results of one player."""

    points: int = 0
    private_millionths: int = 0
    played: int = 0
    won: int = 0

    @property
    def private_score(self) -> float:
        """The sum of the private scores."""
        return self.private_millionths / _MILLIONTHS


class Duty(Struct, frozen=True, kw_only=True):
    """The matches that one referee judged."""

    judged: int = 0
    """Matches with a report of any status."""

    aborted: int = 0
    """The judged matches that were aborted."""

    unreported: int = 0


NO_TALLY = StandingsTally()
NO_DUTY = Duty()


class Standings(Struct, frozen=True, kw_only=True):
    """All players and referees, by group id. A group that is absent has no points or duties yet."""

    players: Mapping[str, StandingsTally] = msgspec.field(default_factory=dict)
    referees: Mapping[str, Duty] = msgspec.field(default_factory=dict)

    def with_matches(
        self,
        matches: Iterable[tuple[Pairing, MatchOutcome]],
        rules: RuleSet,
        *,
        without: Iterable[tuple[Pairing, MatchOutcome]] = (),
    ) -> Standings:
        """The standings with some matches added, and with some earlier ones removed."""
        players, referees = dict(self.players), dict(self.referees)
        for sign, group in ((-1, without), (1, matches)):
            for pairing, outcome in group:
                _count(players, referees, pairing, outcome, rules, sign)
        return Standings(players=players, referees=referees)


def points_that_count(outcome: MatchOutcome, rules: RuleSet) -> tuple[int, int]:
    """The league points that enter the standings (protocol 7)."""
    if outcome.awarded is not None:
        return outcome.awarded
    return outcome.league_points if _counts(outcome, rules) else (0, 0)


def with_absent(outcome: MatchOutcome, absent: Collection[AssignmentRole], rules: RuleSet) -> MatchOutcome:
    """The outcome with those who were absent, and with what the rules give to those who were there."""
    if not absent:
        return outcome
    reported = points_that_count(outcome, rules)
    there = [role not in absent for role in _PLAYERS]
    if outcome.status is MatchStatus.NO_REPORT:
        given = (rules.no_report_points * there[0], rules.no_report_points * there[1])
        awarded = given if any(given) else None
    elif rules.walkover is Walkover.AS_REPORTED or not any(there):
        awarded = None
    else:
        won = rules.walkover_points
        awarded = (max(won * there[0], reported[0]), max(won * there[1], reported[1]))
    return evolve(outcome, absent=tuple(role for role in AssignmentRole if role in absent), awarded=awarded)


def _counts(outcome: MatchOutcome, rules: RuleSet) -> bool:
    match outcome.status:
        case MatchStatus.COMPLETED | MatchStatus.SINGLE_PLAYER | MatchStatus.WALKOVER:
            return True
        case MatchStatus.ABORTED:
            return rules.aborted_points is AbortedPoints.AS_REPORTED
        case MatchStatus.CANCELLED | MatchStatus.NO_REPORT | MatchStatus.ANNULLED | MatchStatus.REPLAYED:
            return False


def _count(
    players: dict[str, StandingsTally],
    referees: dict[str, Duty],
    pairing: Pairing,
    outcome: MatchOutcome,
    rules: RuleSet,
    sign: int,
) -> None:
    status = outcome.status
    if status.is_removed:
        return
    judge = pairing.referee.group_id
    duty = referees.get(judge, NO_DUTY)
    is_reported = status is not MatchStatus.NO_REPORT
    if status is not MatchStatus.WALKOVER:  # a walkover has no judge
        referees[judge] = Duty(
            judged=duty.judged + sign * is_reported,
            aborted=duty.aborted + sign * (status is MatchStatus.ABORTED),
            unreported=duty.unreported + sign * (not is_reported),
        )
    if outcome.awarded is None and (status is MatchStatus.CANCELLED or not is_reported):
        return  # no game to count
    counts = _counts(outcome, rules)
    all_points = points_that_count(outcome, rules)
    for index, (team, role) in enumerate(zip((pairing.player1, pairing.player2), _PLAYERS, strict=True)):
        tally = players.get(team.group_id, NO_TALLY)
        points = all_points[index]
        score = round(outcome.private_scores[index] * _MILLIONTHS) if counts else 0
        players[team.group_id] = StandingsTally(
            points=tally.points + sign * points,
            private_millionths=tally.private_millionths + sign * score,
            played=tally.played + sign,
            won=tally.won + sign * ((counts or outcome.awarded is not None) and outcome.victor is role),
        )
