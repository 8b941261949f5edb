"""Checkable questions about the book and the associative word.

Rule: the wordings are those of people and models, several for each kind.
"""

from __future__ import annotations

from league_agents.evaluation.checkable_subject import CheckableSubject, Choice, YesNo
from league_agents.kit.draw import Draw

# The book.


def author(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if not subject.author:
        return None
    asked = subject.author if draw.chance(0.5) else draw.choice(_AUTHORS)
    frames = (
        "Was the book written by {0}?",
        "Is {0} the author of the book?",
        "Is the author {0}?",
        "Did {0} write this book?",
    )
    return draw.choice(frames).format(asked), asked == subject.author


_AUTHORS = (
    "Jane Austen", "Herman Melville", "Mark Twain", "Mary Shelley", "Charles Dickens", "Lewis Carroll",
    "Emily Brontë", "Leo Tolstoy", "Franz Kafka",
)  # fmt: skip


def who_wrote(subject: CheckableSubject, draw: Draw) -> Choice | None:
    if not subject.author:
        return None
    others = draw.sample([name for name in _AUTHORS if name != subject.author], 4)
    place = draw.below(4)
    others[place] = subject.author
    frames = (
        "Who wrote the book?",
        "Who is the author?",
        "Which author wrote this book?",
        "By whom was the book written?",
    )
    return draw.choice(frames), (others[0], others[1], others[2], others[3]), place


def year(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    if subject.year is None:
        return None
    year = subject.year
    asked = draw.choice((1750, 1800, 1820, 1850, 1870, 1900, 1950))
    if asked == year:
        return None
    century = draw.choice((18, 19, 20))
    frames: tuple[YesNo, ...] = (
        (f"Was the book published before {asked}?", year < asked),
        (f"Was the book first published after {asked}?", year > asked),
        (f"Did the book appear before the year {asked}?", year < asked),
        (f"Was the book written in the {century}th century?", (year - 1) // 100 + 1 == century),
        (f"Is the book from the {century}th century?", (year - 1) // 100 + 1 == century),
        (f"Was it published between {asked} and {asked + 40}?", asked <= year <= asked + 40),
    )
    return draw.choice(frames)


def when(subject: CheckableSubject, draw: Draw) -> Choice | None:
    if subject.year is None or subject.year in (1800, 1850, 1900):
        return None
    place = sum(subject.year > cut for cut in (1800, 1850, 1900))
    options = draw.choice(
        (
            ("before 1800", "1800-1850", "1851-1900", "after 1900"),
            ("Before 1801", "1801 to 1850", "1851 to 1900", "1901 or later"),
        )
    )
    return draw.choice(("When was the book published?", "When did the book first appear?")), options, place


# The associative word.


def word_initial(subject: CheckableSubject, draw: Draw) -> YesNo:
    asked = subject.word[0].upper() if draw.chance(0.5) else draw.choice("ABCDEFGHLMPRSTW")
    frames = (
        "Does the associative word begin with the letter {0}?",
        "Does the secret word start with '{0}'?",
        "Is {0} the first letter of the associative word?",
        "Does the hidden word begin with {0}?",
    )
    return draw.choice(frames).format(asked), subject.word[0].upper() == asked


def word_length(subject: CheckableSubject, draw: Draw) -> YesNo | Choice:
    count, asked = len(subject.word), 3 + draw.below(6)
    frames: tuple[YesNo, ...] = (
        (f"Does the associative word have more than {asked} letters?", count > asked),
        (f"Is the associative word longer than {asked} letters?", count > asked),
        (f"Does the associative word have exactly {asked} letters?", count == asked),
        (f"Does the secret word have fewer than {asked} letters?", count < asked),
        (f"Is the associative word at least {asked} letters long?", count >= asked),
    )
    if draw.chance(0.25):
        options = ("1-3", "4", "5", "6 or more")
        return "How many letters does the associative word have?", options, max(0, min(3, count - 3))
    return draw.choice(frames)


def word_letter(subject: CheckableSubject, draw: Draw) -> YesNo:
    asked = draw.choice(sorted(set(subject.word.upper()))) if draw.chance(0.5) else draw.choice("AEIORSTLN")
    frames = (
        "Does the associative word contain the letter {0}?",
        "Is the letter {0} in the associative word?",
        "Is there a letter {0} in the secret word?",
    )
    return draw.choice(frames).format(asked), asked in subject.word.upper()


def word_is(subject: CheckableSubject, draw: Draw) -> YesNo | None:
    pool = [word for word in subject.domains[subject.domain] if word.isalpha()]
    asked = subject.word if draw.chance(0.5) or len(pool) < 2 else draw.choice(pool)
    frames = ("Is the associative word '{0}'?", "Is the secret word {0}?", "Is “{0}” the associative word?")
    return draw.choice(frames).format(asked), asked.lower() == subject.word.lower()


def word_ends(subject: CheckableSubject, draw: Draw) -> YesNo:
    asked = subject.word[-1].upper() if draw.chance(0.5) else draw.choice("EDSTNRY")
    frames = ("Does the associative word end with the letter {0}?", "Does the secret word end in {0}?")
    return draw.choice(frames).format(asked), subject.word[-1].upper() == asked


def word_among(subject: CheckableSubject, draw: Draw) -> Choice | None:
    pool = [word for word in subject.domains[subject.domain] if word.isalpha() and word != subject.word]
    if len(pool) < 3 or not subject.word.isalpha():
        return None
    options = draw.sample(pool, 3)
    place = draw.below(3)
    options[place] = subject.word
    return "Which of these is the associative word?", (options[0], options[1], options[2], "None of these"), place
