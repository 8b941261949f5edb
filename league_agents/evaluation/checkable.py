"""Questions about a passage with objectively known answers.

Rule 1: a true answer is computed from the text by the simplest means (a pattern for words, ``in``, ``count``), never by
the code that answers; if careful readers could count differently, the question is left out.
Rule 2: the wordings are those of people and models, several for each kind, with their own answer keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from league_agents.evaluation import checkable_target as of_target
from league_agents.evaluation import checkable_text as of_text
from league_agents.evaluation.checkable_free import FREE_MAKERS
from league_agents.evaluation.checkable_subject import CheckableSubject, Choice, Options, YesNo
from league_agents.games.q21.model import LETTERS
from league_agents.kit.draw import Draw

YES_NO_KEYS: tuple[Options, ...] = (
    ("Yes", "No", "Partially", "Unknown / Not Relevant"),
    ("Yes", "No", "Maybe", "Unknown"),
    ("Yes", "No", "Partially", "Not stated"),
    ("True", "False", "Partly", "Cannot tell"),
    ("No", "Yes", "Somewhat", "Not applicable"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkable:
    """One question with its true answer."""

    kind: str
    text: str
    options: Options
    letter: str
    """The true option."""

    is_free: bool = False
    """Whether it is worded freely."""


Maker = Callable[[CheckableSubject, Draw], YesNo | Choice | None]
"""Returns ``None`` if the question does not fit the subject."""

_MAKERS: Mapping[str, Maker] = {
    "author": of_target.author,
    "author among four": of_target.who_wrote,
    "commas": of_text.commas,
    "count of words": of_text.longer,
    "count of words among four": of_text.how_long,
    "end mark": of_text.ends_as,
    "end of a word": of_text.ends_with,
    "first letter": of_text.first_letter,
    "first letter among four": of_text.initial_of,
    "first word": of_text.first_word_is,
    "letter range": of_text.letter_range,
    "mark": of_text.mark,
    "no mark": of_text.no_mark,
    "no word": of_text.lacks_word,
    "phrase": of_text.phrase,
    "pronoun": of_text.pronoun,
    "secret word": of_target.word_is,
    "secret word among four": of_target.word_among,
    "secret word's end": of_target.word_ends,
    "secret word's initial": of_target.word_initial,
    "secret word's length": of_target.word_length,
    "secret word's letters": of_target.word_letter,
    "vowel": of_text.vowel,
    "word": of_text.has_word,
    "word among four": of_text.which_word,
    "word of the page": of_text.page_has_word,
    "year": of_target.year,
    "year among four": of_target.when,
}


def checkable_questions(
    subject: CheckableSubject, draw: Draw, keys: Sequence[Options] = YES_NO_KEYS
) -> Iterator[Checkable]:
    """Return one question of each kind that fits the subject, in random order. ``keys``: the yes-and-no keys in use."""
    for kind in draw.shuffled(sorted(_MAKERS)):
        made = _MAKERS[kind](subject, draw)
        if made is None:
            continue
        if len(made) == 3:
            yield Checkable(kind=kind, text=made[0], options=made[1], letter=LETTERS[made[2]])
            continue
        options = draw.choice(keys)
        yield Checkable(kind=kind, text=made[0], options=options, letter=_letter(made[1], options))


def free_questions(subject: CheckableSubject, draw: Draw, keys: Sequence[Options] = YES_NO_KEYS) -> Iterator[Checkable]:
    """Return one freely worded question of each kind that fits the subject, in random order."""
    for make in draw.shuffled(FREE_MAKERS):
        made = make(subject, draw)
        if made is not None:
            options = draw.choice(keys)
            yield Checkable(kind="free", text=made[0], options=options, letter=_letter(made[1], options), is_free=True)


def _letter(truth: bool, options: Options) -> str:
    return LETTERS[next(i for i, each in enumerate(options) if each in (("Yes", "True") if truth else ("No", "False")))]
