"""What a server tells of matches that are over: the gallery, replays, and who wins how often.

Rule 1: nothing here is told of a match that is not over.
Rule 2: a name that a client gave itself proves nothing. Clients are counted together, by what they say they are; only
agents of the server have a row of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from league_agents.arena.protocol.hosting import Hosted, Status
from league_agents.arena.scenario import Scenario
from league_agents.arena.server.house import OPEN
from league_agents.arena.server.kept import SeatResult
from league_agents.arena.server.lobby import match_told
from league_agents.arena.transcript import Line, keeps_secrets
from league_agents.evaluation.statistics import clustered_share

GUEST = f"{OPEN}:"
"""The beginning of a contender that is everybody who took a seat: ``open:human``, ``open:ai``."""


def finished_told(hosted: Hosted, scenario: Scenario, lines: Sequence[Line]) -> tuple[dict[str, Any], list[SeatResult]]:
    """What the gallery says of a match that is over, and the results that count."""
    last = lines[-1]
    told = {
        **match_told(hosted, scenario, 0),
        "listed": hosted.is_listed,
        "winners": last["winners"],
        "scores": last["scores"],
        "reason": last["reason"],
        "moves": sum(line["line"] == "decision" for line in lines),
        "secret": keeps_secrets(lines[0]),
    }
    if hosted.status is not Status.ENDED:
        return told, []
    agents = {seat.id: seat.agent for seat in scenario.seats}
    return told, [
        SeatResult(
            agent_id=seat.agent_id,
            contender=f"{GUEST}{seat.kind}" if agents[seat.agent_id] == OPEN else agents[seat.agent_id],
            is_winner=seat.agent_id in last["winners"],
        )
        for seat in hosted.seats
    ]


def boards_told(results: Iterable[tuple[str, str, str, int, int]]) -> list[dict[str, Any]]:
    """Who wins how often, game by game, from (game, match, contender, seats that won, seats) of every match.

    A share counts seats; its interval takes a match as one observation, because seats of a team win together.
    ``expected`` is the share of the winning seats among all seats of the same matches: what drawing lots would give.
    Matches in which one contender had every seat compare nobody and are left out.
    """
    games: dict[str, dict[str, dict[str, tuple[int, int]]]] = {}
    for game, match_id, contender, won, seats in results:
        games.setdefault(game, {}).setdefault(match_id, {})[contender] = (won, seats)
    told = []
    for game, matches in games.items():
        compared = [met for met in matches.values() if len(met) > 1]
        rows = [_row(each, compared) for each in sorted({each for met in compared for each in met})]
        rows.sort(key=lambda row: (-(row["low"] or 0.0), -row["share"], row["contender"]))
        told.append({"game": game, "matches": len(compared), "left_out": len(matches) - len(compared), "rows": rows})
    return told


def _row(contender: str, compared: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, Any]:
    met = [match for match in compared if contender in match]
    estimate = clustered_share([match[contender] for match in met])
    assert estimate is not None, "a contender had a seat"
    seats = sum(match[contender][1] for match in met)
    lots = sum(
        match[contender][1] * sum(won for won, _ in match.values()) / sum(all_seats for _, all_seats in match.values())
        for match in met
    )
    return {
        "contender": contender.removeprefix(GUEST),
        "is_guest": contender.startswith(GUEST),
        "matches": len(met),
        "seats": seats,
        "won": sum(match[contender][0] for match in met),
        "share": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "expected": lots / seats,
    }
