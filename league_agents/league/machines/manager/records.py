"""Records of matches and settlements, and warnings about matches that the organiser must look at."""

from __future__ import annotations

from collections.abc import Mapping

from league_agents.games.q21.model import Termination
from league_agents.league.machines.effects import Record
from league_agents.league.machines.manager.broadcasts import SeasonTurn
from league_agents.league.machines.manager.match_results import match_facts, termination_of
from league_agents.league.machines.manager.state import GameRecord, ManagerState
from league_agents.league.season.schedule import Pairing, ScheduleKind
from league_agents.league.season.standings import MatchOutcome, MatchStatus

UNREPORTED = MatchOutcome(status=MatchStatus.NO_REPORT)
"""The outcome of a match without a report, before the rules add what an absent player gets."""


def record_match(
    turn: SeasonTurn,
    pairing: Pairing,
    record: GameRecord,
    outcome: MatchOutcome,
    number: int,
    *,
    termination: Termination | None = None,
    is_late: bool = False,
    before: MatchOutcome | None = None,
) -> None:
    """Record the end of a match; again when another report counts. ``before`` is the replaced outcome."""
    config = turn.config
    facts = match_facts(pairing, record, outcome, config.rules, season_id=config.season_id, round_number=number)
    facts["is_late"] = is_late
    facts["replaces"] = before.status.value if before is not None else None
    turn.effects.append(
        Record(kind="match", key=pairing.game_id, termination=termination or termination_of(outcome), facts=facts)
    )


def record_settlement(
    turn: SeasonTurn,
    key: str,
    termination: Termination = Termination.COMPLETED,
    *,
    order: str,
    why: str,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """Record a decision of the organiser."""
    facts = {
        "season_id": turn.config.season_id,
        "order": order,
        "why": why,
        "by": turn.identity.participant_id,
        "before": before,
        "after": after,
    }
    turn.effects.append(Record(kind="settlement", key=key, termination=termination, facts=facts))


def record_open_games(turn: SeasonTurn, state: ManagerState) -> None:
    """Record the games that a reset cuts off, whose reports will be ignored."""
    number = state.season.round_number
    if state.schedule is None or not state.games:
        return
    for pairing, record in zip(state.schedule.round(number), state.games, strict=True):
        if record.counted is None:
            record_match(turn, pairing, record, UNREPORTED, number, termination=Termination.RESET)


def warn_of_judge(turn: SeasonTurn, pairing: Pairing) -> None:
    """Warn that the referee of this match may not report because its team is withdrawn."""
    said = f"is judged by {pairing.referee.group_id}, which is withdrawn; 'substitute-referee', 'annul' or 'correct' it"
    turn.warn("no_referee", f"game {pairing.game_id} {said}")


def next_of_bracket(state: ManagerState, number: int) -> int | None:
    """The round of a knockout that was paired from the results of this round; ``None`` if there is none."""
    schedule = state.schedule
    if schedule is None or schedule.kind is not ScheduleKind.KNOCKOUT:
        return None
    later = range(number + 1, len(schedule.rounds) + 1)
    return next((each for each in later if not schedule.is_extra(each)), None)


def warn_of_bracket(turn: SeasonTurn, state: ManagerState, pairing: Pairing, number: int) -> None:
    """Warn that a changed outcome of this match does not change the next round of a knockout."""
    if (paired := next_of_bracket(state, number)) is not None:
        said = f"round {paired} is paired, and stays so whoever wins this one"
        turn.warn("bracket_stands", f"game {pairing.game_id}: {said}")
