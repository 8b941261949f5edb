"""English names of things that a text may contain."""

from __future__ import annotations

from league_agents.agents.questions.free.builders import constant
from league_agents.agents.questions.free.english_amounts import add_joints, add_quantities
from league_agents.agents.questions.free.english_classes import CLASSES, PATTERNS, PUNCTUATION
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.things import (
    MARK_NAMES,
    FreeMention,
    LetterThing,
    Mark,
    Measured,
    NamedWord,
    Noun,
    Pattern,
    Phrase,
    TextThing,
)
from league_agents.knowledge.nouns import Nouns

_MEASURED = {
    "names": """
        [specific] proper|personal noun|nouns|name|names
        capitalised|capitalized name|names
        [specific] name|names
    """,
    "named persons": """
        NAMEOF PERSONWORD
        PERSONWORD by [their|his|her|its] [first|full|proper|own] name
        named|specific PERSONWORD
        PERSONWORD 's name|names
        PERSONWORD name|names
        proper|personal name|names of PERSONWORD
    """,
    "women's names": """
        NAMEOF FEMALE
        FEMALE 's name|names
        FEMALE by name
        female [first] name|names
        named FEMALE
    """,
    "men's names": """
        NAMEOF MALE
        MALE 's name|names
        MALE by name
        male [first] name|names
        named MALE
    """,
    "named places": """
        place|geographical|geographic name|names
        NAMEOF PLACEWORD
        PLACEWORD by name
        specific|named|particular|real|geographical PLACEWORD
        PLACEWORD 's name|names
    """,
    "countries": """
        [specific|particular|named] country|countries|nation|nations
        [specific|particular|named] country|countries by name
        NAMEOF country|nation
    """,
    "cities": """
        [specific|particular|named] city|cities|town|towns by name
        specific|particular|named city|cities|town|towns
        NAMEOF city|town
    """,
    "persons": """
        PERSONWORD
    """,
    "men": """
        man|men|male|males
        male person|character|characters|figure
    """,
    "women": """
        woman|women|female|females
        female person|character|characters|figure
    """,
    "children": """
        child|children|kid|kids
        young child|person|people
    """,
    "relatives": """
        family member|members|relation|relations
        member|members of the|a family
        relative|relatives
        kinship term|terms
    """,
    "animals": """
        [specific] animal|animals|creature|creatures|beast|beasts
        kind|type|sort of animal
    """,
    "speech": """
        [any] [direct|spoken|quoted] dialogue|dialog|speech|conversation
        [any] [direct|spoken|quoted] quotation|quotations|quote|quotes
        spoken|quoted words|language|text|lines|sentence
        words spoken [aloud] [by_a_character|by_someone]
        a_passage|text|words|speech in quotation|quote marks
        speech|dialogue in quotation|quote marks
        line|lines|piece of dialogue|speech
        direct quotation|quote|speech
    """,
    "years": """
        [specific|particular|exact|calendar] year|years
        year number|date
    """,
    "numbers": """
        [specific|cardinal] number|numbers
        number|numeral word|words
        numerical|numeric value|values
        quantity|quantities|figure given_as_a_number
        word|words for [a] number|numbers
    """,
    "ordinals": """
        ordinal [number|numbers|numeral|numerals]
        ordinals
    """,
    "months": """
        [specific] month|months
        NAMEOF month
        month 's name
    """,
    "weekdays": """
        day|days of the week
        weekday|weekdays
        NAMEOF weekday
    """,
    "dates": """
        [specific|exact|particular|calendar|precise] date|dates
    """,
    "day times": """
        [specific|particular] time|times of [the] day
        hour|part of the day
        time|hour of day|night
    """,
    "seasons": """
        [specific] season|seasons [of_the_year]
        time of year
        NAMEOF season
    """,
    "capitals": """
        capitalised|capitalized word|words apart|aside from the first [word|one]
        capitalised|capitalized word|words other than the first [word|one]
        capital letter|letters apart|aside from the first [letter|one|word]
        capital letter|letters other than the first [letter|one|word]
        capital letter|letters after the first [letter|one|word]
        word|words with a capital [letter] besides|after the first [word|one]
        word|words with a capital letter besides the first [word|one]
        capitalised|capitalized word|words besides|after|except|beyond the first [word|one]
    """,
    "all capitals": """
        capitalised|capitalized word|words
        word|words with|in a capital letter
        word|words that begin|begins|start|starts with a capital letter
        word|words beginning|starting with a capital letter
    """,
    "negations": """
        negation|negations|negative|negatives
        negative|negating word|words|form|particle [such_as_not]
        negative|negating word|words NEGLIST
        negation|negations NEGLIST
    """,
    "adverbs": """
        adverb|adverbs
    """,
    "adverbs in ly": """
        adverb|adverbs ending in|with LY
        word|words ending in|with LY
    """,
    "words in capitals": """
        [whole|entire] word|words in [all] capitals|capital_letters|uppercase|upper_case|caps
        fully capitalised|capitalized word|words
        all capital|caps|uppercase word|words
        word|words written in [all] capitals|capital_letters|uppercase|caps
    """,
    "questions": """
        [direct] question|questions
    """,
    "exclamations": """
        exclamation|exclamations
    """,
    "sentences": """
        [separate|complete|full] sentence|sentences
    """,
    "words": """
        [total|single] word|words [in_total|altogether]
    """,
}  # fmt: skip


def add_things(grammar: Grammar) -> None:
    """Add the parts THING, HELD and HELDS."""
    for name, patterns in _MEASURED.items():
        grammar.add("THING", patterns, constant(Measured(name)))
    for pattern, thing in (*CLASSES, *PATTERNS):
        grammar.add("THING", pattern, constant(thing))
    for name, marks in MARK_NAMES.items():
        head, _, last = name.rpartition(" ")
        pattern = f"{head} {last}|{last}s" if head else f"{last}|{last}s|{last}es"
        grammar.add("THING", pattern, constant(Mark(marks)))
        grammar.add("MARKNAME", pattern, constant(marks))
    grammar.add("MARKNAME", "semi colon", lambda: MARK_NAMES["semicolon"])
    grammar.add("MARKNAME", "exclamation|exclamation_point", lambda: MARK_NAMES["exclamation mark"])
    grammar.add("THING", "punctuation [mark|marks]", constant(Pattern(r"[^\w\s]")))
    other = "other_than|besides|except|except_for|apart_from|aside_from"
    grammar.add(
        "THING",
        f"punctuation [mark|marks] {other} the [final|closing|last] period|full_stop",
        constant(PUNCTUATION),
    )
    _add_words(grammar)
    add_quantities(grammar)
    add_joints(grammar)


def _add_words(grammar: Grammar) -> None:
    grammar.add("PERSONWORD", "person|persons|people|character|characters|individual|individuals|someone|somebody|"
                "anyone|anybody|protagonist|human|humans|human_being|human_beings", lambda: 0)  # fmt: skip
    grammar.add("PERSONWORD", "a|any|the|some|specific|particular PERSONWORD", lambda _: 0)
    grammar.add("FEMALE", "[a|any] woman|women|girl|girls|female|female_character", lambda: 0)
    grammar.add("MALE", "[a|any] man|men|boy|boys|male|male_character", lambda: 0)
    grammar.add("PLACEWORD", "[a|any] [specific|particular] place|places|location|locations|setting", lambda: 0)
    grammar.add(
        "NAMEOF", "[specific|proper] name|names of [a|any|some|the|at_least_one] [specific|particular|main]", lambda: 0
    )
    grammar.add("LY", "ly|«»", lambda: 0)
    grammar.add("NEGLIST", "no|not|never|none|without|nor|neither|,|or|and|like|such_as|«» ", lambda: 0)
    grammar.add("NEGLIST", "no|not|never|none|without|nor|neither|,|or|and|like|such_as|«» NEGLIST", lambda _: 0)
    grammar.add("THING", "[the] word|words|phrase|term|expression QUOTE", Phrase)
    grammar.add("THING", "[the] pronoun|conjunction|preposition|article|verb|noun|adverb|adjective QUOTE", Phrase)
    grammar.add("THING", "[the] word|pronoun|conjunction|term|preposition RAWWORD", Phrase)
    grammar.add("THING", "[the] first|second|third person [singular|plural] pronoun|form QUOTE", Phrase)
    grammar.add("THING", "[the] personal|relative|demonstrative pronoun QUOTE", Phrase)
    grammar.add("THING", "[the] name|names QUOTE", NamedWord)
    grammar.add("THING", "[the] name NAMES", NamedWord)
    grammar.add("THING", "[the] year NUMBER", lambda number: Phrase(str(number)))
    grammar.add("THING", "[the] number NUMBER", lambda number: Phrase(str(number)) if number > 20 else None)
    grammar.add("THING", "QUOTE", Phrase)
    grammar.add("THING", "[the] letter LETTER", LetterThing)
    grammar.add("THING", "NAMES", NamedWord)
    grammar.add("THING", "NOUNS", _noun, loose=1)
    grammar.add("THING", "WORD", FreeMention, loose=2)
    grammar.add("NOUNS", "WORD", lambda word: word)
    grammar.add("NOUNS", "WORD WORD", lambda one, other: f"{one} {other}")
    grammar.add("NOUNS", "part of the body", lambda: "body part")
    grammar.add("NAMES", "NAME", lambda name: name)
    grammar.add("NAMES", "NAME NAMES", lambda name, others: f"{name} {others}")


_CONCRETE = frozenset({5, 6, 8, 13, 15, 17, 18, 19, 20, 27})
"""WordNet's files of things that can be perceived: what is not named there is not mentioned."""


def _noun(phrase: str) -> TextThing | None:
    nouns = Nouns.load()
    senses = nouns.senses(phrase)
    if not senses:
        return None
    if nouns.synset(senses[0].synset).file in _CONCRETE or phrase in ("colour", "color", "season"):
        return Noun(phrase)
    return FreeMention(phrase) if " " not in phrase else None
