"""A league file that ``config init`` begins is read as it stands, and keeps what the example explains."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.config.examples import LEAGUE_FILE, example_text, scenario_names
from league_agents.config.league_file import read_league_file
from league_agents.config.new_file import new_league_file, questions_for
from league_agents.kit.errors import ConfigError

ROLES = ("referee", "player", "manager")
ANSWERS = {
    "manager_email": "office@league.test",
    "address": "otters@league.test",
    "id": "REF-OTTERS",
    "group_id": "otters: the second",
    "agent": "my_agent.py:Mine",
    "season_id": "2031",
    "season_name": 'Spring "31" # one',
}


def answers_of(role: str) -> dict[str, str]:
    return {question.option: ANSWERS[question.option] for question in questions_for(role)}


@pytest.mark.parametrize("role", ROLES)
def test_a_new_file_holds_its_role_and_the_answers(role: str, tmp_path: Path) -> None:
    made = new_league_file(role, answers_of(role))
    path = tmp_path / "league.yaml"
    path.write_text(made.text, "utf-8")
    settings = read_league_file(path, {})
    [only] = settings.roles
    assert (only.role, only.address) == (role, "otters@league.test")
    if role == "manager":
        assert settings.season is not None
        assert (settings.season.season_id, settings.season.name) == ("2031", 'Spring "31" # one')
        assert [key.split(":")[0] for key in made.to_do] == ["season.teams"]
    else:
        assert (settings.manager_email, only.group_id) == ("office@league.test", "otters: the second")
        assert only.agent == "my_agent.py:Mine"
        assert made.to_do == ()


@pytest.mark.parametrize("role", ROLES)
def test_without_answers_the_file_is_read_and_every_open_question_is_listed(role: str, tmp_path: Path) -> None:
    made = new_league_file(role, {})
    path = tmp_path / "league.yaml"
    path.write_text(made.text, "utf-8")
    assert [each.role for each in read_league_file(path, {}).roles] == [role]
    listed = {line.split(":")[0] for line in made.to_do}
    assert {question.key for question in questions_for(role) if not question.default} <= listed


@pytest.mark.parametrize("role", ROLES)
def test_what_the_example_says_of_other_sections_stays(role: str) -> None:
    example = example_text(LEAGUE_FILE)
    shared = example[example.index("# prd (the product document)") :]
    made = new_league_file(role, {}).text
    assert shared in made
    assert "falcons.player@gmail.com" not in made.split("# prd (the")[0] or role == "manager"
    assert ("\nseason:" in made) == (role == "manager")


def test_an_answer_that_the_file_would_not_allow_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"roles\.player\.address: must be a mail address"):
        new_league_file("player", {"address": "not an address"})


def test_the_examples_of_the_arena_are_there() -> None:
    assert "guess_number" in scenario_names()
    for name in scenario_names():
        assert example_text(f"arena/{name}.yaml").startswith("#")
