"""Pools of possible questions, made from the candidates of one book, from which a batch is selected.

Rule 1: a pool has only questions whose answers differ among these candidates, in an order that depends on the
candidates alone.
Rule 2: no question quotes the target: questions are about single words, letters, marks, counts and places.
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from league_agents.agents.questions import four_options as four
from league_agents.agents.questions import yes_no as two
from league_agents.agents.questions.aspects import COUNTED
from league_agents.agents.questions.kinds import SENTENCE_SUBJECTS, Inquiry, Scope, Thing, WordSubject
from league_agents.agents.questions.reading import MARKS, CandidateReading, edge_letter, fold, letter_count, letters_of
from league_agents.games.q21.information import UNKNOWN, Codes, Floats, bits
from league_agents.games.q21.rules import AnswerKey

T = TypeVar("T")
_Range = tuple[str, str]

_WIDEST_ALPHABET = 60

_WORDS_OF = {Scope.SENTENCE: 16, Scope.PARAGRAPH: 28}
_PAIRS_OF = {Scope.SENTENCE: 26, Scope.PARAGRAPH: 30}
_MOST_USES = 4
"""Most pairs that share one word, so that an error about it does not affect many questions at once."""

_LEAST_BITS = 0.25
"""Least information of a question about the candidates, in bits."""

_LISTED_WORDS = 24
"""Most words in all lists of one question together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedPool:
    """Questions and the answers that each candidate predicts."""

    inquiries: tuple[Inquiry, ...]

    table: Codes
    """Candidates × inquiries."""

    @property
    def noise(self) -> Floats:
        return np.array([inquiry.noise for inquiry in self.inquiries], dtype=np.float64)

    @property
    def choices(self) -> npt.NDArray[np.int64]:
        return np.array([inquiry.choices for inquiry in self.inquiries], dtype=np.int64)

    def only(self, chosen: Sequence[int]) -> PredictedPool:
        """Return the ``chosen`` questions, in that order."""
        return PredictedPool(inquiries=tuple(self.inquiries[i] for i in chosen), table=self.table[:, list(chosen)])

    def joined(self, other: PredictedPool) -> PredictedPool:
        """Return these questions followed by the ``other`` ones, about the same candidates."""
        if not other.inquiries:
            return self
        table = np.concatenate([self.table, other.table], axis=1) if self.inquiries else other.table
        return PredictedPool(inquiries=self.inquiries + other.inquiries, table=table)


def sentence_pool(readings: Sequence[CandidateReading], prior: Floats, key: AnswerKey) -> PredictedPool:
    """Return questions about the opening sentence and its paragraph."""
    own = key is AnswerKey.OWN
    kinds: list[list[Inquiry]] = [
        _letter_questions(SENTENCE_SUBJECTS, readings, prior, at_end=False, own=own),
        _thing_questions(Scope.SENTENCE, readings, prior, own=own),
        _thing_questions(Scope.PARAGRAPH, readings, prior, own=own),
        _letter_questions(
            (WordSubject.FIRST, WordSubject.SECOND, WordSubject.LAST), readings, prior, at_end=True, own=own
        ),
        _length_questions(SENTENCE_SUBJECTS, readings, prior, own=own),
        _inner_letter_questions(
            (WordSubject.SECOND, WordSubject.LAST_BUT_ONE, WordSubject.LAST), readings, prior, own=own
        ),
        _count_questions(readings, prior, own=own),
        [four.WhereSpeech(), four.WhichQuarter()]
        if own
        else [two.Speech(Scope.SENTENCE), two.Speech(Scope.PARAGRAPH), two.InPart((0, 1)), two.InPart((1, 2))],
    ]
    if not own:
        kinds.insert(1, _joined_letter_questions(readings, prior))
    return useful(_interleaved(kinds), readings, prior)


def word_pool(words: Sequence[str], prior: Floats, key: AnswerKey) -> PredictedPool:
    """Return questions about the associative word, for the candidate ``words``."""
    own = key is AnswerKey.OWN
    readings = [CandidateReading(word=word) for word in words]
    subjects = (WordSubject.ASSOCIATIVE,)
    kinds: list[list[Inquiry]] = [
        _list_questions(words, prior, own=own),
        _letter_questions(subjects, readings, prior, at_end=False, own=own),
        _length_questions(subjects, readings, prior, own=own),
        _letter_questions(subjects, readings, prior, at_end=True, own=own),
        _inner_letter_questions(subjects, readings, prior, own=own),
    ]
    return useful(_interleaved(kinds), readings, prior)


def useful(inquiries: Iterable[Inquiry], readings: Sequence[CandidateReading], prior: Floats) -> PredictedPool:
    """Return the questions that distinguish these candidates, each once."""
    different = list(dict.fromkeys(inquiries))
    table = predict(different, readings)
    keep = [i for i, column in enumerate(table.T) if _bits(column, prior) >= _LEAST_BITS]
    return PredictedPool(inquiries=tuple(different[i] for i in keep), table=table[:, keep])


def predict(inquiries: Sequence[Inquiry], readings: Sequence[CandidateReading]) -> Codes:
    """Return the answers that each reading predicts: readings × inquiries."""
    table = np.full((len(inquiries), len(readings)), UNKNOWN, dtype=np.int8)
    for row, inquiry in zip(table, inquiries, strict=True):
        answers = map(inquiry.answer, readings)
        row[:] = [UNKNOWN if answer is None else answer for answer in answers]
    return table.T


def _bits(column: Codes, prior: Floats) -> float:
    known = column >= 0
    return bits(np.bincount(column[known], weights=prior[known], minlength=4)) if known.any() else 0.0


def _letter_questions(
    subjects: Sequence[WordSubject], readings: Sequence[CandidateReading], prior: Floats, *, at_end: bool, own: bool
) -> list[Inquiry]:
    found: list[Inquiry] = []
    for subject in subjects:
        weights = _weighed((edge_letter(subject.of(r) or "", at_end=at_end) for r in readings), prior)
        for shares in ((0.25, 0.5, 0.75), (0.15, 0.4, 0.7)):
            ranges = _ranges(weights, shares)
            if ranges is None:
                continue
            if own:
                found.append(four.LetterRange(subject, at_end, ranges))
            else:
                found.append(two.LetterBetween(subject, at_end, ranges[0][0], ranges[1][1]))
                found.append(two.LetterBetween(subject, at_end, ranges[1][0], ranges[2][1]))
    return found


def _joined_letter_questions(readings: Sequence[CandidateReading], prior: Floats) -> list[Inquiry]:
    halves: dict[WordSubject, tuple[_Range, _Range]] = {}
    for subject in SENTENCE_SUBJECTS:
        ranges = _ranges(
            _weighed((edge_letter(subject.of(r) or "", at_end=False) for r in readings), prior), (0.25, 0.5, 0.75)
        )
        if ranges:
            halves[subject] = (ranges[0][0], ranges[1][1]), (ranges[1][0], ranges[2][1])
    return [
        two.BothBetween(a, halves[a][which_a], b, halves[b][which_b])
        for (a, b) in combinations(halves, 2)
        for which_a, which_b in ((0, 0), (1, 1), (0, 1))
    ]


def _ranges(
    weights: dict[str, float], shares: tuple[float, float, float]
) -> tuple[_Range, _Range, _Range, _Range] | None:
    """Return four adjacent parts of the alphabet with summed weights near ``shares``; ``None`` without an alphabet."""
    letters = sorted(weights)
    if not _is_alphabet(letters):
        return None
    if set(letters) <= set(string.ascii_uppercase):
        letters = list(string.ascii_uppercase)
    summed = np.cumsum([weights.get(letter, 0.0) for letter in letters])
    ends = [int(np.argmin(np.abs(summed - share * summed[-1]))) for share in shares]
    for i in range(3):
        ends[i] = max(ends[i], ends[i - 1] + 1 if i else 0)
    for i in (2, 1, 0):
        ends[i] = min(ends[i], len(letters) - 4 + i)
    a, b, c = ends
    return (
        (letters[0], letters[a]),
        (letters[a + 1], letters[b]),
        (letters[b + 1], letters[c]),
        (letters[c + 1], letters[-1]),
    )


def _is_alphabet(letters: Collection[str]) -> bool:
    """Whether these letters have an alphabetical order; Chinese and Japanese characters have none."""
    return 4 <= len(letters) <= _WIDEST_ALPHABET and max(letters) < "\u3000"


def _length_questions(
    subjects: Sequence[WordSubject], readings: Sequence[CandidateReading], prior: Floats, *, own: bool
) -> list[Inquiry]:
    found: list[Inquiry] = []
    for subject in subjects:
        lengths = _weighed((letter_count(subject.of(r) or "") for r in readings), prior)
        cuts = _cuts(lengths)
        if cuts and own:
            found.append(four.LetterCount(subject, cuts))
        elif cuts:
            found.append(two.LongerThan(subject, cuts[1]))
    return found


def _count_questions(readings: Sequence[CandidateReading], prior: Floats, *, own: bool) -> list[Inquiry]:
    found: list[Inquiry] = []
    for counted, (_, _, _, count) in COUNTED.items():
        cuts = _cuts(_weighed((count(r.sentence) if r.sentence else None for r in readings), prior))
        if cuts and own:
            found.append(four.HowMany(counted, cuts))
        elif cuts:
            found.extend(two.MoreThan(counted, cut) for cut in cuts)
    return found


def _cuts(weights: dict[int, float]) -> tuple[int, int, int] | None:
    numbers = sorted(weights)
    if len(numbers) < 3:
        return None
    numbers = list(range(numbers[0], numbers[-1] + 1))
    summed = np.cumsum([weights.get(number, 0.0) for number in numbers])
    cuts = [numbers[int(np.argmin(np.abs(summed - share * summed[-1])))] for share in (0.25, 0.5, 0.75)]
    second = max(cuts[1], cuts[0] + 1)
    return cuts[0], second, max(cuts[2], second + 1)


def _inner_letter_questions(
    subjects: Sequence[WordSubject], readings: Sequence[CandidateReading], prior: Floats, *, own: bool
) -> list[Inquiry]:
    found: list[Inquiry] = []
    for subject in subjects:
        words = [letters_of(subject.of(r) or "") for r in readings]
        weights: dict[str, float] = defaultdict(float)
        for word, weight in zip(words, prior.tolist(), strict=True):
            for letter in set(word):
                weights[letter] += weight
        if not _is_alphabet(weights):
            continue
        balanced = sorted(weights, key=lambda letter: (abs(weights[letter] - 0.5), letter))[:6]
        presence = np.array([[letter in word for word in words] for letter in balanced])
        for i, j in _best_pairs(presence, prior, 3, own=own):
            kind = four.TwoLetters if own else two.BothLetters
            found.append(kind(subject, balanced[i], balanced[j]))
    return found


def _thing_questions(scope: Scope, readings: Sequence[CandidateReading], prior: Floats, *, own: bool) -> list[Inquiry]:
    texts = [scope.of(r) for r in readings]
    if any(text is None for text in texts):
        return []
    seen = [text for text in texts if text is not None]
    weights: dict[str, float] = defaultdict(float)
    for text, weight in zip(seen, prior.tolist(), strict=True):
        for word in text.vocabulary:
            weights[word] += weight
    # Readers do not regard two letters after an apostrophe ("ll", "ve") as a word.
    words = sorted(
        (w for w in weights if w.isalpha() and w not in _FRAGMENTS), key=lambda w: (abs(weights[w] - 0.5), w)
    )
    chosen = words[: _WORDS_OF[scope]]
    written = _usual_forms(chosen, [text.words for text in seen[:: max(1, len(seen) // 400)]])
    things = [Thing(words=(written[word],)) for word in chosen] + [Thing(mark=mark) for mark in MARKS]
    presence = np.array([[thing.is_in(text) for text in seen] for thing in things])
    shares = presence @ prior
    keep = [i for i, share in enumerate(shares) if 0.1 <= share <= 0.9]
    pairs = _best_pairs(presence[keep], prior, _PAIRS_OF[scope], own=own)
    kind = four.TwoThings if own else two.ContainsBoth
    found: list[Inquiry] = [kind(scope, things[keep[i]], things[keep[j]]) for i, j in pairs]
    if own:
        common = [written[word] for word in chosen]
        found += [four.WhichComesFirst(scope, (a, b, c)) for a, b, c in zip(*[iter(common[:18])] * 3, strict=False)]
    else:
        nearest = sorted(keep, key=lambda i: (abs(shares[i] - 0.5), i))[:10]
        found += [two.Contains(scope, things[i]) for i in nearest]
    return found


_FRAGMENTS = frozenset({"ll", "ve", "re", "don", "didn", "couldn", "wouldn", "isn", "wasn", "hadn", "ain", "doesn"})


def _usual_forms(words: Sequence[str], texts: Iterable[Sequence[str]]) -> dict[str, str]:
    """Map each folded word to its most frequent spelling, ignoring the first word of each text."""
    wanted = set(words)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for form in text[1:]:
            if (word := fold(form)) in wanted:
                forms[word][form] += 1
    return {word: max(sorted(forms[word]), key=lambda form: forms[word][form], default=word) for word in words}


def _best_pairs(presence: npt.NDArray[np.bool_], prior: Floats, count: int, *, own: bool) -> list[tuple[int, int]]:
    """Return the pairs of rows with the most informative joint answers, each row in at most ``_MOST_USES`` pairs."""
    if len(presence) < 2:
        return []
    here = presence.astype(np.float64)
    both = (here * prior) @ here.T
    alone = here @ prior
    ranked: list[tuple[float, int, int]] = []
    for i, j in combinations(range(len(presence)), 2):
        only_i, only_j = alone[i] - both[i, j], alone[j] - both[i, j]
        neither = max(0.0, prior.sum() - both[i, j] - only_i - only_j)
        shares = [both[i, j], only_i, only_j, neither] if own else [both[i, j], only_i + only_j, neither]
        ranked.append((-round(bits(np.maximum(shares, 0.0)), 9), i, j))
    uses: Counter[int] = Counter()
    pairs: list[tuple[int, int]] = []
    for _, i, j in sorted(ranked):
        if uses[i] < _MOST_USES and uses[j] < _MOST_USES and len(pairs) < count:
            uses.update((i, j))
            pairs.append((i, j))
    return pairs


def _list_questions(words: Sequence[str], prior: Floats, *, own: bool) -> list[Inquiry]:
    """Return list questions that encode the bits of a word's index among the likeliest words, in several orders."""
    likely = [words[i] for i in np.argsort(-prior, kind="stable")[:_LISTED_WORDS]]
    if len(likely) < 2 or any("," in word or "?" in word for word in likely):
        likely = [word for word in likely if "," not in word and "?" not in word]
    found: list[Inquiry] = []
    size = max(1, len(likely))
    for stride in (1, 5, 7, 11, 13):
        # A stride puts words that were adjacent into different lists.
        order = [likely[(i * stride) % size] for i in range(size)] if np.gcd(stride, size) == 1 else likely[::-1]
        for digit in (1, 4, 16):
            if own:
                lists = [tuple(sorted(w for i, w in enumerate(order) if i // digit % 4 == part)) for part in range(3)]
                if all(lists):
                    found.append(four.WhichList((lists[0], lists[1], lists[2])))
            else:
                for part in ((0, 1), (1, 2)):
                    listed = tuple(sorted(w for i, w in enumerate(order) if i // digit % 4 in part))
                    if listed:
                        found.append(two.OneOf(listed))
    return found


def _weighed(values: Iterable[T | None], prior: Floats) -> dict[T, float]:
    weights: dict[T, float] = defaultdict(float)
    for value, weight in zip(values, prior.tolist(), strict=True):
        if value is not None:
            weights[value] += weight
    return weights


def _interleaved(kinds: Iterable[Sequence[Inquiry]]) -> list[Inquiry]:
    """Return the questions in turn, one of each kind, as a person would vary them."""
    return [inquiry for inquiry in chain.from_iterable(zip_longest(*kinds)) if inquiry is not None]
