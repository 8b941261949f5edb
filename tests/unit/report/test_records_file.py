"""Files of match records: read back as they were written, refused when they were changed, safe whoever wrote them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from league_agents.kit.errors import ConfigError
from league_agents.report import records_file
from league_agents.report.records import (
    AuditEntry,
    MatchRecord,
    MessageRecord,
    PlayerRecord,
    ScheduledMatch,
    SeasonRecord,
    Settlement,
    StandingRecord,
    TeamRecord,
)
from league_agents.report.records_file import RecordsFile, RecordsWriter, record_lines

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "records" / "version-1.jsonl"
AT = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)


def _match(game_id: str, winner: str) -> MatchRecord:
    players = tuple(
        PlayerRecord(
            participant_id=name,
            display_name=name.title(),
            email=f"{name}@league.test",
            role=f"player{seat}",
            termination="completed",
            phase="scored",
            league_points=points,
            counted_points=points,
            private_score=score,
            warmup_answer="42",
            questions=({"question_number": 1, "question_text": "Is it blue?", "options": {"A": "Yes", "B": "No"}},),
            answers=({"question_number": 1, "answer": "B"},),
            guess={"opening_sentence": "שלום", "associative_word": "whale", "confidence": 0.5},
            scorecard={"league_points": points, "private_score": score, "breakdown": {}, "feedback": {}},
            own_report="COMPLETED",
            models=({"step": "answers", "work": "used", "why": None},),
        )
        for seat, (name, points, score) in enumerate((("owls", 3, 91.25), ("crows", 0, 12.5)), start=1)
    )
    return MatchRecord(
        game_id=game_id,
        season_id="SPRING",
        round_number=int(game_id[2:4]),
        referee_id="wrens",
        referee_email="wrens.referee@league.test",
        rules="prd",
        status="completed",
        winner_id=winner,
        brief={"book_name": "Moby-Dick"},
        target={"opening_sentence": "Call me Ishmael.", "associative_word": "whale"},
        players=players,
        messages=(
            MessageRecord(
                at=AT,
                sender="wrens.referee@league.test",
                to=("owls@league.test",),
                message_type="Q21WARMUPCALL",
                message_id="w1",
                deadline=AT,
                late_by_s=1.5,
            ),
        ),
        notes=("the agent was slow",),
        settlements=(Settlement(at=AT, order="correct", why="a typing error", before={"status": "aborted"}),),
        started_at=AT,
        ended_at=AT,
        tokens=1200,
        cost_usd=0.0375,
    )


SEASON = SeasonRecord(
    season_id="SPRING",
    name="Spring league",
    league_id="L1",
    rules="prd",
    tie_breaks=("wins",),
    teams=(TeamRecord(participant_id="owls", display_name="Owls"), TeamRecord(participant_id="crows", withdrawn=True)),
    schedule=tuple(
        ScheduledMatch(round_number=number, game_id=f"010{number}001", player1="owls", player2="crows", referee="wrens")
        for number in (1, 2)
    ),
    standings_after={
        1: (StandingRecord(rank=1, participant_id="owls", played=1, wins=1, points=3, tie_breaks={"wins": 1.0}),)
    },
    is_over=True,
    log=(AuditEntry(at=AT, kind="order", text="pause: fire drill", by="manager office@league.test"),),
)
MATCHES = (_match("0101001", "owls"), _match("0102001", "owls"))


def written(path: Path) -> Path:
    path.write_bytes(b"".join(record_lines(SEASON, MATCHES)))
    return path


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    file = RecordsFile(written(tmp_path / "r.jsonl"))
    assert file.season() == SEASON
    assert tuple(file.matches()) == MATCHES
    assert file.match("0102001") == MATCHES[1]
    assert [match.game_id for match in file.matches(round_number=2, team="wrens")] == ["0102001"]
    assert file.is_complete
    assert file.check() == 2


def test_version_1_is_read_as_ever() -> None:
    # New fields have defaults, so it reads the same; what is written may have more of them.
    file = RecordsFile(GOLDEN)
    assert file.season() == SEASON
    assert tuple(file.matches()) == MATCHES


def test_the_chain_can_be_checked_by_whoever_reads_the_documentation() -> None:
    import hashlib

    before = ""
    for line in GOLDEN.read_bytes().splitlines():
        body, _, end = line.rpartition(b',"hash":"')
        assert hashlib.sha256(before.encode() + body).hexdigest() == end.removesuffix(b'"}').decode()
        before = json.loads(line)["hash"]


Change = Callable[[list[bytes]], list[bytes]]
CHANGES: dict[str, tuple[Change, str]] = {
    "a point more": (
        lambda lines: [lines[0], lines[1].replace(b'"league_points":3', b'"league_points":4'), *lines[2:]],
        r"line 2: was changed.*\(match 0101001\)",
    ),
    "a match left out": (lambda lines: [lines[0], *lines[2:]], r"line 2: was changed, or a line before it is missing"),
    "matches swapped": (lambda lines: [lines[0], lines[2], lines[1], lines[3]], r"line 2: .*\(match 0102001\)"),
    "cut off": (lambda lines: lines[:-1], "ends after 2 matches without its last line"),
    "added to": (lambda lines: [*lines, lines[1]], "line 5: was changed"),
    "without hashes": (
        lambda lines: [lines[0], lines[1].rpartition(b',"hash"')[0] + b"}\n", *lines[2:]],
        "line 2: has no hash",
    ),
    "another season's header": (
        lambda lines: [lines[0].replace(b"Spring league", b"Autumn league"), *lines[1:]],
        "line 1: was changed",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_file_is_refused_and_the_change_is_named(name: str, tmp_path: Path) -> None:
    change, told = CHANGES[name]
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(change(GOLDEN.read_bytes().splitlines(keepends=True))))
    with pytest.raises(ConfigError, match=told):
        RecordsFile(path).check()


def _lines(*values: object) -> bytes:
    """A file with a right chain and whatever content: the chain keeps nobody from writing nonsense."""
    before, found = "", b""
    for value in values:
        body = value if isinstance(value, bytes) else msgspec.json.encode(value)
        body = body[:-1]
        before = records_file._digest(before, body)
        found += body + b',"hash":"' + before.encode() + b'"}\n'
    return found


HEADER = {"format": "league-agents.records", "version": 1, "season": {}}
HOSTILE: dict[str, tuple[bytes, str]] = {
    "not records at all": (b"hello\n", "is no file of records"),
    "empty": (b"", "line 1"),
    "another format": (_lines({"format": "x"}), "is no file of records"),
    "a newer version": (_lines(HEADER | {"version": 2}), "has version 2"),
    "deeply nested": (
        _lines(HEADER, b'{"match":' + b'{"brief":' * 5000 + b"1" + b"}" * 5001),
        "line 2: holds no record",
    ),
    "a list for a text": (_lines(HEADER, {"match": {"game_id": [], "status": "x"}}), "line 2: holds no record"),
    "no UTF-8": (_lines(HEADER, b'{"match":{"game_id":"\xff","status":"x"}}'), "line 2: holds no record"),
    "half a surrogate pair": (_lines(HEADER, b'{"match":{"game_id":"\\ud800","status":"x"}}'), "line 2: holds no rec"),
    "a huge number": (_lines(HEADER, b'{"match":{"game_id":"1","status":"x","tokens":1e999}}'), "line 2: holds no rec"),
    "a wrong count": (_lines(HEADER, {"matches": 7}), "states 7 matches, and the file has 0"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, told = HOSTILE[name]
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=told) as refused:
        RecordsFile(path).check()
    assert len(str(refused.value)) < 500
    assert "\n" not in str(refused.value)


def test_a_line_without_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records_file, "LONGEST_LINE", 2_000)
    path = tmp_path / "r.jsonl"
    path.write_bytes(_lines(HEADER) + b"x" * 5_000)
    with pytest.raises(ConfigError, match="line 2: has more than 2000 bytes"):
        RecordsFile(path).check()


def test_texts_that_cannot_be_written_as_utf_8_are_mended(tmp_path: Path) -> None:
    writer = RecordsWriter()
    path = tmp_path / "r.jsonl"
    match = MatchRecord(game_id="0101001", status="completed", notes=("half \ud800 a pair",))
    path.write_bytes(writer.header(SeasonRecord()) + writer.match(match) + writer.footer())
    (found,) = RecordsFile(path).matches()
    assert found.notes == ("half ? a pair",)
