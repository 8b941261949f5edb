"""The first model call: a pool of questions with predicted answers, recalled sentences, words of the domain.

Rule 1: each line of the completion is read independently: a wrong line is left out, and the others are used.
Rule 2: a prediction names its candidates by number. A number under two letters predicts nothing, and one that was not
shown is left out, so that one slip does not shift the others.
Rule 3: the prompt depends only on the brief, the candidates and the rules, so that the same game gives the same prompt
and a recorded completion can be used again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.candidates import Candidates
from league_agents.agents.fence import one_line
from league_agents.agents.questions.kinds import Options
from league_agents.agents.questions.pool import sentence_pool
from league_agents.agents.questions.written import WrittenInquiry, sentence_key
from league_agents.games.q21.information import Floats
from league_agents.games.q21.model import LETTERS, Brief
from league_agents.games.q21.rules import AnswerKey, RuleSet, TargetKind
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.tokens import cut_to_tokens, tokens_in

STEP = "player_questions"

MOST_OUTPUT_TOKENS = 2_700
"""The budget of 3,000 for a game, minus the tokens for wording the justifications."""

_SENTENCE_TOKENS = 64
_CANDIDATE_TOKENS = 92
"""Most tokens of a candidate: its sentence and the beginning of the following text."""

MOST_RECALLED = 3
MOST_WORDS = 20
_LONGEST_SENTENCE = 900
"""Most characters of a remembered sentence; the catalogue's longest opening has 831."""

LONGEST_LINE = 1_200
"""Most characters of a line about a remembered work: four short parts and the sentence."""

_LONGEST_QUESTION = 240
_LONGEST_WORD = 40
_LONGEST_OPTION = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSize:
    """Amount of work requested from the model."""

    questions: int
    shown: int
    """Number of candidates whose answers the model predicts."""


POOL_SIZES = {AnswerKey.OWN: PoolSize(questions=32, shown=24), AnswerKey.FIXED: PoolSize(questions=40, shown=32)}
"""Sizes that fit into the output tokens of a game: a question with its options takes up to 45, and each number one."""

_SHORTLIST = 300
"""Number of the likeliest candidates among which doubt is measured."""

_NEARNESS = 0.8
"""Factor on the nearness of two candidates for each of code's questions that they answer differently."""

_FEW = 3
_QUESTIONS_FOR_FEW = 12
"""Questions requested for at most ``_FEW`` candidates, where the model's words matter more than its questions."""

LEAST_TIME = timedelta(seconds=5)
"""Least time in which a model can write a pool."""


class QuestionPool(BaseModel):
    """What the model writes."""

    model_config = ConfigDict(extra="ignore")

    recalled: list[Annotated[str, Field(max_length=LONGEST_LINE)]] = Field(default_factory=list, max_length=12)
    words: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=60)
    questions: list[Annotated[str, Field(max_length=1_200)]] = Field(default_factory=list, max_length=120)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPool:
    """The usable parts of a ``QuestionPool``."""

    questions: tuple[WrittenInquiry, ...]
    recalled: tuple[str, ...]
    words: tuple[str, ...]
    wanted: int = 0
    """Number of questions requested."""

    def find(self, text: str, options: Options) -> WrittenInquiry | None:
        """Return the question with this wording; ``None`` if there is none."""
        wording, given = " ".join(text.split()), tuple(" ".join(option.split()) for option in options)
        return next((q for q in self.questions if q.text == wording and q.options in (None, given)), None)


def ask_for_pool(
    turn: CallbackRun, brief: Brief, candidates: Candidates, rules: RuleSet, size: PoolSize
) -> WrittenPool | None:
    """Return the model's pool; ``None`` if there is no usable reply."""
    places = shown_places(candidates, size.shown, rules.answer_key)
    questions = size.questions if len(places) > _FEW else min(size.questions, _QUESTIONS_FOR_FEW)
    reply = turn.ask(
        STEP,
        QuestionPool,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        asked=rules.questions_required,
        target=TARGETS[rules.target_kind],
        own=rules.answer_key is AnswerKey.OWN,
        fixed=rules.fixed_options,
        pool_size=questions,
        most_recalled=MOST_RECALLED,
        most_words=MOST_WORDS,
        book_name=brief.book_name,
        book_hint=brief.book_hint,
        domain=brief.association_domain,
        shown=[f"{number}. {_shown(candidates, place)}" for number, place in enumerate(places, start=1)],
    )
    if reply is None:
        return None
    found = read_pool(reply, [candidates.sentences[place] for place in places], brief, rules)
    found = replace(found, wanted=questions)
    return found if found.questions or found.recalled or found.words else None


def settle_batch(turn: CallbackRun, pool: WrittenPool, chosen: int, rules: RuleSet, *, is_earlier: bool) -> None:
    """Record how many questions of a batch are the model's."""
    enough = len(pool.questions) >= min(rules.questions_required, pool.wanted)
    if chosen and enough:
        work, why = ModelWorkUse.USED, None
    elif chosen or pool.recalled or pool.words:
        work, why = ModelWorkUse.PARTLY_USED, Why.TOO_FEW
    else:
        work, why = ModelWorkUse.REPLACED, Why.UNUSED
    turn.settle(STEP, work, why, used=chosen, of=rules.questions_required, is_earlier=is_earlier)


def settle_found(turn: CallbackRun, pool: WrittenPool, found: int, lost: int) -> None:
    """Record how many of the questions lost in a restart were recognised again with the pool."""
    if found == lost:
        turn.settle(STEP, ModelWorkUse.USED, used=found, of=lost)
    elif found or pool.recalled or pool.words:
        turn.settle(STEP, ModelWorkUse.PARTLY_USED, Why.TOO_FEW, used=found, of=lost)
    else:
        turn.settle(STEP, ModelWorkUse.REPLACED, Why.UNUSED, used=0, of=lost)


def settle_late(turn: CallbackRun, pool: WrittenPool, rules: RuleSet, *, is_earlier: bool) -> None:
    """Record that a pool came too late for the choice of questions; its sentences and words are still used later."""
    work = ModelWorkUse.PARTLY_USED if pool.recalled or pool.words else ModelWorkUse.REPLACED
    turn.settle(STEP, work, Why.NO_TIME, used=0, of=rules.questions_required, is_earlier=is_earlier)


TARGETS = {
    TargetKind.BOOK_OPENING: "the opening sentence of a book or another work",
    TargetKind.PASSAGE_OPENING: "the opening sentence of one paragraph of a book",
}


def shown_places(candidates: Candidates, most: int, key: AnswerKey) -> list[int]:
    """Return the indices of the candidates that the model's questions are about, each sentence once, ascending.

    One half are the likeliest, the other half those that code's own questions leave most in doubt: likely, and answered
    alike by other likely ones. Among equally likely ones, doubt decides for both halves.
    """
    likely = np.argsort(-candidates.prior, kind="stable").tolist() if candidates.sentences else []
    firsts: dict[int, int] = {}
    for place in likely:
        firsts.setdefault(int(candidates.groups[place]), place)
    short = list(firsts.values())[:_SHORTLIST]
    if len(short) <= most:
        return sorted(short)
    prior = candidates.prior[short] / max(float(candidates.prior[short].sum()), 1e-300)
    doubt = _doubt(sentence_pool([candidates.readings[place] for place in short], prior, key).table, prior)
    by_prior = np.lexsort((-doubt, -np.round(prior, 12))).tolist()
    chosen = by_prior[: most - most // 2]
    rest = sorted(set(range(len(short))) - set(chosen), key=lambda place: (-prior[place] * doubt[place], place))
    return sorted(short[place] for place in (*chosen, *rest[: most // 2]))


def _doubt(table: npt.NDArray[np.int8], prior: Floats) -> Floats:
    """Return the weight of the other candidates that give nearly the same answers, by candidate."""
    apart = np.zeros((len(prior), len(prior)), dtype=np.int32)
    for answers in table.T:
        apart += (answers[:, None] != answers[None, :]) & (answers >= 0)[:, None] & (answers >= 0)[None, :]
    near = _NEARNESS**apart
    np.fill_diagonal(near, 0.0)
    return np.asarray(near @ prior, dtype=np.float64)


def _shown(candidates: Candidates, place: int) -> str:
    sentence = one_line(candidates.sentences[place], 600)
    shown = cut_to_tokens(sentence, _SENTENCE_TOKENS)
    if shown != sentence:
        return f"{shown}…"
    paragraph = candidates.readings[place].paragraph
    rest = one_line(paragraph.text[:1200], 600).removeprefix(sentence).strip() if paragraph else ""
    room = _CANDIDATE_TOKENS - tokens_in(shown)
    begun = cut_to_tokens(rest, room) if room > 8 else ""
    return f"{shown} // {begun}" if begun else shown


def remembered_sentences(lines: Sequence[str], brief: Brief, rules: RuleSet) -> tuple[str, ...]:
    """Return the usable sentences of lines like ``AUTHOR | PLACE | TIME | THEME | SENTENCE``, each once."""
    hint = _plain(brief.book_hint)
    found = [_quoted_part(line) for line in lines]
    return tuple(dict.fromkeys(sentence for sentence in found if _is_sentence(sentence, hint, rules)))


def _quoted_part(line: str) -> str:
    """Return the sentence of a line, which follows what the model remembers of the work."""
    return one_line(one_line(line, LONGEST_LINE).rpartition("|")[2], _LONGEST_SENTENCE)


def read_pool(reply: QuestionPool, shown: Sequence[str], brief: Brief, rules: RuleSet) -> WrittenPool:
    """Return the usable parts of a completion; ``shown`` are the candidates in the order of the prompt."""
    hint = _plain(brief.book_hint)
    # Every recalled sentence has a number, usable or not.
    told = [_quoted_part(line) for line in reply.recalled]
    keys = [sentence_key(sentence) for sentence in (*shown, *told)]
    questions: dict[str, WrittenInquiry] = {}
    for line in reply.questions:
        question = _question(line, keys, rules)
        if question is not None:
            questions.setdefault(question.text.casefold(), question)
    recalled = [sentence for sentence in told[:MOST_RECALLED] if _is_sentence(sentence, hint, rules)]
    domain = _plain(brief.association_domain)
    words = [one_line(word, 100).strip(" .,;:!?\"'“”").casefold() for word in reply.words[:MOST_WORDS]]
    return WrittenPool(
        questions=tuple(questions.values()),
        recalled=tuple(dict.fromkeys(recalled)),
        words=tuple(dict.fromkeys(word for word in words if _is_word(word) and word != domain)),
    )


_WORD = re.compile(r"[^\W\d_]+(?:['’־-][^\W\d_]+){0,3}(?: [^\W\d_]+)?")
_NUMBERED = re.compile(r"[^\W\d_]+|\d+")
_MOST_DIGITS = 4
_COMMANDS = r"https?:|www\.|[<>{}\\`@]|\bignore\b|\binstruct|\bprompt\b|\bsystem\b"
_NOT_QUOTED = re.compile(_COMMANDS, re.IGNORECASE)
_NOT_ASKED = re.compile(
    rf"{_COMMANDS}|\bcandidates?\b|\b(?:sentence|number|no\.) ?\d|\b(?:league )?points\b|\bscores?\b", re.IGNORECASE
)


def _question(line: str, keys: Sequence[str], rules: RuleSet) -> WrittenInquiry | None:
    own = rules.answer_key is AnswerKey.OWN
    parts = [part.strip() for part in one_line(line, 1_000).replace("｜", "|").strip("| ").split("|")]
    if len(parts) != (6 if own else 2) or _NOT_ASKED.search(line):
        return None
    told = _predicted(parts[-1], keys)
    if not told:
        return None
    text = re.sub(r"^\W*\d{1,3}[.):]\s+", "", parts[0])
    text = text if text.endswith(("?", "？")) else f"{text.rstrip(' .:')}?"
    four: Options | None = None
    if own:
        options = [re.sub(r"^[A-Da-d][.):]\s+", "", part) for part in parts[1:5]]
        if len({option.casefold() for option in options}) < 4 or not all(
            0 < len(o) <= _LONGEST_OPTION for o in options
        ):
            return None
        four = (options[0], options[1], options[2], options[3])
    if not max(rules.least_question_characters, 10) <= len(text) <= _LONGEST_QUESTION:
        return None
    # Under the fixed key D is "unknown", which predicts nothing.
    predicted = {key: place for key, place in told.items() if own or LETTERS[place] != LETTERS[3]}
    return WrittenInquiry(wording=text, four=four, predicted=predicted)


def _predicted(numbers: str, keys: Sequence[str]) -> dict[str, int]:
    """Return the index of the answer by sentence, from ``A 1 4; B 2 3``; nothing if it is not of that form."""
    found: dict[str, set[int]] = {}
    letter: int | None = None
    for part in _NUMBERED.findall(numbers):
        if part.upper() in LETTERS:
            letter = LETTERS.index(part.upper())
        elif letter is None or not part.isdecimal():
            return {}
        elif len(part) <= _MOST_DIGITS and 0 < int(part) <= len(keys):
            found.setdefault(keys[int(part) - 1], set()).add(letter)
    return {key: places.pop() for key, places in found.items() if len(places) == 1}


def _is_word(text: str) -> bool:
    return len(text) <= _LONGEST_WORD and _WORD.fullmatch(text) is not None


def _is_sentence(text: str, hint: str, rules: RuleSet) -> bool:
    return (
        len(text) >= max(rules.least_sentence_characters, 10) and _plain(text) != hint and not _NOT_QUOTED.search(text)
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", one_line(text, 1_000).casefold()))
