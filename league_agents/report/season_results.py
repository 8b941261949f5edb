"""Results of the matches, the rounds and the season, from the notes of one journal.

Rule: points and ranks are the league manager's. Only draws and losses are counted here, by
``ScheduledMatch.result_of`` as on the pages, if the manager's own record of each match is available.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache

from league_agents.games.q21.model import Termination
from league_agents.journal.port import Note
from league_agents.kit.json_values import mapping, mappings, number, whole
from league_agents.kit.printable import of
from league_agents.kit.values import evolve
from league_agents.league.season.standings import MatchStatus
from league_agents.report.match_assembly import MATCH, SETTLEMENT, settlement_of
from league_agents.report.records import (
    ANNULLED,
    OVER,
    REPLAYED,
    JsonObject,
    ResultKind,
    ScheduledMatch,
    StandingRecord,
)
from league_agents.report.season_frame import SeasonFrame

_PRIVATE_SCORE = "private_score"


class SeasonResults:
    """Collects the notes of one season, oldest first."""

    def __init__(self, frame: SeasonFrame) -> None:
        self._frame = frame
        self._rows: dict[int, list[JsonObject]] = {}
        self._has_official = False
        """Whether a league manager's own record of a match was among the notes."""

        self.over: set[str] = set()
        self.removed: dict[str, str] = {}
        """``annulled`` or ``replayed``, by the ids of the matches that do not count."""

        self.replay_of: dict[str, str] = {}
        """The first match, by the id of its replay."""

        self.is_over = False
        self.won: dict[str, tuple[str | None, bool, Mapping[str, float]]] = {}
        """Winner, whether it is a draw, and the points that count for each player."""

        self.walkovers: set[str] = set()
        self.told: dict[str, JsonObject] = {}
        """The match's row in a round's results, for roles that receive no more."""

        self.season: JsonObject = {}
        """The facts of the season's end; empty while it goes on."""

        self.names: dict[str, str] = {}
        self.tie_breaks: tuple[str, ...] = ()
        self.whole_rows: dict[int, int] = {}
        """The rows of the whole standings, by the rounds after which only some of them were sent."""

    def take(self, note: Note) -> None:
        """Add one note."""
        facts = note.facts
        if note.kind == SETTLEMENT:
            settled = settlement_of(note)
            if not settled.after:
                self.over.discard(note.key)
                self.won.pop(note.key, None)
            if (status := settled.after.get("status")) in (ANNULLED, REPLAYED) and not settled.withdrawn:
                self.removed[note.key] = of(status, 20)
            else:
                self.removed.pop(note.key, None)
            if first := settled.after.get("replay_of"):
                self.replay_of[note.key] = of(first, 40)
                self.is_over = False
        elif note.kind == "round":
            self._take_rows(_number_of_round(note), facts)
            for row in mappings(facts.get("results")):
                self.told[of(row.get("game_id"), 40)] = row
                self.over.add(of(row.get("game_id"), 40))
        elif note.kind == "season":
            if facts.get("termination") != Termination.RESET.value:
                self.season, self.is_over = facts, True
                self._take_rows(max(self._rows, default=self._frame.round_number), facts)
        else:
            self.over.add(note.key)
            if note.kind == MATCH:
                self._take_match(note)

    def tables(self, division: str = "") -> Mapping[int, tuple[StandingRecord, ...]]:
        """The standings after each round."""
        found: dict[int, tuple[StandingRecord, ...]] = {}
        matches: dict[int, list[ScheduledMatch]] = defaultdict(list)
        for planned in self._frame.matches.values() if self._has_official else ():
            matches[planned.round_number].append(self.outcome(planned))
        counted: Counter[tuple[str, ResultKind]] = Counter()
        before = 0
        for round_number, rows in sorted(self._rows.items()):
            for each in range(before + 1, round_number + 1):
                for match in matches.get(each, ()):
                    counted.update((player, match.result_of(player)) for player in (match.player1, match.player2))
            before = round_number
            found[round_number] = tuple(_row(row, counted if self._has_official else None, division) for row in rows)
        return found

    def _take_rows(self, round_number: int, facts: JsonObject) -> None:
        rows = mappings(facts.get("standings") or facts.get("final_standings"))
        if not rows:
            return
        self._rows[round_number] = rows
        if (count := whole(mapping(facts.get("whole")).get("rows"))) is not None:
            self.whole_rows[round_number] = count
        else:
            self.whole_rows.pop(round_number, None)
        for row in rows:
            self.names[_line(row.get("participant_id"))] = _line(row.get("display_name"))
        stated = facts.get("tie_breaks")
        if isinstance(stated, list):
            self.tie_breaks = tuple(of(each, 60) for each in stated[:20])

    def outcome(self, planned: ScheduledMatch) -> ScheduledMatch:
        """A match of the schedule with its result, if this journal has it."""
        game_id = planned.game_id
        winner, is_draw, points = self.won.get(game_id, (None, False, {}))
        is_walkover = game_id in self.walkovers
        if game_id not in self.won and (row := self.told.get(game_id)) is not None:
            winner = of(row.get("winner_id"), 200) or None
            is_draw = winner is None and row.get("status") == "completed"
            is_walkover = row.get("status") == MatchStatus.WALKOVER
            both = (row.get("player1_score"), row.get("player2_score"))
            seats = (planned.player1, planned.player2)
            points = {
                seat: found for seat, value in zip(seats, both, strict=True) if (found := number(value)) is not None
            }
        told = self.told.get(game_id, {}).get("status")
        status = self.removed.get(game_id) or (OVER if game_id in self.over else planned.status)
        if told in (ANNULLED, REPLAYED):  # the results of a round tell it to those who get no settlements
            status = of(told, 20)
        counted = (points.get(planned.player1), points.get(planned.player2))
        return evolve(
            planned,
            status=status,
            winner_id=winner,
            is_draw=is_draw,
            is_walkover=is_walkover,
            points=counted,
            replay_of=self.replay_of.get(game_id, ""),
        )

    def _take_match(self, note: Note) -> None:
        facts = note.facts
        # Version 0.1.0 wrote no ``is_walkover``.
        is_walkover = facts.get("is_walkover") is True or facts.get("status") == MatchStatus.WALKOVER
        (self.walkovers.add if is_walkover else self.walkovers.discard)(note.key)
        self.won[note.key] = (
            _line(facts.get("winner_id")) or None,
            facts.get("is_draw") is True and facts.get("status") == "completed",
            {
                _line(row.get("id")): counted
                for row in mappings(facts.get("players"))
                if (counted := number(row.get("counted_points"))) is not None
            },
        )
        self._has_official = self._has_official or bool(self.won[note.key][2])


def _row(row: JsonObject, counted: Counter[tuple[str, ResultKind]] | None, division: str) -> StandingRecord:
    name = _line(row.get("participant_id"))
    tie_breaks = mapping(row.get("tie_breaks")).items()
    return StandingRecord(
        rank=whole(row.get("rank")) or 0,
        participant_id=name,
        display_name=_line(row.get("display_name")),
        division=division,
        played=whole(row.get("games_played")) or 0,
        wins=whole(row.get("games_won")) or 0,
        draws=None if counted is None else counted[name, "drawn"],
        losses=None if counted is None else counted[name, "lost"],
        points=number(row.get("total_points")) or 0.0,
        private_score=number(row.get(_PRIVATE_SCORE)),
        tie_breaks={key: found for key, value in tie_breaks if (found := number(value)) is not None},
    )


def _number_of_round(note: Note) -> int:
    return whole(note.facts.get("round_number")) or 0


def _line(value: object) -> str:
    return _printable(value) if isinstance(value, str) else ""


@lru_cache(maxsize=10_000)
def _printable(text: str) -> str:
    # Cached: a few names recur in every row of every table.
    return of(text, 200)
