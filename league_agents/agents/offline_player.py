"""A player without a model: it lists every target that is possible and asks what tells them apart.

Rule 1: nothing that matters is kept between calls. Questions and guesses follow from the context, the books and the
seed, so another instance, after a crash, goes on where this one stopped. What ``self`` remembers is used only where a
runner leaves the context empty (protocol 6.2).
Rule 2: whatever the context holds, there are exactly as many questions as the rules want, and always a guess.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from league_agents.agents.base import Context, PlayerAI, Reply
from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.contexts import AskedQuestion, CallContext
from league_agents.agents.justify import Evidence, justify_sentence, justify_word
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.answer_key import meanings
from league_agents.agents.questions.batch import Belief, Plan, Strategy, decode, plan_batch
from league_agents.agents.questions.general import general_questions
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES, Inquiry, Options, Topic
from league_agents.agents.questions.reading import Reading
from league_agents.agents.word_forms import stands_in
from league_agents.core.draw import Draw
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import LETTERS, Brief
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.knowledge.words import STOP_WORDS

T = TypeVar("T")

_MATCHES_KEPT = 64
_BRIEFS_KEPT = 12
_CREDIBLE_FIT = 3.0
"""How much better than blind guessing (natural logarithm) another work must explain the answers to be named."""

_SUM = re.compile(
    r"(-?\d{1,9})\s*(\+|-|−|\*|×|x|/|÷|plus|minus|times|multiplied by|divided by)\s*(-?\d{1,9})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Memory:
    """A match as this instance saw it."""

    brief: Brief
    questions: tuple[AskedQuestion, ...]


class OfflinePlayer(PlayerAI):
    """Plays from the books of a ``Knowledge``; the same inputs give the same questions and guesses."""

    def __init__(
        self, *, rules: RuleSet, knowledge: Knowledge, seed: int | str, strategy: Strategy = Strategy.CHOSEN
    ) -> None:
        """``strategy`` other than the default is for measuring only."""
        self._rules = rules
        self._knowledge = knowledge
        self._seed = seed
        self._strategy = strategy
        self._memories: OrderedDict[str, _Memory] = OrderedDict()
        self._candidates: OrderedDict[Brief, Candidates] = OrderedDict()
        self._plans: OrderedDict[Brief, Plan] = OrderedDict()

    def get_warmup_answer(self, ctx: Context) -> Reply:
        """The result of a sum of two numbers; a word for any other question, which is not scored."""
        found = _SUM.search(CallContext(ctx).text("warmup_question")[:1000])
        return {"answer": _reckoned(found) if found else "ready"}

    def get_questions(self, ctx: Context) -> Reply:
        """The batch that is expected to score best."""
        context = CallContext(ctx)
        brief = context.brief()
        questions = self._questions_for(brief, context.match_id())
        self._memories[context.match_id()] = _Memory(brief, questions)
        self._memories.move_to_end(context.match_id())
        while len(self._memories) > _MATCHES_KEPT:
            self._memories.popitem(last=False)
        return {
            "questions": [
                {
                    "question_number": question.number,
                    "question_text": question.text,
                    "options": dict(zip(LETTERS, question.options, strict=True)),
                }
                for question in questions
            ]
        }

    def get_guess(self, ctx: Context) -> Reply:
        """The likeliest sentence and word after the answers."""
        context = CallContext(ctx)
        memory = self._memories.get(context.match_id())
        brief = context.brief()
        if memory is not None:
            brief = Brief(
                book_name=brief.book_name or memory.brief.book_name,
                book_hint=brief.book_hint or memory.brief.book_hint,
                association_domain=brief.association_domain or memory.brief.association_domain,
            )
        sent = context.questions("questions_sent") or (list(memory.questions) if memory else [])
        sent = sent or list(self._questions_for(brief, context.match_id()))
        candidates = self._candidates_for(brief)
        letters = context.answers()
        asked = [recognise(question.text, question.options) for question in sent]
        answers = [
            _answer_code(inquiry, letters.get(question.number), question.options)
            for inquiry, question in zip(asked, sent, strict=True)
        ]
        belief = decode(candidates, asked, answers)
        return self._guess(brief, candidates, belief, sent, asked, answers)

    def on_score_received(self, ctx: Context) -> None:
        """The match is over: it is forgotten."""
        self._memories.pop(CallContext(ctx).match_id(), None)

    def _candidates_for(self, brief: Brief) -> Candidates:
        return _kept(
            self._candidates,
            brief,
            lambda: enumerate_candidates(self._knowledge, brief, self._rules.target_kind),
        )

    def _questions_for(self, brief: Brief, match_id: str) -> tuple[AskedQuestion, ...]:
        """The batch for a brief and this player's seed; only random questions depend on the match as well."""
        rules, candidates = self._rules, self._candidates_for(brief)
        draw = Draw(self._seed, f"questions/{brief.book_name[:200]}/{brief.association_domain[:200]}")
        plan = _kept(
            self._plans,
            brief,
            lambda: plan_batch(candidates, rules.answer_key, rules.questions_required, rules.weights, draw),
        )
        batch = plan.batch(self._strategy, Draw(self._seed, f"batch/{match_id[:200]}/{brief.book_name[:200]}"))
        texts = {inquiry.text for inquiry in batch}
        spare = draw.fork("general").shuffled(general_questions(rules.answer_key))
        if candidates.is_known:
            # The word has been asked about as far as that helps.
            spare.sort(key=lambda inquiry: inquiry.topic is Topic.WORD)
        for inquiry in spare:
            # A question that was chosen in another form is asked once: both forms have the same text.
            if len(batch) < rules.questions_required and inquiry.text not in texts:
                batch.append(inquiry)
                texts.add(inquiry.text)
        worded = [(inquiry.text, inquiry.options or rules.fixed_options) for inquiry in batch]
        plain = rules.fixed_options if rules.answer_key is AnswerKey.FIXED else _YES_NO
        worded.extend(
            (f"Does the opening sentence have more than {place + 1} words?", plain)
            for place in range(len(worded), rules.questions_required)
        )
        return tuple(
            AskedQuestion(number=number, text=text, options=options)
            for number, (text, options) in enumerate(worded[: rules.questions_required], start=1)
        )

    def _guess(
        self,
        brief: Brief,
        candidates: Candidates,
        belief: Belief,
        sent: Sequence[AskedQuestion],
        asked: Sequence[Inquiry | None],
        answers: Sequence[int],
    ) -> Reply:
        rules = self._rules
        sentence, place, mass = _likeliest_sentence(candidates, belief)
        if sentence is None:
            sentence = _sentence_from_hint(brief, rules)
        word_place = int(np.argmax(belief.words))
        word = candidates.words[word_place]
        shown = Reading() if place is None else candidates.readings[place]
        shown = replace(shown, word=word)
        heard = sum(answer != UNKNOWN for answer in answers)
        supporting = _supporting(candidates, sent, asked, answers, shown)
        on_text = [each for each, topic in supporting if topic is not Topic.WORD]
        on_word = [each for each, topic in supporting if topic is Topic.WORD]
        text = shown.paragraph or shown.sentence
        return {
            "opening_sentence": sentence,
            "sentence_justification": justify_sentence(
                on_text or on_word,
                rules.sentence_justification,
                spoken_of=_telling_words(shown, sentence),
                rivals=max(1, len(candidates.sentences)),
                agreeing=sum(topic is not Topic.WORD for _, topic in supporting) + len(on_word),
                heard=heard,
            ),
            "associative_word": word,
            "word_justification": justify_word(
                [*on_word, *on_text[::-1]],
                rules.word_justification,
                word=word,
                domain=" ".join(brief.association_domain.split()[:3])[:60],
                rivals=len(candidates.words),
                is_in_text=bool(text and stands_in(word, text.vocabulary)),
            ),
            "confidence": round(min(0.99, max(0.01, mass)), 4),
        }


_MEANINGS = {YES: "yes", NO: "no", PARTIALLY: "partially"}
_IN_ORDER = (YES, NO, PARTIALLY, UNKNOWN)
"""What A to D mean where the options cannot be read."""


def _kept(kept: OrderedDict[Brief, T], brief: Brief, make: Callable[[], T]) -> T:
    """What was made for this brief before, else what ``make`` gives; the oldest is forgotten."""
    if brief not in kept:
        kept[brief] = make()
        while len(kept) > _BRIEFS_KEPT:
            kept.popitem(last=False)
    return kept[brief]


_YES_NO: Options = ("Yes", "No", "Partially", "Unknown")


def _answer_code(inquiry: Inquiry | None, letter: str | None, options: Sequence[str]) -> int:
    if inquiry is None or letter is None:
        return UNKNOWN
    place = LETTERS.index(letter)
    if inquiry.options is not None:
        return place
    read = meanings(options)
    meaning = read[place] if read is not None else _IN_ORDER[place]
    return UNKNOWN if meaning is None else meaning


def _likeliest_sentence(candidates: Candidates, belief: Belief) -> tuple[str | None, int | None, float]:
    """The sentence, its place among the candidates, and its probability; ``None`` when no candidate is credible."""
    if not candidates.sentences:
        return None, None, 0.0
    mass = np.bincount(candidates.groups, weights=belief.sentences)
    group = int(np.argmax(mass))
    members = np.flatnonzero(candidates.groups == group)
    place = int(members[np.argmax(belief.sentences[members])])
    if not candidates.is_known and belief.fit < _CREDIBLE_FIT:
        return None, None, 0.0
    return candidates.sentences[place], place, float(mass[group])


def _supporting(
    candidates: Candidates,
    sent: Sequence[AskedQuestion],
    asked: Sequence[Inquiry | None],
    answers: Sequence[int],
    shown: Reading,
) -> list[tuple[Evidence, Topic]]:
    """The questions whose answers agree with the guess, those first that exclude most of the others."""
    found: list[tuple[float, int, Evidence, Topic]] = []
    for question, inquiry, answer in zip(sent, asked, answers, strict=True):
        if inquiry is None or answer == UNKNOWN or inquiry.answer(shown) != answer:
            continue
        others = (
            [Reading(word=word) for word in candidates.words]
            if inquiry.topic is Topic.WORD
            else candidates.readings[:: max(1, len(candidates.readings) // 200)]
        )
        share = sum(inquiry.answer(other) == answer for other in others) / max(1, len(others))
        letter = _letter_of(inquiry, answer, question.options)
        # Options of a question's own say what they say; of the fixed key everybody has to remember what B means.
        meaning = _MEANINGS.get(answer, "") if inquiry.options is None else ""
        evidence = Evidence(number=question.number, letter=letter, meaning=meaning, about=inquiry.about)
        found.append((round(share, 6), question.number, evidence, inquiry.topic))
    return [(evidence, topic) for _, _, evidence, topic in sorted(found, key=lambda row: row[:2])]


def _letter_of(inquiry: Inquiry, answer: int, options: Sequence[str]) -> str:
    if inquiry.options is not None or not any(options):
        return LETTERS[answer]
    read = meanings(options) or _IN_ORDER
    return LETTERS[read.index(answer)] if answer in read else LETTERS[answer]


def _telling_words(shown: Reading, sentence: str) -> list[str]:
    """Two content words of the sentence, the longest ones."""
    words = shown.sentence.words if shown.sentence else tuple(re.findall(r"[^\W\d_]+", sentence[:2000]))
    content = dict.fromkeys(word for word in words if word.isalpha() and word.casefold() not in STOP_WORDS)
    return sorted(content, key=lambda word: (-len(word), word))[:2]


def _sentence_from_hint(brief: Brief, rules: RuleSet) -> str:
    """A sentence of the hint's own words: for an unknown book there is nothing nearer."""
    hint = " ".join(brief.book_hint.split()[:30])[:300].strip(" .!?")
    name = " ".join(brief.book_name.split()[:12])[:120]
    sentence = f"{hint[0].upper()}{hint[1:]}." if hint else f"This is the story of {name or 'a book'}."
    while len(sentence) < rules.least_sentence_characters:
        sentence = f"It was said: {sentence}"
    return sentence


def _reckoned(found: re.Match[str]) -> str:
    a, b = int(found[1]), int(found[3])
    sign = found[2].casefold()
    if sign in {"+", "plus"}:
        return str(a + b)
    if sign in {"-", "−", "minus"}:
        return str(a - b)
    if sign in {"/", "÷", "divided by"}:
        return str(a // b if b and a % b == 0 else round(a / b, 4) if b else 0)
    return str(a * b)
