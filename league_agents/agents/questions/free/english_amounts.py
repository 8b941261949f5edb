"""The English grammar of amounts, and of things joined by "and", "or", "neither … nor"."""

from __future__ import annotations

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.held import Held, HeldAll, HeldAny, HeldNot, HeldThing, all_of, any_of
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.things import OfClass, Phrase


def add_quantities(grammar: Grammar) -> None:
    add = grammar.add
    add("QTY", "a|an|any|some|at_least_one|one_or_more|the|any_kind_of|any_sort_of|some_kind_of|some_sort_of|a_kind_of|"
        "a_single|even_one|a_form_of|any_form_of|an_instance_of|any_instance_of|any_of_the",
        lambda: CountLimits(1, None))  # fmt: skip
    add("QTY", "no|not_any|not_a|not_an|zero|not_a_single", lambda: CountLimits(0, 0))
    add(
        "QTY",
        "multiple|more_than_one|several|at_least_two|two_or_more|a_couple_of|a_pair_of",
        lambda: CountLimits(2, None),
    )
    add("QTY", "[exactly|precisely] only|just|exactly|precisely NUMBER", lambda n: CountLimits(n, n))
    add("QTY", "only|just|exactly a|one|a_single", lambda: CountLimits(1, 1))
    add("QTY", "LIMIT", lambda amount: amount)
    add("QTY", "NUMBER", lambda n: CountLimits(n, n, is_loose=True))
    add("LIMIT", "ONELIMIT", lambda limits: limits)
    add("LIMIT", "ONELIMIT but|and ONELIMIT", _both)
    add(
        "ONELIMIT",
        "more_than|over|greater_than|above|longer_than|in_excess_of NUMBER",
        lambda n: CountLimits(n + 1, None),
    )
    add("ONELIMIT", "more [words|letters] than the number NUMBER", lambda n: CountLimits(n + 1, None))
    add("ONELIMIT", "fewer|less|shorter than NUMBER", lambda n: CountLimits(0, n - 1))
    add("ONELIMIT", "under|below NUMBER", lambda n: CountLimits(0, n - 1))
    add("ONELIMIT", "a_minimum_of|at_least|no_fewer_than|no_less_than|not_less_than|not_fewer_than NUMBER",
        lambda n: CountLimits(n, None))  # fmt: skip
    add("ONELIMIT", "at_most|up_to|a_maximum_of|no_more_than|not_more_than|no_longer_than|not_longer_than NUMBER",
        lambda n: CountLimits(0, n))  # fmt: skip
    add("ONELIMIT", "NUMBER or|and more|longer|above|over|greater", lambda n: CountLimits(n, None))
    add("ONELIMIT", "NUMBER or fewer|less|shorter|below|under", lambda n: CountLimits(0, n))
    add("ONELIMIT", "between|from NUMBER and|to NUMBER", _between)
    add("ONELIMIT", "NUMBER to NUMBER", _between)


def _between(low: int, high: int) -> CountLimits:
    return CountLimits(min(low, high), max(low, high))


def _both(one: CountLimits, other: CountLimits) -> CountLimits | None:
    mosts = [amount.most for amount in (one, other) if amount.most is not None]
    return CountLimits(max(one.least, other.least), min(mosts)) if mosts else None


def add_joints(grammar: Grammar) -> None:
    add = grammar.add
    add("HELD", "QTY THING", lambda amount, thing: HeldThing(thing, amount))
    add("HELD", "THING", HeldThing)
    add("HELD", "THING QUANTIFIED", HeldThing)
    add("QUANTIFIED", "more than once|one_time", lambda: CountLimits(2, None))
    add("QUANTIFIED", "at_least twice|two_times", lambda: CountLimits(2, None))
    add("QUANTIFIED", "twice", lambda: CountLimits(2, 2, is_loose=True))
    add("QUANTIFIED", "[exactly] twice", lambda: CountLimits(2, 2, is_loose=True))
    add("QUANTIFIED", "repeatedly|several_times|multiple_times", lambda: CountLimits(2, None))
    add("QUANTIFIED", "[at_least] at_least once|one_time", lambda: CountLimits(1, None))
    add("QUANTIFIED", "exactly|only|just once", lambda: CountLimits(1, 1))
    add("QUANTIFIED", "once", lambda: CountLimits(1, 1, is_loose=True))
    add("QUANTIFIED", "exactly|only NUMBER times", lambda n: CountLimits(n, n))
    add("QUANTIFIED", "NUMBER times", lambda n: CountLimits(n, n, is_loose=True))
    add("QUANTIFIED", "LIMIT times", lambda amount: amount)
    add("HELDS", "HELD", lambda held: held)
    add("HELDS", "[either] HELD or|and_or|nor HELDS", any_of)
    add("HELDS", "any_of HELDS", _if_any)
    add("HELDS", "HELD and|but|as_well_as|along_with HELDS", all_of)
    add("HELDS", "[both] HELD and|but|as_well_as HELDS", all_of)
    add("HELDS", "both HELD and HELDS", all_of)
    add("HELDS", "neither HELD nor HELDS", _neither)
    add("HELDS", "HELD , HELDS", _listed)
    add("HELDS", "HELD , or HELDS", any_of)
    add("HELDS", "HELD , and|but HELDS", all_of)
    add("HELDS", "[the] words|names|letters|both|phrases QUOTE and QUOTE", lambda a, b: HeldAll(_word(a), _word(b)))
    add("HELDS", "[the] words|names|letters|phrases QUOTE or QUOTE", lambda a, b: HeldAny(_word(a), _word(b)))
    add("HELDS", "[either] both the|of_the words QUOTE and QUOTE", lambda a, b: HeldAll(_word(a), _word(b)))
    add("HELDS", "either|any of the words QUOTE or|and QUOTE", lambda a, b: HeldAny(_word(a), _word(b)))
    add("HELDS", "[both] [a|some] first person and [a|some] third person pronoun|pronouns", lambda: HeldAll(
        HeldThing(OfClass(words.FIRST_PERSON)), HeldThing(OfClass(words.THIRD_PERSON))))  # fmt: skip


def _word(text: str) -> Held:
    return HeldThing(Phrase(text))


def _if_any(held: Held) -> Held | None:
    return held if isinstance(held, HeldAny) else None


def _listed(one: Held, others: Held) -> Held | None:
    if isinstance(others, HeldAny):
        return any_of(one, others)
    return all_of(one, others) if isinstance(others, HeldAll) else None


def _neither(one: Held, other: Held) -> Held | None:
    either = any_of(one, other)
    return HeldNot(either) if either else None
