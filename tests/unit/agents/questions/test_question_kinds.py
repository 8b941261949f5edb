"""Every kind of question against answers found by reading the sentence with one's own eyes."""

from __future__ import annotations

import pytest

from league_agents.agents.questions import four_options as four
from league_agents.agents.questions import yes_no as two
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES, Inquiry, Scope, Thing, WordSubject
from league_agents.agents.questions.reading import CandidateReading, read

SENTENCE = "Old Captain Brown's dog, whose name was Max, barked at twenty-one geese; nobody cared."
PARAGRAPH = f"{SENTENCE} “Be quiet!” cried Anna. The geese went to the river, and Max slept until noon."
READING = read(SENTENCE, PARAGRAPH, part=0.3, word="river")

S, P = Scope.SENTENCE, Scope.PARAGRAPH
QUARTERS = (("A", "F"), ("G", "L"), ("M", "R"), ("S", "Z"))
A, B, C, D = range(4)


def word(text: str) -> Thing:
    return Thing(words=(text,))


KINDS: list[tuple[Inquiry, int | None]] = [
    (four.LetterRange(WordSubject.FIRST, False, QUARTERS), C),  # Old
    (four.LetterRange(WordSubject.SECOND, False, QUARTERS), A),  # Captain
    (four.LetterRange(WordSubject.THIRD, True, QUARTERS), D),  # Brown's
    (four.LetterRange(WordSubject.LAST_BUT_ONE, False, QUARTERS), C),  # nobody
    (four.LetterRange(WordSubject.LAST, True, QUARTERS), A),  # cared
    (four.LetterRange(WordSubject.ASSOCIATIVE, False, QUARTERS), C),  # river
    (four.LetterCount(WordSubject.SECOND, (3, 5, 7)), C),  # Captain: 7
    (four.LetterCount(WordSubject.THIRD, (3, 5, 7)), None),  # Brown's: 5 or 6, readers differ
    (four.LetterCount(WordSubject.ASSOCIATIVE, (3, 4, 6)), C),  # river: 5
    (four.TwoLetters(WordSubject.LAST, "E", "O"), B),  # cared: only E
    (four.TwoThings(S, word("dog"), word("cat")), B),
    (four.TwoThings(S, word("Brown"), word("max")), A),  # "Brown's" shows Brown; case does not count
    (four.TwoThings(S, Thing(mark="a semicolon"), Thing(mark="a question mark")), B),
    (four.TwoThings(P, word("cat"), word("noon")), C),
    (four.TwoThings(P, word("cat"), Thing(words=("mouse", "rat"))), D),
    (four.WhichComesFirst(P, ("river", "geese", "noon")), B),
    (four.WhichComesFirst(S, ("river", "he", "she")), D),
    (four.HowMany("words", (10, 13, 16)), C),  # 14 words, twenty-one is one
    (four.HowMany("commas", (0, 1, 2)), C),
    (four.HowMany("capitals", (0, 1, 2)), D),  # Captain, Brown's, Max
    (four.WhereSpeech(), B),
    (four.WhichQuarter(), B),
    (four.WhichList((("sea", "river"), ("hill",), ("wood",))), A),
    (four.WhichList((("sea",), ("hill",), ("wood",))), D),
    (two.LetterBetween(WordSubject.FIRST, False, "M", "R"), YES),
    (two.LetterBetween(WordSubject.LAST, True, "M", "R"), NO),
    (two.BothBetween(WordSubject.FIRST, ("A", "L"), WordSubject.SECOND, ("A", "L")), PARTIALLY),
    (two.BothBetween(WordSubject.FIRST, ("M", "Z"), WordSubject.SECOND, ("A", "L")), YES),
    (two.LongerThan(WordSubject.SECOND, 6), YES),
    (two.LongerThan(WordSubject.SECOND, 7), NO),
    (two.BothLetters(WordSubject.LAST, "E", "O"), PARTIALLY),
    (two.Contains(S, word("geese")), YES),
    (two.Contains(S, word("river")), NO),
    (two.Contains(P, word("river")), YES),
    (two.ContainsBoth(S, word("dog"), word("river")), PARTIALLY),
    (two.ContainsBoth(P, word("dog"), word("river")), YES),
    (two.ContainsBoth(S, word("cat"), Thing(mark="a dash")), NO),
    (two.MoreThan("words", 13), YES),
    (two.MoreThan("words", 14), NO),
    (two.MoreThan("commas", 1), YES),
    (two.MoreThan("capitals", 3), NO),
    (two.Speech(S), NO),
    (two.Speech(P), YES),
    (two.InPart((0, 1)), YES),
    (two.OneOf(("sea", "river")), YES),
    (two.OneOf(("sea", "hill")), NO),
]
FIXED = ("Yes", "No", "Partially", "Unknown / Not Relevant")


@pytest.mark.parametrize(("inquiry", "truth"), KINDS, ids=[inquiry.text[:60] for inquiry, _ in KINDS])
def test_a_question_answers_itself_as_a_reader_would(inquiry: Inquiry, truth: int | None) -> None:
    assert inquiry.answer(READING) == truth


@pytest.mark.parametrize("inquiry", [inquiry for inquiry, _ in KINDS], ids=lambda inquiry: inquiry.text[:60])
def test_a_question_is_recognised_by_its_wording_alone(inquiry: Inquiry) -> None:
    assert recognise(inquiry.text, inquiry.options or FIXED) == inquiry


@pytest.mark.parametrize("inquiry", [inquiry for inquiry, _ in KINDS], ids=lambda inquiry: inquiry.text[:60])
def test_a_question_may_be_sent_as_it_is(inquiry: Inquiry) -> None:
    assert inquiry.text.endswith("?")  # runners append one to texts that do not
    assert 10 <= len(inquiry.text) <= 900
    assert inquiry.options is None or all(inquiry.options)
    assert inquiry.options is None or len(set(inquiry.options)) == 4
    assert 0 < inquiry.noise < 0.3


@pytest.mark.parametrize("inquiry", [inquiry for inquiry, _ in KINDS], ids=lambda inquiry: inquiry.text[:60])
def test_a_page_that_shows_nothing_answers_nothing(inquiry: Inquiry) -> None:
    assert inquiry.answer(CandidateReading()) is None


def test_every_kind_of_question_is_tested_here() -> None:
    assert {type(inquiry) for inquiry, _ in KINDS} == {*four.KINDS, *two.KINDS}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "With which letter does the second word of the opening sentence begin?",
            ("A to F", "G to L", "M to R", "other"),
        ),
        (
            "With which letter does the tenth word of the opening sentence begin?",
            ("A to F", "G to L", "M to R", "S to Z"),
        ),
        ("How many words has the opening sentence?", ("few", "some", "many", "all")),
        ("How many words has the opening sentence?", ("up to 9", "5 or 6", "3", "10 or more")),  # no ascending ranges
        ("Is the associative word one of these: ?", FIXED),
        ("", ("", "", "", "")),
        ("?" * 100_000, FIXED),
        ("Does the opening sentence contain " + "“a”, " * 20_000 + "?", FIXED),
    ],
)
def test_what_only_looks_like_ours_is_not_ours(text: str, options: tuple[str, str, str, str]) -> None:
    assert recognise(text, options) is None


def test_accents_and_hebrew_letters_are_letters() -> None:
    assert four.LetterRange(WordSubject.FIRST, False, QUARTERS).answer(read("Élise partit.")) == A
    hebrew = four.LetterRange(WordSubject.SECOND, False, (("א", "ה"), ("ו", "י"), ("כ", "ע"), ("פ", "ת")))
    assert hebrew.answer(read("היה שם איש אחד.")) == D


def test_each_chinese_character_is_a_word() -> None:
    assert two.Contains(S, word("人")).answer(read("村里有一个人。")) == YES
