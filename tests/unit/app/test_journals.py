"""A journal that is damaged, empty, gone or another one is refused, in one line that says what to do."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from league_agents.app.journals import (
    SEED,
    fingerprint_of,
    keep_marker,
    look_at_journal,
    marker_of,
    marker_path,
    open_journal,
    state_in,
)
from league_agents.app.live_machine import machine_of
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.errors import ConfigError, JournalError

PLAYER = """\
league: {manager_email: office@league.test}
roles:
  player: {address: p@league.test, group_id: falcons, journal: player.db}
"""
MANAGER = """\
roles:
  manager: {address: office@league.test}
season:
  id: SPRING
  teams:
    - {group_id: a, player: pa@league.test, referee: ra@league.test}
    - {group_id: b, player: pb@league.test, referee: rb@league.test}
    - {group_id: c, player: pc@league.test, referee: rc@league.test}
"""
DAY, NEXT_DAY = "2031-03-01", "2031-03-02"


def read(folder: Path, text: str = PLAYER) -> RoleSettings:
    return read_settings(folder, text).roles[0]


def read_settings(folder: Path, text: str) -> LeagueSettings:
    path = folder / "league.yaml"
    path.write_text(text, "utf-8")
    return read_league_file(path, {})


def nothing(_name: str, _part: object) -> str:
    return ""


def play(role: RoleSettings, seed: str = "seed", today: str = DAY) -> str | None:
    """A start and an end, as the daemon does it."""
    journal = open_journal(role, nothing)
    if journal.kept(SEED) is None:
        journal.keep(SEED, seed)
    told = keep_marker(role, journal, today=today)
    journal.close()
    return told


def flip(path: Path, text: bytes) -> None:
    """One byte of a text is changed wherever the text stands."""
    content = path.read_bytes()
    assert text in content
    path.write_bytes(content.replace(text, bytes([text[0] ^ 0x80]) + text[1:]))


def of_another_seed(path: Path) -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    other = SqliteJournal(path, role="player", address="p@league.test", dump=nothing)
    other.keep(SEED, "another")
    other.close()


def of_another_address(path: Path) -> None:
    path.unlink()
    SqliteJournal(path, role="player", address="q@league.test", dump=nothing).close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE notes (text)")
    db.close()


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def scribbled_over(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 8] = b"\x5a" * (4096 * 7)
    path.write_bytes(content)


FATES: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (Path.unlink, r"player\.db: is gone, and p@league\.test has been played from it since 2031-03-01;"),
    "empty": (lambda path: path.write_bytes(b""), r"player\.db: is empty, and p@league\.test has been played from it"),
    "replaced": (of_another_seed, r"player\.db: is not the journal that p@league\.test has been played from since"),
    "of another address": (of_another_address, r"player\.db: is the journal of player q@league\.test, not of player"),
    "of another program": (of_another_program, r"player\.db: is a database of another program|is no journal"),
    "cut": (cut_in_half, r"player\.db: is damaged \(.*\); put a copy in its place, or name another file"),
    "scribbled over": (scribbled_over, r"player\.db: is damaged \("),
    "text": (lambda path: path.write_text("Dear league, " * 500), r"player\.db: is damaged or no journal \("),
}


@pytest.mark.parametrize("fate", FATES)
def test_a_journal_that_met_with_something_is_refused_with_the_key_that_names_it(tmp_path: Path, fate: str) -> None:
    role = read(tmp_path)
    play(role)
    befall, said = FATES[fate]
    befall(role.journal)
    before = sorted((path.name, path.stat().st_size) for path in tmp_path.iterdir())
    for look in (lambda: look_at_journal(role), lambda: open_journal(role, nothing)):
        with pytest.raises(ConfigError, match=r"league\.yaml\.roles\.player\.journal: .*" + said) as refused:
            look()
        assert "\n" not in str(refused.value)
    after = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert [after[name] for name, _ in before] == [size for _, size in before], "nothing was begun anew"


@pytest.mark.parametrize("fate", ["gone", "empty", "replaced"])
def test_without_the_marker_it_is_begun_anew(tmp_path: Path, fate: str) -> None:
    role = read(tmp_path)
    play(role)
    FATES[fate][0](role.journal)
    marker_path(role).unlink()
    assert play(role, today=NEXT_DAY) is None
    marker = marker_of(role)
    assert marker is not None
    assert marker.since == NEXT_DAY


def test_a_copy_that_is_put_back_is_gone_on_with(tmp_path: Path) -> None:
    role = read(tmp_path)
    play(role)
    shutil.copy(role.journal, tmp_path / "copy")
    role.journal.unlink()
    shutil.copy(tmp_path / "copy", role.journal)
    assert play(role, today=NEXT_DAY) is None
    marker = marker_of(role)
    assert marker is not None
    assert marker.since == DAY


def test_another_name_begins_another_journal_and_is_told(tmp_path: Path) -> None:
    role = read(tmp_path)
    play(role)
    role = read(tmp_path, PLAYER.replace("player.db", "autumn.db"))
    told = play(role, seed="another")
    assert told == f"p@league.test is played from {role.journal} from now on; until now it was player.db"
    assert play(role) is None
    role.journal.unlink()
    with pytest.raises(ConfigError, match=r"autumn\.db: is gone"):
        play(role)


def test_a_folder_that_was_moved_keeps_its_journals(tmp_path: Path) -> None:
    role = read(tmp_path)
    play(role)
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in list(tmp_path.glob("player.db*")) + list(tmp_path.glob("token_player.json*")):
        path.rename(moved / path.name)
    role = read(moved)
    assert play(role) is None
    role.journal.unlink()
    with pytest.raises(ConfigError, match="is gone"):
        play(role)


def test_a_journal_from_before_there_were_markers_is_gone_on_with(tmp_path: Path) -> None:
    role = read(tmp_path)
    SqliteJournal(role.journal, role="player", address="P@league.test", dump=nothing).close()
    assert marker_of(role) is None
    assert look_at_journal(role) is not None
    play(role)
    assert marker_of(role) is not None


def test_a_first_start_that_died_early_is_begun_again(tmp_path: Path) -> None:
    role = read(tmp_path)
    role.journal.touch()
    assert look_at_journal(role) is None
    play(role)
    assert marker_of(role) is not None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"journal": "player.db"}', "[" * 99_999])
def test_a_marker_that_nobody_can_read_is_none(tmp_path: Path, content: str) -> None:
    role = read(tmp_path)
    marker_path(role).write_text(content)
    assert marker_of(role) is None
    play(role)
    assert marker_of(role) is not None


def test_the_marker_does_not_tell_the_seed(tmp_path: Path) -> None:
    role = read(tmp_path)
    play(role, seed="5eed5eed5eed5eed")
    assert "5eed" not in marker_path(role).read_text()
    assert marker_path(role).stat().st_mode & 0o077 == 0


def test_a_journal_without_a_seed_has_no_fingerprint(tmp_path: Path) -> None:
    role = read(tmp_path)
    journal = open_journal(role, nothing)
    assert fingerprint_of(journal) is None
    assert keep_marker(role, journal, today=DAY) is None
    assert not marker_path(role).exists()
    journal.close()


def test_a_journal_of_another_season_is_named_by_its_key(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, MANAGER)
    (role,) = settings.roles
    machine = machine_of(settings, role, "seed")
    state = machine.initial()
    parts = {name: machine.dump_part(name, part) for name, part in machine.parts(state).items()}
    assert state_in(role, machine, parts) == state
    settings = read_settings(tmp_path, MANAGER.replace("SPRING", "AUTUMN"))
    (role,) = settings.roles
    said = (
        r"roles\.manager\.journal: .*manager\.db: the journal is of season 'SPRING', which is not over, and"
        r" season\.id is 'AUTUMN';"
        " name another journal, or the season that this one was made for"
    )
    with pytest.raises(ConfigError, match=said):
        state_in(role, machine_of(settings, role, "seed"), parts)
    with pytest.raises(ConfigError, match=r"roles\.manager\.journal: .*part 'season' of the journal cannot be read"):
        state_in(role, machine, {**parts, "season": parts["season"][:-3]})


READERS: dict[str, Callable[[SqliteJournal], object]] = {
    "parts": lambda journal: journal.load_parts(),
    "outbox": lambda journal: list(journal.outbox()),
    "inbox": lambda journal: list(journal.inbox()),
    "notes": lambda journal: list(journal.notes()),
    "kept": lambda journal: journal.kept(SEED),
    "pending calls": lambda journal: journal.pending_calls(),
    "orders": lambda journal: journal.open_orders(),
    "deadlines": lambda journal: journal.next_wake(),
    "owner": lambda journal: journal.owner,
}


@pytest.mark.parametrize("reader", READERS)
def test_whatever_reads_a_damaged_journal_names_the_file_and_what_to_do(tmp_path: Path, reader: str) -> None:
    """Damaged while it is open: nothing that was read before helps."""
    role = read(tmp_path)
    play(role)
    journal = SqliteJournal.to_look_at(role.journal)
    scribbled_over(role.journal)
    with pytest.raises(JournalError, match=r"player\.db: is damaged \(.*; put a copy in its place"):
        # What one reads may lie on a page that is in memory; not all of them do.
        [read_something(journal) for read_something in (READERS[reader], *READERS.values())]
    journal.close()


def test_a_changed_byte_in_a_text_is_damage_too(tmp_path: Path) -> None:
    role = read(tmp_path)
    play(role, seed="a seed that stands in the file")
    for text in (b'"a seed that stands in the file"', b"a seed that stands"):
        original = role.journal.read_bytes()
        flip(role.journal, text)
        journal = SqliteJournal.to_look_at(role.journal)
        with pytest.raises(JournalError, match=r"player\.db: is damaged \(") as damaged:
            journal.kept(SEED)
        assert "\n" not in str(damaged.value)
        journal.close()
        role.journal.write_bytes(original)
