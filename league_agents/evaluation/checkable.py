"""Questions about a passage whose answers anybody can check, with their true answers.

Rule 1: a truth is taken straight from the text by the simplest means (a pattern for words, ``in``, ``count``), never
by the code that answers; where careful readers could count differently there is no question.
Rule 2: wordings are those of people and models, several for each kind, with the keys that they use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from league_agents.games.q21.model import LETTERS
from league_agents.kit.draw import Draw

Options = tuple[str, str, str, str]

YES_NO_KEYS: tuple[Options, ...] = (
    ("Yes", "No", "Partially", "Unknown / Not Relevant"),
    ("Yes", "No", "Maybe", "Unknown"),
    ("Yes", "No", "Partially", "Not stated"),
    ("True", "False", "Partly", "Cannot tell"),
    ("No", "Yes", "Somewhat", "Not applicable"),
)

_WORD = re.compile(r"[A-Za-z]+")
_UNCLEAR = re.compile(r"[-–—_\d&'’]")
"""Where these stand, readers count words differently."""

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckableSubject:
    """What is asked about."""

    sentence: str
    paragraph: str
    word: str
    domain: str
    author: str
    year: int | None

    others: tuple[str, ...]
    """Sentences that stand elsewhere in the book: where wrong words come from."""

    domains: Mapping[str, Sequence[str]]
    """Domain to words."""

    @property
    def words(self) -> list[str]:
        return _WORD.findall(self.sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkable:
    """One question with its answer."""

    kind: str
    text: str
    options: Options
    letter: str
    """The true option."""


Maker = Callable[[CheckableSubject, Draw], "tuple[str, bool] | tuple[str, Options, int] | None"]
"""A claim and whether it is true; or a question, its options and the place of the true one; ``None``: not here."""


def checkable_questions(
    subject: CheckableSubject, draw: Draw, keys: Sequence[Options] = YES_NO_KEYS
) -> Iterator[Checkable]:
    """One question of each kind that suits the subject, in a drawn order. ``keys`` are the yes-and-no keys in use."""
    for kind in draw.shuffled(sorted(_MAKERS)):
        made = _MAKERS[kind](subject, draw)
        if made is None:
            continue
        if len(made) == 3:
            yield Checkable(kind=kind, text=made[0], options=made[1], letter=LETTERS[made[2]])
            continue
        options = draw.choice(keys)
        place = next(i for i, each in enumerate(options) if each in (("Yes", "True") if made[1] else ("No", "False")))
        yield Checkable(kind=kind, text=made[0], options=options, letter=LETTERS[place])


# Words of the sentence and of the paragraph.


def _some_word(subject: CheckableSubject, draw: Draw, text: str) -> tuple[str, bool] | None:
    """A word and whether it stands in the text, both chances even."""
    inside = sorted({word.lower() for word in _WORD.findall(text) if len(word) >= 3 and not _near_joint(word, text)})
    if draw.chance(0.5) and inside:
        return draw.choice(inside), True
    stems = {word[:4] for word in inside}
    outside = sorted(
        {
            word.lower()
            for other in subject.others
            for word in _WORD.findall(other)
            if len(word) >= 4 and word.lower() not in text.lower() and word.lower()[:4] not in stems
        }
    )
    return (draw.choice(outside), False) if outside else None


def _near_joint(word: str, text: str) -> bool:
    return any(f"{joint}{word}" in text or f"{word}{joint}" in text for joint in "-–—_'’")


def _has_word(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _some_word(subject, draw, subject.sentence)
    if found is None:
        return None
    frames = (
        "Does the opening sentence contain the word '{0}'?",
        'Is the word "{0}" used in the opening sentence?',
        "Does the word “{0}” appear in the first sentence?",
        "Does the opening sentence include the word {0}?",
        "Is '{0}' one of the words of the opening sentence?",
        "Can the word '{0}' be found in the sentence?",
    )
    return draw.choice(frames).format(found[0]), found[1]


def _lacks_word(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _some_word(subject, draw, subject.sentence)
    if found is None:
        return None
    frames = (
        "Is the word '{0}' absent from the opening sentence?",
        "Is the word '{0}' missing from the opening sentence?",
        "Does the opening sentence lack the word '{0}'?",
    )
    return draw.choice(frames).format(found[0]), not found[1]


def _page_has_word(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _some_word(subject, draw, subject.paragraph)
    if found is None:
        return None
    frames = (
        "Does the paragraph contain the word '{0}'?",
        'Is the word "{0}" used anywhere in the passage?',
        "Does the word '{0}' occur in the paragraph that it opens?",
    )
    return draw.choice(frames).format(found[0]), found[1]


def _phrase(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    pairs = re.findall(r"(?<![\w'’-])(?=([A-Za-z]{2,} [A-Za-z]{2,})(?![\w'’-]))", subject.sentence)
    if not pairs:
        return None
    first, second = draw.choice(pairs).split()
    is_true = draw.chance(0.5)
    phrase = f"{first} {second}" if is_true else f"{second} {first}"
    if not is_true and phrase.lower() in re.sub(r"[^A-Za-z]+", " ", subject.sentence).lower():
        return None
    frames = (
        "Does the opening sentence contain the phrase '{0}'?",
        'Do the words "{0}" stand next to each other, in this order, in the opening sentence?',
        "Is the phrase “{0}” part of the sentence?",
    )
    return draw.choice(frames).format(phrase.lower()), is_true


def _which_word(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    inside = sorted({word.lower() for word in subject.words if len(word) >= 4})
    outside = sorted(
        {word.lower() for other in subject.others for word in _WORD.findall(other) if len(word) >= 4}
        - {word.lower() for word in _WORD.findall(subject.sentence)}
    )
    outside = [word for word in outside if word not in subject.sentence.lower()]
    if not inside or len(outside) < 3:
        return None
    options = draw.sample(outside, 3)
    place = draw.below(4)
    if place < 3:
        options[place] = draw.choice(inside)
        if _near_joint(options[place], subject.sentence.lower()):
            return None
    frames = (
        "Which of these words appears in the opening sentence?",
        "Which word occurs in the opening sentence?",
        "Which of the following words is used in the opening sentence?",
        "Which of these words does the opening sentence contain?",
    )
    last = draw.choice(("None of these", "None of them", "Neither"))
    return draw.choice(frames), (options[0], options[1], options[2], last), place


# Places of words, letters.


def _edge(subject: CheckableSubject, draw: Draw) -> tuple[str, str, bool] | None:
    """A phrase for the first or last letter of the first or last word; the letter; whether it is the last letter."""
    words = subject.sentence.split()
    at_start = draw.chance(0.5)
    token = words[0 if at_start else -1].strip("\"'“”‘’().,;:!?_*[]—–-")
    if not token.isascii() or not token.isalpha():
        return None
    return ("first" if at_start else "last"), token.upper(), at_start


def _first_letter(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    which, word, _ = found
    asked = word[0] if draw.chance(0.5) else draw.choice("TAISWHBCMO")
    frames = (
        "Does the {0} word of the opening sentence start with the letter {1}?",
        "Does the {0} word of the opening sentence begin with '{1}'?",
        "Is {1} the first letter of the {0} word of the sentence?",
        "Is the first letter of the {0} word of the opening sentence {1}?",
    )
    return draw.choice(frames).format(which, asked), word[0] == asked


def _letter_range(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    low = draw.below(20)
    high = low + 1 + draw.below(25 - low)
    first, last = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[low], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[high]
    frames = (
        "Does the {0} word of the opening sentence begin with a letter from {1} to {2}?",
        "Does the {0} word of the opening sentence start with a letter between {1} and {2}?",
        "Is the first letter of the {0} word of the opening sentence in the range {1}-{2}?",
        "Does the {0} word of the sentence start with a letter in the range {1}–{2} of the alphabet?",
    )
    return draw.choice(frames).format(found[0], first, last), first <= found[1][0] <= last


def _vowel(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    which, word, _ = found
    is_vowel = word[0].lower() in _VOWELS
    if draw.chance(0.5):
        return f"Does the {which} word of the opening sentence start with a vowel?", is_vowel
    return f"Does the {which} word of the opening sentence begin with a consonant?", not is_vowel


def _ends_with(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    which, word, _ = found
    asked = word[-1] if draw.chance(0.5) else draw.choice("EDSTNRY")
    frames = (
        "Does the {0} word of the opening sentence end with the letter {1}?",
        "Does the {0} word of the opening sentence end in '{1}'?",
        "Is the last letter of the {0} word of the opening sentence {1}?",
    )
    return draw.choice(frames).format(which, asked), word[-1] == asked


def _first_word_is(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    token = subject.sentence.split()[0].strip("\"'“”‘’().,;:!?_*[]—–-")
    if not token.isascii() or not token.isalpha():
        return None
    asked = (
        token if draw.chance(0.5) else draw.choice(("The", "It", "He", "She", "In", "When", "But", "And", "I", "At"))
    )
    frames = (
        "Is the first word of the opening sentence '{0}'?",
        "Does the opening sentence start with the word '{0}'?",
        'Does the opening sentence begin with "{0}"?',
        "Is '{0}' the first word of the sentence?",
    )
    # "Begins with I" could mean the letter.
    frame = frames[0] if len(asked) == 1 else draw.choice(frames)
    return frame.format(asked), token.lower() == asked.lower()


def _initial_of(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    which, word, _ = found
    cuts = draw.choice(
        (("A-F", "G-L", "M-R", "S-Z"), ("A to E", "F to M", "N to S", "T to Z"), ("A–H", "I–P", "Q–T", "U–Z"))
    )
    place = next(i for i, each in enumerate(cuts) if each[0] <= word[0] <= each[-1])
    frames = (
        "With which letter does the {0} word of the opening sentence begin?",
        "What is the first letter of the {0} word of the opening sentence?",
        "Which range does the first letter of the {0} word of the sentence belong to?",
    )
    return draw.choice(frames).format(which), (cuts[0], cuts[1], cuts[2], cuts[3]), place


# Counts.


def _word_count(subject: CheckableSubject) -> int | None:
    return None if _UNCLEAR.search(subject.sentence) else len(subject.sentence.split())


def _longer(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    count = _word_count(subject)
    if count is None:
        return None
    asked = max(2, count + draw.below(11) - 5)
    frames: tuple[tuple[str, bool], ...] = (
        (f"Does the opening sentence have more than {asked} words?", count > asked),
        (f"Is the opening sentence longer than {asked} words?", count > asked),
        (f"Is the opening sentence shorter than {asked} words?", count < asked),
        (f"Does the opening sentence have fewer than {asked} words?", count < asked),
        (f"Does the opening sentence consist of at least {asked} words?", count >= asked),
        (f"Does the opening sentence contain {asked} or more words?", count >= asked),
        (f"Does the opening sentence have at most {asked} words?", count <= asked),
        (f"Does the opening sentence have exactly {asked} words?", count == asked),
        (
            f"Is the number of words in the opening sentence between {asked} and {asked + 5}?",
            asked <= count <= asked + 5,
        ),
        (f"Is the sentence {asked} words long or longer?", count >= asked),
    )
    return draw.choice(frames)


def _how_long(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    count = _word_count(subject)
    if count is None:
        return None
    first, second, third = draw.choice(((8, 15, 25), (10, 20, 30), (5, 12, 20)))
    options = draw.choice(
        (
            (f"1-{first}", f"{first + 1}-{second}", f"{second + 1}-{third}", f"more than {third}"),
            (f"{first} or fewer", f"{first + 1} to {second}", f"{second + 1} to {third}", f"{third + 1} or more"),
            (f"up to {first}", f"{first + 1}–{second}", f"{second + 1}–{third}", f"over {third}"),
            (f"Fewer than {first + 1}", f"Between {first + 1} and {second}", f"Between {second + 1} and {third}",
             f"At least {third + 1}"),
        )
    )  # fmt: skip
    frames = (
        "How many words does the opening sentence have?",
        "How long is the opening sentence, in words?",
        "How many words are there in the opening sentence?",
        "What is the number of words in the opening sentence?",
    )
    return draw.choice(frames), options, sum(count > cut for cut in (first, second, third))


def _commas(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | tuple[str, Options, int]:
    count = subject.sentence.count(",")
    asked = draw.below(4)
    match draw.below(4):
        case 0:
            return f"Does the opening sentence have more than {asked} commas?", count > asked
        case 1:
            return f"Are there at least {asked + 1} commas in the opening sentence?", count >= asked + 1
        case 2:
            return "How many commas are in the opening sentence?", ("None", "1", "2", "3 or more"), min(3, count)
        case _:
            return (
                "How many commas does the opening sentence contain?",
                ("0", "1", "2-3", "4 or more"),
                (0 if count == 0 else 1 if count == 1 else 2 if count <= 3 else 3),
            )


_MARKS = {
    "a comma": ",",
    "a semicolon": ";",
    "a colon": ":",
    "a question mark": "?",
    "an exclamation mark": "!",
}


def _mark(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    name = draw.choice(sorted(_MARKS))
    frames = (
        "Does the opening sentence contain {0}?",
        "Is there {0} in the opening sentence?",
        "Does the opening sentence have {0} in it?",
    )
    return draw.choice(frames).format(name), _MARKS[name] in subject.sentence


def _no_mark(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    name = draw.choice(sorted(_MARKS))
    bare = name.split(maxsplit=1)[1]
    frames = (
        f"Is the opening sentence without {name}?",
        f"Does the opening sentence contain no {bare}?",
        f"Is the opening sentence free of {bare}s?",
    )
    return draw.choice(frames), _MARKS[name] not in subject.sentence


def _ends_as(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    end = subject.sentence.rstrip("\"'”’)_ ")[-1:]
    if end not in ".?!":
        return None
    which = draw.choice(("a question mark", "an exclamation mark", "a full stop", "a period"))
    is_true = {"a question mark": "?", "an exclamation mark": "!"}.get(which, ".") == end
    return f"Does the opening sentence end with {which}?", is_true


def _pronoun(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    pronoun = draw.choice(("I", "he", "she", "they", "we", "you"))
    frames = (
        "Does the opening sentence contain the pronoun '{0}'?",
        'Is the pronoun "{0}" used in the opening sentence?',
    )
    held = re.search(rf"(?<![A-Za-z]){pronoun}(?![A-Za-z])", subject.sentence, re.IGNORECASE)
    return draw.choice(frames).format(pronoun), held is not None


# The book.


def _author(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    if not subject.author:
        return None
    asked = subject.author if draw.chance(0.5) else draw.choice(_AUTHORS)
    frames = (
        "Was the book written by {0}?",
        "Is {0} the author of the book?",
        "Is the author {0}?",
        "Did {0} write this book?",
    )
    return draw.choice(frames).format(asked), asked == subject.author


_AUTHORS = (
    "Jane Austen", "Herman Melville", "Mark Twain", "Mary Shelley", "Charles Dickens", "Lewis Carroll",
    "Emily Brontë", "Leo Tolstoy", "Franz Kafka",
)  # fmt: skip


def _who_wrote(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    if not subject.author:
        return None
    others = draw.sample([name for name in _AUTHORS if name != subject.author], 4)
    place = draw.below(4)
    others[place] = subject.author
    frames = (
        "Who wrote the book?",
        "Who is the author?",
        "Which author wrote this book?",
        "By whom was the book written?",
    )
    return draw.choice(frames), (others[0], others[1], others[2], others[3]), place


def _year(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    if subject.year is None:
        return None
    year = subject.year
    asked = draw.choice((1750, 1800, 1820, 1850, 1870, 1900, 1950))
    if asked == year:
        return None
    century = draw.choice((18, 19, 20))
    frames: tuple[tuple[str, bool], ...] = (
        (f"Was the book published before {asked}?", year < asked),
        (f"Was the book first published after {asked}?", year > asked),
        (f"Did the book appear before the year {asked}?", year < asked),
        (f"Was the book written in the {century}th century?", (year - 1) // 100 + 1 == century),
        (f"Is the book from the {century}th century?", (year - 1) // 100 + 1 == century),
        (f"Was it published between {asked} and {asked + 40}?", asked <= year <= asked + 40),
    )
    return draw.choice(frames)


def _when(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    if subject.year is None or subject.year in (1800, 1850, 1900):
        return None
    place = sum(subject.year > cut for cut in (1800, 1850, 1900))
    options = draw.choice(
        (
            ("before 1800", "1800-1850", "1851-1900", "after 1900"),
            ("Before 1801", "1801 to 1850", "1851 to 1900", "1901 or later"),
        )
    )
    return draw.choice(("When was the book published?", "When did the book first appear?")), options, place


# The associative word.


def _word_initial(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    asked = subject.word[0].upper() if draw.chance(0.5) else draw.choice("ABCDEFGHLMPRSTW")
    frames = (
        "Does the associative word begin with the letter {0}?",
        "Does the secret word start with '{0}'?",
        "Is {0} the first letter of the associative word?",
        "Does the hidden word begin with {0}?",
    )
    return draw.choice(frames).format(asked), subject.word[0].upper() == asked


def _word_length(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | tuple[str, Options, int]:
    count, asked = len(subject.word), 3 + draw.below(6)
    frames: tuple[tuple[str, bool], ...] = (
        (f"Does the associative word have more than {asked} letters?", count > asked),
        (f"Is the associative word longer than {asked} letters?", count > asked),
        (f"Does the associative word have exactly {asked} letters?", count == asked),
        (f"Does the secret word have fewer than {asked} letters?", count < asked),
        (f"Is the associative word at least {asked} letters long?", count >= asked),
    )
    if draw.chance(0.25):
        options = ("1-3", "4", "5", "6 or more")
        return "How many letters does the associative word have?", options, max(0, min(3, count - 3))
    return draw.choice(frames)


def _word_letter(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    asked = draw.choice(sorted(set(subject.word.upper()))) if draw.chance(0.5) else draw.choice("AEIORSTLN")
    frames = (
        "Does the associative word contain the letter {0}?",
        "Is the letter {0} in the associative word?",
        "Is there a letter {0} in the secret word?",
    )
    return draw.choice(frames).format(asked), asked in subject.word.upper()


def _word_is(subject: CheckableSubject, draw: Draw) -> tuple[str, bool] | None:
    pool = [word for word in subject.domains[subject.domain] if word.isalpha()]
    asked = subject.word if draw.chance(0.5) or len(pool) < 2 else draw.choice(pool)
    frames = ("Is the associative word '{0}'?", "Is the secret word {0}?", "Is “{0}” the associative word?")
    return draw.choice(frames).format(asked), asked.lower() == subject.word.lower()


def _word_ends(subject: CheckableSubject, draw: Draw) -> tuple[str, bool]:
    asked = subject.word[-1].upper() if draw.chance(0.5) else draw.choice("EDSTNRY")
    frames = ("Does the associative word end with the letter {0}?", "Does the secret word end in {0}?")
    return draw.choice(frames).format(asked), subject.word[-1].upper() == asked


def _word_among(subject: CheckableSubject, draw: Draw) -> tuple[str, Options, int] | None:
    pool = [word for word in subject.domains[subject.domain] if word.isalpha() and word != subject.word]
    if len(pool) < 3 or not subject.word.isalpha():
        return None
    options = draw.sample(pool, 3)
    place = draw.below(3)
    options[place] = subject.word
    return "Which of these is the associative word?", (options[0], options[1], options[2], "None of these"), place


_MAKERS: Mapping[str, Maker] = {
    "author": _author,
    "author among four": _who_wrote,
    "commas": _commas,
    "count of words": _longer,
    "count of words among four": _how_long,
    "end mark": _ends_as,
    "end of a word": _ends_with,
    "first letter": _first_letter,
    "first letter among four": _initial_of,
    "first word": _first_word_is,
    "letter range": _letter_range,
    "mark": _mark,
    "no mark": _no_mark,
    "no word": _lacks_word,
    "phrase": _phrase,
    "pronoun": _pronoun,
    "secret word": _word_is,
    "secret word among four": _word_among,
    "secret word's end": _word_ends,
    "secret word's initial": _word_initial,
    "secret word's length": _word_length,
    "secret word's letters": _word_letter,
    "vowel": _vowel,
    "word": _has_word,
    "word among four": _which_word,
    "word of the page": _page_has_word,
    "year": _year,
    "year among four": _when,
}
