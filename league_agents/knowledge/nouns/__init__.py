"""English nouns with their senses: what each is, what belongs to it, and what it goes with.

Rule 1: the data is derived from WordNet 3.0 and SCOWL by ``benchmarks/make_nouns.py``; both allow it, and their notices
lie beside the data in ``LICENSE.txt``. It is read once, on first use.
Rule 2: an answer is three-valued. "No" needs a statement that two categories share nothing (``_APART``); that the data
does not list a word under a category proves nothing.

The data has two parts of lines, divided by ``SYNSETS_MARK``. Nouns, sorted: ``noun|commonness, "n" if also a
name|synset:times tagged …``, the usual sense first. Synsets, in the order of their numbers: ``lexicographer
file|hypernyms|wholes and topics|nouns|words of the definition``.
"""

from __future__ import annotations

import lzma
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from league_agents.knowledge.failures import KnowledgeError

DATA_FILE = Path(__file__).with_name("nouns.txt.xz")
SYNSETS_MARK = "="
_SURE = 0.75
"""Share of a word's uses that must belong to a category, or be apart from it, for an answer."""

_USUAL = 0.25
"""Share from which on a sense of a category counts. Senses are weighted by the number of their members: a question
about plants means the 2,500 kinds of them, though texts speak of factories more often."""

_CATEGORIES_KEPT = 512
_NOUNS_KEPT = 2_048
"""Nouns whose associations are kept: a referee compares all words of the catalogue's domains with each passage."""

_CONCRETE = 2.0
"""Weight of a thing that can be perceived, or of a feeling, relative to other senses: words are chosen for those."""

_ANIMAL, _ARTIFACT, _BODY, _FEELING, _FOOD, _OBJECT, _PERSON, _PLANT, _SUBSTANCE = 5, 6, 8, 12, 13, 17, 18, 20, 27
"""Numbers of WordNet's lexicographer files."""

_DERIVED = {
    _PERSON: frozenset({_ANIMAL, _PLANT, _FOOD}),  # "a whale of a man"
    _FOOD: frozenset({_ANIMAL}),  # octopus on a plate
    _SUBSTANCE: frozenset({_PLANT}),  # the wood of the oak
}
"""Senses that come from another one of the same word, which is the usual one unless texts say otherwise."""

_RANKS = ("leader:18", "ruler:18", "sovereign:18", "worker:18")
_NAMED_AFTER_RANKS = "insect:5"
"""Queens, soldiers, emperors and admirals are persons; the insects are named after them."""

_DERIVED_WEIGHT = 0.05
_CONCRETE_FILES = (_ANIMAL, _ARTIFACT, _BODY, _FEELING, _FOOD, _OBJECT, _PLANT, _SUBSTANCE)

_APART = (
    ("animal:3", "plant:3", "artifact:3", "feeling:3", "time period:28", "atmospheric phenomenon:19"),
    ("animal:3", "plant:3", "celestial body:17", "body of water:17", "geological formation:17", "feeling:3"),
    ("mammal:5", "bird:5", "fish:5", "reptile:5", "amphibian:5", "arthropod:5", "mollusk:5"),
    ("musical instrument:6", "vehicle:6", "furniture:6", "garment:6", "building:6"),
)
"""Categories of which no two share a member."""

_NO_PERSONS = ("animal:3", "plant:3", "artifact:3", "feeling:3", "body of water:17", "celestial body:17")
"""Categories without persons. Whether a person is an animal is another question, on which readers disagree."""

_SINGULARS = {
    "men": "man", "women": "woman", "children": "child", "feet": "foot", "teeth": "tooth", "geese": "goose",
    "mice": "mouse", "oxen": "ox", "lice": "louse", "phenomena": "phenomenon",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a noun."""

    synset: int
    """Number of the meaning; its synonyms have the same."""

    share: float
    """Estimated share of the noun's uses that have this meaning, 0 to 1."""

    is_derived: bool = False
    """Whether it comes from another sense of the noun, as "dog" for a person."""


@dataclass(frozen=True, slots=True)
class Synset:
    """One meaning and all nouns that have it."""

    file: int
    """Number of WordNet's lexicographer file: 5 animals, 6 things made, 12 feelings, 13 food …"""

    hypernyms: tuple[int, ...]
    """The more general meanings directly above."""

    wholes: tuple[int, ...]
    """What it is a part, a member or the substance of, and the field to which it belongs."""

    nouns: tuple[str, ...]
    definition: frozenset[str]
    """Words of its definition that carry meaning."""


class Nouns:
    """All nouns of the data. Read-only; threads may share it."""

    def __init__(self, text: str) -> None:
        nouns, mark, synsets = text.partition(f"\n{SYNSETS_MARK}\n")
        if not mark:
            raise KnowledgeError("the package's noun data is damaged: install league-agents again")
        self._nouns = nouns.split("\n")
        self._synsets = synsets.split("\n")
        self._meanings = lru_cache(maxsize=_CATEGORIES_KEPT)(self._category)
        self._near = lru_cache(maxsize=_NOUNS_KEPT)(self._near_to)

    @classmethod
    def load(cls) -> Nouns:
        """Return the package's data, read once. Raises KnowledgeError if the installation is damaged."""
        return _load()

    def noun(self, word: str) -> str | None:
        """Return the noun that ``word`` is or is a plural of, in lower case; ``None`` if the data has none."""
        word = " ".join(word.casefold().split())
        if word not in _SINGULARS and self._entry(word) is not None:
            return word
        return next((form for form in _singulars(word) if self._entry(form) is not None), None)

    def senses(self, word: str) -> tuple[Sense, ...]:
        """Return the senses of a noun or a plural, likeliest first; empty for an unknown one."""
        noun = self.noun(word)
        entry = self._entry(noun) if noun is not None else None
        if entry is None:
            return ()
        found = [(int(number), int(count or 0)) for number, _, count in (s.partition(":") for s in entry[2].split())]
        files = [self.synset(number).file for number, _ in found]
        derived = {file for file, sources in _DERIVED.items() if not sources.isdisjoint(files)}
        after_ranks = self._named_after_ranks([number for number, _ in found], files)
        weights = []
        for place, ((number, count), file) in enumerate(zip(found, files, strict=True)):
            # The tagged texts are few: the order of the senses says more than "never tagged".
            weight = (count + (1 + place) ** -2) * (_CONCRETE if file in _CONCRETE_FILES else 1.0)
            is_derived = number in after_ranks or (file in derived and count <= 1 and not after_ranks)
            weights.append((weight * _DERIVED_WEIGHT if is_derived else weight, is_derived))
        total = sum(weight for weight, _ in weights)
        senses = [Sense(n, weight / total, derived) for (n, _), (weight, derived) in zip(found, weights, strict=True)]
        return tuple(sorted(senses, key=lambda sense: -sense.share))

    def _named_after_ranks(self, synsets: Sequence[int], files: Sequence[int]) -> frozenset[int]:
        """Return the insects among the senses of a noun that is also a rank or an occupation."""
        if _ANIMAL not in files or _PERSON not in files:
            return frozenset()
        ranks = {self.referred(each) for each in _RANKS}
        if all(ranks.isdisjoint(self.above(number)) for number in synsets):
            return frozenset()
        insect = self.referred(_NAMED_AFTER_RANKS)
        return frozenset(number for number in synsets if insect in self.above(number))

    def commonness(self, word: str) -> int | None:
        """Return 1 (the thousand or so most common words) to 9 (known to few readers); ``None`` for an unknown noun."""
        entry = self._entry(self.noun(word) or "")
        return None if entry is None else int(entry[1][0])

    def is_name(self, word: str) -> bool:
        """Whether the noun is also a name of persons or places, such as "rose"."""
        entry = self._entry(self.noun(word) or "")
        return entry is not None and entry[1].endswith("n")

    def synset(self, number: int) -> Synset:
        """Return the synset of that number."""
        return _parsed(self._synsets[number])

    def above(self, synset: int) -> frozenset[int]:
        """Return the synset and everything above it."""
        found, waiting = {synset}, [synset]
        while waiting:
            for number in self.synset(waiting.pop()).hypernyms:
                if number not in found:
                    found.add(number)
                    waiting.append(number)
        return frozenset(found)

    def below(self, roots: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield (synset, distance) for the roots, distance 0, and everything below them, nearest first."""
        level = list(dict.fromkeys(roots))
        seen = set(level)
        distance = 0
        while level:
            yield from ((number, distance) for number in level)
            level = [n for n in dict.fromkeys(n for up in level for n in self._hyponyms.get(up, ())) if n not in seen]
            seen.update(level)
            distance += 1

    def hypernyms(self, word: str) -> tuple[tuple[str, ...], ...]:
        """Return for each sense of the noun the categories above it, nearest first."""
        found = []
        for sense in self.senses(word):
            names: dict[str, None] = {}
            level: list[int] = list(self.synset(sense.synset).hypernyms)
            while level:
                names.update(dict.fromkeys(self.synset(number).nouns[0] for number in level))
                level = list(dict.fromkeys(up for number in level for up in self.synset(number).hypernyms))
            found.append(tuple(names))
        return tuple(found)

    def is_a(self, word: str, category: str, *, among: Iterable[int] | None = None) -> bool | None:
        """Whether the noun is one of ``category``, a noun or a fixed phrase such as "musical instrument", in either
        number. ``None``: not known, or it depends on the sense.

        ``among`` limits the senses of the word to these synsets and what is below them, such as those of a domain.
        """
        categories = self._meanings(category)
        senses = self.senses(word)
        if among is not None:
            roots = frozenset(among)
            senses = tuple(sense for sense in senses if self.above(sense.synset) & roots)
        if not categories or not senses:
            return None
        sure = _SURE * sum(sense.share for sense in senses)
        agreeing = [sense for sense in senses if self.above(sense.synset) & categories]
        if sum(sense.share for sense in agreeing) >= sure:
            return True
        apart = [s.share for s in senses if all(self._is_apart(s.synset, other) for other in categories)]
        # A seal is rarely meant as an animal, but it is one; "dog" for a person is a figure of speech.
        return False if all(sense.is_derived for sense in agreeing) and sum(apart) >= sure else None

    def _category(self, noun: str) -> frozenset[int]:
        """Return the synsets that a noun means as the name of a category."""
        weights = {s.synset: s.share * sum(1 for _ in self.below([s.synset])) for s in self.senses(noun)}
        return frozenset(number for number, weight in weights.items() if weight >= _USUAL * sum(weights.values()))

    def members(self, category: str) -> tuple[str, ...]:
        """Return the nouns of a category, the most common first; empty for an unknown category."""
        found = dict.fromkeys(
            noun
            for number, _ in self.below(s.synset for s in self.senses(category))
            for noun in self.synset(number).nouns
        )
        found.pop(self.noun(category) or "", None)
        return tuple(sorted(found, key=lambda noun: (self.commonness(noun) or 9, noun)))

    def associations(self, word: str) -> frozenset[str]:
        """Return the nouns and the words that go with the usual senses of a noun: its synonyms, what it is, its wholes
        and parts, and the words of their definitions."""
        return self._near(word)

    def _near_to(self, word: str) -> frozenset[str]:
        found: set[str] = set()
        for sense in self.senses(word):
            if sense.share >= 1 / 6:
                near = self.synset(sense.synset)
                numbers = (sense.synset, *near.hypernyms, *near.wholes, *self._parts.get(sense.synset, ()))
                found.update(noun for number in numbers for noun in self.synset(number).nouns)
                found |= near.definition
        return frozenset(found - {word})

    def defined_by(self, words: Iterable[str]) -> tuple[int, ...]:
        """Return the synsets in whose definition one of the words stands, exactly as given."""
        wanted = frozenset(words)
        found = (n for n, line in enumerate(self._synsets) if not wanted.isdisjoint(line.rpartition("|")[2].split(" ")))
        return tuple(found) if wanted else ()

    def referred(self, reference: str) -> int:
        """Return the synset of a reference ``noun:file``, its first sense in that file. Raises KeyError if none is."""
        noun, _, file = reference.rpartition(":")
        entry = self._entry(noun)
        for number in entry[2].split() if entry is not None else ():
            synset = int(number.partition(":")[0])
            if self.synset(synset).file == int(file):
                return synset
        raise KeyError(reference)

    def _entry(self, noun: str) -> list[str] | None:
        place = bisect_left(self._nouns, f"{noun}|")
        if noun and place < len(self._nouns) and self._nouns[place].startswith(f"{noun}|"):
            return self._nouns[place].split("|")
        return None

    def _is_apart(self, one: int, category: int) -> bool:
        above, other = self.above(one), self.above(category)
        for group in self._apart:
            here, there = above & group, other & group
            if here and there and not here & there:
                return True
        return bool(above & self._no_persons) and self.referred("person:3") in other

    @cached_property
    def _apart(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(map(self.referred, group)) for group in _APART)

    @cached_property
    def _no_persons(self) -> frozenset[int]:
        return frozenset(map(self.referred, _NO_PERSONS))

    @cached_property
    def _hyponyms(self) -> dict[int, list[int]]:
        return self._reverse(1)

    @cached_property
    def _parts(self) -> dict[int, list[int]]:
        return self._reverse(2)

    def _reverse(self, field: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, line in enumerate(self._synsets):
            for other in line.split("|", 3)[field].split():
                found.setdefault(int(other), []).append(number)
        return found


@lru_cache(maxsize=8192)
def _parsed(line: str) -> Synset:
    file, hypernyms, wholes, nouns, definition = line.split("|")
    return Synset(
        int(file),
        tuple(map(int, hypernyms.split())),
        tuple(map(int, wholes.split())),
        tuple(nouns.split(",")),
        frozenset(definition.split()),
    )


def _singulars(word: str) -> Iterator[str]:
    """Yield the word and the singulars that it may have, likeliest first."""
    *before, last = word.split(" ") if word else [""]
    forms = [_SINGULARS.get(last, last)]  # "men" is a noun of its own, a work force
    if last.endswith("ies"):
        forms.append(last[:-3] + "y")
    if last.endswith("ves"):
        forms += [last[:-3] + "f", last[:-3] + "fe"]
    if last.endswith("men"):
        forms.append(last[:-3] + "man")
    if last.endswith("es"):
        forms += [last[:-1], last[:-2]]
    elif last.endswith("s") and not last.endswith("ss"):
        forms.append(last[:-1])
    yield from (" ".join((*before, form)) for form in forms)


@cache
def _load() -> Nouns:
    try:
        return Nouns(lzma.decompress(DATA_FILE.read_bytes()).decode())
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise KnowledgeError("the package's noun data is damaged: install league-agents again") from error
