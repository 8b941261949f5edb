"""The organiser's settlements: results annulled or corrected, teams withdrawn, a round extended.

Rule 1: a settlement is stored beside the report and does not replace it, so that it can be undone exactly.
Rule 2: members are informed by messages of the protocol: a free text, and the results of a closed round again.
Rule 3: each settlement is recorded with its reason and its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from league_agents.games.q21.model import Termination
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.league.machines.effects import Record
from league_agents.league.machines.manager.broadcasts import SeasonTurn, audience, broadcast
from league_agents.league.machines.manager.config import RosterMember
from league_agents.league.machines.manager.match_results import termination_of, winner_id
from league_agents.league.machines.manager.reports import told_outcome
from league_agents.league.machines.manager.rounds import (
    record_match,
    record_season,
    tell_results,
    walkover,
    warn_of_bracket,
    warn_of_judge,
)
from league_agents.league.machines.manager.state import (
    GameRecord,
    ManagerState,
    SeasonPhase,
    record_of,
    with_record,
)
from league_agents.league.season.orders import SettlementOrder, read_order
from league_agents.league.season.schedule import Pairing
from league_agents.league.season.standings import MatchOutcome, MatchStatus
from league_agents.league.wire.address import same_address
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole, FreeText
from league_agents.league.wire.reading import LONGEST_TEXT

MOST_POINTS = 3
LONGEST_EXTENSION = timedelta(days=30)
_MOST_MINUTES = LONGEST_EXTENSION / timedelta(minutes=1)

_OF_WITHDRAWALS = (MatchStatus.WALKOVER, MatchStatus.CANCELLED)
"""The statuses of settlements that a withdrawal makes; those of the organiser have other statuses."""


def annul(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Annul a match."""
    return _settle(turn, state, lambda _record: MatchOutcome(status=MatchStatus.ANNULLED))


def correct(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Give a match the result that the organiser states."""
    order = _order(turn)
    points = order.points
    if points is None or not all(0 <= each <= MOST_POINTS for each in points):
        return _refuse(turn, state, f"a correction needs the points of both players, 0 to {MOST_POINTS}")
    scores = order.private_scores
    if scores is not None and not all(0 <= each <= 100 for each in scores):
        return _refuse(turn, state, "private scores are 0 to 100")
    one, two = points
    winner = None if one == two else AssignmentRole.PLAYER1 if one > two else AssignmentRole.PLAYER2

    def corrected(record: GameRecord) -> MatchOutcome:
        kept = record.outcome.private_scores if record.outcome is not None else (0.0, 0.0)
        return MatchOutcome(
            status=MatchStatus.COMPLETED, winner=winner, league_points=points, private_scores=scores or kept
        )

    return _settle(turn, state, corrected)


def reinstate(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Undo a settlement, so that the match counts as reported."""
    return _settle(turn, state, lambda _record: None)


def withdraw(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Withdraw a team. Its unplayed games become walkovers; its played games stay."""
    order, season = _order(turn), state.season
    team = next((each for each in turn.config.teams if each.group_id == order.about), None)
    if team is None:
        return _refuse(turn, state, f"there is no team {shown(order.about)}")
    if team.group_id in season.withdrawn:
        return _refuse(turn, state, f"{team.group_id} is withdrawn already")
    state = _with_withdrawn(turn, state, team.group_id, (*season.withdrawn, team.group_id))
    for pairing, record in _present(state):
        if pairing.referee.group_id == team.group_id and record.counted is None:
            warn_of_judge(turn, pairing)
    _announce(turn, state, f"{team.group_id} is withdrawn from the season", audience(turn, state))
    return state


def readmit(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Readmit a withdrawn team. Walkovers of closed rounds stay until they are settled one by one."""
    order, season = _order(turn), state.season
    if order.about not in season.withdrawn:
        return _refuse(turn, state, f"{shown(order.about)} is not withdrawn")
    left = tuple(each for each in season.withdrawn if each != order.about)
    state = _with_withdrawn(turn, state, order.about, left)
    _announce(turn, state, f"{order.about} takes part in the season again", audience(turn, state))
    return state


def extend_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Postpone the end of the current round."""
    order, season = _order(turn), state.season
    minutes = order.minutes or 0
    if not 1 <= minutes <= _MOST_MINUTES:
        return _refuse(turn, state, f"it can be extended by 1 minute to {LONGEST_EXTENSION.days} days, in minutes")
    name = f"round:{season.round_number}"
    timer = next((each for each in season.timers if each.name == name), None)
    if timer is None:
        return _refuse(turn, state, f"round {season.round_number} has no end of its own; 'end-round' ends it")
    at = timer.at + timedelta(minutes=minutes)
    state = evolve(state, season=evolve(season, timers=turn.set_timer(season.timers, name, at)))
    before, after = {"ends_at": timer.at.isoformat()}, {"ends_at": at.isoformat()}
    _record(turn, f"round {season.round_number}", before=before, after=after)
    # During a pause the instant is not known yet.
    ends = f"ends {minutes:g} minutes later" if turn.is_paused else f"ends at {at:%Y-%m-%d %H:%M} UTC"
    _announce(turn, state, f"round {season.round_number} {ends}", audience(turn, state))
    return state


def _present(state: ManagerState) -> Iterable[tuple[Pairing, GameRecord]]:
    """The games of the current round."""
    if state.schedule is None or not state.games:
        return ()
    return zip(state.schedule.round(state.season.round_number), state.games, strict=True)


def _with_withdrawn(turn: SeasonTurn, state: ManagerState, group: str, withdrawn: tuple[str, ...]) -> ManagerState:
    """The state with a new list of withdrawn teams. The open games of ``group`` become walkovers, or are to be played
    again. The organiser's settlements of single games stay."""
    before, after = {"withdrawn": list(state.season.withdrawn)}, {"withdrawn": list(withdrawn)}
    _record(turn, f"team {group}", before=before, after=after)
    state = evolve(state, season=evolve(state.season, withdrawn=withdrawn))
    for index, (pairing, record) in enumerate(_present(state)):
        former = record.settled
        if group not in (pairing.player1.group_id, pairing.player2.group_id):
            continue
        if record.counted is not None if former is None else former.status not in _OF_WITHDRAWALS:
            continue
        settled = walkover(pairing, state, turn.config.rules).settled
        if settled != former:
            state = _changed(turn, state, (state.season.round_number, index), settled)
    return state


def _changed(
    turn: SeasonTurn, state: ManagerState, place: tuple[int, int], settled: MatchOutcome | None
) -> ManagerState:
    """Change the settlement of one match, and record it."""
    assert state.schedule is not None, "a match has a place"
    number, index = place
    pairing, former = state.schedule.round(number)[index], record_of(state, number, index)
    record = evolve(former, settled=settled)
    before, after = former.counted, record.counted
    if after is not None:
        record_match(turn, pairing, record, after, number, before=before)
    termination = termination_of(after or MatchOutcome(status=MatchStatus.NO_REPORT))
    _record(turn, pairing.game_id, termination, before=_facts(pairing, before), after=_facts(pairing, after))
    return with_record(state, number, index, record)


def _settle(
    turn: SeasonTurn, state: ManagerState, outcome_of: Callable[[GameRecord], MatchOutcome | None]
) -> ManagerState:
    """Give a match another outcome; ``None`` undoes a settlement."""
    order, schedule = _order(turn), state.schedule
    place = schedule.place(order.about) if schedule is not None else None
    if schedule is None or place is None or place[0] > state.season.round_number:
        return _refuse(turn, state, f"there is no match {shown(order.about)} in the rounds that have begun")
    number, index = place
    pairing, record = schedule.round(number)[index], record_of(state, number, index)
    settled = outcome_of(record)
    if settled is None and record.settled is None:
        return _refuse(turn, state, f"match {pairing.game_id} was not settled")
    before, after = record.counted, settled or record.outcome
    if after == before:
        return _refuse(turn, state, f"match {pairing.game_id} has this result already")
    state = _changed(turn, state, place, settled)
    if number <= len(state.closed):
        assert before is not None, "a match of a closed round has an outcome"
        assert after is not None, "a match of a closed round has an outcome"
        warn_of_bracket(turn, state, pairing, number)
        standings = state.standings.with_matches([(pairing, after)], turn.config.rules, without=[(pairing, before)])
        state = evolve(state, standings=standings)
        _tell_again(turn, state, number, (pairing, after))
    teams = (pairing.player1.player_email, pairing.player2.player_email, pairing.referee.referee_email)
    concerned = [member for member in turn.roster.members if any(same_address(member.email, each) for each in teams)]
    _announce(turn, state, f"match {pairing.game_id} now counts as {told_outcome(after)}", concerned)
    return state


def _tell_again(turn: SeasonTurn, state: ManagerState, number: int, settled: tuple[Pairing, MatchOutcome]) -> None:
    """Send the results of the last closed round again, with the settled match, which may be of another round."""
    assert state.schedule is not None
    last = state.closed[-1]
    matches = [
        (pairing, record.counted)
        for pairing, record in zip(state.schedule.round(last.number), last.games, strict=True)
        if record.counted is not None
    ]
    if number != last.number:
        matches.append(settled)
    tell_results(turn, state, matches, about=f"{last.number} {_nonce(turn)}")
    if state.season.phase is SeasonPhase.FINISHED:
        record_season(turn, state, termination_of(MatchOutcome(status=MatchStatus.COMPLETED)))


def _announce(turn: SeasonTurn, state: ManagerState, what: str, to: Iterable[RosterMember]) -> None:
    why = _order(turn).why
    text = f"{what}: {why}"[:LONGEST_TEXT]
    turn.notice("settled", text)
    kind = MessageType.BROADCAST_FREE_TEXT
    broadcast(turn, state, kind, FreeText(message_text=text), to, about=_nonce(turn))


def _record(
    turn: SeasonTurn,
    key: str,
    termination: Termination = Termination.COMPLETED,
    *,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    command = turn.command
    assert command is not None, "a settlement is ordered"
    facts = {
        "season_id": turn.config.season_id,
        "order": command.command.word,
        "why": _order(turn).why,
        "by": turn.identity.participant_id,
        "before": before,
        "after": after,
    }
    turn.effects.append(Record(kind="settlement", key=key, termination=termination, facts=facts))


def _facts(pairing: Pairing, outcome: MatchOutcome | None) -> dict[str, object]:
    if outcome is None:
        return {}
    return {
        "status": outcome.status.value,
        "winner_id": winner_id(pairing, outcome),
        "league_points": list(outcome.awarded or outcome.league_points),
        "private_scores": list(outcome.private_scores),
    }


def _order(turn: SeasonTurn) -> SettlementOrder:
    found = read_order(turn.command.text) if turn.command is not None else None
    return found or SettlementOrder()


def _nonce(turn: SeasonTurn) -> str:
    return turn.command.nonce if turn.command is not None else ""


def _refuse(turn: SeasonTurn, state: ManagerState, why: str) -> ManagerState:
    word = turn.command.command.word if turn.command is not None else ""
    turn.warn("command_refused", f"{word}: {why}")
    return state
