"""The second model call: two justifications worded by the model.

Rule 1: a justification must cite questions that were asked, with the answers received. Wrong citations are cut out,
missing ones are added by code, and the length is adjusted.
Rule 2: if a justification cannot be repaired, the code's own wording is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.fence import one_line, whole_words
from league_agents.agents.guesses import Conclusion
from league_agents.agents.justify import FILLERS, Evidence, cited
from league_agents.games.q21.justification import JustificationReading, read_justification
from league_agents.games.q21.model import LETTERS, Answer, Brief, Choice, Question
from league_agents.games.q21.rules import RuleSet, WordLimit
from league_agents.games.q21.words import count_tokens, fit, is_within, limit_in_words
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.tokens import cut_to_tokens

STEP = "player_justify"
MOST_OUTPUT_TOKENS = 300

SENTENCE_CITATIONS = 3
WORD_CITATIONS = 2
"""Number of citations for full marks from a referee that counts them (``scoring``)."""

_MOST_EVIDENCE = 8
_MOST_ON_WORD = 4
_ROW_TOKENS = 60
_FORBIDDEN = re.compile(
    r"https?:|www\.|[<>{}\\`@|]|\b(?:dear|please|ignore|instructions?|prompts?|system|judges?|award|grad(?:e|es|ed|ing)"
    r"|scor(?:e|es|ed|ing)|points?(?! (?:to|at|towards?|away|out|back)\b))\b",
    re.IGNORECASE,
)
"""Patterns that a justification does not need, but that often occur in a text caused by an injected hint."""


class Justifications(BaseModel):
    """What the model writes."""

    model_config = ConfigDict(extra="ignore")

    sentence_justification: Annotated[str, Field(max_length=2_000)]
    word_justification: Annotated[str, Field(max_length=2_000)]


def ask_for_wording(
    turn: CallbackRun,
    brief: Brief,
    found: Conclusion,
    sent: Sequence[AskedQuestion],
    letters: Mapping[int, str],
    by_code: tuple[str, str],
    rules: RuleSet,
) -> tuple[str, str]:
    """Return both justifications, each the model's if it passes, else the one of ``by_code``."""
    rows = _rows(found, sent)
    if not rows:
        turn.not_asked(STEP, Why.NOTHING_TO_ASK)  # no answer speaks for the guess, so there is nothing to cite
        return by_code
    reply = turn.ask(
        STEP,
        Justifications,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        sentence_limit=_asked_limit(rules.sentence_justification),
        word_limit=_asked_limit(rules.word_justification),
        sentence_citations=min(SENTENCE_CITATIONS, len(rows)),
        word_citations=min(WORD_CITATIONS, len(rows)),
        sentence=cut_to_tokens(found.sentence, 200),
        word=found.word,
        domain=brief.association_domain,
        evidence=rows,
    )
    if reply is None:
        return by_code
    asked = tuple(Question(number=question.number, text=question.text, options=question.options) for question in sent)
    answers = tuple(Answer(number=number, choice=Choice(letter)) for number, letter in sorted(letters.items()))
    checker = _Checker(brief, asked, answers)
    of_sentence = checker.repaired(
        reply.sentence_justification,
        rules.sentence_justification,
        subject=found.sentence,
        evidence=found.on_text or found.on_word,
        wanted=SENTENCE_CITATIONS,
    )
    of_word = checker.repaired(
        reply.word_justification,
        rules.word_justification,
        subject=found.word,
        evidence=(*found.on_word, *found.on_text[::-1]),
        wanted=WORD_CITATIONS,
        other=by_code[0] if of_sentence is None else of_sentence.text,
    )
    used = [each for each in (of_sentence, of_word) if each is not None]
    if len(used) == len(by_code) and all(each.is_whole for each in used):
        turn.settle(STEP, ModelWorkUse.USED, used=len(used), of=len(by_code))
    else:
        work = ModelWorkUse.PARTLY_USED if used else ModelWorkUse.REPLACED
        turn.settle(STEP, work, Why.BROKE_RULES, used=len(used), of=len(by_code))
    return (
        by_code[0] if of_sentence is None else of_sentence.text,
        by_code[1] if of_word is None else of_word.text,
    )


def _asked_limit(limit: WordLimit) -> str:
    """Return a narrower limit than that of the rules, because models miscount."""
    most = limit.most if limit.most is not None else limit.least + 40
    margin = min(5, (most - limit.least) // 4)
    return limit_in_words(WordLimit(least=limit.least + margin, most=most - margin))


def _rows(found: Conclusion, sent: Sequence[AskedQuestion]) -> list[str]:
    questions = {question.number: question for question in sent}
    chosen = [*found.on_text[: _MOST_EVIDENCE - min(_MOST_ON_WORD, len(found.on_word))], *found.on_word[:_MOST_ON_WORD]]
    rows = []
    for each in chosen:
        question = questions[each.number]
        option = question.options[LETTERS.index(each.letter)] if each.letter in LETTERS else ""
        text = cut_to_tokens(whole_words(question.text, 200), _ROW_TOKENS - 20)
        said = cut_to_tokens(whole_words(option, 80), 16)
        rows.append(f"Question {each.number}: {text} Answered {each.letter}: {said}")
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repaired:
    """The model's justification in a form that may be sent."""

    text: str
    is_whole: bool
    """Whether the model's text is unchanged, apart from its length."""


class _Checker:
    """Checks and repairs one justification, based on the questions and answers."""

    def __init__(self, brief: Brief, asked: tuple[Question, ...], answers: tuple[Answer, ...]) -> None:
        self._brief = brief
        self._asked = asked
        self._answers = answers

    def repaired(
        self, text: str, limit: WordLimit, *, subject: str, evidence: Sequence[Evidence], wanted: int, other: str = ""
    ) -> _Repaired | None:
        """Return the text in a form that may be sent; ``None`` if it fails a check or no sentence of it remains."""
        plain = one_line(text, 1_500)
        if not plain or _FORBIDDEN.search(plain) or _tells(plain, self._brief.book_hint):
            return None
        sentences = [each for each in _SENTENCES.split(plain) if each]
        true = [each for each in sentences if not self._read(each, limit, subject).cited_wrong]
        wanted = min(wanted, len(evidence))
        added, kept = self._with_citations(true, limit, evidence, wanted)
        if not kept:
            return None
        plain = fit(_shortened(" ".join([*added, *kept]), limit), limit, FILLERS)
        read = self._read(plain, limit, subject, other=other)
        is_right = not read.cited_wrong and read.cited_right >= wanted and read.originality > 0.5
        if not is_right or not is_within(plain, limit):
            return None
        return _Repaired(text=plain, is_whole=not added and len(true) == len(sentences))

    def _with_citations(
        self, sentences: Sequence[str], limit: WordLimit, evidence: Sequence[Evidence], wanted: int
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Join the missing citations, worded by code, and the sentences, shortened at the end to make room."""
        kept = list(sentences)
        missing = wanted - self._right(kept, limit)
        added = [cited(each) for each in evidence if not self._cites(kept, each.number)][: max(0, missing)]
        if limit.most is not None:
            while kept and count_tokens(" ".join([*added, *kept])) > limit.most and added:
                kept.pop()
        return added, kept

    def _right(self, sentences: Sequence[str], limit: WordLimit) -> int:
        return self._read(" ".join(sentences), limit, "").cited_right

    def _cites(self, sentences: Sequence[str], number: int) -> bool:
        return any(re.search(rf"(?<!\d){number}(?!\d)", sentence) for sentence in sentences)

    def _read(self, text: str, limit: WordLimit, subject: str, *, other: str = "") -> JustificationReading:
        return read_justification(
            text,
            limit=WordLimit(least=limit.least, most=None),
            subject=subject,
            given=self._brief.book_hint,
            other=other,
            citations_wanted=1,
            questions=self._asked,
            answers=self._answers,
        )


_SENTENCES = re.compile(r"(?<=[.!?;])\s+")


def _shortened(text: str, limit: WordLimit) -> str:
    """Return as many whole sentences as fit; the text itself if that leaves too little."""
    if limit.most is None or count_tokens(text) <= limit.most:
        return text
    sentences = [each for each in _SENTENCES.split(text) if each]
    while len(sentences) > 1 and count_tokens(" ".join(sentences)) > limit.most:
        sentences.pop()
    shorter = " ".join(sentences)
    return shorter if count_tokens(shorter) <= limit.most else text


def _tells(text: str, hint: str) -> bool:
    """Whether the text repeats a long part of the hint, which the other side wrote."""
    words = re.findall(r"\w+", hint.casefold())[:200]
    spoken = " ".join(re.findall(r"\w+", text.casefold()))
    return any(f" {' '.join(words[i : i + 6])} " in f" {spoken} " for i in range(len(words) - 5))
