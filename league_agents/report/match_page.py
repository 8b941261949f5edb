"""One match for a console: the result, the times, the settlements; with a transcript, all moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from league_agents.games.q21.rules import BUILT_IN, PRD
from league_agents.kit.printable import printable
from league_agents.kit.values import evolve
from league_agents.report.outcome import document_of
from league_agents.report.records import (
    ANNULLED,
    NOT_BEGUN,
    NOT_PLAYED,
    OPEN,
    PLANNED,
    REPLAYED,
    UNKNOWN,
    MatchRecord,
    MessageRecord,
    StandingRecord,
)
from league_agents.report.tables import MESSAGES, PLAYERS, text_table
from league_agents.report.transcript import transcript

_STAGES = {
    PLANNED: "is planned",
    NOT_PLAYED: "was not played: the season ended before",
    OPEN: "is being played; what is secret is not shown",
    UNKNOWN: "is over; this journal does not say how",
    ANNULLED: "was annulled: it counts for nobody",
    REPLAYED: "does not count: it is played again under another id",
}


def match_page(match: MatchRecord, *, is_whole: bool) -> RenderableType:
    """``is_whole``: include every question, answer, guess and feedback."""
    return Group(*_parts(match, is_whole))


def _parts(match: MatchRecord, is_whole: bool) -> Iterator[RenderableType]:
    place = f"round {match.round_number}" + (f", {match.division}" if match.division else "")
    judge = f", judged by {match.referee_id}" if match.referee_id else ""
    yield Text(
        printable(f"Match {match.game_id} ({place}{judge}) {_STAGES.get(match.status, f'ended: {match.status}')}", 400)
    )
    if match.winner_id or (match.is_draw and match.status == "completed"):
        won = f"{match.winner_id} won{' by walkover' if match.is_walkover else ''}"
        yield Text(printable(won if match.winner_id else "A draw", 200))
    if absence := match.absence():
        yield Text(printable(f"Absent: {absence}", 400))
    if match.abort_reason:
        caused = f", caused by {match.caused_by}" if match.caused_by else ""
        yield Text(printable(f"Why: {match.abort_reason}{caused}", 400))
    for settled in match.settlements:
        taken_back = " (withdrawn since)" if settled.withdrawn else ""
        yield Text(printable(f"Settled {settled.at:%Y-%m-%d %H:%M}: {settled.words}{taken_back}: {settled.why}", 600))
    if match.tokens is not None:
        money = "" if match.cost_usd is None else f", US$ {match.cost_usd:.4f}"
        yield Text(f"Language models: {match.tokens} tokens{money}")
    yield Text()
    if is_whole and match.status not in NOT_BEGUN:
        yield transcript(document_of(match), BUILT_IN.get(match.rules, PRD))
        yield Text()
    elif match.players:
        yield text_table(PLAYERS, match.players)
    for note in match.notes if not is_whole else ():
        yield Text(f"Warning: {printable(note, 500)}")
    if match.messages:
        yield Text()
        yield text_table(MESSAGES, [_with_names(message, match.names()) for message in match.messages])


def _with_names(message: MessageRecord, names: Mapping[str, str]) -> MessageRecord:
    to = tuple(names.get(each, each) for each in message.to)
    return evolve(message, sender=names.get(message.sender, message.sender), to=to)


def uncertainty(rows: Sequence[StandingRecord]) -> str:
    """The reliability of a table after so few matches: the 95 % interval of a score of one half."""
    played = min((row.played for row in rows if row.played), default=0)
    if not played:
        return "No match was counted yet."
    interval = 100 * 1.96 * math.sqrt(0.25 / played)
    plural = "match" if played == 1 else "matches"
    return (
        f"After {played} {plural} a team's share of wins is known to ±{min(interval, 50):.0f} percentage points "
        "(95 %): smaller differences may be luck."
    )
