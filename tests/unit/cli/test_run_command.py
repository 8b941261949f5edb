"""``league-agents run``: options, documents, records."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line
from league_agents.cli.record_file import check_record, write_record
from league_agents.kit.errors import ConfigError

RECORD = {"seed": 1, "rules": "prd", "match": {}, "players": [], "messages": []}


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["run", *arguments])


def test_a_mode_must_be_chosen() -> None:
    shown = run("--seed", "1")
    assert shown.exit_code == 2
    assert "--single-game" in shown.stderr


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", "", str(2**63), "9" * 400, "٣"])
def test_a_wrong_seed_is_named_with_what_is_allowed(seed: str) -> None:
    shown = run("--single-game", f"--seed={seed}")
    assert shown.exit_code == 2
    assert "whole number from 0 to" in shown.stderr
    assert len(shown.stderr) < 300


def test_demo_chooses_every_agent_itself() -> None:
    shown = run("--single-game", "--demo", "--player-a", "scripted")
    assert shown.exit_code == 2
    assert "--player-a" in shown.stderr


def test_the_document_has_the_keys_in_their_order_and_nothing_else() -> None:
    shown = run("--single-game", "--demo", "--seed", "3", "--json")
    assert shown.exit_code == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert list(document) == ["seed", "rules", "match", "target", "players", "messages", "standings"]
    assert document["seed"] == 3
    assert [player["termination"] for player in document["players"]] == ["completed", "completed"]
    assert shown.stderr == ""


def test_without_a_seed_one_is_drawn_and_printed() -> None:
    document = json.loads(run("--single-game", "--demo", "--json").stdout)
    assert isinstance(document["seed"], int)
    told = run("--single-game", "--demo")
    (heading, *_) = told.stderr.splitlines()
    seed = heading.removeprefix("Seed ").partition(",")[0]
    assert f"seed {seed} " in told.stdout


def test_progress_is_told_on_stderr_and_the_transcript_on_stdout() -> None:
    shown = run("--single-game", "--demo", "--seed", "3")
    assert "The referee asks player-a to warm up: “How much is 6 times 7?”" in shown.stderr
    assert "player-a asks 20 questions" in shown.stderr
    assert "player-b guesses “Call me Ishmael.” and the word “shark”" in shown.stderr
    assert "The referee gives player-a 3 points" in shown.stderr
    assert "player-a wins" in shown.stdout
    assert "\x1b" not in shown.output
    assert all(line == line.rstrip() for line in shown.stdout.splitlines())


@pytest.mark.parametrize(
    ("option", "conduct", "never", "still"),
    [
        ("--player-b", "silent", "player-b answers", "player-a answers"),
        ("--player-b", "silent-after-questions", "player-b guesses", "player-b asks"),
        ("--referee", "silent", "The referee asks", "The referee registers"),
    ],
)
def test_what_never_leaves_a_mailbox_is_not_told(option: str, conduct: str, never: str, still: str) -> None:
    agents = dict.fromkeys(("--referee", "--player-a", "--player-b"), "scripted") | {option: f"scripted:{conduct}"}
    shown = run("--single-game", "--seed", "3", *[word for pair in agents.items() for word in pair])
    assert shown.exit_code == 0
    assert (never in shown.stderr, still in shown.stderr) == (False, True)


def test_what_leaves_late_is_told_at_its_own_time() -> None:
    shown = run("--single-game", "--seed", "3", "--referee", "scripted", "--player-a", "scripted",
                "--player-b", "scripted:slow")  # fmt: skip
    times = [line.split()[0] for line in shown.stderr.splitlines() if "player-" in line and " answers " in line]
    assert times[:2] == ["0:10:01", "0:11:31"]


def test_an_index_that_is_damaged_ends_the_match_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "tale.txt").write_text("\n\n".join(["The captain went out to hunt the whale. " * 9] * 9), "utf-8")
    added = CliRunner().invoke(command_line, ["corpus", "add", str(tmp_path / "tale.txt")])
    assert added.exit_code == 0, added.stderr
    (index,) = tmp_path.rglob("knowledge.db")
    with closing(sqlite3.connect(index)) as db, db:
        db.execute("UPDATE books SET source = CAST(x'ff' AS TEXT)")
    shown = run("--single-game", "--seed", "3")
    assert (shown.exit_code, shown.stdout) == (3, "")
    assert shown.stderr.splitlines()[-1].endswith("remove it and add the books again")
    assert "knowledge.db: is damaged or no index (Could not decode to UTF-8 column 'source')" in shown.stderr


@pytest.mark.parametrize("conduct", ["silent", "silent-after-questions", "persistently-malformed", "raising", "late"])
def test_an_ended_match_is_no_failure_however_it_ended(conduct: str) -> None:
    shown = run("--single-game", "--seed", "3", "--referee", "scripted", "--player-a", "scripted",
                "--player-b", f"scripted:{conduct}")  # fmt: skip
    assert shown.exit_code == 0, shown.stderr
    assert "player-b" in shown.stdout


def test_a_record_is_the_printed_document(tmp_path: Path) -> None:
    place = tmp_path / "match.json"
    shown = run("--single-game", "--demo", "--seed", "3", "--json", "--record", str(place))
    assert place.read_text("utf-8") == shown.stdout
    again = run("--single-game", "--demo", "--seed", "4", "--json", "--record", str(place))
    assert again.exit_code == 0, "a former record is replaced"
    assert json.loads(place.read_text("utf-8"))["seed"] == 4
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_record_never_replaces_another_file(tmp_path: Path) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("mine", "utf-8")
    shown = run("--single-game", "--demo", "--record", str(place))
    assert shown.exit_code == 3
    assert "notes.txt" in shown.stderr
    assert place.read_text("utf-8") == "mine"
    assert shown.stdout == "", "it is refused before the match is played"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("missing/match.json", None, "there is no folder"),
        (".", None, "is a folder"),
        ("empty.json", "", "is no record"),
        ("list.json", "[1]", "is no record"),
        ("deep.json", "[" * 100_000, "is no record"),
        ("bytes.json", "\x00\x01", "is no record"),
        ("other.json", '{"seed": 1}', "is no record"),
    ],
)
def test_a_place_that_is_unfit_for_a_record_is_refused(
    tmp_path: Path, name: str, content: str | None, complaint: str
) -> None:
    place = tmp_path / name
    if content is not None:
        place.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=complaint):
        check_record(place)


def test_a_link_to_a_record_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text(json.dumps(RECORD), "utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(real)
    write_record(check_record(link), "{}\n")
    assert link.is_symlink()
    assert real.read_text("utf-8") == "{}\n"


def test_journals_are_kept_beside_each_other_and_never_reused(tmp_path: Path) -> None:
    base = tmp_path / "match.db"
    assert run("--single-game", "--demo", "--seed", "3", "--journal", str(base)).exit_code == 0
    kept = sorted(path.name for path in tmp_path.glob("match.*.db"))
    assert len(kept) == 4
    assert "match.player-a.db" in kept
    again = run("--single-game", "--demo", "--seed", "3", "--journal", str(base))
    assert again.exit_code == 3
    assert len(again.stderr.splitlines()) == 1


@pytest.mark.parametrize("option", ["--record", "--journal"])
@pytest.mark.parametrize("name", [".", "..", "data/", "data//", "data/.", "new/..", ""])
def test_what_names_a_folder_is_no_file_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("--single-game", "--demo", option, name)
    assert (shown.exit_code, shown.stdout) == (3, "")
    assert len(shown.stderr.splitlines()) == 1
    assert option in shown.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--record", "--journal"])
@pytest.mark.parametrize("name", ["loop/file.db", "x" * 5_000, "x" * 300 + "/file.db", "a_file/file.db", "pipe"])
def test_a_place_where_no_file_can_be_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a_file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    shown = run("--single-game", "--demo", option, name)
    assert (shown.exit_code, shown.stdout) == (3, ""), shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    assert len(shown.stderr) < 600
    assert len(list(tmp_path.iterdir())) == 3


def test_a_link_that_leads_to_itself_is_no_place_for_a_record(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match=r"--record .*loop"):
        check_record(tmp_path / "loop")


def test_a_demo_needs_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "file"))
    assert run("--single-game", "--demo", "--seed", "3", "--json").exit_code == 0
    assert run("--single-game", "--seed", "3").exit_code == 3


@pytest.mark.parametrize("option", ["--referee", "--player-a", "--player-b"])
@pytest.mark.parametrize("spec", ["", "nobody", "scripted:lat", "no_such_module:Agent", "json:nothing", ":", "a:b:c"])
def test_a_wrong_agent_is_one_line(option: str, spec: str) -> None:
    shown = run("--single-game", option, spec)
    assert shown.exit_code == 3
    assert shown.stdout == ""
    assert len(shown.stderr.splitlines()) == 1


OWN_AGENTS = """
class Raising:
    def get_warmup_answer(self, ctx):
        return {"answer": "4"}

    def get_questions(self, ctx):
        return {"questions": []}

    def get_guess(self, ctx):
        return ctx["dynamc"]

    def on_score_received(self, ctx):
        raise ValueError("no")


class Unmade(Raising):
    def __init__(self):
        self.key = {}["KEY"]
"""


@pytest.fixture
def own_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_agents.py").write_text(OWN_AGENTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "own_agents.py"


def test_what_a_users_agent_does_wrong_is_in_the_document_in_the_progress_and_in_the_transcript(
    own_agents: str,
) -> None:
    agents = ("--single-game", "--seed", "3", "--referee", "scripted", "--player-a", f"{own_agents}:Raising",
              "--player-b", "scripted")  # fmt: skip
    document = json.loads(run(*agents, "--json").stdout)
    failing, fine = (player["notes"] for player in document["players"])
    assert "get_guess raised KeyError (own_agents.py:10): 'dynamc'; a placeholder is guessed" in failing
    assert any("on_score_received raised ValueError (own_agents.py:13): no" in note for note in failing)
    assert (fine, document["match"]["notes"]) == ([], [])
    told = run(*agents)
    assert "player-a notes: get_guess raised KeyError (own_agents.py:10): 'dynamc'" in told.stderr
    assert "Notes on the agents" in told.stdout
    assert "player-a: get_guess raised KeyError (own_agents.py:10): 'dynamc'" in told.stdout


def test_an_agent_that_cannot_be_made_stops_the_match_before_it_begins(own_agents: str) -> None:
    shown = run("--single-game", "--player-a", f"{own_agents}:Unmade")
    assert (shown.exit_code, shown.stdout) == (3, "")
    (only,) = shown.stderr.splitlines()
    assert "its constructor raised KeyError (own_agents.py:18): 'KEY'" in only
