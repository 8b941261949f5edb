"""The German grammar: the core questions about the sentence."""

from __future__ import annotations

from functools import cache

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.builders import (
    constant,
    has_words,
    mark_edge,
    part_letter,
    same,
    text_edge,
    word_letter,
)
from league_agents.agents.questions.free.claims import Not, Of, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.foreign_things import (
    NumberInPrint,
    SomeOf,
    SpeechInPrint,
    ToldInFirstPerson,
    ToldInPast,
)
from league_agents.agents.questions.free.held import HeldThing, all_of, any_of, without
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.terminals import TERMINALS
from league_agents.agents.questions.free.things import MARK_NAMES, Mark, Measured, Pattern, Phrase, TextThing
from league_agents.agents.questions.free.word_claims import WordAt, WordInList, WordIs

_MARKS = {
    "komma|kommas|kommata": "comma",
    "semikolon|semikolons|strichpunkt": "semicolon",
    "doppelpunkt|doppelpunkte": "colon",
    "fragezeichen": "question mark",
    "ausrufezeichen|ausrufungszeichen": "exclamation mark",
    "anführungszeichen": "quotation mark",
    "gedankenstrich|gedankenstriche": "dash",
    "punkt": "full stop",
}
_GERMAN_PLACES = words.PLACES | frozenset(
    [
        "berlin",
        "münchen",
        "wien",
        "köln",
        "prag",
        "zürich",
        "deutschland",
        "österreich",
        "schweiz",
        "frankreich",
        "italien",
        "england",
        "rom",
        "havel",
        "rhein",
        "donau",
        "europa",
        "amerika",
        "afrika",
        "asien",
        "paris",
    ]
)
_ARTICLES = frozenset({"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines"})
_SEASONS = frozenset({"frühling", "frühjahr", "sommer", "herbst", "winter"})


@cache
def german() -> Grammar:
    """Return the grammar of German questions; its start is QUESTION."""
    grammar = Grammar(terminals=TERMINALS)
    _add_parts(grammar)
    _add_things(grammar)
    _add_questions(grammar)
    return grammar


def _add_parts(grammar: Grammar) -> None:
    add = grammar.add
    sentence = "satz|eröffnungssatz|anfangssatz|einleitungssatz"
    add("PART", f"der|dieser [erste|geheime] {sentence}", constant(TextPart.SENTENCE))
    add("PART", "er|es", constant(TextPart.SENTENCE))
    add("PART", "der|dieser [ganze] absatz|abschnitt|text", constant(TextPart.PAGE))
    add("IN", "", constant(TextPart.SENTENCE))
    add("IN", f"im [ersten] {sentence}", constant(TextPart.SENTENCE))
    add("IN", f"in dem|diesem [ersten] {sentence}", constant(TextPart.SENTENCE))
    add("IN", "im absatz|abschnitt|text", constant(TextPart.PAGE))
    add("N", "NUMBER", same)
    add("N", "ein|eine|einen|einem", constant(1))
    for words_, build in (
        ("mehr als", lambda n: CountLimits(n + 1, None)),
        ("weniger als", lambda n: CountLimits(0, n - 1)),
        ("mindestens", lambda n: CountLimits(n, None)),
        ("höchstens", lambda n: CountLimits(0, n)),
        ("genau", lambda n: CountLimits(n, n)),
    ):
        add("LIMIT", f"{words_} N", build)


def _add_things(grammar: Grammar) -> None:
    add = grammar.add
    for name, mark in _MARKS.items():
        add("THING", name, constant(Mark(MARK_NAMES[mark])))
        add("MARK", f"einem|ein|einen {name}", constant(MARK_NAMES[mark]))
    things: tuple[tuple[str, TextThing], ...] = (
        ("zahl|zahlen|zahlwort|zahlwörter", NumberInPrint()),
        ("ziffer|ziffern", Pattern(r"\d")),
        ("jahreszahl|jahreszahlen", Pattern(r"(?<!\d)\d{4}(?!\d)|[Hh]undert")),
        ("[wörtliche|direkte] rede|dialog|dialoge", SpeechInPrint()),
        ("ort|orte|ortsname|ortsnamen", SomeOf(_GERMAN_PLACES)),
        (
            "stadt|städte",
            SomeOf(words.CITIES | frozenset({"wien", "berlin", "münchen", "köln", "prag", "zürich", "rom"})),
        ),
        ("jahreszeit|jahreszeiten", SomeOf(_SEASONS)),
        ("person|personen|figur namentlich", SomeOf(words.GIVEN_NAMES)),
        ("wort|wörter|worte", Measured("words")),
        ("frage|fragen", Mark(MARK_NAMES["question mark"])),
    )
    for patterns, thing in things:
        add("THING", patterns, constant(thing))
    add("THING", "das wort|die_wörter|der_ausdruck|der_name|den_namen|den_ausdruck QUOTE", Phrase)
    add("THING", "QUOTE", Phrase)
    add("THING", "die stadt NAME", Phrase)
    add("THING", "NAME", Phrase, loose=2)
    add(
        "QTY",
        "[irgend] ein|eine|einen|einem|irgendein|irgendeine|eine_bestimmte|ein_bestimmter",
        constant(CountLimits(1, None)),
    )
    add("QTY", "kein|keine|keinen", constant(CountLimits(0, 0)))
    add("QTY", "LIMIT", same)
    add("HELD", "THING", HeldThing)
    add("HELD", "QTY THING", lambda amount, thing: HeldThing(thing, amount))
    add("HELDS", "HELD", same)
    add("HELDS", "[entweder] HELD oder HELDS", any_of)
    add("HELDS", "[sowohl] HELD und|als_auch HELDS", all_of)


def _add_questions(grammar: Grammar) -> None:
    add = grammar.add
    add("QUESTION", "enthält|hat|nennt|erwähnt|verwendet PART HELDS", lambda part, held: held.at(part))
    add("QUESTION", "enthält|hat|nennt|erwähnt PART nicht HELDS", without)
    add("QUESTION", "kommt|kommen|taucht|tauchen IN HELDS vor|auf", lambda part, held: held.at(part))
    add("QUESTION", "kommt|kommen|taucht|tauchen HELDS IN vor|auf", lambda held, part: held.at(part))
    add("QUESTION", "steht|erscheint|befindet_sich HELDS IN", lambda held, part: held.at(part))
    add("QUESTION", "gibt es IN HELDS", lambda part, held: held.at(part))
    add("QUESTION", "gibt es HELDS IN", lambda held, part: held.at(part))
    named = "genannt|erwähnt|benutzt|verwendet"
    add("QUESTION", f"wird|werden IN HELDS [namentlich] {named}", lambda part, held: held.at(part))
    add("QUESTION", f"wird|werden HELDS IN [namentlich] {named}", lambda held, part: held.at(part))
    add("QUESTION", "ist PART eine|ein frage|fragesatz", lambda part: Of(part, "question"))
    add("QUESTION", "ist PART als frage formuliert", lambda part: Of(part, "question"))
    add("QUESTION", "ist PART ein ausruf|ausrufesatz", lambda part: Of(part, "exclamation"))
    told = "geschrieben|erzählt|verfasst"
    add("QUESTION", f"ist PART in|aus der ersten|ich|1 person|form|perspektive {told}", ToldInFirstPerson)
    add("QUESTION", "gibt es einen ich erzähler", constant(ToldInFirstPerson(TextPart.SENTENCE)))
    past, present = "vergangenheit|vergangenheitsform|präteritum|imperfekt", "gegenwart|präsens|gegenwartsform"
    add("QUESTION", f"steht|ist PART im|in_der {past} [geschrieben]", ToldInPast)
    add("QUESTION", f"steht|ist PART im|in_der {present} [geschrieben]", lambda part: Not(ToldInPast(part)))
    add("QUESTION", "hat|besteht|enthält PART [aus] LIMIT wörter|wörtern|worte|worten", has_words)
    add("QUESTION", "ist PART länger als N wörter|worte", lambda part, n: has_words(part, CountLimits(n + 1, None)))
    add("QUESTION", "ist PART kürzer als N wörter|worte", lambda part, n: has_words(part, CountLimits(0, n - 1)))
    for verb, at_end in (("beginnt|fängt|startet", False), ("endet|schließt", True)):
        add("QUESTION", f"{verb} PART mit|auf [dem|den] [wort|worten|namen] QUOTE [an]", text_edge(at_end))
        add("QUESTION", f"{verb} PART mit MARK", mark_edge(at_end))
        add("QUESTION", f"{verb} PART mit dem|einem [buchstaben] LETTER", part_letter(at_end))
        add("QUESTION", f"{verb} AWORD mit|auf [dem|einem|einen] [buchstaben] LETTER [an]", word_letter(at_end))
    add("QUESTION", "beginnt PART mit einem artikel", constant(WordInList(WordAt(0), _ARTICLES)))
    add("AWORD", "das erste wort [des_satzes|im_satz]", constant(WordAt(0)))
    add("AWORD", "das letzte wort [des_satzes|im_satz]", constant(WordAt(-1)))
    add("AWORD", "das assoziationswort|geheime_wort|geheimwort|lösungswort", constant(WordAt()))
    add("QUESTION", "ist|lautet AWORD QUOTE", WordIs)
