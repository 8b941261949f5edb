"""The English grammar of the book's author and year."""

from __future__ import annotations

import re

from league_agents.agents.questions.free.book_claims import WrittenBy, WrittenIn, YearIs, century
from league_agents.agents.questions.free.builders import constant, same
from league_agents.agents.questions.free.claims import UNDECIDED, AskedClaim
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.rules import Grammar


def _author(name: str) -> AskedClaim:
    # "Is the author British?" has no name.
    return UNDECIDED if re.fullmatch(r"\w+(?:ish|an|ese|ch|male)", name) else WrittenBy(name)


def add_book(grammar: Grammar) -> None:
    """Add the questions about author and year."""
    add = grammar.add
    add("BOOK", "[the|this] [whole] book|novel|story|work|text|play|poem", constant(0))
    add("BOOK", "it", constant(0))
    add(
        "AUTHOR",
        "[the|its] author|writer [of_the_book|of_this_book|of_the_novel|of_the_work|of_the_story|of_it]",
        constant(0),
    )
    add("AUTHOR", "BOOK 's author|writer", constant(0))
    add("PERSON", "PERSONNAME", same)
    add("PERSON", "PERSONNAME PERSON", lambda one, others: f"{one} {others}")
    add(
        "CLAIM",
        "is|was BOOK [a_novel|a_book|a_work] [written|penned|authored] by PERSON",
        lambda _, name: WrittenBy(name),
    )
    add("CLAIM", "is|was AUTHOR PERSON", lambda _, name: _author(name))
    add("CLAIM", "is|was PERSON AUTHOR", lambda name, _: WrittenBy(name))
    add("CLAIM", "did PERSON write|author|pen BOOK", lambda name, _: WrittenBy(name))
    add("CLAIM", "was|is AUTHOR a [woman|man|writer] named|called PERSON", lambda _, name: WrittenBy(name))
    published = "[first] published|released|printed"
    for frame in (f"is|was BOOK {published}", "did BOOK [first] appear|come_out", "is|was BOOK", "does BOOK date"):
        add("CLAIM", f"{frame} YEARS", lambda _, years: years)
    add("CLAIM", "is|was BOOK [first] written YEARS", lambda _, years: WrittenIn(years.years))
    add("YEARS", "before|earlier_than|prior_to [the_year] NUMBER", lambda n: YearIs(CountLimits(0, n - 1)))
    add("YEARS", "after|later_than [the_year] NUMBER", lambda n: YearIs(CountLimits(n + 1, None)))
    add("YEARS", "since [the_year] NUMBER", lambda n: YearIs(CountLimits(n, None)))
    add("YEARS", "in or before [the_year] NUMBER", lambda n: YearIs(CountLimits(0, n)))
    add("YEARS", "in or after [the_year] NUMBER", lambda n: YearIs(CountLimits(n, None)))
    add("YEARS", "by|no_later_than [the_year] NUMBER", lambda n: YearIs(CountLimits(0, n)))
    add("YEARS", "in NUMBER or later", lambda n: YearIs(CountLimits(n, None)))
    add("YEARS", "in [the_year] NUMBER", lambda n: YearIs(CountLimits(n, n)) if n > 1000 else None)
    add(
        "YEARS", "between|from [the_years] NUMBER and|to NUMBER", lambda a, b: YearIs(CountLimits(min(a, b), max(a, b)))
    )
    add("YEARS", "in|from|during the CENTURY century", century)
    add("YEARS", "in|from|during the HUNDREDS", same)
    for number, word in enumerate(("fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
                                   "twenty_first"), start=15):  # fmt: skip
        add("CENTURY", word, constant(number))
    add("CENTURY", "ORDINAL", same)
