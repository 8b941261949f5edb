"""Scores of very many guesses at all openings of the catalogue."""

from __future__ import annotations

import unicodedata
from functools import cache

from league_agents.games.q21.model import Brief, Guess, Target
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.games.q21.scoring import score
from league_agents.games.q21.similarity import all_words, sentence_similarity
from league_agents.kit.draw import Draw
from league_agents.knowledge.catalogue import Catalogue, Work

QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "«": '"', "»": '"', "—": "--", "–": "-"})


@cache
def works() -> tuple[Work, ...]:
    return Catalogue.load().works


@cache
def vocabulary() -> list[str]:
    return sorted({word for work in works() for word in work.opening_sentence.split()})


def retyped(text: str, draw: Draw) -> str:
    """The same words as another keyboard, program or habit would write them."""
    for _ in range(3):
        match draw.below(9):
            case 0:
                text = text.translate(QUOTES)
            case 1:
                text = text.upper() if text.upper().lower() == text.lower() else text
            case 2:
                text = unicodedata.normalize(draw.choice(("NFC", "NFD", "NFKC")), text)
            case 3:
                text = text.replace(" ", draw.choice(("  ", "\u00a0", " \n", "\t", "\u2009 ")))
            case 4:
                text = f"“{text}”"
            case 5:
                text = text.rstrip(".!?…") + draw.choice(("", "…", "!", " ."))
            case 6:
                text = draw.choice(("\u200b", "\u2060", "\ufeff", "\u00ad")).join(text)
            case 7:
                text = text.replace(", ", " , ").replace("; ", " ;")
            case _:
                text = f"_{text}_ "
    return text


def test_the_exact_sentence_has_100_in_any_typography() -> None:
    draw = Draw(1, "typography")
    for work in works():
        for _ in range(8):
            typed = retyped(work.opening_sentence, draw)
            assert sentence_similarity(typed, work.opening_sentence) == 100, typed


def test_a_paraphrase_has_less_than_the_exact_sentence_and_more_than_another_book() -> None:
    draw = Draw(2, "paraphrase")
    for work in works():
        words = work.opening_sentence.split()
        if len(words) < 8:
            continue
        changed = list(words)
        for place in draw.sample(range(len(words)), len(words) // 4):
            changed[place] = draw.choice(("rather", "indeed", "somebody", "thing", "always"))
        near = sentence_similarity(" ".join(changed), work.opening_sentence)
        other = draw.choice([each for each in works() if each.language == "en" and each is not work])
        assert near < 100
        assert sentence_similarity(other.opening_sentence, work.opening_sentence) < near


def test_every_further_wrong_word_lowers_the_likeness() -> None:
    draw = Draw(3, "edits")
    for work in works():
        words = work.opening_sentence.split()
        likeness = 100.0
        for count, place in enumerate(draw.sample(range(len(words)), len(words)), start=1):
            words[place] = f"qx{'zj' * draw.below(4)}"
            now = sentence_similarity(" ".join(words), work.opening_sentence)
            # A letter that happens to be equal may lift it by a hair.
            assert now <= likeness + 0.5, (work.title, count)
            likeness = min(likeness, now)
        assert likeness < 25


def test_ten_thousand_random_guesses_earn_nothing() -> None:
    draw = Draw(4, "guesses")
    targets = [
        (Target(book_name=w.title, opening_sentence=w.opening_sentence, associative_word=w.words[0].word), w)
        for w in works()
    ]
    best = 0.0
    for number in range(10_000):
        target, work = draw.choice(targets)
        brief = Brief(book_name=work.title, book_hint=work.hint, association_domain=work.words[0].domain)
        words = [draw.choice(vocabulary()) for _ in range(3 + draw.below(25))]
        # A guess of one or two words can be the short opening itself, by chance.
        if set(all_words(" ".join(words))) & set(all_words(target.opening_sentence)) and len(words) < 4:
            continue
        guess = Guess(
            opening_sentence=" ".join(words),
            sentence_justification=" ".join(draw.choice(vocabulary()) for _ in range(draw.below(20))),
            associative_word=draw.choice(vocabulary()),
            word_justification="",
            confidence=draw.fraction(),
        )
        card = score(guess, target, brief, (), (), COURSE if number % 2 else PRD)
        assert card.league_points == 0
        assert card.breakdown is not None
        assert 0 <= card.private_score < 50
        best = max(best, card.breakdown.opening_sentence_score)
    assert best < 60
