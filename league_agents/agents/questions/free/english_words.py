"""The English grammar of single words, of the secret word, and of the book's author and year."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from league_agents.agents.questions.free.builders import constant, same
from league_agents.agents.questions.free.claims import Any, AskedClaim, ClaimTarget, Not, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.secret_claims import SecretIs, SecretNamed, SecretStandsIn
from league_agents.agents.questions.free.word_claims import (
    SECRET,
    EdgeLetterIn,
    HasDoubleLetter,
    LetterCountIs,
    LongerWord,
    WordAt,
    WordClassIs,
    WordIs,
)
from league_agents.agents.questions.reading import edge_letter, read

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VOWELS = "AEIOU"
_CONSONANTS = "".join(letter for letter in _ALPHABET if letter not in _VOWELS)
_PLACES = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last|final": -1,
           "penultimate|second_to_last|last_but_one": -2}  # fmt: skip


_MASS = frozenset({
    "armour", "armor", "bread", "cake", "cheese", "clothing", "crockery", "cutlery", "equipment", "fruit", "furniture",
    "jewellery", "jewelry", "luggage", "machinery", "music", "pottery", "weaponry",
})  # fmt: skip
"""Nouns without a plural, of which there are pieces and items."""


def add_words(grammar: Grammar) -> None:
    """Add the questions about one word."""
    add = grammar.add
    kinds = "associative|association|associated|secret|hidden|target|mystery"
    add("SECRET", f"[the|our|this|your] {kinds} word|term [itself]", constant(SECRET))
    for name, place in _PLACES.items():
        add("AWORD", f"[the|its] [very] {name} word OFSENTENCE", constant(WordAt(place)))
    add("AWORD", "SENTENCE 's first word", constant(WordAt(0)))
    add("AWORD", "SENTENCE 's last|final word", constant(WordAt(-1)))
    add("AWORD", "SECRET", same)
    add("OFSENTENCE", "", constant(0))
    add("OFSENTENCE", "of|in SENTENCE", constant(0))
    _add_letters(grammar)
    _add_lengths(grammar)
    _add_identity(grammar)
    _add_secret(grammar)


def _add_letters(grammar: Grammar) -> None:
    add = grammar.add
    starts, ends = "begin|begins|start|starts|open|opens", "end|ends|finish|finishes"
    add("LETTERS", "[the] [letter|letters|either] LETTER", same)
    add("LETTERS", "[either] [the] [letter|letters] LETTER or [the] [letter] LETTER", lambda a, b: a + b)
    add("LETTERS", "[the] [letter|letters] LETTER , [the] [letter] LETTER [,] or [the] [letter] LETTER",
        lambda a, b, c: a + b + c)  # fmt: skip
    add("LETTERS", "a letter [from] [from|between|in_the_range] LETTER to|and|through|until LETTER", _range)
    add("LETTERS", "LETTER to|through LETTER", _range)
    add("LETTERS", "a letter in|within|from the range LETTER LETTER [of_the_alphabet]", _range)
    add("LETTERS", "a letter in|within|from the range [from] LETTER to|through LETTER [of_the_alphabet]", _range)
    add("LETTERS", "in|within|from the range LETTER LETTER [of_the_alphabet]", _range)
    add("LETTERS", "in|within|from the range [from] LETTER to|through LETTER [of_the_alphabet]", _range)
    add("LETTERS", "a letter in|from the first half of the alphabet", constant(_ALPHABET[:13]))
    add("LETTERS", "a letter in|from the second|last half of the alphabet", constant(_ALPHABET[13:]))
    add("LETTERS", "a|any vowel", constant(_VOWELS))
    add("LETTERS", "a|any consonant", constant(_CONSONANTS))
    for verb, at_end in ((starts, False), (ends, True)):
        add("CLAIM", f"does|do|did AWORD {verb} with|in|on|by LETTERS", _edge(at_end))
        add("CLAIM", f"does|do|did AWORD not {verb} with|in|on LETTERS", _not_edge(at_end))
    add("CLAIM", f"does PART {starts} with THELETTER", _part_edge(False))
    add("CLAIM", f"does PART {ends} with|in THELETTER", _part_edge(True))
    add("THELETTER", "the letter|letters LETTER", same)
    add("THELETTER", "[either] the letter|letters LETTER or [the_letter] LETTER", lambda a, b: a + b)
    add("THELETTER", "a letter [from] [from|between] LETTER to|and|through LETTER", _range)
    add("THELETTER", "a letter in|from the first half of the alphabet", constant(_ALPHABET[:13]))
    add("THELETTER", "a letter in|from the second|last half of the alphabet", constant(_ALPHABET[13:]))
    add("THELETTER", "a vowel [letter]", constant(_VOWELS))
    add("THELETTER", "a consonant", constant(_CONSONANTS))
    for edge, at_end in (("first|initial|starting|beginning", False), ("last|final|ending", True)):
        add("CLAIM", f"is LETTERNAME the {edge} letter of AWORD", _edge_first(at_end))
        add("CLAIM", f"is the {edge} letter of AWORD LETTERS", _edge(at_end))
        add("CLAIM", f"is AWORD 's {edge} letter LETTERS", _edge(at_end))
        add("CLAIM", f"is the {edge} letter of AWORD before LETTER [in_the_alphabet]", _before(at_end))
        add("CLAIM", f"is the {edge} letter of AWORD after LETTER [in_the_alphabet]", _after(at_end))
        add("CLAIM", f"is the {edge} letter of AWORD between LETTER and LETTER", _edge_between(at_end))
        add("CLAIM", f"is|does the {edge} letter of PART LETTERS",
            lambda part, letters, at_end=at_end: _part_edge(at_end)(part, letters))  # fmt: skip
    add("LETTERNAME", "[the] [letter] LETTER", same)
    add("CLAIM", "does|do|has AWORD contain|include|have|contains [the] [a|any] [letter] LETTER [in_it|anywhere]",
        lambda word, letter: LetterCountIs(word, CountLimits(1, None), letter))  # fmt: skip
    add("CLAIM", "does|do AWORD contain|include|have the letter LETTER or|, [the_letter] LETTER",
        lambda word, a, b: LetterCountIs(word, CountLimits(1, None), a + b))  # fmt: skip
    add("CLAIM", "does|do AWORD not contain [the] letter LETTER",
        lambda word, letter: LetterCountIs(word, CountLimits(0, 0), letter))  # fmt: skip
    add("CLAIM", "is LETTERNAME in|part_of|found_in|contained_in AWORD",
        lambda letter, word: LetterCountIs(word, CountLimits(1, None), letter))  # fmt: skip
    add("CLAIM", "is there a|the|an|any letter LETTER in AWORD",
        lambda letter, word: LetterCountIs(word, CountLimits(1, None), letter))  # fmt: skip
    add(
        "CLAIM", "is there a|an LETTER in AWORD", lambda letter, word: LetterCountIs(word, CountLimits(1, None), letter)
    )
    add("CLAIM", "does AWORD contain|have QTY vowels|vowel", lambda word, n: LetterCountIs(word, n, _VOWELS))
    add("CLAIM", "does|has AWORD [have|contain] a|any double letter|letters", HasDoubleLetter)


def _range(low: str, high: str) -> str | None:
    low, high = sorted((low, high))
    return _ALPHABET[_ALPHABET.index(low) : _ALPHABET.index(high) + 1] if low + high in _pairs(low, high) else None


def _pairs(low: str, high: str) -> str:
    return low + high if low in _ALPHABET and high in _ALPHABET else ""


def _edge(at_end: bool) -> Callable[[WordAt, str], AskedClaim]:
    return lambda word, letters: EdgeLetterIn(word, at_end, letters)


def _edge_first(at_end: bool) -> Callable[[str, WordAt], AskedClaim]:
    return lambda letters, word: EdgeLetterIn(word, at_end, letters)


def _not_edge(at_end: bool) -> Callable[[WordAt, str], AskedClaim]:
    return lambda word, letters: Not(EdgeLetterIn(word, at_end, letters))


def _edge_between(at_end: bool) -> Callable[[WordAt, str, str], AskedClaim | None]:
    def build(word: WordAt, low: str, high: str) -> AskedClaim | None:
        letters = _range(low, high)
        return EdgeLetterIn(word, at_end, letters) if letters else None

    return build


def _part_edge(at_end: bool) -> Callable[[TextPart, str], AskedClaim | None]:
    def build(part: TextPart, letters: str) -> AskedClaim | None:
        if part is TextPart.TITLE:
            return TitleEdge(at_end, letters)
        if part is not TextPart.SENTENCE and at_end:
            return None
        return EdgeLetterIn(WordAt(-1 if at_end else 0), at_end, letters)

    return build


def _before(at_end: bool) -> Callable[[WordAt, str], AskedClaim | None]:
    return lambda word, letter: (
        EdgeLetterIn(word, at_end, _ALPHABET[: _ALPHABET.index(letter)]) if letter in _ALPHABET else None
    )


def _after(at_end: bool) -> Callable[[WordAt, str], AskedClaim | None]:
    return lambda word, letter: (
        EdgeLetterIn(word, at_end, _ALPHABET[_ALPHABET.index(letter) + 1 :]) if letter in _ALPHABET else None
    )


def _add_lengths(grammar: Grammar) -> None:
    add = grammar.add
    add("CLAIM", "does|do|has|have AWORD have|contain|consist_of|comprise LENGTH letters|characters [in_it|in_total]",
        LetterCountIs)  # fmt: skip
    add("CLAIM", "has AWORD LENGTH letters", LetterCountIs)
    add("CLAIM", "is AWORD LENGTH letters|characters [long|in_length|or_longer]", LetterCountIs)
    add(
        "CLAIM",
        "is AWORD NUMBER letters long or longer|more",
        lambda word, n: LetterCountIs(word, CountLimits(n, None)),
    )
    add("CLAIM", "is AWORD a|an NUMBER letter word", lambda word, n: LetterCountIs(word, CountLimits(n, n)))
    add("LENGTH", "LIMIT", same)
    add("LENGTH", "[exactly|precisely|just|only] NUMBER", lambda n: CountLimits(n, n))
    add("CLAIM", "is AWORD longer than AWORD", LongerWord)
    add("CLAIM", "is AWORD shorter than AWORD", lambda one, other: LongerWord(other, one))


def _add_identity(grammar: Grammar) -> None:
    add = grammar.add
    add("CLAIM", "is|was AWORD [the_word|the_name|equal_to|simply] QUOTE", WordIs)
    add("CLAIM", "is|was AWORD not QUOTE", lambda word, text: Not(WordIs(word, text)))
    add("CLAIM", "is|was AWORD QUOTE or QUOTE", lambda word, one, other: Any((WordIs(word, one), WordIs(word, other))))
    add("CLAIM", "is AWORD EDGEWORD", WordIs)
    add("CLAIM", "is|was [the_word] QUOTE AWORD", lambda text, word: WordIs(word, text))
    add("CLAIM", "is EDGEWORD AWORD", lambda text, word: WordIs(word, text))
    add("CLAIM", "is AWORD a|an|the CLASSNAME", WordClassIs)
    add("CLAIM", "is AWORD a|an CLASSNAME or a|an CLASSNAME",
        lambda word, one, other: Any((WordClassIs(word, one), WordClassIs(word, other))))  # fmt: skip


def _add_secret(grammar: Grammar) -> None:
    add = grammar.add
    add("SECRETIS", "is SECRET", constant(0))
    add("SECRETIS", "does SECRET refer to|name|denote|describe", constant(0))
    add("SECRETIS", "does SECRET refer to", constant(0))
    add("SECRETIS", "would you describe|classify|call SECRET [as]", constant(0))
    add("SECRETIS", "could|can SECRET be [described_as|called]", constant(0))
    add("CLAIM", "SECRETIS CATEGORIES", lambda _, claim: claim)
    add("CLAIM", "SECRETIS not CATEGORIES", lambda _, claim: Not(claim))
    add("CLAIM", "SECRETIS neither CATEGORY nor CATEGORY", lambda _, one, other: Not(Any((one, other))))
    add("CATEGORIES", "CATEGORY", same)
    add("CATEGORIES", "[either] CATEGORY or CATEGORIES", lambda one, other: Any((one, other)))
    add("CATEGORY", "[a|an|the|some|any] [kind|type|sort|form|name] of [a|an] PHRASE", SecretIs)
    add(
        "CATEGORY",
        "[a|an|the|some|any] piece|item|article of PHRASE",
        lambda text: SecretIs(text) if text in _MASS else None,
    )
    add("CATEGORY", "a|an|the|some|any PHRASE", SecretIs)
    add("CATEGORY", "PHRASEWORD PHRASE", lambda one, others: SecretIs(f"{one} {others}"))
    add("CATEGORY", "something to drink", constant(SecretIs("drink")))
    add("CATEGORY", "something to eat", constant(SecretIs("food")))
    add("PHRASE", "PHRASEWORD", same)
    add("PHRASE", "PHRASEWORD PHRASE", lambda one, others: f"{one} {others}")
    add("PHRASE", "part of the body", constant("body part"))
    add("CLAIM", "is SECRET WORD", lambda _, text: SecretNamed(text))
    add("CLAIM", "does SECRET [itself] appear|occur|stand [anywhere] IN", lambda _, part: SecretStandsIn(part))
    add("CLAIM", "is SECRET [itself] mentioned|used|found|present|contained|included|written IN",
        lambda _, part: SecretStandsIn(part))  # fmt: skip
    add("CLAIM", "is SECRET in PART", lambda _, part: SecretStandsIn(part))
    add("CLAIM", "does|do PART contain|include|mention|use SECRET", lambda part, _: SecretStandsIn(part))


@dataclass(frozen=True, slots=True)
class TitleEdge(AskedClaim):
    """The title begins or ends with one of these letters."""

    at_end: bool
    letters: str

    def check(self, target: ClaimTarget) -> bool | None:
        title = read(target.facts.title).sentence if target.facts.title else None
        if title is None or not title.words:
            return None
        letter = edge_letter(title.words[-1 if self.at_end else 0], at_end=self.at_end)
        return None if letter is None else letter in self.letters
