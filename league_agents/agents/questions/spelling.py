"""Checks of a claim against letters, the order of words, counts, and marks.

Rule: every check returns ``None`` for claims that it does not recognise, and if careful readers would differ.
"""

from __future__ import annotations

import re
from itertools import pairwise

from league_agents.agents.questions.asked import MaskedQuestion, is_telling
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.reading import (
    MARKS,
    CandidateReading,
    Text,
    edge_letter,
    fold,
    letter_count,
    letters_of,
)

# One word: its letters, its length, what it is.


def edge_word(asked: MaskedQuestion, reading: CandidateReading) -> str | None:
    """Return the word whose first or last letter is asked about: the one named, else the sentence's first or last."""
    if asked.is_about_word or asked.place is not None:
        return asked.word(reading)
    words = reading.sentence.words if reading.sentence else ()
    if asked.is_about_paragraph and asked.is_about_end:
        return None
    if not words or not asked.has(r"\bsentence\b|\bline\b|\bit\b|\bparagraph\b|\bpassage\b|\btext\b|\btitle\b"):
        return None
    return words[-1 if asked.is_about_end else 0]


def on_letters(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check claims about the first or last letter of a word, or one inside it."""
    at_end, at_start = asked.is_about_end, asked.is_about_start
    if asked.numbers:
        return None
    if not at_end and not at_start:
        return _on_letters_inside(asked, reading)
    word = edge_word(asked, reading)
    letter = edge_letter(word or "", at_end=at_end)
    if letter is None:
        return None
    if asked.has(r"\bvowels?\b"):
        return letter in "AEIOU"
    if asked.has(r"\bconsonants?\b"):
        return letter not in "AEIOU"
    if asked.has(r"\bcapital|\bupper ?case\b|\blower ?case\b") or (asked.quotes and asked.has(r"\bword «")):
        return None
    if asked.span is not None:
        return asked.span[0] <= letter <= asked.span[1]
    if any(len(quote) > 1 for quote in asked.quotes):
        return None
    letters = asked.letters
    if len(letters) == 1 and asked.has(r"\bbefore\b|\bafter\b"):
        return letter < letters[0] if asked.has(r"\bbefore\b") else letter > letters[0]
    if len(letters) == 1 or (letters and asked.has(r"\bor\b|,")):
        return letter in letters
    return None


def _on_letters_inside(asked: MaskedQuestion, reading: CandidateReading) -> bool | None:
    word = asked.word(reading)
    if word is None or not letters_of(word):
        return None
    if asked.has(r"\bdouble letter|\bsame letter twice in a row\b"):
        letters = letters_of(word)
        return any(one == other for one, other in pairwise(letters))
    if not asked.has(r"\bletters?\b") or len(asked.letters) != 1 or asked.numbers:
        return None
    return asked.letters[0] in letters_of(word) if asked.has(r"\bcontain|\bin\b|\bha(?:s|ve)\b|\binclude") else None


def on_counts(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check claims about the number of words, letters or commas."""
    unit = re.search(r"\b(words?|letters?|commas?|characters?)\b(?! «)", asked.lowered)
    if unit is None or not asked.numbers:
        return None
    # "Is the first word longer than four letters" names a word but counts letters.
    units = re.findall(r"\b(letter|character|comma)s?\b", asked.lowered)
    if (
        asked.is_about_start
        or asked.is_about_end
        or asked.has(r"\b(?:sentences|pages|chapters|syllables|times|years)\b")
    ):
        return None
    count = counted(asked, reading, units[0] if units else "word")
    if count is None:
        return None
    is_loose = bool(units) and units[0] == "comma" and not asked.has(r"\bexactly\b|\bor\b|\bthan\b|\bleast\b|\bmost\b")
    # "Has it two commas" is true of two commas and false of one; about three, readers would differ.
    return None if is_loose and count > asked.numbers[0] else asked.compares(count)


def counted(asked: MaskedQuestion, reading: CandidateReading, unit: str) -> int | None:
    """Return the number of words, letters or commas; ``None`` if readers would differ or nothing is counted."""
    if unit in ("letter", "character"):
        return letter_count(asked.word(reading) or "") or None
    text = asked.scope(reading)
    if text is None or asked.is_about_word or asked.place is not None or asked.is_partly_known(reading):
        return None
    return text.commas if unit == "comma" else len(text.words)


def on_edge_word(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check whether the sentence begins or ends with given words, or has a given word at a given place."""
    if asked.is_about_word or reading.sentence is None or (asked.is_about_paragraph and asked.is_about_end):
        return None
    place, words = asked.place, reading.sentence.folded
    named = asked.quotes[0] if asked.quotes else _capital_after_place(asked)
    if named is None or len(asked.quotes) > 1:
        return None
    wanted = [fold(word) for word in Text(named).words]
    if not wanted or not words:
        return None
    if place is not None:
        if len(wanted) > 1 or asked.is_about_end or asked.is_about_start or asked.has(r"\b(?:before|after)\b"):
            return None
        return -len(words) <= place < len(words) and words[place] == wanted[0]
    if asked.is_about_end:
        return list(words[-len(wanted) :]) == wanted
    if asked.is_about_start:
        is_so = list(words[: len(wanted)]) == wanted
        is_letter = len(named) == 1 and not asked.has(r"\bword «")
        # "Begins with A" is ambiguous: the word or the letter.
        return None if is_letter and is_so != words[0].startswith(wanted[0]) else is_so
    return None


def _capital_after_place(asked: MaskedQuestion) -> str | None:
    found = re.fullmatch(r"Is the \w+ word (?:of the (?:opening |first )?\w+ )?([A-Z][\w'’]*)\?", asked.text)
    return found[1] if found else None


# Marks and form.

_OTHER_MARKS = {
    "an apostrophe": re.compile(r"(?<=\w)['’](?=\w)"),
    "a hyphen": re.compile(r"(?<=\w)[-‐‑](?=\w)"),
    "a parenthesis": re.compile(r"[()]"),
    "a bracket": re.compile(r"[()\[\]]"),
    "an ellipsis": re.compile(r"…|\.\.\."),
    "a number": re.compile(r"\d"),
}
_MARK_NAMES = (
    (r"\bsemi-?colons?\b", "a semicolon"),
    (r"(?<!semi)(?<!semi-)\bcolons?\b", "a colon"),
    (r"\bcommas?\b", "a comma"),
    (r"\bquestion marks?\b", "a question mark"),
    (r"\bexclamations?\b", "an exclamation mark"),
    (r"\bquot(?:ation|e) marks?\b", "a quotation mark"),
    (r"\b(?:em[- ]|en[- ])?dash(?:es)?\b", "a dash"),
    (r"\bapostrophes?\b", "an apostrophe"),
    (r"\bhyphen(?:s|ated)?\b", "a hyphen"),
    (r"\bparenthes[ie]s\b", "a parenthesis"),
    (r"\bbrackets?\b", "a bracket"),
    (r"\bellips[ie]s\b", "an ellipsis"),
)
_END_MARKS = (
    (r"\bquestion mark\b", "?？؟"),
    (r"\bexclamation\b", "!！"),
    (r"\b(?:full stop|period)\b", ".。"),
    (r"\bellipsis\b", "…"),
    (r"\bsemi-?colon\b", ";；"),
    (r"(?<!semi)(?<!semi-)\bcolon\b", ":："),
    (r"\bcomma\b", ",，"),
)


def has_mark(name: str, text: Text) -> bool | None:
    """Whether the mark named in a phrase occurs in the text; ``None`` if no mark or several are named."""
    found = [mark for pattern, mark in _MARK_NAMES if re.search(pattern, name.casefold())]
    if len(found) != 1:
        return None
    return found[0] in text.marks if found[0] in MARKS else _OTHER_MARKS[found[0]].search(text.text) is not None


def on_marks(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check claims about marks that occur in a text or end it."""
    text = asked.scope(reading)
    if text is None or asked.is_about_word or asked.place is not None or asked.numbers:
        return None
    if asked.has(r"\b(?:more than once|twice|multiple|several|many)\b") or asked.is_about_start:
        return None
    if asked.is_about_end:
        end = text.text.rstrip("\"'”’»)_* ")[-1:]
        return next((end in marks for pattern, marks in _END_MARKS if asked.has(pattern)), None)
    found = has_mark(asked.lowered, text)
    if found is True and asked.has(
        r"\b(?:in|within|enclosed in|surrounded by|between) (?:quotation|quote|parenthes|bracket)"
    ):
        return None  # the claim may hold for a part only
    return None if found is False and asked.may_mean_more(reading) else found


_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NUMBER_WORDS = _set_of(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand"
)
_PAST = frozenset({"was", "were", "had", "did", "said", "came", "went", "saw", "stood", "took", "made", "knew"})
_PRESENT = frozenset({"is", "are", "am", "has", "have", "does", "do", "says", "goes", "stands"})
_HOLDS = r"\b(?:contain|include|mention|name|ha[sv]e?|use|feature|there|appear|stand)"


def on_form(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Check claims about speech, person, tense, names and numbers."""
    text = asked.scope(reading)
    if text is None or asked.is_about_word or asked.place is not None or asked.quotes or asked.numbers:
        return None
    vocabulary = text.vocabulary
    if asked.has(r"\b(?:is|end|ends|as|form of|phrased as) (?:\w+ ){0,4}(?:a|as a|in a) question\b(?! mark)"):
        return text.text.rstrip("\"'”’» ").endswith(("?", "？"))
    if asked.has(r"\b(?:dialogue|direct speech|spoken|quotation|somebody speaks?|someone speaks?|quotes?)\b"):
        return text.has_speech or (None if asked.may_mean_more(reading) else False)
    if asked.has(r"\bfirst[- ]person\b"):
        # Quoted speech uses the first person in any book, so only a text without it decides.
        return not vocabulary.isdisjoint(_FIRST_PERSON) if not text.has_speech else None
    if asked.has(r"\bthird[- ]person\b"):
        return vocabulary.isdisjoint(_FIRST_PERSON) if not text.has_speech else None
    if asked.has(r"\b(?:past|present) tense\b"):
        past, present = not vocabulary.isdisjoint(_PAST), not vocabulary.isdisjoint(_PRESENT)
        return None if past == present else past == asked.has(r"\bpast tense\b")
    if asked.is_about_start or asked.is_about_end or asked.names_book:
        return None
    if asked.has(r"\b(?:proper (?:noun|name)s?|capitali[sz]ed words?)\b"):
        return any(is_telling(word) for word in text.words[1:])
    if asked.has(rf"{_HOLDS}\b.*\b(?:a |an |any )?(?:numbers?|numerals?|digits?)\b(?! of)"):
        return any(word[0].isdigit() for word in text.words) or not vocabulary.isdisjoint(_NUMBER_WORDS)
    return None
