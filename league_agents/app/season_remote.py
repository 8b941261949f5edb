"""A division that is played on another machine: the plan and the agents' files go there, the journals come back.

Rule: the bytes are those of a division that is played here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from league_agents.app.carried_files import CarriedFiles, carried_files, here_named, placed
from league_agents.app.season_division import begin_division, finish_division, play_alone
from league_agents.app.season_files import JOURNALS
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, write_plan
from league_agents.app.season_progress import place_of
from league_agents.app.season_records import RecordsShare, encode_records
from league_agents.games.q21.rules import BUILT_IN
from league_agents.kit.private_file import open_private_bytes
from league_agents.kit.values import evolve

LEVEL = 1
"""Of compression: higher levels cost more time than they save on the way."""


class PlayedDivision(Struct, frozen=True, kw_only=True):
    """The files of a division that is over, compressed."""

    number: int
    journals: Mapping[str, bytes]
    """By name."""

    records: bytes
    """Empty if the season has no file of records."""


def files_of(plan: SeasonPlan) -> CarriedFiles:
    """The files that the season's plan names. Raises ``ConfigError``."""
    agents = (spec for division in plan.divisions for team in division.teams for spec in (team.player, team.referee))
    return carried_files(agents, [] if plan.rules in BUILT_IN else [plan.rules])


def play_remotely(plan: SeasonPlan, files: CarriedFiles, with_records: bool) -> PlayedDivision:
    """Play the only division of a plan on this machine, which keeps nothing of it."""
    (division,) = plan.divisions
    places = placed(files)
    teams = (
        evolve(team, player=here_named(team.player, places), referee=here_named(team.referee, places))
        for team in division.teams
    )
    division = evolve(division, teams=tuple(teams))
    with TemporaryDirectory(prefix="league-agents-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        write_plan(evolve(plan, rules=here_named(plan.rules, places), divisions=(division,)), folder)
        play_alone(division, folder)
        share = _records_of(division, folder)
        if with_records:
            encode_records(share)
        return PlayedDivision(
            number=division.number,
            journals={path.name: _packed(path) for path in sorted(place_of(division, folder).iterdir())},
            records=_packed(share.path) if with_records else b"",
        )


def keep(played: PlayedDivision, division: PlannedDivision, folder: Path) -> None:
    """Put the files of a division into the season's folder."""
    here = begin_division(division, folder)
    for name, content in played.journals.items():
        _unpack(content, here / JOURNALS / Path(name).name)
    if played.records:
        path = _records_of(division, folder).path
        _unpack(played.records, path.with_name(f"{path.name}.new"))
        path.with_name(f"{path.name}.new").replace(path)
    finish_division(division, folder)


def _records_of(division: PlannedDivision, folder: Path) -> RecordsShare:
    return RecordsShare(folder=str(folder), division=division.name, number=division.number)


def _packed(path: Path) -> bytes:
    return zlib.compress(path.read_bytes(), LEVEL)


def _unpack(content: bytes, path: Path) -> None:
    with open_private_bytes(path, "w") as file:
        file.write(zlib.decompress(content))
