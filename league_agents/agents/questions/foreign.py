"""Honest answers to questions that somebody else wrote.

Rule 1: an answer is read off the page or off the catalogue's facts; where neither decides, the answer is ``None`` and
the referee says so. Nothing is guessed.
Rule 2: a question with a negation is left alone unless it is recognised as a whole: a wrong answer is worse than none.
Rule 3: the text is cut before it is read, and no pattern can go back over it more than once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from league_agents.agents.questions.answer_key import meanings, place_of
from league_agents.agents.questions.kinds import NO, YES
from league_agents.agents.questions.reading import MARKS, Reading, Text, edge_letter, fold, letters_of
from league_agents.games.q21.information import UNKNOWN
from league_agents.knowledge.words import STOP_WORDS, content_words, stem, words_of

_LONGEST_QUESTION = 600
_LONGEST_OPTION = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the book beside the page."""

    title: str = ""
    author: str = ""

    year: int | None = None
    """``None``: unknown."""

    statements: tuple[str, ...] = ()
    """Sentences that are true of the book."""

    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Domain to words: what counts as a colour, an animal, …"""


def answer_foreign(text: str, options: Sequence[str], reading: Reading, facts: Facts) -> int | None:
    """The place (0 to 3) of the option that is true; ``None`` when it cannot be told."""
    asked = " ".join(text[:_LONGEST_QUESTION].split())
    given = [" ".join(option[:_LONGEST_OPTION].split()) for option in options]
    if not asked:
        return None
    if meanings(given) is not None:
        claim = _claim(asked, reading, facts)
        return None if claim is None else place_of(YES if claim else NO, given)
    return _among(asked, given, reading, facts)


def cannot_tell(options: Sequence[str]) -> int | None:
    """The option that says "unknown"; ``None`` when none does."""
    return place_of(UNKNOWN, [option[:_LONGEST_OPTION] for option in options])


_NEGATION = re.compile(r"\b(?:not|never|without|no|none|neither|nor|except|n't)\b|n['’]t\b", re.IGNORECASE)
_WORD_SUBJECT = re.compile(r"\b(?:associative|association|associated|secret|hidden|target) word\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\b(?:paragraph|passage|excerpt|scene|text)\b", re.IGNORECASE)
_PLACE = re.compile(r"\b(first|second|third|fourth|last|final) word\b", re.IGNORECASE)
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "final": -1}
_QUOTED = re.compile(r"[“\"‘«]([^“”\"‘’«»]{1,80})[”\"’»]|(?<!\w)'([^']{1,80})'(?!\w)")
_NUMBER = re.compile(
    r"\b(more than|over|longer than|fewer than|less than|under|shorter than|at least|at most|exactly)?"
    r" ?(\d{1,4})(?: or (more|fewer|less))? (words?|letters?|commas?|characters?)\b",
    re.IGNORECASE,
)
_LETTER_RANGE = re.compile(
    r"\b(?:letters?|range)?\s*(?:from|between|in)?\s*(?<![\w'’])([A-Z])\s*(?:-|–|—|to|and|through)\s*([A-Z])(?![\w'’])"
)
_ONE_LETTER = re.compile(r"\b(?:with|letter|by) (?:an? |the )?(?:letter )?[\"'“‘]?([A-Za-z])[\"'”’]?(?=[?.,; ]|$)")
_VERB = re.compile(
    r"\b(?:contain|include|use|feature|mention|name|have|has|refer to|speak of|talk about)s? (?:the |an? |any )?"
    r"(?:words? |names? |terms? |phrases? )?([^\W\d_][\w'’-]{1,40})[?.]?$",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"\b(?:words?|names?|terms?|phrases?|contain|include)s?\b", re.IGNORECASE)
_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours"})


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NUMBER_WORDS = _set_of(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand"
)
_PAST = frozenset({"was", "were", "had", "did", "said", "came", "went", "saw", "stood", "took", "made", "knew"})
_PRESENT = frozenset({"is", "are", "am", "has", "have", "does", "do", "says", "goes", "stands"})


def _text_for(asked: str, reading: Reading) -> Text | None:
    if _PARAGRAPH.search(asked) and "sentence" not in asked.casefold():
        return reading.paragraph or reading.sentence
    return reading.sentence


def _subject_word(asked: str, reading: Reading) -> str | None:
    """The single word that a question is about; ``None`` when it is about a text."""
    if _WORD_SUBJECT.search(asked):
        return reading.word
    found = _PLACE.search(asked)
    words = reading.sentence.words if reading.sentence else ()
    if found and words:
        place = _PLACES[found[1].casefold()]
        return words[place] if -len(words) <= place < len(words) else None
    return None


def _claim(asked: str, reading: Reading, facts: Facts) -> bool | None:
    """Whether the claim in a yes-or-no question is true."""
    if _NEGATION.search(asked):
        return None
    for reader in _READERS:
        found = reader(asked, reading, facts)
        if found is not None:
            return found
    return None


def _on_letters(asked: str, reading: Reading, facts: Facts) -> bool | None:  # noqa: ARG001
    lowered = asked.casefold()
    at_end = bool(re.search(r"\bends?\b|\bending\b|\blast letter\b|\bfinal letter\b", lowered))
    at_start = bool(re.search(r"\b(?:start|begin|initial|first letter)", lowered))
    subject = _subject_word(asked, reading)
    if not (at_end or at_start):
        found = re.search(r"\bcontains? (?:an? |the )?letter [\"'“‘]?([A-Za-z])\b", asked)
        if found and subject:
            return found[1].upper() in letters_of(subject)
        return None
    if subject is None and reading.sentence and reading.sentence.words and not _WORD_SUBJECT.search(asked):
        subject = reading.sentence.words[-1 if at_end else 0]
    letter = edge_letter(subject or "", at_end=at_end)
    if letter is None:
        return None
    if re.search(r"\bvowels?\b", lowered):
        return letter in "AEIOU"
    if re.search(r"\bconsonants?\b", lowered):
        return letter not in "AEIOU"
    if found := _LETTER_RANGE.search(asked):
        low, high = sorted((found[1], found[2]))
        return low <= letter <= high
    if found := _ONE_LETTER.search(asked):
        return letter == found[1].upper()
    if subject is not None and (quoted := _quoted(asked)):
        return fold(subject) == fold(quoted) if " " not in quoted else None
    return None


def _on_counts(asked: str, reading: Reading, facts: Facts) -> bool | None:  # noqa: ARG001
    found = _NUMBER.search(asked)
    count = _counted(asked, reading, found[4]) if found else None
    if found is None or count is None:
        return None
    wanted, how = int(found[2]), (found[1] or "").casefold()
    if found[3]:
        return count >= wanted if found[3].casefold() == "more" else count <= wanted
    if how in {"more than", "over", "longer than"}:
        return count > wanted
    if how in {"fewer than", "less than", "under", "shorter than"}:
        return count < wanted
    return count >= wanted if how == "at least" else count <= wanted if how == "at most" else count == wanted


def _counted(asked: str, reading: Reading, unit: str) -> int | None:
    unit = unit.casefold()
    if unit.startswith(("letter", "character")):
        subject = _subject_word(asked, reading)
        return len(letters_of(subject)) if subject else None
    text = _text_for(asked, reading)
    if text is None or _WORD_SUBJECT.search(asked):
        return None
    return text.commas if unit.startswith("comma") else len(text.words)


def _on_form(asked: str, reading: Reading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Marks, speech, person, tense, names, numbers."""
    lowered, text = asked.casefold(), _text_for(asked, reading)
    if text is None or _WORD_SUBJECT.search(asked):
        return None
    vocabulary = text.vocabulary
    if re.search(r"\b(?:is|end|ends|as|form of|phrased as) (?:\w+ ){0,4}(?:a|as a|in a) question\b", lowered):
        return text.text.rstrip("\"'”’» ").endswith(("?", "？"))
    for mark in MARKS:
        # "a question mark" is asked for in full, "an exclamation" will do.
        name = mark.split(maxsplit=1)[1]
        if re.search(rf"\b{name if name.startswith('question') else name.removesuffix(' mark')}s?\b", lowered):
            return mark in text.marks
    if re.search(r"\b(?:dialogue|direct speech|spoken|quotation|somebody speaks?|someone speaks?|quotes?)\b", lowered):
        return text.has_speech
    if re.search(r"\bfirst[- ]person\b", lowered):
        # Speech in quotation marks is first person in any book: only a text without it decides.
        return not vocabulary.isdisjoint(_FIRST_PERSON) if not text.has_speech else None
    if re.search(r"\bthird[- ]person\b", lowered):
        return vocabulary.isdisjoint(_FIRST_PERSON) if not text.has_speech else None
    if re.search(r"\b(?:past|present) tense\b", lowered):
        past, present = not vocabulary.isdisjoint(_PAST), not vocabulary.isdisjoint(_PRESENT)
        return None if past == present else past == ("past tense" in lowered)
    if re.search(r"\b(?:proper (?:noun|name)s?|capitali[sz]ed words?)\b", lowered):
        return any(word[0].isupper() and fold(word) not in STOP_WORDS for word in text.words[1:])
    if re.search(r"\b(?:number|numeral|digit|numbers|digits)\b", lowered):
        return any(word[0].isdigit() for word in text.words) or not vocabulary.isdisjoint(_NUMBER_WORDS)
    return None


def _on_book(asked: str, reading: Reading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Author and year."""
    lowered = asked.casefold()
    if facts.author and re.search(r"\b(?:author|written by|wrote|writer)\b", lowered):
        named = re.search(r"\b(?:by|author) ((?:[A-Z][\w.'’-]{0,30} ?){1,4})", asked)
        if named:
            return facts.author.split()[-1].casefold() in named[1].casefold()
    if facts.year is not None and re.search(r"\b(?:publish|written|appear|century|year|date)", lowered):
        year = re.search(r"\b(1\d{3}|20\d\d)\b", asked)
        if year and re.search(r"\bbefore\b|\bearlier than\b", lowered):
            return facts.year < int(year[1])
        if year and re.search(r"\bafter\b|\blater than\b|\bsince\b", lowered):
            return facts.year > int(year[1])
        if century := re.search(r"\b(1[0-9]|20|21)(?:st|nd|rd|th) century\b", lowered):
            return (facts.year - 1) // 100 + 1 == int(century[1])
        if year and re.search(r"\bin\b", lowered):
            return facts.year == int(year[1])
    return None


def _on_words(asked: str, reading: Reading, facts: Facts) -> bool | None:
    """Whether a word, a phrase or something of a domain occurs."""
    if _WORD_SUBJECT.search(asked):
        return _on_associative_word(asked, reading, facts)
    text = _text_for(asked, reading)
    if text is None:
        return None
    if quoted := _quoted(asked):
        return _occurs(quoted, text)
    found = _VERB.search(asked)
    if found is None:
        return None
    wanted = fold(found[1])
    if words := _list_for(wanted, facts):
        return any(_occurs(word, text) for word in words)
    if _occurs(wanted, text) or stem(wanted) in {stem(word) for word in text.vocabulary}:
        return True
    # "Mention the sea" may be true without the word; "contain the word sea" is not.
    return False if _LITERAL.search(asked) else None


def _on_associative_word(asked: str, reading: Reading, facts: Facts) -> bool | None:
    if reading.word is None:
        return None
    word = fold(reading.word)
    if quoted := _quoted(asked):
        return fold(quoted) == word
    tail = _TAIL.search(asked)
    named = words_of(tail[1]) if tail else []
    if word in named:
        return True
    if len(named) > _MOST_DOMAIN_WORDS:
        return None
    for name in named:
        if words := _list_for(name, facts):
            return word in {fold(each) for each in words}
    return None


_TAIL = re.compile(r"\bword (?:is |be )?(?:an? |the |one of:? )?([^?.]{1,400})[?.]?$")
_MOST_DOMAIN_WORDS = 4
"""A longer phrase says more of the word than which domain it belongs to ("something that stands in a building")."""


def _on_statements(asked: str, reading: Reading, facts: Facts) -> bool | None:  # noqa: ARG001
    """Whether a known fact says what is asked. A fact can only say yes."""
    wanted = content_words(asked) - _ASKING
    if len(wanted) < 2:
        return None
    best = max((len(wanted & content_words(fact)) / len(wanted) for fact in facts.statements), default=0.0)
    return True if best >= 0.8 else None


_ASKING = content_words(
    "book novel story work sentence opening paragraph passage narrator character main involve mention"
)
_Reader = Callable[[str, Reading, Facts], bool | None]
_READERS: tuple[_Reader, ...] = (_on_letters, _on_counts, _on_book, _on_form, _on_words, _on_statements)


def _among(asked: str, options: Sequence[str], reading: Reading, facts: Facts) -> int | None:
    """The one option of substance that is true."""
    lowered = asked.casefold()
    if _NEGATION.search(asked):
        return None
    if found := re.search(r"\bhow many (words|letters|commas|characters)\b", lowered):
        count = _counted(asked, reading, found[1])
        return None if count is None else _only([_holds(option, count) for option in options])
    if re.search(r"\b(?:letter|start|begin)", lowered) and all(
        _LETTERS_ONLY.fullmatch(option) for option in options[:3]
    ):
        subject = _subject_word(asked, reading)
        if subject is None and reading.sentence and reading.sentence.words and not _WORD_SUBJECT.search(asked):
            subject = reading.sentence.words[0]
        letter = edge_letter(subject or "", at_end=bool(re.search(r"\bend|\blast letter", lowered)))
        return None if letter is None else _only([_holds_letter(option, letter) for option in options])
    if re.search(r"\b(?:which|who|what)\b.*\b(?:contain|appear|occur|mention|named?|stands?|used?|present)", lowered):
        text = _text_for(asked, reading)
        if text is None or _WORD_SUBJECT.search(asked):
            return None
        present = [bool(words_of(option)) and _occurs(_bare(option), text) for option in options]
        if any(present):
            return _only(present)
        return _only([bool(re.match(r"none|neither|no\b|nothing", option.casefold())) for option in options])
    if facts.author and re.search(r"\b(?:who wrote|author|written by)\b", lowered):
        return _only([facts.author.split()[-1].casefold() in option.casefold() for option in options])
    if facts.year is not None and re.search(r"\b(?:when|which year|century|publish)", lowered):
        return _only([_holds(option, facts.year) for option in options])
    if re.search(r"\bwhich\b.*\bword\b", lowered) and reading.word and _WORD_SUBJECT.search(asked):
        return _only([fold(reading.word) in words_of(option) for option in options])
    return None


_LETTERS_ONLY = re.compile(r"(?:letters? )?(?:from )?[A-Za-z](?:\s*(?:-|–|—|to|through)\s*[A-Za-z])?")


def _holds_letter(option: str, letter: str) -> bool:
    found = re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", option)
    return bool(found) and found[0].upper() <= letter <= found[-1].upper()


def _holds(option: str, number: int) -> bool:
    """Whether a range in words, ``5-9``, ``up to 4``, ``more than 20``, ``1800 to 1850``, holds ``number``."""
    numbers = [int(each) for each in re.findall(r"\d{1,4}", option)]
    lowered = option.casefold()
    if not numbers:
        return number == 0 if re.match(r"none|zero|no\b", lowered) else False
    if len(numbers) >= 2:
        return numbers[0] <= number <= numbers[1]
    if re.search(r"\b(?:more than|over|after|above)\b|>", lowered):
        return number > numbers[0]
    if re.search(r"\b(?:fewer than|less than|under|before|below)\b|<", lowered):
        return number < numbers[0]
    if re.search(r"\b(?:or more|at least|from)\b|\+", lowered):
        return number >= numbers[0]
    if re.search(r"\b(?:up to|at most|or fewer|or less)\b", lowered):
        return number <= numbers[0]
    return number == numbers[0]


def _only(found: Sequence[bool]) -> int | None:
    return list(found).index(True) if sum(found) == 1 else None


def _quoted(asked: str) -> str | None:
    found = _QUOTED.search(asked)
    return (found[1] or found[2]).strip() if found else None


def _bare(option: str) -> str:
    return option.strip(" “”\"'‘’.,")


def _occurs(phrase: str, text: Text) -> bool:
    words = [fold(word) for word in Text(phrase).words]
    if len(words) <= 1:
        return bool(words) and words[0] in text.vocabulary
    folded = text.folded
    return any(list(folded[i : i + len(words)]) == words for i in range(len(folded) - len(words) + 1))


def _list_for(name: str, facts: Facts) -> Sequence[str]:
    """The words of a domain that a question names: ``colour``, ``colors``, ``animal``."""
    trunk = _SAME.get(stem(name), stem(name))
    if trunk == "animal":
        return [word for domain, words in facts.lists.items() if domain in _ANIMALS for word in words]
    return next((words for domain, words in facts.lists.items() if stem(domain.casefold()) == trunk), ())


_SAME = {stem("color"): stem("colour"), stem("creature"): stem("animal"), stem("relative"): stem("kinship")}
_ANIMALS = frozenset({"sea animal", "bird", "land animal", "insect"})
