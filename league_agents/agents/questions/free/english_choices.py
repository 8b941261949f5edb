"""The English grammar of questions whose options are of substance."""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.free.builders import constant
from league_agents.agents.questions.free.choices import (
    SoughtAuthor,
    SoughtCount,
    SoughtEndMark,
    SoughtFirst,
    SoughtLength,
    SoughtLetter,
    SoughtPresent,
    SoughtSpeaker,
    SoughtWord,
    SoughtYear,
)
from league_agents.agents.questions.free.claims import TextPart
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.things import Measured
from league_agents.agents.questions.free.word_claims import SECRET, WordAt


def add_choices(grammar: Grammar) -> None:
    """Add the part SOUGHT."""
    _add_counts(grammar)
    _add_words(grammar)
    _add_presence(grammar)
    _add_book(grammar)


def _add_counts(grammar: Grammar) -> None:
    add = grammar.add
    add("SOUGHT", "how many THING does|do PART have|contain|include|use|consist_of|comprise",
        lambda thing, part: SoughtCount(part, thing))  # fmt: skip
    add("SOUGHT", "how many THING has|have PART", lambda thing, part: SoughtCount(part, thing))
    add(
        "SOUGHT",
        "how many THING are|is|stand|occur|appear [there] [used] IN",
        lambda thing, part: SoughtCount(part, thing),
    )
    add("SOUGHT", "what is the [total] number|count of THING IN", lambda thing, part: SoughtCount(part, thing))
    add("SOUGHT", "how many words long is PART", lambda part: SoughtCount(part, Measured("words")))
    add("SOUGHT", "how long is PART [,] [in_words|measured_in_words|counted_in_words]",
        lambda part: SoughtCount(part, Measured("words")))  # fmt: skip
    add("SOUGHT", "what is the length of PART [,] [in_words]", lambda part: SoughtCount(part, Measured("words")))
    add("SOUGHT", "how many letters|characters does|do AWORD have|contain", SoughtLength)
    add("SOUGHT", "how many letters|characters has AWORD", SoughtLength)
    add("SOUGHT", "how many letters are there in AWORD", SoughtLength)
    add("SOUGHT", "how many letters long is AWORD", SoughtLength)
    add("SOUGHT", "how long is AWORD [,] [in_letters]", SoughtLength)


def _add_words(grammar: Grammar) -> None:
    add = grammar.add
    for verb, at_end in (("begin|start", False), ("end|finish", True)):
        add("SOUGHT", f"with|in which|what letter does AWORD {verb}", _letter(at_end))
        add("SOUGHT", f"which|what letter does AWORD {verb} with|in", _letter(at_end))
        add("SOUGHT", f"with|in which|what letter does PART {verb}", _part_letter(at_end))
        add("SOUGHT", f"which|what word {verb}|{verb.replace('|', 's|')}s PART", _word_of_part(at_end))
        add("SOUGHT", f"with which|what word does PART {verb}", _word_of_part(at_end))
        add("SOUGHT", f"which|what word does PART {verb} with", _word_of_part(at_end))
    for edge, at_end in (("first|initial", False), ("last|final", True)):
        add("SOUGHT", f"what|which is the {edge} letter of AWORD", _letter(at_end))
        add("SOUGHT", f"which range|group does the {edge} letter of AWORD belong|fall to|into|in", _letter(at_end))
        add("SOUGHT", f"in which range is|lies the {edge} letter of AWORD", _letter(at_end))
    add("SOUGHT", "what|which is|was AWORD", SoughtWord)
    add("SOUGHT", "which [of_these|of_the_following] [words|word] is|are AWORD", SoughtWord)
    add("SOUGHT", "which [word|of_these_words] comes|stands first IN", constant(SoughtWord(WordAt(0))), loose=1)
    add("SOUGHT", "which|what word comes|stands|is last IN", constant(SoughtWord(WordAt(-1))))
    add("SOUGHT", "which pronoun|article|word is AWORD", SoughtWord)


def _letter(at_end: bool) -> Callable[[WordAt], SoughtLetter]:
    return lambda word: SoughtLetter(word, at_end)


def _part_letter(at_end: bool) -> Callable[[TextPart], SoughtLetter | None]:
    return lambda part: SoughtLetter(WordAt(-1 if at_end else 0), at_end) if part is TextPart.SENTENCE else None


def _word_of_part(at_end: bool) -> Callable[[TextPart], SoughtWord | None]:
    return lambda part: SoughtWord(WordAt(-1 if at_end else 0)) if part is TextPart.SENTENCE or not at_end else None


_OCCURS = "appears|appear|occurs|occur|stands|stand|used|found|present|mentioned|named|contained"


def _add_presence(grammar: Grammar) -> None:
    add = grammar.add
    add("OFTHESE", "[of] [these|the_following|the_four|them]", constant(False))
    add(
        "OFTHESE", "[of] [these|the_following|the_four] words|names|phrases|word|name|phrase|term|terms", constant(True)
    )
    # "Which animal is mentioned?": the options are words for it.
    add("OFTHESE", "[of] [these] KIND", constant(False))
    add("KIND", "WORD", constant(0))
    add("KIND", "WORD WORD", constant(0))
    add("KIND", "pronoun|time_of_day|part_of_the_body|number|name_of_a_person|person|name", constant(0))
    add("SOUGHT", f"which|what|who OFTHESE is|are|was|does [explicitly] [actually] {_OCCURS} IN", _present)
    add("SOUGHT", f"which|what|who OFTHESE {_OCCURS} IN", _present)
    add("SOUGHT", "which|what|who OFTHESE does|do PART contain|include|mention|use|name|have",
        lambda literal, part: _present(literal, part))  # fmt: skip
    add("SOUGHT", "which|what OFTHESE is|are in PART", _present)
    add(
        "SOUGHT",
        f"which|what OFTHESE is|does|do|are not appear|occur|{_OCCURS.replace('appears|appear|', '')} IN",
        _absent,
    )
    add("SOUGHT", "which|what OFTHESE does|do PART not contain|include|use|mention", _absent)
    add("SOUGHT", f"which|what|who OFTHESE is|are {_OCCURS} first IN", lambda _, part: SoughtFirst(part))
    add("SOUGHT", "which|what|who OFTHESE comes|stands|appears|occurs first IN", lambda _, part: SoughtFirst(part))
    add("SOUGHT", f"which|what|who OFTHESE is {_OCCURS} first IN", lambda _, part: SoughtFirst(part))
    add(
        "SOUGHT",
        "which [punctuation] mark|punctuation|punctuation_mark ends|closes|concludes PART",
        constant(SoughtEndMark()),
    )
    add("SOUGHT", "how does PART end", constant(SoughtEndMark()))
    add("SOUGHT", "with which|what [punctuation] mark does PART end", constant(SoughtEndMark()))
    add("SOUGHT", "which|what mark|punctuation_mark|punctuation is at the end of PART", constant(SoughtEndMark()))
    add("SOUGHT", "who is speaking|talking IN", SoughtSpeaker)
    add(
        "SOUGHT",
        "who speaks|talks|says_these_words|says_this|says_it|cries_out|says_so|utters_these_words IN",
        SoughtSpeaker,
    )
    add("SOUGHT", "who is the speaker IN", SoughtSpeaker)


def _present(is_literal: bool, part: TextPart) -> SoughtPresent | None:
    return None if part is TextPart.BOOK else SoughtPresent(part, is_literal=is_literal)


def _absent(is_literal: bool, part: TextPart) -> SoughtPresent | None:
    return SoughtPresent(part, is_absent=True) if is_literal and part is not TextPart.BOOK else None


def _add_book(grammar: Grammar) -> None:
    add = grammar.add
    add("SOUGHT", "who wrote|authored|penned BOOK", constant(SoughtAuthor()))
    add("SOUGHT", "who is|was AUTHOR", constant(SoughtAuthor()))
    add("SOUGHT", "which|what author|writer wrote BOOK", constant(SoughtAuthor()))
    add("SOUGHT", "by whom was BOOK written", constant(SoughtAuthor()))
    add("SOUGHT", "who|which_author is BOOK by", constant(SoughtAuthor()))
    for when in ("when", "in which|what year|century", "which|what year|century"):
        add("SOUGHT", f"{when} was|is BOOK [first] published|written|released|printed [in]", constant(SoughtYear()))
        add("SOUGHT", f"{when} did BOOK [first] appear|come_out", constant(SoughtYear()))
    add("SOUGHT", "which of_these|of_the_following [words] is SECRET", constant(SoughtWord(SECRET)))
