"""Find where a book's own text begins, and say of each part before it why it is passed over.

Rule 1: the text begins below the first numbered heading (CHAPTER I, ACT I, LETTER 1, a lone I) that has prose below
it. A preface, introduction, dedication or advertisement before it is front matter, whoever wrote it. A prologue is
text, and so is prose of ``_LEAST_UNTITLED`` words that stands before it without such a name.
Rule 2: a book without numbered headings begins with its first part that is not named as front matter; there an
introduction is text. A book that is front matter only begins with it.
Rule 3: notes on the file, printers' lines, title pages, casts, stage directions, epigraphs and summaries of chapters
are nowhere an opening. A play begins with its first speech.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from league_agents.knowledge.headings import CAST, CHAPTER_HEADING, FIRST_CHAPTER, FRONT_MATTER, TRANSCRIBER
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.quality import Flaw, flaw
from league_agents.knowledge.sentences import opening_sentence, split_sentences
from league_agents.knowledge.words import HAN_RUN

MIN_OPENING_CHARACTERS = 10
"""Deployed players refuse to guess a shorter opening sentence (league protocol 4.4.6), so it cannot be a target."""

Skipped = Flaw | Literal[
    "note on the file", "printer's line", "title page", "cast", "stage direction", "front matter", "epigraph",
    "summary of the chapter", "aside", "no sentence",
]  # fmt: skip

NOT_OF_THE_TEXT: frozenset[Skipped] = frozenset(
    ("note on the file", "printer's line", "title page", "cast", "stage direction", "aside")
)
"""Parts that are no passages either; a preface, an epigraph and a summary may be."""

_LEAST_UNTITLED = 100
"""Words of prose before the first numbered heading; a blurb or a dedication has fewer."""

_LATEST_START = 0.4
"""A first numbered heading after this share of the text is not where it begins."""

_SHORT = 60
_LOOKED_AT = 300
_LOOKED_AT_BELOW_HEADING = 20
_FILE_NOTE = re.compile(
    r"[\[(_*\s]*(?:transcriber|[\w\s]{0,20}transcribed\s(?:from|by)|(?:this|the)\s(?:e-?text|e-?book|(?:digital|electronic)\s\w+|file|"
    r"project\sgutenberg)\b|e-?text\s(?:prepared|produced|was)|(?:produced|scanned|digiti[sz]ed|proofread|prepared)\s(?:by|from)\b"
    r"|(?:html|epub|pdf)\s(?:version|edition)\b|anmerkung(?:en)?\s(?:zur|des)\s|note\s(?:sur|de)\s(?:la\s)?transcri|nota\sdel\stra[ns]|disclaimer\b"
    r"|(?:digraphs|accents|italics)\b|(?:obvious|minor)\s(?:printer|typographical|punctuation|spelling|errors)|(?:the\s)?(?:original|archaic|inconsistent)\sspelling"
    r"|the\s(?:spelling|cover\simage)|spelling\sand|punctuation\shas|im\soriginal\s(?:gesperrt|kursiv)|project\sgutenberg|\*\*\*)",
    re.IGNORECASE,
)
_PRINTER = re.compile(
    r"\b(?:print(?:ed|ers?)\s(?:by|in|at|for|and)|publish(?:ed|ers?)\b|copyright|©|all\srights\sreserved|entered[,]?\saccording"
    r"|(?:first|second|third|fourth|fifth|new|revised|cheap)\sedition|first\s(?:published|printed)|reprinted|impression|isbn"
    r"|translated\s(?:by|from)|illustrat(?:ed|ions)\sby|edited\s(?:by|with)|with\s(?:an?\s)?(?:introduction|preface|illustrations)"
    r"|to\sappear\sin|submitted\sto|preprint|last\s(?:updated|modified|revised)|lecture\snotes\sby"
    r"|verlag|druck\s(?:von|der)|gedruckt|auflage|übersetzt|imprimerie|imprim[ée]|[ée]diteurs?|[ée]dition|traduit\s|traducción|traducid"
    r"|impreso|imprenta|editorial|tipografia|editore|edizione|traduzione|stampat|&\s(?:co|sons?|company)\b|press\b|university\sof\s"
    r"|出版|印刷|版權|版权|издательств|הוצאת|נדפס|תרגום)",
    re.IGNORECASE,
)
_BYLINE = re.compile(
    r"[_*\W]*(?:(?:written\s)?by|von|par|por|di|von der|de|от|מאת"
    r"|a\s(?:novel|tale|play|romance|story|comedy|tragedy|poem|drama)\b"
    r"|in\s(?:\w+\s)?(?:volumes|acts|parts)\b|ein(?:e)?\s(?:roman|novelle|erzählung)|roman\b|novel[al]\b|comédie|tragédie)\b",
    re.IGNORECASE,
)
_DEDICATION = re.compile(
    r"[_*]*(?:(?:to|for)\s(?:my|the\smemory|all\s(?:who|those))\b|(?:this\s\w+\sis\s)?(?:dedicated|inscribed)\sto\b|in\smemory\sof"
    r"|à\s(?:mon|ma|mes)\b|a\s(?:mi|mis)\b|alla?\smi[ao]\b|für\smeine|meine[rmn]?\s\w+\sgewidmet|посвящается|献给|獻給|לזכר)",
    re.IGNORECASE,
)
_YEAR_LAST = re.compile(r"(?:\b1[4-9]\d\d|\b20\d\d|\bM[DCLXVI]{3,})[.)\]]*$")
_ATTRIBUTION = re.compile(r"\s*(?:(?:—|–|--|―)\s?_?(?:[A-ZÀ-ÞА-Я][\w.'’]*|[\u4e00-\u9fff])|\([A-ZÀ-Þ][^()\n]{2,50}\)$)")
_ATTRIBUTED = re.compile(
    r"(?:[.!?…\"”»'’]|\n)[\s_]*(?:—|–|--|―)\s?_?"
    r"[A-ZÀ-ÞА-Я][\w'’]*(?:[ ,.]+(?:(?:of|de|la|von|the|to|and)\s)?[A-ZÀ-ÞА-Я_][\w'’]*){0,7}(?:[ :.,]+\d+)*[.,_]*\s*$"
)
_QUOTED_WITH_SOURCE = re.compile(r"[\"“«„‘'][^\n]{8,}[\"”»“’']\s*\([A-ZÀ-ÞА-Я][^()\n]{2,60}\)[.\s]*$", re.DOTALL)
_COURSE_LINE = re.compile(
    r"[_*]*(?:(?:required\s|suggested\s)?readings?|due|prerequisites?|instructors?|lecturers?|scribes?|keywords|key\swords"
    r"|course|date|authors?|reading\slist|literatur|dozent(?:in)?|schlüsselwörter|mots[- ]cl[ée]s|palabras\sclave"
    r"|מרצה|מילות\sמפתח)[_*]*\s?[:：]",
    re.IGNORECASE,
)
"""A line about a course or a paper, above its text."""

_DATELINE = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?\s\d{1,2}(?:st|nd|rd|th)?\b"
    r"|\b\d{1,2}(?:st|nd|rd|th|\.|er)?\s(?:Jan|Feb|Mar|Apr|May|Ma[iy]|Ju[nlil]|Aug|Sep|Oct|Okt|Nov|De[cz])"
)
_SIGNED_VERSE = re.compile(r"\n.*[.!?;,:’”\"—-]\n[ —–_-]{0,8}[A-ZÀ-Þ][\w’']*(?:[. ]{1,2}[A-ZÀ-Þ][\w’']*){0,2}[._]*$")
_ADDRESS = re.compile(r"(?:[Tt]o|TO|An|À|Al?|Alla|К|אל|致)\s(?:the\s)?[A-ZÀ-ÞА-Я\u05d0-\u05ea]\w*[ .,]")
_SUMMARY = re.compile(
    r"(?:how|of|in\swhich|wherein|concerning|containing|showing|shewing|treating|being\b|comment|où\s|ce\sque|de\slo\sque|que\strata"
    r"|donde\s|wie\s|in\swelche[mr]|worin|in\scui|come\s|dove\s|nel\squale)",
    re.IGNORECASE,
)
_HEADS_OF_SUMMARY = re.compile(r"[.;]\s?(?:—|–|--)")
_SCENE = re.compile(
    r"[_*\[(]*(?:scene|szene|sc[eè]ne|escena|scena|enter\b|exit\b|exeunt|time\b|place\b|the\sscene|la\ssc[eè]ne|ort\sder)",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)|table|abbildung|tabelle|tableau|figura|tabla|圖|图|表|איור|טבלה)\s?\d[\d.]*\s?[:.：]",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"(?:\[[^\]]{0,800}\]|\([^)]{0,800}\))[._*\s]*$")
_ENDS = (".", "!", "?", "…", "。", "！", "？", ":", "—")
_CLOSING = "\"'“”’»)_*」』"


@dataclass(frozen=True, slots=True)
class Part:
    """One paragraph of a book, or another part that is passed over."""

    heading: str | None
    """``None`` before the first heading."""

    text: str

    skipped: Skipped | None
    """Why it cannot be the opening; ``None`` if it could be."""

    is_speech: bool = False


@dataclass(slots=True)
class _Section:
    """What stands below a heading."""

    heading: str | None
    kind: Literal["first", "front", "cast", "file", "numbered", "other"]
    first: int
    """The index of its first part."""

    words: int = 0
    """Words of prose that could open the book."""


def parts_of(blocks: Sequence[LineBlock]) -> tuple[list[Part], int | None]:
    """Return the parts of a book in order, and the index of the one it opens with; ``None`` if there is none."""
    parts: list[Part] = []
    sections: list[_Section] = []
    headings: list[str] = []
    heading: str | None = None
    has_begun = is_below_heading = False
    summary_at: int | None = None
    for block in blocks:
        if block.kind == "heading":
            headings.append(block.text)
            heading = block.text
            continue
        if headings or not sections:
            sections.append(_Section(heading, _kind(headings), len(parts)))
            is_below_heading = bool(headings)
            headings = []
            summary_at = len(parts) if heading and _ARGUMENT.search(heading) else None
        section = sections[-1]
        # The parts of a long book are looked at closely only where it can begin.
        is_close = len(parts) < _LOOKED_AT or (not has_begun and len(parts) - section.first < _LOOKED_AT_BELOW_HEADING)
        look = _why_not if is_close else _why_not_at_a_glance
        skipped = look(block, section, is_below_heading=is_below_heading)
        if skipped is None and len(parts) == summary_at:
            skipped = "summary of the chapter"
        if skipped == "epigraph" and parts and _ATTRIBUTION.match(block.text[:4]) and len(block.text) < _SHORT * 2:
            _mark_quoted(parts, section)
        if skipped == "no sentence" and _is_bare_source(block.text) and _is_lone_verse(parts, section):
            _mark_quoted(parts, section)
            has_begun = False
        parts.append(Part(heading, block.text, skipped, block.kind == "speech"))
        if skipped is None and not has_begun:
            section.words += len(block.text.split()) + sum(map(len, HAN_RUN.findall(block.text))) // 2
            is_below_heading = False
            has_begun = section.kind == "first"
    return _opened(parts, sections)


_ARGUMENT = re.compile(r"[:.]\s*(?:the\s+)?argument\W*$", re.IGNORECASE)
"""``CANTO I: ARGUMENT``: the chapter's summary stands before its text, under the same heading."""


def _kind(headings: Sequence[str]) -> Literal["first", "front", "cast", "file", "numbered", "other"]:
    """Return the kind of a section by the last of its headings that names one."""
    for heading in reversed(headings):
        if TRANSCRIBER.match(heading):
            return "file"
        if CAST.match(heading):
            return "cast"
        if FRONT_MATTER.match(heading):
            return "front"
        if FIRST_CHAPTER.match(heading):
            return "first"
        if CHAPTER_HEADING.match(heading):
            return "numbered"
    return "other"


def _why_not_at_a_glance(block: LineBlock, section: _Section, *, is_below_heading: bool) -> Skipped | None:  # noqa: ARG001
    if block.kind not in ("paragraph", "speech"):
        return "aside"
    if section.kind in ("file", "cast"):
        return "note on the file" if section.kind == "file" else "cast"
    if block.text[0] in "[({" and (block.text[0] == "{" or _BRACKETED.match(block.text[:1_000])):
        return "stage direction"
    return None


def _why_not(block: LineBlock, section: _Section, *, is_below_heading: bool) -> Skipped | None:
    """Return why a part cannot be where a book opens, by itself and its heading."""
    if block.kind not in ("paragraph", "speech"):
        return "aside"
    text = block.text
    if section.kind == "file" or _FILE_NOTE.match(text[:80]):
        return "note on the file"
    if section.kind == "cast":
        return "cast"
    if _CAPTION.match(text[:40]):
        return "aside"
    if unfit := flaw(text):
        return unfit
    is_short = len(text) < 5 * _SHORT
    if text.startswith("{"):
        return "aside"
    if text[:1] in "[(" and _BRACKETED.match(text[:1_000]):
        return "stage direction"
    if is_short and _SCENE.match(text[:20]) and (len(text) < 2 * _SHORT or text.lower().startswith("scene")):
        return "stage direction"
    opening = opening_sentence(text)
    words = len(opening.split())
    if block.kind == "speech":
        is_call = words < 3 and not opening.rstrip(_CLOSING).endswith((".", "!", "?"))
        return "no sentence" if is_call or len(opening) < MIN_OPENING_CHARACTERS else None
    # A line without an end mark: names, dates and places precede the first paragraph of many books.
    ends = opening.rstrip(_CLOSING).endswith(_ENDS)
    is_one_word = words < 2 and not HAN_RUN.search(opening) and not opening.rstrip(_CLOSING).endswith(("!", "?"))
    if is_short and (found := _of_title_page(text)):
        return found
    if is_short and (_ATTRIBUTED.search(text[-120:]) or _is_attribution(text) or _QUOTED_WITH_SOURCE.match(text)):
        return "epigraph"
    if is_below_heading and is_short and "\n" in text and _SIGNED_VERSE.search(text) is not None:
        return "epigraph"
    if is_below_heading and _is_address(text):
        return "title page"
    if is_below_heading and _is_summary(text):
        return "summary of the chapter"
    if not ends or is_one_word or len(opening) < MIN_OPENING_CHARACTERS:
        return "no sentence"
    return None


def _of_title_page(text: str) -> Skipped | None:
    words = len(text.split())
    if words <= 25 and _COURSE_LINE.match(text):
        return "title page"
    if words <= 25 and _DEDICATION.match(text):
        return "title page"
    if words <= 40 and _PRINTER.search(text) and not _is_narrative(text):
        return "printer's line"
    if words <= 14 and (_BYLINE.match(text) and len(split_sentences(text)) == 1 and not _is_narrative(text)):
        return "title page"
    if words <= 10 and _DATELINE.search(text) and not _is_narrative(text):
        return "title page"
    return "printer's line" if words <= 14 and _YEAR_LAST.search(text) else None


_NARRATIVE = re.compile(
    r"\b(?:was|were|had|did|said|is|are|has|have|came|went|saw|he|she|they|you|war|hatte|sagte|ist|était|avait|est|dit|era|estaba|había"
    r"|dijo|disse|aveva|fu|i)\b",
    re.IGNORECASE,
)


def _is_narrative(text: str) -> bool:
    """Return whether the words are a story's: it has verbs and pronouns that a title page lacks."""
    return len(_NARRATIVE.findall(text)) >= 2


def _is_attribution(text: str) -> bool:
    """Return whether this is the source of a quotation: ``—SHAKESPEARE.``; a speech after a dash ends in a mark."""
    if _ATTRIBUTION.match(text[:60]) is None or len(text) >= 2 * _SHORT:
        return False
    bare = text.strip("—–-―_() \n")
    return bare.isupper() or not bare.endswith((".", "!", "?", "…", "»", "”"))


def _is_address(text: str) -> bool:
    """Return whether a letter begins with this line: ``To Mrs. Saville, England.``"""
    return len(text.split()) <= 8 and _ADDRESS.match(text) is not None and not _is_narrative(text)


def _is_summary(text: str) -> bool:
    if len(_HEADS_OF_SUMMARY.findall(text[:1_500])) >= 3:
        return True
    return (
        len(text) < 6 * _SHORT
        and _SUMMARY.match(text) is not None
        and text.endswith(".")
        and len(split_sentences(text)) == 1
    )


_BARE_SOURCE = re.compile(
    r"_?[A-ZÀ-ÞА-Я][\w.'’]*(?:,?\s(?:(?:of|de|la|von|the|to|and)\s)?[A-ZÀ-ÞА-Я\d][\w.'’]*){0,6}[._]*$"
)


def _is_bare_source(text: str) -> bool:
    """Return whether a line may be the source of the verse above it: names alone, without a dash."""
    return len(text) <= _SHORT and not text.isupper() and _BARE_SOURCE.match(text) is not None


def _is_lone_verse(parts: Sequence[Part], section: _Section) -> bool:
    """Return whether the last part is verse, and all that the section has so far."""
    if len(parts) <= section.first or "\n" not in parts[-1].text:
        return False
    return all(part.skipped is not None for part in parts[section.first : -1])


def _mark_quoted(parts: list[Part], section: _Section) -> None:
    """Mark the quotation above its source."""
    last = parts[-1]
    if len(parts) > section.first and last.skipped in (None, "no sentence") and len(last.text) < 8 * _SHORT:
        parts[-1] = Part(last.heading, last.text, "epigraph", last.is_speech)
        section.words = max(0, section.words - len(last.text.split()))


def _opened(parts: list[Part], sections: Sequence[_Section]) -> tuple[list[Part], int | None]:
    is_play = sum(part.is_speech for part in parts) * 4 > len(parts) > 0
    ends = [section.first for section in sections[1:]] + [len(parts)] * bool(sections)
    start = _start(parts, sections, ends, is_play)
    named_front = False
    chosen: int | None = None
    last_resort: int | None = None
    for section, end in zip(sections, ends, strict=True):
        before_start = start is not None and section.first < sections[start].first
        is_front = section.kind == "front" and (before_start or not _INTRODUCTION.match(section.heading or ""))
        named_front = named_front or (is_front and section.words > 0)
        is_prologue = section.heading is not None and _PROLOGUE.match(section.heading) is not None
        if before_start and not is_prologue:
            # Once front matter has begun, it lasts until the text begins.
            is_front = is_front or named_front or section.words < _LEAST_UNTITLED or is_play
        found = _first(parts, section.first, end, is_play and not is_prologue)
        if is_front:
            if last_resort is None and not before_start:
                last_resort = found
            for i in range(section.first, end):
                if parts[i].skipped is None:
                    parts[i] = Part(parts[i].heading, parts[i].text, "front matter", parts[i].is_speech)
        elif found is not None:
            chosen = found
            break
    if chosen is None and is_play:
        chosen = _first_speech(parts)
    if chosen is None:
        chosen = last_resort if last_resort is not None else _first(parts, 0, len(parts), is_play=False)
    if chosen is not None and parts[chosen].skipped is not None:
        parts[chosen] = Part(parts[chosen].heading, parts[chosen].text, None, parts[chosen].is_speech)
    return parts, chosen


def _first_speech(parts: list[Part]) -> int | None:
    """Return where the speeches of a play begin that has no heading below its cast."""
    for i, part in enumerate(parts):
        if part.is_speech and sum(each.is_speech for each in parts[i : i + 5]) >= 4:
            for k in range(i, len(parts)):
                if parts[k].skipped == "cast":
                    parts[k] = Part(parts[k].heading, parts[k].text, None, parts[k].is_speech)
            return i
    return None


_INTRODUCTION = re.compile(
    r"[_*\W]*(?:introduct|about|notice|explanatory|extracts|einleitung|einführung|introducci|introduzione|введение|מבוא|引言|導言|导言)",
    re.IGNORECASE,
)
"""In a book without numbered headings, such as lecture notes, the introduction is text."""

_PROLOGUE = re.compile(r"(?:the\s+)?(?:prolog(?:ue)?|proem|induction|chorus|vorspiel|楔子)\b", re.IGNORECASE)


def _start(parts: Sequence[Part], sections: Sequence[_Section], ends: Sequence[int], is_play: bool) -> int | None:
    """Return the section below the first numbered heading that has prose; ``None`` without one."""
    total = sum(len(part.text) for part in parts)
    before = 0
    at = 0
    for number, section in enumerate(sections):
        while at < section.first:
            before += len(parts[at].text)
            at += 1
        if before > _LATEST_START * total:
            return None
        if (
            section.kind == "first"
            and _first(parts, section.first, _end_of(sections, ends, number), is_play) is not None
        ):
            return number
    return None


def _end_of(sections: Sequence[_Section], ends: Sequence[int], number: int) -> int:
    """Return where the parts below a first heading end: an argument may stand between ACT I and its first scene."""
    following = number + 1
    if following < len(sections) and sections[following].kind == "other":
        return ends[following]
    return ends[number]


def _first(parts: Sequence[Part], start: int, end: int, is_play: bool) -> int | None:
    return next(_candidates(parts, start, end, is_play), None)


def _candidates(parts: Sequence[Part], start: int, end: int, is_play: bool) -> Iterator[int]:
    for i in range(start, end):
        part = parts[i]
        if part.skipped not in (None, "front matter"):
            continue
        if part.is_speech or not is_play or _is_spoken_verse(parts, start, i):
            yield i


_ENTRANCE = re.compile(r"[\[(_*]*enter\b", re.IGNORECASE)


def _is_spoken_verse(parts: Sequence[Part], start: int, i: int) -> bool:
    """Return whether verse without a label is the speech of whoever has just entered: a prologue without a name."""
    above = parts[start:i]
    return (
        parts[i].text.count("\n") >= 3
        and all(part.skipped == "stage direction" for part in above)
        and any(_ENTRANCE.match(part.text) for part in above)
    )
