"""A season read from journals of one league: the league manager's, a referee's, a player's, or several together.

Rule: matches are assembled round by round, so that a season of any length fits into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from league_agents.journal.port import BELIEF, MODEL_WORK, WARNING, Note
from league_agents.kit.errors import ConfigError
from league_agents.kit.ids import is_game_id
from league_agents.kit.printable import of, printable
from league_agents.kit.values import evolve
from league_agents.report.disputes import disputes_of
from league_agents.report.match_assembly import GAME, MATCH, SETTLEMENT, MatchEvidence, assembled
from league_agents.report.records import (
    NOT_PLAYED,
    OPEN,
    PLANNED,
    UNKNOWN,
    DisputeRecord,
    MatchRecord,
    ScheduledMatch,
    SeasonRecord,
    Viewer,
    visible,
)
from league_agents.report.season_frame import RoleJournal, SeasonFrame, frames_of
from league_agents.report.season_log import log_of
from league_agents.report.season_results import SeasonResults
from league_agents.report.trouble import TROUBLE

MOST_AT_ONCE = 150
"""Matches that are assembled from one read of the journals. Each needs some 200 kB meanwhile."""

Spent = Mapping[str, tuple[int | None, float | None]]
"""Tokens and dollars by game id; ``None`` for an unknown amount."""


class JournalSource:
    """``SeasonSource`` on journals that take part in one league."""

    def __init__(
        self,
        journals: Sequence[RoleJournal],
        *,
        division: str = "",
        season_id: str | None = None,
        spent: Callable[[], Spent] = dict,
    ) -> None:
        """``season_id`` names one of several seasons; ``None`` means the latest. Raises ``ConfigError`` if unknown."""
        self._journals = list(journals)
        self._division = division
        self._spent = spent
        frames = frames_of(journals, division=division)
        if season_id is not None and season_id not in frames:
            known = ", ".join(frames) or "none"
            raise ConfigError(
                f"season {of(season_id, 60)}", f"is not in this journal; it holds {printable(known, 300)}"
            )
        latest = next(reversed(frames), "")
        self._season_id = season_id if season_id is not None else latest
        self._frame = frames[self._season_id] if frames else SeasonFrame(season_id="")
        own = [journal for journal in journals if journal.role == "player"]
        self._players = {self._frame.group_of(journal.address): journal for journal in own}
        self._judges = {self._frame.group_of(journal.address) for journal in journals if journal.role == "referee"}
        self._is_managers = any(journal.role == "manager" for journal in journals)
        self.viewer: Viewer = "player" if len(own) == len(journals) else "referee"
        self.team = next(iter(self._players)) if len(own) == 1 else ""

    def season(self) -> SeasonRecord:
        """Teams, schedule, standings and audit trail. Raises ``JournalError``."""
        results = self._results
        return SeasonRecord(
            season_id=self._season_id,
            name=of(results.season.get("season_name"), 200),
            league_id=self._frame.league_id,
            rules=of(results.season.get("rules"), 100),
            tie_breaks=results.tie_breaks,
            divisions=(self._division,) if self._division else (),
            teams=tuple(self._frame.teams.values()),
            schedule=tuple(self._with_status(planned) for planned in self._frame.matches.values()),
            standings_after=results.tables(self._division),
            whole_standings=results.whole_rows,
            is_over=results.is_over,
            log=tuple(log_of(self._journals, division=self._division)),
        )

    def matches(
        self, *, round_number: int | None = None, team: str | None = None, part: int = 0, parts: int = 1
    ) -> Iterator[MatchRecord]:
        """The matches in the order of the schedule; of a journal without one in the order of their ids. ``part``, from
        0, of ``parts``: about this part of them, which costs about this part of the whole."""
        planned = self._frame.matches or dict.fromkeys(self._known())
        rounds: dict[str, list[str]] = {}
        for game_id, place in planned.items():
            if place is not None and team is not None and team not in (place.player1, place.player2, place.referee):
                continue
            number = place.round_number if place is not None else int(game_id[2:4]) if is_game_id(game_id) else 0
            if round_number in (None, number):
                # A game id begins with the digits of its season and its round.
                rounds.setdefault(game_id[:4], []).append(game_id)
        queries = list(_few_queries(rounds))
        for beginning, game_ids in queries[len(queries) * part // parts : len(queries) * (part + 1) // parts]:
            found = self._gathered(beginning)
            for game_id in game_ids:
                yield self._record(game_id, found.pop(game_id, MatchEvidence()))

    def match(self, game_id: str) -> MatchRecord:
        """One match. Raises ``ConfigError`` when neither the schedule nor a note names it."""
        found = self._gathered(game_id) if game_id.isascii() and game_id.isdigit() else {}
        if game_id not in found and game_id not in self._frame.matches:
            raise ConfigError(f"match {of(game_id, 40)}", "is not in this season; 'show matches' lists those that are")
        return self._record(game_id, found.get(game_id) or MatchEvidence())

    @property
    def has_reports(self) -> bool:
        """Whether the league manager's journal is among them."""
        return self._is_managers

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """What the organiser must look at, match by match."""
        journals = [each for each in self._journals if with_mails or each.role == "manager"]
        return disputes_of(journals, self._frame, division=self._division)

    def close(self) -> None:
        """Release the journals."""
        for each in self._journals:
            each.journal.close()

    @property
    def _best(self) -> RoleJournal:
        return next((each for each in self._journals if each.role == "manager"), self._journals[0])

    def _known(self) -> list[str]:
        notes = (note for each in self._journals for note in each.journal.notes(kinds=(MATCH, GAME)))
        return sorted({note.key for note in notes if self._frame.covers(note)})

    def _gathered(self, beginning: str) -> dict[str, MatchEvidence]:
        """The evidence in the journals for the matches whose ids have this prefix."""
        found: dict[str, MatchEvidence] = {}
        for own in self._journals:
            group = self._frame.group_of(own.address)
            for note in own.journal.notes(kinds=(MATCH, GAME, SETTLEMENT, MODEL_WORK, BELIEF), about=beginning):
                if self._frame.covers(note):
                    found.setdefault(note.key, MatchEvidence()).take(own, group, note)
            for item in own.journal.outbox(game=beginning):
                if item.game_id and self._frame.lasts_at(item.created_at):
                    found.setdefault(item.game_id, MatchEvidence()).sent.append((own.address, item))
            for row in own.journal.inbox(game=beginning):
                if row.game_id and self._frame.lasts_at(row.arrived_at):
                    found.setdefault(row.game_id, MatchEvidence()).received.append((own.address, row))
            for note in self._troubles.get(own.address, ()):
                text = of(note.facts.get("text"), 2_000)
                for game_id, evidence in found.items():
                    if game_id in text:
                        evidence.take(own, group, note)
        return found

    @cached_property
    def _troubles(self) -> Mapping[str, Sequence[Note]]:
        """Warnings that a person must look into, by the address of the journal."""
        return {
            each.address: [
                note
                for note in each.journal.notes(kinds=(WARNING,))
                if note.key in TROUBLE and self._frame.covers(note)
            ]
            for each in self._journals
        }

    @cached_property
    def _results(self) -> SeasonResults:
        results = SeasonResults(self._frame)
        for note in self._best.journal.notes(kinds=(MATCH, GAME, SETTLEMENT, "round", "season")):
            if self._frame.covers(note):
                results.take(note)
        self._frame.name(results.names)
        return results

    @cached_property
    def _money(self) -> Spent:
        return self._spent()

    def _with_status(self, planned: ScheduledMatch) -> ScheduledMatch:
        is_begun = planned.round_number <= self._frame.round_number
        return self._results.outcome(evolve(planned, status=OPEN if is_begun else self._planned))

    @property
    def _planned(self) -> str:
        """The status of a match whose round has not begun. Members learn late that a season goes on with a replay."""
        return NOT_PLAYED if self._is_managers and self._results.is_over else PLANNED

    def _record(self, game_id: str, evidence: MatchEvidence) -> MatchRecord:
        planned, results = self._frame.matches.get(game_id), self._results
        record = assembled(
            game_id,
            evidence,
            self._frame,
            planned,
            self._journals,
            result=results.told.get(game_id),
            rules=of(results.season.get("rules"), 100),
        )
        if record.status == OPEN and planned is not None:
            if evidence.own and (results.season or planned.round_number < self._frame.round_number):
                # The player has finished, and so has the round; the player's journal does not have the result.
                record = evolve(record, status=UNKNOWN)
            elif planned.round_number > self._frame.round_number and not evidence.sent and not evidence.received:
                record = evolve(record, status=self._planned)
        if record.models or any(player.models for player in record.players):
            tokens, cost_usd = self._money.get(game_id, (None, None))
            record = evolve(record, tokens=tokens, cost_usd=cost_usd)
        return visible(record, *self._reader_of(record))

    def _reader_of(self, match: MatchRecord) -> tuple[Viewer, str]:
        """The viewer and the team of a match: the referee of one match is a player of another."""
        own = [player.participant_id for player in match.players if player.participant_id in self._players]
        if own and not self._is_managers and match.referee_id not in self._judges:
            return "player", own[0]
        return self.viewer, self.team


def _few_queries(rounds: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield prefixes of game ids for queries, with their matches: ten small rounds share a query."""
    decades: dict[str, list[str]] = {}
    for beginning, game_ids in rounds.items():
        decades.setdefault(beginning[:3], []).extend(game_ids)
    for beginning, game_ids in decades.items():
        if len(game_ids) <= MOST_AT_ONCE:
            yield beginning, game_ids
        else:
            yield from ((each, rounds[each]) for each in rounds if each.startswith(beginning))
