"""The contexts of one match, made by the league's own functions: an agent cannot tell an evaluation from a season.

Rule 1: whoever is evaluated has the name of its seat, like everybody else.
Rule 2: nothing here depends on the day: all instants follow from one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from league_agents.games.q21.contracts import CallbackSpec, callback_specs
from league_agents.games.q21.model import AnswerBatch, Brief, Guess, QuestionBatch, Scorecard, Target
from league_agents.games.q21.rules import RuleSet
from league_agents.ids import GameId, derive_hex, game_id
from league_agents.league.config import RefereeConfig
from league_agents.league.events import Identity
from league_agents.league.game_state import Game
from league_agents.league.match_state import Match, Seat, SeatPhase
from league_agents.league.player_contexts import player_context
from league_agents.league.referee_contexts import (
    answers_context,
    round_start_context,
    score_context,
    warmup_question_context,
)
from league_agents.protocol.league.messages import AssignmentRole
from league_agents.values import evolve

Context = Mapping[str, object]

START = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)
DOMAIN = "league.test"
SEASON = 1
MOST_GAMES = 99 * 999
"""As many game ids as a season has."""

ROLES = (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2)
_NAMES = ("player-a", "player-b")


def match_id_of(game: int) -> GameId:
    """The id of a game, counted from 1."""
    round_number, place = divmod(game - 1, 999)
    return game_id(SEASON, round_number + 1, place + 1)


class Table:
    """One match: what has happened so far, as the machines of the league would hold it."""

    def __init__(self, rules: RuleSet, game: int) -> None:
        self.rules = rules
        self.specs: Mapping[str, CallbackSpec] = callback_specs(rules)
        identity = Identity(email=f"referee.house@{DOMAIN}", participant_id="REF-HOUSE", group_id="house")
        self._config = RefereeConfig(identity=identity, manager_email=f"league-office@{DOMAIN}", rules=rules)
        seats = [
            Seat(role=role, email=f"{name}@{DOMAIN}", participant_id=name, phase=SeatPhase.WARMED_UP)
            for role, name in zip(ROLES, _NAMES, strict=True)
        ]
        match_id = match_id_of(game)
        token = derive_hex("evaluation", match_id)
        round_number = int(match_id[2:4])
        season_id = f"SEASON_{START:%Y-%m-%d}"
        self._match = Match(
            game_id=match_id,
            token=token,
            round_number=round_number,
            round_id=f"{season_id}_R{round_number}",
            season_id=season_id,
            league_id="EVALUATION",
            player1=seats[0],
            player2=seats[1],
            opened_at=START,
        )
        self._games = [
            Game(
                game_id=match_id,
                token=token,
                season_id=season_id,
                league_id="EVALUATION",
                round_number=round_number,
                own_role=seat.role,
                own_group=seat.participant_id,
                referee_email=identity.email,
                opponent_email=seats[1 - place].email,
                opened_at=START,
                questions_required=rules.questions_required,
            )
            for place, seat in enumerate(seats)
        ]

    @property
    def match_id(self) -> str:
        return self._match.game_id

    # What happened. ``place`` is 0 for player 1 and 1 for player 2.

    def warmed_up(self, question: str, answers: tuple[str, str]) -> None:
        """The warm-up is over."""
        one, two = (evolve(seat, warmup_answer=answer) for seat, answer in zip(self._match.seats, answers, strict=True))
        self._match = evolve(self._match, warmup_question=question, player1=one, player2=two)

    def asked_to_warm_up(self, question: str) -> None:
        """The players are asked."""
        self._games = [evolve(game, warmup_question=question) for game in self._games]

    def started(self, brief: Brief, target: Target | None) -> None:
        """The players know the book, and this side may know the target."""
        self._match = evolve(self._match, brief=brief, target=target)
        self._games = [evolve(game, brief=brief) for game in self._games]

    def questioned(self, place: int, questions: QuestionBatch) -> None:
        self._seat(place, evolve(self._match.seats[place], questions=questions))
        self._games[place] = evolve(self._games[place], questions=questions)

    def answered(self, place: int, answers: AnswerBatch) -> None:
        self._seat(place, evolve(self._match.seats[place], answers=answers))
        self._games[place] = evolve(self._games[place], answers=answers)

    def guessed(self, place: int, guess: Guess) -> None:
        self._seat(place, evolve(self._match.seats[place], guess=guess))

    def questions(self, place: int) -> QuestionBatch:
        """What the player asked."""
        return self._match.seats[place].questions

    def answers(self, place: int) -> AnswerBatch:
        """What the player was answered."""
        return self._match.seats[place].answers

    # What the callbacks are told.

    def for_warmup_question(self) -> Context:
        return warmup_question_context(self._config, self.specs["get_warmup_question"], self._match)

    def for_round_start(self) -> Context:
        return round_start_context(self._config, self.specs["get_round_start_info"], self._match)

    def for_answers(self, place: int, questions: QuestionBatch | None = None) -> Context:
        """``questions`` instead of those that the player asked."""
        seat = self._match.seats[place]
        if questions is not None:
            seat = evolve(seat, questions=questions)
        return answers_context(self._config, self.specs["get_answers"], self._match, seat)

    def for_score(self, place: int, *, of: int | None = None, guess: Guess | None = None) -> Context:
        """``of``: what the other player asked, was answered and guessed, as if this one had; ``guess`` instead of the
        one that was made."""
        seat = self._match.seats[place]
        if of is not None:
            other = self._match.seats[of]
            seat = evolve(seat, questions=other.questions, answers=other.answers, guess=other.guess)
        if guess is not None:
            seat = evolve(seat, guess=guess)
        return score_context(self._config, self.specs["get_score_feedback"], self._match, seat)

    def for_player(self, callback: str, place: int, scorecard: Scorecard | None = None) -> Context:
        left = self._wait(callback)
        return player_context(
            self.specs[callback],
            self._games[place],
            left=left,
            deadline=None if left is None else START + left,
            # Only requests carry it.
            auth_token=None if left is None else self._match.auth_token,
            required=self.rules.questions_required,
            scorecard=scorecard,
        )

    def _wait(self, callback: str) -> timedelta | None:
        rules = self.rules
        return {
            "get_warmup_answer": rules.warmup_wait,
            "get_questions": rules.questions_wait,
            "get_guess": rules.guess_wait,
        }.get(callback)

    def _seat(self, place: int, seat: Seat) -> None:
        self._match = evolve(self._match, player1=seat) if place == 0 else evolve(self._match, player2=seat)
