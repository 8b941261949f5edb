"""``league-agents compare``: games, figures, and the file that they lie in."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.agents.library import Knowledge
from league_agents.app.comparison import Compared, CompareSettings
from league_agents.app.comparison_file import ComparisonFile
from league_agents.cli import Exit, command_line
from league_agents.config.rules import rules_named
from league_agents.evaluation.playing import DirectMatch
from league_agents.knowledge.corpus import default_index_path
from league_agents.league.season.ratings import score_of_elo
from league_agents.league.season.sequential import RunningTest
from league_agents.report.records_file import RecordsFile, RecordsWriter
from league_agents.runner.lock import FileLock

BROKEN = """
class Guesser:
    def get_warmup_answer(self, ctx):
        return {"answer": "4"}

    def get_questions(self, ctx):
        raise RuntimeError("no idea")

    def get_guess(self, ctx):
        return {}

    def on_score_received(self, ctx):
        pass
"""


def program(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def compared(*words: str) -> dict[str, Any]:
    found = program("compare", *words, "--json")
    assert found.exit_code == 0, found.stderr
    document = json.loads(found.stdout)
    assert isinstance(document, dict)
    return document


def test_the_stronger_one_is_named_and_the_rest_is_not_played() -> None:
    found = compared("offline", "scripted", "--games", "60")
    first, second = found["players"]
    assert (first["spec"], second["spec"]) == ("offline", "scripted")
    assert first["low"] > second["high"]
    (pair,) = found["pairs"]
    assert pair["verdict"] == "first"
    assert pair["games"] < 60
    assert compared("offline", "scripted", "--games", "30", "--all-games")["pairs"][0]["games"] == 30


def test_equals_stay_open_with_a_forecast() -> None:
    (pair,) = compared("scripted", "scripted", "--games", "10")["pairs"]
    assert (pair["verdict"], pair["draws"]) == ("open", 10)
    assert pair["more_games"] > 0


def test_mirrored_games_have_one_target_and_swapped_seats(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("offline", "scripted", "--games", "4", "--out", str(out))
    records = list(RecordsFile(out).matches())
    assert len(records) == len({record.game_id for record in records}) == 4
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.target is not None
        assert one.target == other.target
        assert [each.participant_id for each in one.players] == ["player-1", "player-2"]
        assert [each.participant_id for each in other.players] == ["player-2", "player-1"]
        assert one.players[0].display_name == "offline"


@pytest.mark.parametrize("torn", [0, 25])
def test_an_interrupted_comparison_ends_with_the_same_bytes(tmp_path: Path, torn: int) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "again.jsonl"
    words = ("offline", "scripted", "scripted", "--games", "8")
    expected = compared(*words, "--out", str(whole))
    lines = whole.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:6]) + lines[6][:torn])
    assert compared(*words, "--workers", "2", "--out", str(out)) == expected
    assert out.read_bytes() == whole.read_bytes()
    assert compared(*words, "--out", str(out)) == expected  # nothing is left to play
    assert out.read_bytes() == whole.read_bytes()


def test_a_whole_line_without_its_newline_is_torn_too(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "again.jsonl"
    words = ("scripted", "scripted", "--games", "6", "--all-games")
    compared(*words, "--out", str(whole))
    lines = whole.read_bytes().splitlines(keepends=True)
    for kept in (len(lines), 4, 1):
        out.write_bytes(b"".join(lines[:kept])[:-1])
        compared(*words, "--out", str(out))
        assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("line", [0, 1, 3, 6, 7])
def test_a_changed_line_is_refused_and_the_file_left_as_it_is(tmp_path: Path, line: int) -> None:
    out = tmp_path / "games.jsonl"
    words = ("scripted", "scripted", "--games", "6", "--all-games", "--out", str(out))
    compared(*words)
    lines = out.read_bytes().splitlines(keepends=True)
    assert len(lines) == 8
    lines[line] = lines[line].replace(b'"hash":"', b'"hash" :"')
    out.write_bytes(b"".join(lines))
    found = program("compare", *words)
    assert found.exit_code == Exit.CONFIGURATION
    assert "games.jsonl" in found.stderr
    assert out.read_bytes() == b"".join(lines)


def test_games_in_other_bytes_are_refused_though_their_hashes_fit(tmp_path: Path) -> None:
    """To go on after them would break the chain of hashes."""
    out = tmp_path / "games.jsonl"
    words = ("scripted", "scripted", "--games", "2", "--out", str(out))
    compared(*words)
    chain, lines = "", []
    for number, line in enumerate(out.read_bytes().splitlines()):
        body = line[: line.rindex(b',"hash":')].replace(b'"match":', b'"match": ' if number == 1 else b'"match":')
        chain = hashlib.sha256(chain.encode() + body).hexdigest()
        lines.append(body + f',"hash":"{chain}"}}\n'.encode())
    out.write_bytes(b"".join(lines))
    assert RecordsFile(out).check() == 2
    found = program("compare", *words)
    assert found.exit_code == Exit.CONFIGURATION
    assert "name another file" in found.stderr
    assert out.read_bytes() == b"".join(lines)


def test_complaints_of_a_match_without_scores_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DirectMatch, "play", _aborted(DirectMatch.play))
    found = compared("scripted", "scripted:raising", "--games", "2", "--out", str(tmp_path / "games.jsonl"))
    assert {each.status for each in RecordsFile(tmp_path / "games.jsonl").matches()} == {"aborted"}
    assert found["not_scored"] == 2
    assert [each["games_with_complaints"] for each in found["conduct"]] == [0, 2]


def _aborted(play: Callable[[DirectMatch], object]) -> Callable[[DirectMatch], None]:
    def played(match: DirectMatch) -> None:
        play(match)

    return played


@pytest.mark.parametrize("text", ["notes", "notes\n", '{"format":"league-agents.records","version":9}\n'])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    out = tmp_path / "games.jsonl"
    out.write_text(text, encoding="utf-8")
    found = program("compare", "scripted", "scripted", "--games", "2", "--out", str(out))
    assert found.exit_code == Exit.CONFIGURATION
    assert "name another file" in found.stderr
    assert out.read_text(encoding="utf-8") == text


def test_an_interrupted_comparison_can_be_shown_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "again.jsonl"
    words = ("scripted", "scripted", "--games", "12", "--all-games")
    expected = compared(*words, "--out", str(whole))
    write = ComparisonFile._write

    def torn(self: ComparisonFile, line_of: Callable[[RecordsWriter], bytes]) -> None:
        if self._writer._count == 7:
            self._file.write(line_of(RecordsWriter())[:50])
            raise KeyboardInterrupt
        write(self, line_of)

    with monkeypatch.context() as patched:
        patched.setattr(ComparisonFile, "_write", torn)
        assert program("compare", *words, "--out", str(out)).exit_code == Exit.INTERRUPTED
    assert RecordsFile(out).check() == 7
    shown = program("show", "match", "0101001", "--from", str(out))
    assert shown.exit_code == Exit.OK, shown.stderr
    assert compared(*words, "--out", str(out)) == expected
    assert out.read_bytes() == whole.read_bytes()


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    lock = FileLock(out)
    words = ("compare", "scripted", "scripted", "--games", "2", "--out", str(out))
    found = program(*words)
    assert found.exit_code == Exit.CONFIGURATION
    assert "writes this file; stop it first" in found.stderr
    assert not out.exists()
    lock.release()
    assert program(*words).exit_code == Exit.OK
    FileLock(out).release()  # given back


def test_a_folder_is_no_file_for_games(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    found = program("compare", "scripted", "scripted", "--games", "2", "--out", str(tmp_path / "games"))
    assert found.exit_code == Exit.CONFIGURATION
    assert "is no ordinary file" in found.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["games"]


def test_games_of_a_former_run_are_not_held_in_memory(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    words = ("scripted", "scripted", "--games", "4", "--seed", "1", "--out", str(out))
    first = compared(*words)
    settings = CompareSettings(
        players=("scripted", "scripted"), referees=("offline",), rules=rules_named("prd"), noise=0.05, seed=1, games=4,
        margin=score_of_elo(35.0) - 0.5,
    )  # fmt: skip
    again = Compared(settings, Knowledge.open(default_index_path()), None, out)
    assert again._file is not None
    kept = again._file._kept
    assert len(kept) == 4
    assert all(isinstance(offset, int) for offset in kept.values())
    assert again.play(1).pairs[0].draws == first["pairs"][0]["draws"]
    again.close()


def test_games_that_the_referee_never_scored_decide_nothing() -> None:
    found = compared("scripted", "scripted:raising", "--referee", "scripted:unscoring", "--games", "20")
    (pair,) = found["pairs"]
    assert (pair["verdict"], pair["games"], pair["draws"]) == ("open", 0, 0)
    assert (found["not_scored"], found["referees"][0]["not_scored"]) == (20, 20)
    assert found["referees"][0]["inconsistency"] is None
    assert [each["games_with_complaints"] for each in found["conduct"]] == [0, 20]


def test_a_look_costs_the_same_after_many_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []
    add = RunningTest.add

    def counted(self: RunningTest, score: float) -> None:
        taken.append(score)
        add(self, score)

    monkeypatch.setattr(RunningTest, "add", counted)
    compared("scripted", "scripted", "--games", "60")
    assert len(taken) == 30 * 2  # while they are played, and once for the figures


def test_an_estimate_after_an_early_stop_is_marked() -> None:
    found = compared("offline", "scripted", "--games", "60")
    assert (found["stopped_early"], found["pairs"][0]["stopped_early"]) == (True, True)
    assert "use --all-games" in program("compare", "offline", "scripted", "--games", "60").stdout
    found = compared("offline", "scripted", "--games", "30", "--all-games")
    assert (found["stopped_early"], found["pairs"][0]["stopped_early"]) == (False, False)


def test_games_of_other_settings_are_not_mixed_in(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("scripted", "scripted", "--games", "4", "--out", str(out))
    before = out.read_bytes()
    found = program("compare", "scripted", "scripted", "--games", "4", "--seed", "2", "--out", str(out))
    assert found.exit_code == Exit.CONFIGURATION
    assert "name another file" in found.stderr
    assert out.read_bytes() == before


def test_more_games_go_on_with_the_same_file(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    compared("scripted", "scripted", "--games", "4", "--out", str(out))
    assert compared("scripted", "scripted", "--games", "8", "--out", str(out))["pairs"][0]["games"] == 8


def test_the_file_of_a_comparison_becomes_pages_though_its_games_had_no_mails(tmp_path: Path) -> None:
    out, pages = tmp_path / "games.jsonl", tmp_path / "pages"
    compared("scripted", "scripted", "--games", "2", "--out", str(out))
    done = program("report", "--from", str(out), "--out", str(pages))
    assert done.exit_code == Exit.OK, done.stderr
    assert sorted(page.stem for page in (pages / "matches").glob("*.html")) == ["0101001", "0101002"]
    assert "have no page" not in done.stdout + done.stderr
    assert "matches/0101002.html" in (pages / "index.html").read_text(encoding="utf-8")


def test_what_fallbacks_did_is_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "guesser.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = program("compare", "scripted", "guesser.py:Guesser", "--games", "2", "--in-process")
    assert found.exit_code == 0, found.stderr
    assert "callbacks failed or broke their contract in 2 of 2 games" in found.stdout
    assert "no idea" in found.stdout


def test_referees_take_turns_and_are_rated() -> None:
    found = compared(
        "offline", "scripted", "--games", "8", "--referee", "offline", "--referee", "scripted", "--all-games"
    )
    assert [each["games"] for each in found["referees"]] == [4, 4]
    assert all(each["severity"] is not None for each in found["referees"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["offline"], "name 2 to 12 players, found 1"),
        (["offline", "nobody"], "nobody"),
        (["offline", "scripted", "--games", "1"], "--games"),
        (["scripted", "scripted:silent"], "misbehaves by mail"),
    ],
)
def test_what_cannot_be_compared_is_named(words: list[str], said: str) -> None:
    found = program("compare", *words)
    assert found.exit_code in (Exit.USAGE, Exit.CONFIGURATION)
    assert said in found.stderr
