"""Prompts from files."""

from __future__ import annotations

from importlib import resources

import jinja2
import pytest

from league_agents.agents import prompting
from league_agents.agents.prompting import DIVIDER, render
from league_agents.agents.secrecy import canary_of
from league_agents.llm.port import Purpose

PURPOSE = Purpose(match_id="0101001", callback="get_round_start_info", step="referee_hint")
VALUES: dict[str, object] = {
    "title": "Emma",
    "passage": "It was a fine day.",
    "facts": [],
    "words": 15,
    "characters": 200,
    "style": "fair",
    "base": "A hint.",
    "taboo": ["fine"],
    "is_passage": True,
}


def files() -> list[str]:
    folder = resources.files("league_agents.agents").joinpath("prompts")
    return sorted(each.name for each in folder.iterdir() if each.name.endswith(".md"))


def test_every_prompt_has_two_parts_and_fences_whatever_is_put_into_its_material() -> None:
    assert len(files()) >= 3
    for name in files():
        text = resources.files("league_agents.agents").joinpath("prompts", name).read_text(encoding="utf-8")
        system, divider, user = text.partition(DIVIDER)
        assert divider, name
        assert "<<" in system or "fence" in system, f"{name} does not say what fences are"
        values = [part.partition("}}")[0] for part in user.split("{{")[1:]]
        # What an arena's own schema says is no stranger's text.
        unfenced = [value for value in values if "fenced(" not in value and "fenced_lines(" not in value]
        assert [value for value in unfenced if "one_line(" not in value and " each." not in value] == [], name


def test_equal_values_give_equal_prompts_and_a_key_changes_only_the_mark() -> None:
    first, second, other = (render(PURPOSE, key=key, **VALUES) for key in ("a", "a", "b"))
    assert first == second
    assert first.digest == second.digest
    assert first.user == other.user
    assert canary_of(first) != canary_of(other)


def test_a_missing_value_fails_at_once() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render(PURPOSE, key="", **{name: value for name, value in VALUES.items() if name != "title"})


def test_a_value_cannot_be_a_template() -> None:
    shown = render(PURPOSE, key="", **{**VALUES, "passage": "{{ taboo }} {% for x in y %}"})
    assert "{{ taboo }} {% for x in y %}" in shown.user


def test_a_prompt_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no_such_step"):
        render(Purpose(match_id="", callback="", step="no_such_step"))
    assert prompting.DIVIDER.strip() == "--- user ---"
