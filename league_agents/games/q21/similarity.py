"""Similarity of a guessed text to the target, 0 to 100.

Rule 1: a guess is judged as a whole. Any text beside the target counts against it, so that a list of candidates, the
target repeated, or ten thousand words earn less than one honest attempt.
Rule 2: typography is no difference: quotes, dashes, case, spaces, ligatures, invisible characters, Hebrew points.
Rule 3: the work is bounded before it starts: texts of very different lengths are not compared. A length counts visible
characters: five accents on every letter make a text neither longer nor less right.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import OSA, LCSseq, Levenshtein

_TYPOGRAPHY: dict[int, str | None] = {
    # Deleted, not replaced: don't, don’t and dont are one word. The last two are the Hebrew ones.
    **dict.fromkeys(map(ord, "'’‘‛ʼʹ`´′＇׳״")),
    **dict.fromkeys(map(ord, "“”„«»–—―…"), " "),
}

_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe"})
_HEBREW_QUOTE = re.compile(r'(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])')
"""Typed in place of gershayim inside an abbreviation."""

_PUNCTUATION = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")
"""All ASCII characters but letters and digits."""

_HEAPED = re.compile(
    "["
    "\u0300-\u0344\u0346-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # accents; U+0345 spells an iota
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # which variant of a character is meant
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"  # unseen
    "\U000e0001\U000e0020-\U000e007f"  # tags, unseen too
    "]+"
)
"""Marks and invisible characters; any number of them can follow one letter."""

_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
"""Scripts without spaces, in which each character counts as a word."""

_LONGEST = 20_000
_LENGTH_RATIO = 4
_NO_RESEMBLANCE = 0.35
"""The share of equal characters that two unrelated sentences have by chance."""


def fold(text: str) -> str:
    """Return the text as lower-case words with single spaces between them, without typographic differences."""
    # Cached, because a match folds its target, its hint and each guess many times.
    return _remembered_fold(text) if len(text) <= _LONGEST_REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    text = _HEBREW_QUOTE.sub("", _bare(text).translate(_TYPOGRAPHY))
    if not text.isascii():
        text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        text = unicodedata.normalize("NFC", "".join(map(_kept, text)).translate(_LIGATURES))
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())


_LONGEST_REMEMBERED = 1_000
_remembered_fold = lru_cache(maxsize=512)(_folded)


def _bare(text: str) -> str:
    # One pass: to compose a text, Unicode sorts the marks of each letter, which is slow for thousands of them.
    return text if text.isascii() else _HEAPED.sub("", text)


def _kept(character: str) -> str:
    if character.isalnum():
        return character
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    if category[0] == "M":
        # Latin, Greek and Cyrillic accents and Hebrew points are removed; the vowel signs of other scripts are letters.
        return "" if "\u0300" <= character <= "\u036f" or "\u0591" <= character <= "\u05c7" else character
    return " "


def sentence_similarity(guess: str, target: str) -> float:
    """Return the similarity of a guessed sentence to the target sentence: 100 for the same words in the same order.

    ``100 · (0.3·bag + 0.4·order + 0.3·letters)²``. ``bag`` is the F-measure of the words with multiplicity, ``order``
    that of their longest common subsequence, both with longer words weighing more; ``letters`` is the edit similarity
    of the whole texts, less what unrelated sentences have in common. All three are symmetric in the two texts and fall
    with every superfluous word.
    """
    left, right = _bare(guess), _bare(target)
    if _out_of_proportion(left, right):
        return 0.0
    left, right = fold(left), fold(right)
    if not left or not right:
        return 0.0
    if left == right:
        return 100.0
    if _out_of_proportion(left, right):
        return 0.0
    left_units, right_units = _units(left), _units(right)
    total = len(left_units) + len(right_units)
    bag = 2 * sum((Counter(left_units) & Counter(right_units)).values()) / total
    order = 2 * LCSseq.similarity(left_units, right_units) / total
    letters = Levenshtein.normalized_similarity(left, right)
    letters = max(0.0, letters - _NO_RESEMBLANCE) / (1 - _NO_RESEMBLANCE)
    raw = 0.3 * bag + 0.4 * order + 0.3 * letters
    return float(min(99.99, round(100 * raw * raw, 2)))


def _out_of_proportion(left: str, right: str) -> bool:
    shorter, longer = sorted((len(left), len(right)))
    return longer > _LONGEST or longer > _LENGTH_RATIO * max(shorter, 40)


def _units(folded: str) -> list[tuple[str, int]]:
    """Repeat each word by its weight, so that a longest common subsequence of units is one of weighted words."""
    return [(word, i) for word in _words_in(folded) for i in range(min(4, 1 + len(word) // 2))]


def _words_in(folded: str) -> list[str]:
    return folded.split() if folded.isascii() else _IDEOGRAPH.sub(r" \1 ", folded).split()


_ARTICLES = frozenset({"a", "an", "the"})
_IRREGULAR = {
    "mice": "mouse", "geese": "goose", "feet": "foot", "teeth": "tooth", "men": "man", "women": "woman", "oxen": "ox",
    "children": "child", "people": "person", "lice": "louse", "dice": "die", "gray": "grey",
}  # fmt: skip
_HEBREW_FINALS = str.maketrans("ךםןףץ", "כמנפצ")


def word_similarity(guess: str, target: str) -> float:
    """Return the similarity of a guessed word to the associative word.

    100 the same word (articles and typography apart); 90 another form of it (plural, -ing, -ed, American spelling,
    Hebrew plural or article); 20 one slip in a word of five or more letters; 10 two words of which one is the target,
    5 three; 0 everything else, longer lists above all.
    """
    guess, target = _bare(guess), _bare(target)
    if max(len(guess), len(target)) > 200:
        return 0.0
    left, right = _without_article(fold(guess)), _without_article(fold(target))
    if not left or not right:
        return 0.0
    if left == right or "".join(left) == "".join(right):
        return 100.0
    if len(left) != len(right):
        shorter, longer = sorted((left, right), key=len)
        parts = len(longer) - len(shorter) + 1
        return {2: 10.0, 3: 5.0}.get(parts, 0.0) if _contains(longer, shorter) else 0.0
    if left[:-1] == right[:-1] and _forms(left[-1]) & _forms(right[-1]):
        return 90.0
    one, other = "".join(left), "".join(right)
    if min(len(one), len(other)) >= 5 and OSA.distance(one, other, score_cutoff=1) <= 1:
        return 20.0
    return 10.0 if len(left) == 2 and set(left) & set(right) else 0.0


def _without_article(folded: str) -> list[str]:
    words = folded.split()
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _contains(longer: list[str], shorter: list[str]) -> bool:
    size = len(shorter)
    return any(longer[i : i + size] == shorter for i in range(len(longer) - size + 1))


def _forms(word: str) -> set[str]:
    """Return the word and its possible base forms. Two words that share one are forms of each other."""
    forms = {word, _IRREGULAR.get(word, word), word.replace("our", "or")}
    for ending, replacements in (
        ("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ves", ("f", "fe")), ("ing", ("", "e")), ("ed", ("", "e")),
    ):  # fmt: skip
        stem = word.removesuffix(ending)
        if len(stem) >= 3 and stem != word and not word.endswith("ss"):
            forms |= {stem + replacement for replacement in replacements}
            if ending in ("ing", "ed") and stem[-1] == stem[-2]:
                forms.add(stem[:-1])
    if "\u05d0" <= word[0] <= "\u05ea":
        plain = word.translate(_HEBREW_FINALS)
        forms |= {plain} | {plain.removesuffix(ending) for ending in ("ימ", "ות", "ה") if len(plain) >= 4}
        forms |= {form[1:] for form in set(forms) if form[0] == "ה" and len(form) >= 4}
    return forms


_FUNCTION_WORD_LIST = """
about after again also although because been before being both cannot could does done each either else even ever every
from further have having hence here however into itself just like many might more most much must myself near only other
ours over perhaps quite rather same shall should since some such than that their theirs them themselves then there
therefore these they this those though through thus together under until upon very were what when where which while whom
whose will with within without would your yours
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


def content_words(text: str) -> list[str]:
    """Return the folded content words, in order and with repetitions: long enough and not function words."""
    return [
        word for word in all_words(text) if len(word) >= (4 if word.isascii() else 1) and word not in _FUNCTION_WORDS
    ]


def all_words(text: str) -> list[str]:
    """Return all words, folded; each character of a script without spaces is one."""
    return _words_in(fold(text))


def shared_words(guess: str, target: str) -> tuple[int, int, int]:
    """Return the number of words in both texts in the same order, of missing words, and of superfluous ones."""
    guess, target = _bare(guess), _bare(target)
    if _out_of_proportion(guess, target):
        return 0, len(target.split()), len(guess.split())
    left, right = all_words(guess), all_words(target)
    shared = LCSseq.similarity(left, right)
    return shared, len(right) - shared, len(left) - shared
