"""Other editions of a book: the same text as another publisher prints it.

An edition is made from the blocks of a plain text, each on one line, by a chain of changes that real editions show:
typography, spelling, division into paragraphs, apparatus. Where a change is not everywhere, a seeded draw says where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from textwrap import fill

from league_agents.kit.draw import Draw
from league_agents.knowledge.documents import Document, make_document
from league_agents.knowledge.sentences import split_sentences

Change = Callable[[list[str], Draw], list[str]]


def as_paragraphs(document: Document) -> list[str]:
    """The blocks of a plain text between blank lines, each on one line."""
    return [" ".join(block.split()) for block in document.text.split("\n\n") if block.strip()]


def curly(text: str) -> str:
    """Curly quotation marks and long dashes, no underscores."""
    text = re.sub(r'(^|[\s(—-])"', r"\1“", text.replace("--", "—").replace("_", ""))
    return text.replace('"', "”").replace("'", "’")


def _typeset(blocks: list[str], draw: Draw) -> list[str]:
    return [curly(block) for block in blocks]


def _plain(blocks: list[str], draw: Draw) -> list[str]:
    """Typewriter's characters, and hyphens for dashes."""
    table = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-"})
    return [block.translate(table).replace("_", "").replace("--", " - ") for block in blocks]


def _single_quoted(blocks: list[str], draw: Draw) -> list[str]:
    """Single quotation marks around speech, and spaced dashes."""
    return [curly(block).replace("“", "‘").replace("”", "’").replace("—", " – ") for block in blocks]


_SPELLINGS = {
    "colour": "color", "honour": "honor", "favour": "favor", "neighbour": "neighbor", "harbour": "harbor",
    "parlour": "parlor", "labour": "labor", "endeavour": "endeavor", "humour": "humor", "behaviour": "behavior",
    "grey": "gray", "theatre": "theater", "centre": "center", "travelled": "traveled", "traveller": "traveler",
    "recognise": "recognize", "realise": "realize", "apologise": "apologize", "defence": "defense",
    "jewellery": "jewelry", "plough": "plow", "mould": "mold", "cheque": "check", "storey": "story", "ardour": "ardor",
    "vapour": "vapor", "rumour": "rumor", "splendour": "splendor", "vigour": "vigor", "rigour": "rigor",
}  # fmt: skip
_MODERN = {
    "to-day": "today", "to-morrow": "tomorrow", "to-night": "tonight", "every body": "everybody",
    "any body": "anybody", "every thing": "everything", "any thing": "anything", "some thing": "something",
    "any one": "anyone", "every one": "everyone", "some one": "someone", "for ever": "forever", "any where": "anywhere",
    "shew": "show", "shewed": "showed", "shewn": "shown", "chuse": "choose", "surprize": "surprise",
    "surprized": "surprised", "stopt": "stopped", "staid": "stayed", "connexion": "connection", "enquire": "inquire",
    "enquiry": "inquiry", "develope": "develop", "ancle": "ankle", "sopha": "sofa", "expence": "expense",
    "waggon": "wagon", "good-bye": "goodbye", "sea-side": "seaside", "drawing room": "drawing-room",
}  # fmt: skip


def _respelled(table: dict[str, str]) -> Change:
    words = "|".join(sorted(map(re.escape, table), key=len, reverse=True))
    pattern = re.compile(rf"\b({words})(s|ed|ing|able)?\b", re.IGNORECASE)

    def replaced(match: re.Match[str]) -> str:
        new = table[match[1].casefold()] + (match[2] or "")
        return new.capitalize() if match[1][0].isupper() else new

    return lambda blocks, draw: [pattern.sub(replaced, block) for block in blocks]


def _without_points(blocks: list[str], draw: Draw) -> list[str]:
    """British abbreviations: Mr, Mrs, Dr, St without a point."""
    return [re.sub(r"\b(Mr|Mrs|Dr|St|Messrs)\.", r"\1", block) for block in blocks]


def _repointed(blocks: list[str], draw: Draw) -> list[str]:
    """A modern editor's commas and semicolons: some left out, some made lighter."""

    def lighter(match: re.Match[str]) -> str:
        return match[0] if not draw.chance(0.15) else "," if match[0] == ";" else ""

    return [re.sub(r"[,;](?= [a-z])", lighter, block) for block in blocks]


def _divided(blocks: list[str], draw: Draw) -> list[str]:
    """Some paragraphs joined with the one before, some long ones divided."""
    found: list[str] = []
    for block in blocks:
        is_prose = len(block.split()) >= 12 and block[-1] in ".!?”\"'’"
        if found and is_prose and len(found[-1].split()) >= 12 and draw.chance(0.12):
            found[-1] = f"{found[-1]} {block}"
        elif is_prose and len(block.split()) > 120 and draw.chance(0.4):
            sentences = [" ".join(each.split()) for each in split_sentences(block)]
            cut = max(1, len(sentences) // 2)
            found += [" ".join(part) for part in (sentences[:cut], sentences[cut:]) if part]
        else:
            found.append(block)
    return found


def _annotated(blocks: list[str], draw: Draw) -> list[str]:
    """Marks of notes after some words, and the notes at the end."""
    found, count = [], 0
    for block in blocks:
        if len(block.split()) >= 25 and draw.chance(0.25):
            words, count = block.split(" "), count + 1
            place = draw.below(min(30, len(words)))
            words[place] += f"[{count}]"
            block = " ".join(words)
        found.append(block)
    return [*found, "NOTES", *(f"[{i}] See the editor's introduction, page {i + 7}." for i in range(1, count + 1))]


def _introduced(blocks: list[str], draw: Draw) -> list[str]:
    """The title page is missing, and an editor's introduction stands before the text."""
    first = next((i for i, block in enumerate(blocks) if re.match(r"(?i)(chapter|volume|letter|book|part) ", block)), 0)
    return ["INTRODUCTION", *_INTRODUCTION.split("\n\n"), *blocks[first:]]


_INTRODUCTION = """\
The text of this volume follows the first edition, with which the later ones have been compared throughout. Misprints
have been corrected without notice, and the use of capitals has been made even.

Readers who meet the work for the first time may leave these pages to the end. Nothing in them is needed to enjoy the
story, and a good deal of what happens in it is given away here.

The author had begun to write early in life. The first drafts are lost, but letters to members of the family tell of
the work's growth, of two years in which it lay in a drawer, and of the haste in which it was printed at last.
"""

_british = _respelled({american: british for british, american in _SPELLINGS.items()})
_american = _respelled(_SPELLINGS)
_modern = _respelled(_MODERN)

EDITIONS: dict[str, Sequence[Change]] = {
    "typeset": (_typeset,),
    "typewritten": (_plain,),
    "british": (_british, _without_points, _single_quoted),
    "american": (_american, _modern, _typeset),
    "divided": (_divided, _typeset),
    "annotated": (_introduced, _annotated, _typeset),
    "repointed": (_repointed, _single_quoted),
    "scholarly": (_introduced, _modern, _divided, _annotated, _single_quoted),
}
"""The changes of each edition, in order."""

COVERS: Sequence[Callable[[str, str], str]] = (
    lambda title, author: title,
    lambda title, author: title.upper(),
    lambda title, author: f"{title}, by {author}",
    lambda title, author: f"{title}: A Novel",
    lambda title, author: f"{author}'s {title}",
    lambda title, author: title.replace(" and ", " & "),
    lambda title, author: f"{title} (Illustrated Edition)",
    lambda title, author: f"The Project Gutenberg eBook of {title}",
)
"""Ways to print the title on the cover."""


def edition(document: Document, name: str, *, seed: int | str, cover: int = 0) -> Document:
    """The document in the edition with this name, with one of the ``COVERS``."""
    draw = Draw(seed, f"edition/{name}/{document.title}")
    blocks = as_paragraphs(document)
    for change in EDITIONS[name]:
        blocks = change(blocks, draw)
    title = COVERS[cover % len(COVERS)](document.title, document.author or "")
    text = "\n\n".join(fill(block, 60 + draw.below(20)) for block in blocks)
    return make_document(text, source=name, title=title, author=document.author)
