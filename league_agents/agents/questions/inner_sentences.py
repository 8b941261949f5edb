"""Readings of the sentences inside a paragraph, as if each began a paragraph of its own."""

from __future__ import annotations

from collections.abc import Iterator

from league_agents.agents.questions.reading import CandidateReading, Text
from league_agents.knowledge.sentences import split_sentences

_LEAST_CHARACTERS = 10
_PARAGRAPH_WORDS = 80
"""Words to which the paragraph of such a sentence is assumed to extend; the sentence in progress is completed."""


def sentences_inside(text: str, part: float | None) -> Iterator[tuple[str, CandidateReading]]:
    """Yield each sentence after the first, with its reading; the text that follows it is its paragraph."""
    sentences = [" ".join(sentence.split()) for sentence in split_sentences(text)]
    counts = [len(sentence.split()) for sentence in sentences]
    for i in range(1, len(sentences)):
        if len(sentences[i]) < _LEAST_CHARACTERS:
            continue
        words, end = counts[i], i + 1
        while end < len(sentences) and words < _PARAGRAPH_WORDS:
            words += counts[end]
            end += 1
        paragraph = Text(" ".join(sentences[i:end]))
        yield sentences[i], CandidateReading(sentence=Text(sentences[i]), paragraph=paragraph, part=part)
