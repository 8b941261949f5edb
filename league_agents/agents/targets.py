"""Choosing what has to be found, and what its referee knows about it.

Rule: a target is drawn for one match by its name alone. The same seed, match and books give the same target, so a
referee that lost its memory can draw it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from league_agents.agents.hints import breaks_hint, fits_hint, passage_hint
from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.questions.foreign import Facts
from league_agents.agents.questions.reading import Reading, fold, read
from league_agents.core.draw import Draw
from league_agents.errors import ConfigError
from league_agents.games.q21.model import Brief, Target
from league_agents.games.q21.rules import RuleSet, TargetKind

_TRIES = 60
_TRIES_FOR_WORD = 12
"""How many paragraphs are passed over because they hold no word of any domain."""

_MOST_SENTENCE_WORDS = 90
"""A longer opening sentence is no fair target: nobody could write it down."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DETERMINERS = _set_of(
    "a an the his her my your our their its this that these those some any no every each of two three"
)
_RARELY_NOUNS = _set_of(
    "rose lead fly bear port punch fall spring may fork iron tin can cold cool love fear hope hate calm "
    "storm might orange lark cricket bat ring saw plane match fire light present back hand face head eye "
    "arm leg"
)
"""Words of the domains that mostly mean something else; they count only after a determiner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A target with everything that answers about it need."""

    brief: Brief
    target: Target
    reading: Reading
    facts: Facts


def choose_target(knowledge: Knowledge, rules: RuleSet, draw: Draw) -> Secret:
    """A target of the rules' kind. Raises ConfigError when the books hold none that keeps the rules."""
    if rules.target_kind is TargetKind.BOOK_OPENING:
        return _work_opening(knowledge, rules, draw)
    return _passage_opening(knowledge, rules, draw)


def recall(knowledge: Knowledge, brief: Brief, sentence: str, word: str) -> Secret:
    """The secret of a target that was chosen before: the paragraph is looked up by its opening sentence."""
    target = Target(book_name=brief.book_name, opening_sentence=sentence, associative_word=word)
    volume = knowledge.volume(brief.book_name)
    place = None
    if volume is not None:
        place = next((i for i, p in enumerate(volume.passages) if p.opening_sentence == sentence), None)
    if volume is not None and place is not None:
        reading = _with_word(volume.readings[place], word)
    else:
        reading = read(sentence, word=word)
    return Secret(brief=brief, target=target, reading=reading, facts=_facts(knowledge, brief.book_name, volume))


def _passage_opening(knowledge: Knowledge, rules: RuleSet, draw: Draw) -> Secret:
    shelf = knowledge.shelf
    if not shelf:
        raise ConfigError(
            "knowledge", "there is no book to choose a passage from: add one with 'league-agents corpus add'"
        )
    for attempt in range(_TRIES):
        volume = knowledge.volume(draw.choice(shelf).title)
        if volume is None or not volume.passages:
            continue
        place = draw.below(len(volume.passages))
        passage = volume.passages[place]
        sentence = passage.opening_sentence
        is_long = len(sentence.split()) > _MOST_SENTENCE_WORDS
        if is_long or len(sentence) < rules.least_sentence_characters or _occurs_twice(volume, sentence):
            continue
        found = _words_in(knowledge, volume.readings[place])
        if not found and attempt < _TRIES_FOR_WORD:
            continue
        word, domain = draw.choice(found or _all_words(knowledge))
        hint = passage_hint(volume.passages, place, rules)
        if hint is None:
            continue
        brief = Brief(book_name=volume.title, book_hint=hint, association_domain=domain)
        return Secret(
            brief=brief,
            target=Target(book_name=volume.title, opening_sentence=sentence, associative_word=word),
            reading=_with_word(volume.readings[place], word),
            facts=_facts(knowledge, volume.title, volume),
        )
    raise ConfigError("knowledge", "no passage of the known books keeps the rules: add a longer book")


def _work_opening(knowledge: Knowledge, rules: RuleSet, draw: Draw) -> Secret:
    works = draw.shuffled(knowledge.catalogue.works)
    for work in works:
        secret = (work.title, work.english_title or "", work.opening_sentence)
        is_short = len(work.opening_sentence) < rules.least_sentence_characters
        if is_short or not work.words or not fits_hint(work.hint, rules) or breaks_hint(work.hint, secret):
            continue
        chosen = draw.choice(work.words)
        brief = Brief(book_name=work.title, book_hint=work.hint, association_domain=chosen.domain)
        target = Target(
            book_name=work.title, opening_sentence=work.opening_sentence, associative_word=chosen.word.casefold()
        )
        return recall(knowledge, brief, target.opening_sentence, target.associative_word)
    raise ConfigError("catalogue", "no work keeps the rules")


def _words_in(knowledge: Knowledge, reading: Reading) -> list[tuple[str, str]]:
    """The words of the catalogue's domains that stand in the paragraph as nouns, with their domains."""
    text = reading.paragraph or reading.sentence
    if text is None:
        return []
    surely: dict[tuple[str, str], None] = {}
    perhaps: dict[tuple[str, str], None] = {}
    before = ("", *text.folded)
    for previous, word in zip(before, text.folded, strict=False):
        for entry in knowledge.domain_forms.get(word, ()):
            if previous in _DETERMINERS:
                surely[entry] = None
            elif entry[0] not in _RARELY_NOUNS:
                perhaps[entry] = None
    return sorted(surely or perhaps)


def _all_words(knowledge: Knowledge) -> list[tuple[str, str]]:
    return [(fold(word), domain) for domain, words in sorted(knowledge.catalogue.domains.items()) for word in words]


def _occurs_twice(volume: Volume, sentence: str) -> bool:
    return sum(passage.opening_sentence == sentence for passage in volume.passages) > 1


def _with_word(reading: Reading, word: str) -> Reading:
    return Reading(sentence=reading.sentence, paragraph=reading.paragraph, part=reading.part, word=word or None)


def _facts(knowledge: Knowledge, name: str, volume: Volume | None) -> Facts:
    work = knowledge.work(name)
    author = work.author if work else (volume.author if volume else None)
    statements: Sequence[str] = work.facts if work else ()
    return Facts(
        title=work.title if work else name,
        author=author or "",
        year=work.year if work else None,
        statements=tuple(statements),
        lists=knowledge.catalogue.domains,
    )
