"""``league-agents rules``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.config.rules import rules_named
from league_agents.games.q21.rules import BUILT_IN, PRD, rule_set_to


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_printed_is_a_rule_file_with_the_same_rules(name: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(command_line, ["rules", name])
    assert shown.exit_code == 0
    copy = tmp_path / "copy.yaml"
    copy.write_text(shown.stdout, "utf-8")
    assert rules_named(str(copy)) == BUILT_IN[name]


def test_rules_as_json() -> None:
    assert json.loads(CliRunner().invoke(command_line, ["rules", "--json"]).stdout) == rule_set_to(PRD)


def test_rules_that_do_not_exist_are_named() -> None:
    shown = CliRunner().invoke(command_line, ["rules", "none.yaml"])
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (3, 1)
    assert "none.yaml" in shown.stderr
