"""Games about books that the player does not have: what it makes of the answers alone.

Targets are the openings of catalogued works (``prd``) and passages of packaged novels (``course``), both hidden from
the player, which keeps the other third of the catalogue and the bundled lectures. Rules were tuned on one part only.
The other make of referee reads questions with patterns of its own, answers those about words, marks, first letters and
numbers of words, and declines every other kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from benchmarks.strength import OtherAnswers, play
from league_agents.agents.base import Context, PlayerAI, RefereeAI, Reply
from league_agents.agents.contexts import CallContext
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.games.q21.model import LETTERS
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, TargetKind
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.titles import title_key
from tests.support.books import cached_books

GAMES = 60
PARTS = ("tuned", "held_out")

NOVELS = (
    "A Christmas Carol",
    "Adventures of Huckleberry Finn",
    "Alice's Adventures in Wonderland",
    "Emma",
    "Frankenstein",
    "Mansfield Park",
    "Moby-Dick",
    "Narrative of the Life of Frederick Douglass",
    "Persuasion",
    "Pride and Prejudice",
    "The Adventures of Sherlock Holmes",
    "The Adventures of Tom Sawyer",
)

_QUOTED = re.compile(r"“([^”]+)”")
_WORD = re.compile(r"\w+(?:[’'-]\w+)*")
_RANGE = re.compile(r"\b([A-Z])(?: (?:to|and) ([A-Z]))?\b")
_MARKS = {"a comma": ",", "a semicolon": ";", "a question mark": "?", "an exclamation mark": "!"}
_DECLINED = "Not Relevant"


class OtherMake(OtherAnswers):
    """A referee that shares no code with the player and understands a few kinds of questions about the sentence."""

    def get_answers(self, ctx: Context) -> Reply:
        """The answers to the questions that it understands; the others are declined."""
        context = CallContext(ctx)
        sentence = context.text("actual_opening_sentence")
        return {
            "answers": [
                {"question_number": asked.number, "answer": _read(asked.text, asked.options, sentence) or _DECLINED}
                for asked in context.questions("questions")
            ]
        }


def _read(text: str, options: Sequence[str], sentence: str) -> str | None:
    words = [word.casefold() for word in _WORD.findall(sentence)]
    if "opening sentence" not in text or not words:
        return None
    is_own = not options[0].casefold().startswith("yes")
    if text.startswith("How many words"):
        return _numbered(len(words), options)
    if text.startswith("With which letter does the first word") and "begin" in text:
        return next((LETTERS[i] for i, each in enumerate(options) if _in_range(words[0][0], each)), None)
    if text.startswith("Does the first word") and "begin with a letter" in text:
        return LETTERS[0 if _in_range(words[0][0], text[text.index("letter from") :]) else 1]
    if "contain" not in text or "letters" in text.split("contain")[0]:
        return None
    claims = re.split(r"\(\d\)", text.partition(" (partially")[0])[1:] or [text.partition("contain")[2]]
    held = [_holds(claim, words, sentence) for claim in claims]
    if None in held or len(held) > 2:
        return None
    if len(held) == 1:
        return LETTERS[0 if held[0] else 1]
    if is_own:
        return LETTERS[(0 if held[1] else 1) if held[0] else (2 if held[1] else 3)]
    return LETTERS[0 if all(held) else 2 if any(held) else 1]


def _holds(claim: str, words: Sequence[str], sentence: str) -> bool | None:
    quoted = [word.casefold() for word in _QUOTED.findall(claim)]
    if quoted:
        return any(word in words for word in quoted)
    return next((mark in sentence for name, mark in _MARKS.items() if name in claim), None)


def _in_range(letter: str, text: str) -> bool:
    found = _RANGE.search(text)
    return found is not None and found[1] <= letter.upper() <= (found[2] or found[1])


def _numbered(count: int, options: Sequence[str]) -> str | None:
    for letter, option in zip(LETTERS, options, strict=False):
        ends = [int(each) for each in re.findall(r"\d+", option)]
        least = 0 if option.startswith("up to") else ends[0] if ends else 0
        most = 10**6 if option.endswith("or more") else ends[-1] if ends else 0
        if least <= count <= most:
            return letter
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPlay:
    """Means over a series of games about unknown books."""

    games: int

    similarity: float
    """Of the guessed to the true sentence, 0 to 100, as the rules score it."""

    private_score: float
    word_right: float
    confidence: float
    most_confident: float


def unknown_series(referee: RefereeAI, player: PlayerAI, *, games: int = GAMES) -> UnknownPlay:
    """Play ``games`` games about targets that the referee draws."""
    played = [play(referee, player, match_id=f"U{number:05d}") for number in range(games)]
    return UnknownPlay(
        games=games,
        similarity=fmean(game.similarity for game in played),
        private_score=fmean(game.private_score for game in played),
        word_right=fmean(game.is_word_right for game in played),
        confidence=fmean(game.confidence for game in played),
        most_confident=max(game.confidence for game in played),
    )


def measure_unknown(name: str, *, part: str, is_other_make: bool, games: int = GAMES, seed: int = 1) -> UnknownPlay:
    """One row of the benchmark. Raises ``BooksMissing``."""
    rules = {"course": COURSE, "prd": PRD}[name]
    player = OfflinePlayer(rules=rules, knowledge=players_library(), seed=seed)
    return unknown_series(referee_of(rules, part, is_other_make=is_other_make, seed=seed), player, games=games)


def referee_of(rules: RuleSet, part: str, *, is_other_make: bool, seed: int = 1) -> RefereeAI:
    """A referee that has the works of the part."""
    referee = OfflineReferee(rules=rules, knowledge=_referees_library(rules.target_kind, part), seed=seed)
    return OtherMake(referee) if is_other_make else referee


@cache
def players_library() -> Knowledge:
    """The lectures, and the third of the catalogue that is in no part."""
    hidden = {title_key(title) for title in NOVELS} | {title_key(t) for part in PARTS for t in _works_of(part)}
    return Knowledge().only(lambda title: title_key(title) not in hidden)


@cache
def _referees_library(kind: TargetKind, part: str) -> Knowledge:
    if kind is TargetKind.BOOK_OPENING:
        titles = _works_of(part)
        return Knowledge(documents=()).only(lambda title: title in titles)
    novels = NOVELS[PARTS.index(part) :: len(PARTS)]
    return Knowledge(documents=cached_books(list(novels)), catalogue=Catalogue([], Catalogue.load().domains))


def hidden_openings(part: str) -> dict[str, str]:
    """Return the openings of the part's works by their titles."""
    titles = _works_of(part)
    return {work.title: work.opening_sentence for work in Catalogue.load().works if work.title in titles}


@cache
def _works_of(part: str) -> frozenset[str]:
    novels = {title_key(title) for title in NOVELS}
    works = [work.title for work in Catalogue.load().works if title_key(work.title) not in novels]
    return frozenset(works[PARTS.index(part) :: len(PARTS) + 1])
