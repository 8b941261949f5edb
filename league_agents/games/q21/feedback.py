"""Write a player's feedback on its guess.

Rule 1: every text keeps the word limit of the rules, for any guess.
Rule 2: the target is not named, because the other player of the match may still be guessing.
Rule 3: the guess appears only as a quotation, shortened and made printable.
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.games.q21.justification import JustificationReading
from league_agents.games.q21.rules import RuleSet, WordLimit
from league_agents.games.q21.similarity import shared_words
from league_agents.games.q21.words import count_tokens, fit
from league_agents.kit.printable import printable

_SENTENCE_BANDS = (
    (100.0, "The opening sentence is exactly right."),
    (80.0, "The opening sentence is almost right: only a few words differ from the true one."),
    (50.0, "The opening sentence is recognisable, but a good part of its wording differs from the true one."),
    (20.0, "The opening sentence shares some wording with the true one, but it is not the same sentence."),
    (0.0, "The opening sentence is not the one that was sought."),
)
_WORD_BANDS = (
    (100.0, "The associative word is exactly right."),
    (90.0, "The associative word is right except for its form, such as a plural or a different spelling."),
    (20.0, "The associative word is spelled much like the true one, yet it is a different word."),
    (1.0, "The true word or a part of it stands in the guess, but one word was asked for and several were offered."),
    (0.0, "The associative word is not the one that was sought."),
)
_ADVICE = (
    "Questions about names, numbers, places or first letters have answers in the text and separate candidates best.",
    "Before guessing it helps to list candidate sentences and to count how many answers each of them contradicts.",
    "One wrong answer should not rule out a candidate that agrees with all the others.",
    "A strong justification names the questions by number, repeats their answers and says what follows from them.",
    "The associative word should be chosen from the announced domain and tested against the same answers.",
    "Only a single sentence and a single word count in full.",
    "Every additional word lowers the likeness.",
    "Copying the hint adds nothing.",
    "Precision pays.",
    "Thanks.",
)
"""Closes the gap to the lower limit, longer sentences first. The last one has a single word."""


def sentence_feedback(
    guess: str,
    target: str,
    *,
    scores: tuple[float, float],
    reading: JustificationReading,
    total: float,
    points: int,
    rules: RuleSet,
    remarks: Sequence[str] = (),
) -> str:
    """Return the text about the sentence and its justification, whose two scores are ``scores``. ``remarks`` are
    sentences that are added if there is room.
    """
    shared, missing, extra = shared_words(guess, target)
    detail = (
        f"{_counted(shared, 'word stands', 'words stand')} in both in the same order, {_counted(missing, 'is', 'are')} "
        f"missing and {_counted(extra, 'is', 'are')} not wanted there."
    )
    weights = (rules.weights.opening_sentence, rules.weights.sentence_justification)
    return _composed(
        [_band(scores[0], _SENTENCE_BANDS), _quoted(guess), detail if guess.strip() and scores[0] < 100 else ""],
        "sentence", scores, weights, reading, remarks, total, points, rules.feedback,
    )  # fmt: skip


def word_feedback(
    guess: str,
    *,
    scores: tuple[float, float],
    reading: JustificationReading,
    total: float,
    points: int,
    rules: RuleSet,
    remarks: Sequence[str] = (),
) -> str:
    """Return the text about the word and its justification, whose two scores are ``scores``."""
    weights = (rules.weights.associative_word, rules.weights.word_justification)
    return _composed(
        [_band(scores[0], _WORD_BANDS), _quoted(guess)],
        "word", scores, weights, reading, remarks, total, points, rules.feedback,
    )  # fmt: skip


def _composed(
    opening: list[str],
    thing: str,
    scores: tuple[float, float],
    weights: tuple[float, float],
    reading: JustificationReading,
    remarks: Sequence[str],
    total: float,
    points: int,
    limit: WordLimit,
) -> str:
    sentences = [
        *opening,
        *_on_justification(thing, reading, scores[0]),
        f"The {thing} scored {scores[0]:.2f} of 100 with weight {weights[0]:g}.",
        f"Its justification scored {scores[1]:.2f} of 100 with weight {weights[1]:g}.",
        f"With the other part the private score is {total:.2f}: {_counted(points, 'league point', 'league points')}.",
        *remarks,
    ]
    kept: list[str] = []
    tokens = 0
    for sentence in sentences:
        more = count_tokens(sentence)
        if more and (not kept or limit.most is None or tokens + more <= limit.most):
            kept.append(sentence)
            tokens += more
    return fit(" ".join(kept).strip(), limit, _ADVICE)


def _on_justification(thing: str, reading: JustificationReading, near: float) -> list[str]:
    limit = reading.limit
    if not reading.words:
        return ["No justification was given, so that component is empty."]
    found = [f"The justification has {_counted(reading.words, 'word', 'words')}."]
    if reading.is_short:
        found.append(f"That is below the required {limit.least}, which lowers its score by five percent.")
    elif reading.is_long:
        found.append(f"Only the first {limit.most} were read, because that is the limit.")
    right, bare, wrong = reading.cited_right, reading.cited_bare, reading.cited_wrong
    if right + bare + wrong == 0:
        found.append("It cites no question by its number, so it shows no evidence that could be checked.")
    else:
        found.append(
            f"It cites {_counted(right, 'question', 'questions')} with the true answer, {bare} without an answer and "
            f"{wrong} wrongly."
        )
    if reading.bearing < 1:
        found.append(f"It hardly speaks about the guessed {thing} itself.")
    if reading.originality < 1:
        found.append("Much of it repeats the guess, the hint or the other justification.")
    if reading.variety < 1:
        found.append("It repeats the same words, which counts as filler.")
    if near < 50:
        found.append(f"It was scaled down because the {thing} that it defends is not near the target.")
    return found


def _band(score: float, bands: tuple[tuple[float, str], ...]) -> str:
    return next(text for least, text in bands if score >= least)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _quoted(guess: str) -> str:
    words = printable(guess[:_READ]).translate(_QUOTES).split()
    short = " ".join(words[:12])[:80].strip()
    if not short:
        return "The guess was empty."
    if len(short) < len(" ".join(words)) or len(guess) > _READ:
        short += "…"
    return f"The guess was “{short}”" + ("" if short.endswith((".", "?", "!", "…")) else ".")


_READ = 5_000
"""Characters in which the beginning of the guess is searched: an escape sequence alone may have thousands."""

_QUOTES = dict.fromkeys(map(ord, '"“”„«»'))
