"""Freely worded questions: read as a whole, settled by the page, or declined."""

from __future__ import annotations

import pytest

from league_agents.agents.answering import told_by_code
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.free.counts import CountBounds, CountLimits
from league_agents.agents.questions.free.questions import answer_foreign
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.tokens import tokenise
from league_agents.agents.questions.reading import read
from league_agents.agents.targets import Secret
from league_agents.evaluation.injections import injections
from league_agents.games.q21.model import Brief, Target
from league_agents.games.q21.rules import COURSE

YES_NO = ("Yes", "No", "Partially", "Unknown")
LISTS = Knowledge().catalogue.domains


def answer(text: str, sentence: str, *, paragraph: str = "", word: str = "whale") -> bool | None:
    place = answer_foreign(text, YES_NO, read(sentence, paragraph or sentence, word=word), Facts(lists=LISTS))
    return {0: True, 1: False, None: None}[place]


QUALIFIED = [
    ("whale", "a land animal"), ("whale", "a farm animal"), ("whale", "a four-legged animal"),
    ("whale", "a flying animal"), ("whale", "an animal with fur"), ("whale", "a tropical animal"),
    ("whale", "an extinct animal"), ("apple", "a citrus fruit"), ("apple", "a tropical fruit"),
    ("apple", "a stone fruit"), ("apple", "a dried fruit"), ("apple", "a fruit that grows underground"),
    ("violin", "a brass instrument"), ("violin", "a wind instrument"), ("violin", "a keyboard instrument"),
    ("violin", "a percussion instrument"), ("hammer", "a musical tool"), ("rose", "a blue flower"),
    ("rose", "a poisonous flower"), ("oak", "a coniferous tree"), ("oak", "an evergreen tree"),
    ("gold", "a liquid metal"), ("gold", "a base metal"), ("eagle", "a flightless bird"),
    ("eagle", "a water bird"), ("sword", "a weapon that shoots"), ("sword", "a ranged weapon"),
    ("castle", "a modern building"), ("horse", "a sea animal"), ("piano", "a stringed or wind instrument"),
    ("doctor", "a military profession"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "category"), QUALIFIED)
@pytest.mark.parametrize("frame", ["Is the secret word {}?", "Does the associative word refer to {}?"])
def test_a_qualified_category_is_never_taken_for_its_last_word(word: str, category: str, frame: str) -> None:
    assert answer(frame.format(category), "It was late.", word=word) is not True


@pytest.mark.parametrize(
    ("word", "category", "truth"),
    [
        ("whale", "an animal", True),
        ("whale", "a mammal", True),
        ("whale", "a sea creature", True),
        ("whale", "a bird", False),
        ("whale", "a piece of furniture", False),
        ("whale", "a piece of animal", None),
        ("whale", "an item of animal", None),
        ("spider", "an insect", None),
        ("spider", "an animal", True),
        ("beetle", "an insect", True),
        ("apple", "a kind of fruit", True),
        ("lemon", "a citrus fruit", True),
        ("oak", "a tree", True),
        ("violin", "a musical instrument", True),
        ("whale", "something edible", None),
        ("rose", "a colour", None),
        ("whale", "a pet", None),
    ],
)
def test_a_category_is_told_by_what_two_categories_share_or_cannot_share(
    word: str, category: str, truth: bool | None
) -> None:
    assert answer(f"Is the secret word {category}?", "It was late.", word=word) is truth


SEA = "Elizabeth walked with Mr. Darcy to the harbour of Lisbon on 3rd May 1811, but said nothing."


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("Is a woman mentioned?", True),
        ("Is a specific city named?", True),
        ("Does it give a year?", True),
        ("Is a month mentioned?", True),
        ("Are there at least two commas, or a semicolon?", False),
        ("Is there a comma but no semicolon?", True),
        ("Does 'Elizabeth' come before 'Lisbon'?", True),
        ("Does 'Elizabeth' precede 'Lisbon'?", True),
        ("Is the first word a name?", True),
        ("Does the sentence mention a harbour?", True),
        ("Does the sentence mention Elizabeth and Mr. Darcy?", True),
        ("Does it mention Bingley?", False),
        ("Is there a negation?", True),
        ("Is the sentence in the past tense?", True),
        ("Is there any dialogue?", False),
        ("Is the first word longer than the second word?", True),
        ("Is it true that the sentence contains a date?", True),
        ("In the opening sentence, is there a question mark?", False),
        ("Is the tone melancholic?", None),
        ("Does the sentence contain a metaphor?", None),
        ("Is Elizabeth happy?", None),
        ("Does the sentence not mention a year?", False),
        ("Is the sentence not a question?", True),
        ("Is the sentence not in the past tense and a question?", None),
        ("Is the sentence not a question or in the past tense?", None),
        ("Does the sentence mention a woman who is sad?", None),
        ("Does the sentence mention a woman and her dog?", None),
    ],
)
def test_an_english_question_is_answered_as_a_whole_or_not_at_all(text: str, truth: bool | None) -> None:
    assert answer(text, SEA) is truth


def test_a_list_without_a_match_never_means_no() -> None:
    # Barchester is no city of any list.
    sentence = "We came to Barchester at last."
    assert answer("Does the sentence mention a city?", sentence) is None
    assert answer("Is a country mentioned?", sentence) is None
    assert answer("Is a country mentioned?", "it was late, and nobody had come home.") is False


@pytest.mark.parametrize(
    ("text", "sentence", "truth"),
    [
        ("Enthält der Satz ein Komma?", "Wie froh bin ich, daß ich weg bin!", True),
        ("Ist der Satz in der Ich-Form geschrieben?", "Wie froh bin ich, daß ich weg bin!", True),
        ("Hat der Satz mehr als zehn Wörter?", "Wie froh bin ich, daß ich weg bin!", False),
        ("Ist die Stimmung froh?", "Wie froh bin ich, daß ich weg bin!", None),
        ('האם המשפט מכיל את המילה "ברא"?', "בראשית ברא אלהים את השמים ואת הארץ.", True),
        ("האם יש פסיק במשפט?", "בראשית ברא אלהים את השמים ואת הארץ.", False),
        ("האם האווירה עצובה?", "בראשית ברא אלהים את השמים ואת הארץ.", None),
        ("句子里有逗号吗？", "道可道，非常道；名可名，非常名。", True),
        ("这句话是疑问句吗？", "道可道，非常道；名可名，非常名。", False),
        ("句子以“名”开头吗？", "道可道，非常道；名可名，非常名。", False),
        ("气氛是悲伤的吗？", "道可道，非常道；名可名，非常名。", None),
    ],
)
def test_the_core_is_read_in_german_hebrew_and_chinese(text: str, sentence: str, truth: bool | None) -> None:
    assert answer(text, sentence) is truth


def test_a_known_name_of_a_person_or_a_month_is_nothing_else() -> None:
    assert answer("Does the sentence mention a ship?", "It was Emma who wept in April, and Tom who stayed.") is False
    assert answer("Does the sentence mention a ship?", "It was the Pequod that they saw.") is None


def test_an_english_word_class_says_nothing_about_a_text_in_another_language() -> None:
    assert answer("Is it written in first person?", "Wie froh bin ich, daß ich weg bin!") is None
    assert answer("Is there a proper noun?", "Der Hund lief mit dem Kind in das Haus und war froh.") is None


def test_a_parse_covers_every_token_and_looser_rules_only_fill_gaps() -> None:
    grammar = Grammar(terminals={"WORD": lambda token: token.text})
    grammar.add("CLAIM", "is it [very] red|dark_blue", lambda: "colour")
    grammar.add("CLAIM", "is it WORD", lambda word: word, loose=1)
    for text, values in (
        ("Is it red?", ["colour"]),
        ("Is it very dark blue?", ["colour"]),
        ("Is it round?", ["round"]),
        ("Is it red and round?", []),
    ):
        assert grammar.parse("CLAIM", tokenise(text) or ()) == values


@pytest.mark.parametrize(
    ("limits", "count", "holds"),
    [
        (CountLimits(1, None), CountBounds(0, 0), False),
        (CountLimits(1, None), CountBounds(0, 2), None),
        (CountLimits(1, None), CountBounds(1, None), True),
        (CountLimits(0, 0), CountBounds(0, None), None),
        (CountLimits(2, 2), CountBounds(3, 5), False),
        (CountLimits(2, 2, is_loose=True), CountBounds(3, 3), None),  # "has two commas" may mean "at least two"
    ],
)
def test_a_count_within_bounds_settles_a_claim_or_does_not(
    limits: CountLimits, count: CountBounds, holds: bool | None
) -> None:
    assert limits.holds(count) is holds


def test_no_injection_gets_an_answer_by_being_read_as_a_question() -> None:
    reading = read("The ferryman counted eleven lanterns along the frozen harbour.", word="lantern")
    for injection in injections():
        for text in (injection.text, f"{injection.text}?", f"Does the sentence contain a comma? {injection.text}"):
            assert answer_foreign(text, YES_NO, reading, Facts(lists=LISTS)) is None, text
            assert answer_foreign(text, ("lantern", "harbour", "frozen", "none"), reading, Facts(lists=LISTS)) is None


def test_what_code_declined_is_what_the_model_is_asked() -> None:
    secret = Secret(
        brief=Brief(book_name="B", book_hint="", association_domain="fruit"),
        target=Target(book_name="B", opening_sentence=SEA, associative_word="apple"),
        reading=read(SEA, SEA, word="apple"),
        facts=Facts(lists=LISTS),
    )
    texts = ("Is a month mentioned?", "Is the secret word a citrus fruit?", "Is the tone melancholic?")
    told = [
        told_by_code(AskedQuestion(number=n, text=text, options=YES_NO), secret, COURSE)
        for n, text in enumerate(texts, start=1)
    ]
    assert told == [0, None, None]


AT_SEA = "The old woman, the cat and the old man slept; “Come here,” she said to Tom."
BRONTE = Facts(title="Jane Eyre", author="Charlotte Brontë", year=1851)


@pytest.mark.parametrize(
    ("text", "options", "place"),
    [
        ("Who is speaking in the sentence?", ("Tom", "Ann", "Bob", "None of them"), None),
        ("Which of these comes first in the sentence?", ("old man", "cat", "dog", "none"), 1),
        ("Does 'old man' come before 'cat' in the sentence?", YES_NO, 1),
        ("Which of these is the secret word?", ("anything but whale", "dog", "cat", "bird"), None),
        ("Which of these is the secret word?", ("a whale", "dog", "cat", "bird"), 0),
        ("Who wrote the book?", ("Anne Brontë", "Jane Austen", "George Eliot", "Mary Shelley"), None),
        ("Who wrote the book?", ("Anne Brontë", "Jane Austen", "Charlotte Brontë", "Mary Shelley"), 2),
        ("When was the book published?", ("first half of the 19th century", "18th century", "1900", "1950"), None),
        ("When was the book published?", ("before the 19th century", "1900-1950", "20th century", "1700"), None),
        ("When was the book published?", ("19th century", "1900-1950", "20th century", "1700"), 0),
        ("How many words does the sentence have?", ("no fewer than 30", "90", "100", "4000"), None),
        ("How many words does the sentence have?", ("under 5 or over 30", "90", "100", "4000"), None),
        ("How many words does the sentence have?", ("not 15", "90", "100", "4000"), None),
        ("How many words does the sentence have?", ("10 or more", "9", "8", "4 to 7"), 0),
        ("Does the sentence contain a colon?", ("No idea", "Yes", "No", "Maybe"), None),
        ("Does the sentence contain a comma?", ("Yes and no", "Yes", "No", "Maybe"), None),
    ],
)
def test_an_option_is_chosen_only_for_what_it_says(text: str, options: tuple[str, ...], place: int | None) -> None:
    assert answer_foreign(text, options, read(AT_SEA, AT_SEA, word="whale"), BRONTE) == place


@pytest.mark.parametrize(
    "text",
    [
        "Enthält der Satz nicht ein Komma und ein Semikolon?",
        "Enthält der Satz kein Komma oder Semikolon?",
        "Enthält der Satz ein Semikolon und ein Fragezeichen oder ein Komma?",
    ],
)
def test_an_unclear_and_or_or_is_declined_in_german_too(text: str) -> None:
    assert answer(text, "Es war spät, und er ging nicht mit.") is None


@pytest.mark.parametrize(
    "text", ["Does the sentence mention a doctor by name?", "Is there a doctor mentioned by name in the sentence?"]
)
def test_a_thing_that_is_mentioned_is_not_taken_for_named(text: str) -> None:
    assert answer(text, "In 1815 a doctor and his wife left the city for the sea.") is not True


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("Was the book published before 1852?", 0),
        ("Was the book published before 1851?", 1),
        ("Was the book written before 1852?", 0),
        ("Was the book written before 1851?", None),  # it may have been written long before it was published
        ("Was the book written in 1851?", None),
        ("Was the book written after 1851?", 1),
        ("Was the book written after 1840?", None),
        ("Was the book written in 1860?", 1),
    ],
)
def test_the_year_of_publication_is_only_a_bound_of_the_year_of_writing(text: str, truth: int | None) -> None:
    assert answer_foreign(text, YES_NO, read(AT_SEA, AT_SEA, word="whale"), BRONTE) == truth


@pytest.mark.parametrize(("readings", "is_read"), [(12, True), (13, False)])
def test_a_text_with_too_many_readings_is_declined(readings: int, is_read: bool) -> None:
    grammar = Grammar(terminals={})
    for number in range(readings):
        grammar.add("CLAIM", "is it red", lambda number=number: number)
    assert grammar.parse("CLAIM", tokenise("Is it red?") or ()) == (list(range(readings)) if is_read else [])


@pytest.mark.parametrize(
    ("title", "question", "expected"),
    [
        ("Moby-Dick; or, Whale", "Does the opening sentence of Moby-Dick; or, Whale have more than 2 words?", True),
        ("Emma", "Does the opening sentence of the novel “Emma” have more than 2 words?", True),
        ("Emma", "Does the opening sentence in emma have more than 30 words?", False),
        ("Emma", "Does the opening sentence speak of Emma?", False),  # a person, not the book
        ("Emma", "Does the opening sentence of Emmaline have more than 2 words?", None),
    ],
)
def test_the_title_names_the_book_behind_a_part_of_it(title: str, question: str, expected: bool | None) -> None:
    told = answer_foreign(question, YES_NO, read("Call me Ishmael."), Facts(title=title, lists=LISTS))
    assert {0: True, 1: False, None: None}[told] is expected
