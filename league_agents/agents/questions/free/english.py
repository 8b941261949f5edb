"""The English grammar: questions about the sentence, its page, and the book as a whole."""

from __future__ import annotations

from functools import cache

from league_agents.agents.questions.free.builders import constant, same
from league_agents.agents.questions.free.claims import (
    UNDECIDED,
    AskedClaim,
    Holds,
    HoldsMore,
    Precedes,
    TextPart,
)
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.english_book import add_book
from league_agents.agents.questions.free.english_choices import add_choices
from league_agents.agents.questions.free.english_edges import ENDS, STARTS, add_edges
from league_agents.agents.questions.free.english_form import add_form
from league_agents.agents.questions.free.english_things import add_things
from league_agents.agents.questions.free.english_words import add_words
from league_agents.agents.questions.free.held import Held, HeldNot, without
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.terminals import TERMINALS
from league_agents.agents.questions.free.things import Measured, NamedWord, Phrase, TextThing

_HAS = (
    "contain|contains|containing|include|includes|including|have|has|having|hold|holds|feature|features|use|uses|"
    "using|employ|employs|comprise|comprises|consist_of|consists_of|show|shows|possess|carry"
)
_MENTIONS = (
    "mention|mentions|refer_to|refers_to|reference|references|name|names|talk_about|speak_of|describe|describes|state|"
    "states|give|gives|involve|involves|introduce|introduces|list|lists|discuss|discusses|depict|specify|note"
)
_MENTIONED = (
    "mentioned|described|present|used|given|referred_to|found|introduced|included|involved|stated|shown|listed|"
    "referenced|specified|spoken_of|contained|written|there|named_or_mentioned|mentioned_or_named|appearing|repeated"
)


@cache
def english() -> Grammar:
    """Return the grammar of English questions; its start is QUESTION."""
    grammar = Grammar(terminals=TERMINALS)
    _add_parts(grammar)
    add_things(grammar)
    _add_having(grammar)
    add_edges(grammar)
    add_form(grammar)
    add_words(grammar)
    add_book(grammar)
    add_choices(grammar)
    _add_frames(grammar)
    return grammar


def _add_parts(grammar: Grammar) -> None:
    add = grammar.add
    sentence = (
        "[the|this|its|that|our|very] [very] [first|opening|initial|hidden|target|secret|given] sentence|line\n"
        "the|this opening [of_the_text|of_the_book|of_the_paragraph|of_the_passage|of_the_story|of_the_novel]\n"
        "the paragraph|passage|text|book|novel 's first|opening sentence|line\n"
        "the first|opening sentence|line of the|this paragraph|passage|text|book|novel|story|excerpt|page\n"
        "it"
    )
    add("SENTENCE", sentence, constant(TextPart.SENTENCE))
    add("PART", "SENTENCE", same)
    add(
        "PART",
        "the|this [opening|whole|entire|first|full] paragraph|passage|excerpt|text|page|scene [that_it_opens|it_opens|"
        "that_the_sentence_opens|that_the_opening_sentence_opens|it_begins|that_follows]".replace("|\n", "|"),
        constant(TextPart.PAGE),
    )
    add("PART", "the|this [whole|entire] book|novel|story|work|chapter|play|poem", constant(TextPart.BOOK))
    add("PART", "the [book|novel] title [of_the_book|of_the_novel|of_the_work|of_the_story]", constant(TextPart.TITLE))
    add("PART", "the book|novel|story 's title", constant(TextPart.TITLE))
    add("IN", "", constant(TextPart.SENTENCE))
    add("IN", "in|within|inside|throughout|of|by|from|at_the_start_of PART", same)
    add("IN", "[anywhere] anywhere in PART", same)


_NAMED_THINGS = frozenset(
    {"countries", "cities", "months", "weekdays", "seasons", "women's names", "men's names", "names"}
)


def _if_named(thing: TextThing) -> TextThing | None:
    is_named = isinstance(thing, NamedWord) or (isinstance(thing, Measured) and thing.name in _NAMED_THINGS)
    gendered: dict[TextThing, TextThing] = {
        Measured("women"): Measured("women's names"),
        Measured("men"): Measured("men's names"),
    }
    return thing if is_named else gendered.get(thing)


def _at(held: Held, part: TextPart) -> AskedClaim:
    return held.at(part)


def _add_having(grammar: Grammar) -> None:
    add = grammar.add
    has = f"{_HAS}|{_MENTIONS}"
    add("CLAIM", f"does|do|did|has|have|can|will PART {has} HELDS", lambda part, held: held.at(part))
    add("CLAIM", "has|have PART HELDS [in_it]", lambda part, held: held.at(part))
    add("CLAIM", f"does|do|did PART {has} HELDS in it", lambda part, held: held.at(part))
    add("CLAIM", f"does|do|did PART {has} HELDS [at_all|in_it|of_any_kind]", lambda part, held: held.at(part))
    add("CLAIM", f"does|do|did PART not {has} HELDS", without)
    add("CLAIM", f"does|do|did it {has} HELDS in|within PART", lambda held, part: held.at(part))
    add(
        "CLAIM",
        "is|are|was|were [any|a|some] NAMED named|specified [explicitly] IN",
        lambda thing, part: Holds(part, thing),
    )
    add("NAMED", "PERSONWORD", constant(Measured("named persons")))
    add("NAMED", "PLACEWORD", constant(Measured("named places")))
    add("NAMED", "[a|any|the] THING", _if_named)
    add("CLAIM", "does|do|did PART lack|omit|avoid HELDS", without)
    add(
        "CLAIM",
        f"does|did SENTENCE that opens|begins the paragraph|passage {has} HELDS",
        lambda part, held: held.at(part),
    )
    add("CLAIM", "is|are|was|were there HELDS IN", _at)
    add("CLAIM", "is|are|was|were there not HELDS IN", lambda held, part: without(part, held))
    add("CLAIM", f"is|are|was|were there HELDS {_MENTIONED} IN", _at)
    add("CLAIM", f"is|are|was|were there HELDS {_MENTIONED} [at_all] IN", _at)
    add("CLAIM", f"is|are|was|were|can|does|do HELDS [be|explicitly|also|ever] {_MENTIONED} [at_all|somewhere] IN", _at)
    add("CLAIM", f"is|are|was|were HELDS not {_MENTIONED} IN", lambda held, part: without(part, held))
    add("CLAIM", "is|are HELDS referred|alluded to IN", _at)
    add("CLAIM", "is|are|was|were HELDS absent|missing from PART", lambda held, part: without(part, held))
    add("CLAIM", "is|are HELDS in|within PART", _at)
    add("CLAIM", "is|are HELDS part|one of [the_words_of|the_words_in] PART", _at)
    add("CLAIM", "does|do|did HELDS appear|appears|occur|occurs|exist|feature|stand [anywhere] IN", _at)
    add("CLAIM", "does|do|did HELDS not appear|occur IN", lambda held, part: without(part, held))
    add("CLAIM", "does|do|did THING appear|occur QUANTIFIED IN", lambda thing, n, part: Holds(part, thing, n))
    add("CLAIM", "does|do|did THING occur|appear IN QUANTIFIED", lambda thing, part, n: Holds(part, thing, n))
    add("CLAIM", "does|do|did PART contain|use|have|repeat THING QUANTIFIED",
        lambda part, thing, n: Holds(part, thing, n))  # fmt: skip
    add("CLAIM", "is THING used|mentioned|repeated QUANTIFIED IN", lambda thing, n, part: Holds(part, thing, n))
    add("CLAIM", "is THING used|mentioned IN QUANTIFIED", lambda thing, part, n: Holds(part, thing, n))
    add("CLAIM", "is THING repeated IN", lambda thing, part: Holds(part, thing, CountLimits(2, None)))
    add("CLAIM", "is|are PART without|free_of|free_from|devoid_of|lacking HELDS", without)
    add("CLAIM", "do|does [the] words QUOTE stand next to each other [,] [in_this_order] [,] IN",
        lambda text, part: Holds(part, Phrase(text)))  # fmt: skip
    add("CLAIM", "does|do [the] THINGTEXT come|appear|occur|stand before|earlier_than THINGTEXT IN",
        lambda one, other, part: Precedes(part, one, other))  # fmt: skip
    add("CLAIM", "does|do [the] THINGTEXT come|appear|occur|stand after|later_than THINGTEXT IN",
        lambda one, other, part: Precedes(part, other, one))  # fmt: skip
    add("CLAIM", "does|do [the] THINGTEXT precede THINGTEXT IN", lambda one, other, part: Precedes(part, one, other))
    add("CLAIM", "does|do [the] THINGTEXT follow THINGTEXT IN", lambda one, other, part: Precedes(part, other, one))
    add("THINGTEXT", "[the] [word|name|phrase] QUOTE", same)
    add("THINGTEXT", "[the] word|name RAWWORD", same)
    add("THINGTEXT", "NAMES", same)
    add("CLAIM", "are there more THING than THING IN", lambda one, other, part: HoldsMore(part, one, other))
    add("CLAIM", "does|has PART contain|have|has|use more THING than THING",
        lambda part, one, other: HoldsMore(part, one, other))  # fmt: skip
    add("CLAIM", "does PART address somebody|someone|the_reader|anyone as QUOTE",
        lambda part, text: Holds(part, Phrase(text)))  # fmt: skip
    add("CLAIM", "is PART about|concerned_with|related_to HELDS", _about)
    add("CLAIM", "does PART deal|talk with|about HELDS", _about)
    add("CLAIM", f"are|is more|fewer THING than THING {_MENTIONED} IN", constant(UNDECIDED))


def _about(part: TextPart, held: Held) -> AskedClaim | None:
    return None if isinstance(held, HeldNot) else held.at(part)


def _add_frames(grammar: Grammar) -> None:
    add = grammar.add
    add("QUESTION", "CLAIM", same)
    add("QUESTION", "in PART [,] CLAIM", lambda part, claim: _moved(claim, part))
    add("QUESTION", "is it true|correct|so that STATEMENT", same)
    add("QUESTION", "would you say|describe [that] STATEMENT", same)
    add("QUESTION", "can|could you tell|say|confirm [me] whether|if|that STATEMENT", same)
    add("QUESTION", "[tell_me] whether|if STATEMENT", same)
    add("QUESTION", "STATEMENT", same)
    has = f"{_HAS}|{_MENTIONS}"
    add("STATEMENT", f"PART {has} HELDS", lambda part, held: held.at(part))
    add("STATEMENT", "there is|are HELDS IN", _at)
    add("STATEMENT", "PART is|was FORMS", lambda part, form: form(part))
    add("STATEMENT", f"HELDS is|are {_MENTIONED} IN", _at)
    add("STATEMENT", f"PART {STARTS} with STARTEDGE", lambda part, edge: edge(part))
    add("STATEMENT", f"PART {ENDS} with ENDEDGE", lambda part, edge: edge(part))


def _moved(claim: AskedClaim, part: TextPart) -> AskedClaim:
    """Return the claim about another text, where it names none of its own."""
    if isinstance(claim, Holds) and claim.part is TextPart.SENTENCE:
        return Holds(part, claim.thing, claim.amount)
    return claim if part is TextPart.SENTENCE else UNDECIDED
