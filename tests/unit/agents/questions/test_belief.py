"""What answers of several levels of noise say about the candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.library import Knowledge
from league_agents.agents.player_chain.noise import NoiseTally, RefereeNoise, compared
from league_agents.agents.questions.batch import plan_batch
from league_agents.agents.questions.belief import EXTRA_LEVELS, Extra, decode
from league_agents.agents.questions.kinds import Inquiry, Options, Topic
from league_agents.agents.questions.reading import CandidateReading, read
from league_agents.agents.questions.written import WrittenInquiry, sentence_key
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import COURSE, AnswerKey, TargetKind
from league_agents.kit.draw import Draw

FOUR: Options = ("one", "two", "three", "four")
BRIEF = Brief(book_name="The Village Book", book_hint="", association_domain="tree")


@pytest.fixture(scope="module")
def village_candidates(knowledge: Knowledge) -> Candidates:
    return enumerate_candidates(knowledge, BRIEF, TargetKind.PASSAGE_OPENING)


def written(candidates: Candidates, count: int, known: int | None = None) -> list[WrittenInquiry]:
    """Questions whose predictions are drawn, for the first ``known`` candidates."""
    found = []
    for number in range(count):
        draw = Draw(1, f"predicted/{number}")
        predicted = {sentence_key(sentence): draw.below(4) for sentence in candidates.sentences[:known]}
        found.append(WrittenInquiry(wording=f"What is matter {number} like?", four=FOUR, predicted=predicted))
    return found


def answers_of(asked: list[Inquiry], candidates: Candidates, place: int) -> list[int]:
    found = [inquiry.answer(replace(candidates.readings[place], word=candidates.words[0])) for inquiry in asked]
    return [UNKNOWN if answer is None else answer for answer in found]


def test_a_models_questions_have_their_share_where_it_knows_the_candidates(village_candidates: Candidates) -> None:
    def own(known: int | None) -> int:
        pool = written(village_candidates, 40, known)
        plan = plan_batch(village_candidates, AnswerKey.OWN, 20, COURSE.weights, Draw(1, "own"), written=pool)
        return sum(inquiry.is_written for inquiry in plan.batch())

    assert own(None) >= 7
    assert 1 <= own(20) <= 4
    assert own(0) == 0


def test_only_a_models_questions_are_asked_about_the_text_when_that_is_wanted(village_candidates: Candidates) -> None:
    pool = written(village_candidates, 40)
    plan = plan_batch(village_candidates, AnswerKey.OWN, 20, COURSE.weights, written=pool, is_computed=False)
    assert all(inquiry.is_written for inquiry in plan.best_texts.inquiries)


def test_who_fails_in_one_kind_of_question_is_believed_in_the_other(village_candidates: Candidates) -> None:
    asked: list[Inquiry] = [*written(village_candidates, 10)]
    plan = plan_batch(village_candidates, AnswerKey.OWN, 20, COURSE.weights)
    asked += plan.best_texts.inquiries[:10]
    answers = answers_of(asked, village_candidates, 33)
    answers[10:] = [(answer + 1) % 4 for answer in answers[10:]]
    belief = decode(village_candidates, asked, answers)
    assert village_candidates.groups[int(np.argmax(belief.sentences))] == village_candidates.groups[33]
    assert belief.noise > 0.3
    assert belief.noise_written < 0.1


def test_a_written_question_that_was_declined_says_nothing(village_candidates: Candidates) -> None:
    asked: list[Inquiry] = [*written(village_candidates, 10, known=20)]
    belief = decode(village_candidates, asked, [UNKNOWN] * 10)
    assert belief.sentences == pytest.approx(village_candidates.prior, rel=0.05)


def test_answers_outside_the_options_of_a_fixed_key_say_nothing(village_candidates: Candidates) -> None:
    asked: list[Inquiry] = [replace(each, four=None) for each in written(village_candidates, 5)]
    belief = decode(village_candidates, asked, [3] * 5)
    assert belief.sentences == pytest.approx(village_candidates.prior, rel=0.05)


def test_a_referee_is_expected_to_err_as_often_as_it_did() -> None:
    noise = RefereeNoise(AnswerKey.OWN)
    start = noise.expected("r")
    for _ in range(6):
        noise.learn("r", NoiseTally(computed=14, computed_wrong=0.0, written=5, written_wrong=1.5))
    learnt = noise.expected("r")
    assert learnt.expected < 0.03 < start.expected
    assert learnt.expected_written == pytest.approx(0.3, abs=0.05)
    assert sum(learnt.prior) == pytest.approx(1.0)
    assert min(learnt.prior) > 0.0
    assert noise.expected("another") == start
    assert len(learnt.prior) == len(EXTRA_LEVELS) == len(Extra().prior)


def test_nothing_is_learnt_about_nobody_and_old_games_fade() -> None:
    noise = RefereeNoise(AnswerKey.FIXED)
    start = noise.expected("")
    noise.learn("", NoiseTally(computed=20, computed_wrong=20.0))
    assert noise.expected("") == start
    for _ in range(100):
        noise.learn("r", NoiseTally(computed=20, computed_wrong=9.0))
    for _ in range(24):
        noise.learn("r", NoiseTally(computed=20, computed_wrong=0.0))
    assert noise.expected("r").expected < 0.05


def test_only_answers_about_the_text_are_compared_with_the_truth(village_candidates: Candidates) -> None:
    plan = plan_batch(village_candidates, AnswerKey.OWN, 20, COURSE.weights)
    texts, words = list(plan.best_texts.inquiries[:6]), list(plan.best_words.inquiries[:3])
    asked: list[Inquiry | None] = [*texts, *words, None]
    answers = [*answers_of(texts, village_candidates, 5), 0, 0, 0, 0]
    known = sum(answer != UNKNOWN for answer in answers[:6])
    tally = compared(asked, answers, village_candidates.readings[5])
    assert tally.computed == known
    assert tally.computed_wrong == pytest.approx(-sum(i.noise for i, a in zip(texts, answers, strict=False) if a >= 0))
    assert tally.written == 0


class Same(Inquiry):
    """A question whose right answer is A, whatever the text."""

    def __init__(self, number: int, *, noise: float, is_written: bool = False) -> None:
        self._number = number
        self._noise = noise
        self._is_written = is_written

    @property
    def text(self) -> str:
        return f"Question {self._number}?"

    @property
    def is_written(self) -> bool:
        return self._is_written

    @property
    def topic(self) -> Topic:
        return Topic.SENTENCE

    @property
    def noise(self) -> float:
        return self._noise

    @property
    def about(self) -> str:
        return "it"

    def answer(self, reading: CandidateReading) -> int | None:
        return 0

    @classmethod
    def recognise(cls, *_: object) -> Same | None:
        return None


ONE = Candidates(
    sentences=("The miller sang.",), readings=(read("The miller sang."),), groups=np.zeros(1, np.int64),
    prior=np.ones(1), words=("mill",), given=np.ones((1, 1)), is_known=True,
)  # fmt: skip


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize(("wrong", "noise"), [(0, 0.05), (3, 0.05), (12, 0.05), (6, 0.2)])
def test_a_level_of_noise_is_as_likely_as_it_explains_the_answers(
    wrong: int, noise: float, *, is_written: bool
) -> None:
    asked = [Same(number, noise=noise, is_written=is_written) for number in range(20)]
    belief = decode(ONE, asked, [1] * wrong + [0] * (20 - wrong))
    evidence = []
    for level in EXTRA_LEVELS:
        err = 1 - (1 - noise) * (1 - level)
        evidence.append((1 - err) ** (20 - wrong) * (err / 3) ** wrong)
    weights = [chance * each for chance, each in zip(Extra().prior, evidence, strict=True)]
    expected = sum(level * weight for level, weight in zip(EXTRA_LEVELS, weights, strict=True)) / sum(weights)
    found = belief.noise_written if is_written else belief.noise
    assert found == pytest.approx(expected)
    # The other kind of question was not asked: about it nothing is learnt.
    unasked = belief.noise if is_written else belief.noise_written
    prior_mean = sum(level * chance for level, chance in zip(EXTRA_LEVELS, Extra().prior, strict=True))
    assert unasked == pytest.approx(prior_mean if is_written else 0)


def test_what_a_game_showed_of_a_referee_weighs_as_much_as_its_answers() -> None:
    noise = RefereeNoise(AnswerKey.OWN)
    unknown = noise.expected("r")
    noise.learn("r", NoiseTally(computed=20, computed_wrong=6, written=0))
    found = noise.expected("r")
    assert found.prior_written == unknown.prior
    levels = [max(level, 0.01) for level in EXTRA_LEVELS]
    weights = [chance * level**6 * (1 - level) ** 14 for chance, level in zip(unknown.prior, levels, strict=True)]
    total = sum(weights)
    mixed = [0.97 * weight / total + 0.03 * chance for weight, chance in zip(weights, unknown.prior, strict=True)]
    assert found.prior == pytest.approx(mixed, abs=2e-3)
    assert found.expected == pytest.approx(sum(np.multiply(mixed, EXTRA_LEVELS)), abs=2e-3)
    assert found.expected > 2 * unknown.expected


@pytest.mark.parametrize("letters", ["A", "B", "C", "D", "AB", "ABC", "ABCD", "AABB"])
@pytest.mark.parametrize("place", [0, 33])
def test_answers_that_follow_a_pattern_of_letters_make_no_sentence_likely(
    village_candidates: Candidates, letters: str, place: int
) -> None:
    plan = plan_batch(village_candidates, AnswerKey.OWN, 20, COURSE.weights)
    hinted = np.full(len(village_candidates.sentences), 0.47 / (len(village_candidates.sentences) - 1))
    hinted[place] = 0.53
    asked = plan.batch()
    answers = ["ABCD".index(letter) for letter in (letters * 20)[: len(asked)]]
    belief = decode(replace(village_candidates, prior=hinted), asked, answers)
    assert belief.sentences.max() < 0.2


def test_answers_that_are_drawn_make_no_sentence_likely(village_candidates: Candidates) -> None:
    few = first_of(village_candidates, 15)
    asked = plan_batch(few, AnswerKey.OWN, 20, COURSE.weights).batch()
    tops = []
    for number in range(30):
        draw = Draw(number, "blind")
        tops.append(decode(few, asked, [draw.below(inquiry.choices) for inquiry in asked]).sentences.max())
    assert float(np.mean(tops)) < 0.25


def first_of(candidates: Candidates, count: int) -> Candidates:
    """The first ``count`` of the candidates."""
    return replace(
        candidates,
        sentences=candidates.sentences[:count],
        readings=candidates.readings[:count],
        groups=candidates.groups[:count],
        prior=np.full(count, 1 / count),
        given=candidates.given[:count],
    )
