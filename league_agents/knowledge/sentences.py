"""Find sentence boundaries in English and other Latin scripts, Hebrew, and Chinese.

Rule 1: only white space changes: the sentences of a text, joined, are the text.
Rule 2: when in doubt there is no boundary after a possible abbreviation, and there is one otherwise. An opening
sentence that is cut short is a wrong target; one that is too long is noticed by the first reader.
Rule 3: one pass over the text, without regular expressions that can backtrack over it: the text is untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from league_agents.knowledge.words import HAN_RUN


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that always precede a name, a number or the rest of a phrase: never the end of a sentence.
_NEVER_LAST = _set_of(
    "mr mrs ms messrs mme mlle mlles mgr dr drs prof gen col capt cpt lt sgt cpl maj adm cmdr rev revd hon gov "
    "sen rep pres supt insp sig sra srta e.g i.e viz cf vs ca approx ibid op loc hr fr frl nr bzw vgl d.h z.b "
    "p.ex"
)
# Abbreviations that may also end a sentence: a boundary only if the next word is one that usually opens a sentence.
_SOMETIMES_LAST = _set_of(
    "st ste mt ft jr sr esq etc co inc ltd bros al ave blvd rd sq dept est univ bart knt ph.d m.a b.a m.d d.d "
    "ll.d a.m p.m b.c a.d b.c.e c.e u.s u.k u.s.a n.b p.s r.s.v.p"
)
# Abbreviations only before a number: "No. 7", "Vol. II", "Dec. 11th". Otherwise they are words ("No. They must").
_BEFORE_NUMBER = _set_of(
    "no nos vol vols p pp pg fig figs ch chap chaps sec sect art bk pt par col ll v vv jan feb mar apr jun jul "
    "aug sep sept oct nov dec lib cap ed eds n"
)
_OPENERS_OF_SENTENCES = _set_of(
    "the a an i it he she we they you this that these those there then here in on at by of to for from with and "
    "but or nor so yet if when while after before as since though although because what who where why how not no "
    "yes his her its my our your their all one some every many once now never soon even only still perhaps let do "
    "did was is are were"
)
_GERMAN_MONTHS = _set_of("januar jänner februar märz april mai juni juli august september oktober november dezember")
# After a quotation ending in "?" or "!", a verb of speech within three words shows that the sentence continues.
_SPEECH = _set_of(
    "said says say asked asks ask cried cries cry replied answered exclaimed shouted whispered muttered murmured "
    "called returned inquired enquired demanded repeated continued added observed remarked retorted ejaculated "
    "screamed sighed roared began interrupted echoed responded thought wondered growled sobbed laughed quoth "
    "screeched bawled yelled rejoined pursued dit demanda répondit cria fragte sagte rief dijo preguntó disse "
    "rispose"
)
_HEBREW_SPEECH = _set_of(
    "אמר אמרה אמרו אמרתי שאל שאלה שאלו שאלתי ענה ענתה ענו עניתי השיב השיבה קרא קראה קראו צעק צעקה צעקו לחש לחשה "
    "הוסיף הוסיפה מלמל מלמלה ויאמר ותאמר"
)
_HAN_SPEECH = re.compile(
    r"[^。！？!?，,：:；;「」『』“”\s]{0,6}?[说說道问問喊叫答曰嚷][^。！？!?\s]{0,8}?[，,。：:；;！？!?]"
)

_HAN_END = "。！？｡"
_MARK = re.compile(
    r"(?:\.(?:[ \u00a0]\.){2,}|[.!?…؟۔।׃。！？｡]+)"  # the mark itself; a spaced ellipsis is one mark
    r"(?:\[\d{1,4}\]|[¹²³⁰-⁹†‡])*"  # a footnote reference
    r"(?:[\"'”’)\]}」』）》〉】_*]|[ \u00a0\u202f]?»(?!\w)|«(?=\s|$))*"  # closing marks; «» also reversed
)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_SPACE = re.compile(r"\s+")
_DASH = re.compile(r"(?:--|[—–-])[ \u00a0]")
"""Set off by spaces. An edition without the spaces has no boundary there, so neither has this one."""
_OPENING_MARKS = "\"'“‘„‚«‹»›([{「『（《〈¿¡_*—–-…."
_WORD = re.compile(r"[^\W\d_]+(?:['’׳״\"][^\W\d_]+)*")
_LAST_WORD = re.compile(r"[^\W_]+(?:[.'’\"׳״][^\W_]+)*$")
_ROMAN = re.compile(r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C)(?:IX|IV|V?I{0,3})$")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
# The number of an item, or the date at the head of a diary entry.
_ENUMERATOR = re.compile(
    r"[(\[\"'“‘_*]*(?:\d{1,3}|[A-Za-zא-ת]|[IVXLC]{2,7}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}|{_MONTH} \d{{1,2}})[_*]*\.[_*]*$"
)
_QUOTED_AFTER_COLON = re.compile(r": ?([\"“‘«])")
_CLOSING_OF = {'"': '"', "“": "”", "‘": "’", "«": "»"}
_CLOSING_QUOTES = "\"”’»«」』'"
_LOOK_BACK = 40
_LOOK_AHEAD = 120
_PARENTHESIS_REACH = 300
_QUOTATION_REACH = 120
_LONGEST_ENUMERATOR = 24


def split_sentences(text: str) -> list[str]:
    """Return the sentences of ``text`` in order, unchanged (with inner line breaks); a blank line ends a sentence."""
    return [sentence for paragraph in _BLANK_LINE.split(text) for sentence in _sentences_of(paragraph)]


def opening_sentence(text: str) -> str:
    """Return the first sentence, unchanged but for white space folded to single spaces; ``""`` for an empty text."""
    for paragraph in _BLANK_LINE.split(text, maxsplit=8):
        for sentence in _sentences_of(paragraph):
            return _SPACE.sub(" ", sentence)
    return ""


def ends_in_abbreviation(text: str) -> bool:
    """Return whether the last word always precedes a name or number, so that the sentence continues."""
    if not text.endswith("."):
        return False
    last = _LAST_WORD.search(text[:-1][-_LOOK_BACK:])
    return last is not None and last.group().casefold() in _NEVER_LAST | _BEFORE_NUMBER - {"no", "art", "par", "col"}


def _sentences_of(paragraph: str) -> Iterator[str]:
    start = 0
    for mark in _MARK.finditer(paragraph):
        if mark.end() > start and _is_boundary(paragraph, start, mark):
            sentence = paragraph[start : mark.end()].strip()
            if sentence:
                yield sentence
            start = mark.end()
    rest = paragraph[start:].strip()
    if rest:
        yield rest


def _is_boundary(text: str, start: int, mark: re.Match[str]) -> bool:
    end = mark.end()
    space = _SPACE.match(text, end)
    resume = space.end() if space else end
    if resume == len(text):
        return True
    if not any(character.isalnum() for character in text[max(start, mark.start() - _LOOK_AHEAD) : mark.start()]):
        return False  # "...and then": the sentence has only begun
    if any(character in _HAN_END for character in mark.group()) or HAN_RUN.match(text, end):
        return not _goes_on_in_han(text, mark)
    if space is None or _inside_parenthesis(text, start, end) or _inside_short_quotation(text, start, end):
        return False
    ahead = text[resume : resume + _LOOK_AHEAD]
    following = ahead.lstrip(_OPENING_MARKS + " \u00a0")
    if not following:
        return True
    if following[0].islower() or _DASH.match(ahead):
        return False
    if _speech_goes_on(mark.group(), ahead):
        return False
    if mark.group()[0] in ".…" and "!" not in mark.group() and "?" not in mark.group():
        return _full_stop_ends(text, start, mark, following)
    return True


def _full_stop_ends(text: str, start: int, mark: re.Match[str], following: str) -> bool:
    """Return whether a full stop is more than the dot of an abbreviation, an initial, a number or an ellipsis."""
    before = text[max(start, mark.start() - _LOOK_BACK) : mark.start()]
    last = _LAST_WORD.search(before)
    word = last.group() if last else ""
    next_word = _WORD.match(following)
    opener = next_word.group() if next_word else following[:1]
    if mark.group().startswith(("..", ". .", "…")):
        return opener.casefold() != word.casefold()  # "I ... I do not know" is one hesitating sentence
    if len(mark.group()) > 1 and mark.group()[1:].strip("_*)]'’"):
        return True  # a quotation closes behind the full stop
    folded = word.casefold()
    if folded in _NEVER_LAST:
        return False
    if folded in _BEFORE_NUMBER and _starts_with_number(following):
        return False
    opens = opener.casefold() in _OPENERS_OF_SENTENCES and not following.startswith(f"{opener}.")
    if folded in _SOMETIMES_LAST or ("." in word and not word.replace(".", "").isdigit()):
        return opens
    if len(word) == 1 and word.isalpha() and (word.isupper() or not word.islower()):
        # An initial: "J. R. Smith", "א. ב. יהושע". "It was I. The door" ends because of the next word.
        return opens and not _is_enumerator(text, start, mark.end())
    if word.isdigit() and len(word) <= 2 and opener.casefold() in _GERMAN_MONTHS:
        return False
    return not _is_enumerator(text, start, mark.end())


def _starts_with_number(following: str) -> bool:
    """Return whether the text begins with ``7``, ``II`` or ``I.``; a bare ``I`` is the pronoun."""
    token = _SPACE.split(following, maxsplit=1)[0]
    numeral = token.rstrip(".,;:)]")
    return token[0].isdigit() or (_ROMAN.match(numeral) is not None and (len(numeral) > 1 or token != numeral))


def _is_enumerator(text: str, start: int, end: int) -> bool:
    """Return whether the sentence so far is only the number of an item: ``1.``, ``b.``, ``IV.``."""
    return end - start <= _LONGEST_ENUMERATOR and _ENUMERATOR.fullmatch(text[start:end].strip()) is not None


def _speech_goes_on(mark: str, ahead: str) -> bool:
    """Return whether the sentence continues: ``"What?" Mr. Bennet asked`` and, in verse, ``"What?"`` / ``Said he``."""
    if mark[-1] not in _CLOSING_QUOTES or not ("?" in mark or "!" in mark):
        return False
    words = [word.group() for word in _WORD.finditer(ahead[:60])][:4]
    if not words or ahead[0] in '"“‘«「『':
        return False
    if words[0] in _HEBREW_SPEECH or words[0].casefold() in _SPEECH:
        return True
    for position, word in enumerate(words):
        if word.casefold() in _SPEECH:
            return position > 0 and words[0].casefold() not in (_OPENERS_OF_SENTENCES - {"i"})
        if word[:1].islower():
            return False
    return False


def _goes_on_in_han(text: str, mark: re.Match[str]) -> bool:
    """Return whether the sentence continues: 「走吧！」他說。 is one sentence; 「走吧！」他們走了。 is two."""
    if mark.group()[-1] not in '」』”’"' or mark.group()[0] in "。｡.":
        return False  # a statement that is closed with a full stop is complete; 「走吧。」他說 is written with a comma
    return _HAN_SPEECH.match(text, mark.end()) is not None


def _inside_parenthesis(text: str, start: int, end: int) -> bool:
    """Return whether a parenthesis opened in this sentence closes soon after: boundaries inside it do not count."""
    opened = text.rfind("(", max(start, end - _PARENTHESIS_REACH), end)
    if opened <= start or text.find(")", opened, end) != -1 or not text[max(start, opened - 4) : opened].strip():
        return False
    closing = text.find(")", end, end + _PARENTHESIS_REACH)
    return closing != -1


def _inside_short_quotation(text: str, start: int, end: int) -> bool:
    """Return whether the position is in a quotation of up to a line: ``It cried: "Away! Away!"`` is one sentence."""
    for opening in _QUOTED_AFTER_COLON.finditer(text, max(start, end - _QUOTATION_REACH), end):
        closing = _CLOSING_OF[opening[1]]
        closed = text.find(closing, opening.end(), opening.end() + _QUOTATION_REACH)
        while closing == "’" and closed != -1 and text[closed + 1 : closed + 2].isalpha():
            closed = text.find(closing, closed + 1, opening.end() + _QUOTATION_REACH)  # an apostrophe
        if closed >= end:
            return True
    return False
