from __future__ import annotations

import pytest

from benchmarks.word_pairs import TUNED
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.domains import MOST_WORDS, TEXT_WORD, Domains, lexicon

DOMAINS = Domains(Catalogue.load().domains)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("sea creatures", "whale"),
        ("Animals of the sea", "octopus"),
        ("kitchen tools", "spatula"),
        ("feelings", "nostalgia"),
        ("things in a house", "cupboard"),
        ("vegetables", "carrot"),  # no concept needed: the noun has members
        ("wooden furniture", "table"),
        ("fruit and vegetables", "apple"),
        ("fruit and vegetables", "carrot"),
        ("kinds of containers", "bucket"),
    ],
)
def test_a_name_in_free_words_leads_to_the_words_that_people_choose(name: str, word: str) -> None:
    found = DOMAINS.find(name)
    assert found is not None
    assert word in found.words


def test_most_of_the_pairs_that_the_names_were_tuned_on_are_found() -> None:
    """The share on other pairs is measured by scripts/bench."""
    found = [(domain := DOMAINS.find(name)) is not None and word in domain.words for word, name in TUNED[::6]]
    assert sum(found) >= 0.8 * len(found)


def test_words_are_ranked_and_bounded_and_never_the_name_itself() -> None:
    animals = DOMAINS.find("animals")
    assert animals is not None
    assert len(animals.words) == MOST_WORDS
    assert list(animals.weights) == sorted(animals.weights, reverse=True)
    assert 0 < min(animals.weights) <= max(animals.weights) <= 1
    assert "animal" not in animals.words


def test_the_words_of_a_list_come_first() -> None:
    own = Domains({"sea animal": ["Kraken", "whale"]})
    found = own.find("sea animals")
    assert found is not None
    assert found.is_listed
    assert set(found.words[:2]) == {"kraken", "whale"}
    assert "dolphin" in found.words


@pytest.mark.parametrize("name", ["", "   ", "?!", "qwzx vrtk", "of the", "x" * 5000, "﷽", "a\x00b"])
def test_a_name_that_says_nothing_has_no_words(name: str) -> None:
    assert DOMAINS.find(name) is None


@pytest.mark.parametrize(
    ("word", "domain"),
    [("octopus", "sea animal"), ("violin", "musical instrument"), ("grief", "emotion"), ("idea", None), ("qwzx", None)],
)
def test_a_noun_has_the_domain_of_its_usual_sense(word: str, domain: str | None) -> None:
    assert DOMAINS.of(word) == domain


@pytest.mark.parametrize(
    ("word", "domain"),
    [
        ("queen", "royalty"),  # texts about bees were counted, but readers think of persons
        ("emperor", "royalty"),  # a moth has its name
        ("soldier", "profession"),
        ("car", "vehicle"),  # a container by its definition
        ("bee", "insect"),
        ("patient", "person"),
        ("honesty", "human quality"),
        ("heel", None),  # no boundary
    ],
)
def test_a_noun_without_a_narrow_domain_has_a_broader_one_that_people_would_name(word: str, domain: str | None) -> None:
    assert DOMAINS.of(word, broadly=True) == domain


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("מאכלים", "לחם"),
        ("Küchengeräte", "Löffel"),
        ("动物", "马"),
        ("meubles", "chaise"),
        ("muebles", "mesa"),
        ("погода", "снег"),
    ],
)
def test_common_domains_are_understood_in_other_languages_with_english_words_after_their_own(
    name: str, word: str
) -> None:
    found = DOMAINS.find(name)
    assert found is not None
    assert word in found.words[:25]
    assert any(each.isascii() for each in found.words)


def test_every_domain_of_the_lexicon_is_a_concept_or_the_text_itself() -> None:
    domains = {domain for pairs in lexicon.names().values() for domain, _ in pairs}
    assert all(DOMAINS.find(domain) is not None for domain in domains - {TEXT_WORD})
    assert DOMAINS.find(TEXT_WORD) is None


def test_a_name_that_is_english_too_has_english_words_first() -> None:
    found = DOMAINS.find("emotion")  # also German
    assert found is not None
    assert found.words.index("joy") < found.words.index("Freude")
    assert found.weights[found.words.index("Freude")] <= 0.03
