"""Choice of the target, and the referee's knowledge about it.

Rule 1: a target is drawn for a match by the match's name alone. The same seed, match and books give the same target, so
a referee that lost its memory can draw it again.
Rule 2: users who add books want to play with them: about every second match uses one of them, in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import log2
from typing import NamedTuple

from league_agents.agents.difficulty import DEMANDS, FAMOUS, Demands, Difficulty
from league_agents.agents.hints import book_hints, breaks_hint, chosen_hint, fits_hint, passage_hints, rank_of
from league_agents.agents.library import Knowledge, Shelved, Volume
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.reading import CandidateReading, Text, read
from league_agents.agents.secret_words import WordWithDomain, any_words, supported_words, untold, words_for
from league_agents.games.q21.model import Brief, Target
from league_agents.games.q21.rules import RuleSet, TargetKind
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.knowledge.catalogue import Work
from league_agents.knowledge.vocabulary import BookVocabulary
from league_agents.knowledge.words import STOP_WORDS, content_words

OWN_SHARE = 0.5
"""Share of matches for the user's own books."""

_TRIES = 60
_TRIES_FOR_WORD = 12
"""Number of attempts in which a paragraph is rejected if no domain tells anything of its words."""

_MOST_SENTENCE_WORDS = 90
"""A longer opening sentence is not a fair target: no player could reproduce it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A target with everything needed to answer questions about it."""

    brief: Brief
    target: Target
    reading: CandidateReading
    facts: Facts


def choose_target(
    knowledge: Knowledge,
    rules: RuleSet,
    draw: Draw,
    difficulty: Difficulty = Difficulty.MEDIUM,
    *,
    own_share: float = OWN_SHARE,
) -> Secret:
    """Return a target of the rules' kind. Raises ConfigError if the books have none that keeps the rules.

    ``own_share`` is the share of targets from the user's own books, if one of them has a target.
    """
    demands = DEMANDS[difficulty]
    is_of_books = rules.target_kind is TargetKind.BOOK_OPENING
    own = [book for book in knowledge.shelf if book.is_own]
    if own and draw.chance(own_share):
        # Draw the book before the passage, so that books with few domain words have the same chance.
        books = draw.shuffled(own)
        # An opening such as "Who's there?" supports no word, so it is a target only if no other book has a better one.
        for needs_word, book in product((True, False) if is_of_books else (False,), books):
            if is_of_books:
                found = _book_opening(knowledge, book, rules, draw, demands, needs_word=needs_word)
            else:
                found = _passage_opening(knowledge, [book], rules, draw, demands)
            if found is not None:
                return found
    if is_of_books:
        return _work_opening(knowledge, rules, draw, demands)
    books = [book for book in knowledge.shelf if not book.is_own] or own
    if not books:
        raise ConfigError(
            "knowledge", "there is no book to choose a passage from: add one with 'league-agents corpus add'"
        )
    found = _passage_opening(knowledge, books, rules, draw, demands)
    if found is None:
        raise ConfigError("knowledge", "no passage of the known books keeps the rules: add a longer book")
    return found


def recall(knowledge: Knowledge, brief: Brief, sentence: str, word: str) -> Secret:
    """Return the secret of a target chosen earlier; the paragraph is looked up by its opening sentence."""
    target = Target(book_name=brief.book_name, opening_sentence=sentence, associative_word=word)
    volume = knowledge.volume(brief.book_name)
    seen = volume.reading_of(sentence) if volume is not None else None
    reading = _with_word(seen, word) if seen is not None else read(sentence, word=word)
    return Secret(
        brief=brief,
        target=target,
        reading=reading,
        facts=_facts(knowledge, brief.book_name, volume, brief.association_domain),
    )


def _passage_opening(
    knowledge: Knowledge, books: Sequence[Shelved], rules: RuleSet, draw: Draw, demands: Demands
) -> Secret | None:
    """Draw a passage from the books; ``None`` if no drawn passage keeps the rules."""
    drawn: list[_Drawn] = []
    for attempt in range(_TRIES):
        volume = knowledge.fetch(draw.choice(books))
        if not volume.passages:
            continue
        place = draw.below(len(volume.passages))
        sentence = volume.passages[place].opening_sentence
        if not _is_fair(sentence, rules) or _occurs_twice(volume, sentence):
            continue
        found = words_for(knowledge, volume, volume.readings[place], volume.title)
        found = supported_words(found, volume.readings[place]) or (found if attempt >= _TRIES_FOR_WORD else [])
        if all(knowledge.domains.find(domain) is None for _, domain in found) and attempt < _TRIES_FOR_WORD:
            continue
        telling = distinctness(Text(sentence), volume) if demands.candidates > 1 else 0.0
        drawn.append(_Drawn(volume, place, found, telling))
        if len(drawn) < demands.candidates:
            continue
        secret = _best_of(drawn, knowledge, rules, draw, demands)
        if secret is not None:
            return secret
        drawn.clear()
    return _best_of(drawn, knowledge, rules, draw, demands)


class _Drawn(NamedTuple):
    """A passage that may become the target."""

    volume: Volume
    place: int
    words: list[WordWithDomain]
    """Possible secret words; if empty, the word is drawn from all domains."""

    distinctness: float


def _best_of(
    drawn: Sequence[_Drawn], knowledge: Knowledge, rules: RuleSet, draw: Draw, demands: Demands
) -> Secret | None:
    """Return the preferred one of the drawn passages that have a hint."""
    for each in sorted(drawn, key=lambda one: one.distinctness, reverse=demands.prefers_distinct):
        secret = _with_hint(knowledge, each, rules, draw, demands)
        if secret is not None:
            return secret
    return None


def _with_hint(knowledge: Knowledge, drawn: _Drawn, rules: RuleSet, draw: Draw, demands: Demands) -> Secret | None:
    volume, place = drawn.volume, drawn.place
    sentence = volume.passages[place].opening_sentence
    hints = passage_hints(volume.passages, place, rules, draw.fork("hint"), volume.language)
    hint = chosen_hint(hints, demands, partial(rank_of, knowledge, book=volume.title, sentence=sentence))
    if hint is None:
        return None
    shown = f"{volume.title} {hint}"
    word, domain = draw.choice(untold(drawn.words, shown) or any_words(knowledge, shown))
    return Secret(
        brief=Brief(book_name=volume.title, book_hint=hint, association_domain=domain),
        target=Target(book_name=volume.title, opening_sentence=sentence, associative_word=word),
        reading=_with_word(volume.readings[place], word),
        facts=_facts(knowledge, volume.title, volume, domain),
    )


def distinctness(sentence: Text, volume: Volume) -> float:
    """Return how well the words of an opening sentence distinguish it from the others of its book, in bits."""
    openings = [reading.sentence.vocabulary for reading in volume.readings if reading.sentence is not None]
    telling = [word for word in sentence.vocabulary if word not in STOP_WORDS]
    return sum(log2((len(openings) + 1) / (1 + sum(word in each for each in openings))) for word in telling)


def _book_opening(
    knowledge: Knowledge, book: Shelved, rules: RuleSet, draw: Draw, demands: Demands, *, needs_word: bool
) -> Secret | None:
    """Return the opening of one of the user's books; ``None`` if it breaks the rules, or ``needs_word`` and its
    paragraph supports none.
    """
    volume = knowledge.fetch(book)
    work = knowledge.work(volume.title)
    sentence = volume.opening.opening_sentence if volume.opening is not None else ""
    if work is not None and volume.reading_of(work.opening_sentence) is not None:
        # An edition may begin with a preface by somebody else, so prefer the work's opening in the catalogue.
        sentence = work.opening_sentence
    reading = volume.reading_of(sentence)
    if reading is None or not _is_fair(sentence, rules):
        return None
    rank = partial(rank_of, knowledge, book=volume.title, sentence=None)
    hint = chosen_hint(book_hints(volume, sentence, rules), demands, rank)
    if hint is None:
        return None
    shown = f"{volume.title} {hint}"
    known = [(each.word.casefold(), each.domain) for each in work.words] if work is not None else []
    found = words_for(knowledge, volume, reading, shown, known)
    supported = supported_words(found, reading)
    if needs_word and not supported:
        return None
    word, domain = draw.choice(supported or found or any_words(knowledge, shown))
    return Secret(
        brief=Brief(book_name=volume.title, book_hint=hint, association_domain=domain),
        target=Target(book_name=volume.title, opening_sentence=sentence, associative_word=word),
        reading=_with_word(reading, word),
        facts=_facts(knowledge, volume.title, volume, domain),
    )


def _is_fair(sentence: str, rules: RuleSet) -> bool:
    """Whether a player could reproduce the sentence, and the rules allow it."""
    return len(sentence) >= rules.least_sentence_characters and len(sentence.split()) <= _MOST_SENTENCE_WORDS


def _work_opening(knowledge: Knowledge, rules: RuleSet, draw: Draw, demands: Demands) -> Secret:
    works = draw.shuffled(knowledge.catalogue.works)
    if demands.is_famous is not None:
        works.sort(key=lambda work: (work.title in FAMOUS) != demands.is_famous)
    drawn: list[tuple[float, Secret]] = []
    for work in works:
        secret = (work.title, work.english_title or "", work.opening_sentence)
        is_short = len(work.opening_sentence) < rules.least_sentence_characters
        if is_short or not work.words or not fits_hint(work.hint, rules) or breaks_hint(work.hint, secret):
            continue
        words = _words_of_work(knowledge, work)
        if not words:
            continue
        word, domain = draw.choice(words)
        brief = Brief(book_name=work.title, book_hint=work.hint, association_domain=domain)
        found = recall(knowledge, brief, work.opening_sentence, word)
        drawn.append((len(content_words(work.opening_sentence)), found))
        if len(drawn) == demands.candidates:
            break
    if not drawn:
        raise ConfigError("catalogue", "no work keeps the rules")
    prefer = max if demands.prefers_distinct else min
    return prefer(drawn, key=lambda each: each[0])[1]


def _words_of_work(knowledge: Knowledge, work: Work) -> list[WordWithDomain]:
    """Return the words that the opening of a work of the catalogue supports: of its paragraph, if a book has it.

    Their domains are those that people made lists for: few words are in question, as the sentence is known.
    """
    volume = knowledge.volume(work.title)
    reading = volume.reading_of(work.opening_sentence) if volume is not None else None
    if volume is None or reading is None:
        reading, none = read(work.opening_sentence), BookVocabulary.of([])
        volume = Volume(
            title=work.title, author=work.author, passages=(), readings=(), vocabulary=none, language=work.language
        )
    noted = [(each.word.casefold(), each.domain) for each in work.words]
    shown = f"{work.title} {work.english_title or ''} {work.hint}"
    found = supported_words(words_for(knowledge, volume, reading, shown, noted), reading)
    domains = ((pair, knowledge.domains.find(pair[1])) for pair in found)
    return [pair for pair, domain in domains if domain is not None and domain.is_listed]


def _occurs_twice(volume: Volume, sentence: str) -> bool:
    return sum(passage.opening_sentence == sentence for passage in volume.passages) > 1


def _with_word(reading: CandidateReading, word: str) -> CandidateReading:
    return CandidateReading(
        sentence=reading.sentence, paragraph=reading.paragraph, part=reading.part, word=word or None
    )


def _facts(knowledge: Knowledge, name: str, volume: Volume | None, domain: str) -> Facts:
    work = knowledge.work(name)
    author = work.author if work else (volume.author if volume else None)
    statements: Sequence[str] = work.facts if work else ()
    announced = knowledge.domains.find(domain)
    return Facts(
        title=work.title if work else name,
        author=author or "",
        year=work.year if work else None,
        statements=tuple(statements),
        lists=knowledge.catalogue.domains,
        word_senses=announced.roots if announced is not None else frozenset(),
    )
