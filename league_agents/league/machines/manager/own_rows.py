"""The rows of tables that each member needs, in a league where the whole tables are too much mail.

Whole tables for everybody cost bytes that grow with the square of the number of teams. A member that understands it is
sent the rows of its own games, and its own standing with its neighbours; it may ask for the whole table.

Rule: rows are chosen here, never changed: each row of a part is a row of the whole table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.manager.config import RosterMember
from league_agents.league.season.schedule import Pairing
from league_agents.league.wire.address import address_key
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import Assignment, AssignmentTable, NewRound, RoundResults, whole_table

OwnRows = Callable[[Sequence[RosterMember]], NewRound | RoundResults]
"""From the recipients of one mail to its payload."""


def own_tables(
    table: AssignmentTable, members: Sequence[RosterMember]
) -> Iterator[tuple[Sequence[RosterMember], AssignmentTable]]:
    """The games of each team, and the members of the team among ``members``.

    A team without a game is sent the first game, because a table without rows cannot be read.
    """
    if not members:
        return
    whole = whole_table(MessageType.REQUEST_ASSIGNMENT_TABLE, len(table.assignments), table.assignments)
    games: dict[GameId, list[Assignment]] = defaultdict(list)
    of_mailbox: dict[str, list[GameId]] = defaultdict(list)
    for row in table.assignments:
        games[row.game_id].append(row)
        of_mailbox[address_key(row.email)].append(row.game_id)
    teams: dict[str, list[RosterMember]] = defaultdict(list)
    for member in members:
        teams[member.team.group_id].append(member)
    for team in teams.values():
        own = sorted({game for member in team for game in of_mailbox[member.key]}) or [table.assignments[0].game_id]
        yield team, evolve(table, assignments=tuple(row for game in own for row in games[game]), whole=whole)


def own_round(announced: NewRound, pairings: Sequence[Pairing]) -> OwnRows:
    """The announcement of a round whose list of present addresses has those of the receivers' games only."""
    if announced.participant_lookup_table is None:
        return lambda _: announced
    games = [{address_key(row.email) for row in pairing.assignments()} for pairing in pairings]

    def own(members: Sequence[RosterMember]) -> NewRound:
        keys = {member.key for member in members}
        keys.update(*(game for game in games if not game.isdisjoint(keys)))
        present = announced.participant_lookup_table or ()
        return evolve(announced, participant_lookup_table=tuple(each for each in present if address_key(each) in keys))

    return own


def own_results(results: RoundResults, pairings: Sequence[Pairing]) -> OwnRows:
    """The receivers' own results, and of the standings the leader, their own rows and the rows next to these."""
    groups = {
        pairing.game_id: {team.group_id for team in (pairing.player1, pairing.player2, pairing.referee)}
        for pairing in pairings
    }
    standings = results.standings
    places = {row.participant_id: place for place, row in enumerate(standings)}
    whole = cache(lambda: whole_table(MessageType.QUERY_STANDINGS_REQUEST, len(standings), results.results, standings))

    def own(members: Sequence[RosterMember]) -> RoundResults:
        teams = {member.team.group_id for member in members}
        chosen = {0} if standings else set()
        for team in teams & places.keys():
            place = places[team]
            chosen.update(range(max(place - 1, 0), min(place + 2, len(standings))))
        return evolve(
            results,
            results=tuple(
                row for row in results.results if row.game_id is not None and not teams.isdisjoint(groups[row.game_id])
            ),
            standings=tuple(standings[place] for place in sorted(chosen)),
            whole=whole(),
        )

    return own


def by_rank(members: Sequence[RosterMember], results: RoundResults) -> list[RosterMember]:
    """The members with neighbours in the standings next to each other, so that one mail serves them."""
    places = {row.participant_id: place for place, row in enumerate(results.standings)}
    return sorted(members, key=lambda member: (places.get(member.team.group_id, len(places)), member.index))
