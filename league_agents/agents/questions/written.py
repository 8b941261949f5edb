"""A question that a model wrote, with the answers that it predicted.

Rule 1: a prediction belongs to an exact sentence; there is none for any other sentence.
Rule 2: the wording is the model's, so the question cannot be recognised from the wording alone: a caller that needs its
answers keeps them, or asks the model again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from league_agents.agents.questions.kinds import Inquiry, Options, Topic
from league_agents.agents.questions.reading import CandidateReading, Text
from league_agents.games.q21.information import UNKNOWN

_NOISE = 0.1
"""Rate at which the prediction and a careful answerer differ."""

_ABOUT_WORDS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenInquiry(Inquiry):
    """A question written by a model. Equal if the wording is equal."""

    wording: str
    """One line that ends with a question mark."""

    four: Options | None
    """The four options; ``None`` under a fixed answer key: yes, no or partially."""

    predicted: Mapping[str, int] = field(compare=False, repr=False)
    """Index of the answer by ``sentence_key`` of the sentence."""

    @property
    def text(self) -> str:
        return self.wording

    @property
    def options(self) -> Options | None:
        return self.four

    @property
    def choices(self) -> int:
        return 3 if self.four is None else 4

    @property
    def is_written(self) -> bool:
        return True

    @property
    def topic(self) -> Topic:
        return Topic.PARAGRAPH

    @property
    def noise(self) -> float:
        return _NOISE

    def answer(self, reading: CandidateReading) -> int | None:
        if reading.sentence is None:
            return None
        found = self.predicted.get(reading.sentence.text, UNKNOWN)
        return None if found == UNKNOWN else found

    @property
    def about(self) -> str:
        words = self.wording.rstrip("?？ ").split()
        return f"“{' '.join(words[:_ABOUT_WORDS])}{'…' if len(words) > _ABOUT_WORDS else ''}”"

    @classmethod
    def recognise(cls, text: str, options: Options) -> Inquiry | None:  # noqa: ARG003
        return None


def sentence_key(sentence: str) -> str:
    """Return the key of a sentence: its text as a reading has it."""
    return Text(sentence).text
