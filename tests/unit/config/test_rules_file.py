"""Rule files as people write them, and names that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.app.agents import choose_agent
from league_agents.config.mapping_file import read_mapping
from league_agents.config.rules import rules_named
from league_agents.games.q21.rules import PRD
from league_agents.kit.errors import ConfigError


def written(folder: Path, text: str, name: str = "own.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        ("name: own\nextends: prd\ngrace_seconds: 5\nname: other\n", "name", (1, 4)),
        ("name: own\nextends: prd\nfeedback:\n  least: 10\n  most: 20\n  least: 12\n", "least", (4, 6)),
        ("{'name': 'own',\n 'extends': 'prd',\n \"name\": 'other'}", "name", (1, 3)),
        ('{"name": "own",\n "extends": "prd", "extends": "course"}', "extends", (2, 2)),
        ("tiers:\n  - {score: 1,\n     points: 2,\n     score: 3}\n", "score", (2, 4)),
        ("1: a\n2: b\n1: c\n", "1", (1, 3)),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_lines(
    tmp_path: Path, text: str, key: str, lines: tuple[int, int]
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        rules_named(str(path))
    said = str(refused.value)
    assert said.startswith(f"{path}: is not valid YAML in line {lines[1]}, ")
    assert f"the key '{key}' stands in line {lines[0]} already" in said


def test_equal_keys_of_different_mappings_and_keys_over_merged_ones_are_no_repetition(tmp_path: Path) -> None:
    path = written(tmp_path, "a: {b: &kept {one: 1, two: 2}}\nb: {<<: *kept, two: 3, c: {<<: *kept, one: 5}}\n")
    assert read_mapping(path)["b"] == {"one": 1, "two": 3, "c": {"one": 5, "two": 2}}
    path = written(tmp_path, "top: &top {<<: {one: 1}, one: 2}\nlast: {<<: *top}\n")
    assert read_mapping(path)["last"] == {"one": 2}


@pytest.mark.parametrize("name", ["x" * 5_000, "x/" * 2_500, f"{'x' * 5_000}.yaml"])
def test_a_name_that_no_file_can_have_is_a_wrong_name_and_is_not_repeated_in_full(name: str) -> None:
    with pytest.raises(ConfigError, match="is neither a built-in rule set") as refused:
        rules_named(name)
    assert len(str(refused.value)) < 500
    assert refused.value.path == name


@pytest.mark.parametrize("name", ["", " ", "\t"])
def test_an_empty_name_of_rules_or_of_an_agent_is_called_empty(name: str) -> None:
    with pytest.raises(ConfigError, match=r"^rules: the name is empty; write prd, course or"):
        rules_named(name)
    with pytest.raises(ConfigError, match=r"^agent: the name is empty; write offline, llm, scripted"):
        choose_agent(name, "player", rules=PRD, seed=1)


@pytest.mark.parametrize(
    "spec",
    ["x" * 3_000, f"scripted:{'x' * 3_000}", f"{'x' * 3_000}:Class", f"{'x' * 3_000}.py:Class", f"json:{'X' * 3_000}"],
)
def test_a_long_name_of_an_agent_is_shortened_wherever_it_is_repeated(spec: str) -> None:
    with pytest.raises(ConfigError) as refused:
        choose_agent(spec, "player", rules=PRD, seed=1)
    assert len(str(refused.value)) < 1_000
    assert "x" * 20 in str(refused.value) or "X" * 20 in str(refused.value)


def test_the_place_of_the_index_is_asked_for_by_offline_agents_alone() -> None:
    def nowhere() -> Path:
        raise ConfigError("LEAGUE_AGENTS_DATA", "is a file")

    assert choose_agent("scripted", "player", rules=PRD, seed=1, index_path=nowhere).is_ours
    with pytest.raises(ConfigError, match="LEAGUE_AGENTS_DATA"):
        choose_agent("offline", "player", rules=PRD, seed=1, index_path=nowhere)
