"""Finds the openings of the catalogue in packaged texts, word for word.

Rule 1: only typography is folded: the shape of quotation marks, dashes and ellipses, white space, the typist's
``_italics_``, words in capitals for italics, and capitals in which printers set the first words. Every letter and every
comma has to be there.
Rule 2: an opening that stands in no packaged text keeps ``null``; it was not checked, which is not the same as wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import league_agents.knowledge.catalogue
from league_agents.kit.errors import LeagueError
from league_agents.knowledge.catalogue import Catalogue, Work
from league_agents.knowledge.titles import best_title, same_author
from tests.support.books import CachedBook, cached_entries

_QUOTES = str.maketrans(dict.fromkeys('‘’‚‛“”„‟«»‹›`´"', "'") | {"İ": "I", "\u00a0": " ", "_": None})
_DASH = re.compile(r"\s*(?:-{2,}|[—–―])\s*")
_DOTS = re.compile(r"\s*(?:\.(?: ?\.){2,}|…)")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_COLLECTION = re.compile(r"\b(?:works|poems|plays|tales|stories|writings)\b", re.IGNORECASE)
_DISTINCTIVE = 40
"""Characters: a longer opening is found in an author's collected works without a mistake."""

_QUOTE_RUN = re.compile(r"'(?:\s?')+")
_MOST_CAPITALS = 80
"""Characters: printers set the first words of a chapter in capitals, at most a line."""


@dataclass(frozen=True, slots=True)
class SearchableText:
    """A text with its typography folded, once as it is and once in small letters."""

    origin: str
    """``package version``."""

    title: str
    author: str
    language: str
    folded: str
    lowered: str


def fold_typography(text: str) -> str:
    """The text with one form of quotation mark, dash, ellipsis and space."""
    text = _DOTS.sub("…", _DASH.sub("—", text.translate(_QUOTES)))
    return _SPACE.sub(" ", _QUOTE_RUN.sub("'", text)).strip()


def searchable(book: CachedBook) -> SearchableText:
    folded = fold_typography(book.path.read_text(encoding="utf-8"))
    return SearchableText(book.origin, book.title, book.author, book.language, folded, folded.lower())


def holds(text: SearchableText, sentence: str) -> bool:
    """Whether ``sentence`` stands in the text exactly, typography and capitals at its beginning aside."""
    wanted = fold_typography(sentence)
    lowered = wanted.lower()
    at = text.lowered.find(lowered)
    while wanted and at >= 0:
        if _is_exact(text.folded[at : at + len(wanted)], wanted) and _at_word_edges(text.folded, at, at + len(wanted)):
            return True
        at = text.lowered.find(lowered, at + 1)
    return False


def _is_exact(found: str, wanted: str) -> bool:
    """Equal, but for a beginning that the printer set in capitals, and words that the typist did for italics."""
    differences = [i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b]
    if len(found) != len(wanted) or not differences:
        return len(found) == len(wanted)
    last = differences[-1]
    if all(_is_capitalised_word(found, i) for i in differences):
        return True
    # In capitals on one side up to the last difference: a capital in the middle of small letters is another text.
    return last < _MOST_CAPITALS and (found[: last + 1].isupper() or wanted[: last + 1].isupper())


def _is_capitalised_word(text: str, at: int) -> bool:
    """Whether the letter stands in a word of capitals: ``she is always THE woman``."""
    return any(
        word.start() <= at < word.end() and len(word[0]) > 1 and word[0].isupper() for word in _WORD.finditer(text)
    )


def _at_word_edges(text: str, start: int, end: int) -> bool:
    return not text[start - 1 : start].isalnum() and not (text[end - 1].isalnum() and text[end : end + 1].isalnum())


def find_openings(works: Sequence[Work], texts: Sequence[SearchableText]) -> Iterator[tuple[Work, str | None]]:
    """Each work with the ``package version`` that holds its opening, or ``None``."""
    for work in works:
        holding = (text for text in texts if is_text_of(text, work) and holds(text, work.opening_sentence))
        yield work, next((text.origin for text in holding), None)


def is_text_of(text: SearchableText, work: Work) -> bool:
    """Whether the text is the work: "London." opens Bleak House and stands in a dozen other novels."""
    if text.language != work.language or not same_author(text.author, work.author):
        return False
    if _COLLECTION.search(text.title) and len(work.opening_sentence) > _DISTINCTIVE:
        return True
    return best_title(work.title, [text.title]) is not None or best_title(text.title, [work.title]) is not None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/check_catalogue",
        description="Find the catalogue's openings in the texts that scripts/books fetched.",
    )
    parser.add_argument("--write", action="store_true", help="record in the catalogue where each opening was found")
    parser.add_argument("--unchecked", action="store_true", help="list every opening that stands in no packaged text")
    options = parser.parse_args(arguments)
    try:
        texts = [searchable(book) for book in cached_entries()]
        works = Catalogue.load().works
    except LeagueError as error:
        print(f"check_catalogue: {error}", file=sys.stderr)
        return 3
    found: dict[tuple[str, str], str | None] = {}
    for work, origin in find_openings(works, texts):
        found[work.title, work.opening_sentence] = origin and f"exact: {origin}"
        if origin:
            print(f"found      {work.title}: {origin}")
        elif work.checked:
            print(f"NOT FOUND  {work.title}: recorded as {work.checked}")
        elif any(is_text_of(text, work) for text in texts):
            print(f"DIFFERS    {work.title}: a text of this title is in the cache, its opening is not")
    unchecked = [work for work in works if found[work.title, work.opening_sentence] is None]
    if options.unchecked:
        for work in sorted(unchecked, key=lambda work: (work.language, work.title)):
            another = next((text.origin for text in texts if is_text_of(text, work)), None)
            why = f"another text of it in {another}" if another else "no packaged text of it"
            print(f"UNCHECKED  {work.title} ({work.author}, {work.language}; {why}): {work.opening_sentence[:80]}")
    elif unchecked:
        print(f"{len(unchecked)} openings stand in no packaged text; --unchecked lists them")
    print(f"{sum(origin is not None for origin in found.values())} of {len(works)} openings found word for word")
    if options.write:
        for name, number in _record(found):
            print(f"wrote {name}: {number} changed")
    return 1 if any(work.checked and found[work.title, work.opening_sentence] is None for work in works) else 0


_CHECKED_FIELD = re.compile(r'("checked":\s*)(?:null|"(?:[^"\\]|\\.)*")')


def _record(found: dict[tuple[str, str], str | None]) -> Iterator[tuple[str, int]]:
    """Changes nothing in the files but the values of ``checked``: their layout was made for people."""
    for path in sorted(Path(league_agents.knowledge.catalogue.__file__).parent.glob("works_*.json")):
        text = path.read_text(encoding="utf-8")
        entries = json.loads(text)
        values = [found.get((entry["title"], entry["opening_sentence"])) for entry in entries]
        if len(_CHECKED_FIELD.findall(text)) != len(entries):
            print(
                f"check_catalogue: {path.name}: not every entry has one field 'checked'; not changed", file=sys.stderr
            )
            continue
        parts = _CHECKED_FIELD.split(text)  # what stands before, the key, what stands before, the key, ... the rest
        new = parts[0]
        for key, value, rest in zip(parts[1::2], values, parts[2::2], strict=True):
            new += key + json.dumps(value, ensure_ascii=False) + rest
        if new != text:
            path.write_text(new, encoding="utf-8")
            yield path.name, sum(a != b for a, b in zip(text.split("\n"), new.split("\n"), strict=True))


if __name__ == "__main__":
    sys.exit(main())
