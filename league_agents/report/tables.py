"""Tables of a season for people and for spreadsheets, from one declaration of their columns.

Rule: a text cell that begins like a formula stays a text: a team may call itself ``=HYPERLINK(…)``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from league_agents.kit.printable import printable
from league_agents.report.records import (
    ANNULLED,
    REPLAYED,
    DisputeRecord,
    MatchRecord,
    PlayerRecord,
    StandingRecord,
)

LONGEST = 200
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
Cell = str | int | float | datetime | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column."""

    key: str
    """The name in a spreadsheet."""

    title: str
    value: Callable[[Any], Cell]
    is_number: bool = False
    is_whole: bool = False
    """Whether the cell is never wrapped."""

    reader: Literal["everybody", "person", "spreadsheet"] = "everybody"


def text_table(columns: Sequence[Column], rows: Iterable[object], *, title: str = "") -> Table:
    """A table for a console. Columns without any value are left out, and cells are divided between words only."""
    cells = [[(column, column.value(row)) for column in columns if column.reader != "spreadsheet"] for row in rows]
    places = range(len(cells[0])) if cells else range(0)
    kept = [place for place in places if any(line[place][1] not in (None, "") for line in cells)]
    table = WordTable(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, title=title or None, title_justify="left"
    )
    for place in kept:
        column = cells[0][place][0]
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        is_whole = column.is_whole or column.is_number
        table.add_column(Text(column.title), justify=justify, overflow="fold", no_wrap=is_whole)
        texts = [column.title, *(_shown(line[place][1]) for line in cells)]
        words = [word for text in texts for word in text.split()]
        table.widths.append((max(map(cell_len, texts if is_whole else words), default=0), max(map(cell_len, texts))))
    for line in cells:
        table.add_row(*(Text(_shown(line[place][1])) for place in kept))
    return table


class WordTable(Table):
    """A table that divides its cells between words only, and is wider than the console where that is not enough."""

    widths: list[tuple[int, int]]
    """The least and the natural width of each column."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.widths = []

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        least, natural = (sum(each) for each in zip(*self.widths, strict=True)) if self.widths else (0, 0)
        return Measurement(least + self._gaps, natural + self._gaps)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [natural for _, natural in self.widths]
        for _ in range(sum(widths) + self._gaps - options.max_width):
            spare = [(width, place) for place, width in enumerate(widths) if width > self.widths[place][0]]
            if not spare:
                break
            widths[max(spare)[1]] -= 1
        for column, width in zip(self.columns, widths, strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    @property
    def _gaps(self) -> int:
        return max(0, 2 * len(self.widths) - 1)


def csv_lines(columns: Sequence[Column], rows: Iterable[object]) -> Iterator[str]:
    """The lines of a file for a spreadsheet, with a line of names first."""
    columns = [column for column in columns if column.reader != "person"]
    yield _csv_line([column.key for column in columns])
    for row in rows:
        yield _csv_line([_safe(column.value(row)) for column in columns])


def _csv_line(cells: Sequence[object]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerow(cells)
    return file.getvalue()


def _safe(value: Cell) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str):
        return "" if value is None else int(value) if isinstance(value, float) and value.is_integer() else value
    # Excel ignores these characters before a formula.
    text = printable(value, 32_000)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) or value.startswith(_FORMULA) else text


def _shown(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, datetime):
        return f"{value:%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return printable(str(value), LONGEST)


def _player(match: MatchRecord, seat: int) -> PlayerRecord | None:
    return match.players[seat] if seat < len(match.players) else None


def _of_player(seat: int, field: str) -> Callable[[MatchRecord], Cell]:
    def value(match: MatchRecord) -> Cell:
        player = _player(match, seat)
        return None if player is None else getattr(player, field)

    return value


def _points(seat: int) -> Callable[[MatchRecord], Cell]:
    def value(match: MatchRecord) -> Cell:
        player = _player(match, seat)
        if player is None:
            return None
        return player.league_points if player.counted_points is None else player.counted_points

    return value


def _both_points(match: MatchRecord) -> Cell:
    """The points as ``3:1``, a dash for a match that counts for nobody; spreadsheets get separate columns, as they
    would take it for a time of day."""
    if match.status in (ANNULLED, REPLAYED):
        return "–"
    both = [_shown(_points(seat)(match)) or "?" for seat in (0, 1)]
    return None if both == ["?", "?"] else " : ".join(both)


def _result(match: MatchRecord) -> str:
    if match.winner_id:
        return f"{match.winner_id} won{' by walkover' if match.is_walkover else ''}"
    if match.is_walkover:
        return "walkover"
    return "draw" if match.is_draw and match.status == "completed" else ""


def _result_or_status(match: MatchRecord) -> str:
    return _result(match) or match.status


def _why(match: MatchRecord) -> str:
    """Why a match was aborted, without an address, or how it ended apart from its result, and who was absent."""
    ended = match.status if _result(match) and match.status != "completed" else ""
    reason, absent = (match.abort_reason or ended).partition(":")[0], match.absence().partition(";")[0]
    return f"{reason}: {absent}" if reason and absent else reason or absent


def _settled(match: MatchRecord) -> str:
    return ", ".join(each.words for each in match.settlements if not each.withdrawn)


MATCHES = (
    Column(key="game_id", title="Match", value=lambda match: match.game_id, is_whole=True),
    Column(key="round", title="Round", value=lambda match: match.round_number, is_number=True),
    Column(key="division", title="Division", value=lambda match: match.division),
    Column(key="player1", title="Player 1", value=_of_player(0, "participant_id"), is_whole=True),
    Column(key="player2", title="Player 2", value=_of_player(1, "participant_id"), is_whole=True),
    Column(key="referee", title="Referee", value=lambda match: match.referee_id, is_whole=True),
    Column(key="status", title="Status", value=lambda match: match.status, reader="spreadsheet"),
    Column(key="points", title="Points", value=_both_points, is_whole=True, reader="person"),
    Column(key="points1", title="Points 1", value=_points(0), is_number=True, reader="spreadsheet"),
    Column(key="points2", title="Points 2", value=_points(1), is_number=True, reader="spreadsheet"),
    Column(key="winner", title="Winner", value=lambda match: match.winner_id, reader="spreadsheet"),
    Column(key="ended", title="Result", value=_result_or_status, reader="person"),
    Column(key="why", title="Why", value=_why, reader="person"),
    Column(key="result", title="Result", value=_result, reader="spreadsheet"),
    Column(key="private_score1", title="Score 1", value=_of_player(0, "private_score"), reader="spreadsheet"),
    Column(key="private_score2", title="Score 2", value=_of_player(1, "private_score"), reader="spreadsheet"),
    Column(key="termination1", title="Ended 1", value=_of_player(0, "termination"), reader="spreadsheet"),
    Column(key="termination2", title="Ended 2", value=_of_player(1, "termination"), reader="spreadsheet"),
    Column(key="abort_reason", title="Why", value=lambda match: match.abort_reason, reader="spreadsheet"),
    Column(key="absent", title="Absent", value=lambda match: match.absence().partition(";")[0], reader="spreadsheet"),
    Column(key="walkover", title="Walkover", value=lambda match: match.is_walkover, reader="spreadsheet"),
    Column(key="settled", title="Settled", value=_settled),
    Column(key="started_at", title="Started", value=lambda match: match.started_at, reader="spreadsheet"),
    Column(key="ended_at", title="Ended", value=lambda match: match.ended_at, reader="spreadsheet"),
    Column(key="tokens", title="Tokens", value=lambda match: match.tokens, is_number=True),
    Column(key="cost_usd", title="US$", value=lambda match: match.cost_usd, is_number=True),
)

PLAYERS = (
    Column(key="participant_id", title="Player", value=lambda player: player.participant_id, is_whole=True),
    Column(key="display_name", title="Name", value=lambda player: player.display_name),
    Column(key="termination", title="Ended", value=lambda player: player.termination),
    Column(key="phase", title="Phase", value=lambda player: player.phase),
    Column(key="questions", title="Asked", value=lambda player: len(player.questions) or None, is_number=True),
    Column(key="answers", title="Answered", value=lambda player: len(player.answers) or None, is_number=True),
    Column(key="league_points", title="Points", value=lambda player: player.league_points, is_number=True),
    Column(key="counted_points", title="Counted", value=lambda player: player.counted_points, is_number=True),
    Column(key="private_score", title="Score", value=lambda player: player.private_score, is_number=True),
    Column(key="own_report", title="Its own report", value=lambda player: player.own_report),
)

MESSAGES = (
    Column(key="at", title="At", value=lambda message: message.at, is_whole=True),
    Column(key="type", title="Message", value=lambda message: message.message_type, is_whole=True),
    Column(key="from", title="From", value=lambda message: message.sender),
    Column(key="to", title="To", value=lambda message: ", ".join(message.to)),
    Column(key="deadline", title="Answer until", value=lambda message: message.deadline, is_whole=True),
    Column(key="late_by_s", title="Late by (s)", value=lambda message: message.late_by_s, is_number=True),
)

SCHEDULE = (
    Column(key="round", title="Round", value=lambda match: match.round_number, is_number=True),
    Column(key="game_id", title="Match", value=lambda match: match.game_id),
    Column(key="division", title="Division", value=lambda match: match.division),
    Column(key="player1", title="Player 1", value=lambda match: match.player1),
    Column(key="player2", title="Player 2", value=lambda match: match.player2),
    Column(key="referee", title="Referee", value=lambda match: match.referee),
    Column(key="status", title="Status", value=lambda match: match.status),
    Column(key="replay_of", title="Replay of", value=lambda match: match.replay_of or None),
)

TEAMS = (
    Column(key="participant_id", title="Team", value=lambda team: team.participant_id),
    Column(key="display_name", title="Name", value=lambda team: team.display_name),
    Column(key="division", title="Division", value=lambda team: team.division),
    Column(key="withdrawn", title="Withdrawn", value=lambda team: team.withdrawn or None),
    Column(key="player_email", title="Player's mailbox", value=lambda team: team.player_email),
    Column(key="referee_email", title="Referee's mailbox", value=lambda team: team.referee_email),
)

DISPUTES = (
    Column(key="game_id", title="Match", value=lambda dispute: dispute.game_id, is_whole=True),
    Column(key="round", title="Round", value=lambda dispute: dispute.round_number, reader="spreadsheet"),
    Column(key="division", title="Division", value=lambda dispute: dispute.division),
    Column(key="kind", title="Kind", value=lambda dispute: dispute.kind.value, is_whole=True),
    Column(key="text", title="What", value=lambda dispute: dispute.text),
    Column(key="counts", title="Counts", value=lambda dispute: dispute.counts),
    Column(key="settled", title="Settled", value=lambda dispute: dispute.settled),
)

EVIDENCE = (
    Column(key="at", title="At", value=lambda each: each.at, is_whole=True),
    Column(key="by", title="Who", value=lambda each: each.by),
    Column(key="evidence", title="What", value=lambda each: each.text),
)


def dispute_lines(disputes: Iterable[DisputeRecord]) -> Iterator[str]:
    """The disputes for a spreadsheet: one line for each piece of evidence, or one for a dispute without any."""
    rows = ((each, item) for each in disputes for item in each.evidence or (None,))
    columns = [
        *(_of_pair(column, 0) for column in DISPUTES),
        *(_of_pair(column, 1) for column in EVIDENCE),
    ]
    return csv_lines(columns, rows)


def _of_pair(column: Column, place: int) -> Column:
    def value(pair: Sequence[object]) -> Cell:
        return None if pair[place] is None else column.value(pair[place])

    return Column(key=column.key, title=column.title, value=value)


LOG = (
    Column(key="at", title="At", value=lambda entry: entry.at, is_whole=True),
    Column(key="kind", title="Kind", value=lambda entry: entry.kind),
    Column(key="text", title="What", value=lambda entry: entry.text),
    Column(key="by", title="Journal", value=lambda entry: entry.by, reader="spreadsheet"),
)

_STANDINGS = (
    Column(key="rank", title="", value=lambda row: row.rank, is_number=True),
    Column(key="division", title="Division", value=lambda row: row.division),
    Column(key="participant_id", title="Team", value=lambda row: row.participant_id),
    Column(key="display_name", title="Name", value=lambda row: row.display_name),
    Column(key="played", title="Played", value=lambda row: row.played, is_number=True),
    Column(key="wins", title="Won", value=lambda row: row.wins, is_number=True),
    Column(key="draws", title="Drawn", value=lambda row: row.draws, is_number=True),
    Column(key="losses", title="Lost", value=lambda row: row.losses, is_number=True),
    Column(key="no_result", title="No result", value=lambda row: row.without_result or None, is_number=True),
    Column(key="points", title="Points", value=lambda row: row.points, is_number=True),
    Column(key="private_score", title="Score", value=lambda row: row.private_score, is_number=True),
)
_MOVE = Column(key="move", title="Next season", value=lambda row: row.move)
_SHOWN_ALREADY = frozenset({"points", "wins", "private_score"})


def standings_columns(rows: Sequence[StandingRecord]) -> tuple[Column, ...]:
    """The columns of a table of standings: the common ones, and its tie-breaks in their order."""
    names = dict.fromkeys(name for row in rows for name in row.tie_breaks if name not in _SHOWN_ALREADY)

    def tie_break(name: str) -> Column:
        title = name.replace("_", " ").capitalize()
        return Column(key=name, title=title, value=lambda row: row.tie_breaks.get(name), is_number=True)

    return (*_STANDINGS, *(tie_break(name) for name in names), _MOVE)
