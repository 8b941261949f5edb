"""Matches that are played again, and matches that get another referee.

Rule 1: a replay is played in an extra round, under an id of its own. Deployed clients do not begin a second game of a
round that they were told of (protocol 4.2.1, 5.2).
Rule 2: the first result stops counting when the replay is ordered. The replay's result counts in its place; without a
report it counts like every match without one, until the organiser reinstates the first.
Rule 3: a match whose round has begun keeps its referee. Another referee judges its replay.
"""

from __future__ import annotations

from league_agents.kit.values import evolve
from league_agents.league.machines.manager.broadcasts import SeasonTurn
from league_agents.league.machines.manager.opening import assign
from league_agents.league.machines.manager.records import next_of_bracket, warn_of_judge
from league_agents.league.machines.manager.rounds import start_round
from league_agents.league.machines.manager.settlement import (
    announce,
    begun_match,
    mailboxes,
    no_match,
    no_team,
    order_of,
    record_order,
    refuse,
    replay_conflict,
    settle,
)
from league_agents.league.machines.manager.state import ManagerState, OrderedReplay, SeasonPhase, record_at
from league_agents.league.season.schedule import MOST_ROUNDS, Pairing, Team
from league_agents.league.season.standings import MatchOutcome, MatchStatus
from league_agents.league.wire.address import address_key
from league_agents.league.wire.kinds import Role


def replay(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Have a match played again by the same players and the same referee."""
    pairing = begun_match(turn, state)
    if pairing is None:
        return state
    if record_at(state, pairing.game_id).counted is None:
        why = (
            "is still being played; 'end-round' ends it, 'substitute-referee' has it played again under another referee"
        )
        return refuse(turn, state, f"match {pairing.game_id} {why}")
    return _play_again(turn, state, pairing, pairing.referee)


def substitute_referee(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Give another referee to a match that has not begun or is to be replayed. A match that has begun and has no report
    is played again under the other referee."""
    order, schedule, season = order_of(turn), state.schedule, state.season
    place = schedule.place(order.about) if schedule is not None else None
    if schedule is None or place is None:
        return refuse(turn, state, no_match(turn, order.about, "in the schedule"))
    pairing = schedule.game(order.about)
    team = next((each for each in turn.config.teams if each.group_id == order.referee), None)
    if team is None:
        return refuse(turn, state, no_team(turn, order.referee))
    if (why := _unfit(turn, state, pairing, team)) is not None:
        return refuse(turn, state, why)
    ordered = next((each for each in season.replays if each.match == pairing.game_id), None)
    current = pairing.referee.group_id if ordered is None else ordered.referee
    if team.group_id == current:
        return refuse(turn, state, f"{team.group_id} judges match {pairing.game_id} already")
    if ordered is not None:
        waiting = tuple(evolve(each, referee=team.group_id) if each is ordered else each for each in season.replays)
        state = evolve(state, season=evolve(season, replays=waiting))
        return _told_of_referee(turn, state, pairing, team, current, f"the replay of match {pairing.game_id}")
    if place[0] > season.round_number:
        if any(game.referee.group_id == team.group_id for game in schedule.round(place[0])):
            return refuse(turn, state, f"{team.group_id} judges another match of round {place[0]}")
        schedule = schedule.with_referee(pairing.game_id, team)
        state = evolve(state, schedule=schedule, season=evolve(season, is_table_due=True))
        state = _told_of_referee(turn, state, pairing, team, current, f"match {pairing.game_id}")
        return assign(turn, state) if season.phase is SeasonPhase.ASSIGNED else state
    record = record_at(state, pairing.game_id)
    is_reported = record.outcome is not None and record.outcome.status is not MatchStatus.NO_REPORT
    if record.settled is None and is_reported:
        said = (
            f"match {pairing.game_id} has a report; 'replay' has it played again, and then its referee can be replaced"
        )
        return refuse(turn, state, said)
    return _play_again(turn, state, pairing, team)


def _play_again(turn: SeasonTurn, state: ManagerState, pairing: Pairing, referee: Team) -> ManagerState:
    if (why := _impossible(state, pairing)) is not None:
        return refuse(turn, state, why)
    order = OrderedReplay(match=pairing.game_id, referee=referee.group_id, why=order_of(turn).why)
    season = evolve(state.season, replays=(*state.season.replays, order))
    state = evolve(state, season=season)
    what = f"match {pairing.game_id} does not count, and is played again in an extra round"
    if referee != pairing.referee:
        what = f"{what}, judged by {referee.group_id}"
    also = () if referee == pairing.referee else (referee.referee_email,)
    state = settle(turn, state, {pairing.game_id: MatchOutcome(status=MatchStatus.REPLAYED)}, what, also)
    if referee.group_id in season.withdrawn:
        warn_of_judge(turn, evolve(pairing, referee=referee))
    if season.phase is SeasonPhase.FINISHED:
        return start_round(turn, evolve(state, season=evolve(state.season, is_finishing=False)))
    return state


def _impossible(state: ManagerState, pairing: Pairing) -> str | None:
    """Why a match cannot be played again; ``None`` if it can."""
    season, game_id = state.season, pairing.game_id
    if (why := replay_conflict(state, pairing)) is not None:
        return why
    gone = next((each for each in (pairing.player1, pairing.player2) if each.group_id in season.withdrawn), None)
    if gone is not None:
        return f"{gone.group_id} is withdrawn; 'readmit' it first"
    assert state.schedule is not None, "a match has a schedule"
    place = state.schedule.place(game_id)
    assert place is not None, "a match has a place"
    if (paired := next_of_bracket(state, place[0])) is not None:
        return f"round {paired} of the knockout is drawn from its result; 'correct' it"
    is_over = season.phase is SeasonPhase.FINISHED
    if (is_over and len(state.closed) < state.total_rounds) or (season.is_finishing and not is_over):
        return f"the season ends after round {season.round_number}, before its last; 'correct' match {game_id}"
    if state.schedule.total_rounds + len(season.replays) >= MOST_ROUNDS:
        return f"a season has at most {MOST_ROUNDS} rounds; 'correct' match {game_id}"
    return None


def _unfit(turn: SeasonTurn, state: ManagerState, pairing: Pairing, team: Team) -> str | None:
    """Why a team's referee cannot judge a match; ``None`` if it can."""
    if team.group_id in (pairing.player1.group_id, pairing.player2.group_id):
        return f"{team.group_id} plays match {pairing.game_id}; its referee must be of a third team"
    if team.group_id in state.season.withdrawn:
        return f"{team.group_id} is withdrawn; name another team, or 'readmit' it first"
    member = turn.roster.member(team.referee_email)
    if member is None or state.attendance[member.index].registered_at is None:
        return f"the referee of {team.group_id} has not registered"
    return None


def _told_of_referee(
    turn: SeasonTurn, state: ManagerState, pairing: Pairing, team: Team, former: str, what: str
) -> ManagerState:
    """Record another referee, and tell the players and both referees."""
    record_order(turn, pairing.game_id, before={"referee": former}, after={"referee": team.group_id})
    known = {address_key(address) for address in (*mailboxes(pairing), team.referee_email)}
    concerned = [
        member
        for member in turn.roster.members
        if member.key in known or (member.role is Role.REFEREE and member.team.group_id == former)
    ]
    announce(turn, state, f"{what} is judged by {team.group_id}", concerned)
    return state
