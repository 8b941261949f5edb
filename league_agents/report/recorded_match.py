"""The file of ``run --single-game --record`` as a season of one match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from league_agents.games.q21.model import Termination
from league_agents.kit.errors import ConfigError
from league_agents.kit.json_values import elements, mapping, mappings, number, whole
from league_agents.kit.printable import of
from league_agents.league.wire.reading import instant_of
from league_agents.report.records import (
    OVER,
    DisputeRecord,
    MatchRecord,
    MessageRecord,
    PlayerRecord,
    ScheduledMatch,
    SeasonRecord,
    StandingRecord,
    TeamRecord,
    Viewer,
)

_KEYS = frozenset({"seed", "rules", "match", "players", "messages"})
MOST_MESSAGES, MOST_PLAYERS = 1_000, 8


class RecordedMatch:
    """``SeasonSource`` on the document of one match."""

    viewer: Viewer = "referee"
    team = ""
    has_reports = False

    def __init__(self, document: Mapping[str, object], name: str) -> None:
        """Raises ``ConfigError`` for a document of another kind."""
        if not document.keys() >= _KEYS:
            raise ConfigError(of(name, 200), "is neither a journal nor records of a league; name another file")
        self._document = document
        self._match = _record(document)

    def season(self) -> SeasonRecord:
        """A season of one round."""
        match = self._match
        one, two = (*(player.participant_id for player in match.players), "", "")[:2]
        points = (*(player.league_points for player in match.players), None, None)
        planned = ScheduledMatch(
            round_number=1,
            game_id=match.game_id,
            player1=one,
            player2=two,
            referee=match.referee_id,
            status=OVER,
            winner_id=match.winner_id,
            is_draw=match.is_draw and match.status == Termination.COMPLETED,
            points=(points[0], points[1]),
        )
        rows = tuple(
            StandingRecord(
                rank=whole(row.get("rank")) or 0,
                participant_id=of(row.get("participant_id"), 200),
                display_name=of(row.get("display_name"), 200),
                played=whole(row.get("games_played")) or 0,
                wins=whole(row.get("games_won")) or 0,
                points=number(row.get("total_points")) or 0.0,
            )
            for row in mappings(self._document.get("standings"))[:1_000]
        )
        return SeasonRecord(
            rules=match.rules,
            teams=tuple(TeamRecord(participant_id=player.participant_id) for player in match.players),
            schedule=(planned,),
            standings_after={1: rows} if rows else {},
            is_over=True,
        )

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        """The match, if it passes the filter."""
        if round_number in (None, 1) and (team is None or self._match.player(team) is not None):
            yield self._match

    def match(self, game_id: str) -> MatchRecord:
        """The match. Raises ``ConfigError`` for another id."""
        if game_id != self._match.game_id:
            raise ConfigError(f"match {of(game_id, 60)}", f"is not in this file; it holds {self._match.game_id}")
        return self._match

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """None: only journals hold reports."""
        return iter(())

    def close(self) -> None:
        """No-op: holds no resources."""


def _record(document: Mapping[str, object]) -> MatchRecord:
    told = mapping(document.get("match"))
    messages = tuple(
        MessageRecord(
            at=at,
            sender=of(row.get("from"), 320),
            to=tuple(of(each, 320) for each in elements(row.get("to"))[:100]),
            message_type=of(row.get("type"), 100),
            message_id=of(row.get("message_id"), 200),
        )
        for row in mappings(document.get("messages"))[:MOST_MESSAGES]
        if (at := instant_of(row.get("at"))) is not None
    )
    return MatchRecord(
        game_id=of(told.get("game_id"), 40),
        round_number=1,
        rules=of(document.get("rules"), 100),
        status=of(told.get("status"), 60),
        winner_id=of(told.get("winner_id"), 200) or None,
        is_draw=told.get("is_draw") is True,
        abort_reason=of(told.get("abort_reason"), 300) or None,
        brief=mapping(told.get("brief")) or None,
        target=mapping(document.get("target")) or None,
        players=tuple(_player(row) for row in mappings(document.get("players"))[:MOST_PLAYERS]),
        messages=messages,
        notes=_texts(told.get("notes")),
        models=tuple(mappings(told.get("models"))[:100]),
        started_at=min((message.at for message in messages), default=None),
        ended_at=max((message.at for message in messages), default=None),
    )


def _player(row: Mapping[str, object]) -> PlayerRecord:
    card = mapping(row.get("scorecard"))
    return PlayerRecord(
        participant_id=of(row.get("id"), 200),
        termination=of(row.get("termination"), 60),
        league_points=number(card.get("league_points")),
        private_score=number(card.get("private_score")),
        questions=tuple(mappings(row.get("questions"))[:200]),
        answers=tuple(mappings(row.get("answers"))[:200]),
        guess=mapping(row.get("guess")) or None,
        scorecard=card or None,
        notes=_texts(row.get("notes")),
        models=tuple(mappings(row.get("models"))[:100]),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(of(each, 500) for each in elements(value)[:100])
