"""The word pairs of the game: the built-in ones, and how a user's own pairs are read.

Rule: the words of a pair differ in more than case, spaces and punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from league_agents.games.entry import clean_text
from league_agents.kit.errors import ConfigError
from league_agents.kit.likeness import comparable
from league_agents.kit.violation import shown

Pair = tuple[str, str]

LONGEST_WORD: Final = 60
MOST_PAIRS: Final = 1000

DEFAULT_PAIRS: Final[dict[str, tuple[Pair, ...]]] = {
    "zh": (
        ("饺子", "馄饨"),
        ("口红", "唇膏"),
        ("地铁", "公交"),
        ("图书馆", "书店"),
        ("雨伞", "雨衣"),
        ("沙发", "椅子"),
        ("毛巾", "浴巾"),
        ("蝴蝶", "蜻蜓"),
        ("火锅", "麻辣烫"),
        ("闹钟", "手表"),
        ("橙子", "橘子"),
        ("钢琴", "电子琴"),
    ),
    "en": (
        ("violin", "cello"),
        ("butter", "margarine"),
        ("owl", "eagle"),
        ("sofa", "armchair"),
        ("glove", "mitten"),
        ("lake", "pond"),
        ("lemon", "lime"),
        ("castle", "palace"),
        ("train", "tram"),
        ("pillow", "cushion"),
        ("wallet", "purse"),
        ("poem", "song"),
    ),
}


def read_pair(path: str, given: object) -> Pair:
    """Read two different words. Raises ``ConfigError`` with the path of the faulty value."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) != 2:
        raise ConfigError(path, f"must be a list of two words, found {shown(given)}")
    first, second = (_read_word(f"{path}[{place}]", word) for place, word in enumerate(given))
    if comparable(first) == comparable(second):
        raise ConfigError(path, "must be two different words; case, spaces and punctuation make no difference")
    return first, second


def read_pairs(path: str, given: object) -> tuple[Pair, ...]:
    """Read one or more pairs. Raises ``ConfigError`` with the path of the faulty value."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= MOST_PAIRS:
        raise ConfigError(path, f"must be a list of 1 to {MOST_PAIRS} pairs of words, found {shown(given)}")
    return tuple(read_pair(f"{path}[{place}]", pair) for place, pair in enumerate(given))


def _read_word(path: str, given: object) -> str:
    if not isinstance(given, str):
        raise ConfigError(path, f"must be a word, found {shown(given)}")
    cleaned = clean_text(given) if len(given) <= 4 * LONGEST_WORD else None
    word = " ".join((cleaned or "").split())
    if not comparable(word) or len(word) > LONGEST_WORD:
        raise ConfigError(path, f"must be a word of 1 to {LONGEST_WORD} characters, found {shown(given)}")
    return word
