"""``python -m benchmarks.soak``: the proofs that the tests only sample, in full. They take minutes to hours.

Rule: the same code as in the tests, with larger numbers; whatever breaks is printed so that it can be run again alone.
"""

from __future__ import annotations

import asyncio
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import click

from league_agents.kit.clock import monotonic_s
from league_agents.kit.draw import Draw
from league_agents.kit.errors import LeagueError
from tests.support import wrong_clocks
from tests.support.crash import Ending, play_season
from tests.support.crash_journals import MakeJournals, journals_in
from tests.support.flooded_league import Flood, FloodedSeason, play_flooded_season, time_to_stop
from tests.support.killed_season import KilledSeason, killed_season, seats_of
from tests.support.killed_sends import killed_sends
from tests.support.latency import measure
from tests.support.stormy_season import play_stormy_season
from tests.support.wrong_clocks import play_in_processes, play_in_turns

REPORT_EVERY_S = 10.0


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Long proofs. Each prints what it did and ends with code 1 when anything broke."""


@main.command()
@click.option("--teams", type=click.IntRange(3, 20), default=6, show_default=True)
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, help="Only each n-th point.")
@click.option("--journals", type=click.Choice(["memory", "sqlite", "postgres"]), default="memory", show_default=True)
def crash(*, teams: int, every: int, journals: str) -> None:
    """A season for every point at which a process can die, each with one death there. Mail is in memory."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, journals_in(journals, Path(folder)) as journals_of:
        _crash_everywhere(teams, every, journals_of)


def _crash_everywhere(teams: int, every: int, journals_of: MakeJournals) -> None:
    whole = play_season(teams=teams, journals_of=journals_of)
    points = range(1, whole.points + 1, every)
    click.echo(f"{len(points)} of {whole.points} points, {len(whole.messages)} messages in the undisturbed season")
    broken = 0
    started_s = told_s = monotonic_s()
    for done, point in enumerate(points, start=1):
        ending = play_season(
            teams=teams,
            is_fatal=lambda number, point=point: number == point,  # type: ignore[misc]
            journals_of=journals_of,
        )
        lost = {"unsent": len(ending.unsent), "unread": ending.waiting, "unanswered": ending.unanswered}
        wrong = _differences(ending.sent_twice, lost, ending, whole)
        if wrong:
            broken += 1
            click.echo(f"point {point} ({', '.join(ending.deaths)}): {'; '.join(wrong)}")
        if monotonic_s() - told_s > REPORT_EVERY_S:
            told_s = monotonic_s()
            click.echo(f"{done} points, {broken} broken, {told_s - started_s:.0f} s", err=True)
    _end(broken, f"{len(points)} seasons with one death each")


@main.command()
@click.option("--teams", type=click.IntRange(3, 12), default=6, show_default=True)
@click.option("--seasons", type=click.IntRange(1), default=20, show_default=True)
@click.option("--kills", type=click.IntRange(1), default=20, show_default=True, help="In each season.")
@click.option("--seed", default=1, show_default=True)
def sigkill(*, teams: int, seasons: int, kills: int, seed: int) -> None:
    """Over local Gmail, with journals on disk: seasons whose process is killed by SIGKILL at drawn points."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        whole = killed_season(Path(folder) / "whole", teams=teams)
        broken = total = 0
        for number in range(1, seasons + 1):
            draw = Draw(seed, f"season/{number}")
            points = [1 + draw.below(700) for _ in range(kills)]
            try:
                killed = killed_season(Path(folder) / str(number), teams=teams, kill_at=points)
            except LeagueError as error:
                broken += 1
                click.echo(f"season {number}, points {points}: {error}")
                continue
            total += killed.kills
            lost = {"unsent": killed.unsent, "unread": killed.unread, "turned away": killed.turned_away}
            wrong = _differences(killed.accepted_twice, lost, killed, whole)
            if wrong:
                broken += 1
                click.echo(f"season {number}, points {points}: {'; '.join(wrong)}")
            click.echo(f"season {number}: {killed.kills} kills", err=True)
    _end(broken, f"{seasons} seasons with {total} kills")


@main.command()
@click.option("--teams", type=click.IntRange(3, 12), default=4, show_default=True)
@click.option("--disturbances", type=click.IntRange(1), default=200, show_default=True)
@click.option("--a-season", type=click.IntRange(1), default=20, show_default=True, help="Disturbances in one season.")
@click.option("--seed", default=1, show_default=True)
def postgres(*, teams: int, disturbances: int, a_season: int, seed: int) -> None:
    """Over local Gmail: three daemons share all mailboxes on one PostgreSQL; they and it are killed and stopped."""
    from tests.support.postgres import NEWEST, postgres_server
    from tests.support.shared_league import shared_season

    fates: Counter[str] = Counter()
    broken = seasons = 0
    whole = play_season(teams=teams)
    # A team's name is spelled differently in memory; rank, group and every number must be the same.
    standings = [(row[:3], row[4:]) for row in whole.standings]
    messages = Counter((sender, str(kind)) for sender, kind, *_ in whole.messages)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, postgres_server(NEWEST) as server:
        while fates.total() < disturbances:
            seasons += 1
            began_s, name = monotonic_s(), f"season-{seasons}"
            left = min(a_season, disturbances - fates.total())
            place = Path(folder) / str(seasons)
            place.mkdir()
            try:
                ended = shared_season(
                    place / name,
                    server,
                    teams=teams,
                    disturbances=left,
                    seed=seed + seasons,
                    fates=fates,
                    told=lambda line: click.echo(line, err=True),
                )
            except LeagueError as error:
                broken += 1
                click.echo(f"{name}: {error}")
                continue
            lost = {"unsent": ended.unsent, "unread": ended.unread, "turned away": ended.turned_away}
            wrong = [f"sent twice: {ended.accepted_twice[:3]}"] if ended.accepted_twice else []
            wrong += [f"lost: {lost}"] if any(lost.values()) else []
            wrong += ["other standings"] if [(row[:3], row[4:]) for row in ended.standings] != standings else []
            wrong += [f"other messages: {(ended.messages - messages) + (messages - ended.messages)}"] * (
                ended.messages != messages
            )
            broken += bool(wrong)
            click.echo(
                f"{name}: {ended.kills} disturbances, {monotonic_s() - began_s:.0f} s {'; '.join(wrong)}".rstrip()
            )
    click.echo(", ".join(f"{count} times {fate}" for fate, count in fates.most_common()))
    _end(broken, f"{seasons} seasons with {fates.total()} disturbances")


@main.command()
@click.option("--daemons", type=click.IntRange(1, 20), default=20, show_default=True)
@click.option("--kills", type=click.IntRange(1), default=200, show_default=True, help="In the middle of a send.")
@click.option("--seed", default=1, show_default=True)
def sends(*, daemons: int, kills: int, seed: int) -> None:
    """Over local Gmail: daemons killed by SIGKILL in the middle of sends, which take up to a minute each."""
    told_s = 0.0

    def tell(line: str) -> None:
        nonlocal told_s
        if monotonic_s() - told_s > REPORT_EVERY_S:
            told_s = monotonic_s()
            click.echo(line, err=True)

    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        found = killed_sends(Path(folder), daemons=daemons, kills=kills, seed=seed, told=tell)
    click.echo(
        f"{found.kills} kills in the middle of a send, {found.other_kills} right after it, {found.lives} lives,"
        f" {found.asked} mails, {found.posts} sends, {found.took_s:.0f} s"
    )
    for name, wrong in (("doubled", found.doubled), ("lost", found.lost)):
        click.echo(f"{name}: {len(wrong)} {'; '.join(wrong[:5])}".rstrip())
    _end(len(found.doubled) + len(found.lost), f"{found.asked} mails")


@main.command()
@click.option("--count", type=click.IntRange(1), default=1_000, show_default=True)
@click.option("--first", type=click.IntRange(0), default=1, show_default=True, help="The first season's seed.")
def seasons(*, count: int, first: int) -> None:
    """In memory: seasons in bad weather, with agents of every kind and a mail service that comes and goes."""
    broken = 0
    terminations: Counter[str] = Counter()
    accidents: Counter[str] = Counter()
    started_s = told_s = monotonic_s()
    for seed in range(first, first + count):
        try:
            ending = play_stormy_season(seed)
        except LeagueError as error:
            broken += 1
            click.echo(f"season {seed}: {error}")
            continue
        terminations += ending.terminations
        accidents += ending.accidents
        if ending.unended or ending.still_open or ending.bugs:
            broken += 1
            found = (*ending.unended, *ending.still_open, *ending.bugs)
            click.echo(f"season {seed}: {'; '.join(found[:5])}")
        if monotonic_s() - told_s > REPORT_EVERY_S:
            told_s = monotonic_s()
            click.echo(f"{seed - first + 1} seasons, {broken} broken, {told_s - started_s:.0f} s", err=True)
    for title, counted in (("ended", terminations), ("told", accidents)):
        click.echo(f"{title}: {', '.join(f'{name} {number}' for name, number in counted.most_common())}")
    _end(broken, f"{count} seasons with {terminations.total()} matches")


@main.command()
@click.option("--mails", type=click.IntRange(20), default=60, show_default=True)
@click.option("--poll", type=click.FloatRange(0.2, 60), default=1.5, show_default=True, help="Seconds.")
@click.option("--slack", default=0.5, show_default=True, help="Seconds beyond the poll interval that are allowed.")
def latency(*, mails: int, poll: float, slack: float) -> None:
    """A daemon over local Gmail: from a mail's arrival to its reply, without a callback."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        waits = [wait.total_seconds() for wait in measure(Path(folder), poll=timedelta(seconds=poll), mails=mails)]
    for name, share in (("median", 0.5), ("p95", 0.95), ("longest", 1.0)):
        click.echo(f"{name}: {_quantile(waits, share):.2f} s")
    _end(int(_quantile(waits, 0.95) > poll + slack), f"{len(waits)} mails, p95 at most {poll + slack:g} s")


@main.command()
@click.option("--mails", type=click.IntRange(0), default=10_000, show_default=True, help="That wait at the start.")
@click.option("--per-minute", type=click.IntRange(0), default=60, show_default=True, help="That arrive meanwhile.")
@click.option("--slack", default=1.5, show_default=True, help="Seconds beyond a quiet season that are allowed.")
@click.option("--slack-forged", default=30.0, show_default=True, help="The same when a peer's name is forged.")
@click.option("--stop", "stop_s", default=2.0, show_default=True, help="Seconds within which a daemon must end.")
def flood(*, mails: int, per_minute: int, slack: float, slack_forged: float, stop_s: float) -> None:
    """Over local Gmail, in simulated time: a season of three teams in which strangers fill one mailbox; then how long a
    real daemon takes to end in the middle of a backlog."""
    broken = 0
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        seats = seats_of(3)
        for role in ("player", "referee", "manager"):
            victim = next(seat for seat in seats if seat.role == role)
            quiet = play_flooded_season(folder / f"{role}-quiet", seats=seats, victim=victim, waiting=0)
            usual = quiet.latencies[-1].total_seconds()
            click.echo(f"{role}, nothing: {_flood_line(quiet)}")
            for kind, allowed in ((Flood.STRANGERS, slack), (Flood.FORGED, slack_forged)):
                season = play_flooded_season(
                    folder / f"{role}-{kind}",
                    seats=seats,
                    victim=victim,
                    waiting=mails,
                    per_minute=per_minute,
                    kind=kind,
                )
                click.echo(f"{role}, {mails} {kind}: {_flood_line(season)}")
                is_late = season.latencies[-1].total_seconds() > usual + allowed
                broken += is_late or season.matches != quiet.matches
        took = time_to_stop(folder / "stop", waiting=mails, busy_for=timedelta(seconds=20)).total_seconds()
        click.echo(f"a daemon with {mails} mails of the league manager ended {took:.2f} s after SIGTERM")
        broken += took > stop_s
    _end(broken, f"six floods of {mails} mails and {per_minute} a minute, one stop")


def _flood_line(season: FloodedSeason) -> str:
    matches = ", ".join(f"{count} {termination}" for termination, count in season.matches.items())
    waits = [wait.total_seconds() for wait in season.latencies]
    return (
        f"matches {matches}; league mail heard after {_quantile(waits, 0.5):.1f} s (median),"
        f" {_quantile(waits, 0.95):.1f} s (p95), {waits[-1]:.1f} s (longest); {season.most_units} units in a minute;"
        f" {season.read} of the flood read in {season.took.total_seconds() / 60:.1f} min"
    )


@main.command(name="arena-leaks")
@click.option("--undercover", type=click.IntRange(0), default=200, show_default=True, help="Matches.")
@click.option("--q21", type=click.IntRange(0), default=50, show_default=True, help="Matches.")
def arena_leaks(*, undercover: int, q21: int) -> None:
    """In memory: matches of the arena at random, and everything that anybody is told before the end searched."""
    from league_agents.app.arena_server import arena_house
    from league_agents.arena.server.hall import Hall
    from tests.support.arena_leaks import GAMES, all_leaks

    async def play() -> int:
        leaks = 0
        counts = {"undercover": undercover, "q21": q21, "guess_number": q21, "market": q21}
        wanted = [(game, GAMES[game], count) for game, count in counts.items()]
        for game, number, found in all_leaks(Hall(arena_house()), wanted):
            leaks += bool(found)
            for leak in found[:1]:
                click.echo(f"{game} {number}: {leak[:1000]}")
        return leaks

    _end(asyncio.run(play()), f"{undercover} matches of undercover and {q21} of each other game")


@main.command(name="arena-frames")
@click.option("--frames", type=click.IntRange(1), default=10_000, show_default=True, help="In each game.")
def arena_frames(*, frames: int) -> None:
    """Over loopback: noise at a server of the arena, in every game. It must answer, and nothing may change."""
    from tests.support.arena_frames import throw_frames

    broken = 0
    for game, wrong in throw_frames(frames):
        broken += len(wrong)
        for each in wrong[:3]:
            click.echo(f"{game}: {each[:1000]}")
    _end(broken, f"{frames} frames in each game")


@main.command(name="arena-load")
@click.option("--seconds", type=click.FloatRange(1), default=600, show_default=True)
@click.option("--matches", type=click.IntRange(1), default=200, show_default=True, help="At once; five sockets each.")
@click.option("--actions-per-s", type=click.FloatRange(0.1), default=200, show_default=True, help="Of all matches.")
def arena_load(*, seconds: float, matches: int, actions_per_s: float) -> None:
    """Over loopback: many matches at one server of the arena, how long an action takes, whether memory stays flat."""
    from tests.support.arena_load import measure_load, told

    found = measure_load(matches=matches, seconds=seconds, actions_per_s=actions_per_s)
    for line in told(found, matches):
        click.echo(line)
    _end(sum(found.refused.values()), f"{found.actions} actions")


@main.command(name="arena-kills")
@click.option("--kills", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Draws when the server is killed.")
def arena_kills(*, kills: int, seed: int) -> None:
    """Over loopback: `arena serve` killed by SIGKILL in the middle of matches; nothing is lost or happens twice."""
    from tests.support.arena_kills import play_through_kills

    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        done, matches, wrongs = play_through_kills(Path(folder), kills=kills, seed=seed)
    for wrong in wrongs:
        click.echo(wrong)
    _end(len(wrongs), f"{done} kills, {matches} matches")


@main.command()
@click.option("--processes/--turns", default=True, show_default=True, help="A process for each role, or turns in this.")
def clocks(*, processes: bool) -> None:
    """Over local Gmail: a match for each wrong clock of each role and each jump in the middle, with waits of 20 s."""
    play = play_in_processes if processes else play_in_turns
    named = {seat.name: [seat.name] for seat in wrong_clocks.SEATS}
    named["everyone"] = [seat.name for seat in wrong_clocks.SEATS]
    cases: list[tuple[str, wrong_clocks.Walls, wrong_clocks.Walls]] = []
    for who, names in named.items():
        cases += [(f"{who} {off}", dict.fromkeys(names, off), {}) for off in wrong_clocks.OFFSETS]
        cases += [(f"{who} jumps {off}", {}, dict.fromkeys(names, off)) for off in wrong_clocks.JUMPS]
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        whole = play(Path(folder) / "right", walls={}, jumps={})
        click.echo(f"right clocks: {whole.records[0]}")
        for number, (name, walls, jumps) in enumerate(cases):
            ending = play(Path(folder) / str(number), walls=walls, jumps=jumps)
            broken += ending != whole
            click.echo(f"{name}: {'as with right clocks' if ending == whole else ending}")
    _end(broken, f"{len(cases)} matches with wrong clocks")


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[math.ceil(share * len(ordered)) - 1]


def _differences(
    twice: Sequence[object], lost: Mapping[str, int], ending: Ending | KilledSeason, whole: Ending | KilledSeason
) -> list[str]:
    found = [f"sent twice: {twice[:3]}"] if twice else []
    if any(lost.values()):
        found.append(f"lost: {', '.join(f'{count} {name}' for name, count in lost.items())}")
    if ending.standings != whole.standings:
        found.append("other standings")
    if ending.messages != whole.messages:
        found.append("other messages")
    return found


def _end(broken: int, what: str) -> None:
    click.echo(f"{what}: {broken} broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
