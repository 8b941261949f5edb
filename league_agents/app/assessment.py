"""An assessment: agents elsewhere play matches against each other, or against an agent of this program.

Rule: a request comes from a stranger. It names agents by their addresses only, everything else is chosen from lists,
and nothing that an agent writes is in the result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Struct
from pydantic import Field

from league_agents import __version__
from league_agents.a2a.address import EXAMPLE, KIND
from league_agents.app.offline import PLAYER_A, PLAYER_B, play_single_game
from league_agents.games.q21.rules import BUILT_IN
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.kit.web_address import web_address
from league_agents.kit.written import WrittenMapping, read_written
from league_agents.knowledge.corpus import default_index_path

MOST_GAMES = 20
HOUSE = "house"
"""The role of the agent of this program that plays against a participant who is alone."""

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")


class WrittenConfig(WrittenMapping):
    """How the participants are assessed."""

    games: Annotated[int, Field(ge=1, le=MOST_GAMES)] = 2
    """Seats change every game."""

    rules: Literal["prd", "course"] = "prd"
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    referee: Literal["offline", "offline:easy", "offline:medium", "offline:hard", "scripted"] = "offline"
    opponent: Literal["offline", "scripted"] = "offline"
    """Who plays against a participant who is alone."""


class WrittenAssessment(WrittenMapping):
    """What an assessing agent is asked, in the form of AgentBeats: the participants' endpoints by their roles."""

    missing: ClassVar[str] = 'is missing; write {"participants": {"player_a": "http://…"}, "config": {}}'

    participants: dict[str, str]
    config: WrittenConfig = WrittenConfig()


class Contestant(Struct, frozen=True, kw_only=True):
    """One side of an assessment."""

    role: str
    spec: str


class Assessment(Struct, frozen=True, kw_only=True):
    """What is to be played."""

    one: Contestant
    other: Contestant
    config: WrittenConfig


class AssessedGame(Struct, frozen=True, kw_only=True):
    """One match of an assessment, as far as others may read it."""

    game: int
    seed: int
    status: str
    winner: str | None
    """A role; ``None`` for a draw."""

    players: Mapping[str, Mapping[str, object]]
    """Role -> ``termination``, ``points``, ``private_score``."""


def read_assessment(request: Mapping[str, object]) -> Assessment:
    """Raises ``ConfigError``."""
    written = read_written(WrittenAssessment, dict(request), "request")
    if not 1 <= len(written.participants) <= 2:
        raise ConfigError("participants", f"must be one or two players, found {len(written.participants)}")
    sides = [_contestant(role, url) for role, url in written.participants.items()]
    if len(sides) == 1:
        sides.append(Contestant(role=HOUSE, spec=written.config.opponent))
    return Assessment(one=sides[0], other=sides[1], config=written.config)


def _contestant(role: str, url: str) -> Contestant:
    if not _ROLE.fullmatch(role) or role == HOUSE:
        raise ConfigError("participants", f"{shown(role)} is no role; use letters, digits, '-', '_' and '.'")
    return Contestant(role=role, spec=f"{KIND}:{web_address(url, f'participants.{role}', example=EXAMPLE)}")


def play_game(assessment: Assessment, game: int) -> AssessedGame:
    """Play one of the matches, counted from 1. Raises ``ConfigError`` for an agent that cannot be used."""
    config = assessment.config
    seats = [assessment.one, assessment.other][:: 1 if game % 2 else -1]
    seed = config.seed + game - 1
    document: dict[str, Any] = play_single_game(
        seed=seed,
        rules=BUILT_IN[config.rules],
        referee=config.referee,
        player_a=seats[0].spec,
        player_b=seats[1].spec,
        index_path=default_index_path,
    )
    roles = {PLAYER_A: seats[0].role, PLAYER_B: seats[1].role}
    return AssessedGame(
        game=game,
        seed=seed,
        status=str(document["match"]["status"]),
        winner=roles.get(document["match"]["winner_id"]),
        players={roles[player["id"]]: _figures(player) for player in document["players"]},
    )


def _figures(player: Mapping[str, Any]) -> Mapping[str, object]:
    card = player["scorecard"] or {}
    return {
        "termination": str(player["termination"]),
        "points": card.get("league_points") or 0,
        "private_score": card.get("private_score") or 0.0,
    }


def line_of_game(assessment: Assessment, played: AssessedGame) -> str:
    """One game as progress."""
    told = ", ".join(f"{role} {figures['points']}" for role, figures in played.players.items())
    return f"game {played.game} of {assessment.config.games}: {played.status}; points: {told}"


def result_of(assessment: Assessment, games: Sequence[AssessedGame]) -> dict[str, object]:
    """The result as JSON values, the same for the same games."""
    scores = {each.role: _score(each.role, games) for each in (assessment.one, assessment.other)}
    one, other = (int(score["points"]) for score in scores.values())
    winner = "draw" if one == other else assessment.one.role if one > other else assessment.other.role
    return {
        "winner": winner,
        "scores": scores,
        "games": [
            {
                "game": each.game,
                "seed": each.seed,
                "status": each.status,
                "winner": each.winner,
                "players": {role: dict(figures) for role, figures in each.players.items()},
            }
            for each in games
        ],
        "rules": assessment.config.rules,
        "referee": assessment.config.referee,
        "version": __version__,
    }


def _score(role: str, games: Sequence[AssessedGame]) -> dict[str, Any]:
    mine = [each.players[role] for each in games]
    return {
        "points": sum(int(str(each["points"])) for each in mine),
        "private_score": round(fmean(float(str(each["private_score"])) for each in mine), 2),
        "wins": sum(each.winner == role for each in games),
        "completed": sum(each["termination"] == "completed" for each in mine),
        "games": len(mine),
    }


def summary(result: Mapping[str, Any]) -> str:
    """The result in one line."""
    told = ", ".join(
        f"{role} {score['points']} points ({score['wins']} won, {score['private_score']:g} private)"
        for role, score in result["scores"].items()
    )
    return f"winner: {result['winner']}; {told}"
