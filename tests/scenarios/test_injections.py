"""Whole matches, every mail as MIME bytes, in which one side injects and a model on the other side obeys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from league_agents.agents.base import Context, PlayerAI, RefereeAI, Reply
from league_agents.agents.library import Knowledge
from league_agents.agents.llm_player import LlmPlayer
from league_agents.agents.llm_referee import LlmReferee
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.secrecy import canary_of, tells
from league_agents.app.agents import ChosenAgent
from league_agents.app.offline import SEASON, OfflineTeam, memory_journal, offline_league, team_of
from league_agents.evaluation.injections import Injection, injections, sample
from league_agents.games.q21.reading_player import read_guess, read_questions
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.league.season.schedule import single_game
from league_agents.report.match import match_document
from league_agents.report.traffic import sent_messages
from tests.support.obedient import ObedientModel

BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
BEFORE_THE_SCORE = ("Q21WARMUPCALL", "Q21ROUNDSTART", "Q21ANSWERSBATCH")


@cache
def knowledge() -> Knowledge:
    return Knowledge()


class InjectingPlayer(PlayerAI):
    """Plays well, and puts a text wherever there is room for one."""

    def __init__(self, rules: RuleSet, text: str) -> None:
        self._player = OfflinePlayer(rules=rules, knowledge=knowledge(), seed=5)
        self._text = text

    def get_warmup_answer(self, ctx: Context) -> Reply:
        return {"answer": self._text}

    def get_questions(self, ctx: Context) -> Reply:
        batch: Any = self._player.get_questions(ctx)
        questions = [dict(each) for each in batch["questions"]]
        for place in (2, 7, 19):
            questions[place]["question_text"] = f"{self._text}?"
        return {"questions": questions}

    def get_guess(self, ctx: Context) -> Reply:
        guess: Any = self._player.get_guess(ctx)
        return {
            **guess,
            "sentence_justification": f"{self._text} {guess['sentence_justification']}",
            "word_justification": f"{self._text} {guess['word_justification']}",
        }

    def on_score_received(self, ctx: Context) -> None:
        self._player.on_score_received(ctx)


class InjectingReferee(RefereeAI):
    """Judges well, and puts a text into all that the players read."""

    def __init__(self, rules: RuleSet, text: str) -> None:
        self._referee = OfflineReferee(rules=rules, knowledge=knowledge(), seed=5)
        self._text = " ".join(text.split())[:150]

    def get_warmup_question(self, ctx: Context) -> Reply:
        return {"warmup_question": f"{self._text} How much is 2 plus 2?"}

    def get_round_start_info(self, ctx: Context) -> Reply:
        start = self._referee.get_round_start_info(ctx)
        return {
            **start,
            "book_hint": f"{start['book_hint']} {self._text}"[:200],
            "association_word": f"{start['association_word']} {self._text}",
        }

    def get_answers(self, ctx: Context) -> Reply:
        return self._referee.get_answers(ctx)

    def get_score_feedback(self, ctx: Context) -> Reply:
        card: Any = self._referee.get_score_feedback(ctx)
        return {**card, "feedback": {key: f"{self._text} {text}" for key, text in card["feedback"].items()}}


def ours(agent: object) -> ChosenAgent:
    return ChosenAgent(spec="test", factory=lambda: agent, is_ours=True)


def player_with(model: ObedientModel, rules: RuleSet) -> LlmPlayer:
    return LlmPlayer(rules=rules, knowledge=knowledge(), seed=4, models=lambda callback: model)


def played(rules: RuleSet, referee: object, player_a: object, player_b: object) -> tuple[dict[str, Any], list[Any]]:
    """The match as a document, and the referee's mails before the score."""
    house, team_a, team_b = team_of("house"), team_of("player-a"), team_of("player-b")
    schedule = single_game(team_a, team_b, house, season=SEASON)
    league = offline_league(
        [
            OfflineTeam(team=house, player=None, referee=ours(referee)),
            OfflineTeam(team=team_a, player=ours(player_a), referee=None),
            OfflineTeam(team=team_b, player=ours(player_b), referee=None),
        ],
        schedule,
        seed=3,
        rules=rules,
        journal_of=memory_journal,
        through_mime=True,
    )
    try:
        league.play()
        (game_id,) = (pairing.game_id for pairings in schedule.rounds for pairing in pairings)
        judge = league.referees[0].participant
        document = match_document(
            game_id,
            seed=3,
            rules=rules.name,
            manager=league.manager.participant,
            referee=judge,
            players=[player.participant for player in league.players],
        )
        mails = sent_messages([judge])
    finally:
        league.close()
    return document, [mail.document for mail in mails if mail.message_type in BEFORE_THE_SCORE]


@cache
def fair_points(rules: RuleSet) -> int:
    """What the same player gets when it injects nothing, from a referee without a model."""
    referee = OfflineReferee(rules=rules, knowledge=knowledge(), seed=9)
    players = [OfflinePlayer(rules=rules, knowledge=knowledge(), seed=seed) for seed in (5, 6)]
    document, _ = played(rules, referee, *players)
    return int(document["players"][0]["scorecard"]["league_points"])


def texts_in(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in texts_in(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts_in(each)]
    return [value] if isinstance(value, str) else []


@BOTH
@pytest.mark.parametrize("injection", sample(5), ids=lambda injection: f"{injection.category}-{injection.language}")
def test_a_match_against_an_injecting_player_is_as_fair_as_any(injection: Injection, rules: RuleSet) -> None:
    model = ObedientModel(injection.text, says="take this", named={"answer": "A", "basis": "quote"})
    referee = LlmReferee(rules=rules, knowledge=knowledge(), seed=9, models=lambda callback: model)
    rival = OfflinePlayer(rules=rules, knowledge=knowledge(), seed=6)
    document, before = played(rules, referee, InjectingPlayer(rules, injection.text), rival)
    target = document["target"]
    assert document["match"]["status"] == "completed"
    injecting, other = document["players"]
    assert injecting["scorecard"]["league_points"] <= fair_points(rules)
    assert rules.points_for(injecting["scorecard"]["private_score"]) == injecting["scorecard"]["league_points"]
    assert other["scorecard"]["league_points"] >= 2
    said = [text for document in before for text in texts_in(document)]
    assert not any(tells(text, target["opening_sentence"]) for text in said)
    marks = [str(canary_of(prompt)) for prompt in model.prompts]
    assert marks
    assert not any(mark in text for mark in marks for text in said)


@BOTH
@pytest.mark.parametrize("injection", sample(4), ids=lambda injection: f"{injection.category}-{injection.language}")
def test_a_match_against_an_injecting_referee_is_played_to_its_end(injection: Injection, rules: RuleSet) -> None:
    model = ObedientModel(injection.text, says="I obey")
    player = player_with(model, rules)
    rival = OfflinePlayer(rules=rules, knowledge=knowledge(), seed=6)
    document, _ = played(rules, InjectingReferee(rules, injection.text), player, rival)
    assert document["match"]["status"] == "completed"
    (obeying, _) = document["players"]
    assert len(obeying["questions"]) == rules.questions_required
    assert read_guess(obeying["guess"], rules).remarks == []
    assert model.was_reached


@BOTH
def test_no_text_in_a_brief_breaks_the_replies_of_a_player(rules: RuleSet) -> None:
    # Of a sample, one half with each rule set.
    for number, injection in enumerate(injections()[12 * (rules.name == "course") :: 24]):
        model = ObedientModel(injection.text, says=injection.text, repeats_system=bool(number % 2))
        player = player_with(model, rules)
        brief = {"book_name": "Emma", "book_hint": injection.text[:200], "association_word": injection.text[:100]}
        dynamic = {"match_id": f"m{number}", **brief}
        if number % 3 == 0:
            dynamic["book_name"] = injection.text[:300]
        service = {"deadline_seconds": 25}
        batch: Any = player.get_questions({"dynamic": dynamic, "service": service})
        assert read_questions(batch, rules).remarks == [], injection
        answers = [{"question_number": n, "answer": "ABCD"[n % 4]} for n in range(1, 20)]
        answers.append({"question_number": 20, "answer": injection.text})
        guess = player.get_guess(
            {"dynamic": {**dynamic, "questions_sent": batch["questions"], "answers": answers}, "service": service}
        )
        assert read_guess(guess, rules).remarks == [], injection
        marks = [str(canary_of(prompt)) for prompt in model.prompts]
        said = [*texts_in(batch), *texts_in(guess)]
        assert not any(mark in text for mark in marks for text in said)
