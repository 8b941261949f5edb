"""The contexts of one match, made by the league's own functions: an agent cannot tell an evaluation from a season.

Rule 1: the evaluated participant is named by its seat, like the others.
Rule 2: nothing depends on the current date: all instants are derived from one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from league_agents.games.q21.callbacks import CallbackSpec, callback_specs
from league_agents.games.q21.flow import Ask
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.ids import GameId, derive_hex, game_id
from league_agents.kit.values import evolve
from league_agents.league.machines.config import RefereeConfig
from league_agents.league.machines.events import Identity
from league_agents.league.machines.player.contexts import player_context
from league_agents.league.machines.player.game_state import LeagueGame
from league_agents.league.machines.referee.contexts import referee_context
from league_agents.league.machines.referee.match_state import MatchPlayer, OpenMatch
from league_agents.league.wire.messages import AssignmentRole

Context = Mapping[str, object]

START = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)
DOMAIN = "league.test"
SEASON = 1
MOST_GAMES = 99 * 999
"""The number of game ids in a season."""

ROLES = (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2)
_NAMES = ("player-a", "player-b")


def match_id_of(game: int) -> GameId:
    """Return the id of a game, counted from 1."""
    round_number, place = divmod(game - 1, 999)
    return game_id(SEASON, round_number + 1, place + 1)


class MatchContexts:
    """The contexts for the three participants of one match, as the league's state machines build them."""

    def __init__(self, rules: RuleSet, game: int) -> None:
        self.rules = rules
        self.specs: Mapping[str, CallbackSpec] = callback_specs(rules)
        identity = Identity(email=f"referee.house@{DOMAIN}", participant_id="REF-HOUSE", group_id="house")
        self._config = RefereeConfig(identity=identity, manager_email=f"league-office@{DOMAIN}", rules=rules)
        seats = [
            MatchPlayer(role=role, email=f"{name}@{DOMAIN}", participant_id=name)
            for role, name in zip(ROLES, _NAMES, strict=True)
        ]
        match_id = match_id_of(game)
        token = derive_hex("evaluation", match_id)
        round_number = int(match_id[2:4])
        season_id = f"SEASON_{START:%Y-%m-%d}"
        self.match = OpenMatch(
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
        """The match before its first event."""
        self._games = [
            LeagueGame(
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
        return self.match.game_id

    def of_referee(self, match: OpenMatch, ask: Ask) -> Context:
        """Return the context for one of the referee's callbacks."""
        return referee_context(self._config, self.specs[ask.callback], match, ask)

    def of_player(self, match: OpenMatch, callback: str, place: int) -> Context:
        """Return the context for one of a player's callbacks. ``place``: 0 for player 1, 1 for player 2."""
        seat = match.seats[place]
        game = evolve(
            self._games[place],
            warmup_question=match.warmup_question,
            brief=match.brief,
            questions=seat.questions,
            answers=seat.answers,
        )
        left = self._wait(callback)
        return player_context(
            self.specs[callback],
            game,
            left=left,
            deadline=None if left is None else START + left,
            # Requests only carry the token.
            auth_token=None if left is None else match.auth_token,
            required=self.rules.questions_required,
            scorecard=seat.scorecard,
        )

    def _wait(self, callback: str) -> timedelta | None:
        rules = self.rules
        return {
            "get_warmup_answer": rules.warmup_wait,
            "get_questions": rules.questions_wait,
            "get_guess": rules.guess_wait,
        }.get(callback)
