"""Checkable questions about the sentence and its paragraph: words, letters, counts and marks.

Rule: the wordings are those of people and models, several for each kind.
"""

from __future__ import annotations

import re

from league_agents.evaluation.checkable_subject import WORD, CheckableSubject, Choice, YesNo
from league_agents.kit.draw import Draw

_UNCLEAR = re.compile(r"[-–—_\d&'’]")
"""Readers count words differently in a text with these characters."""

_VOWELS = "aeiou"


# Words of the sentence and of the paragraph.


def _some_word(subject: CheckableSubject, draw: Draw, text: str) -> YesNo | None:
    """Return a word and whether it occurs in the text, each with probability one half."""
    inside = sorted({word.lower() for word in WORD.findall(text) if len(word) >= 3 and not _near_joint(word, text)})
    if draw.chance(0.5) and inside:
        return draw.choice(inside), True
    stems = {word[:4] for word in inside}
    outside = sorted(
        {
            word.lower()
            for other in subject.others
            for word in WORD.findall(other)
            if len(word) >= 4 and word.lower() not in text.lower() and word.lower()[:4] not in stems
        }
    )
    return (draw.choice(outside), False) if outside else None


def _near_joint(word: str, text: str) -> bool:
    return any(f"{joint}{word}" in text or f"{word}{joint}" in text for joint in "-–—_'’")


def has_word(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def lacks_word(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    found = _some_word(subject, draw, subject.sentence)
    if found is None:
        return None
    frames = (
        "Is the word '{0}' absent from the opening sentence?",
        "Is the word '{0}' missing from the opening sentence?",
        "Does the opening sentence lack the word '{0}'?",
    )
    return draw.choice(frames).format(found[0]), not found[1]


def page_has_word(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    found = _some_word(subject, draw, subject.paragraph)
    if found is None:
        return None
    frames = (
        "Does the paragraph contain the word '{0}'?",
        'Is the word "{0}" used anywhere in the passage?',
        "Does the word '{0}' occur in the paragraph that it opens?",
    )
    return draw.choice(frames).format(found[0]), found[1]


def phrase(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def which_word(subject: CheckableSubject, draw: Draw) -> Choice | None:
    inside = sorted({word.lower() for word in subject.words if len(word) >= 4})
    outside = sorted(
        {word.lower() for other in subject.others for word in WORD.findall(other) if len(word) >= 4}
        - {word.lower() for word in WORD.findall(subject.sentence)}
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


# Positions of words, letters.


def _edge(subject: CheckableSubject, draw: Draw) -> tuple[str, str, bool] | None:
    """Return a phrase for the first or last letter of the first or last word, the letter, and if it is the last."""
    words = subject.sentence.split()
    at_start = draw.chance(0.5)
    token = words[0 if at_start else -1].strip("\"'“”‘’().,;:!?_*[]—–-")
    if not token.isascii() or not token.isalpha():
        return None
    return ("first" if at_start else "last"), token.upper(), at_start


def first_letter(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def letter_range(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def vowel(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    found = _edge(subject, draw)
    if found is None:
        return None
    which, word, _ = found
    is_vowel = word[0].lower() in _VOWELS
    if draw.chance(0.5):
        return f"Does the {which} word of the opening sentence start with a vowel?", is_vowel
    return f"Does the {which} word of the opening sentence begin with a consonant?", not is_vowel


def ends_with(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def first_word_is(subject: CheckableSubject, draw: Draw) -> YesNo | None:
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


def initial_of(subject: CheckableSubject, draw: Draw) -> Choice | None:
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


def longer(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    count = _word_count(subject)
    if count is None:
        return None
    asked = max(2, count + draw.below(11) - 5)
    frames: tuple[YesNo, ...] = (
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


def how_long(subject: CheckableSubject, draw: Draw) -> Choice | None:
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


def commas(subject: CheckableSubject, draw: Draw) -> YesNo | Choice:
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


def mark(subject: CheckableSubject, draw: Draw) -> YesNo:
    name = draw.choice(sorted(_MARKS))
    frames = (
        "Does the opening sentence contain {0}?",
        "Is there {0} in the opening sentence?",
        "Does the opening sentence have {0} in it?",
    )
    return draw.choice(frames).format(name), _MARKS[name] in subject.sentence


def no_mark(subject: CheckableSubject, draw: Draw) -> YesNo:
    name = draw.choice(sorted(_MARKS))
    bare = name.split(maxsplit=1)[1]
    frames = (
        f"Is the opening sentence without {name}?",
        f"Does the opening sentence contain no {bare}?",
        f"Is the opening sentence free of {bare}s?",
    )
    return draw.choice(frames), _MARKS[name] not in subject.sentence


def ends_as(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    end = subject.sentence.rstrip("\"'”’)_ ")[-1:]
    if end not in ".?!":
        return None
    which = draw.choice(("a question mark", "an exclamation mark", "a full stop", "a period"))
    is_true = {"a question mark": "?", "an exclamation mark": "!"}.get(which, ".") == end
    return f"Does the opening sentence end with {which}?", is_true


def pronoun(subject: CheckableSubject, draw: Draw) -> YesNo:
    pronoun = draw.choice(("I", "he", "she", "they", "we", "you"))
    frames = (
        "Does the opening sentence contain the pronoun '{0}'?",
        'Is the pronoun "{0}" used in the opening sentence?',
    )
    held = re.search(rf"(?<![A-Za-z]){pronoun}(?![A-Za-z])", subject.sentence, re.IGNORECASE)
    return draw.choice(frames).format(pronoun), held is not None
