"""The schedule of a season: the players and the referee of each game, round by round; the round robin.

Rule 1: every pair of players meets once, or twice with sides swapped; no player has two games in a round, unless the
season has several games at once; no group judges itself. A group's player and its referee are two mailboxes, so both
may have a game in one round (protocol 1.1).
Rule 2: a schedule is a function of the teams in the order given. Nothing is random, so it can be computed again.

``pairings`` has the kinds that are paired round by round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from league_agents.kit.errors import ConfigError
from league_agents.kit.ids import GameId, game_id, is_game_id, round_of
from league_agents.kit.values import evolve
from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.address import address_key, read_address
from league_agents.league.wire.messages import Assignment, AssignmentRole

MOST_SEASON, MOST_ROUNDS, MOST_GAMES = 99, 99, 999
"""The largest numbers that the digits of a game id can hold (protocol 1.2)."""

MOST_AT_ONCE = 20
"""Games of a mailbox in a round: as many deadlines run for it at the same time."""


class ScheduleKind(StrEnum):
    """How opponents are found."""

    ROUND_ROBIN = "round-robin"
    """Each team meets every other team once."""

    DOUBLE = "double"
    """Each team meets every other team twice, with sides swapped."""

    SWISS = "swiss"
    """Each round pairs teams of similar standing that have not met."""

    KNOCKOUT = "knockout"
    """The winner of each game advances to the next round."""

    @property
    def is_round_by_round(self) -> bool:
        """Whether each round is paired when the previous one is over."""
        return self in (ScheduleKind.SWISS, ScheduleKind.KNOCKOUT)


class Team(Struct, frozen=True, kw_only=True):
    """One group: a player's mailbox and a referee's."""

    group_id: str
    player_email: str
    """Exactly as the mail service reports it for the account (protocol 1.1)."""

    referee_email: str
    display_name: str = ""
    """The name in the standings; if empty, they show the group id."""

    @property
    def name(self) -> str:
        """The team's name for people."""
        return self.display_name or self.group_id


class Pairing(Struct, frozen=True, kw_only=True):
    """One game: two players and the referee of a third group."""

    game_id: GameId
    player1: Team
    player2: Team
    referee: Team
    replay_of: str = ""
    """The id of the game that this one is a replay of; empty for any other game."""

    def assignments(self) -> tuple[Assignment, Assignment, Assignment]:
        """The three rows of the assignment table (protocol 4.1.4)."""
        one, two, judge = self.player1, self.player2, self.referee
        return (
            Assignment(
                role=AssignmentRole.PLAYER1, email=one.player_email, game_id=self.game_id, group_id=one.group_id
            ),
            Assignment(
                role=AssignmentRole.PLAYER2, email=two.player_email, game_id=self.game_id, group_id=two.group_id
            ),
            Assignment(
                role=AssignmentRole.REFEREE, email=judge.referee_email, game_id=self.game_id, group_id=judge.group_id
            ),
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """The games of a season, round by round."""

    rounds: tuple[tuple[Pairing, ...], ...]
    """All rounds from round 1; for a kind that is paired round by round, the rounds that are paired so far."""

    kind: ScheduleKind = ScheduleKind.ROUND_ROBIN
    planned: int = 0
    """How many rounds a kind that is paired round by round will have, without extra rounds; 0 for the others."""

    entrants: tuple[Team, ...] = ()
    """The teams of a kind that is paired round by round, in the order of the seeding; empty for the others."""

    referees: tuple[Team, ...] = ()
    """The teams whose referees judge, for a kind that is paired round by round; empty for the others."""

    players: tuple[Team, ...] = field(init=False, repr=False, compare=False)
    """The teams that play: the entrants, or the teams with games in the order of their first game."""

    _places: Mapping[str, tuple[int, int]] = field(init=False, repr=False, compare=False)
    _addresses: frozenset[str] = field(init=False, repr=False, compare=False)
    _replays: Mapping[str, GameId] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places = {
            pairing.game_id: (number, index)
            for number, pairings in enumerate(self.rounds, start=1)
            for index, pairing in enumerate(pairings)
        }
        addresses = {
            address_key(address)
            for pairing in self
            for address in (pairing.player1.player_email, pairing.player2.player_email, pairing.referee.referee_email)
        }
        players = self.entrants or dict.fromkeys(team for game in self for team in (game.player1, game.player2))
        addresses |= {address_key(team.player_email) for team in self.entrants}
        addresses |= {address_key(team.referee_email) for team in self.referees}
        object.__setattr__(self, "players", tuple(players))
        object.__setattr__(self, "_places", places)
        object.__setattr__(self, "_replays", {game.replay_of: game.game_id for game in self if game.replay_of})
        object.__setattr__(self, "_addresses", frozenset(addresses))

    def __iter__(self) -> Iterator[Pairing]:
        return (pairing for pairings in self.rounds for pairing in pairings)

    @property
    def total_rounds(self) -> int:
        """The number of rounds of the season, including rounds that are not paired yet."""
        if not self.planned:
            return len(self.rounds)
        extra = sum(self.is_extra(number) for number in range(1, len(self.rounds) + 1))
        return max(self.planned + extra, len(self.rounds))

    def with_round(self, pairings: Sequence[Pairing]) -> Schedule:
        """The schedule with its next round."""
        return self._with_rounds((*self.rounds, tuple(pairings)))

    def with_referee(self, game: str, referee: Team) -> Schedule:
        """The schedule with another referee for a game."""
        return self._with_rounds(
            tuple(
                tuple(evolve(pairing, referee=referee) if pairing.game_id == game else pairing for pairing in pairings)
                for pairings in self.rounds
            )
        )

    def without_extra_rounds(self) -> Schedule:
        """The rounds that were paired, without the replays of single games."""
        numbers = range(1, len(self.rounds) + 1)
        if not any(self.is_extra(number) for number in numbers):
            return self
        return self._with_rounds(tuple(self.round(number) for number in numbers if not self.is_extra(number)))

    def is_extra(self, number: int) -> bool:
        """Whether a round consists of replays."""
        pairings = self.round(number)
        return bool(pairings) and bool(pairings[0].replay_of)

    def replay(self, game: str) -> GameId | None:
        """The latest replay of a game; ``None`` if there is none."""
        return self._replays.get(game)

    def _with_rounds(self, rounds: tuple[tuple[Pairing, ...], ...]) -> Schedule:
        return Schedule(rounds, self.kind, self.planned, self.entrants, self.referees)

    def game(self, game: str) -> Pairing:
        """The game with this id. Raises ``KeyError``."""
        number, index = self._places[game]
        return self.round(number)[index]

    def round(self, number: int) -> tuple[Pairing, ...]:
        """The games of a round, from 1."""
        return self.rounds[number - 1]

    def place(self, game: str) -> tuple[int, int] | None:
        """The round number and the position in the round; ``None`` if no game has this id."""
        return self._places.get(game)

    def involves(self, key: str) -> bool:
        """Whether the mailbox with this ``address_key`` has a game."""
        return key in self._addresses

    def assignments(self) -> tuple[Assignment, ...]:
        """The rows of the assignment table, game by game."""
        return tuple(row for pairing in self for row in pairing.assignments())


def round_robin(
    teams: Sequence[Team],
    *,
    season: int,
    double: bool = False,
    referees: Sequence[Team] | None = None,
    games_at_once: int = 1,
) -> Schedule:
    """Pair every team with every other team, by the circle method.

    A round has ``games_at_once`` games of each player, and as many of each referee at most. ``referees`` are the teams
    whose referees judge; ``None`` means the playing teams. Sides are balanced to one game, refereeing as far as the
    pairs allow. Raises ``ConfigError`` that names the conflict.
    """
    judges = teams if referees is None else referees
    check_teams(teams, least=3 if referees is None else 2)
    check_teams(list({id(team): team for team in (*teams, *judges)}.values()), least=3)
    check_season(season)
    size = len(teams) + len(teams) % 2
    count = -(-(size - 1) * (2 if double else 1) // games_at_once)
    if count > MOST_ROUNDS:
        meetings = "twice" if double else "once"
        raise ConfigError(
            "teams",
            f"{len(teams)} teams that all meet {meetings} need {count} rounds, and a season has at most {MOST_ROUNDS}: "
            "use fewer teams, divisions, or more games at once",
        )
    if size // 2 * games_at_once > MOST_GAMES:
        raise ConfigError("games_at_once", f"is too large: a round has at most {MOST_GAMES} games (protocol 1.2)")
    duty: Counter[str] = Counter({judge.group_id: 0 for judge in judges})
    legs = [_leg(teams, size, swapped=False)]
    if double:
        legs.append(_leg(teams, size, swapped=True))
    rounds = []
    turns = [pairs for leg in legs for pairs in leg]
    for number, start in enumerate(range(0, len(turns), games_at_once), start=1):
        games: list[Pairing] = []
        for turn, pairs in enumerate(turns[start : start + games_at_once], start=start + 1):
            chosen = _judges(pairs, judges, duty, turn)
            games += _games(pairs, chosen, season=season, number=number, first=len(games) + 1)
        rounds.append(tuple(games))
    return Schedule(tuple(rounds), ScheduleKind.DOUBLE if double else ScheduleKind.ROUND_ROBIN)


def single_game(player1: Team, player2: Team, referee: Team, *, season: int = 1) -> Schedule:
    """A season of one round with one game, for teams of three groups."""
    check_teams((player1, player2, referee), least=3)
    check_season(season)
    pairing = Pairing(game_id=game_id(season, 1, 1), player1=player1, player2=player2, referee=referee)
    return Schedule(((pairing,),))


def check_teams(teams: Sequence[Team], *, least: int) -> None:
    """Raise ``ConfigError`` unless there are enough teams with addresses of their own."""
    if len(teams) < least:
        raise ConfigError(
            "teams", f"at least {least} are needed, found {len(teams)}: two play and a third one judges (protocol 1.1)"
        )
    groups: set[str] = set()
    addresses: dict[str, str] = {}
    for team in teams:
        if not team.group_id.strip():
            raise ConfigError("teams", f"the team of {team.player_email} needs a group_id (protocol 4.1.4)")
        if team.group_id in groups:
            raise ConfigError("teams", f"two teams have the group_id {shown(team.group_id)}: each needs its own")
        groups.add(team.group_id)
        for address in (team.player_email, team.referee_email):
            if read_address(address) != address:
                raise ConfigError("teams", f"{team.group_id}: {shown(address)} is not a mail address")
            other = addresses.setdefault(address_key(address), team.group_id)
            if other != team.group_id or address_key(team.player_email) == address_key(team.referee_email):
                raise ConfigError(
                    "teams", f"{address} is used twice: every player and every referee needs a mailbox of its own"
                )


def check_schedule(schedule: Schedule, *, season: int, games_at_once: int = 1) -> list[Violation]:
    """Violations in a schedule that this module did not draw up. ``games_at_once``: of a mailbox in a round."""
    found: list[Violation] = []
    seen: set[str] = set()
    if not 1 <= len(schedule.rounds) <= MOST_ROUNDS:
        found.append(Violation(path="rounds", rule=f"1 to {MOST_ROUNDS} rounds", found=str(len(schedule.rounds))))
    for number, pairings in enumerate(schedule.rounds, start=1):
        if not pairings:
            found.append(Violation(path=f"rounds[{number - 1}]", rule="one game or more", found="none"))
        busy: Counter[str] = Counter()
        for index, pairing in enumerate(pairings):
            path = f"rounds[{number - 1}][{index}]"
            if not is_game_id(pairing.game_id) or pairing.game_id[:2] != f"{season:02d}":
                found.append(Violation(path=f"{path}.game_id", rule=f"of season {season:02d}", found=pairing.game_id))
            elif round_of(pairing.game_id) != number:
                found.append(Violation(path=f"{path}.game_id", rule=f"of round {number:02d}", found=pairing.game_id))
            if pairing.game_id in seen:
                found.append(Violation(path=f"{path}.game_id", rule="unique", found=pairing.game_id))
            seen.add(pairing.game_id)
            groups = {pairing.player1.group_id, pairing.player2.group_id, pairing.referee.group_id}
            if len(groups) < 3:
                found.append(Violation(path=path, rule="three different groups", found=", ".join(sorted(groups))))
            for address in (
                pairing.player1.player_email,
                pairing.player2.player_email,
                pairing.referee.referee_email,
            ):
                busy[address_key(address)] += 1
                if busy[address_key(address)] == games_at_once + 1:
                    most = "one game" if games_at_once == 1 else f"at most {games_at_once} games"
                    found.append(Violation(path=path, rule=f"{most} per mailbox and round", found=address))
    return found


Pair = tuple[Team, Team]


def _leg(teams: Sequence[Team], size: int, *, swapped: bool) -> Iterator[list[Pair]]:
    """The rounds in which each team meets every other team once.

    The last place of the circle is fixed; with an odd number of teams it is the bye. In round r the places r + k and
    r - k meet, and the first named is player 1 if k is odd: over all rounds each place is on either side equally often.
    The fixed place changes sides every round.
    """
    turning = size - 1
    for start in range(turning):
        pairs: list[Pair] = []
        if len(teams) == size:
            pair = (teams[start], teams[turning])
            pairs.append(pair if start % 2 == 0 else (pair[1], pair[0]))
        for step in range(1, size // 2):
            pair = (teams[(start + step) % turning], teams[(start - step) % turning])
            pairs.append(pair if step % 2 == 1 else (pair[1], pair[0]))
        yield [(two, one) for one, two in pairs] if swapped else pairs


def with_judges(
    pairs: Sequence[Pair], judges: Sequence[Team], duty: Counter[str], *, season: int, number: int
) -> tuple[Pairing, ...]:
    """The games of a round. ``duty`` counts the games that each group has judged, by group id, and is updated.

    Raises ``ConfigError`` if a game has no referee of a third group.
    """
    return _games(pairs, _judges(pairs, judges, duty, number), season=season, number=number)


def _games(
    pairs: Sequence[Pair], chosen: Sequence[Team], *, season: int, number: int, first: int = 1
) -> tuple[Pairing, ...]:
    """Games of a round, numbered from ``first``."""
    return tuple(
        Pairing(game_id=game_id(season, number, game), player1=one, player2=two, referee=judge)
        for game, ((one, two), judge) in enumerate(zip(pairs, chosen, strict=True), start=first)
    )


def _judges(pairs: Sequence[Pair], judges: Sequence[Team], duty: Counter[str], number: int) -> list[Team]:
    """A referee for each game of a round; referees who judged least so far are preferred.

    Sets of referees that can be matched to games form a matroid: taking them in the order of their duty, and keeping
    each one for whom an augmenting path exists, gives the set with the least duty.
    """
    players = {team.group_id for pair in pairs for team in pair}
    count = len(judges)
    order = sorted(
        range(count),
        # Among equals prefer teams that do not play this round, then rotate, so that no team is always first.
        key=lambda index: (duty[judges[index].group_id], judges[index].group_id in players, (index - number) % count),
    )
    chosen: list[int | None] = [None] * len(pairs)

    def place(judge: int, tried: set[int]) -> bool:
        group = judges[judge].group_id
        for game, (one, two) in enumerate(pairs):
            if game in tried or group in (one.group_id, two.group_id):
                continue
            tried.add(game)
            holder = chosen[game]
            if holder is None or place(holder, tried):
                chosen[game] = judge
                return True
        return False

    open_games = len(pairs)
    for judge in order:
        if open_games and place(judge, set()):
            open_games -= 1
    found: list[Team] = []
    for (one, two), index in zip(pairs, chosen, strict=True):
        if index is None:
            raise ConfigError(
                "referees",
                f"round {number} has {len(pairs)} games and {count} referees: {one.group_id} against {two.group_id} "
                "has no referee of a third group; add referees",
            )
        found.append(judges[index])
        duty[judges[index].group_id] += 1
    return found


def check_season(season: int) -> None:
    if not 0 <= season <= MOST_SEASON:
        raise ConfigError("season_number", f"must be 0 to {MOST_SEASON}, the two first digits of a game id: {season}")
