"""A player whose library does not hold the book."""

from __future__ import annotations

import re
from statistics import fmean
from typing import Any

import pytest

from benchmarks.strength import play
from benchmarks.unknown_books import OtherMake, players_library, referee_of
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.questions.general import text_questions
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import Topic
from league_agents.agents.questions.reading import read
from league_agents.agents.reconstruction import denied_words
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.rules import COURSE, PRD, AnswerKey, RuleSet
from league_agents.kit.values import evolve

BOTH = pytest.mark.parametrize("rules", [PRD, evolve(COURSE, target_kind=PRD.target_kind)], ids=lambda r: r.name)
BRIEF = {"book_name": "The Quartz Lighthouse", "book_hint": "", "association_word": "metal"}


def context(**dynamic: Any) -> dict[str, Any]:
    return {"dynamic": {"match_id": "1", **dynamic}, "service": {"match_id": "1"}}


@BOTH
def test_a_referee_of_another_make_can_answer_most_questions_about_an_unknown_sentence(rules: RuleSet) -> None:
    player = OfflinePlayer(rules=rules, knowledge=players_library(), seed=1)
    questions: Any = player.get_questions(context(**BRIEF))["questions"]
    about_text = [q for q in questions if "associative word" not in q["question_text"]]
    assert len(about_text) >= 11
    secret = {"actual_opening_sentence": "The keeper had not slept for nine nights, and the lamp was cold."}
    asked = context(**BRIEF, **secret, player_id="p", questions=questions)
    offline = referee_of(rules, "tuned", is_other_make=False)
    answers: Any = OtherMake(offline).get_answers(asked)["answers"]
    told = {a["question_number"]: a["answer"] for a in answers if a["answer"] != "Not Relevant"}
    assert len(told) >= 0.8 * len(about_text)
    # What it reads is what was meant.
    own: Any = offline.get_answers(asked)["answers"]
    assert all(told.get(a["question_number"], a["answer"]) == a["answer"] for a in own)


@BOTH
def test_words_of_the_title_are_asked_for(rules: RuleSet) -> None:
    player = OfflinePlayer(rules=rules, knowledge=players_library(), seed=1)
    questions: Any = player.get_questions(context(**BRIEF))["questions"]
    told = " ".join(q["question_text"] for q in questions)
    assert {"“Quartz”", "“Lighthouse”"} <= set(re.findall(r"“\w+”", told))


def test_guesses_at_unknown_sentences_resemble_them_and_are_not_confident() -> None:
    games = []
    for rules in (PRD, evolve(COURSE, target_kind=PRD.target_kind)):
        for is_other_make in (False, True):
            player = OfflinePlayer(rules=rules, knowledge=players_library(), seed=1)
            referee = referee_of(rules, "tuned", is_other_make=is_other_make)
            games += [play(referee, player, match_id=f"U{number}") for number in range(12)]
    assert max(game.confidence for game in games) < 0.15
    # A sentence that is made of what was heard: typical sentences of other books reach 0.7 to 0.85.
    assert fmean(game.similarity for game in games) > 0.9


@pytest.mark.parametrize("key", list(AnswerKey))
def test_general_questions_are_recognised_and_deny_only_what_is_not_there(key: AnswerKey) -> None:
    sentence = read("She had told nobody of the storm, but I was awake at nine.")
    asked = text_questions(key, "Storm over Emma")
    assert sentence.sentence is not None
    for inquiry in asked:
        sent = AskedQuestion(number=1, text=inquiry.text, options=inquiry.options or PRD.fixed_options)
        assert recognise(sent.text, sent.options) == inquiry
        assert inquiry.topic is Topic.SENTENCE
    answers = [UNKNOWN if (found := inquiry.answer(sentence)) is None else found for inquiry in asked]
    assert not denied_words(asked, answers) & sentence.sentence.vocabulary
    assert "emma" in denied_words(asked, answers)
