"""How near a guess is to the target, and that a guess cannot be stuffed."""

from __future__ import annotations

import time
from itertools import combinations

import pytest

from league_agents.games.q21.similarity import (
    content_words,
    fold,
    sentence_similarity,
    shared_words,
    word_similarity,
)

PRIDE = """It is a truth universally acknowledged, that a single man in possession of a good fortune,
must be in want of a wife."""
MOBY = "Call me Ishmael."
ALICE = (
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: once or "
    "twice she had peeped into the book her sister was reading, but it had no pictures or conversations in it, “and "
    "what is the use of a book,” thought Alice “without pictures or conversations?”"
)
CITIES = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness."
PETER = "All children, except one, grow up."
FROM_ALICE = [
    ALICE,
    "There was nothing so very remarkable in that; nor did Alice think it so very much out of the way to hear it.",
    "In another moment down went Alice after it, never once considering how in the world she was to get out again.",
    "The rabbit-hole went straight on like a tunnel for some way, and then dipped suddenly down.",
    "“Curiouser and curiouser!” cried Alice (she was so much surprised, that she quite forgot how to speak English).",
    "They were indeed a queer-looking party that assembled on the bank.",
    "It was the White Rabbit, trotting slowly back again, and looking anxiously about, as if it had lost something.",
    "The Caterpillar and Alice looked at each other for some time in silence.",
]
OPENINGS = [PRIDE, MOBY, ALICE, CITIES, PETER]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("“Don’t!” — she said…", '"Don\'t!" - she said...'),
        ("The ﬁrst  CAFÉ", "the first cafe\u0301\n"),
        ("to\u00adday\u200b \u202eæon", "today aeon"),
        ("_really_ 1801.—I", "Really; 1801 i"),
        ("בְּרֵאשִׁית בָּרָא", "בראשית ברא"),
        ("צה״ל", 'צה"ל'),
        ("鲸鱼，　海！", "鲸鱼 海"),
        ("Straße", "STRASSE"),
    ],
)
def test_typography_is_no_difference(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert sentence_similarity(one, other) == 100
    assert word_similarity(one, other) == 100


@pytest.mark.parametrize("sentence", OPENINGS)
def test_only_the_same_words_in_the_same_order_have_100(sentence: str) -> None:
    words = sentence.split()
    assert sentence_similarity(sentence, sentence.upper()) == 100
    assert sentence_similarity(" ".join([words[-1], *words[:-1]]), sentence) < 100
    assert sentence_similarity(" ".join(words[:-1]), sentence) < 100
    assert sentence_similarity(f"{sentence} Yes", sentence) < 100


def test_a_paraphrase_lies_between_the_exact_and_a_wrong_sentence() -> None:
    near = "It is universally acknowledged that a single man with a good fortune must want a wife"
    far = "Everybody agrees that a rich bachelor needs to marry"
    assert 40 < sentence_similarity(near, PRIDE) < 80
    assert sentence_similarity(far, PRIDE) < sentence_similarity(near, PRIDE)


def test_one_wrong_word_costs_little() -> None:
    assert sentence_similarity(PRIDE.replace("fortune", "income"), PRIDE) > 80


@pytest.mark.parametrize(("one", "other"), list(combinations(OPENINGS, 2)))
def test_unrelated_sentences_have_next_to_nothing(one: str, other: str) -> None:
    assert sentence_similarity(one, other) < 10


@pytest.mark.parametrize(("one", "other"), list(combinations(FROM_ALICE, 2)))
def test_other_sentences_of_the_same_book_score_low(one: str, other: str) -> None:
    assert sentence_similarity(one, other) < 35


@pytest.mark.parametrize(
    "stuffed",
    [
        f"{PRIDE} {PRIDE}",
        " ".join(OPENINGS),
        " ".join(reversed(OPENINGS)),
        f"{PRIDE} " + " ".join(f"word{i}" for i in range(10_000)),
        " ".join(f"word{i}" for i in range(10_000)) + f" {PRIDE}",
        f"{PRIDE} " * 20,
        f"{PRIDE}\n\n{ALICE}",
        "\u200b".join([PRIDE] * 3),
        " ".join(word for word in PRIDE.split() for _ in range(4)),
    ],
)
def test_a_stuffed_guess_scores_low(stuffed: str) -> None:
    assert sentence_similarity(stuffed, PRIDE) < 35


@pytest.mark.parametrize(("one", "other"), list(combinations(OPENINGS, 2)))
def test_two_candidates_at_once_earn_less_than_guessing_one_of_them(one: str, other: str) -> None:
    both = f"{one} {other}"
    assert sentence_similarity(both, one) + sentence_similarity(both, other) < 95


def test_the_measure_is_symmetric() -> None:
    assert sentence_similarity(MOBY, PETER) == sentence_similarity(PETER, MOBY)
    assert sentence_similarity(PRIDE[:60], PRIDE) == sentence_similarity(PRIDE, PRIDE[:60])


@pytest.mark.parametrize("text", ["", "   ", "…—!", "\u200b"])
def test_nothing_is_like_nothing(text: str) -> None:
    assert sentence_similarity(text, MOBY) == sentence_similarity(text, text) == 0
    assert word_similarity(text, "whale") == word_similarity(text, text) == 0


def test_hebrew_and_chinese_sentences_are_compared_by_words_and_characters() -> None:
    assert sentence_similarity("在很久很久以前，有一个国王。", "在很久很久以前，有一个女王。") > 75
    assert sentence_similarity("山上有一座庙，庙里住着老和尚。", "在很久很久以前，有一个女王。") < 10
    assert sentence_similarity("בראשית ברא אלהים את השמים", "בראשית ברא אלהים את הארץ") > 50
    assert sentence_similarity("ויהי בימי אחשורוש הוא אחשורוש", "בראשית ברא אלהים את השמים") < 10


def test_a_text_four_times_as_long_is_no_guess_of_a_sentence() -> None:
    sentence = ("the rain " * 10)[:50]
    assert sentence_similarity(sentence, sentence.ljust(200, "x")) > 0
    assert sentence_similarity(sentence, sentence.ljust(201, "x")) == 0
    # What is shorter than forty characters counts as forty.
    assert sentence_similarity("the rain", "the rain ".ljust(160, "x")) > 0
    assert sentence_similarity("the rain", "the rain ".ljust(161, "x")) == 0


@pytest.mark.parametrize(
    ("guess", "target", "score"),
    [
        ("Whale!", "whale", 100),
        ("the whale", "whale", 100),
        ("sea-horse", "seahorse", 100),
        ("whales", "whale", 90),
        ("wolves", "wolf", 90),
        ("butterfly", "butterflies", 90),
        ("mice", "mouse", 90),
        ("run", "running", 90),
        ("colour", "color", 90),
        ("gray", "grey", 90),
        ("guinea pigs", "guinea pig", 90),
        ("לויתנים", "לויתן", 90),
        ("הלויתן", "לויתן", 90),
        ("dolhpin", "dolphin", 20),
        ("cat", "bat", 0),  # one letter of three is another word, not a slip
        ("shark", "whale", 0),
        ("pig", "guinea pig", 10),
        ("whale shark", "whale", 10),
        ("whale shark", "tiger shark", 10),
        ("whale shark", "guinea pig", 0),
        ("whale shark bay", "tiger shark reef", 0),  # three words in common or not
        ("whale or shark", "whale", 5),
        ("whale, shark, dolphin", "whale", 5),
        ("whale, shark, dolphin, seal", "whale", 0),
        ("whale whale whale whale", "whale", 0),
        ("whaleshark", "whale", 0),
        ("鲸鱼", "鲸鱼", 100),
        ("鲸鱼、鲨鱼", "鲸鱼", 10),
        ("鲸鱼鲨鱼海豚", "鲸鱼", 0),
        ("whale " * 10_000, "whale", 0),
    ],
)
def test_words(guess: str, target: str, score: float) -> None:
    assert word_similarity(guess, target) == word_similarity(target, guess) == score


def test_shared_missing_and_extra_words() -> None:
    assert shared_words("Call him Ishmael, please", MOBY) == (2, 1, 2)
    assert shared_words("word " * 500, MOBY) == (0, 3, 500)


def test_content_words_leave_function_words_out() -> None:
    assert content_words("Because the sailor would tell about his whale") == ["sailor", "tell", "whale"]
    assert content_words("有鲸") == ["有", "鲸"]


def heaped(text: str, marks: str) -> str:
    return "".join(character + marks for character in text)


@pytest.mark.parametrize(
    "marks",
    [
        "\u0301\u0308\u0323\u0335\u20dd",  # accents of all sorts, five on a letter
        "\u200b\u2060\ufeff\u200d\u00ad",
        "\ufe0f\U000e0101\u1dc4\ufe20\u1ab0",
        "\U000e0041\u202e\u2066\u061c\u200f",
    ],
)
@pytest.mark.parametrize("sentence", OPENINGS)
def test_what_is_heaped_on_letters_is_typography(sentence: str, marks: str) -> None:
    guess = heaped(sentence, marks)
    assert sentence_similarity(guess, sentence) == 100
    assert shared_words(guess, sentence)[1:] == (0, 0)
    assert word_similarity(heaped("conversations", 8 * marks), "conversation") == 90


@pytest.mark.parametrize(
    "guess",
    [
        "word " * 10_000,
        "wörd\u0301 " * 10_000,
        "a" + "\u0301\u0323" * 100_000,
        "a" + "\u0e38\u0e48\u0f71\u0f74" * 50_000,  # what is sorted when a text is composed, and in the worst order
        "\u200b" * 1_000_000,
        f"{PRIDE} " + "\ufdfa" * 10_000,  # becomes eighteen letters each
    ],
)
def test_the_work_for_a_guess_without_end_is_bounded(guess: str) -> None:
    start = time.process_time()
    assert sentence_similarity(guess, PRIDE) < 35
    assert word_similarity(guess, "fortune") == 0
    assert shared_words(guess, PRIDE)[1] >= 20
    assert time.process_time() - start < 0.25
