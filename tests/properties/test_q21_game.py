"""What holds for every guess, every result of user code and every rule set."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.games.q21.model import Answer, Brief, Choice, Guess, Question, Target
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import read_answers, read_round_start_info, read_scorecard
from league_agents.games.q21.remarks import ReadResult
from league_agents.games.q21.rule_file import rule_set_from
from league_agents.games.q21.rules import COURSE, PRD, RuleSet, rule_set_to
from league_agents.games.q21.scoring import score
from league_agents.games.q21.similarity import fold, sentence_similarity, word_similarity
from league_agents.games.q21.words import is_within
from league_agents.kit.draw import Draw

FEW = settings(max_examples=60, deadline=None)

BRIEF = Brief(book_name="Moby Dick", book_hint="A sailor tells of one long hunt", association_domain="sea animal")
TARGET = Target(book_name="Moby Dick", opening_sentence="Call me Ishmael.", associative_word="whale")
QUESTIONS = tuple(Question(number=n, text=f"Is claim {n} true?", options=PRD.fixed_options) for n in range(1, 21))
ANSWERS = tuple(Answer(number=n, choice=Choice("ABCD"[n % 4])) for n in range(1, 21))
SENTENCES = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must want a wife.",
    "Once upon a time there was a little chimney-sweep, and his name was Tom.",
    "It was a bright winter day, and the whole of the village had gone down to the frozen river to see the skaters.",
)

texts = st.text(max_size=60) | st.sampled_from(
    ["Call me Ishmael.", "whale", "Q4 A", "question 5 was no", "\ud800", "“"]
)
keys = st.sampled_from(
    ["questions", "answers", "question_number", "question_text", "options", "A", "B", "answer", "opening_sentence",
     "sentence_justification", "associative_word", "word_justification", "confidence", "book_name", "book_hint",
     "association_word", "league_points", "private_score", "breakdown", "feedback"]
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=25) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=30,
)
rule_sets = st.sampled_from(
    [
        PRD,
        COURSE,
        *(
            rule_set_from(
                {
                    "extends": base,
                    "questions_required": questions,
                    "sentence_justification": {"least": least, "most": most},
                    "word_justification": {"least": least, "most": most},
                    "feedback": {"least": least, "most": most},
                }
            )
            for base, questions, least, most in [("prd", 1, 0, 1), ("course", 37, 12, 12), ("course", 100, 55, None)]
        ),
    ]
)
guesses = st.builds(
    Guess,
    opening_sentence=texts,
    sentence_justification=texts,
    associative_word=texts,
    word_justification=texts,
    confidence=st.none() | st.floats(0, 1),
)


@FEW
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@FEW
@given(texts, texts)
def test_similarities_are_symmetric_and_between_0_and_100(one: str, other: str) -> None:
    for measure in (sentence_similarity, word_similarity):
        assert 0 <= measure(one, other) <= 100
        assert measure(one, other) == measure(other, one)


@FEW
@given(st.sampled_from(SENTENCES), st.integers(0, 10**6))
def test_each_further_edit_raises_the_likeness_by_a_hair_at_most(sentence: str, seed: int) -> None:
    draw = Draw(seed, "edits")
    words: list[str] = sentence.split()
    likeness = 100.0
    # The places that are edited differ, so that no edit undoes an earlier one.
    for place in draw.sample(range(len(words)), len(words) // 2):
        edit = draw.below(4)
        if edit == 0:
            words[place] = "zq" * (1 + draw.below(5))
        elif edit == 1:
            words[place] = ""
        elif edit == 2:
            words[place] += " " + "xk" * (1 + draw.below(5))
        else:
            words[place] = words[place][1:] + "j"
        now = sentence_similarity(" ".join(words), sentence)
        assert now <= likeness + 1.5  # of 9,000 such texts 1.02 was the most
        likeness = min(likeness, now)
    assert likeness < 75


@FEW
@given(st.sampled_from(SENTENCES), st.integers(1, 400))
def test_every_additional_word_lowers_the_likeness(sentence: str, extra: int) -> None:
    longer = f"{sentence} {' zebra' * extra}"
    assert sentence_similarity(f"{longer} zebra", sentence) <= sentence_similarity(longer, sentence) < 100


@FEW
@given(values, rule_sets)
def test_whatever_a_player_returns_is_repaired_to_something_that_may_be_sent(result: object, rules: RuleSet) -> None:
    read = read_questions(result, rules)
    sent = [
        {"question_number": q.number, "question_text": q.text, "options": dict(zip("ABCD", q.options, strict=True))}
        for q in read.value
    ]
    assert read_questions({"questions": sent}, rules).remarks == []
    guess = read_guess(result, rules, BRIEF)
    fields = {name: getattr(guess.value, name) for name in Guess.__slots__}
    assert read_guess(fields, rules, BRIEF).remarks == []
    str([sent, fields, read.remarks, guess.remarks]).encode()
    assert 1 <= len(read_warmup_answer(result).value) <= 1000


@FEW
@given(guesses, rule_sets)
def test_a_guess_without_remarks_is_sent_as_it_is_and_any_other_is_told_of(guess: Guess, rules: RuleSet) -> None:
    fields = {name: getattr(guess, name) for name in Guess.__slots__}
    read = read_guess(fields, rules, BRIEF)
    sent = {name: getattr(read.value, name) for name in Guess.__slots__}
    changed = {name for name in fields if name != "confidence" and _words(fields[name]) != _words(sent[name])}
    if read.is_broken:
        assert not _words(guess.opening_sentence + guess.associative_word)
    else:
        assert {remark.path for remark in read.remarks} == changed


def _words(text: str) -> list[str]:
    return text.split()


@FEW
@given(values)
def test_whatever_a_referee_returns_is_read_or_refused_in_one_line(result: object) -> None:
    found: list[ReadResult[object]] = [
        read_answers(result, QUESTIONS, COURSE),
        read_scorecard(result, COURSE),
        read_round_start_info(result, COURSE),
    ]
    for read in found:
        assert (read.value is None) == read.is_broken == bool(read.refusal)
        assert "\n" not in read.refusal


@FEW
@given(guesses, rule_sets)
def test_every_guess_has_a_score_within_its_bounds(guess: Guess, rules: RuleSet) -> None:
    card = score(guess, TARGET, BRIEF, QUESTIONS, ANSWERS, rules)
    assert card.breakdown is not None
    assert card.feedback is not None
    assert card.league_points == rules.points_for(card.private_score)
    assert all(0 <= getattr(card.breakdown, name) <= 100 for name in type(card.breakdown).__slots__)
    assert is_within(card.feedback.opening_sentence, rules.feedback)
    assert is_within(card.feedback.associative_word, rules.feedback)
    assert card == score(replace(guess), TARGET, BRIEF, QUESTIONS, ANSWERS, rules)


@FEW
@given(
    st.sampled_from([PRD, COURSE]),
    st.integers(1, 100),
    st.integers(0, 300),
    st.none() | st.integers(300, 1000),
    st.floats(0.001, 604_800),
)
def test_every_rule_set_comes_back_from_its_mapping(
    base: RuleSet, questions: int, least: int, most: int | None, wait: float
) -> None:
    mapping = rule_set_to(base) | {
        "name": "mine",
        "questions_required": questions,
        "feedback": {"least": least, "most": most},
        "guess_wait_seconds": wait,
    }
    rules = rule_set_from(mapping)
    assert rule_set_from(rule_set_to(rules)) == rules
    assert (rules.questions_required, rules.feedback.most) == (questions, most)
