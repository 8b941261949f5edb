"""Extra rounds, in which matches are played again.

Rule 1: a replay has a game id of its own, in a round of its own. Deployed clients drop a second game with the same id,
ignore a second announcement of a round or start its games anew, and a referee plays one game in a round (protocol 1.2,
4.1.4, 4.2.1).
Rule 2: an extra round is no round of a Swiss or knockout season: it is no bye for those who do not play in it, and a
replay that counts stands for its first match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from league_agents.kit.ids import game_id
from league_agents.kit.values import evolve
from league_agents.league.season.schedule import Pairing, Schedule
from league_agents.league.season.standings import MatchOutcome, MatchStatus
from league_agents.league.wire.address import address_key


def extra_round(schedule: Schedule, wanted: Iterable[Pairing], *, season: int) -> tuple[Pairing, ...]:
    """The games of the next round: replays of the matches in ``wanted``, with the referees given there.

    Matches that need a mailbox which has a game in the round already are left for another round.
    """
    number = len(schedule.rounds) + 1
    busy: set[str] = set()
    games: list[Pairing] = []
    for match in wanted:
        mailboxes = {
            address_key(address)
            for address in (match.player1.player_email, match.player2.player_email, match.referee.referee_email)
        }
        if busy.isdisjoint(mailboxes):
            busy |= mailboxes
            games.append(evolve(match, game_id=game_id(season, number, len(games) + 1), replay_of=match.game_id))
    return tuple(games)


def with_replays(schedule: Schedule, outcomes: Mapping[str, MatchOutcome]) -> dict[str, MatchOutcome]:
    """The outcomes by game id, where a match that was replayed has the outcome of its replay; none before that."""
    found = dict(outcomes)
    for match in schedule:
        outcome = outcomes.get(match.game_id)
        replay = schedule.replay(match.game_id)
        while replay is not None and outcome is not None and outcome.status is MatchStatus.REPLAYED:
            outcome, replay = outcomes.get(replay), schedule.replay(replay)
        if outcome is None or outcome.status is MatchStatus.REPLAYED:
            found.pop(match.game_id, None)
        else:
            found[match.game_id] = outcome
    return found
