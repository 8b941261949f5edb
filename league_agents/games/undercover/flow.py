"""How a match goes on: dealing, describing, voting, the check (arena 3.2).

Rule 1: every change of a match is one of these functions; the game and the graph nodes only call them.
Rule 2: whoever speaks or votes is due. These functions trust their caller on it and on the text that they are given;
``refusals`` is where trust is earned.
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.core.draw import Draw
from league_agents.core.game import ALL, AgentId, Cause, Event, Step, Visibility
from league_agents.core.printable import printable
from league_agents.games.undercover.config import Settings, check_table
from league_agents.games.undercover.own_word import comparable
from league_agents.games.undercover.state import (
    FIRST_BALLOT,
    REVOTE_BALLOT,
    Ballot,
    Deal,
    GameState,
    How,
    Phase,
    Player,
    PlayerId,
    Role,
    make_ballot,
    make_said,
    make_vote,
)
from league_agents.games.undercover.tally import counted, decided, leaders, verdict
from league_agents.games.undercover.texts import outcome_of_vote, said, victory
from league_agents.values import evolve, maker

_event = maker(Event)


def deal(settings: Settings, agent_ids: tuple[AgentId, ...], seed: int) -> GameState:
    """The first round's first moment. Raises ``ConfigError`` where the settings do not fit these agents."""
    names = check_table(settings, agent_ids)
    pair = Draw(seed, "pair").choice(settings.pairs)
    if settings.swap_pair and Draw(seed, "swap").below(2):
        pair = (pair[1], pair[0])
    words = {Role.CIVILIAN: pair[0], Role.UNDERCOVER: pair[1]}
    everyone = range(1, len(agent_ids) + 1)
    undercover = set(Draw(seed, "roles").sample(everyone, settings.num_undercover))
    players = []
    for player_id, agent_id, name in zip(everyone, agent_ids, names, strict=True):
        role = Role.UNDERCOVER if player_id in undercover else Role.CIVILIAN
        players.append(Player(player_id=player_id, agent_id=agent_id, name=name, role=role, word=words[role]))
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
        phase=Phase.DESCRIPTION,
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


def opening(state: GameState) -> tuple[Event, ...]:
    """The table, each player's word for himself alone, and the first round."""
    dealt, settings = state.deal, state.deal.settings
    lang = settings.lang
    public: dict[str, object] = {
        "num_players": len(dealt.players),
        "max_rounds": settings.max_rounds,
        "players": [
            {"player_id": player.player_id, "agent_id": player.agent_id, "name": player.name}
            for player in dealt.players
        ],
    }
    if settings.announce_counts:
        count = settings.num_undercover
        public["num_undercover"] = count
        text = said(lang, "started", players=len(dealt.players), undercover=count, verb="is" if count == 1 else "are")
    else:
        text = said(lang, "started_uncounted", players=len(dealt.players))
    events = [Event(kind="game_started", visible_to=ALL, text=text, data=public)]
    for player in dealt.players:
        own: dict[str, object] = {"player_id": player.player_id, "name": player.name, "word": player.word}
        named = {"player_id": player.player_id, "name": player.name, "word": player.word}
        if settings.know_own_role:
            own["role"] = player.role.value
            text = said(lang, "dealt_role", **named, role=said(lang, player.role))
        else:
            text = said(lang, "dealt", **named)
        events.append(Event(kind="word_dealt", visible_to=(player.agent_id,), text=text, data=own))
    return (*events, _round_started(state))


def describe(
    state: GameState,
    player_id: PlayerId,
    description: str,
    heard_by: Sequence[AgentId] | None,
    cause: Cause | None = None,
) -> Step[GameState]:
    """Somebody has described his word; with a ``cause``, has not and is silent."""
    player = state.deal.players[player_id - 1]
    hearers = _hearers(state, player_id, heard_by)
    entry = make_said(
        round=state.round,
        player_id=player_id,
        description=description,
        heard_by=hearers,
        cause=cause,
        key=comparable(description),
    )
    lang = state.deal.settings.lang
    fields: dict[str, object] = {
        "round": state.round,
        "player_id": player_id,
        "name": player.name,
        "description": description,
    }
    if cause is None:
        text = said(lang, "described", name=player.name, description=printable(description))
    else:
        fields["cause"] = cause.value
        text = said(lang, "silent", name=player.name)
    visible: Visibility = ALL if hearers is None else (player.agent_id, *hearers)
    event = _event(kind="description", visible_to=visible, text=text, data=fields)
    due = tuple(other for other in state.due if other != player_id)
    if due:
        return Step(state=evolve(state, due=due, said=(*state.said, entry)), events=(event,))
    after = evolve(state, phase=Phase.VOTING, due=state.living, said=(*state.said, entry))
    return Step(state=after, events=(event, _vote_opened(after)))


def cast(
    state: GameState, player_id: PlayerId, target_id: PlayerId | None, reason: str, cause: Cause | None = None
) -> Step[GameState]:
    """Somebody has voted; with a ``cause``, has not and abstains. The last vote leads to the check."""
    player = state.deal.players[player_id - 1]
    lang = state.deal.settings.lang
    vote = make_vote(voter_id=player_id, target_id=target_id, reason=reason, cause=cause)
    target = None if target_id is None else state.deal.players[target_id - 1].name
    fields: dict[str, object] = {
        "round": state.round,
        "ballot": state.ballot,
        "player_id": player_id,
        "target_id": target_id,
        "target_name": target,
        "reason": reason,
    }
    if cause is not None:
        fields["cause"] = cause.value
        text = said(lang, "vote_missed")
    else:
        text = said(lang, "abstained") if target is None else said(lang, "voted", target=target)
    event = _event(kind="vote_accepted", visible_to=(player.agent_id,), text=text, data=fields)
    votes = sorted((*state.current_votes, vote), key=lambda each: each.voter_id)
    due = tuple(other for other in state.due if other != player_id)
    phase = state.phase if due else Phase.CHECK
    return Step(state=evolve(state, phase=phase, due=due, current_votes=tuple(votes)), events=(event,))


def check(state: GameState) -> Step[GameState]:
    """Count the votes that are in, and go on to a revote, the next round or the end."""
    dealt, settings = state.deal, state.deal.settings
    tally = counted(state.current_votes)
    top = leaders(tally)
    how, out = decided(top, tie=settings.tie, ballot=state.ballot, seed=dealt.seed, round_num=state.round)
    ballot = make_ballot(
        round=state.round, number=state.ballot, votes=state.current_votes, tally=tally, how=how, eliminated=out
    )
    ballots = (*state.ballots, ballot)
    revealed = _votes_revealed(state, ballot, top)
    if how is How.REVOTE:
        after = evolve(
            state,
            phase=Phase.VOTING,
            ballot=REVOTE_BALLOT,
            candidates=top,
            due=state.living,
            current_votes=(),
            ballots=ballots,
        )
        return Step(state=after, events=(revealed, _vote_opened(after)))
    living = tuple(player_id for player_id in state.living if player_id != out)
    hidden = sum(dealt.players[player_id - 1].role is Role.UNDERCOVER for player_id in living)
    end = verdict(len(living) - hidden, hidden, is_last_round=state.round >= settings.max_rounds)
    if end is not None:
        after = evolve(
            state,
            phase=Phase.END,
            ballot=FIRST_BALLOT,
            candidates=(),
            living=living,
            due=(),
            current_votes=(),
            ballots=ballots,
            winner=end[0],
            reason=end[1],
        )
        return Step(state=after, events=(revealed, _game_over(after)))
    order = _speaking_order(dealt, state.round + 1, living, state.order)
    after = evolve(
        state,
        round=state.round + 1,
        phase=Phase.DESCRIPTION,
        ballot=FIRST_BALLOT,
        candidates=(),
        living=living,
        order=order,
        due=order,
        current_votes=(),
        ballots=ballots,
    )
    return Step(state=after, events=(revealed, _round_started(after)))


def public_votes(dealt: Deal, ballot: Ballot) -> list[dict[str, object]]:
    """The votes of a counted ballot as everybody sees them, in seat order of the voters."""
    players = dealt.players
    return [
        {
            "voter_id": vote.voter_id,
            "target_id": (target := vote.target_id),
            "voter_name": players[vote.voter_id - 1].name,
            "target_name": None if target is None else players[target - 1].name,
        }
        for vote in ballot.votes
    ]


def _hearers(state: GameState, speaker: PlayerId, heard_by: Sequence[AgentId] | None) -> tuple[AgentId, ...] | None:
    if heard_by is None:
        return None
    hearing = set(heard_by)
    players = state.deal.players
    # What all the living hear is public: nobody who plays could be harmed by the dead and the spectators hearing it.
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


def _round_started(state: GameState) -> Event:
    lang = state.deal.settings.lang
    order = said(lang, "join").join(state.deal.players[player_id - 1].name for player_id in state.order)
    return Event(
        kind="round_started",
        visible_to=ALL,
        text=said(lang, "round", round=state.round, order=order),
        data={"round": state.round, "order": list(state.order)},
    )


def _vote_opened(state: GameState) -> Event:
    lang = state.deal.settings.lang
    if state.candidates:
        names = said(lang, "join").join(state.deal.players[player_id - 1].name for player_id in state.candidates)
        text = said(lang, "revoting", round=state.round, candidates=names)
    else:
        text = said(lang, "voting", round=state.round)
    fields = {"round": state.round, "ballot": state.ballot, "candidates": list(state.candidates)}
    return Event(kind="vote_opened", visible_to=ALL, text=text, data=fields)


def _votes_revealed(state: GameState, ballot: Ballot, top: tuple[PlayerId, ...]) -> Event:
    dealt, settings = state.deal, state.deal.settings
    fields: dict[str, object] = {
        "round": ballot.round,
        "ballot": ballot.number,
        "votes": public_votes(dealt, ballot),
        "tally": {str(player_id): count for player_id, count in ballot.tally},
        "eliminated": ballot.eliminated,
        "how": ballot.how.value,
    }
    if ballot.how is How.REVOTE:
        fields["candidates"] = list(top)
    name = role = None
    if ballot.eliminated is not None:
        out = dealt.players[ballot.eliminated - 1]
        name = out.name
        if settings.reveal == "role":
            role = out.role
            fields["role"] = role.value
    tally = said(settings.lang, "join").join(
        f"{dealt.players[player_id - 1].name} {count}" for player_id, count in ballot.tally
    )
    text = outcome_of_vote(settings.lang, tally, ballot.how, name, role)
    return Event(kind="votes_revealed", visible_to=ALL, text=text, data=fields)


def _game_over(state: GameState) -> Event:
    dealt, settings = state.deal, state.deal.settings
    winner, reason = state.winner, state.reason
    if winner is None or reason is None:
        raise ValueError("a match that is not over has no winner")
    lang = settings.lang
    fields: dict[str, object] = {"round": state.round, "winner": winner.value, "reason": reason.value}
    text = victory(lang, winner, reason)
    if settings.reveal_at_end:
        fields["word_pair"] = {role.value: word for role, word in dealt.words.items()}
        fields["players"] = [
            {"player_id": player.player_id, "name": player.name, "role": player.role.value, "word": player.word}
            for player in dealt.players
        ]
        names = said(lang, "join").join(player.name for player in dealt.players if player.role is Role.UNDERCOVER)
        text += said(
            lang,
            "words",
            civilian=dealt.words[Role.CIVILIAN],
            undercover=dealt.words[Role.UNDERCOVER],
            names=names,
        )
    return Event(kind="game_over", visible_to=ALL, text=text, data=fields)
