"""Claims about what the secret word is, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.free.claims import AskedClaim, ClaimTarget, TextPart
from league_agents.agents.questions.reading import fold
from league_agents.agents.word_forms import stands_in
from league_agents.knowledge.nouns import Nouns
from league_agents.knowledge.words import stem


@dataclass(frozen=True, slots=True)
class SecretIs(AskedClaim):
    """The secret word is one of a category, named by a whole phrase."""

    phrase: str

    def check(self, target: ClaimTarget) -> bool | None:
        word = target.reading.word
        return None if word is None else is_of_category(fold(word), self.phrase, target.facts)


@dataclass(frozen=True, slots=True)
class SecretStandsIn(AskedClaim):
    """The secret word stands in a text, as it is or as its plural."""

    part: TextPart

    def check(self, target: ClaimTarget) -> bool | None:
        text, word = self.part.text(target), target.reading.word
        if text is None or word is None or self.part.is_partial(target):
            return None
        return stands_in(word, text.vocabulary)


@dataclass(frozen=True, slots=True)
class SecretNamed(AskedClaim):
    """The secret word is this one, which the question does not quote, or one of what it means: "fruit"."""

    text: str

    def check(self, target: ClaimTarget) -> bool | None:
        word = target.reading.word
        if word is None:
            return None
        if fold(word) == fold(self.text) or is_of_category(fold(word), self.text, target.facts):
            return True
        # Only another word of a known list decides: "edible" is no word, "plastic" may be meant as a category.
        listed = any(fold(self.text) == fold(each) for words in target.facts.lists.values() for each in words)
        return False if listed else None


_SAME_CATEGORY = {
    "color": "colour", "creature": "animal", "relative": "kinship", "family member": "kinship", "job": "profession",
    "occupation": "profession", "feeling": "emotion", "clothing": "garment", "item of clothing": "garment",
    "article of clothing": "garment", "precious stone": "gemstone", "gem": "gemstone", "jewel": "gemstone",
    "instrument": "musical instrument", "celestial body": "heavenly body", "weather phenomenon": "weather",
    "something to drink": "drink", "beverage": "drink", "type of weather": "weather", "body of part": "body part",
    "part of the body": "body part", "part of body": "body part", "sea creature": "sea animal", "marine animal":
    "sea animal", "season": "season", "relation": "kinship", "time of day": "time of day",
}  # fmt: skip
_ANIMALS = frozenset({"sea animal", "bird", "land animal", "insect"})
_MADE = frozenset({"kitchen tool", "furniture", "garment", "weapon", "musical instrument", "vehicle", "building",
                   "writing tool"})  # fmt: skip
_PLANTS = frozenset({"tree", "flower"})
_ABSTRACT = frozenset({"emotion", "weather", "season or time of day", "crime", "game or pastime"})
_PEOPLE = frozenset({"profession", "kinship"})
_NOT_STRICTLY = {"insect": frozenset({"spider", "scorpion", "tick", "mite", "centipede", "millipede", "woodlouse"})}
"""Words that lists and the noun data have in a category to which, strictly, they do not belong: readers differ."""

_ABOVE = {"animal": _ANIMALS, "plant": _PLANTS, "person": _PEOPLE, "human": _PEOPLE, "human being": _PEOPLE}
_APART: tuple[frozenset[str], ...] = (
    _ANIMALS | {"animal"},
    _PLANTS | {"plant"},
    _MADE | {"tool"},
    _ABSTRACT,
    _PEOPLE | {"person", "human", "human being"},
    frozenset({"landform", "heavenly body"}),
    frozenset({"body part"}),
    frozenset({"metal", "gemstone"}),
)
"""Groups of domains: a word whose only domains lie in one group belongs to no domain of another."""

_APART_WITHIN: tuple[frozenset[str], ...] = (
    frozenset({"bird", "land animal"}), frozenset({"bird", "insect"}), frozenset({"insect", "land animal"}),
    frozenset({"furniture", "weapon"}), frozenset({"furniture", "garment"}), frozenset({"vehicle", "garment"}),
    frozenset({"musical instrument", "garment"}), frozenset({"musical instrument", "vehicle"}),
    frozenset({"musical instrument", "furniture"}), frozenset({"writing tool", "furniture"}),
    frozenset({"vehicle", "furniture"}), frozenset({"weapon", "musical instrument"}),
    frozenset({"building", "garment"}), frozenset({"sea animal", "insect"}), frozenset({"metal", "gemstone"}),
    frozenset({"tree", "flower"}), frozenset({"sea animal", "land animal"}),
)  # fmt: skip
"""Domains of one group whose listed words are of one of them only."""


def is_of_category(word: str, phrase: str, facts: Facts) -> bool | None:
    """Whether the word belongs to the category that the whole phrase names; ``None`` if that is not known.

    A domain list that has the word proves "yes". "No" needs two domains, or two senses, that share nothing.
    """
    wanted = _domain_name(phrase, facts)
    own = {name for name, listed in facts.lists.items() if word in {fold(each) for each in listed}}
    wider = _ABOVE.get(wanted, frozenset({wanted}))
    if word in _NOT_STRICTLY.get(wanted, ()):
        return None
    if own & wider:
        return True
    nouns = Nouns.load()
    # The announced domain says which sense is meant: a seal among the sea animals closes no letter.
    meant = nouns.is_a(word, wanted, among=facts.word_senses) if facts.word_senses else None
    if meant is not None:
        return meant
    if nouns.is_a(word, wanted):
        return True
    if own and all(_is_apart(name, wanted) for name in own):
        return False
    # Only the senses that the word's domains mean count: "rose" is a wine too.
    heads = [sense.synset for name in own for sense in nouns.senses(_HEADS.get(name, name.split()[-1]))]
    return False if heads and nouns.is_a(word, wanted, among=heads) is False else None


_HEADS = {
    "season or time of day": "time period",
    "game or pastime": "game",
    "profession": "person",
    "kinship": "person",
}


def _domain_name(phrase: str, facts: Facts) -> str:
    name = " ".join(fold(phrase).split())
    name = _SAME_CATEGORY.get(name, name)
    by_stem = {" ".join(map(stem, domain.split())): domain for domain in facts.lists}
    trunk = " ".join(map(stem, name.split()))
    if trunk in by_stem:
        return by_stem[trunk]
    return next((other for same, other in _SAME_CATEGORY.items() if " ".join(map(stem, same.split())) == trunk), name)


def _is_apart(own: str, wanted: str) -> bool:
    if frozenset({own, wanted}) in _APART_WITHIN:
        return True
    groups = [group for group in _APART if own in group]
    return bool(groups) and any(wanted in group for group in _APART) and all(wanted not in group for group in groups)
