"""The names of a book's parts: chapters, front matter, casts, contents and notes, in several languages.

Rule: a heading is recognised by its words alone; whether a line may be a heading is decided by ``layout``.
"""

from __future__ import annotations

import re

LONGEST_HEADING = 100

_ORDINAL = (
    "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last"
    "|premi[eè]re?|deuxi[eè]me|seconde?|troisi[eè]me|quatri[eè]me|cinqui[eè]me|derni[eè]re?"
    "|primer[oa]?|segund[oa]|tercer[oa]?|cuart[oa]|quint[oa]|prim[oa]|terz[oa]|quart[oa]"
    "|erste[rs]?|zweite[rs]?|dritte[rs]?|vierte[rs]?|fünfte[rs]?|letzte[rs]?"
)
_NUMERAL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|un|uno|eins"
_ENUMERATOR = rf"(?:[IVXLCDM]+|\d{{1,4}}|[A-Z]|(?:the\s+)?(?:{_ORDINAL}|{_NUMERAL})\b)"
_PART = (
    "chapter|book|part|volume|letter|canto|act|scene|section|stave|lecture|fytte|phase|adventure|week|unit|lesson"
    "|kapitel|buch|teil|aufzug|auftritt|akt|szene|chapitre|livre|acte|sc[eè]ne|partie|cap[íi]tulo|libro|parte|acto"
    "|escena|capitolo|atto|scena|chap|cap|kap|abschnitt|hauptstück|theil|gesang|abteilung|tome|chant|jornada|tratado|глава|часть|книга|том|действие"
)
_RUSSIAN_ORDINAL = "перв(?:ая|ый|ое)|втор(?:ая|ой|ое)|треть[яе]|третий|последн(?:яя|ий)"
_HAN_NUMBER = "[一二三四五六七八九十百千零〇○\\d]{1,7}"
_NAMES = (
    "preface|prologue|epilogue|introduction|advertisement|etymology|appendix|conclusion|dedication|postscript"
    "|the end|finis|foreword|afterword|footnotes?|notes|index|glossary|contents|table of contents"
)
CHAPTER_HEADING = re.compile(
    rf"(?:(?:{_PART})\.?\s+(?:{_ENUMERATOR}|{_RUSSIAN_ORDINAL})(?![\w'’])"
    rf"|(?:the\s+)?(?:{_ORDINAL}|{_RUSSIAN_ORDINAL})\s+(?:{_PART})\b(?!\s+[a-z])"
    rf"|(?:{_NAMES})[.:]?\s*$"
    r"|(?:פרק|חלק|שער|ספר|מערכה|תמונה)\s+[א-ת\"'״׳]{1,7}(?![א-ת])"
    rf"|第\s*{_HAN_NUMBER}\s*[章回節节卷部篇幕場场]|卷[之]?{_HAN_NUMBER}(?=[\s　]|$)"
    r"|(?:[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十]{1,3}[）)])(?=[^。！？]{0,20}$)|[一二三四五六七八九十]{1,3}\s*$)",
    re.IGNORECASE,
)
"""A numbered part, or a part with a usual name."""

_ONE = (
    r"(?:I|1|A|the\s+first|first|one|premi[eè]re?|primer[oa]?|prim[oa]|un|uno|erste[rs]?|eins"
    r"|перв(?:ая|ый|ое))"
)
FIRST_CHAPTER = re.compile(
    rf"(?:(?:{_PART})\.?\s+{_ONE}(?![\w'’])"
    rf"|(?:the\s+)?(?:first|premi[eè]re?|primer[oa]?|prim[oa]|erste[rs]?|перв(?:ая|ый|ое))\s+(?:{_PART})\b"
    r"|(?:I|1)(?:[.:)]?\s*$|[.:)]\s+(?!\w\.)\S|\s*[—–-]\s|\s+[A-Z])|I\.—"
    r"|(?:פרק|חלק|שער|ספר|מערכה)\s+(?:א['׳]?|ראשון|ראשונה)(?![א-ת])"
    r"|第\s*[一1]\s*[章回節节卷部篇幕場场]|卷[之]?[一1](?=[\s　]|$)|[（(]?[一](?:[、.．）)]|\s*$))",
    re.IGNORECASE,
)
"""The first of the numbered parts: the text proper begins below it."""

FRONT_MATTER = re.compile(
    r"[_*\W]*(?:(?:[\w.]+\s+){0,4}[\w.]+['’]s\s+(?:preface|introduction|advertisements?|foreword|note|dedication)\b"
    r"|(?:the\s+)?argument\b|to\s+(?:the\s+right|his|her)\s+(?:hono|majesty|excellen|grace|royal)"
    r"|(?:the\s+)?(?:author|editor|translator|publisher|transcriber|printer)(?:'s|’s|s'|s’)?\s+"
    r"(?:general\s+)?(?:introduction|preface|foreword|advertisement|notes?|dedication|apology)"
    r"|(?:author|editor|publisher)['’]?s?\s+to\s+the\s+reader|(?:general\s+|original\s+)?(?:preface|foreword)\b"
    r"|introduction|introductory|advertisements?|prefatory|dedication|dedicatory|to\s+the\s+reader|to\s+my\s+readers?"
    r"|acknowledge?ments?|etymology|extracts|a?\s*notes?\s+(?:on|to|by|from)\b|notice|explanatory|epigraph|about\s+th(?:e|is)\b"
    r"|bibliographical|biographical|life\s+of\s+the\s+author|chronology|list\s+of\b|preliminary\s+(?:note|matter)"
    r"|vorwort|vorrede|vorbemerkung|einleitung|einführung|widmung|zueignung|geleitwort"
    r"|pr[ée]face|avant[- ]propos|avertissement|d[ée]dicace|au\s+lecteur|introduction|note\s+de\s+l"
    r"|pr[óo]logo|prefacio|prefaci[óo]n|introducci[óo]n|al\s+lector|dedicatoria|advertencia|tasa|aprobaci[óo]n|privilegio"
    r"|prefazione|introduzione|avvertenza|al\s+lettore|dedica|premessa|proemio"
    r"|предисловие|введение|от\s+автора|посвящение|הקדמה|מבוא|פתח\s+דבר|תודות|הקדשה"
    r"|(?:原|自|譯|译|代|新|再版)?序(?:言|文|論|论)?(?:[\s　]|$)"
    r"|前言|引言|導言|导言|凡例|題辭|题辞|[譯译]者[序言]|弁言)",
    re.IGNORECASE,
)
"""A part that the author, editor or translator put before the text."""

TRANSCRIBER = re.compile(
    r"[\[_*\W]*(?:transcriber|transcription|anmerkung(?:en)?\s+(?:des\s+bearbeiters|zur\s+transkription)"
    r"|notes?\s+(?:sur\s+la|de)\s+(?:la\s+)?transcri|nota\s+del\s+transcriptor|note?\s+del\s+trascrittore"
    r"|produced\s+by|e-?text\s+prepared|proofreader)",
    re.IGNORECASE,
)
"""A note on how the file was made."""

CAST = re.compile(
    r"[_*\W]*(?:(?:the\s+)?(?:dramatis\s+person(?:ae|æ)|persons?\s+(?:represented|of\s+the|in\s+the)|characters(?:\s+(?:of|in)\s+the"
    r"|[.:]?\s*$)|cast(?:\s+of\s+characters|[.:]?\s*$)|actors['’]?\s+names|names\s+of\s+the\s+actors|people\s+(?:of|in)\s+the\s+play"
    r"|scenes?\s+of\s+the\s+play)|personen(?:verzeichnis)?[.:]?\s*$|personnages|les?\s+acteurs?[.:]?\s*$|personaggi|interlocutori"
    r"|personajes|personas(?:\s+que)?|действующие\s+лица|הנפשות|נפשות|登場人物|登场人物|人物[表：:]?$)",
    re.IGNORECASE,
)
"""The list of the persons of a play."""

CONTENTS_HEADING = re.compile(
    r"[_*]*(?:table of |list of )?(?:contents|illustrations|chapters|plates|figures)[_*]*[.:]?$"
    r"|(?:agenda|outline|gliederung|inhalt(?:sverzeichnis)?|table des mati[eè]res|sommaire|[íi]ndice(?: general)?"
    r"|tabla de contenidos?|sommario"
    r"|содержание|оглавление)[.:]?$|תוכן(?: ה?עניינים)?$|目[錄录次]$",
    re.IGNORECASE,
)
NOTES_HEADING = re.compile(r"(?:footnotes?|notes|endnotes|index|glossary|bibliography|references)[.:]?$", re.IGNORECASE)


def is_numbered(heading: str) -> bool:
    """Return whether the heading has a number, so that the book's chapters are numbered."""
    match = CHAPTER_HEADING.match(heading)
    return match is not None and re.match(rf"(?:{_NAMES})[.:]?\s*$", heading, re.IGNORECASE) is None


def is_named_part(line: str) -> bool:
    """Return whether a short line is the name of front matter, a cast or a note on the file, in any letters."""
    if len(line) > 60 or line.endswith((",", ";", "!", "?")) or (line.endswith(".") and len(line.split()) > 4):
        return False
    return any(names.match(line) is not None for names in (FRONT_MATTER, CAST, TRANSCRIBER))
