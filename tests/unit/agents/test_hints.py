"""Hints that tell a reader something, in the language of the text."""

from __future__ import annotations

import pytest

from league_agents.agents.hints import book_hints, breaks_hint, passage_hints
from league_agents.agents.library import Knowledge, Volume
from league_agents.agents.questions.reading import Text
from league_agents.agents.salient import likely_nouns, salient_words
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.kit.draw import Draw
from league_agents.knowledge.documents import make_document

SPANISH = """Nadie supo nunca de dónde venía aquel hombre. Llegó una tarde y no dijo nada a los vecinos del lugar, que
lo miraban con recelo desde las puertas y que después hablaron de él.

El caballo de Rodrigo era viejo y flaco. Rodrigo lo quería más que a su propia casa, y por la noche dormía con
la espada junto a la puerta del establo, porque temía a los ladrones.

Una mañana salió Rodrigo con la espada y con el caballo hacia el castillo. La gente del pueblo lo vio pasar
por el puente, y el cura rezó por él, aunque no sabía adónde iba.

En el castillo vivía una duquesa que no reía nunca. La duquesa mandó abrir las puertas, y Rodrigo entró con el
caballo hasta la escalera, sin saludar a los criados que lo miraban.

Después de muchos años la duquesa volvió a reír. Dicen que el caballo murió de viejo en el castillo, y que la
espada cuelga todavía en la pared de una sala que nadie visita.
"""
GERMAN = """Niemand wusste, woher er kam. Er ging durch das Dorf und sprach mit keinem, und abends saß er allein am Ufer
und warf Steine, bis es dunkel wurde und alle schliefen.

Der Müller fand den Brief in der Mühle. Er las ihn dem Pfarrer vor, der den Kopf schüttelte und meinte, dass
der Brief des Grafen besser im Feuer läge als in der Mühle eines Müllers.

Am Morgen kam der Graf mit seinem Hund zur Mühle. Der Hund bellte, der Müller zitterte, und der Graf verlangte
den Brief zurück, den er selbst geschrieben und längst vergessen hatte.
"""


def volume(text: str, language: str) -> Volume:
    document = make_document(text, source="own.txt", title="Uno", language=language)
    knowledge = Knowledge(documents=[document])
    return knowledge.fetch(knowledge.shelf[0])


def test_a_book_in_another_language_is_described_in_it_by_its_names_and_nouns() -> None:
    book = volume(SPANISH, "es")
    assert book.opening is not None
    sentence = book.opening.opening_sentence
    hint = next(book_hints(book, sentence, PRD))
    assert " y " in hint
    told = [word for word in ("Rodrigo", "caballo", "espada", "castillo", "duquesa") if word in hint]
    assert len(told) >= 2
    assert not breaks_hint(hint, (book.title, sentence), "es")


SHORT_SPANISH = """Nadie supo nunca de dónde venía aquel hombre tan callado, ni adónde iba.

Llegó una tarde con el caballo cansado y la espada rota. Miró hacia el castillo que ardía todavía sobre la colina,
y se fue sin decir nada, ni por qué volvía tan solo y tan triste después de todo.
"""
SHORT_ENGLISH = """Nobody ever knew where they had come from, or where they would go after that.

They came upon the horse and cut the rope with a sword. Then they saw a castle that still burned upon the hill, and went
away without telling why they had come back at all so late, and so very sad and so very tired.
"""


@pytest.mark.parametrize(
    ("language", "text", "nouns"),
    [
        ("es", SHORT_SPANISH, {"caballo", "espada", "castillo", "colina", "tarde"}),
        ("en", SHORT_ENGLISH, {"horse", "rope", "sword", "castle", "hill"}),
        ("en", SHORT_ENGLISH.replace("\n\n", " "), {"horse", "rope", "sword", "castle", "hill"}),  # all is the opening
    ],
)
def test_a_short_text_is_described_by_nouns_that_occur_only_once(language: str, text: str, nouns: set[str]) -> None:
    book = volume(text, language)
    assert book.opening is not None
    hint = next(book_hints(book, book.opening.opening_sentence, PRD))
    assert len(nouns & Text(hint).vocabulary) >= 2


RUSSIAN = """Он вышел поздно и долго стоял у ворот.

Потом зазвонили колокола, и на площади собралась толпа.
Никто не понимал, почему молчали музыканты, и все смотрели вверх, пока не погасли фонари и не стало совсем темно вокруг.
Тогда старики ушли по домам, а дети остались и ждали до утра, хотя никто уже не верил, что музыканты заиграют снова.
"""


def test_a_text_in_a_language_without_articles_is_described_by_words_of_its_pages() -> None:
    book = volume(RUSSIAN, "ru")
    assert book.opening is not None
    hint = next(book_hints(book, book.opening.opening_sentence, PRD))
    assert {"колокола", "музыканты", "собралась", "зазвонили", "понимал", "смотрели"} & Text(hint).vocabulary


def test_a_verb_that_can_be_a_noun_is_no_topic() -> None:
    text = SHORT_ENGLISH.replace("the rope", "the coming").replace("a castle", "the hunting")
    book = volume(text, "en")
    assert book.opening is not None
    hint = next(book_hints(book, book.opening.opening_sentence, PRD))
    assert not {"coming", "hunting"} & Text(hint).vocabulary
    assert "horse" in Text(hint).vocabulary


def test_a_passage_in_another_language_is_found_by_what_is_near_it_never_by_its_own_words() -> None:
    book = volume(GERMAN, "de")
    place = next(i for i, passage in enumerate(book.passages) if passage.text.startswith("Am Morgen"))
    hint = next(passage_hints(book.passages, place, COURSE, Draw(1, "hint"), "de"))
    own = Text(book.passages[place].text).vocabulary
    assert "Pfarrer" in hint or "Feuer" in hint
    assert not {"müller", "mühle", "graf", "brief", "hund"} & Text(hint).vocabulary & own


def test_stop_words_of_the_language_are_never_shown() -> None:
    book = volume(SPANISH, "es")
    found = salient_words(book.passages, (), "es", without=set(), unlike=Text(""), limit=30)
    assert found
    assert not {"con", "las", "que", "una", "por", "nunca", "porque"} & set(found)


def test_a_stop_word_in_common_with_the_secret_reveals_nothing() -> None:
    assert not breaks_hint("Se habla de «caballo».", ("El rey de Castilla",), "es")
    assert breaks_hint("Se habla de «Castilla».", ("El rey de Castilla",), "es")


def test_words_of_a_secret_text_are_not_shown() -> None:
    book = volume(SPANISH, "es")
    found = salient_words(book.passages, (), "es", without=set(), unlike=Text("Rodrigo y su caballo"))
    assert found
    assert not {"Rodrigo", "caballo"} & set(found)


@pytest.mark.parametrize(
    ("language", "text", "nouns"),
    [
        ("es", "El barco dejó la costa sin ruido.", ["barco", "costa"]),
        ("de", "Er sah den Turm und ging weiter.", ["turm"]),
        ("xx", "Keisari nukkui pitkään.", []),
    ],
)
def test_articles_and_capitals_show_nouns(language: str, text: str, nouns: list[str]) -> None:
    assert likely_nouns(text, language) == nouns
