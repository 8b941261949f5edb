"""The events of a match: their viewers and their texts (arena 3.2).

Rule: an event contains only what all its viewers may know. Nothing here changes a match.
"""

from __future__ import annotations

from league_agents.games.game import ALL, Event, Visibility
from league_agents.games.undercover.state import Ballot, Deal, Description, GameState, How, PlayerId, Vote, WordRole
from league_agents.games.undercover.texts import outcome_of_vote, said, victory
from league_agents.kit.printable import printable


def opening(state: GameState) -> tuple[Event, ...]:
    """Return the seats, each player's word for that player alone, and the first round."""
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
    return (*events, round_started(state))


def description_made(state: GameState, entry: Description) -> Event:
    """Return a description, visible to its hearers; a silence is visible to everybody."""
    player = state.deal.players[entry.player_id - 1]
    lang = state.deal.settings.lang
    fields: dict[str, object] = {
        "round": entry.round,
        "player_id": entry.player_id,
        "name": player.name,
        "description": entry.description,
    }
    if entry.cause is None:
        text = said(lang, "described", name=player.name, description=printable(entry.description))
    else:
        fields["cause"] = entry.cause.value
        text = said(lang, "silent", name=player.name)
    visible: Visibility = ALL if entry.heard_by is None else (player.agent_id, *entry.heard_by)
    return Event(kind="description", visible_to=visible, text=text, data=fields)


def vote_accepted(state: GameState, vote: Vote) -> Event:
    """Return a vote, visible to its voter alone."""
    lang = state.deal.settings.lang
    players = state.deal.players
    target = None if vote.target_id is None else players[vote.target_id - 1].name
    fields: dict[str, object] = {
        "round": state.round,
        "ballot": state.ballot,
        "player_id": vote.voter_id,
        "name": players[vote.voter_id - 1].name,
        "target_id": vote.target_id,
        "target_name": target,
        "reason": vote.reason,
    }
    if vote.cause is not None:
        fields["cause"] = vote.cause.value
        text = said(lang, "vote_missed")
    else:
        text = said(lang, "abstained") if target is None else said(lang, "voted", target=target)
    voter = players[vote.voter_id - 1].agent_id
    return Event(kind="vote_accepted", visible_to=(voter,), text=text, data=fields)


def public_votes(dealt: Deal, ballot: Ballot) -> list[dict[str, object]]:
    """Return the public part of the votes of a counted ballot, in seat order of the voters."""
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


def round_started(state: GameState) -> Event:
    """Return the start of a round, with the speaking order."""
    lang = state.deal.settings.lang
    order = said(lang, "join").join(state.deal.players[player_id - 1].name for player_id in state.order)
    return Event(
        kind="round_started",
        visible_to=ALL,
        text=said(lang, "round", round=state.round, order=order),
        data={"round": state.round, "order": list(state.order)},
    )


def vote_opened(state: GameState) -> Event:
    """Return the start of a vote; in a revote, with the tied candidates."""
    lang = state.deal.settings.lang
    if state.candidates:
        names = said(lang, "join").join(state.deal.players[player_id - 1].name for player_id in state.candidates)
        text = said(lang, "revoting", round=state.round, candidates=names)
    else:
        text = said(lang, "voting", round=state.round)
    fields = {"round": state.round, "ballot": state.ballot, "candidates": list(state.candidates)}
    return Event(kind="vote_opened", visible_to=ALL, text=text, data=fields)


def votes_revealed(state: GameState, ballot: Ballot, top: tuple[PlayerId, ...]) -> Event:
    """Return all votes and their result; the reasons stay private to the voters. ``top`` had the most votes."""
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


def game_over(state: GameState) -> Event:
    """Return the winning side; with ``reveal_at_end`` also each player's word."""
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
        names = said(lang, "join").join(player.name for player in dealt.players if player.role is WordRole.UNDERCOVER)
        text += said(
            lang,
            "words",
            civilian=dealt.words[WordRole.CIVILIAN],
            undercover=dealt.words[WordRole.UNDERCOVER],
            names=names,
        )
    return Event(kind="game_over", visible_to=ALL, text=text, data=fields)
