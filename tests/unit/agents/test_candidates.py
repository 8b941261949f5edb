"""What is thought possible before a question is asked."""

from __future__ import annotations

import numpy as np
import pytest

from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.batch import plan_batch
from league_agents.agents.questions.belief import candidates_left, decode
from league_agents.agents.questions.kinds import Topic
from league_agents.agents.questions.reading import CandidateReading
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import AnswerKey, TargetKind, Weights
from league_agents.knowledge.nouns import Nouns


def candidates_for(
    knowledge: Knowledge,
    *,
    book: str = "The Village Book",
    hint: str = "",
    domain: str = "",
    kind: TargetKind = TargetKind.PASSAGE_OPENING,
) -> Candidates:
    brief = Brief(book_name=book, book_hint=hint, association_domain=domain)
    return enumerate_candidates(knowledge, brief, kind)


def test_every_passage_of_the_book_is_a_candidate(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge)
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    assert list(found.sentences) == [passage.opening_sentence for passage in volume.passages]
    assert found.prior == pytest.approx(np.full(150, 1 / 150))


@pytest.mark.parametrize("domain", ["", "colour", "quantum physics"])
def test_probabilities_add_up(domain: str, knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, hint="a lantern on the stairs", domain=domain)
    assert found.prior.sum() == pytest.approx(1.0)
    assert found.given.sum(axis=1) == pytest.approx(np.ones(len(found.sentences)))
    assert found.given.shape == (len(found.sentences), len(found.words))


def test_a_hint_lifts_the_pages_around_its_words_and_excludes_none(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, hint="Somewhere near one reads of a violin")
    near = np.array(["violin" in reading.paragraph.vocabulary for reading in found.readings if reading.paragraph])
    assert found.prior[near].mean() > 1.1 * found.prior[~near].mean()
    assert found.prior.min() > 0.2 / 150


def test_a_domain_lifts_the_pages_that_hold_its_words_and_excludes_none(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="musical instrument")
    holds = np.array(["violin" in reading.paragraph.vocabulary for reading in found.readings if reading.paragraph])
    assert found.prior[holds].min() > found.prior[~holds].max() > 0
    violin = found.words.index("violin")
    assert found.given[holds][:, violin].min() > 0.5
    assert found.given.min() > 0


def test_where_the_domain_tells_nothing_the_nouns_of_the_text_are_likeliest(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="word of the text")
    is_noun = np.array([Nouns.load().noun(word) == word for word in found.words])
    texts = [reading.paragraph.vocabulary if reading.paragraph else frozenset() for reading in found.readings]
    for row, text in zip(found.given, texts, strict=True):
        inside = np.array([word in text for word in found.words])
        assert row[inside & is_noun].mean() > 3 * row[inside & ~is_noun].mean()
    assert found.given.min() > 0


def test_the_opening_of_a_work_is_by_far_the_likeliest_when_openings_are_played(knowledge: Knowledge) -> None:
    emma = candidates_for(knowledge, book="Emma", domain="food", kind=TargetKind.BOOK_OPENING)
    assert emma.sentences[int(emma.prior.argmax())].startswith("Emma Woodhouse, handsome, clever, and rich")
    assert emma.words[int(emma.word_prior.argmax())] == "gruel"
    village = candidates_for(knowledge, kind=TargetKind.BOOK_OPENING)
    assert village.prior[0] > 0.8


def test_equal_sentences_are_one_group(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge)
    for i, j in ((0, 1), (5, 140)):
        assert (found.groups[i] == found.groups[j]) == (found.sentences[i] == found.sentences[j])
    assert len(set(found.groups.tolist())) == len(set(found.sentences))


@pytest.mark.parametrize("key", list(AnswerKey))
def test_a_batch_asks_about_sentence_and_word_and_repeats_nothing(key: AnswerKey, knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="colour")
    batch = plan_batch(found, key, 20, Weights()).batch()
    topics = [inquiry.topic for inquiry in batch]
    assert len(batch) == len(set(batch)) == 20
    assert 2 <= topics.count(Topic.WORD) <= 9
    assert all(inquiry.choices <= 3 for inquiry in batch) == (key is AnswerKey.FIXED)


def test_the_more_the_word_counts_the_more_is_asked_about_it(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="colour")
    on_word = Weights(opening_sentence=0.1, sentence_justification=0.0, associative_word=0.9, word_justification=0.0)
    few = [inquiry.topic for inquiry in plan_batch(found, AnswerKey.FIXED, 10, Weights()).batch()].count(Topic.WORD)
    many = [inquiry.topic for inquiry in plan_batch(found, AnswerKey.FIXED, 10, on_word).batch()].count(Topic.WORD)
    assert few < many


@pytest.mark.parametrize("key", list(AnswerKey))
def test_honest_answers_leave_one_sentence_and_say_that_they_are_honest(key: AnswerKey, knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="colour")
    batch = plan_batch(found, key, 20, Weights()).batch()
    truth = 77
    shown = CandidateReading(
        sentence=found.readings[truth].sentence,
        paragraph=found.readings[truth].paragraph,
        part=found.readings[truth].part,
        word="blue",
    )
    answers = [UNKNOWN if (answer := inquiry.answer(shown)) is None else answer for inquiry in batch]
    belief = decode(found, batch, answers)
    assert int(belief.sentences.argmax()) == truth
    assert found.words[int(belief.words.argmax())] == "blue"
    assert belief.bits_left < 0.5
    left = candidates_left(found, batch, answers, belief)
    assert len(left) == len(batch)
    assert left[0] > 20 * left[-1]
    assert left[-1] < 1.5
    noisy = [answer if i % 4 else (answer + 1) % batch[i].choices for i, answer in enumerate(answers)]
    assert decode(found, batch, noisy).noise > belief.noise


def test_no_answers_leave_the_prior(knowledge: Knowledge) -> None:
    found = candidates_for(knowledge, domain="colour")
    batch = plan_batch(found, AnswerKey.OWN, 20, Weights()).batch()
    belief = decode(found, [*batch, None], [UNKNOWN] * 21)
    assert belief.sentences == pytest.approx(found.prior, rel=0.5)
    assert belief.unlisted < 0.05
