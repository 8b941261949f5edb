"""The Hebrew grammar: the core questions about the sentence."""

from __future__ import annotations

from functools import cache

from league_agents.agents.questions.free.builders import (
    constant,
    has_words,
    mark_edge,
    part_letter,
    same,
    text_edge,
    word_letter,
)
from league_agents.agents.questions.free.claims import Of, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.foreign_things import NumberInPrint, SpeechInPrint, ToldInFirstPerson
from league_agents.agents.questions.free.held import HeldThing, all_of, any_of
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.terminals import TERMINALS
from league_agents.agents.questions.free.things import MARK_NAMES, Mark, Phrase
from league_agents.agents.questions.free.word_claims import WordAt, WordIs

_MARKS = {
    "פסיק|פסיקים": "comma",
    "נקודה פסיק": "semicolon",
    "נקודתיים": "colon",
    "סימן|סימני שאלה": "question mark",
    "סימן|סימני קריאה": "exclamation mark",
    "מרכאות|מירכאות|גרשיים": "quotation mark",
    "קו מפריד|מקף_ארוך": "dash",
    "נקודה": "full stop",
}


@cache
def hebrew() -> Grammar:
    """Return the grammar of Hebrew questions; its start is QUESTION."""
    grammar = Grammar(terminals=TERMINALS)
    add = grammar.add
    add("PART", "המשפט|משפט_הפתיחה [הראשון|הפותח]", constant(TextPart.SENTENCE))
    add("PART", "הפסקה|הקטע|הטקסט", constant(TextPart.PAGE))
    add("IN", "", constant(TextPart.SENTENCE))
    add("IN", "במשפט|במשפט_הפתיחה [הראשון|הפותח]", constant(TextPart.SENTENCE))
    add("IN", "בפסקה|בקטע|בטקסט", constant(TextPart.PAGE))
    for name, mark in _MARKS.items():
        add("THING", name, constant(Mark(MARK_NAMES[mark])))
        add("MARK", f"ב{name}", constant(MARK_NAMES[mark]))
    add("THING", "מספר|מספרים|ספרה|ספרות", constant(NumberInPrint()))
    add("THING", "דיאלוג|דיבור|דיבור_ישיר|ציטוט", constant(SpeechInPrint()))
    add("THING", "[את] [המילה|המילים|הביטוי|השם] QUOTE", Phrase)
    add("LIMIT", "יותר [מ] N", lambda n: CountLimits(n + 1, None))
    add("LIMIT", "פחות [מ] N", lambda n: CountLimits(0, n - 1))
    add("LIMIT", "לפחות N", lambda n: CountLimits(n, None))
    add("LIMIT", "בדיוק N", lambda n: CountLimits(n, n))
    add("N", "NUMBER", same)
    add("HELD", "THING", HeldThing)
    add("HELD", "LIMIT THING", lambda amount, thing: HeldThing(thing, amount))
    add("HELDS", "HELD", same)
    add("HELDS", "HELD או HELDS", any_of)
    add("HELDS", "[גם] HELD וגם|ואת HELDS", all_of)
    _add_questions(grammar)
    return grammar


def _add_questions(grammar: Grammar) -> None:
    add = grammar.add
    add("QUESTION", "האם CLAIM", same)
    add("CLAIM", "PART מכיל|מכילה|כולל|כוללת|מזכיר|מזכירה HELDS", lambda part, held: held.at(part))
    add("CLAIM", "יש|קיים|קיימת HELDS IN", lambda held, part: held.at(part))
    add("CLAIM", "יש|קיים|קיימת IN HELDS", lambda part, held: held.at(part))
    add("CLAIM", "HELDS מופיע|מופיעה|מופיעים|נמצא|נמצאת IN", lambda held, part: held.at(part))
    add("CLAIM", "PART הוא|היא שאלה|משפט_שאלה", lambda part: Of(part, "question"))
    add("CLAIM", "PART מנוסח|מנוסחת כשאלה", lambda part: Of(part, "question"))
    add("CLAIM", "PART [הוא] [כתוב|מסופר|נכתב] בגוף ראשון", ToldInFirstPerson)
    add("CLAIM", "יש IN LIMIT מילים", has_words)
    add("CLAIM", "PART מכיל|בן|כולל LIMIT מילים", has_words)
    add("CLAIM", "PART [הוא] קצר|קצרה מ|מאשר N מילים", lambda part, n: has_words(part, CountLimits(0, n - 1)))
    add("CLAIM", "PART [הוא] קצר|קצרה N מילים", lambda part, n: has_words(part, CountLimits(0, n - 1)))
    add("CLAIM", "PART [הוא] ארוך|ארוכה [מ|מאשר] N מילים", lambda part, n: has_words(part, CountLimits(n + 1, None)))
    for verb, at_end in (("מתחיל|מתחילה|נפתח|נפתחת", False), ("מסתיים|מסתיימת|נגמר|נגמרת", True)):
        add("CLAIM", f"PART {verb} במילה|במילים|בביטוי|בשם|ב QUOTE", text_edge(at_end))
        add("CLAIM", f"PART {verb} באות LETTER", part_letter(at_end))
        add("CLAIM", f"PART {verb} MARK", mark_edge(at_end))
        add("CLAIM", f"AWORD {verb} באות LETTER", word_letter(at_end))
    add("AWORD", "המילה הראשונה [במשפט|של_המשפט]", constant(WordAt(0)))
    add("AWORD", "המילה האחרונה [במשפט|של_המשפט]", constant(WordAt(-1)))
    add("AWORD", "המילה הסודית|האסוציאטיבית|הנסתרת", constant(WordAt()))
    add("CLAIM", "AWORD היא QUOTE", WordIs)
