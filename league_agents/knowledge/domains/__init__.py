"""What a referee's name of a domain means: "sea creatures", "things in a house", "feelings".

Rule 1: a name is looked up among the concepts of ``concepts.txt``, then among the nouns, then by its last noun with the
other words as a preference. A name that none of these knows has no words, and the caller goes on without it.
Rule 2: words are ranked by how likely a person would choose them: the catalogue's first, then common nouns in their
usual sense.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, reduce
from pathlib import Path

import msgspec

from league_agents.kit.values import evolve
from league_agents.knowledge.domains import lexicon
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.words import STOP_WORDS, stem, words_of

MOST_WORDS = 300
"""Most words of one domain."""

TEXT_WORD = "word of the text"
"""Domain of a word that only its text explains. It has no words: the text has them."""

_CONCEPTS_FILE = Path(__file__).with_name("concepts.txt")
_LONGEST_NAME = 100
_ALWAYS_DROPPED = frozenset({stem(word) for word in words_of(
    "kind type sort find found various different common typical typically"
)})  # fmt: skip
_FILLERS = _ALWAYS_DROPPED | {stem(word) for word in words_of(
    "name word term thing something item object related associated connected concerning used using someone one part"
)}  # fmt: skip
_SAME = {
    stem(one): stem(other)
    for one, other in (
        ("creature", "animal"), ("critter", "animal"), ("beast", "animal"), ("marine", "sea"), ("ocean", "sea"),
        ("oceanic", "sea"), ("maritime", "sea"), ("aquatic", "sea"), ("color", "colour"), ("attire", "clothing"),
        ("clothes", "clothing"), ("utensil", "tool"), ("implement", "tool"), ("cooking", "kitchen"),
        ("astronomical", "heavenly"), ("celestial", "heavenly"), ("gear", "equipment"), ("supplies", "supply"),
        ("jewelry", "jewellery"), ("legendary", "mythical"), ("mythological", "mythical"), ("fantastic", "mythical"),
        ("geometrical", "geometric"), ("meteorological", "weather"), ("bodily", "body"), ("occupational", "occupation"),
    )
}  # fmt: skip
_ALTERNATIVES = re.compile(r"\s*(?:[,/;|&]|\band\b|\bor\b)\s*")
_HEAD_FIRST = re.compile(r"\b(?:of|in|for|from|at|on|with|about|that|to|used|found|you|made)\b")
_COMMONNESS = {1: 1.0, 2: 0.9, 3: 0.5, 4: 0.3, 5: 0.2, 6: 0.12}
_LEAST_COMMON = 0.05
_PHRASE = 0.3
"""Weight of a noun of several words, relative to one of a single word: referees choose single words."""

_LISTED = 1.0
"""Weight of a word of the catalogue's list."""

_OTHER_KIND = 0.15
"""Weight of a member that the other words of the name do not describe: "garden" in "garden birds"."""

_ROOT = 4.0
"""Weight of what the concept names itself: "mast" among nautical things."""

_BY_DEFINITION = 0.3
_UNLISTED = 0.06
"""Weight of other words where the catalogue has a list, relative to a domain without a list."""

_SAME_NAME = 0.03
"""Weight of words of another language in which an English name is one too ("animal"), relative to English words."""

_OTHER_LANGUAGE = 0.3
"""Weight of a word in another language than that of the name, relative to a word of its own language."""

_DOMAINS_KEPT = 128
_RATED = 1500
"""Number of common members that are rated."""


class WordDomain(msgspec.Struct, frozen=True, kw_only=True):
    """A domain and its words."""

    name: str
    """The usual name, in English: "sea animal"."""

    words: tuple[str, ...]
    """The likeliest first; at most ``MOST_WORDS``."""

    weights: tuple[float, ...]
    """How likely each word is chosen, relative to the others; at most 1."""

    roots: frozenset[int]
    """The synsets whose members belong to the domain."""

    further: tuple[tuple[str, float], ...] = ()
    """Less likely words with their weights, likeliest first: a text in which one of them stands can mean it."""

    is_listed: bool = False
    """Whether people made its list, so that a word of the domain is likely among its first words."""


class _Concept(msgspec.Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    roots: tuple[int, ...]
    near: tuple[str, ...]
    is_announced: bool

    is_broad: bool
    """Whether it is announced only for nouns that have no other domain."""


class Domains:
    """The domains that names can mean."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        """``lists``: words by the usual name of their domain, such as the catalogue's. They rank first."""
        self._lists = {name: tuple(word.casefold() for word in words) for name, words in lists.items()}
        self._find = lru_cache(maxsize=_DOMAINS_KEPT)(self._found)
        self._of = lru_cache(maxsize=_NOUNS_KEPT)(self._announced_for)

    def find(self, name: str) -> WordDomain | None:
        """Return the domain with this name, in any number with small additions; ``None`` if it is not clear."""
        return self._find(" ".join(name[:_LONGEST_NAME].casefold().split()).strip(" .!?:;\"'“”"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The English names of all concepts and lists."""
        return (*(name for concept in _concepts() for name in concept.names), *self._lists)

    def of(self, word: str, *, broadly: bool = False) -> str | None:
        """Return the domain to announce for a noun in its usual senses; ``None`` if there is none.

        The word is one of the domain's likely words: who knows only the domain would think of it. ``broadly``: also
        look among broader domains, of which it may be any word.
        """
        return self._of(word, broadly)

    def _announced_for(self, word: str, broadly: bool) -> str | None:
        for concept in sorted(_concepts(), key=lambda each: each.is_broad):
            if concept.is_broad and not broadly:
                return None
            if concept.is_announced and _share_of(word, concept.roots) >= _USUAL_SHARE:
                domain = self.find(concept.names[0])
                if domain is not None and (word in domain.words or (concept.is_broad and word in dict(domain.further))):
                    return concept.names[0]
        return None

    def _found(self, name: str) -> WordDomain | None:
        if not name or name == TEXT_WORD or any(domain == TEXT_WORD for domain, _ in lexicon.names().get(name, ())):
            return None
        listed = self._listed(name)
        concept, left = _concept_for(name)
        native = self._native(name)
        if concept is not None:
            found = self._domain(concept.names[0], concept.roots, concept.near, left)
            return _joined(found, native, _SAME_NAME) if native is not None else found
        if native is not None:
            english = self.find(native.name)
            return _joined(native, english, _OTHER_LANGUAGE) if english is not None else native
        if listed is not None:
            return self._domain(listed, (), (), ())
        parts = [part for part in _ALTERNATIVES.split(name) if part]
        if len(parts) > 1:
            understood = [each for each in map(self.find, parts) if each is not None]
            return evolve(reduce(_joined, understood), name=name) if understood else None
        return self._by_nouns(name)

    def _native(self, name: str) -> WordDomain | None:
        pairs = lexicon.names().get(name, ())
        words = dict.fromkeys(word for domain, each in pairs for word in lexicon.words_in(each).get(domain, ()))
        if not words:
            return None
        weights = (1.0,) * len(words)
        return WordDomain(name=pairs[0][0], words=tuple(words), weights=weights, roots=frozenset(), is_listed=True)

    def _listed(self, name: str) -> str | None:
        key = _key(name)
        return next((each for each in self._lists if _key(each) == key), None)

    def _by_nouns(self, name: str) -> WordDomain | None:
        nouns = Nouns.load()
        bare = " ".join(word for word in name.split() if stem(word) not in _ALWAYS_DROPPED | {"the", "a", "an"})
        if roots := _usual(bare):
            return self._domain(nouns.noun(bare) or bare, roots, (bare,) if " " not in bare else (), ())
        before, _, after = _partition(bare)
        words = before.split()
        for start in range(1, len(words)):
            if roots := _usual(" ".join(words[start:])):
                head = nouns.noun(" ".join(words[start:])) or ""
                if stem(head) not in _FILLERS:
                    return self._domain(bare, roots, (), (*words[:start], *after.split()))
        if after and words and (roots := _usual(before)) and stem(words[-1]) not in _FILLERS:
            return self._domain(bare, roots, (), after.split())
        theme = after or bare
        return self.find(theme) if theme != name else self._by_definition(theme)

    def _by_definition(self, theme: str) -> WordDomain | None:
        near = tuple(word for word in words_of(theme) if word not in STOP_WORDS and stem(word) not in _FILLERS)
        found = self._domain(theme, (), near, ()) if near else None
        return found if found is not None and found.words else None

    def _domain(self, name: str, roots: Iterable[int], near: Sequence[str], others: Sequence[str]) -> WordDomain:
        nouns = Nouns.load()
        roots = frozenset(roots)
        wanted = _described_by(others)
        members: dict[str, list[tuple[int, float]]] = {}
        for number, distance in nouns.below(sorted(roots)):
            for noun in nouns.synset(number).nouns:
                members.setdefault(noun, []).append((number, 1.0 if distance else _ROOT))
        for number in nouns.defined_by(near):
            for noun in nouns.synset(number).nouns:
                members.setdefault(noun, []).append((number, _BY_DEFINITION))
        rated = sorted(members, key=lambda noun: (nouns.commonness(noun) or 9, noun))[:_RATED]
        weights = {noun: self._weight(noun, members[noun], wanted) for noun in rated}
        if listed := self._lists.get(name):
            weights = {noun: weight * _UNLISTED for noun, weight in weights.items()} | dict.fromkeys(listed, _LISTED)
        weights.pop(nouns.noun(name) or name, None)  # the name gives its own word away
        words, shares, further = _ranked({noun: min(1.0, weight) for noun, weight in weights.items() if weight > 0})
        return WordDomain(name=name, words=words, weights=shares, further=further, roots=roots, is_listed=bool(listed))

    def _weight(self, noun: str, places: Sequence[tuple[int, float]], wanted: frozenset[str]) -> float:
        nouns = Nouns.load()
        shares = {sense.synset: sense.share for sense in nouns.senses(noun)}
        best = 0.0
        for number, weight in places:
            fits = not wanted or not wanted.isdisjoint(_description(number))
            best = max(best, shares.get(number, 0.0) * weight * (1.0 if fits else _OTHER_KIND))
        common = _COMMONNESS.get(nouns.commonness(noun) or 9, _LEAST_COMMON)
        return common * math.sqrt(best) * (_PHRASE if " " in noun else 1.0)


_USUAL_SHARE = 0.55
_NOUNS_KEPT = 4096


def _share_of(word: str, roots: Iterable[int]) -> float:
    """Return the share of a noun's uses that belong to one of the categories."""
    nouns, wanted = Nouns.load(), frozenset(roots)
    return sum(sense.share for sense in nouns.senses(word) if nouns.above(sense.synset) & wanted)


def _ranked(
    weights: Mapping[str, float],
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[tuple[str, float], ...]]:
    """Return the likeliest words, their weights, and the other words with theirs."""
    ranked = sorted(weights, key=lambda word: (-weights[word], word))
    first = ranked[:MOST_WORDS]
    return (
        tuple(first),
        tuple(weights[word] for word in first),
        tuple((word, weights[word]) for word in ranked[MOST_WORDS:]),
    )


def _joined(one: WordDomain, other: WordDomain, share: float = 1.0) -> WordDomain:
    """Return a domain with the words of both; ``share`` is the factor on the weights of the ``other``."""
    weights = dict([*zip(one.words, one.weights, strict=True), *one.further])
    for word, weight in (*zip(other.words, other.weights, strict=True), *other.further):
        weights[word] = max(weight * share, weights.get(word, 0.0))
    words, shares, further = _ranked(weights)
    return evolve(one, words=words, weights=shares, further=further, roots=one.roots | other.roots)


def _usual(phrase: str) -> tuple[int, ...]:
    return tuple(sense.synset for sense in Nouns.load().senses(phrase) if sense.share >= 1 / 8)


def _partition(name: str) -> tuple[str, str, str]:
    """Return what stands before and after the first preposition of ``animals of the sea``."""
    found = _HEAD_FIRST.search(name)
    if found is None:
        return name, "", ""
    after = " ".join(word for word in name[found.end() :].split() if word not in STOP_WORDS)
    return name[: found.start()].strip(), found.group(), after


def _described_by(words: Iterable[str]) -> frozenset[str]:
    """Return stems of the words and of the nouns that go with them."""
    nouns = Nouns.load()
    found: set[str] = set()
    for word in words:
        if word not in STOP_WORDS and stem(word) not in _FILLERS:
            noun = nouns.noun(word)
            found.add(stem(word))
            if noun is not None:
                found.add(stem(noun))
    return frozenset(found)


@lru_cache(maxsize=8192)
def _description(number: int) -> frozenset[str]:
    """Return stems of what the data says of a synset and of what is above it."""
    nouns = Nouns.load()
    own = nouns.synset(number)
    texts = [*own.definition, *own.nouns]
    for other in (*nouns.above(number), *own.wholes):
        texts += nouns.synset(other).nouns
    return frozenset(stem(word) for text in texts for word in text.split(" "))


def _key(name: str) -> frozenset[str]:
    stems = (stem(word) for word in words_of(name) if word not in STOP_WORDS)
    return frozenset(_SAME.get(one, one) for one in stems if one not in _ALWAYS_DROPPED)


def _concept_for(name: str) -> tuple[_Concept | None, tuple[str, ...]]:
    """Return the concept that the name means and the words of the name that its names do not have."""
    keys = _concept_keys()
    key = _key(name)
    for wanted in (key, key - _FILLERS):
        if wanted in keys:
            return keys[wanted], ()
    if len(key - _FILLERS) > 1:
        inside = [known for known in keys if len(known) > 1 and known <= key]
        best = max(inside, key=lambda known: (len(known), sorted(known)), default=None)
        if best is not None:
            return keys[best], tuple(word for word in words_of(name) if _SAME.get(stem(word), stem(word)) not in best)
    return None, ()


@cache
def _concept_keys() -> dict[frozenset[str], _Concept]:
    found: dict[frozenset[str], _Concept] = {}
    for concept in _concepts():
        for name in concept.names:
            found.setdefault(_key(name), concept)
    return found


@cache
def _concepts() -> tuple[_Concept, ...]:
    nouns = Nouns.load()
    found = []
    for line in _CONCEPTS_FILE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        rest, _, near = line.removeprefix("* ").removeprefix("+ ").partition(" ~ ")
        names, _, roots = rest.partition(" > ")
        found.append(
            _Concept(
                names=tuple(names.split(", ")),
                roots=tuple(dict.fromkeys(nouns.referred(root) for root in _references(roots))),
                near=tuple(near.split()),
                is_announced=line.startswith(("* ", "+ ")),
                is_broad=line.startswith("+ "),
            )
        )
    return tuple(found)


def _references(text: str) -> list[str]:
    return [reference.strip() for reference in re.findall(r"[^:]+:\d+", text)]
