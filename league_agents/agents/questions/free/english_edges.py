"""The English grammar of how a text begins and ends."""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.free.builders import constant, same
from league_agents.agents.questions.free.claims import Any, AskedClaim, Not, TextPart
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.word_claims import MarkEdgeIs, TextEdgeIs, WordAt, WordClassIs

STARTS = "begin|begins|start|starts|open|opens|beginning|starting"
ENDS = "end|ends|finish|finishes|close|closes|conclude|concludes|ending"


def add_edges(grammar: Grammar) -> None:
    add = grammar.add
    add("CLAIM", f"does|do|did|can PART {STARTS} [off] with|by_using|using STARTEDGE", lambda part, edge: edge(part))
    add("CLAIM", f"does|do|did PART not {STARTS} with STARTEDGE", lambda part, edge: Not(edge(part)))
    add("CLAIM", "is THINGTEXT at the beginning|start of PART", lambda text, part: TextEdgeIs(part, False, text))
    add("CLAIM", f"does|do|did|can SENTENCE {ENDS} with|in|on ENDEDGE", lambda part, edge: edge(part))
    add("CLAIM", f"does|do|did PART {ENDS} with|in|on ENDEDGE", lambda part, edge: edge(part))
    add("CLAIM", f"does|do|did PART not {ENDS} with|in ENDEDGE", lambda part, edge: Not(edge(part)))
    add("CLAIM", f"does THINGTEXT {ENDS} PART", lambda text, part: TextEdgeIs(part, True, text))
    add("CLAIM", f"does THINGTEXT {STARTS} PART", lambda text, part: TextEdgeIs(part, False, text))
    add("CLAIM", "is there STARTTHING at the beginning|start of PART", lambda edge, part: edge(part))
    add(
        "CLAIM", "is [the] word QUOTE the last word [of_the_sentence]", lambda t: TextEdgeIs(TextPart.SENTENCE, True, t)
    )
    add("STARTTHING", "STARTEDGE", same)
    for edge, at_end in (("STARTEDGE", False), ("ENDEDGE", True)):
        add(edge, "[the] word|words|name|phrase|pronoun|article QUOTE", _text_edge(at_end))
        add(edge, "QUOTE", _text_edge(at_end))
        add(edge, "[the] word|pronoun|name EDGEWORD", _text_edge(at_end))
        add(edge, "EDGEWORD", _text_edge(at_end))
        add(edge, "[either] WORDEDGE or WORDEDGE", _either_text(at_end))
        add(edge, "a|an|the MARKNAME", _mark_edge(at_end))
        add(edge, "a|an MARKNAME or a|an MARKNAME", _two_marks(at_end))
        add(edge, f"a|an|the {edge}CLASS", same)
        add(edge, f"{edge}CLASS", same)
        add(f"{edge}CLASS", "CLASSNAME", _class_edge(at_end))
        add(f"{edge}CLASS", "CLASSNAME [such_as|like] EXAMPLES", _class_by_example(at_end))
    add("WORDEDGE", "QUOTE", same)
    add("WORDEDGE", "EDGEWORD", same)
    add("WORDEDGE", "[the] word QUOTE", same)
    add("EXAMPLES", "such|like|mr|mrs|or|as|,|and|«»|there|here|the|a|an", constant(0))
    add("EXAMPLES", "such|like|mr|mrs|or|as|,|and|«»|there|here|the|a|an EXAMPLES", constant(0))
    add("STARTEDGE", "dialogue|speech|direct_speech|a_quotation|a_quote|spoken_words|a_line_of_dialogue",
        constant(lambda part: MarkEdgeIs(part, False, "\"“„«「『'‘")))  # fmt: skip
    add(
        "STARTEDGE",
        "[someone|somebody|a_character|a_person|a_woman|a_man] 's name",
        constant(_class_edge(False)("name")),
    )
    add("STARTEDGE", "[the|a] name of a|the character|person", constant(_class_edge(False)("name")))
    for name, kind in _CLASS_NAMES.items():
        add("CLASSNAME", name, constant(kind))


_CLASS_NAMES = {
    "[personal|relative|demonstrative] pronoun": "pronoun",
    "[definite|indefinite] article": "article",
    "definite article": "definite article",
    "indefinite article": "indefinite article",
    "preposition": "preposition",
    "[coordinating|subordinating] conjunction": "conjunction",
    "proper|capitalised|capitalized noun|name": "name",
    "[personal|given] name [of_a_person|of_a_character]": "name",
    "person|character 's name": "name",
    "[common] noun": "noun",
    "verb": "verb",
    "adjective": "adjective",
    "adverb": "adverb",
    "question|interrogative word|pronoun": "question word",
    "wh word": "question word",
    "demonstrative [pronoun|adjective|determiner]": "demonstrative",
    "number|numeral": "number",
    "title [of_address]": "title",
}


def _text_edge(at_end: bool) -> Callable[[str], Callable[[TextPart], AskedClaim]]:
    return lambda text: lambda part: TextEdgeIs(part, at_end, text)


def _either_text(at_end: bool) -> Callable[[str, str], Callable[[TextPart], AskedClaim]]:
    return lambda one, other: lambda part: Any((TextEdgeIs(part, at_end, one), TextEdgeIs(part, at_end, other)))


def _mark_edge(at_end: bool) -> Callable[[str], Callable[[TextPart], AskedClaim]]:
    return lambda marks: lambda part: MarkEdgeIs(part, at_end, marks)


def _two_marks(at_end: bool) -> Callable[[str, str], Callable[[TextPart], AskedClaim]]:
    return lambda one, other: lambda part: MarkEdgeIs(part, at_end, one + other)


def _class_edge(at_end: bool) -> Callable[[str], Callable[[TextPart], AskedClaim]]:
    return lambda kind: lambda _: WordClassIs(WordAt(-1 if at_end else 0), kind)


def _class_by_example(at_end: bool) -> Callable[[str, object], Callable[[TextPart], AskedClaim]]:
    return lambda kind, _: _class_edge(at_end)(kind)
