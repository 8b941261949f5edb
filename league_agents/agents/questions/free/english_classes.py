"""English names of word classes and of what a pattern of characters finds."""

from __future__ import annotations

from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.things import MARK_NAMES, Mark, Measured, OfClass, Pattern, TextThing

CLASSES: tuple[tuple[str, OfClass], ...] = (
    ("pronoun|pronouns", OfClass(words.PRONOUNS, words.MAYBE_PRONOUNS)),
    ("personal pronoun|pronouns", OfClass(words.PERSONAL_PRONOUNS)),
    ("first person [singular] [personal] [pronoun|pronouns|form|forms]", OfClass(words.FIRST_PERSON)),
    ("first person plural [personal] [pronoun|pronouns|form|forms]", OfClass(words.FIRST_PLURAL)),
    ("second person [personal] [pronoun|pronouns|form|forms]", OfClass(words.SECOND_PERSON)),
    ("third person [personal] [pronoun|pronouns|form|forms]", OfClass(words.THIRD_PERSON)),
    ("female|feminine pronoun|pronouns", OfClass(words.FEMALE_PRONOUNS)),
    ("male|masculine pronoun|pronouns", OfClass(words.MALE_PRONOUNS)),
    ("article|articles", OfClass(words.ARTICLES)),
    ("definite article|articles", OfClass(words.DEFINITE)),
    ("indefinite article|articles", OfClass(words.INDEFINITE)),
    ("preposition|prepositions", OfClass(words.PREPOSITIONS, words.MAYBE_PREPOSITIONS)),
    ("[coordinating] conjunction|conjunctions", OfClass(words.CONJUNCTIONS, words.MAYBE_CONJUNCTIONS)),
    ("question|interrogative word|words", OfClass(frozenset(), words.QUESTION_WORDS)),
    ("demonstrative|demonstratives [pronoun|pronouns]", OfClass(frozenset({"these", "those"}), words.DEMONSTRATIVES)),
    ("form|forms of the verb to_be|«»", OfClass(words.BE_FORMS)),
    ("form|forms of to_be", OfClass(words.BE_FORMS)),
    ("modal verb|verbs", OfClass(words.MODALS - {"may", "might", "will", "can"}, words.MODALS)),
    ("auxiliary|auxiliaries [verb|verbs]", OfClass(words.AUXILIARIES - {"may", "might", "can", "will", "must"},
                                                   words.AUXILIARIES)),
    ("military rank|ranks|title|titles", OfClass(words.RANKS - {"general", "major"}, words.RANKS)),
    ("military rank or title", OfClass(words.RANKS - {"general", "major"}, words.RANKS)),
    ("title|titles of address", OfClass(words.TITLES)),
)  # fmt: skip
PATTERNS: tuple[tuple[str, TextThing], ...] = (
    ("digit|digits", Pattern(r"\d")),
    ("numeral|numerals", Measured("numbers")),
    ("arabic|numeric digit|digits|numeral|numerals|character|characters", Pattern(r"\d")),
    ("number|numbers written in digits|figures", Pattern(r"\d+")),
    ("hyphenated [compound] word|words", Pattern(r"(?<=\w)[-‐‑](?=\w)")),
    ("hyphen|hyphens", Pattern(r"(?<=\w)[-‐‑](?=\w)|(?<=\w)-(?=\s)")),
    ("apostrophe|apostrophes", Pattern(r"(?<=\w)['’](?=\w)")),
    ("contraction|contractions", Pattern(r"(?i)(?:n['’]t|['’](?:ll|re|ve|m|d)|\bit['’]s)\b")),
    ("contracted form|forms|word|words", Pattern(r"(?i)(?:n['’]t|['’](?:ll|re|ve|m|d)|\bit['’]s)\b")),
    ("parenthesis|parentheses|bracket|brackets", Pattern(r"[()\[\]]")),
    ("words|text in parentheses|brackets", Pattern(r"[()\[\]]")),
    ("word|words ending in|with ing", Pattern(r"(?i)\w\w+ing\b")),
    ("semi colon|colons", Mark(MARK_NAMES["semicolon"])),
    ("exclamation point|points", Mark(MARK_NAMES["exclamation mark"])),
    ("quote mark|marks", Mark(MARK_NAMES["quotation mark"])),
    ("inverted commas", Mark(MARK_NAMES["quotation mark"])),
    ("em|en|long dash|dashes", Mark(MARK_NAMES["dash"])),
    ("ellipsis|ellipses", Pattern(r"…|\.\.\.")),
)
PUNCTUATION = Pattern(r"[,;:?!—–()“”\"«»…]|--|\.(?=.*\w)")
