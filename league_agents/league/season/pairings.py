"""Swiss and knockout seasons, in which a round is paired when the results of the previous one are known.

Rule 1: no two teams meet twice in a Swiss season, and no team has a second bye before every team had one.
Rule 2: the number of rounds is limited so that each round can be paired, whatever the results.
Rule 3: a round is a function of the rounds before it. Nothing is random.
Rule 4: a Swiss round leaves out withdrawn teams. A round that a team sits out is a bye, whatever the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from league_agents.games.q21.rules import RuleSet
from league_agents.kit.errors import ConfigError
from league_agents.league.season.replays import with_replays
from league_agents.league.season.schedule import (
    MOST_ROUNDS,
    Pair,
    Pairing,
    Schedule,
    ScheduleKind,
    Team,
    check_season,
    check_teams,
    round_robin,
    with_judges,
)
from league_agents.league.season.standings import MatchOutcome, points_that_count
from league_agents.league.wire.messages import AssignmentRole


def drawn_up(
    kind: ScheduleKind,
    teams: Sequence[Team],
    *,
    season: int,
    rounds: int | None = None,
    referees: Sequence[Team] | None = None,
    games_at_once: int = 1,
) -> Schedule:
    """Draw up a schedule: all rounds, or the first round of a kind that is paired round by round.

    ``rounds`` is for Swiss seasons; ``None`` means as many as determine one winner, log2 of the teams. ``referees`` and
    ``games_at_once`` as in ``round_robin``. Raises ``ConfigError``.
    """
    if rounds is not None and kind is not ScheduleKind.SWISS:
        raise ConfigError("rounds", f"is for a Swiss season; a {kind} season has as many as its teams need")
    if not kind.is_round_by_round:
        is_double = kind is ScheduleKind.DOUBLE
        return round_robin(teams, season=season, double=is_double, referees=referees, games_at_once=games_at_once)
    if games_at_once != 1:
        raise ConfigError("games_at_once", f"must be 1: a {kind} season pairs a round by the results of the last one")
    judges = teams if referees is None else referees
    check_teams(teams, least=3 if referees is None else 2)
    check_teams(list({id(team): team for team in (*teams, *judges)}.values()), least=3)
    check_season(season)
    needed = (len(teams) - 1).bit_length()
    planned = needed
    if kind is ScheduleKind.SWISS:
        most = min(len(teams) // 2, MOST_ROUNDS)
        planned = min(needed, most) if rounds is None else rounds
        if not 1 <= planned <= most:
            raise ConfigError(
                "rounds",
                f"a Swiss season of {len(teams)} teams has 1 to {most} rounds, found {planned}: in more of them some"
                " would have to meet again",
            )
    empty = Schedule((), kind, planned, tuple(teams), tuple(judges))
    pairs = _swiss_pairs(empty, teams) if kind is ScheduleKind.SWISS else _bracket(empty, {}, None)
    return empty.with_round(with_judges(pairs, judges, Counter(_duty(empty)), season=season, number=1))


def next_round(
    schedule: Schedule,
    *,
    order: Sequence[Team],
    outcomes: Mapping[str, MatchOutcome],
    rules: RuleSet,
    season: int,
    everybody: Sequence[Team],
    withdrawn: Collection[str] = (),
) -> Schedule:
    """The schedule with one more round.

    ``order`` is the standings' order of the entrants; ``outcomes`` holds the outcomes of all games so far by game id. A
    round that the schedule's referees cannot judge neutrally is judged by the referees of ``everybody``. ``withdrawn``
    groups have no place in a Swiss round and keep theirs in a bracket, whose other teams advance without a game; their
    referees judge only games that cannot be judged without them.
    """
    number = len(schedule.rounds) + 1
    if schedule.kind is ScheduleKind.SWISS:
        pairs = _swiss_pairs(
            schedule.without_extra_rounds(), [team for team in order if team.group_id not in withdrawn]
        )
    else:
        pairs = _bracket(schedule.without_extra_rounds(), with_replays(schedule, outcomes), rules)
    duty = _duty(schedule)
    for judges in (schedule.referees, everybody):
        present = [team for team in judges if team.group_id not in withdrawn]
        with suppress(ConfigError):
            return schedule.with_round(with_judges(pairs, present, Counter(duty), season=season, number=number))
    return schedule.with_round(with_judges(pairs, everybody, Counter(duty), season=season, number=number))


def byes(schedule: Schedule, number: int) -> tuple[Team, ...]:
    """The teams that are still in the season and have no game in a paired round."""
    if schedule.kind is ScheduleKind.KNOCKOUT:
        return tuple(_bracket_byes(schedule, number))
    playing = {team.group_id for game in schedule.round(number) for team in (game.player1, game.player2)}
    return tuple(team for team in schedule.players if team.group_id not in playing)


def advancing(pairing: Pairing, outcome: MatchOutcome | None, rules: RuleSet, seeds: Mapping[str, int]) -> Team:
    """The team that advances after a knockout game: the winner, also by walkover; after a draw the team with more
    league points, then with the higher private score, then with the better seed. ``seeds`` are the places in the
    seeding, by group id."""
    one, two = pairing.player1, pairing.player2
    seeded = one if seeds[one.group_id] < seeds[two.group_id] else two
    if outcome is None:
        return seeded
    if outcome.missing is not None:
        return two if outcome.missing is AssignmentRole.PLAYER1 else one
    counted, victor = points_that_count(outcome, rules), outcome.victor
    if victor is not None and (any(counted) or outcome.awarded is not None):
        return one if victor is AssignmentRole.PLAYER1 else two
    for first, second in (counted, outcome.private_scores):
        if first != second:
            return one if first > second else two
    return seeded


def survived(schedule: Schedule, outcomes: Mapping[str, MatchOutcome], rules: RuleSet) -> Mapping[str, int]:
    """The number of rounds of a knockout season that each entrant has survived, byes included, by group id."""
    schedule, outcomes = schedule.without_extra_rounds(), with_replays(schedule, outcomes)
    seeds = _seeds(schedule)
    count = dict.fromkeys(seeds, 0)
    alive = set(seeds)
    for number, games in enumerate(schedule.rounds, start=1):
        for game in games:
            if game.game_id not in outcomes:
                return count
            through = _through(schedule, number, game, outcomes[game.game_id], rules, seeds).group_id
            alive -= {game.player1.group_id, game.player2.group_id} - {through}
        for group in alive:
            count[group] += 1
    return count


def _through(
    schedule: Schedule,
    number: int,
    game: Pairing,
    outcome: MatchOutcome | None,
    rules: RuleSet,
    seeds: Mapping[str, int],
) -> Team:
    """The team that advanced after a game of round ``number``. If the next round is paired, this is the team that plays
    in it, even if the outcome of the game was changed afterwards."""
    if number < len(schedule.rounds):
        paired = {team.group_id for later in schedule.round(number + 1) for team in (later.player1, later.player2)}
        return game.player1 if game.player1.group_id in paired else game.player2
    return advancing(game, outcome, rules, seeds)


def _duty(schedule: Schedule) -> dict[str, int]:
    duty = {team.group_id: 0 for team in schedule.referees}
    for game in schedule:
        duty[game.referee.group_id] = duty.get(game.referee.group_id, 0) + 1
    return duty


def _seeds(schedule: Schedule) -> dict[str, int]:
    return {team.group_id: place for place, team in enumerate(schedule.entrants)}


# Swiss

_MOST_TRIED = 2_000
"""Limit of the search for pairs that the ordinary method does not find."""


def _swiss_pairs(schedule: Schedule, order: Sequence[Team]) -> list[Pair]:
    """Pair each team with the nearest one in ``order`` that it has not met; with an odd number one team has a bye.

    When so many teams have withdrawn that some have met all that are left, those have a bye too.
    """
    met = {frozenset((game.player1.group_id, game.player2.group_id)) for game in schedule}
    rested = Counter(team.group_id for number in range(1, len(schedule.rounds) + 1) for team in byes(schedule, number))
    choices = [list(order)]
    if len(order) % 2:
        # The bye goes to the lowest team in the standings among those with the fewest byes.
        lowest_first = list(reversed(order))
        resting = sorted(lowest_first, key=lambda team: rested[team.group_id])
        choices = [[team for team in order if team is not each] for each in resting]
    places: list[Pair] = []
    for teams in choices:
        pairs = _matched(teams, met)
        if len(pairs) > len(places):
            places = pairs
        if 2 * len(pairs) == len(teams):
            break
    first = Counter(game.player1.group_id for game in schedule)
    second = Counter(game.player2.group_id for game in schedule)

    def lean(team: Team) -> int:
        return first[team.group_id] - second[team.group_id]

    pairs = []
    for index, (one, two) in enumerate(places):
        # The team that was player 1 less often becomes player 1; if equal, the higher one in every second game.
        swaps = lean(one) > lean(two) or (lean(one) == lean(two) and index % 2 == 1)
        pairs.append((two, one) if swaps else (one, two))
    return pairs


def _matched(teams: Sequence[Team], met: set[frozenset[str]]) -> list[Pair]:
    """Pairs of teams that have not met, near ones first.

    Greedy from the top; two teams left over that have met each other swap opponents with a pair. With n teams of which
    each has met at most n/2 - 1 others, such a swap always exists (the counting argument of Dirac's theorem): each of
    the two has at least n/2 possible opponents among the n - 2 others, so some pair can be swapped with both. With
    fewer teams than the season began with, it may not exist: then all pairs are searched for, and if that fails too,
    the two are left out.
    """

    def is_open(one: Team, two: Team) -> bool:
        return frozenset((one.group_id, two.group_id)) not in met

    waiting = list(teams)
    pairs: list[Pair] = []
    left: list[Team] = []
    while waiting:
        one = waiting.pop(0)
        two = next((team for team in waiting if is_open(one, team)), None)
        if two is None:
            left.append(one)
        else:
            waiting.remove(two)
            pairs.append((one, two))
    while left:
        one, two = left.pop(), left.pop()
        for index in reversed(range(len(pairs))):
            three, four = pairs[index]
            if is_open(one, four) and is_open(two, three):
                three, four = four, three
            elif not (is_open(one, three) and is_open(two, four)):
                continue
            pairs[index : index + 1] = [(three, one), (four, two)]
            break
        else:
            if (complete := _searched(teams, is_open, [_MOST_TRIED])) is not None:
                pairs, left = complete, []
    place = {team.group_id: index for index, team in enumerate(teams)}
    inner = [tuple(sorted(pair, key=lambda team: place[team.group_id])) for pair in pairs]
    return sorted(((one, two) for one, two in inner), key=lambda pair: place[pair[0].group_id])


def _searched(teams: Sequence[Team], is_open: Callable[[Team, Team], bool], budget: list[int]) -> list[Pair] | None:
    """Pairs of all teams, by trying those with the fewest possible opponents first; ``None`` if none were found."""
    if not teams:
        return []
    budget[0] -= 1
    if budget[0] < 0:
        return None
    one = min(teams, key=lambda team: sum(is_open(team, other) for other in teams if other is not team))
    for two in teams:
        if two is one or not is_open(one, two):
            continue
        rest = _searched([team for team in teams if team not in (one, two)], is_open, budget)
        if rest is not None:
            return [(one, two), *rest]
    return None


# Knockout


def _bracket(schedule: Schedule, outcomes: Mapping[str, MatchOutcome], rules: RuleSet | None) -> list[Pair]:
    """The pairs of the next round. The best seeds have the byes of the first round, and meet last."""
    slots: list[Team | None] = [
        schedule.entrants[seed] if seed < len(schedule.entrants) else None for seed in _places(schedule.planned)
    ]
    seeds = _seeds(schedule)
    for number, games in enumerate(schedule.rounds, start=1):
        by_team = {team.group_id: game for game in games for team in (game.player1, game.player2)}
        reached: list[Team | None] = []
        for one, two in zip(slots[::2], slots[1::2], strict=True):
            if one is None or two is None:
                reached.append(one or two)
                continue
            game = by_team[one.group_id]
            assert rules is not None
            reached.append(_through(schedule, number, game, outcomes.get(game.game_id), rules, seeds))
        slots = reached
    sides = zip(slots[::2], slots[1::2], strict=True)
    swaps = len(schedule.rounds) % 2 == 1
    pairs = [(one, two) for one, two in sides if one is not None and two is not None]
    return [(two, one) for one, two in pairs] if swaps else pairs


def _bracket_byes(schedule: Schedule, number: int) -> Sequence[Team]:
    """The teams with a bye in a round. Only the first round of a bracket has byes."""
    if number > 1:
        return ()
    return schedule.entrants[: 2**schedule.planned - len(schedule.entrants)]


def _places(rounds: int) -> list[int]:
    """Seeds, from 0, in the order of a bracket: 0, 7, 3, 4, 1, 6, 2, 5 for three rounds."""
    places = [0]
    for _ in range(rounds):
        places = [each for place in places for each in (place, 2 * len(places) - 1 - place)]
    return places
