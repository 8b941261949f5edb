"""Parts that other distributions installed are found by entry point, and told of in one line when they are broken."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.kit.installed import installed, named


def distribution(folder: Path, name: str, group: str, *points: str) -> None:
    """What an installer leaves of a distribution with entry points."""
    found = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (found / "entry_points.txt").write_text("\n".join([f"[{group}]", *points]) + "\n", encoding="utf-8")


def test_entry_points_are_listed_without_an_import_and_loaded_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path, "box-of-parts", "test.listed", "b = box_of_parts:SECOND", "a = box_of_parts:FIRST")
    (tmp_path / "box_of_parts.py").write_text("FIRST = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = installed("test.listed", ["c"])
    assert [(each.name, each.distribution) for each in found.values()] == [
        ("a", "box-of-parts 1.0"),
        ("b", "box-of-parts 1.0"),
    ]
    assert found["a"].load() == 1
    with pytest.raises(ConfigError) as broken:
        found["b"].load()
    assert str(broken.value) == (
        "entry point test.listed: b of box-of-parts 1.0 cannot be used: box_of_parts:SECOND: AttributeError: module "
        "'box_of_parts' has no attribute 'SECOND'; repair or uninstall box-of-parts"
    )


@pytest.mark.parametrize("text", ["raise SystemExit(3)", "import nothing_like_it", "1 +", "raise ValueError('a\\nb')"])
def test_a_part_that_fails_when_it_is_imported_is_one_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"part_{abs(hash(text))}"
    (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError) as broken:
        named(f"{module}:PART")
    assert module in str(broken.value)
    assert "\n" not in str(broken.value)


def test_a_name_that_is_there_twice_is_refused_with_both_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(tmp_path, "first-box", "test.twice", "a = box:A")
    distribution(tmp_path, "second-box", "test.twice", "a = box:A")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"a is in both first-box 1\.0 and second-box 1\.0; uninstall first-box or"):
        installed("test.twice")


def test_the_name_of_a_built_in_part_cannot_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "third-box", "test.taken", "mine = box:A")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"mine of third-box 1\.0 has the name of a built-in one; uninstall"):
        installed("test.taken", ["mine"])


def test_a_reference_names_a_module_or_an_object_of_one() -> None:
    assert named("league_agents.kit.installed:named") is named
    assert named(".installed", "league_agents.kit") is importlib.import_module("league_agents.kit.installed")
