"""A league file may list many mailboxes of a kind, and a process may run many league files."""

from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.app.live_mailbox import login_command
from league_agents.config.league_file import read_league_file
from league_agents.config.league_folder import LeagueFiles, are_many, league_files, read_league_files
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.errors import ConfigError

LEAGUE = "league: {manager_email: office@league.test}\n"
LISTS = f"""\
{LEAGUE}roles:
  referee:
    - {{address: r1@league.test, id: R1}}
  player:
    - {{address: p1@league.test, group_id: g1}}
    - {{address: p2@league.test, group_id: g2, name: the/otters, journal: own.db}}
"""


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def read(tmp_path: Path, text: str, *mailboxes: str, **environment: str) -> LeagueSettings:
    return read_league_file(written(tmp_path, "league.yaml", text), environment, mailboxes=mailboxes)


def read_all(paths: list[Path], before: dict[Path, LeagueSettings] | None = None) -> LeagueFiles:
    return read_league_files(paths, lambda path: read_league_file(path, {}, is_one_of_many=True), before=before)


def test_every_listed_mailbox_has_a_name_and_files_called_after_it(tmp_path: Path) -> None:
    roles = read(tmp_path, LISTS).roles
    assert [role.label for role in roles] == ["referee r1@league.test", "player p1@league.test", "player the/otters"]
    assert [str(role.journal.name) for role in roles if isinstance(role.journal, Path)] == [
        "referee-r1@league.test.db",
        "player-p1@league.test.db",
        "own.db",
    ]
    assert roles[2].token.name == "token_player-the_otters.json"
    assert [role.section for role in roles] == ["roles.referee[0]", "roles.player[0]", "roles.player[1]"]


def test_the_login_command_names_the_mailbox_and_reads_it_alone(tmp_path: Path) -> None:
    settings = read(tmp_path, LISTS)
    assert " --role player --mailbox p1@league.test " in login_command(settings, settings.roles[1])
    assert [role.address for role in read(tmp_path, LISTS, "P1@league.test", "the/otters").roles] == [
        "p1@league.test",
        "p2@league.test",
    ]
    with pytest.raises(ConfigError, match=r"have no mailbox 'p3@league\.test'"):
        read(tmp_path, LISTS, "p3@league.test")


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        ("p2@", "P1@", r"roles\.player\[1\]\.address: is the same address as roles\.player\[0\]\.address; every role"),
        ("p2@", "r1@", r"roles\.player\[1\]\.address: is the same address as roles\.referee\[0\]\.address"),
        ("the/otters", "p1@league.test", r"roles\.player\[1\]\.name: is the same name as roles\.player\[0\]\.name"),
        ("own.db", "player-p1@league.test.db", r"roles\.player\[1\]\.journal: is the same file as roles\.player\[0\]"),
        ("group_id: g2", "group_ip: g2", r"roles\.player\[1\]: there is no key 'group_ip'"),
        (
            "- {address: r1@league.test, id: R1}",
            "[]",
            r"roles\.referee: must have at least one referee, found an empty",
        ),
        ("- {address: r1@league.test, id: R1}", "- 7", r"roles\.referee\[0\]: must be .*, found 7"),
    ],
)
def test_what_is_wrong_in_a_list_is_named_by_its_place(tmp_path: Path, was: str, is_now: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read(tmp_path, LISTS.replace(was, is_now))


@pytest.mark.parametrize("variable", ["GROUP_ID", "DISPLAY_NAME", "GMAIL_ACCOUNT", "GMAIL_TOKEN_PATH"])
def test_a_variable_of_one_mailbox_is_refused_where_several_of_its_kind_run(tmp_path: Path, variable: str) -> None:
    with pytest.raises(ConfigError, match=rf"{variable}: names one .*run together"):
        read(tmp_path, LISTS, **{variable: "x@league.test"})
    one = written(tmp_path, "one.yaml", f"{LEAGUE}roles: {{player: {{address: p@league.test}}}}")
    with pytest.raises(ConfigError, match="several league files run together"):
        read_league_file(one, {variable: "x@league.test"}, is_one_of_many=True)


def test_a_folder_is_all_its_league_files_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "leagues"
    for name in ("b.yaml", "a.yml", ".hidden.yaml", "notes.txt"):
        written(folder, name, LEAGUE)
    one = written(tmp_path, "one.yaml", LEAGUE)
    assert league_files([folder]) == [folder / "a.yml", folder / "b.yaml"]
    assert league_files([one, folder, one]) == [one, folder / "a.yml", folder / "b.yaml"]
    assert [are_many(each) for each in ([], [one], [one, one], [folder])] == [False, False, True, True]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="holds no league file"):
        league_files([tmp_path / "empty"])


def player_file(address: str) -> str:
    return f"{LEAGUE}roles: {{player: {{address: {address}, group_id: g, journal: {address}.db, token: {address}}}}}"


def test_a_file_with_an_error_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    good, bad, doubled = (
        written(tmp_path, "a.yaml", player_file("a@league.test")),
        written(tmp_path, "b.yaml", "roles: {plaier: {}}"),
        written(tmp_path, "c.yaml", player_file("A@league.test")),
    )
    files = read_all([good, bad, doubled])
    assert [(settings.path, settings.roles[0].label) for settings in files.read] == [(good, "player a@league.test")]
    assert "did you mean 'player'" in str(files.wrong[bad])
    assert f"is the same address as {good}.roles.player.address" in str(files.wrong[doubled])


def test_what_runs_keeps_its_mailboxes_while_its_file_has_an_error(tmp_path: Path) -> None:
    first, second = (
        written(tmp_path, "a.yaml", player_file("a@league.test")),
        written(tmp_path, "b.yaml", player_file("b@league.test")),
    )
    before = {settings.path: settings for settings in read_all([first, second]).read}
    written(tmp_path, "a.yaml", "roles: [")
    written(tmp_path, "b.yaml", player_file("a@league.test"))
    files = read_all([first, second], before)
    assert not files.read
    assert f"is the same address as {first}.roles.player.address" in str(files.wrong[second])


def test_a_folder_that_cannot_be_read_for_a_moment_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        league_files([tmp_path])


def test_links_that_lead_in_a_circle_are_the_trouble_of_one_role(tmp_path: Path) -> None:
    (tmp_path / "token_player.json").symlink_to("token_player.json")
    path = written(tmp_path, "league.yaml", f"{LEAGUE}roles: {{player: {{address: p@league.test, group_id: g}}}}\n")
    assert [settings.path for settings in read_all([path]).read] == [path]
