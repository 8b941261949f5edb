"""The words of the candidates' texts: those of a stored book from its vocabulary, those of other rows from the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from league_agents.agents.questions.reading import CandidateReading
from league_agents.agents.word_forms import forms_of, occurs_in
from league_agents.games.q21.information import Floats
from league_agents.knowledge.vocabulary import WORD, BookVocabulary, fold


class RowWords:
    """Which candidates' texts contain a word. The text is the paragraph, or the sentence if only that is known."""

    def __init__(self, readings: Sequence[CandidateReading], stored: BookVocabulary | None) -> None:
        """``stored`` has the words of the first readings, in the same order."""
        first = stored.passages if stored is not None else 0
        self._texts = [reading.paragraph or reading.sentence for reading in readings]
        others = BookVocabulary.of([text.vocabulary if text else frozenset() for text in self._texts[first:]])
        self._parts = [(0, stored), (first, others)] if stored is not None else [(0, others)]
        self.size = len(readings)
        self.has_paragraphs = any(reading.paragraph for reading in readings)

    def holding(self, words: Sequence[str], *, plurals: bool = True) -> Floats:
        """Return rows × words: 1 if the text has the word, else 0. ``plurals``: or a form that ``occurs_in`` finds."""
        found = np.zeros((self.size, len(words)), dtype=np.float64)
        for column, word in enumerate(words):
            if not plurals or (word.isascii() and " " not in word):
                for form in forms_of(word) if plurals else (word,):
                    found[self._rows(form), column] = 1.0
            else:
                for row in self._rows_of_phrase(word):
                    text = self._texts[row]
                    found[row, column] = text is not None and occurs_in(word, text)
        return found

    def has(self, word: str) -> bool:
        """Whether a text has the word or its plural; of a phrase, whether one has a word like its longest."""
        if word.isascii() and " " not in word:
            return any(self._rows(form).size for form in forms_of(word))
        return bool(self._rows_of_phrase(word))

    def _rows(self, word: str) -> npt.NDArray[np.int64]:
        return np.concatenate([first + part.places(word).astype(np.int64) for first, part in self._parts])

    def _rows_of_phrase(self, phrase: str) -> list[int]:
        """Return the rows in which a phrase may occur: they have words that end like its longest word."""
        ending = max(map(fold, WORD.findall(phrase)), key=len, default=fold(phrase))
        words = {word for _, part in self._parts for word in part.words if word.endswith(ending)}
        return sorted({row for word in words for row in self._rows(word).tolist()})

    def weights(self, prior: Floats, is_wanted: Callable[[str], bool]) -> dict[str, float]:
        """Return for each wanted word the probability that it is drawn: a row by ``prior``, then one of its words."""
        rows, words, numbers = self._all(is_wanted)
        counts = np.bincount(rows, minlength=self.size)
        drawn = np.bincount(numbers, weights=prior[rows] / np.maximum(counts[rows], 1), minlength=len(words))
        return dict(zip(words, drawn.tolist(), strict=True))

    def _all(
        self, is_wanted: Callable[[str], bool]
    ) -> tuple[npt.NDArray[np.int64], tuple[str, ...], npt.NDArray[np.int64]]:
        """Return the wanted words, and each pair of a row and the number of a word in its text."""
        names = sorted({word for _, part in self._parts for word in part.words if is_wanted(word)})
        rows, numbers = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for first, part in self._parts:
            for number, word in enumerate(names):
                places = part.places(word)
                rows.append(first + places.astype(np.int64))
                numbers.append(np.full(places.size, number, dtype=np.int64))
        return np.concatenate(rows), tuple(names), np.concatenate(numbers)
