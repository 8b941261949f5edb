"""The results of closed rounds and the standings after them: computed, announced and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from league_agents.games.q21.model import Termination
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Record, Send
from league_agents.league.machines.manager.broadcasts import (
    SeasonTurn,
    audience,
    broadcast,
    broadcast_envelope,
    round_id,
)
from league_agents.league.machines.manager.match_results import result_row, standings_facts
from league_agents.league.machines.manager.opening import RosterLetter, complain, note
from league_agents.league.machines.manager.own_rows import by_rank, own_results
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.season.schedule import Pairing
from league_agents.league.season.standings import MatchOutcome
from league_agents.league.season.tie_breaks import RankedTeam, ranking
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import RoundResults


def tell_results(
    turn: SeasonTurn, state: ManagerState, matches: Sequence[tuple[Pairing, MatchOutcome]], *, about: str
) -> None:
    """Announce and record the results of the last closed round, with the table after it."""
    config, number = turn.config, state.closed[-1].number
    ranked = table(turn, state)
    if config.results_broadcast:
        told = _results(turn, number, matches, ranked)
        broadcast(
            turn,
            state,
            MessageType.BROADCAST_ROUND_RESULTS,
            told,
            by_rank(audience(turn, state), told),
            about=about,
            round_number=number,
            own_rows=own_results(told, [pairing for pairing, _ in matches]),
        )
    turn.effects.append(
        Record(
            kind="round",
            key=str(number),
            termination=Termination.COMPLETED,
            facts={
                "season_id": config.season_id,
                "round_number": number,
                "round_id": round_id(config, state.season.resets, number),
                "results": {pairing.game_id: outcome.status.value for pairing, outcome in matches},
                "tie_breaks": list(config.table_order),
                "standings": standings_facts(state.standings, ranked),
            },
        )
    )


def tell_again(
    turn: SeasonTurn, state: ManagerState, changed: Sequence[tuple[Pairing, MatchOutcome]], *, about: str
) -> None:
    """Send the results of the last closed round again, with the changed matches, which may be of other rounds.

    ``about`` distinguishes the message from others about the same round. A season that is over is recorded again.
    """
    last = state.closed[-1]
    matches = _of_last_round(state)
    known = {pairing.game_id for pairing, _ in matches}
    matches += [each for each in changed if each[0].game_id not in known]
    tell_results(turn, state, matches, about=f"{last.number} {about}")
    if state.season.phase is SeasonPhase.FINISHED and not state.season.replays:
        record_season(turn, state, Termination.COMPLETED)


def send_results_again(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Send all results of the last closed round, and the whole standings, to a member that asks for them."""
    member = letter.member
    attendance = state.attendance[member.index]
    if not state.closed:
        return complain(turn, state, letter, "INVALID_STATE", "There are no standings yet.", is_recoverable=True)
    if member.is_core_only or attendance.extras >= turn.config.answer_limit:
        turn.warn("answer_limit", f"{member.email} is sent no standings")
        return state
    number = state.closed[-1].number
    told = _results(turn, number, _of_last_round(state), table(turn, state))
    about = f"{number} for {member.key} {attendance.extras}"
    envelope = broadcast_envelope(
        turn, state, MessageType.BROADCAST_ROUND_RESULTS, told, about=about, round_number=number
    )
    turn.effects.append(Send(envelope=envelope, to=(member.email,)))
    return note(state, member, evolve(attendance, extras=attendance.extras + 1))


def _of_last_round(state: ManagerState) -> list[tuple[Pairing, MatchOutcome]]:
    assert state.schedule is not None, "a closed round has a schedule"
    last = state.closed[-1]
    return [
        (pairing, record.counted)
        for pairing, record in zip(state.schedule.round(last.number), last.games, strict=True)
        if record.counted is not None
    ]


def _results(
    turn: SeasonTurn, number: int, matches: Sequence[tuple[Pairing, MatchOutcome]], ranked: Sequence[RankedTeam]
) -> RoundResults:
    return RoundResults(
        round_number=number,
        results=tuple(result_row(pairing, outcome, turn.config.rules) for pairing, outcome in matches),
        standings=tuple(each.row for each in ranked),
    )


def record_season(turn: SeasonTurn, state: ManagerState, termination: Termination) -> None:
    """Record the end of the season; again when a settlement changes the standings."""
    config, ranked = turn.config, table(turn, state)
    turn.effects.append(
        Record(
            kind="season",
            key=config.season_id,
            termination=termination,
            facts={
                "season_id": config.season_id,
                "season_name": config.season_name,
                "league_id": config.league_id,
                "rules": config.rules.name,
                "rounds_played": len(state.closed),
                "total_rounds": state.total_rounds,
                "tie_breaks": list(config.table_order),
                "standings": standings_facts(state.standings, ranked),
            },
        )
    )


def table(turn: SeasonTurn, state: ManagerState) -> tuple[RankedTeam, ...]:
    """The standings of the playing teams over the closed rounds."""
    config = turn.config
    return ranking(
        state.schedule.players if state.schedule is not None else config.teams,
        state.standings,
        tie_breaks=config.table_order,
        rules=config.rules,
        seed=config.lot_seed or config.season_id,
        games=lambda: counted_games(state),
        schedule=state.schedule,
    )


def counted_games(state: ManagerState) -> Iterator[tuple[Pairing, MatchOutcome]]:
    """The games of the closed rounds."""
    for closed in state.closed:
        assert state.schedule is not None
        for pairing, record in zip(state.schedule.round(closed.number), closed.games, strict=True):
            if record.counted is not None:
                yield pairing, record.counted
