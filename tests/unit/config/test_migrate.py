"""Settings of the deployed clients become a league file, and nothing is lost in silence."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.config.migrate import MISSING_ADDRESS, Imported, import_settings, import_together
from league_agents.kit.errors import ConfigError

REFEREE = {
    "referee_id": "REF001",
    "league_manager_email": "office@league.test",
    "group_id": "falcons",
    "display_name": "Whistle",
    "credentials_path": "client_secret.json",
    "token_path": "tokens/r.json",
    "poll_interval_seconds": 10,
    "player_response_timeout_seconds": 40,
    "demo_mode": "false",
    "log_file": "q21.log",
    "league_id": "L1",
    "referee_email": "r@league.test",
    "actual_opening_sentence": "Call me Ishmael.",
    "actual_associative_word": "whale",
    "assignment_table_id": "T1",
    "player1_email": "x@league.test",
    "referee_password": "hunter2",
    "my_own_note": {"deep": [1]},
}

PLAYER = {
    "league": {"manager_email": "office@league.test", "league_id": "LEAGUE001", "protocol_version": "league.v2"},
    "player": {"user_id": 77, "display_name": "Falcons", "game_types": ["q21"]},
    "app": {
        "player_ai_module": "my_ai",
        "player_ai_class": "Bot",
        "demo_mode": False,
        "poll_interval_sec": "30",
        "log_level": "debug",
        "auto_register": True,
    },
    "gmail": {"account": "p@league.test", "credentials_path": "c.json", "token_path": "", "max_messages_per_scan": 20},
    "database": {"password": "hunter2"},
    "llm": {"method": "cli"},
}


def convert(tmp_path: Path, document: object) -> tuple[Path, str, list[str], list[str]]:
    source = tmp_path / "config.json"
    source.write_text(json.dumps(document), "utf-8")
    imported = import_settings(source)
    made = tmp_path / "league.yaml"
    made.write_text(imported.text(source.name), "utf-8")
    return made, made.read_text("utf-8"), imported.dropped, imported.to_do


def test_a_referees_settings_become_a_league_file_that_is_right(tmp_path: Path) -> None:
    made, text, dropped, to_do = convert(tmp_path, REFEREE)
    settings = read_league_file(made, {})
    role = settings.role("referee")
    assert (role.address, role.participant_id, role.group_id) == ("r@league.test", "REF001", "falcons")
    assert (role.opening_sentence, role.associative_word) == ("Call me Ishmael.", "whale")
    assert role.token == tmp_path.resolve() / "tokens" / "r.json"
    assert settings.rules.guess_wait == settings.rules.warmup_wait == timedelta(seconds=40)
    assert (settings.pace.idle, settings.is_demo, settings.league_id) == (timedelta(seconds=10), False, "L1")
    named = " ".join(dropped)
    for key in ("log_file", "player1_email", "referee_password", "my_own_note.deep"):
        assert key in named
        assert key in text
    assert "hunter2" not in text + named
    assert len(to_do) == 1


def test_a_players_settings_become_a_league_file_that_is_right(tmp_path: Path) -> None:
    made, text, dropped, to_do = convert(tmp_path, PLAYER)
    settings = read_league_file(made, {})
    role = settings.role("player")
    assert (role.address, role.participant_id, role.agent) == ("p@league.test", "77", "my_ai:Bot")
    assert role.token.name == "token_player.json"
    assert settings.log.level == "DEBUG"
    assert settings.pace.idle == timedelta(seconds=30)
    assert {line.partition(" ")[0] for line in dropped} == {
        "league.protocol_version",
        "player.game_types",
        "app.auto_register",
        "gmail.max_messages_per_scan",
        "database.password",
        "llm.method",
    }
    assert "hunter2" not in text
    assert "group_id" in to_do[0]


def convert_both(tmp_path: Path, first: object, second: object) -> tuple[Path, Imported]:
    sources = [tmp_path / "first.json", tmp_path / "second.json"]
    for source, document in zip(sources, (first, second), strict=True):
        source.write_text(json.dumps(document), "utf-8")
    imported = import_together(sources)
    made = tmp_path / "league.yaml"
    made.write_text(imported.text("both"), "utf-8")
    return made, imported


@pytest.mark.parametrize("is_referee_first", [True, False])
def test_a_referees_and_a_players_settings_become_one_league_file(tmp_path: Path, is_referee_first: bool) -> None:
    referee = {**REFEREE, "token_path": "token.json"}
    player = {**PLAYER, "gmail": {"account": "p@league.test", "token_path": "./token.json"}}
    made, imported = convert_both(tmp_path, *((referee, player) if is_referee_first else (player, referee)))
    settings = read_league_file(made, {})
    assert {role.address for role in settings.roles} == {"r@league.test", "p@league.test"}
    assert {role.token.name for role in settings.roles} == {"token_referee.json", "token_player.json"}
    assert {role.group_id for role in settings.roles} == {"falcons"}
    assert "credentials: client_secret.json" in made.read_text("utf-8")
    asked = {line.partition(": ")[0] for line in imported.to_do}
    assert asked == {
        *("roles.referee.agent", "roles.referee.token", "roles.player.token", "roles.player.group_id"),
        *("league.league_id", "poll.idle_seconds"),  # they differ
    }
    assert settings.league_id == ("L1" if is_referee_first else "LEAGUE001")
    assert {"log_file", "llm.method"} <= {line.partition(" ")[0] for line in imported.dropped}


@pytest.mark.parametrize("is_referee_first", [True, False])
def test_what_one_file_knows_is_not_asked_for_because_the_other_does_not(
    tmp_path: Path, is_referee_first: bool
) -> None:
    player = {**PLAYER, "league": {}}
    made, imported = convert_both(tmp_path, *((REFEREE, player) if is_referee_first else (player, REFEREE)))
    settings = read_league_file(made, {})
    assert settings.manager_email == "office@league.test"
    assert not any("league.manager_email" in line for line in imported.to_do)
    assert settings.role("referee").token.name == "r.json"


def test_the_command_takes_both_files(tmp_path: Path) -> None:
    for name, document in (("config.json", REFEREE), ("player.json", PLAYER)):
        (tmp_path / name).write_text(json.dumps(document), "utf-8")
    named = [str(tmp_path / name) for name in ("config.json", "player.json", "league.yaml")]
    shown = CliRunner().invoke(command_line, ["config", "import", *named[:2], "-o", named[2]])
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert [role.role for role in read_league_file(tmp_path / "league.yaml", {}).roles] == ["referee", "player"]


def test_two_files_of_one_role_are_no_league_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"second.json: is another player's settings; one league file has one"):
        convert_both(tmp_path, PLAYER, PLAYER)


@pytest.mark.parametrize(("word", "is_demo"), [("false", False), ("0", False), ("no", False), ("", None), ("1", True)])
def test_demo_mode_is_read_as_people_mean_it(tmp_path: Path, word: str, is_demo: bool | None) -> None:
    made, text, _, _ = convert(tmp_path, {**REFEREE, "demo_mode": word})
    assert read_league_file(made, {}).is_demo is bool(is_demo)
    assert ("demo:" in text) is (is_demo is not None)


def test_what_only_a_person_knows_is_asked_for(tmp_path: Path) -> None:
    made, text, _, to_do = convert(tmp_path, {"referee_id": "R", "league_manager_email": "o@league.test"})
    assert MISSING_ADDRESS in text
    assert any("roles.referee.address" in line for line in to_do)
    assert read_league_file(made, {}).role("referee").participant_id == "R"


@pytest.mark.parametrize(
    ("document", "said"),
    [({"roles": {}, "league": {}}, "league file already"), ({"a": 1}, "neither"), ([1], "keys and values")],
)
def test_other_files_are_refused(tmp_path: Path, document: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        convert(tmp_path, document)


@pytest.mark.parametrize("value", ["soon", -3, 0, True, None, [1]])
def test_a_poll_interval_that_is_none_is_not_taken_over(tmp_path: Path, value: object) -> None:
    made, text, _, _ = convert(tmp_path, {**REFEREE, "poll_interval_seconds": value})
    assert "poll:" not in text
    read_league_file(made, {})


def test_what_a_key_of_a_league_file_cannot_be_is_named(tmp_path: Path) -> None:
    wrong = {**PLAYER, "league": {"manager_email": "the office"}, "app": {"log_level": "loud", "demo_mode": "perhaps"}}
    made, text, dropped, to_do = convert(tmp_path, wrong)
    assert {
        "league.manager_email (cannot be league.manager_email)",
        "app.log_level (cannot be log.level)",
        "app.demo_mode (cannot be demo)",
    } <= set(dropped)
    assert "league.manager_email: the address of the league office" in to_do
    assert "log:" not in text
    assert not read_league_file(made, {}).is_demo
