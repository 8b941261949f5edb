"""The organiser's settlements: results annulled or corrected, teams withdrawn, a round extended.

Rule 1: a settlement is stored beside the report and does not replace it, so that it can be undone exactly.
Rule 2: members are informed by messages of the protocol: a free text, and the results of a closed round again.
Rule 3: each settlement is recorded with its reason and its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from league_agents.games.q21.model import MOST_POINTS, Termination
from league_agents.kit.ids import is_game_id
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.league.machines.manager.broadcasts import SeasonTurn, audience, broadcast
from league_agents.league.machines.manager.config import RosterMember
from league_agents.league.machines.manager.match_results import termination_of, winner_id
from league_agents.league.machines.manager.records import (
    UNREPORTED,
    record_match,
    record_settlement,
    warn_of_bracket,
    warn_of_judge,
)
from league_agents.league.machines.manager.reports import told_outcome
from league_agents.league.machines.manager.round_results import tell_again
from league_agents.league.machines.manager.rounds import walkover
from league_agents.league.machines.manager.state import (
    GameRecord,
    ManagerState,
    SeasonPhase,
    is_taken_back,
    record_at,
    record_of,
    with_record,
)
from league_agents.league.season.orders import LONGEST_EXTENSION, SettlementOrder, read_order
from league_agents.league.season.schedule import Pairing
from league_agents.league.season.standings import MatchOutcome, MatchStatus
from league_agents.league.wire.address import address_key
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import AssignmentRole, FreeText
from league_agents.league.wire.reading import LONGEST_TEXT

_OF_WITHDRAWALS = (MatchStatus.WALKOVER, MatchStatus.CANCELLED)
"""The statuses of settlements that a withdrawal makes; those of the organiser have other statuses."""


def annul(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Annul a match."""
    return _settle_one(turn, state, lambda _record: MatchOutcome(status=MatchStatus.ANNULLED))


def correct(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Give a match the result that the organiser states."""
    order = order_of(turn)
    points = order.points
    if points is None or not all(0 <= each <= MOST_POINTS for each in points):
        return refuse(turn, state, f"a correction needs the points of both players, 0 to {MOST_POINTS}")
    scores = order.private_scores
    if scores is not None and not all(0 <= each <= 100 for each in scores):
        return refuse(turn, state, "private scores are 0 to 100")
    one, two = points
    winner = None if one == two else AssignmentRole.PLAYER1 if one > two else AssignmentRole.PLAYER2

    def corrected(record: GameRecord) -> MatchOutcome:
        kept = record.outcome.private_scores if record.outcome is not None else (0.0, 0.0)
        return MatchOutcome(
            status=MatchStatus.COMPLETED, winner=winner, league_points=points, private_scores=scores or kept
        )

    return _settle_one(turn, state, corrected)


def reinstate(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Undo a settlement, so that the match counts as reported, and none of its replays. A replay that was taken back
    counts again, in place of its first match."""
    pairing = begun_match(turn, state)
    schedule, season = state.schedule, state.season
    if pairing is None or schedule is None:
        return state
    record = record_at(state, pairing.game_id)
    if record.settled is None:
        return refuse(turn, state, f"match {pairing.game_id} was not settled")
    changes: dict[str, MatchOutcome | None] = {pairing.game_id: None}
    match = pairing
    while is_taken_back(state, match):
        first = match.replay_of
        if schedule.replay(first) != match.game_id or any(each.match == first for each in season.replays):
            return refuse(turn, state, f"match {first} was ordered to be played again after its replay {match.game_id}")
        changes[first] = MatchOutcome(status=MatchStatus.REPLAYED)
        match = schedule.game(first)
    replays: list[str] = []
    while (later := schedule.replay(replays[-1] if replays else pairing.game_id)) is not None:
        replays.append(later)
    for each in replays:
        place = schedule.place(each)
        if place is not None and place[0] <= season.round_number:
            changes[each] = MatchOutcome(status=MatchStatus.ANNULLED)
    undone = (pairing.game_id, *replays)
    left = tuple(each for each in season.replays if each.match not in undone)
    if not left and not replays and record.outcome is not None and record.outcome == record.settled:
        return refuse(turn, state, f"match {pairing.game_id} has this result already")
    return settle(turn, evolve(state, season=evolve(season, replays=left)), changes)


def withdraw(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Withdraw a team. Its unplayed games become walkovers; its played games stay."""
    order, season = order_of(turn), state.season
    team = next((each for each in turn.config.teams if each.group_id == order.about), None)
    if team is None:
        return refuse(turn, state, no_team(turn, order.about))
    if team.group_id in season.withdrawn:
        return refuse(turn, state, f"{team.group_id} is withdrawn already")
    state = _with_withdrawn(turn, state, team.group_id, (*season.withdrawn, team.group_id))
    for pairing, record in _present(state):
        if pairing.referee.group_id == team.group_id and record.counted is None:
            warn_of_judge(turn, pairing)
    announce(turn, state, f"{team.group_id} is withdrawn from the season", audience(turn, state))
    return state


def readmit(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Readmit a withdrawn team. Walkovers of closed rounds stay until they are settled one by one."""
    order, season = order_of(turn), state.season
    if order.about not in season.withdrawn:
        return refuse(turn, state, f"{shown(order.about)} is not withdrawn")
    left = tuple(each for each in season.withdrawn if each != order.about)
    state = _with_withdrawn(turn, state, order.about, left)
    announce(turn, state, f"{order.about} takes part in the season again", audience(turn, state))
    return state


def extend_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Postpone the end of the current round."""
    order, season = order_of(turn), state.season
    minutes = order.minutes or 0
    if not 1 <= minutes <= LONGEST_EXTENSION / timedelta(minutes=1):
        return refuse(turn, state, f"it can be extended by 1 minute to {LONGEST_EXTENSION.days} days, in minutes")
    name = f"round:{season.round_number}"
    timer = next((each for each in season.timers if each.name == name), None)
    if timer is None and season.phase in (SeasonPhase.CLOSING, SeasonPhase.BETWEEN, SeasonPhase.FINISHED):
        reports = "; reports are awaited" if season.phase is SeasonPhase.CLOSING else ""
        return refuse(turn, state, f"round {season.round_number} has ended{reports}")
    if timer is None:
        return refuse(turn, state, f"round {season.round_number} has no end of its own; 'end-round' ends it")
    at = timer.at + timedelta(minutes=minutes)
    state = evolve(state, season=evolve(season, timers=turn.set_timer(season.timers, name, at)))
    before, after = {"ends_at": timer.at.isoformat()}, {"ends_at": at.isoformat()}
    record_order(turn, f"round {season.round_number}", before=before, after=after)
    # During a pause the instant is not known yet.
    ends = f"ends {minutes:g} minutes later" if turn.is_paused else f"ends at {at:%Y-%m-%d %H:%M} UTC"
    announce(turn, state, f"round {season.round_number} {ends}", audience(turn, state))
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
    record_order(turn, f"team {group}", before=before, after=after)
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
    termination = termination_of(after or UNREPORTED)
    record_order(turn, pairing.game_id, termination, before=_facts(pairing, before), after=_facts(pairing, after))
    return with_record(state, number, index, record)


def begun_match(turn: SeasonTurn, state: ManagerState) -> Pairing | None:
    """The match that the order is about; ``None``, with a refusal, if its round has not begun."""
    about, schedule = order_of(turn).about, state.schedule
    place = schedule.place(about) if schedule is not None else None
    if schedule is None or place is None or place[0] > state.season.round_number:
        refuse(turn, state, no_match(turn, about, "in the rounds that have begun"))
        return None
    return schedule.game(about)


def no_match(turn: SeasonTurn, about: str, where: str) -> str:
    """Why an order names no match."""
    config, season = turn.config, f"{turn.config.season_number:02d}"
    if not is_game_id(about):
        return f"{shown(about)} is no match id, which has seven digits: season, round and place, as {season}01001"
    if about[:2] != season:
        former = f"the matches of {config.season_id} begin with {season}, and a former season can no longer be settled"
        return f"match {about} is of another season: {former}"
    return f"there is no match {shown(about)} {where}"


def no_team(turn: SeasonTurn, about: str) -> str:
    """Why an order names no team."""
    teams = [each.group_id for each in turn.config.teams]
    more = f" and {len(teams) - 40} others" if len(teams) > 40 else ""
    return f"there is no team {shown(about)}; the teams are {', '.join(teams[:40])}{more}"


def replay_conflict(state: ManagerState, pairing: Pairing) -> str | None:
    """Why another match counts in place of this one, and what to settle instead; ``None`` if this match counts."""
    game_id, first = pairing.game_id, pairing.replay_of
    if is_taken_back(state, pairing):
        return f"match {game_id} was taken back, and does not replay {first} any more; settle {first}"
    settled = record_at(state, game_id).settled
    if settled is None or settled.status is not MatchStatus.REPLAYED:
        return None
    if any(each.match == game_id for each in state.season.replays):
        return f"match {game_id} is to be played again; 'reinstate' it first"
    replay = state.schedule.replay(game_id) if state.schedule is not None else None
    if replay is None:
        return None  # the season was ended before the replay
    return f"match {game_id} is played again as {replay}; settle that one, or 'reinstate' this"


def _settle_one(
    turn: SeasonTurn, state: ManagerState, outcome_of: Callable[[GameRecord], MatchOutcome]
) -> ManagerState:
    """Give the match of the order another outcome."""
    pairing = begun_match(turn, state)
    if pairing is None:
        return state
    if (why := replay_conflict(state, pairing)) is not None:
        return refuse(turn, state, why)
    record = record_at(state, pairing.game_id)
    settled = outcome_of(record)
    if settled == record.counted:
        return refuse(turn, state, f"match {pairing.game_id} has this result already")
    return settle(turn, state, {pairing.game_id: settled})


def settle(
    turn: SeasonTurn,
    state: ManagerState,
    changes: Mapping[str, MatchOutcome | None],
    what: str = "",
    also_to: Iterable[str] = (),
) -> ManagerState:
    """Give matches other outcomes, where ``None`` undoes a settlement, and announce it.

    ``what`` replaces the usual words of the announcement; ``also_to`` are further addresses that get it.
    """
    schedule = state.schedule
    assert schedule is not None, "a match has a schedule"
    before: list[tuple[Pairing, MatchOutcome]] = []
    after: list[tuple[Pairing, MatchOutcome]] = []
    told: list[str] = []
    concerned = {address_key(address) for address in also_to}
    for game_id, settled in changes.items():
        pairing, place = schedule.game(game_id), schedule.place(game_id)
        former = record_at(state, game_id)
        counts = settled or former.outcome
        told.append(f"match {game_id} now counts as {told_outcome(counts)}")
        concerned |= {address_key(address) for address in mailboxes(pairing)}
        if counts == former.counted and settled == former.settled:
            continue
        assert place is not None, "a match has a place"
        state = _changed(turn, state, place, settled)
        if place[0] <= len(state.closed):
            assert former.counted is not None, "a match of a closed round has an outcome"
            assert counts is not None, "a match of a closed round has an outcome"
            warn_of_bracket(turn, state, pairing, place[0])
            before.append((pairing, former.counted))
            after.append((pairing, counts))
    if after:
        standings = state.standings.with_matches(after, turn.config.rules, without=before)
        state = evolve(state, standings=standings)
        tell_again(turn, state, after, about=nonce_of(turn))
    members = [member for member in turn.roster.members if member.key in concerned]
    announce(turn, state, what or "; ".join(told), members)
    return state


def mailboxes(pairing: Pairing) -> tuple[str, str, str]:
    """The addresses of the players and the referee."""
    return pairing.player1.player_email, pairing.player2.player_email, pairing.referee.referee_email


def announce(turn: SeasonTurn, state: ManagerState, what: str, to: Iterable[RosterMember]) -> None:
    """Send these members a free text with the reason of the order."""
    text = f"{what}: {order_of(turn).why}"[:LONGEST_TEXT]
    turn.notice("settled", text)
    kind = MessageType.BROADCAST_FREE_TEXT
    broadcast(turn, state, kind, FreeText(message_text=text), to, about=nonce_of(turn))


def record_order(
    turn: SeasonTurn,
    key: str,
    termination: Termination = Termination.COMPLETED,
    *,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """Record a settlement with its reason and its effect."""
    command = turn.command
    assert command is not None, "a settlement is ordered"
    record_settlement(
        turn, key, termination, order=command.command.word, why=order_of(turn).why, before=before, after=after
    )


def _facts(pairing: Pairing, outcome: MatchOutcome | None) -> dict[str, object]:
    if outcome is None:
        return {}
    return {
        "status": outcome.status.value,
        "winner_id": winner_id(pairing, outcome),
        "league_points": list(outcome.awarded or outcome.league_points),
        "private_scores": list(outcome.private_scores),
    }


def order_of(turn: SeasonTurn) -> SettlementOrder:
    """The content of the operator's command."""
    found = read_order(turn.command.text) if turn.command is not None else None
    return found or SettlementOrder()


def nonce_of(turn: SeasonTurn) -> str:
    """What distinguishes the messages of this command from those of others."""
    return turn.command.nonce if turn.command is not None else ""


def refuse(turn: SeasonTurn, state: ManagerState, why: str) -> ManagerState:
    """Warn that the command cannot be carried out; the state stays."""
    word = turn.command.command.word if turn.command is not None else ""
    turn.warn("command_refused", f"{word}: {why}")
    return state
