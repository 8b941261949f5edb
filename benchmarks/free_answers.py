"""How often the offline referee answers freely worded questions, and how often rightly.

    python -m benchmarks.free_answers

The questions of ``free_questions`` are worded as many people and language models would, about passages of real books;
the true answers were decided by hand. Part one is for tuning the grammar, part two only for measuring it.

A passage begins with ``# book | author | year | language | secret word | domain``, its opening sentence with ``S:``,
its paragraph with ``P:``. Questions follow: ``y`` yes, ``n`` no, ``?`` a matter of taste or knowledge that must be
declined, ``=`` four options, the true one with a star.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from league_agents.agents.answering import told_by_code
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.reading import read
from league_agents.agents.targets import Secret
from league_agents.evaluation.statistics import Estimate, wilson
from league_agents.games.q21.model import Brief, Target
from league_agents.games.q21.rules import COURSE

PARTS = ("part_one", "part_two")
_FOLDER = Path(__file__).with_name("free_questions")
_KEYS = (
    ("Yes", "No", "Partially", "Unknown / Not Relevant"),
    ("No", "Yes", "Maybe", "Not stated"),
    ("True", "False", "Partly", "Cannot tell"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeQuestion:
    """One question about a passage, and its true answer."""

    language: str
    text: str
    options: tuple[str, str, str, str]
    place: int | None
    """Index of the true option; ``None`` if the question must be declined."""

    secret: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeAnswers:
    """The counts of a series of answers."""

    right: int
    wrong: int
    declined: int
    """Questions with a true answer that were declined."""

    rightly_declined: int
    missed: tuple[str, ...]
    """Questions that were not answered rightly."""

    @property
    def precision(self) -> Estimate | None:
        """The share of right answers among those that were given."""
        return wilson(self.right, self.right + self.wrong)

    @property
    def declined_share(self) -> Estimate | None:
        """The share of declined questions among those that have an answer."""
        return wilson(self.declined, self.right + self.wrong + self.declined)

    @property
    def silent_share(self) -> Estimate | None:
        """The share of declined questions among all, those that must be declined included."""
        silent = self.declined + self.rightly_declined
        return wilson(silent, self.right + self.wrong + silent)


def measure_free_answers(part: str) -> FreeAnswers:
    """Ask the referee's code all questions of a part."""
    counts: Counter[str] = Counter()
    missed: list[str] = []
    for question in free_questions(part):
        asked = AskedQuestion(number=1, text=question.text, options=question.options)
        place = told_by_code(asked, question.secret, COURSE)
        if place is None:
            outcome = "rightly declined" if question.place is None else "declined"
        else:
            outcome = "right" if place == question.place else "wrong"
        counts[outcome] += 1
        if outcome in ("declined", "wrong"):
            missed.append(f"{outcome}: {question.text}")
    return FreeAnswers(
        right=counts["right"],
        wrong=counts["wrong"],
        declined=counts["declined"],
        rightly_declined=counts["rightly declined"],
        missed=tuple(missed),
    )


def free_questions(part: str) -> Iterator[FreeQuestion]:
    """Yield the questions of a part."""
    lists = Knowledge().catalogue.domains
    sentence = paragraph = ""
    head: list[str] = []
    lines = (_FOLDER / f"{part}.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(filter(None, lines)):
        mark, _, text = line.partition(" ")
        if mark == "#":
            head = [field.strip() for field in text.split("|")]
        elif mark == "S:":
            sentence = text
        elif mark == "P:":
            paragraph = text
        else:
            title, author, year, language, word, domain = head
            secret = Secret(
                brief=Brief(book_name=title, book_hint="", association_domain=domain),
                target=Target(book_name=title, opening_sentence=sentence, associative_word=word),
                reading=read(sentence, paragraph, word=word),
                facts=Facts(title=title, author=author, year=int(year) if year else None, lists=lists),
            )
            options, place = _answers(mark, text, number)
            text = text.partition(" | ")[0]
            yield FreeQuestion(language=language, text=text, options=options, place=place, secret=secret)


def _answers(mark: str, text: str, number: int) -> tuple[tuple[str, str, str, str], int | None]:
    if mark == "=":
        a, b, c, d = text.split(" | ")[1:]
        place = [option.startswith("*") for option in (a, b, c, d)].index(True)
        return (a.lstrip("*"), b.lstrip("*"), c.lstrip("*"), d.lstrip("*")), place
    key = _KEYS[number % len(_KEYS)]
    if mark == "?":
        return key, None
    wanted = ("Yes", "True") if mark == "y" else ("No", "False")
    return key, next(i for i, option in enumerate(key) if option in wanted)


def main() -> None:
    """Print the figures of the parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", default=PARTS, help="part_one, part_two")
    parser.add_argument("--missed", action="store_true", help="list the questions that were not answered rightly")
    chosen = parser.parse_args()
    for part in chosen.parts:
        found = measure_free_answers(part)
        print(f"{part}: {found.right} right, {found.wrong} wrong, {found.declined} declined, "
              f"{found.rightly_declined} rightly declined")  # fmt: skip
        for name, figure in (("precision", found.precision), ("declined", found.declined_share),
                             ("not answered, of all", found.silent_share)):  # fmt: skip
            if figure is not None:
                print(f"  {name} {figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})")
        for text in found.missed if chosen.missed else ():
            print(f"    {text}")


if __name__ == "__main__":
    main()
