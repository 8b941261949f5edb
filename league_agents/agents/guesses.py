"""Conversion of a belief to a guess: the sentence, the word, the confidence and the evidence.

Rule: the sentence is looked up among the candidates and returned exactly as stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from league_agents.agents.batches import letter_of
from league_agents.agents.candidates import Candidates
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.justify import Evidence, justify_sentence, justify_word
from league_agents.agents.questions.belief import Belief
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES, Inquiry, Topic
from league_agents.agents.questions.reading import CandidateReading
from league_agents.agents.reconstruction import sentence_from_answers
from league_agents.agents.word_forms import occurs_in
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import Brief
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.values import evolve
from league_agents.knowledge.words import STOP_WORDS

_CREDIBLE = 0.05
"""Least probability at which a sentence is guessed if the target is probably unlisted. Below it, a sentence made from
the answers resembles the target more, on average."""

_UNLIKELY_KNOWN = 0.5
"""Probability of an unlisted target above which a guess says that the book or the edition is not known."""

_MOST_CONFIDENT = 0.98
"""The referee's edition may spell even the right sentence otherwise."""

_MOST_CONFIDENT_OF_OTHERS = 0.12
"""Limit for the opening of a work with another name: answers that fit it also fit many openings that are not known."""

_CONFIRMED = 0.95
"""Least probability at which the answers confirm a sentence that a model remembers. Below it, the limit for other works
applies: a few answers also fit many openings that the model could have invented or confused."""

_MEANINGS = {YES: "yes", NO: "no", PARTIALLY: "partially"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A guess and its reasons."""

    sentence: str
    word: str

    confidence: float
    """0 to 1: the probability of the sentence."""

    shown: CandidateReading
    """Reading of the guessed target."""

    on_text: tuple[Evidence, ...]
    """The answers that support the sentence, ordered by the share of other candidates they exclude, largest first."""

    on_word: tuple[Evidence, ...]

    heard: int
    """How many questions were answered."""

    unlisted: bool = False
    """Whether the target is probably none of the candidates."""


def conclude(
    candidates: Candidates,
    belief: Belief,
    sent: Sequence[AskedQuestion],
    asked: Sequence[Inquiry | None],
    answers: Sequence[int],
    rules: RuleSet,
) -> Conclusion:
    """Return the likeliest sentence and word. ``sent``, ``asked`` and ``answers`` are parallel sequences."""
    sentence, place, mass = _likeliest_sentence(candidates, belief)
    if sentence is None:
        least = rules.least_sentence_characters
        sentence = sentence_from_answers(candidates, asked, answers, least_characters=least)
    is_of_other_work = not candidates.is_known and (sentence not in candidates.recalled or mass < _CONFIRMED)
    most = _MOST_CONFIDENT_OF_OTHERS if is_of_other_work else _MOST_CONFIDENT
    word = candidates.words[int(np.argmax(belief.words))]
    shown = evolve(CandidateReading() if place is None else candidates.readings[place], word=word)
    supporting = _supporting(candidates, sent, asked, answers, shown)
    return Conclusion(
        sentence=sentence,
        word=word,
        confidence=round(min(most, max(0.01, mass)), 4),
        shown=shown,
        on_text=tuple(each for each, topic in supporting if topic is not Topic.WORD),
        on_word=tuple(each for each, topic in supporting if topic is Topic.WORD),
        heard=sum(answer != UNKNOWN for answer in answers),
        unlisted=place is None or is_of_other_work or belief.unlisted > _UNLIKELY_KNOWN,
    )


def justified(found: Conclusion, candidates: Candidates, brief: Brief, rules: RuleSet) -> tuple[str, str]:
    """Return both justifications, worded by code."""
    on_text, on_word = list(found.on_text), list(found.on_word)
    text = found.shown.paragraph or found.shown.sentence
    of_sentence = justify_sentence(
        on_text or on_word,
        rules.sentence_justification,
        spoken_of=telling_words(found.shown, found.sentence),
        rivals=len(candidates.sentences),
        agreeing=len(on_text) + len(on_word),
        heard=found.heard,
        unlisted=found.unlisted,
    )
    of_word = justify_word(
        [*on_word, *on_text[::-1]],
        rules.word_justification,
        word=found.word,
        domain=" ".join(brief.association_domain.split()[:3])[:60],
        rivals=len(candidates.words),
        is_in_text=bool(text and occurs_in(found.word, text)),
    )
    return of_sentence, of_word


def guess_reply(found: Conclusion, of_sentence: str, of_word: str) -> dict[str, object]:
    """Return the reply of ``get_guess``."""
    return {
        "opening_sentence": found.sentence,
        "sentence_justification": of_sentence,
        "associative_word": found.word,
        "word_justification": of_word,
        "confidence": found.confidence,
    }


def _likeliest_sentence(candidates: Candidates, belief: Belief) -> tuple[str | None, int | None, float]:
    """Return the sentence, its index in the candidates and its probability; ``None`` if no candidate is credible."""
    if not candidates.sentences:
        return None, None, 0.0
    mass = np.bincount(candidates.groups, weights=belief.sentences)
    group = int(np.argmax(mass))
    members = np.flatnonzero(candidates.groups == group)
    place = int(members[np.argmax(belief.sentences[members])])
    if mass[group] < _CREDIBLE and belief.unlisted > _UNLIKELY_KNOWN:
        return None, None, 0.0
    return candidates.sentences[place], place, float(mass[group])


def _supporting(
    candidates: Candidates,
    sent: Sequence[AskedQuestion],
    asked: Sequence[Inquiry | None],
    answers: Sequence[int],
    shown: CandidateReading,
) -> list[tuple[Evidence, Topic]]:
    """Return the questions whose answers agree with the guess, those that exclude most other candidates first."""
    found: list[tuple[float, int, Evidence, Topic]] = []
    for question, inquiry, answer in zip(sent, asked, answers, strict=True):
        if inquiry is None or answer == UNKNOWN or inquiry.answer(shown) != answer:
            continue
        others = (
            [CandidateReading(word=word) for word in candidates.words]
            if inquiry.topic is Topic.WORD
            else candidates.readings[:: max(1, len(candidates.readings) // 200)]
        )
        share = sum(inquiry.answer(other) == answer for other in others) / max(1, len(others))
        letter = letter_of(inquiry, answer, question.options)
        # Own options explain themselves; the letters of the fixed key need their meaning spelled out.
        meaning = _MEANINGS.get(answer, "") if inquiry.options is None else ""
        evidence = Evidence(number=question.number, letter=letter, meaning=meaning, about=inquiry.about)
        found.append((round(share, 6), question.number, evidence, inquiry.topic))
    return [(evidence, topic) for _, _, evidence, topic in sorted(found, key=lambda row: row[:2])]


def telling_words(shown: CandidateReading, sentence: str) -> list[str]:
    """Return the two longest content words of the sentence."""
    words = shown.sentence.words if shown.sentence else tuple(re.findall(r"[^\W\d_]+", sentence[:2000]))
    content = dict.fromkeys(word for word in words if word.isalpha() and word.casefold() not in STOP_WORDS)
    return sorted(content, key=lambda word: (-len(word), word))[:2]
