from __future__ import annotations

from pathlib import Path

import pytest

from league_agents.knowledge import nouns as data
from league_agents.knowledge.failures import KnowledgeError
from league_agents.knowledge.nouns import Nouns

NOUNS = Nouns.load()


@pytest.mark.parametrize(
    ("word", "category", "expected"),
    [
        ("whale", "animal", True),
        ("eagles", "Birds", True),
        ("violin", "musical instrument", True),
        ("anger", "emotion", True),
        ("chisel", "tools", True),
        ("whale", "fish", False),  # mammals are no fish
        ("dog", "plant", False),
        ("dog", "person", False),
        ("joy", "animal", False),
        ("violin", "vehicle", False),
        ("whale", "land animal", None),  # no category of the data: its head alone must not be answered
        ("apple", "citrus fruit", None),  # not listed there, which proves nothing
        ("bat", "mammal", None),  # the animal or the club
        ("storm", "event", None),
        ("rose", "plant", True),  # a category means its many members, not the factory
        ("lily", "plants", True),
        ("chisel", "plant", False),
        ("seal", "animal", None),  # rarely meant, but it is one
        ("pike", "fish", None),
        ("man", "animal", None),  # readers disagree
        ("qwzx", "animal", None),
        ("whale", "qwzx", None),
        ("whale", "", None),
        ("", "animal", None),
    ],
)
def test_a_noun_is_judged_by_its_usual_sense_or_not_at_all(word: str, category: str, expected: bool | None) -> None:
    assert NOUNS.is_a(word, category) is expected


def test_a_domain_settles_the_sense_of_a_word() -> None:
    assert NOUNS.is_a("bat", "mammal", among=[NOUNS.referred("animal:3")]) is True
    assert NOUNS.is_a("gold", "metal") is None
    assert NOUNS.is_a("gold", "colour", among=[NOUNS.referred("color:7")]) is True


def test_every_pair_of_categories_said_to_be_apart_shares_no_synset() -> None:
    for group in data._APART:
        found = [{number for number, _ in NOUNS.below([NOUNS.referred(name)])} for name in group]
        for i, one in enumerate(found):
            for other in found[i + 1 :]:
                assert not one & other


def test_members_come_with_the_most_common_first_and_without_the_category_itself() -> None:
    birds = NOUNS.members("birds")
    assert {"eagle", "sparrow", "robin"} <= set(birds[:120])
    assert "bird" not in birds


def test_senses_have_shares_that_sum_to_one_the_likeliest_first() -> None:
    senses = NOUNS.senses("whale")
    assert "animal" in NOUNS.hypernyms("whale")[0]
    assert sum(sense.share for sense in senses) == pytest.approx(1)
    assert [s.share for s in senses] == sorted((s.share for s in senses), reverse=True)


def test_associations_hold_parts_wholes_and_words_of_the_definition() -> None:
    assert {"mammal", "large"} & NOUNS.associations("whale")
    assert "wheel" in NOUNS.associations("car") | NOUNS.associations("bicycle")


@pytest.mark.parametrize(("word", "noun"), [("Wolves", "wolf"), ("men", "man"), ("glass", "glass"), ("cities", "city")])
def test_plurals_are_found_by_their_nouns(word: str, noun: str) -> None:
    assert NOUNS.noun(word) == noun


def test_nouns_that_are_also_names_are_marked() -> None:
    assert NOUNS.is_name("rose")
    assert not NOUNS.is_name("kettle")


def test_damaged_data_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "nouns.txt.xz"
    damaged.write_bytes(data.DATA_FILE.read_bytes()[:1000])
    monkeypatch.setattr(data, "DATA_FILE", damaged)
    data._load.cache_clear()
    with pytest.raises(KnowledgeError, match="install league-agents again"):
        Nouns.load()
    data._load.cache_clear()


def test_the_notices_of_both_sources_lie_beside_the_data() -> None:
    notice = data.DATA_FILE.with_name("LICENSE.txt").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert "Copyright 2000-2011 by Kevin Atkinson" in notice
