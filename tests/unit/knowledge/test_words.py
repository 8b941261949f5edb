from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.knowledge.words import content_words, forms_of_stems, stem, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("whale", "whales"),
        ("wife", "wives"),
        ("wolf", "wolves"),
        ("story", "stories"),
        ("church", "churches"),
        ("glass", "glasses"),
        ("happy", "happily"),
        ("happy", "happiness"),
        ("dark", "darkness"),
        ("love", "loved"),
        ("love", "loving"),
        ("stop", "stopped"),
        ("run", "running"),
        ("carry", "carried"),
        ("truth", "truth's"),
        ("man", "men"),
        ("write", "wrote"),
        ("house", "houses"),
    ],
)
def test_forms_of_one_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sail", "sailor"),
        ("prince", "princess"),
        ("universe", "university"),
        ("king", "kin"),
        ("bus", "bu"),
        ("thing", "th"),
        ("red", "r"),
        ("bless", "ble"),
    ],
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_words_come_in_order_with_case_accents_and_points_folded() -> None:
    assert words_of("L’Été, CAFÉ; naïve!") == ["l'ete", "cafe", "naive"]
    assert words_of('בְּרֵאשִׁית צה"ל') == ["בראשית", 'צה"ל']
    assert words_of("道可道 and Tao") == ["道可道", "and", "tao"]


def test_content_words_leave_out_what_every_text_has() -> None:
    assert content_words("It was the whale, and the whales' wives had not seen it.") == {stem("whale"), "wif", "see"}
    assert content_words("I don't know that he's here.") == {"know"}


def test_chinese_content_is_pairs_of_characters() -> None:
    assert content_words("非常道") == {"非常", "常道"}
    assert content_words("道 的") == {"道"}


@given(st.text(max_size=200))
def test_no_text_breaks_the_words(text: str) -> None:
    assert all(words_of(text))
    assert all(content_words(text))


@given(st.text(alphabet=st.characters(categories=["Ll"]), min_size=1, max_size=80))
def test_a_stem_is_never_empty(word: str) -> None:
    assert stem(word)


def test_the_forms_of_stems_are_those_whose_stem_it_is() -> None:
    words = ["went", "goes", "gold", "wives", "wife", "sailed", "sailing", "sail", "fly", "flies", "sea", "ox"]
    stems = {"go", "wif", "sail", "fli"}
    expected: dict[str, list[str]] = {}
    for word in words:
        if stem(word) in stems:
            expected.setdefault(stem(word), []).append(word)
    assert forms_of_stems(stems, words) == expected
    assert set(expected) == stems
    assert forms_of_stems(set(), words) == {}
