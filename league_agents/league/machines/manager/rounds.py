"""Rounds and the end of the season (protocol 4.2 and 5.1).

Rule 1: a round is announced once. The round number only grows, and the id of the broadcast is derived from it.
Rule 2: a round ends for all members at once. Every game then has an outcome, which may be that no report arrived.
"""

from __future__ import annotations

from collections.abc import Iterator

from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.values import evolve
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.broadcasts import SeasonTurn, audience, broadcast, judges, new_round
from league_agents.league.machines.manager.opening import assign, enter
from league_agents.league.machines.manager.own_rows import own_round
from league_agents.league.machines.manager.records import UNREPORTED, record_match, record_settlement, warn_of_judge
from league_agents.league.machines.manager.round_results import counted_games, record_season, table, tell_results
from league_agents.league.machines.manager.state import (
    NOTHING_YET,
    ClosedRound,
    GameRecord,
    ManagerState,
    SeasonPhase,
    is_taken_back,
)
from league_agents.league.season.pairings import next_round
from league_agents.league.season.replays import extra_round
from league_agents.league.season.schedule import Pairing, Schedule
from league_agents.league.season.standings import MatchOutcome, MatchStatus, with_absent
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole, EndRound, LeagueCompleted


def is_last_round(state: ManagerState) -> bool:
    """Whether no round follows the current one."""
    return state.season.is_finishing or state.season.round_number >= state.total_rounds


def start_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Announce the next round. If it is not paired yet, or the organiser changed the schedule, send the table first."""
    number, schedule = state.season.round_number + 1, state.schedule
    if schedule is not None and len(schedule.rounds) < number <= state.total_rounds:
        if state.season.replays:
            return assign(turn, _with_extra_round(turn, state, schedule))
        return assign(turn, evolve(state, schedule=_with_next_round(turn, state, schedule)))
    if state.season.is_table_due and number <= state.total_rounds:
        return assign(turn, state)
    if schedule is None or number > state.total_rounds:
        said = f"all {state.total_rounds} rounds were played; '{Command.FINISH_SEASON.word}' ends the season"
        turn.warn("command_refused", f"{Command.START_ROUND.word}: {said}")
        return state
    announced = new_round(turn, state, number)
    broadcast(
        turn,
        state,
        MessageType.BROADCAST_NEW_LEAGUE_ROUND,
        announced,
        audience(turn, state),
        about=str(number),
        round_number=number,
        own_rows=own_round(announced, schedule.round(number)),
    )
    games = tuple(walkover(pairing, state, turn.config.rules) for pairing in schedule.round(number))
    for pairing, record in zip(schedule.round(number), games, strict=True):
        if record.counted is not None:
            record_match(turn, pairing, record, record.counted, number)
        elif pairing.referee.group_id in state.season.withdrawn:
            warn_of_judge(turn, pairing)
    state = evolve(state, games=games, awaited=sum(record.counted is None for record in games))
    return enter(
        turn,
        state,
        SeasonPhase.ROUND,
        timer=f"round:{number}",
        wait=turn.config.round_wait if turn.config.is_automatic else None,
        round_number=number,
        is_round_ordered=False,
    )


def walkover(pairing: Pairing, state: ManagerState, rules: RuleSet) -> GameRecord:
    """The record of a game without a report; it is settled if a player's team is withdrawn, or if the game is a replay
    that was taken back."""
    if is_taken_back(state, pairing):
        return evolve(NOTHING_YET, settled=MatchOutcome(status=MatchStatus.ANNULLED))
    out = [team.group_id in state.season.withdrawn for team in (pairing.player1, pairing.player2)]
    if all(out):
        both = (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2)
        return evolve(NOTHING_YET, settled=MatchOutcome(status=MatchStatus.CANCELLED, absent=both))
    if not any(out):
        return NOTHING_YET
    points = rules.walkover_points
    gone = AssignmentRole.PLAYER1 if out[0] else AssignmentRole.PLAYER2
    return evolve(
        NOTHING_YET,
        settled=MatchOutcome(
            status=MatchStatus.WALKOVER,
            winner=AssignmentRole.PLAYER2 if out[0] else AssignmentRole.PLAYER1,
            league_points=(0, points) if out[0] else (points, 0),
            missing=gone,
            absent=(gone,),
        ),
    )


def without_report(turn: SeasonTurn, state: ManagerState, pairing: Pairing) -> MatchOutcome:
    """The outcome of a match that its referee never reported. A player that never sent anything is absent too."""
    absent = [AssignmentRole.REFEREE]
    for role, team in ((AssignmentRole.PLAYER1, pairing.player1), (AssignmentRole.PLAYER2, pairing.player2)):
        member = turn.roster.member(team.player_email)
        if member is None or not state.attendance[member.index].is_heard:
            absent.append(role)
    return with_absent(UNREPORTED, absent, turn.config.rules)


def _with_extra_round(turn: SeasonTurn, state: ManagerState, schedule: Schedule) -> ManagerState:
    """The state with a round of the replays that can be played together."""
    teams = {team.group_id: team for team in turn.config.teams}
    wanted = {}
    for order in state.season.replays:
        match = schedule.game(order.match)
        wanted[order.match] = evolve(match, referee=teams.get(order.referee, match.referee))
    games = extra_round(schedule, wanted.values(), season=turn.config.season_number)
    orders = {order.match: order for order in state.season.replays}
    for game in games:
        order = orders.pop(game.replay_of)
        turn.notice("replay", f"match {order.match} is played again as {game.game_id}")
        after = {"replay_of": order.match}
        record_settlement(turn, game.game_id, order=Command.REPLAY.word, why=order.why, before={}, after=after)
    season = evolve(state.season, replays=tuple(orders.values()), is_table_due=True)
    return evolve(state, schedule=schedule.with_round(games), season=season)


def _with_next_round(turn: SeasonTurn, state: ManagerState, schedule: Schedule) -> Schedule:
    return next_round(
        schedule,
        order=[each.team for each in table(turn, state)],
        outcomes={pairing.game_id: outcome for pairing, outcome in counted_games(state)},
        rules=turn.config.rules,
        season=turn.config.season_number,
        everybody=turn.config.teams,
        withdrawn=state.season.withdrawn,
    )


def end_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Tell the referees to stop, so that those with open matches report (protocol 4.5.1, last note)."""
    number = state.season.round_number
    ended = EndRound(round_number=number)
    broadcast(
        turn,
        state,
        MessageType.BROADCAST_END_LEAGUE_ROUND,
        ended,
        judges(turn, state),
        about=str(number),
        round_number=number,
        own_rows=lambda _: ended,  # it has no rows: this keeps the list of recipients short, which everybody is sent
    )
    grace = turn.config.end_of_round_grace
    return enter(turn, state, SeasonPhase.CLOSING, timer=f"grace:{number}", wait=grace if state.awaited else None)


def close_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Add the round to the standings, and announce its results."""
    config, number, schedule = turn.config, state.season.round_number, state.schedule
    assert schedule is not None
    pairings = schedule.round(number)
    records: list[GameRecord] = []
    matches: list[tuple[Pairing, MatchOutcome]] = []
    for pairing, record in zip(pairings, state.games, strict=True):
        if record.outcome is None:
            outcome = without_report(turn, state, pairing)
            record = evolve(record, outcome=outcome)
            if record.settled is None:
                first = pairing.replay_of
                remedy = f"; '{Command.REINSTATE.word}' lets {first} count, which it replays" if first else ""
                said = f"game {pairing.game_id}: {pairing.referee.referee_email} did not report{remedy}"
                turn.warn("no_report", said)
                record_match(turn, pairing, record, outcome, number)
        records.append(record)
        matches.append((pairing, record.counted or UNREPORTED))
    standings = state.standings.with_matches(matches, config.rules)
    closed = ClosedRound(number=number, closed_at=turn.now, games=tuple(records))
    state = evolve(state, games=(), awaited=0, closed=(*state.closed, closed), standings=standings)
    tell_results(turn, state, matches, about=str(number))
    waits = config.is_automatic and config.round_gap and not is_last_round(state)
    return enter(turn, state, SeasonPhase.BETWEEN, timer=f"next:{number + 1}", wait=config.round_gap if waits else None)


def go_on(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Start the next round, or end the season after the last one."""
    return finish(turn, state) if is_last_round(state) else start_round(turn, state)


def close_and_start(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Close the round without its missing reports and start the next, as the operator demands."""
    return start_round(turn, close_round(turn, state))


def finish_after_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """End the current round, and the season with it."""
    return end_round(turn, evolve(state, season=evolve(state.season, is_finishing=True)))


def finish_now(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Close the round without its missing reports and end the season, as the operator demands."""
    return finish(turn, close_round(turn, state))


def finish(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Announce the final standings."""
    for first in _unplayed_replays(state):
        said = f"was to be played again, and the season ends before; '{Command.REINSTATE.word}' lets it count"
        turn.warn("no_replay", f"match {first} {said}")
    state = evolve(state, season=evolve(state.season, replays=()))
    payload = LeagueCompleted(final_standings=tuple(each.row for each in table(turn, state)))
    # A season that replays made longer is completed once more, which must not look like a repeat of the first time. It
    # has one more table each time, but no more rounds if it is ended before the replay.
    about = f"{state.season.round_number}/{state.season.amendments}" if state.season.amendments else ""
    broadcast(turn, state, MessageType.LEAGUE_COMPLETED, payload, audience(turn, state), about=about)
    record_season(turn, state, Termination.COMPLETED)
    return enter(turn, state, SeasonPhase.FINISHED)


def _unplayed_replays(state: ManagerState) -> Iterator[str]:
    """Matches whose replays wait, or are drawn up and not begun."""
    yield from (each.match for each in state.season.replays)
    if state.schedule is not None:
        for number in range(state.season.round_number + 1, len(state.schedule.rounds) + 1):
            games = state.schedule.round(number)
            yield from (game.replay_of for game in games if game.replay_of and not is_taken_back(state, game))
