"""Games of an evaluation are those of the league, by direct calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from league_agents.agents.base import Context, PlayerAI, RefereeAI, Reply
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.scripted import ScriptedPlayer, ScriptedReferee
from league_agents.app.agents import ChosenAgent
from league_agents.app.offline import SEASON, OfflineTeam, memory_journal, offline_league, team_of
from league_agents.evaluation.casting import Cast
from league_agents.evaluation.contexts import MOST_GAMES, match_id_of
from league_agents.evaluation.player_games import PlayerSeries
from league_agents.evaluation.results import Spent
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.league.season.schedule import single_game

CastOf = Callable[..., Cast]


class Listening:
    """Passes everything on, and remembers what was told and returned."""

    def __init__(self, agent: object) -> None:
        self._agent = agent
        self.heard: dict[str, list[tuple[Mapping[str, Any], Any]]] = {}

    def __getattr__(self, callback: str) -> Callable[[Context], Any]:
        if not callback.startswith(("get_", "on_")):
            raise AttributeError(callback)

        def call(ctx: Context) -> Any:
            result = getattr(self._agent, callback)(ctx)
            self.heard.setdefault(callback, []).append((ctx, result))
            return result

        return call


def series(rules: RuleSet, knowledge: Knowledge, noise: float = 0.0) -> PlayerSeries:
    return PlayerSeries(rules=rules, knowledge=knowledge, noise=noise, seed=1)


def shape(value: object) -> object:
    """Keys and types, without values."""
    if isinstance(value, Mapping):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value[:1]]
    return type(value).__name__


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_agents_are_told_and_return_the_same_as_in_the_league(
    rules: RuleSet, knowledge: Knowledge, cast_of: CastOf
) -> None:
    def agents() -> list[Listening]:
        return [
            Listening(OfflineReferee(rules=rules, knowledge=knowledge, seed="r")),
            Listening(OfflinePlayer(rules=rules, knowledge=knowledge, seed="a")),
            Listening(OfflinePlayer(rules=rules, knowledge=knowledge, seed="b")),
        ]

    ours, theirs = agents(), agents()
    series(rules, knowledge).play(1, cast_of(rules, referee=ours[0], player=ours[1], opponent=ours[2]))
    house, one, two = team_of("house"), team_of("player-a"), team_of("player-b")

    def chosen(agent: Listening) -> ChosenAgent:
        return ChosenAgent(spec="test", factory=lambda: agent, is_ours=True)

    league = offline_league(
        [
            OfflineTeam(team=house, player=None, referee=chosen(theirs[0])),
            OfflineTeam(team=one, player=chosen(theirs[1]), referee=None),
            OfflineTeam(team=two, player=chosen(theirs[2]), referee=None),
        ],
        single_game(one, two, house, season=SEASON),
        seed=1,
        rules=rules,
        journal_of=memory_journal,
    )
    league.play()
    league.close()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.heard.keys() == other.heard.keys()
        for callback, calls in other.heard.items():
            assert len(mine.heard[callback]) == len(calls)
            for (ctx, result), (league_ctx, league_result) in zip(mine.heard[callback], calls, strict=True):
                assert shape(ctx) == shape(league_ctx)
                # The same seeds in a match of the same name: the very same game.
                assert result == league_result


def test_a_game_says_who_found_what(knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(COURSE, knowledge, 0.05).play(1, cast_of(COURSE, opponent=ScriptedPlayer(rules=COURSE)))
    assert game.player is not None
    assert game.opponent is not None
    assert (game.seat, game.player.sentence_right, game.player.points) == (1, True, 3)
    assert (game.opponent.sentence_right, game.opponent.word_right, game.opponent.points) == (False, False, 0)
    assert game.player.bits_possible == game.opponent.bits_possible
    assert (game.player.bits_gained or 0) > (game.opponent.bits_gained or 0)
    assert game.behaviour["player"].spent == Spent(calls=1, nano_usd=5)
    assert game.behaviour["referee"].calls == {
        "get_warmup_question": 1, "get_round_start_info": 1, "get_answers": 2, "get_score_feedback": 2,
    }  # fmt: skip
    assert all(not each.fallbacks and not each.broken for each in game.behaviour.values())


def test_players_change_seats_and_the_target_does_not_depend_on_who_plays(
    knowledge: Knowledge, cast_of: CastOf
) -> None:
    seats, books = [], []
    for game in (1, 2, 3, 4):
        ours = series(COURSE, knowledge).play(game, cast_of(COURSE, game))
        other = series(COURSE, knowledge).play(game, cast_of(COURSE, game, player=ScriptedPlayer(rules=COURSE)))
        seats.append(ours.seat)
        books.append((ours.book, other.book))
        assert ours.opponent == other.opponent
    assert seats == [1, 2, 1, 2]
    assert all(one == two for one, two in books)


class Broken(PlayerAI):
    """Returns nonsense, or nothing at all."""

    def get_warmup_answer(self, ctx: Context) -> Reply:
        raise RuntimeError("no idea")

    def get_questions(self, ctx: Context) -> Reply:
        return {"questions": [{"question_number": 1, "question_text": "Why?", "options": {}}]}

    def get_guess(self, ctx: Context) -> Reply:
        return ["no", "dict"]  # type: ignore[return-value]

    def on_score_received(self, ctx: Context) -> None:
        raise KeyError("private_score")


def test_what_a_player_breaks_is_repaired_as_in_the_league_and_counted(knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(COURSE, knowledge).play(1, cast_of(COURSE, player=Broken()))
    behaviour = game.behaviour["player"]
    assert behaviour.fallbacks == {"get_warmup_answer": 1, "get_guess": 1, "on_score_received": 1}
    assert behaviour.broken == {"get_questions": 1, "get_guess": 1}
    assert behaviour.complaints[0] == "get_warmup_answer: RuntimeError: no idea"
    assert game.player is not None
    assert game.player.points == 0
    assert game.opponent is not None
    assert game.opponent.sentence_right


class Failing(ScriptedReferee):
    """Fails in one callback as often as it is told."""

    def __init__(self, callback: str, times: int) -> None:
        super().__init__(rules=PRD)
        self._callback = callback
        self._left = times

    def _fails(self, callback: str) -> bool:
        if callback == self._callback and self._left:
            self._left -= 1
            return True
        return False

    def get_round_start_info(self, ctx: Context) -> Reply:
        return {} if self._fails("get_round_start_info") else super().get_round_start_info(ctx)

    def get_answers(self, ctx: Context) -> Reply:
        return {"answers": []} if self._fails("get_answers") else super().get_answers(ctx)

    def get_score_feedback(self, ctx: Context) -> Reply:
        return {"league_points": 4} if self._fails("get_score_feedback") else super().get_score_feedback(ctx)


@pytest.mark.parametrize("callback", ["get_round_start_info", "get_answers", "get_score_feedback"])
def test_a_referee_that_fails_once_is_asked_once_more(callback: str, knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(PRD, knowledge).play(1, cast_of(PRD, referee=Failing(callback, 1)))
    assert game.behaviour["referee"].fallbacks == {callback: 1}
    assert game.player is not None
    assert game.opponent is not None
    assert game.player.points + game.opponent.points > 0


def test_a_referee_that_cannot_start_aborts_the_game(knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(PRD, knowledge).play(1, cast_of(PRD, referee=Failing("get_round_start_info", 2)))
    assert (game.player, game.opponent, game.book) == (None, None, "")
    assert game.behaviour["player"].calls == {"get_warmup_answer": 1}


def test_a_score_that_never_comes_is_none(knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(PRD, knowledge).play(1, cast_of(PRD, referee=Failing("get_score_feedback", 4)))
    assert game.player is not None
    assert (game.player.points, game.player.private_score) == (0, 0.0)


class Secretive(RefereeAI):
    """Keeps its target to itself."""

    def __init__(self) -> None:
        self._referee = ScriptedReferee(rules=PRD)

    def get_warmup_question(self, ctx: Context) -> Reply:
        return self._referee.get_warmup_question(ctx)

    def get_round_start_info(self, ctx: Context) -> Reply:
        found = dict(self._referee.get_round_start_info(ctx))
        del found["actual_opening_sentence"], found["actual_associative_word"]
        return found

    def get_answers(self, ctx: Context) -> Reply:
        return self._referee.get_answers(ctx)

    def get_score_feedback(self, ctx: Context) -> Reply:
        return self._referee.get_score_feedback(ctx)


def test_without_a_target_only_the_scores_are_known(knowledge: Knowledge, cast_of: CastOf) -> None:
    game = series(PRD, knowledge).play(1, cast_of(PRD, referee=Secretive()))
    assert game.player is not None
    assert game.player.sentence_right is None
    assert game.player.bits_gained is None
    assert game.player.points == 3  # everybody knows how Moby-Dick begins


def test_every_game_has_an_id_of_its_own() -> None:
    assert [match_id_of(game) for game in (1, 999, 1000, MOST_GAMES)] == ["0101001", "0101999", "0102001", "0199999"]
