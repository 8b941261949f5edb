"""A player whose edition is not the referee's, or that does not know the book at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from league_agents.agents.candidates import enumerate_candidates
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.every_sentence import believe
from league_agents.agents.guesses import Conclusion, conclude, justified
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.batch import plan_batch
from league_agents.agents.questions.general import general_questions
from league_agents.agents.questions.kinds import Inquiry
from league_agents.agents.questions.reading import CandidateReading, read
from league_agents.agents.reconstruction import confirmed_words, sentence_from_answers
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import COURSE, PRD, AnswerKey, RuleSet, TargetKind
from league_agents.games.q21.similarity import sentence_similarity
from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document, make_document

VILLAGE = Brief(book_name="The Village Book", book_hint="", association_domain="tree")
BOTH = pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)

Answer = Callable[[Inquiry], int]


def told_of(reading: CandidateReading) -> Answer:
    def told(inquiry: Inquiry) -> int:
        answer = inquiry.answer(reading)
        return UNKNOWN if answer is None else answer

    return told


def guessed(knowledge: Knowledge, brief: Brief, rules: RuleSet, told: Answer) -> tuple[Conclusion, str]:
    """Return what is concluded from the answers to the planned batch, and the justification of the sentence."""
    rules = evolve(rules, target_kind=TargetKind.PASSAGE_OPENING)
    candidates = enumerate_candidates(knowledge, brief, rules.target_kind)
    batch = plan_batch(candidates, rules.answer_key, 20, rules.weights).batch()
    asked: Sequence[Inquiry] = [*batch, *general_questions(rules.answer_key)][:20]
    answers = [told(inquiry) for inquiry in asked]
    candidates, belief = believe(candidates, asked, answers)
    sent = [
        AskedQuestion(number=i, text=each.text, options=each.options or rules.fixed_options)
        for i, each in enumerate(asked, 1)
    ]
    found = conclude(candidates, belief, sent, asked, answers, rules)
    return found, justified(found, candidates, brief, rules)[0]


def with_paragraphs(village: Document, *, each: int) -> Knowledge:
    """The village book in an edition that joins ``each`` paragraphs to one."""
    paragraphs = [part for part in village.text.split("\n\n") if not part.startswith("#")]
    joined = [" ".join(paragraphs[i : i + each]) for i in range(0, len(paragraphs), each)]
    text = "# The Village Book\n\n## Chapter 1\n\n" + "\n\n".join(joined)
    return Knowledge(documents=[make_document(text, source="other.md", markup="markdown", author="Jo Reed")])


@pytest.mark.parametrize("each", [2, 15])
def test_a_sentence_inside_a_paragraph_is_found(each: int, village: Document, knowledge: Knowledge) -> None:
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    target = volume.readings[77]
    assert target.sentence is not None
    found, _ = guessed(with_paragraphs(village, each=each), VILLAGE, COURSE, told_of(target))
    assert found.sentence == target.sentence.text
    assert not found.unlisted


@pytest.mark.parametrize(
    "cover", ["The Village Book, by Jo Reed", "Jo Reed's The Village Book", "VILLAGE BOOK: A Novel"]
)
def test_the_book_is_known_by_the_cover_of_another_edition(cover: str, knowledge: Knowledge) -> None:
    assert knowledge.volume(cover) is knowledge.volume("The Village Book")


@BOTH
def test_the_only_candidate_is_given_up_if_all_answers_contradict_it(rules: RuleSet) -> None:
    knowledge = Knowledge(documents=[])
    emma = evolve(VILLAGE, book_name="Emma")
    opening = enumerate_candidates(knowledge, emma, TargetKind.BOOK_OPENING)
    assert len(opening.sentences) == 1

    def believed(told: Answer) -> float:
        asked = general_questions(rules.answer_key)[:20]
        _, belief = believe(opening, asked, [told(inquiry) for inquiry in asked])
        return float(belief.sentences[0])

    right = told_of(opening.readings[0])
    assert believed(right) > 0.9
    assert believed(lambda inquiry: UNKNOWN if right(inquiry) < 0 else (right(inquiry) + 1) % inquiry.choices) < 0.15


@BOTH
def test_no_other_work_is_taken_for_an_unknown_book(rules: RuleSet) -> None:
    unknown = Brief(book_name="Quarzuhren", book_hint="a clockwork and its maker", association_domain="metal")
    knowledge = Knowledge(documents=[])
    targets = (
        "The apprentice had forgotten to wind the clocks on the morning of the funeral, and nobody noticed it.",
        "I was nine when the river came into our house, carrying the piano, two hens and my grandfather's chair.",
    )
    for sentence in targets:
        found, justification = guessed(knowledge, unknown, rules, told_of(read(sentence)))
        assert found.confidence < 0.15
        assert "probably not known" in justification
        assert sentence_similarity(found.sentence, sentence) > 0


@pytest.mark.parametrize("key", list(AnswerKey))
def test_an_outline_holds_the_words_that_answers_confirmed(key: AnswerKey) -> None:
    asked = general_questions(key)
    told = told_of(read("She had told the boys of the sea and of the wind, but I was asleep."))
    answers = [told(inquiry) for inquiry in asked]
    assert {"the", "and", "was", "of"} <= confirmed_words(asked, answers)
    candidates = enumerate_candidates(Knowledge(documents=[]), Brief(**NOTHING), TargetKind.BOOK_OPENING)
    outline = sentence_from_answers(candidates, asked, answers, least_characters=10)
    assert "the" in outline.casefold().split()


NOTHING = {"book_name": "", "book_hint": "", "association_domain": ""}
