"""The English grammar of the form of a text: question, person, tense, length, speech."""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.builders import constant, same
from league_agents.agents.questions.free.claims import All, Any, AskedClaim, Holds, Not, Of, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.rules import Grammar
from league_agents.agents.questions.free.things import Measured, OfClass, Phrase
from league_agents.agents.questions.free.word_claims import MarkEdgeIs


def add_form(grammar: Grammar) -> None:
    add = grammar.add
    add("CLAIM", "is|was PART FORMS", lambda part, form: form(part))
    add("CLAIM", "is|was PART not FORMS", lambda part, form: _denied(form(part)))
    add("CLAIM", "does PART use|have|contain FORMNOUN", lambda part, form: form(part))
    add("FORM", "FORMNOUN", same)
    add("FORMS", "FORM", same)
    add("FORMS", "[both] FORM and|but FORM", lambda one, other: lambda part: All((one(part), other(part))))
    add("FORMS", "[either] FORM or FORM", lambda one, other: lambda part: Any((one(part), other(part))))
    add(
        "FORM", "[phrased|written|framed|posed|formulated|expressed] [as|in_the_form_of] a|an question", _of("question")
    )
    add("FORM", "[a|an] interrogative [sentence|clause]", _of("question"))
    add("FORM", "asking something|a_question", _of("question"))
    add("CLAIM", "does|do PART ask something|a_question|anything", lambda part: Of(part, "question"))
    add("FORM", "[phrased|written] [as] a|an exclamation", _of("exclamation"))
    add("FORM", "[an] exclamatory|exclamative [sentence]", _of("exclamation"))
    for person in ("first", "second", "third"):
        add("FORMNOUN", f"[written|told|narrated|in] [written|told|narrated] [in|from|by|with] [the|a] {person} person "
            "[singular|plural] [voice|perspective|point_of_view|narration|narrative|narrator|form|view]",
            _of(f"{person} person"))  # fmt: skip
        add("CLAIM", f"is|was [the] NARRATION [written|told|speaking|in] [in] [the] {person} person [voice|narration]",
            constant(Of(TextPart.SENTENCE, f"{person} person")))  # fmt: skip
        add(
            "CLAIM",
            f"does NARRATION speak|use|write [in] [the] {person} person",
            constant(Of(TextPart.SENTENCE, f"{person} person")),
        )
    add("NARRATION", "[the] narration|narrator|narrative|narrative_voice|voice|point_of_view|perspective|story|it|text",
        constant(0))  # fmt: skip
    for tense in ("past", "present", "future"):
        add("FORMNOUN", f"[written|told|narrated|set] [in] [the] {tense} tense", _of(tense))
        add("CLAIM", f"is|are [the] VERB in [the] {tense} tense", constant(Of(TextPart.SENTENCE, tense)))
    add("VERB", "[main|first] verb|verbs [of_the_sentence|in_the_sentence|of_the_opening_sentence]", constant(0))
    add("FORMNOUN", "words like QUOTE , QUOTE or QUOTE", lambda a, b, c: lambda part: Any(
        tuple(Holds(part, Phrase(each)) for each in (a, b, c))))  # fmt: skip
    add("FORM", "LIMIT words [long|in_length|or_longer]", _words)
    add("FORM", "NUMBER words long or longer|more", lambda n: _words(CountLimits(n, None)))
    add("FORM", "NUMBER words long or shorter|less", lambda n: _words(CountLimits(0, n)))
    add("FORM", "[exactly|precisely] NUMBER words long|in_length", lambda n: _words(CountLimits(n, n)))
    add("FORM", "[a] [short|long] [sentence|one] of|with|having LIMIT words", _words)
    add("FORM", "short|long|brief , with|of|having LIMIT words", _words)
    add("CLAIM", "is the number of words in|of PART LIMIT", lambda part, amount: _words(amount)(part))
    add("CLAIM", "is PART 's length LIMIT words", lambda part, amount: _words(amount)(part))
    add("CLAIM", "does|do|has|have PART have|contain|consist_of|comprise|run_to LIMIT words [in_length|long|in_total]",
        lambda part, amount: _words(amount)(part))  # fmt: skip
    add(
        "CLAIM",
        "does PART have more words than the number NUMBER",
        lambda part, n: _words(CountLimits(n + 1, None))(part),
    )
    add("CLAIM", "does anyone|someone|somebody|anybody|a_character|any_character speak IN",
        lambda part: Holds(part, Measured("speech")))  # fmt: skip
    add("CLAIM", "is anyone|someone|somebody|anybody|a_character|any_character speaking|talking IN",
        lambda part: Holds(part, Measured("speech")))  # fmt: skip
    add("CLAIM", "does|is PART open|begin|start with dialogue|direct_speech|speech",
        lambda part: MarkEdgeIs(part, False, "\"“„«「『'‘"))  # fmt: skip
    add("CLAIM", "is anyone|someone|anybody|somebody|any_person|anything named IN",
        lambda part: Holds(part, Measured("named persons")))  # fmt: skip
    add("CLAIM", "is|are anyone|someone|anybody|somebody mentioned IN", lambda part: Holds(part, Measured("persons")))
    add("CLAIM", "is|are anyone|someone|anybody|somebody|any_character|a_character|a_person|any_person "
        "mentioned|named|referred_to|identified|addressed by [proper] name IN",
        lambda part: Holds(part, Measured("named persons")))  # fmt: skip
    add(
        "CLAIM",
        "is [the] name of PERSONWORD given|mentioned IN",
        lambda _, part: Holds(part, Measured("named persons")),
    )
    add(
        "CLAIM",
        "is [the] PERSONWORD 's name given|mentioned IN",
        lambda _, part: Holds(part, Measured("named persons")),
    )
    add("CLAIM", "does PART name PERSONWORD", lambda part, _: Holds(part, Measured("named persons")))
    add("CLAIM", "does PART name PLACEWORD", lambda part, _: Holds(part, Measured("named places")))
    add("CLAIM", "is|are [any] weekday|weekdays mentioned IN", lambda part: Holds(part, Measured("weekdays")))
    add("CLAIM", "does PART use [a|any] VOICE pronoun|pronouns", lambda part, thing: Holds(part, thing))
    add("VOICE", "male", constant(OfClass(words.MALE_PRONOUNS)))
    add("VOICE", "female", constant(OfClass(words.FEMALE_PRONOUNS)))


def _denied(claim: AskedClaim) -> AskedClaim | None:
    """Return the opposite; ``None`` for "not A and B" and "not A or B", which readers take in two ways."""
    return None if isinstance(claim, All | Any) else Not(claim)


def _of(name: str) -> Callable[[], Callable[[TextPart], AskedClaim]]:
    return lambda: lambda part: Of(part, name)


def _words(amount: CountLimits) -> Callable[[TextPart], AskedClaim]:
    return lambda part: Holds(part, Measured("words"), amount)
