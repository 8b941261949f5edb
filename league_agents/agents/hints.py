"""A hint that is true, general, and shares no content word with what is secret.

Rule: checked in code, word by word. The words of a hint come from the pages around the secret paragraph, never from it,
so it says where the paragraph stands and not what it says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from league_agents.agents.questions.reading import fold
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.words import count_tokens
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.words import HAN_RUN, STOP_WORDS, content_words, han_pairs, stem, words_of

_REACH = 3
"""How many paragraphs before and after are looked at."""

_FRAMES = (
    "Close by, the pages turn to {}.",
    "Around this place one reads of {}.",
    "Its neighbourhood deals with {}.",
    "Surrounded by: {}.",
    "{}",
)
_PLAIN = (
    "Only careful questions about wording will lead there.",
    "Ask well, because little can be revealed beforehand.",
    "Nothing else may be disclosed at present.",
    "Twenty good questions should suffice.",
)


def breaks_hint(hint: str, secret: Iterable[str]) -> bool:
    """Whether the hint shares a content word, or any word of four letters or more, with one of the secret texts."""
    said = content_words(hint)
    long_words = {word for word in words_of(hint) if len(word) >= 4 and not HAN_RUN.match(word)}
    return any(said & content_words(text) or long_words & set(words_of(text)) for text in secret)


def fits_hint(hint: str, rules: RuleSet) -> bool:
    """Whether the hint keeps the rules' lengths."""
    least, most = rules.hint_characters
    return least <= len(hint) <= most and count_tokens(hint) <= rules.hint_most_words


def passage_hint(passages: Sequence[Passage], place: int, rules: RuleSet) -> str | None:
    """A hint for ``passages[place]`` from the pages around it; ``None`` when none keeps the rules."""
    secret = (passages[place].book, passages[place].text)
    keywords = _keywords(passages, place)
    for frame in _FRAMES:
        for count in range(min(6, len(keywords)), 1, -1):
            hint = frame.format(_listed(keywords[:count]))
            hint = hint[0].upper() + hint[1:]
            if fits_hint(hint, rules) and not breaks_hint(hint, secret):
                return hint
    return next((hint for hint in _PLAIN if fits_hint(hint, rules) and not breaks_hint(hint, secret)), None)


def _keywords(passages: Sequence[Passage], place: int) -> list[str]:
    """Words that the neighbours of a passage use and the book at large does not, most telling first."""
    own = content_words(passages[place].text) | content_words(passages[place].book)
    near = [
        passages[i]
        for i in range(max(0, place - _REACH), min(len(passages), place + _REACH + 1))
        if i != place and passages[i].chapter == passages[place].chapter
    ]
    forms: dict[str, Counter[str]] = {}
    spread: Counter[str] = Counter()
    for passage in near:
        seen = set()
        for word in _written(passage.text):
            trunk = word if HAN_RUN.match(word) else stem(fold(word))
            if trunk not in own:
                forms.setdefault(trunk, Counter())[word] += 1
                seen.add(trunk)
        spread.update(seen)
    # A sample of the book says well enough which words are common in it.
    step = max(1, len(passages) // 150)
    everywhere: Counter[str] = Counter()
    for passage in passages[::step]:
        everywhere.update({word if HAN_RUN.match(word) else stem(fold(word)) for word in _written(passage.text)})
    sampled = len(passages[::step])

    def telling(trunk: str) -> tuple[float, int, str]:
        return (-spread[trunk] * math.log((sampled + 1) / (everywhere[trunk] + 1)), -len(trunk), trunk)

    return [max(sorted(forms[t]), key=lambda form, t=t: forms[t][form]) for t in sorted(forms, key=telling)[:12]]  # type: ignore[misc]


def _written(text: str) -> list[str]:
    """Content words of four letters or more as they are written, and pairs of Chinese characters."""
    found: list[str] = []
    opens = True
    for token in text.replace("_", " ").split():
        word = token.strip(" .,;:!?\"'“”‘’()[]—–-…«»")
        # At the beginning of a sentence a capital says nothing: "Choosing" is no name.
        word = word.lower() if opens else word
        opens = token.rstrip("\"'”’)»").endswith((".", "!", "?", ":"))
        if HAN_RUN.search(word):
            found += [pair for run in HAN_RUN.findall(word) for pair in han_pairs(run)]
        elif word.isalpha() and len(word) >= 4 and fold(word) not in STOP_WORDS:
            found.append(word)
    return found


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]
