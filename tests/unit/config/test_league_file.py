"""The league file is read strictly, and the environment of deployed clients is laid over it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from league_agents.app.live_machine import manager_config
from league_agents.config.league_file import find_league_file, read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.league.machines.events import Identity
from league_agents.league.season.schedule import ScheduleKind
from league_agents.mail.identity import Require

EXAMPLE = Path(__file__).parents[3] / "config" / "league.example.yaml"

PLAYER = """\
league: {manager_email: office@league.test}
roles:
  player: {address: p@league.test, group_id: falcons}
"""
BOTH = PLAYER + "  referee: {address: r@league.test, id: REF1}\n"
TEAMS = ", ".join(f"{{group_id: g{n}, player: p{n}@league.test, referee: r{n}@league.test}}" for n in range(3))
MANAGER = f"""\
roles:
  manager: {{address: office@league.test}}
season: {{id: S1, registration_seconds: 90, teams: [{TEAMS}]}}
"""


def read(tmp_path: Path, text: str, only: tuple[str, ...] = (), **environment: str) -> LeagueSettings:
    path = tmp_path / "league.yaml"
    path.write_text(text, "utf-8")
    return read_league_file(path, environment, only=only)


def test_the_example_is_valid_as_it_is_and_with_every_comment_taken_away(tmp_path: Path) -> None:
    text = EXAMPLE.read_text("utf-8")
    read(tmp_path, text)
    # A commented line that is a key; prose has no "key:" at its beginning.
    bare = re.sub(r"(?m)^(\s*)# (?=(?: {2})*(?:- \{|(?:- )?[a-z_0-9]+:(?: |$)))", r"\1", text)
    settings = read(tmp_path, bare)
    assert len(settings.roles[0].teams) == 3
    assert [entry.name for entry in settings.models.chain("get_answers")] == ["clever", "near"]
    assert [role.role for role in settings.roles] == ["manager", "referee", "player"]
    defaults = read(tmp_path, PLAYER)
    assert settings.gmail.push is not None
    assert evolve(settings.gmail, push=None) == defaults.gmail
    assert settings.pace == defaults.pace
    assert (settings.rules, settings.is_demo) == (defaults.rules, False)


def test_files_are_seen_from_the_folder_of_the_league_file(tmp_path: Path) -> None:
    role = read(tmp_path, PLAYER).role("player")
    assert role.journal == tmp_path.resolve() / "player.db"
    assert role.token == tmp_path.resolve() / "token_player.json"
    assert role.participant_id == "falcons"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("roles: {}", "roles"),
        (PLAYER.replace("group_id", "group_ip"), "did you mean 'group_id'"),
        (PLAYER.replace("p@league.test", "nobody"), r"roles\.player\.address.*mail address"),
        (PLAYER.replace("league:", "leage:"), "did you mean 'league'"),
        (PLAYER + "poll: {active_seconds: '2'}", r"poll\.active_seconds.*number"),
        (PLAYER + "poll: {active_seconds: 0.01}", r"poll\.active_seconds"),
        (PLAYER + "rules: prb", "prb"),
        (PLAYER + "demo: maybe", "true or false"),
        (PLAYER + "gmail: {sender_check: pas}", "did you mean 'pass'"),
        (PLAYER + "gmail: {endpoint: 'http://mail.example.com'}", "https"),
        (PLAYER + "gmail: {endpoint: 'http://127.0.0.1@mail.example.com'}", "https"),
        (PLAYER + "gmail: {quota: {sends_per_day: 0}}", "sends_per_day"),
        (PLAYER + "gmail: {prices: {messages.got: 3}}", "messages.get"),
        (PLAYER + "waits: {guess_second: 3}", "guess_seconds"),
        (PLAYER + "log: {level: LOUD}", "DEBUG"),
        (PLAYER.replace("league: {manager_email: office@league.test}\n", ""), r"league\.manager_email.*missing"),
        (BOTH.replace("r@league.test", "P@League.test"), "mailbox of its own"),
        (BOTH.replace("REF1", "REF1, journal: player.db"), "same file as"),
        (BOTH.replace(", id: REF1", ""), r"roles\.referee\.id.*missing"),
        (MANAGER.replace("season:", "#"), r"season.*missing"),
        (MANAGER + "league: {manager_email: other@league.test}", "roles.manager.address"),
        (MANAGER.replace("r1@league.test", "r1"), r"season\.teams\[1\]\.referee"),
        ("referee_id: REF1\nleague_manager_email: a@b.c", "config import"),
        ("player: {user_id: x}\napp: {}", "config import"),
        ("[1, 2]", "keys and values"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_the_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        PLAYER,
        LEAGUE_MANAGER_EMAIL="lm@league.test",
        GMAIL_ACCOUNT="me@league.test",
        GROUP_ID="otters",
        DISPLAY_NAME="The Otters",
        GMAIL_TOKEN_PATH="t.json",
        GMAIL_CREDENTIALS_PATH="c.json",
        POLL_INTERVAL_SEC="30",
        LOG_LEVEL="debug",
        DEMO_MODE="yes",
        LEAGUE_GMAIL_ENDPOINT="http://127.0.0.1:8025",
    )
    player = settings.role("player")
    assert settings.manager_email == "lm@league.test"
    assert (player.address, player.group_id, player.display_name) == ("me@league.test", "otters", "The Otters")
    assert (player.token.name, settings.gmail.credentials.name) == ("t.json", "c.json")
    assert settings.pace.idle == timedelta(seconds=30)
    assert settings.pace.active == timedelta(seconds=1.5), "a game is not played at 30 s a look"
    assert (settings.log.level, settings.is_demo) == ("DEBUG", True)
    assert settings.gmail.endpoint == "http://127.0.0.1:8025"


@pytest.mark.parametrize("word", ["false", "0", "no", "", "False", " NO "])
def test_demo_mode_is_off_for_every_word_that_means_no(tmp_path: Path, word: str) -> None:
    # One deployed client takes any text for yes (protocol 8.2).
    assert not read(tmp_path, PLAYER + "demo: true", DEMO_MODE=word).is_demo


@pytest.mark.parametrize(
    ("name", "value"), [("DEMO_MODE", "perhaps"), ("POLL_INTERVAL_SECONDS", "soon"), ("LOG_LEVEL", "LOUD")]
)
def test_a_wrong_value_of_the_environment_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read(tmp_path, PLAYER, **{name: value})


def test_a_name_that_could_mean_two_mailboxes_is_refused_unless_one_role_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"GMAIL_TOKEN_PATH.*run together"):
        read(tmp_path, BOTH, GMAIL_TOKEN_PATH="t.json")
    assert read(tmp_path, BOTH, ("player",), GMAIL_TOKEN_PATH="t.json").role("player").token.name == "t.json"


def test_only_the_roles_that_were_named_are_read(tmp_path: Path) -> None:
    assert [role.role for role in read(tmp_path, BOTH, ("referee",)).roles] == ["referee"]
    said = r"roles\.manager: is not in the file, which has referee, player; only the league manager's own"
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, BOTH, ("manager",))


def test_waits_are_laid_over_the_rules(tmp_path: Path) -> None:
    rules = read(tmp_path, PLAYER + "rules: course\nwaits: {guess_seconds: 40, grace_seconds: 0}").rules
    assert (rules.name, rules.guess_wait, rules.grace) == ("course", timedelta(seconds=40), timedelta(0))
    assert rules.questions_wait == timedelta(seconds=300)


def test_rules_may_be_a_file_beside_the_league_file_or_stand_in_it(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("extends: prd\nname: mine\nquestions_required: 10\n", "utf-8")
    assert read(tmp_path, PLAYER + "rules: my.yaml").rules.questions_required == 10
    inline = "rules: {extends: prd, name: x, questions_required: 7}"
    assert read(tmp_path, PLAYER + inline).rules.questions_required == 7


def test_a_manager_gets_its_season(tmp_path: Path) -> None:
    settings = read(tmp_path, MANAGER + "league: {league_id: L7}")
    config = manager_config(settings, settings.roles[0], Identity(email="office@league.test", participant_id="LM001"))
    assert (config.season_id, config.season_name, config.league_id) == ("S1", "S1", "L7")
    assert config.registration_wait == timedelta(seconds=90)
    assert [team.group_id for team in config.teams] == ["g0", "g1", "g2"]


@pytest.mark.parametrize(
    ("keys", "kind", "order"),
    [
        ("", ScheduleKind.ROUND_ROBIN, "points private_score wins"),
        ("meet_twice: true", ScheduleKind.DOUBLE, "points private_score wins"),
        ("schedule: double", ScheduleKind.DOUBLE, "points private_score wins"),
        ("schedule: knockout", ScheduleKind.KNOCKOUT, "rounds_survived points private_score wins"),
        ("tie_breaks: [wins, head_to_head, lot]", ScheduleKind.ROUND_ROBIN, "wins head_to_head lot"),
    ],
)
def test_a_season_says_who_meets_and_what_decides(tmp_path: Path, keys: str, kind: ScheduleKind, order: str) -> None:
    text = MANAGER.replace("{id: S1,", f"{{id: S1, {keys}{',' if keys else ''}")
    assert keys in text
    settings = read(tmp_path, text)
    config = manager_config(settings, settings.roles[0], Identity(email="office@league.test", participant_id="LM001"))
    assert (config.schedule_kind, " ".join(config.table_order)) == (kind, order)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("schedule: cup", "schedule"),
        ("tie_breaks: [luck]", "tie_breaks"),
        ("schedule: swiss, meet_twice: true", "meet_twice"),
        ("schedule: swiss, rounds: 0", "rounds"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_by_its_key(tmp_path: Path, keys: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, MANAGER.replace("{id: S1,", f"{{id: S1, {keys},"))


def test_the_strictest_sender_check_is_the_default(tmp_path: Path) -> None:
    assert read(tmp_path, PLAYER).gmail.sender_check is Require.PASS


def test_without_a_file_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"league\.yaml.*config init player.*config import"):
        find_league_file(None)
    (tmp_path / "league.yaml").write_text(yaml.safe_dump({}), "utf-8")
    assert find_league_file(None) == Path("league.yaml")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("metrics: 0.0.0.0:9464", "metrics: 0.0.0.0 can be reached by others; .*metrics_for_others"),
        ("metrics: '[2001:db8::1]:9464'", "metrics_for_others"),
        ("metrics: example.com:9464", "an IP address and a port"),
        ("metrics: 127.0.0.1", "an IP address and a port"),
        ("metrics: 127.0.0.1:70000", "an IP address and a port"),
        ("metrics: '::1:9464'", "an IP address and a port"),
    ],
)
def test_figures_are_served_to_this_machine_alone_unless_the_file_says_so(
    tmp_path: Path, keys: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, f"{PLAYER}\n{keys}")


@pytest.mark.parametrize(
    ("keys", "host", "port"),
    [
        ("metrics: localhost:9464", "127.0.0.1", 9464),
        ("metrics: '[::1]:0'", "::1", 0),
        ("metrics: 0.0.0.0:9464\nmetrics_for_others: true", "0.0.0.0", 9464),
    ],
)
def test_the_address_of_the_figures_is_read(tmp_path: Path, keys: str, host: str, port: int) -> None:
    found = read(tmp_path, f"{PLAYER}\n{keys}").metrics
    assert found is not None
    assert (found.host, found.port) == (host, port)
