"""Every key of a rule set is declared once, and can be read, written, listed and explained."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.games.q21 import rules as module
from league_agents.games.q21.rule_file import rule_set_from
from league_agents.games.q21.rules import BUILT_IN, PRD, RuleSet, digest, rule_keys, rule_set_to
from league_agents.kit.errors import ConfigError

OTHERS: dict[str, Any] = {
    "name": "mine",
    "fixed_options": ["a", "b", "c", "d"],
    "hint_characters": [1, 2],
    "weights": {
        "opening_sentence": 0.25,
        "sentence_justification": 0.25,
        "associative_word": 0.25,
        "word_justification": 0.25,
    },
    "tiers": [{"least": 1.0, "points": 1}],
    "answer_key": "own",
    "target_kind": "passage_opening",
    "aborted_points": "zero",
    "walkover": "as_reported",
}

each_key = pytest.mark.parametrize("key", rule_keys())


def other(key: str, value: Any) -> Any:
    """A value that the key may have besides this one."""
    if key in OTHERS:
        return OTHERS[key]
    if isinstance(value, dict):
        name, inner = next(iter(value.items()))
        return {**value, name: inner + 1}
    return not value if isinstance(value, bool) else value + 1 if value != 3 else 2


def test_every_field_is_a_key() -> None:
    fields = [field.name for field in msgspec.structs.fields(RuleSet)]
    assert [key.removesuffix("_seconds") for key in rule_keys()] == fields


@each_key
def test_it_is_read_and_written_and_changes_the_digest(key: str) -> None:
    written = rule_set_to(PRD)
    value = other(key, written[key] if key != "feedback_penalty" else 0.1 - 1)
    changed = rule_set_from({"extends": "prd", "name": "mine", key: value})
    assert rule_set_to(changed)[key] == value != written[key]
    assert rule_set_from(rule_set_to(changed)) == changed
    assert digest(changed) != digest(PRD)


@each_key
def test_a_wrong_value_names_the_key(key: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        rule_set_from({"extends": "prd", "name": "mine", key: []})
    assert wrong.value.path.startswith(f"rules.{key}")


@each_key
@pytest.mark.parametrize("name", BUILT_IN)
def test_it_is_listed_with_what_it_means(key: str, name: str) -> None:
    assert rule_keys()[key]
    lines = CliRunner().invoke(command_line, ["rules", name]).output.splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.startswith(f"{key}:")]
    assert lines[place - 1] == f"# {rule_keys()[key]}"


def test_a_key_is_spelled_once() -> None:
    """The declaration is all: nothing else in the module, and no other list of the package, names a rule."""
    tree = ast.parse(inspect.getsource(module))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not set(texts) & (set(rule_keys()) - {"name"})
