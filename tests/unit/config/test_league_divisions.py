"""League files of several managers, and the next season written into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.config.next_season_file import SeasonValues, write_next_season
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.league.season.divisions import DivisionPlace

BLOCK = """\
# The office's own file.
roles:
  manager:
    - name: premier   # the highest
      address: premier@league.test
      teams:
        - {group_id: a, player: pa@league.test, referee: ra@league.test}
        - group_id: b
          name: "The B's"
          player: pb@league.test
          referee: rb@league.test

        # not these any more

    - name: second
      address: second@league.test
      teams: [{group_id: c, player: pc@league.test, referee: rc@league.test},
              {group_id: d, player: pd@league.test, referee: rd@league.test}]

season:
  id: SPRING-2031   # comment of the id
  name: Spring
  promoted: 1
  schedule: swiss
rules: course
"""
JSON = """{"season": {"id": "SPRING-2031", "number": 7, "promoted": 1}, "roles": {"manager": [
 {"name": "premier", "address": "premier@league.test", "teams": [
  {"group_id": "a", "player": "pa@league.test", "referee": "ra@league.test"},
  {"group_id": "b", "player": "pb@league.test", "referee": "rb@league.test"}]},
 {"name": "second", "address": "second@league.test", "teams": [
  {"group_id": "c", "player": "pc@league.test", "referee": "rc@league.test"},
  {"group_id": "d", "player": "pd@league.test", "referee": "rd@league.test"}]}]}}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "league.yaml"
    path.write_text(text, "utf-8")
    return path


def read(path: Path) -> LeagueSettings:
    return read_league_file(path, {})


def groups(settings: LeagueSettings) -> list[list[str]]:
    return [[team.group_id for team in role.teams] for role in settings.roles]


def swapped(settings: LeagueSettings) -> SeasonValues:
    first, second = (role.teams for role in settings.roles)
    return SeasonValues(
        season_id="AUTUMN: 2031",
        name="Autumn",
        number=8,
        follows="SPRING-2031",
        divisions=((first[1], second[1]), (first[0], second[0])),
    )


def test_every_manager_of_a_list_has_a_division(tmp_path: Path) -> None:
    settings = read(written(tmp_path, BLOCK))
    assert [role.label for role in settings.roles] == ["manager premier", "manager second"]
    assert groups(settings) == [["a", "b"], ["c", "d"]]
    assert [role.division for role in settings.roles] == [
        DivisionPlace(place=place, divisions=2, promoted=1) for place in (0, 1)
    ]


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        ("group_id: c", "group_id: a", r"roles\.manager\[1\]\.teams: group_id a is in roles\.manager\[0\]\.teams too"),
        ("pc@", "RA@", r"roles\.manager\[1\]\.teams: mailbox ra@league\.test is in"),
        ("promoted: 1", "promoted: 3", r"season\.promoted: is 3: 3 teams would leave division 1, which has 2"),
        (
            "promoted: 1",
            "teams: [{group_id: x, player: x@l.test, referee: y@l.test}]",
            r"season\.teams: does not go with",
        ),
    ],
)
def test_what_is_wrong_with_divisions_is_named(tmp_path: Path, was: str, is_now: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read(written(tmp_path, BLOCK.replace(was, is_now)))


@pytest.mark.parametrize("text", [BLOCK, JSON, BLOCK.replace("\n", "\r\n")], ids=["block", "json", "crlf"])
def test_the_next_season_is_written_and_everything_else_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "league.yaml"
    path.write_bytes(text.encode())
    path.chmod(0o640)
    before = read(path)
    former = write_next_season(path, swapped(before))
    after = read(path)
    assert groups(after) == [["b", "d"], ["a", "c"]]
    assert after.season is not None
    assert before.season is not None
    name = "Autumn" if "name: Spring" in text else "AUTUMN: 2031"
    assert after.season == evolve(before.season, season_id="AUTUMN: 2031", name=name, number=8, follows="SPRING-2031")
    assert former.read_bytes() == text.encode()
    assert path.stat().st_mode & 0o777 == 0o640
    for comment in ("# The office's own file.", "# the highest", "# comment of the id", "# not these any more"):
        assert (comment in path.read_text("utf-8")) == (comment in text)
    assert read(path).roles[0].teams[0].display_name == ("The B's" if "The B's" in text else "")


def test_a_file_whose_season_has_anchors_is_left_as_it_is(tmp_path: Path) -> None:
    text = BLOCK.replace("- {group_id: a,", "- &a {group_id: a,").replace(
        "season:\n", "season:\n  tie_breaks: &t [wins]\n"
    )
    text = text.replace("  id: SPRING-2031", "  lot_seed: &id SPRING-2031\n  id: *id")
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=r"cannot be changed here .*id AUTUMN: 2031, number 8, follows SPRING-2031"):
        write_next_season(path, swapped(read(path)))
    assert path.read_text("utf-8") == text
    assert list(tmp_path.iterdir()) == [path]
