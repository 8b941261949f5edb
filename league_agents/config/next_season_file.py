"""A league file with the season after the one that it names, written into its own text.

Rule 1: only the values that change are written anew: comments, order and everything else of the file stay. What is
written is read again, and a text that would say anything else is refused.
Rule 2: the file is replaced whole, so that a crash leaves the one season or the other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import replace_private
from league_agents.kit.yaml_text import read_yaml
from league_agents.league.season.schedule import Team

_WIDE = 2**20


class SeasonValues(Struct, frozen=True, kw_only=True):
    """What a season says that differs from the one before."""

    season_id: str
    name: str
    number: int
    follows: str
    divisions: tuple[tuple[Team, ...], ...] = ()
    """The teams of each manager, in the file's order; empty where there is one manager, whose teams stay."""


def write_next_season(path: Path, values: SeasonValues) -> Path:
    """Write the season into a league file, and keep the former text beside it, under the name that is returned.

    Raises ``ConfigError``.
    """
    path = path.resolve()
    before = read_mapping(path)
    former = path.with_name(f"{path.name}.before-season-{values.number:02d}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        changed = _changed(text, before, values)
        mode = path.stat().st_mode & 0o777
        replace_private(former, text)
        beside = path.with_name(f".{path.name}.new")
        replace_private(beside, changed)
        beside.chmod(mode)
        beside.replace(path)
    except OSError as error:
        raise ConfigError(str(path), f"cannot be written: {error.strerror}") from None
    except _NotPlain:
        raise ConfigError(
            str(path),
            "its season is written in a way that cannot be changed here (anchors, or a text of many lines); write it"
            f" yourself: id {values.season_id}, number {values.number}, follows {values.follows}, and the teams",
        ) from None
    return former


class _NotPlain(Exception):
    """The text cannot be changed value by value."""


def _changed(text: str, before: dict[str, Any], values: SeasonValues) -> str:
    wanted = copy.deepcopy(before)
    season = {"id": values.season_id, "number": values.number, "follows": values.follows}
    if "name" in wanted["season"]:
        season["name"] = values.name
    wanted["season"].update(season)
    root = yaml.compose(text, yaml.SafeLoader)
    node = _value(root, "season")
    edits = [_edit(text, node, key, _written(value)) for key, value in season.items()]
    managers = _value(_value(root, "roles"), "manager") if values.divisions else None
    for place, teams in enumerate(values.divisions):
        rows = [_team(team) for team in teams]
        wanted["roles"]["manager"][place]["teams"] = rows
        assert managers is not None
        edits.append(_teams_edit(_value(managers.value[place], "teams"), rows))
    for start, end, replacement in sorted(edits, reverse=True):
        text = f"{text[:start]}{replacement}{text[end:]}"
    try:
        found = read_yaml(text, "")
    except ConfigError:
        raise _NotPlain from None
    if found != wanted:
        raise _NotPlain
    return text


def _team(team: Team) -> dict[str, str]:
    row = {"group_id": team.group_id, "name": team.display_name, "player": team.player_email}
    row["referee"] = team.referee_email
    return {key: value for key, value in row.items() if value}


def _written(value: object) -> str:
    text: str = yaml.safe_dump(value, default_flow_style=True, width=_WIDE, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def _value(node: Any, key: str) -> Any:
    """The node of a key. Raises ``_NotPlain``."""
    found = node.value if isinstance(node, yaml.MappingNode) else ()
    for name, value in found:
        if name.value == key:
            return value
    raise _NotPlain


Edit = tuple[int, int, str]
"""What replaces the characters from one index to another."""


def _edit(text: str, mapping: Any, key: str, written: str) -> Edit:
    """The edit that gives a key of the season its value."""
    for name, value in mapping.value:
        if name.value == key:
            return value.start_mark.index, _end(value), written
    # After the season's id, which every file has.
    beside = _value(mapping, "id")
    column = next(name for name, _ in mapping.value if name.value == "id").start_mark.column
    at = _end(beside)
    if mapping.flow_style:
        return at, at, f", {key}: {written}"
    line_end = text.find("\n", at)
    at = len(text) if line_end < 0 else line_end  # behind a comment
    return at, at, f"\n{' ' * column}{key}: {written}"


def _teams_edit(node: Any, rows: Sequence[dict[str, str]]) -> Edit:
    """The edit that replaces a list of teams, in the style in which it is written."""
    if not isinstance(node, yaml.SequenceNode):
        raise _NotPlain
    written = [_written(row) for row in rows]
    if node.flow_style:
        return node.start_mark.index, node.end_mark.index, f"[{', '.join(written)}]"
    between = "\n" + " " * node.start_mark.column
    return node.start_mark.index, _end(node), between.join(f"- {row}" for row in written)


def _end(node: Any) -> int:
    """Where a node's text ends. The end mark of a block is behind the comments that follow it."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        end: int = node.end_mark.index
        return end
    last = node.value[-1]
    return _end(last[1] if isinstance(node, yaml.MappingNode) else last)
