"""A league of divisions on real mail: a manager for each, in one process, and the season after the last one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from league_agents.app.live import live_roles
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.local_league.league import DOMAIN
from league_agents.local_league.patience import until
from league_agents.sandbox.server import Sandbox
from tests.support.mailboxes import Heard, entry, reload, running, write_file

DIVISIONS = {"premier": ("a", "b", "c"), "second": ("d", "e", "f")}


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    teams = [f"{kind}{group}" for groups in DIVISIONS.values() for group in groups for kind in ("p", "r")]
    with Sandbox([f"{name}@{DOMAIN}" for name in (*DIVISIONS, *teams)]) as made:
        yield made


def offices(folder: Path, sandbox: Sandbox) -> Path:
    """The league file of the managers, with a comment that a person wrote."""
    managers = [
        {
            "name": name,
            "address": f"{name}@{DOMAIN}",
            "teams": [{"group_id": g, "player": f"p{g}@{DOMAIN}", "referee": f"r{g}@{DOMAIN}"} for g in groups],
        }
        for name, groups in DIVISIONS.items()
    ]
    season = {"id": "SPRING", "number": 99, "schedule": "swiss", "rounds": 1, "promoted": 1}
    path = write_file(folder / "offices.yaml", sandbox, {"manager": managers}, season=season, league={})
    path.write_text(path.read_text("utf-8").replace("season:", "# ours\nseason:"), "utf-8")
    return path


def division(folder: Path, sandbox: Sandbox, name: str, groups: tuple[str, ...]) -> None:
    """The league file of the teams of a division. A mailbox keeps its journal when it changes its division."""
    roles = {
        "referee": [entry(f"r{group}") for group in groups],
        "player": [entry(f"p{group}", group_id=group) for group in groups],
    }
    league = {"manager_email": f"{name}@{DOMAIN}"}
    write_file(folder / f"{name}.yaml", sandbox, roles, league=league)


def command(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def standings(path: Path, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        command("show", "standings", "--json", "--config", str(path), *words).stdout
    )
    return found


def test_the_divisions_of_the_next_season_follow_from_the_tables(sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "leagues"
    path = offices(folder, sandbox)
    for name, groups in DIVISIONS.items():
        division(folder, sandbox, name, groups)
    heard = Heard()
    early = command("manage", "next-season", "AUTUMN", "--config", str(path))
    assert early.exit_code == 3
    assert "season SPRING: is not over: manager premier has not begun; manager second has not begun" in early.stderr
    with running(folder, heard) as roles:
        until(lambda: all("season" in heard.kinds(f"manager {name}") for name in DIVISIONS), "both seasons are over")
    rows = standings(path)
    tables = {name: [row["participant_id"] for row in rows if row["division"] == name] for name in DIVISIONS}
    falls, rises = tables["premier"][2], tables["second"][0]
    assert [row["participant_id"] for row in rows if row["move"]] == [falls, rises]
    assert [row["move"] for row in rows if row["move"]] == ["relegated", "promoted"]
    shown = command("status", "--config", str(path)).stdout
    assert f"next season  as the table stands, relegated: {falls}" in shown
    assert f"next season  as the table stands, promoted: {rises}" in shown
    page = tmp_path / "pages"
    assert command("report", "--config", str(path), "--out", str(page)).exit_code == 0
    assert "(promoted)" in (page / "index.html").read_text("utf-8")
    assert "lists 2 mailboxes" in command("manage", "pause", "--config", str(path)).stderr

    look = command("manage", "next-season", "--config", str(path))
    assert f"{rises} plays in premier: its league.manager_email is premier@{DOMAIN} then" in look.stderr
    assert "relegated" in look.stdout
    assert read_league_file(path, {}).season == read_league_file(path, {}).season
    made = command("manage", "next-season", "AUTUMN", "--config", str(path))
    assert made.exit_code == 0, made.stderr
    assert "begins season AUTUMN when it is started again" in made.stderr
    text = path.read_text("utf-8")
    written = yaml.safe_load(text)
    assert "# ours" in text
    assert (written["season"]["number"], written["season"]["follows"]) == (1, "SPRING")
    following = {
        "premier": (*tables["premier"][:2], rises),
        "second": (falls, *tables["second"][1:]),
    }
    assert {
        each["name"]: tuple(team["group_id"] for team in each["teams"]) for each in written["roles"]["manager"]
    } == (following)
    # The same command changes nothing more; another one waits for the end of the season that was written.
    assert command("manage", "next-season", "AUTUMN", "--config", str(path)).exit_code == 0
    assert "is not over" in command("manage", "next-season", "WINTER", "--config", str(path)).stderr
    assert path.read_text("utf-8") == text

    with live_roles(read_league_file(path, {})) as lives:
        for live in lives:
            while not live.role.turn():
                pass
    shown = command("status", "--config", str(path)).stdout
    assert ("REGISTRATION" in shown, "next season" in shown) == (True, False)
    for name, groups in following.items():
        division(folder, sandbox, name, groups)
    heard = Heard()
    with running(folder, heard) as roles:
        until(lambda: all("season" in heard.kinds(f"manager {name}") for name in DIVISIONS), "both are over again")
        assert "season AUTUMN has begun" in command("manage", "next-season", "AUTUMN", "--config", str(path)).stderr
        assert str(reload(roles, folder)) == "nothing has changed"
    assert {row["participant_id"]: row["division"] for row in standings(path)} == {
        group: name for name, groups in following.items() for group in groups
    }
    assert not {"role_failed", "set_aside"} & {code for name in DIVISIONS for code in heard.codes(f"manager {name}")}
    # The former season stays.
    assert [row["participant_id"] for row in standings(path, "--season", "SPRING")] == [
        group for table in tables.values() for group in table
    ]


def test_a_mailbox_plays_several_games_of_a_round_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    folder, groups = tmp_path / "leagues", ("a", "b", "c", "d")
    teams = [{"group_id": g, "player": f"p{g}@{DOMAIN}", "referee": f"r{g}@{DOMAIN}"} for g in groups]
    season = {"id": "SPRING", "games_at_once": 3, "teams": teams}
    office = {"manager": {"address": f"premier@{DOMAIN}"}}
    path = write_file(folder / "office.yaml", sandbox, office, season=season, league={})
    division(folder, sandbox, "premier", groups)
    heard = Heard()
    with running(folder, heard):
        until(lambda: "season" in heard.kinds(f"manager premier@{DOMAIN}"), "the season is over")
    matches = json.loads(command("show", "matches", "--json", "--config", str(path)).stdout)
    # All six in one round of three for each player, where one at a time takes three rounds.
    assert [(each["round_number"], each["status"]) for each in matches] == [(1, "completed")] * 6
    assert [row["played"] for row in standings(path)] == [3, 3, 3, 3]
    names = [f"{kind} {kind[0]}{group}" for kind in ("referee", "player") for group in groups]
    assert not [name for name in names if "warning" in heard.kinds(name)]
