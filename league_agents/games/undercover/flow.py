"""The course of a match: dealing, describing, voting, the check (arena 3.2).

Rule 1: every change of a match is one of these functions; the game and the graph nodes only call them.
Rule 2: these functions do not check that the speaker or voter is due, nor the text; ``refusals`` does this before.
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.games.game import AgentId, ForfeitCause, Step
from league_agents.games.undercover.announce import (
    description_made,
    game_over,
    round_started,
    vote_accepted,
    vote_opened,
    votes_revealed,
)
from league_agents.games.undercover.config import Settings, check_table
from league_agents.games.undercover.state import (
    FIRST_BALLOT,
    REVOTE_BALLOT,
    Ballot,
    Deal,
    Description,
    GameState,
    How,
    PlayerId,
    RoundPhase,
    UndercoverPlayer,
    Vote,
    WordRole,
)
from league_agents.games.undercover.tally import counted, decided, leaders, verdict
from league_agents.kit.draw import Draw
from league_agents.kit.likeness import comparable
from league_agents.kit.values import evolve


def deal(settings: Settings, agent_ids: tuple[AgentId, ...], seed: int) -> GameState:
    """Deal the words and open the first round. Raises ``ConfigError`` if the settings do not fit these agents."""
    names = check_table(settings, agent_ids)
    pair = Draw(seed, "pair").choice(settings.pairs)
    if settings.swap_pair and Draw(seed, "swap").below(2):
        pair = (pair[1], pair[0])
    words = {WordRole.CIVILIAN: pair[0], WordRole.UNDERCOVER: pair[1]}
    everyone = range(1, len(agent_ids) + 1)
    undercover = set(Draw(seed, "roles").sample(everyone, settings.num_undercover))
    players = []
    for player_id, agent_id, name in zip(everyone, agent_ids, names, strict=True):
        role = WordRole.UNDERCOVER if player_id in undercover else WordRole.CIVILIAN
        players.append(UndercoverPlayer(player_id=player_id, agent_id=agent_id, name=name, role=role, word=words[role]))
    dealt = Deal(
        settings=settings,
        seed=seed,
        players=tuple(players),
        seats=dict(zip(agent_ids, everyone, strict=True)),
        words=words,
    )
    living = tuple(everyone)
    order = _speaking_order(dealt, 1, living, ())
    return GameState(
        deal=dealt,
        round=1,
        phase=RoundPhase.DESCRIPTION,
        ballot=FIRST_BALLOT,
        candidates=(),
        living=living,
        order=order,
        due=order,
        said=(),
        current_votes=(),
        ballots=(),
        winner=None,
        reason=None,
    )


def describe(
    state: GameState,
    player_id: PlayerId,
    description: str,
    heard_by: Sequence[AgentId] | None,
    cause: ForfeitCause | None = None,
) -> Step[GameState]:
    """Record a description of a player's word; with a ``cause``, silence."""
    hearers = _hearers(state, player_id, heard_by)
    entry = Description(
        round=state.round,
        player_id=player_id,
        description=description,
        heard_by=hearers,
        cause=cause,
        key=comparable(description),
    )
    event = description_made(state, entry)
    due = tuple(other for other in state.due if other != player_id)
    if due:
        return Step(state=evolve(state, due=due, said=(*state.said, entry)), events=(event,))
    after = evolve(state, phase=RoundPhase.VOTING, due=state.living, said=(*state.said, entry))
    return Step(state=after, events=(event, vote_opened(after)))


def cast(
    state: GameState, player_id: PlayerId, target_id: PlayerId | None, reason: str, cause: ForfeitCause | None = None
) -> Step[GameState]:
    """Record a vote; with a ``cause``, an abstention. The last vote leads to the check."""
    vote = Vote(voter_id=player_id, target_id=target_id, reason=reason, cause=cause)
    event = vote_accepted(state, vote)
    votes = sorted((*state.current_votes, vote), key=lambda each: each.voter_id)
    due = tuple(other for other in state.due if other != player_id)
    phase = state.phase if due else RoundPhase.CHECK
    return Step(state=evolve(state, phase=phase, due=due, current_votes=tuple(votes)), events=(event,))


def check(state: GameState) -> Step[GameState]:
    """Count the votes, and go on to a revote, the next round or the end."""
    dealt, settings = state.deal, state.deal.settings
    tally = counted(state.current_votes)
    top = leaders(tally)
    how, out = decided(top, tie=settings.tie, ballot=state.ballot, seed=dealt.seed, round_num=state.round)
    ballot = Ballot(
        round=state.round, number=state.ballot, votes=state.current_votes, tally=tally, how=how, eliminated=out
    )
    ballots = (*state.ballots, ballot)
    revealed = votes_revealed(state, ballot, top)
    if how is How.REVOTE:
        after = evolve(
            state,
            phase=RoundPhase.VOTING,
            ballot=REVOTE_BALLOT,
            candidates=top,
            due=state.living,
            current_votes=(),
            ballots=ballots,
        )
        return Step(state=after, events=(revealed, vote_opened(after)))
    living = tuple(player_id for player_id in state.living if player_id != out)
    hidden = sum(dealt.players[player_id - 1].role is WordRole.UNDERCOVER for player_id in living)
    end = verdict(len(living) - hidden, hidden, is_last_round=state.round >= settings.max_rounds)
    if end is not None:
        after = evolve(
            state,
            phase=RoundPhase.END,
            ballot=FIRST_BALLOT,
            candidates=(),
            living=living,
            due=(),
            current_votes=(),
            ballots=ballots,
            winner=end[0],
            reason=end[1],
        )
        return Step(state=after, events=(revealed, game_over(after)))
    order = _speaking_order(dealt, state.round + 1, living, state.order)
    after = evolve(
        state,
        round=state.round + 1,
        phase=RoundPhase.DESCRIPTION,
        ballot=FIRST_BALLOT,
        candidates=(),
        living=living,
        order=order,
        due=order,
        current_votes=(),
        ballots=ballots,
    )
    return Step(state=after, events=(revealed, round_started(after)))


def _hearers(state: GameState, speaker: PlayerId, heard_by: Sequence[AgentId] | None) -> tuple[AgentId, ...] | None:
    if heard_by is None:
        return None
    hearing = set(heard_by)
    players = state.deal.players
    # A description that all living players hear is public: the dead and the spectators may hear it without harm.
    if all(players[other - 1].agent_id in hearing for other in state.living if other != speaker):
        return None
    return tuple(player.agent_id for player in players if player.agent_id in hearing and player.player_id != speaker)


def _speaking_order(
    dealt: Deal, round_num: int, living: tuple[PlayerId, ...], before: tuple[PlayerId, ...]
) -> tuple[PlayerId, ...]:
    kind = dealt.settings.speaking_order
    if kind == "random":
        return tuple(Draw(dealt.seed, f"order:{round_num}").shuffled(living))
    if kind == "rotate" and before:
        start = next((place for place, player_id in enumerate(living) if player_id > before[0]), 0)
        return living[start:] + living[:start]
    return living
