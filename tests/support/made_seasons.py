"""A made-up season in records, for tests of what people are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.report.records import (
    OPEN,
    OVER,
    PLANNED,
    AuditEntry,
    DisputeEvidence,
    DisputeKind,
    DisputeRecord,
    MatchRecord,
    MessageRecord,
    PlayerRecord,
    ScheduledMatch,
    SeasonRecord,
    Settlement,
    StandingRecord,
    TeamRecord,
    Viewer,
    visible,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAMES = ("Ada", "קוראי הספרים", "読書クラブ 红楼梦", "Owls of the Night Library Reading Society", "Kestrel", "Blue")
OPTIONS = {"A": "Yes", "B": "No", "C": "Partially", "D": "Unknown / Not Relevant"}
TARGET = {
    "book_name": "The Sea Wolf",
    "opening_sentence": "I scarcely know where to begin, though I sometimes facetiously place the cause of it all.",
    "associative_word": "fog",
}
MODEL_STEP = {
    "callback": "get_answers",
    "step": "answers",
    "work": "partly_used",
    "why": "contradicted",
    "used": 7,
    "of": 9,
}
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\" onmouseover='alert(3)' {{ 7*7 }} {% raw %} </style>"


class MadeSeason:
    """A ``SeasonSource`` of made-up matches, each made when it is asked for."""

    viewer: Viewer = "referee"
    team = ""
    has_reports = True

    def __init__(
        self,
        *,
        names: Sequence[str] = NAMES,
        played_rounds: int | None = None,
        divisions: Sequence[str] = (),
        laps: int = 1,
        text: str = "",
    ) -> None:
        """``played_rounds``: the matches of the round after them are open; ``text`` stands in every free text."""
        self.names, self.text = names, text
        self.reads = 0
        teams = [
            TeamRecord(participant_id=f"G{place:03d}", display_name=name + text, division=division)
            for division in divisions or ("",)
            for place, name in enumerate(names, start=1)
        ]
        schedule = [
            match
            for division in divisions or ("",)
            for match in _schedule([team for team in teams if team.division == division], division, laps)
        ]
        last = max(match.round_number for match in schedule)
        self.played = last if played_rounds is None else played_rounds
        schedule = [
            self._scheduled(match) for match in sorted(schedule, key=lambda match: (match.division, match.game_id))
        ]
        self._season = SeasonRecord(
            season_id="S01",
            name=f"Spring reading league{text}",
            league_id="LEAGUE-1",
            rules="prd",
            tie_breaks=("points", "wins", "private_score"),
            divisions=tuple(divisions),
            teams=tuple(teams),
            schedule=tuple(schedule),
            standings_after=_standings(teams, schedule, self.played),
            is_over=self.played >= last,
            log=(
                AuditEntry(at=START, kind="season", text=f"The season begins.{text}"),
                AuditEntry(at=START, kind="warning", text=f"callback_failed: get_answers raised ValueError: {TARGET}"),
                AuditEntry(
                    at=START + timedelta(days=1), kind="settlement", text="correct 0101001: feedback was misread"
                ),
            ),
        )

    def season(self) -> SeasonRecord:
        return self._season

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """One of each kind, about the first match."""
        first = self._season.schedule[0]
        for kind in DisputeKind:
            yield DisputeRecord(
                game_id=first.game_id,
                round_number=first.round_number,
                division=first.division,
                kind=kind,
                text=f"referee {first.referee} reported 3:0 {self.text}",
                counts="completed 3:0",
                evidence=(DisputeEvidence(at=START, by="referee", text=f"reported {self.text}"),) if with_mails else (),
            )

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        for match in self._season.schedule:
            if round_number in (None, match.round_number) and team in (None, match.player1, match.player2):
                yield self._seen(match)

    def match(self, game_id: str) -> MatchRecord:
        division, _, wanted = game_id.rpartition("/")
        places = (match for match in self._season.schedule if (match.division, match.game_id) == (division, wanted))
        found = next(places, None)
        if found is None:
            raise ConfigError("MATCH", f"{game_id}: there is no such match")
        return self._seen(found)

    def _seen(self, match: ScheduledMatch) -> MatchRecord:
        self.reads += 1
        return visible(self.whole(match), self.viewer)

    def close(self) -> None:
        pass

    def whole(self, scheduled: ScheduledMatch) -> MatchRecord:
        """Everything of a match, as nobody sees it before its end."""
        ids = (scheduled.player1, scheduled.player2)
        is_over = scheduled.status == OVER
        players = tuple(self._player(identity, place, scheduled, is_over=is_over) for place, identity in enumerate(ids))
        return MatchRecord(
            game_id=scheduled.game_id,
            season_id="S01",
            round_number=scheduled.round_number,
            division=scheduled.division,
            referee_id=scheduled.referee,
            rules="prd",
            status="completed" if is_over else scheduled.status,
            winner_id=scheduled.winner_id,
            is_draw=scheduled.is_draw,
            warmup_question="What is 6 times 7?",
            brief={
                "book_name": "The Sea Wolf",
                "book_hint": f"A man overboard.{self.text}",
                "association_word": "weather",
            },
            target=TARGET,
            players=players,
            messages=_messages(ids, scheduled.round_number),
            notes=(f"the referee's model was slow{self.text}",),
            models=(MODEL_STEP,),
            settlements=(
                Settlement(
                    at=START + timedelta(days=1),
                    order="correct",
                    why=f"The feedback was misread.{self.text}",
                    by="organiser",
                    before={"points": 1},
                    after={"points": 3},
                ),
            )
            if scheduled.game_id == "0101001"
            else (),
            started_at=START,
            ended_at=START + timedelta(minutes=9) if is_over else None,
            tokens=18_342,
            cost_usd=0.0213,
        )

    def _player(self, identity: str, place: int, match: ScheduledMatch, *, is_over: bool) -> PlayerRecord:
        reason = "Question 7 was answered yes, so the sentence tells of the sea. " * 4
        shares = (100.0, 82.5, 100.0, 64.0) if place == 0 else (61.25, 70.0, 0.0, 30.0)
        return PlayerRecord(
            participant_id=identity,
            display_name=self.names[int(identity[1:]) - 1] + self.text,
            email=f"{identity.lower()}@league.example",
            role=f"PLAYER{place + 1}",
            termination="completed" if is_over else "",
            phase="done" if is_over else "guess",
            league_points=match.points[place],
            counted_points=match.points[place],
            private_score=sum(shares) / 4,
            warmup_answer="42",
            questions=tuple(
                {"question_number": number, "question_text": f"Is word {number} a noun?{self.text}", "options": OPTIONS}
                for number in range(1, 21)
            ),
            answers=tuple(
                {
                    "question_number": number,
                    "answer": ("A", "B", "C", "Not Relevant")[number % 4],
                }
                for number in range(1, 21)
            ),
            candidates_left=tuple(float(2 ** max(0, 12 - number)) for number in range(1, 21)) if is_over else (),
            guess={
                "opening_sentence": TARGET["opening_sentence"] if place == 0 else f"Call me Ishmael.{self.text}",
                "associative_word": "fog" if place == 0 else "ship",
                "sentence_justification": reason + self.text,
                "word_justification": f"לפי התשובות, המילה קשורה למזג האוויר.{self.text}",
                "confidence": 0.8,
            },
            scorecard={
                "league_points": match.points[place],
                "private_score": sum(shares) / 4,
                "breakdown": dict(
                    zip(
                        (
                            "opening_sentence_score",
                            "sentence_justification_score",
                            "associative_word_score",
                            "word_justification_score",
                        ),
                        shares,
                        strict=True,
                    )
                ),
                "feedback": {"opening_sentence": f"Well argued.{self.text}", "associative_word": "雾 is the word."},
            }
            if is_over
            else None,
            notes=(f"the player's model was not asked{self.text}",),
        )

    def _scheduled(self, match: ScheduledMatch) -> ScheduledMatch:
        if match.round_number > self.played + 1:
            return match
        if match.round_number == self.played + 1:
            return evolve(match, status=OPEN)
        which = sum(map(int, match.game_id)) % 3
        points = ((3.0, 1.0), (1.0, 3.0), (2.0, 2.0))[which]
        winner = (match.player1, match.player2, None)[which]
        return evolve(match, status=OVER, winner_id=winner, is_draw=winner is None, points=points)


def _schedule(teams: Sequence[TeamRecord], division: str, laps: int) -> list[ScheduledMatch]:
    ids = [team.participant_id for team in teams]
    ids += [""] * (len(ids) % 2)
    size, found = len(ids), []
    for lap in range(laps):
        for turn in range(size - 1):
            circle = [ids[0], *ids[1 + turn :], *ids[1 : 1 + turn]]
            number = lap * (size - 1) + turn + 1
            pairs = [(circle[place], circle[-1 - place]) for place in range(size // 2)]
            found += [
                ScheduledMatch(
                    round_number=number,
                    game_id=f"{1:02d}{number:02d}{place:03d}",
                    player1=one if lap % 2 == 0 else two,
                    player2=two if lap % 2 == 0 else one,
                    referee=next(each for each in ids if each not in (one, two, "")),
                    division=division,
                    status=PLANNED,
                )
                for place, (one, two) in enumerate(pairs, start=1)
                if one and two
            ]
    return found


def _standings(
    teams: Sequence[TeamRecord], schedule: Sequence[ScheduledMatch], played: int
) -> Mapping[int, tuple[StandingRecord, ...]]:
    rows = {
        (team.division, team.participant_id): StandingRecord(
            rank=1, participant_id=team.participant_id, display_name=team.display_name, division=team.division,
            draws=0, losses=0, private_score=0.0, tie_breaks={"points": 1.0, "head_to_head": 0.5},
        )
        for team in teams
    }  # fmt: skip
    found = {}
    for number in range(1, played + 1):
        for match in schedule:
            if match.round_number != number:
                continue
            for identity, points in zip((match.player1, match.player2), match.points, strict=True):
                row = rows[match.division, identity]
                rows[match.division, identity] = evolve(
                    row,
                    played=row.played + 1,
                    wins=row.wins + (match.winner_id == identity),
                    draws=(row.draws or 0) + match.is_draw,
                    losses=(row.losses or 0) + (match.winner_id not in (identity, None)),
                    points=row.points + (points or 0),
                    private_score=(row.private_score or 0) + 61.25,
                )
        ordered = sorted(rows.values(), key=lambda row: (row.division, -row.points, -row.wins))
        ranked = []
        for row in ordered:
            same = [each for each in ordered if each.division == row.division]
            ranked.append(evolve(row, rank=1 + sum((each.points, each.wins) > (row.points, row.wins) for each in same)))
        found[number] = tuple(ranked)
    return found


def _messages(ids: Sequence[str], round_number: int) -> tuple[MessageRecord, ...]:
    begins = START + timedelta(days=round_number)
    found = []
    for place, kind in enumerate(("Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH")):
        at = begins + timedelta(minutes=3 * place)
        for seat, identity in enumerate(ids):
            found.append(
                MessageRecord(
                    at=at,
                    sender="referee",
                    to=(f"{identity.lower()}@league.example",),
                    message_type=kind,
                    message_id=f"m{place}{seat}",
                    deadline=at + timedelta(minutes=2),
                )
            )
        for seat, identity in enumerate(ids):
            took = timedelta(seconds=30 + 100 * seat * place)
            late = (took - timedelta(minutes=2)).total_seconds()
            found.append(
                MessageRecord(
                    at=at + took,
                    sender=f"{identity.lower()}@league.example",
                    to=("referee",),
                    message_type=kind.replace("CALL", "RESPONSE"),
                    message_id=f"r{place}{seat}",
                    late_by_s=late if late > 0 else None,
                )
            )
    return tuple(sorted(found, key=lambda message: message.at))
