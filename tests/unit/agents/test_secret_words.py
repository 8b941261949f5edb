"""Which secret words a passage supports."""

from __future__ import annotations

import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.questions.reading import Text
from league_agents.agents.secret_words import words_for
from league_agents.agents.word_forms import occurs_in
from league_agents.knowledge.documents import make_document
from league_agents.knowledge.domains import TEXT_WORD


def words(text: str, *, title: str = "A Book", language: str = "en", shown: str = "") -> dict[str, str]:
    document = make_document(text, source="own.txt", title=title, language=language)
    knowledge = Knowledge(documents=[document])
    volume = knowledge.fetch(knowledge.shelf[0])
    assert volume.opening is not None
    reading = volume.reading_of(volume.opening.opening_sentence)
    assert reading is not None
    return dict(words_for(knowledge, volume, reading, f"{title} {shown}"))


def test_a_word_stands_in_the_passage_as_a_noun() -> None:
    found = words("The whale sank the boat. It may rain, said the captain, and lit his pipe on the deck of the ship.")
    assert found["whale"] == "sea animal"
    assert "may" not in found


def test_a_word_is_preferred_that_is_the_only_one_of_its_domain_in_the_passage() -> None:
    text = "The whale sank the boat. Before it rained, said the captain, he had smoked a pipe on the deck of the {}."
    assert "boat" in words(text.format("house"))
    assert "boat" not in words(text.format("ship"))
    assert "boat" in words("The boat met a ship. It was late, and nobody on board had seen it come or saw it go.")


@pytest.mark.parametrize(
    ("text", "word", "domain"),
    [
        (
            "What a strange woman! And how she had laughed at us, as if we had never been there at all!",
            "woman",
            "person",
        ),
        ("The boatswain!", "ship", "vehicle"),  # not in the text, but a boatswain works on one
    ],
)
def test_a_passage_without_a_listed_word_gets_one_with_a_category_that_a_reader_understands(
    text: str, word: str, domain: str
) -> None:
    assert words(text)[word] == domain


def test_a_word_that_may_be_an_adjective_or_only_has_a_plural_is_taken_for_what_it_is() -> None:
    assert words("A single man was there. He never was so again, and they never knew why it was so.").keys() == {"man"}
    assert words("It was so at several times.").keys() == {"time"}


def test_a_line_without_a_noun_gets_a_word_of_the_next_pages() -> None:
    found = words(
        "Who is there, and why do you not answer?\n\n"
        "The dog had eaten the bread while they spoke. Why it had done so could not be told, and they never "
        "asked. So they went on as they had before, and they did not speak of it again. It was all the same to them."
    )
    assert found
    assert set(found) <= {"dog", "bread"}


def test_numbers_are_no_secret_words() -> None:
    assert words("He was the one who came of the seven.") == {}


def test_no_domain_names_the_word_itself() -> None:
    assert "bird" not in words("The bird sat on the roof and sang. Nobody had ever heard such singing in that town.")


def test_what_the_title_or_the_hint_says_is_refused() -> None:
    text = "The whale sank the boat at noon. Nobody on the deck had seen it come, and nobody on the deck saw it go."
    assert "whale" not in words(text, title="The Whale")
    assert "boat" not in words(text, shown="About a boat.")


def test_what_the_book_uses_as_a_name_is_refused() -> None:
    text = (
        "The rose was for Rose. All evening Rose sat by the window, and then Rose went to the garden with the lamp.\n\n"
        "When he saw Rose again, it was winter and Rose had married the judge, who kept a dog and a violin in a barn."
    )
    assert "rose" not in words(text)
    assert "garden" in words(text)


def test_a_passage_without_such_a_word_gets_one_of_which_it_speaks() -> None:
    found = words(
        "He played the strings with his bow until they broke. Then he stopped and laughed at what they had done."
    )
    assert found
    assert all(domain for domain in found.values())


@pytest.mark.parametrize(
    ("language", "text", "word", "domain"),
    [
        (
            "es",
            "En un lugar vivía un hidalgo con su caballo. Hace mucho que dejó su casa.",
            "caballo",
            "animal",
        ),
        ("de", "Der Hund lief durch den Regen. Niemand hatte ihn gesehen, und niemand suchte ihn.", "Hund", "Tier"),
        (
            "fr",
            "La maison était vide. Une vieille horloge y marquait des heures inutiles.",
            "maison",
            "bâtiment",
        ),
        ("he", "הילד יצא מן הבית בבוקר. הוא הלך אל הים וראה סירה קטנה.", "בית", "בניין"),
        ("zh", "話說山下有一個村子。村裡的人每天早上起來讀書。", "書", "文具"),
    ],
)
def test_in_another_language_word_and_domain_are_of_that_language(
    language: str, text: str, word: str, domain: str
) -> None:
    assert words(text, language=language)[word] == domain


def test_without_any_list_the_text_itself_gives_the_word() -> None:
    found = words("Keisari nukkui pitkään. Hovimestari odotti kynnyksellä, kunnes kynttilät sammuivat.", language="fi")
    assert found
    assert set(found.values()) == {TEXT_WORD}
    assert Knowledge(documents=[]).words_of(TEXT_WORD) == ()


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("太陽", "那天太陽很大。", True),
        ("月", "那天太陽很大。", False),
        ("בית", "הוא יצא מהבית", True),
        ("בית", "הביתה", False),
        ("grand piano", "She played the grand piano.", True),
        ("grand piano", "A grand house with a piano.", False),
    ],
)
def test_a_word_is_found_as_its_language_writes_it(word: str, text: str, expected: bool) -> None:
    assert occurs_in(word, Text(text)) is expected
