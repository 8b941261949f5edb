"""Measures how documents are read: their openings, and whether two files of one book give the same passages.

``.venv/bin/python -m benchmarks.documents`` prints each wrong opening and, for each part, the shares with their 95 %
intervals. The books are those that ``scripts/books`` fetched; what is not there is left out and said.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill

from benchmarks.check_catalogue import fold_typography
from benchmarks.editions import as_paragraphs, curly
from benchmarks.made_documents import PARTS, MadeDocument, made_documents
from benchmarks.made_documents.kinds import made_bytes
from league_agents.evaluation.statistics import wilson
from league_agents.kit.errors import LeagueError
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import Document, make_document
from league_agents.knowledge.files import content_of, read_file
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.passages import Passage, passages, read_parts
from tests.support.books import cached_books, cached_entries

KNOWN_OPENINGS = {
    "A Christmas Carol": "Marley was dead",
    "All's Well That Ends Well": "In delivering my son from me",
    "Antony and Cleopatra": "Nay, but this dotage of our general's",
    "Areopagitica": "They, who to states and governors",
    "As You Like It": "As I remember, Adam",
    "Beowulf": "Lo! the Spear-Danes' glory",
    "Coriolanus": "Before we proceed any further, hear me speak",
    "Cymbeline": "You do not meet a man but frowns",
    "King Henry IV, Part 1": "So shaken as we are, so wan with care",
    "King Henry IV, Part 2": "Open your ears",
    "King Henry V": "O for a Muse of fire",
    "King Henry VI, Part 1": "Hung be the heavens with black",
    "King Henry VI, Part 2": "As by your high imperial Majesty",
    "King Henry VI, Part 3": "I wonder how the king escap'd our hands",
    "King Henry VIII": "I come no more to make you laugh",
    "King John": "Now, say, Chatillon",
    "King Richard II": "Old John of Gaunt",
    "King Richard III": "Now is the winter of our discontent",
    "Love's Labour's Lost": "Let fame, that all hunt after",
    "Measure for Measure": "Of government the properties to unfold",
    "Othello": "Tush, never tell me",
    "Paradise Regained": "I, who erewhile the happy Garden sung",
    "Pericles": "To sing a song that old was sung",
    "Sonnets": "From fairest creatures we desire increase",
    "The Adventures of Tom Sawyer": "No answer.",
    "The Comedy of Errors": "Proceed, Solinus, to procure my fall",
    "The Merry Wives of Windsor": "Sir Hugh, persuade me not",
    "The Prince": "All states, all powers",
    "The Rape of Lucrece": "From the besieged Ardea all in post",
    "The Taming of the Shrew": "I'll pheeze you, in faith",
    "The Tragedy of Titus Andronicus": "Noble patricians, patrons of my right",
    "The Winter's Tale": "If you shall chance, Camillo, to visit Bohemia",
    "Timon of Athens": "Good day, sir",
    "Troilus and Cressida": "In Troy, there lies the scene",
    "Two Gentlemen of Verona": "Cease to persuade, my loving Proteus",
}
"""First words, where the catalogue has none or a sentence that no game can be about ("TOM!" is too short)."""

NOVELS = (
    "Emma",
    "Frankenstein",
    "Mansfield Park",
    "Moby-Dick",
    "Northanger Abbey",
    "Opticks",
    "Persuasion",
    "Pride and Prejudice",
    "Sense and Sensibility",
)
"""Prose whose files have the lines of the book."""


def same_opening(found: str, wanted: str) -> bool:
    """Whether a sentence begins with the wanted words, or is the whole of a shorter sentence."""
    found, wanted = (fold_typography(text).casefold().strip("' ") for text in (found, wanted))
    return bool(found) and (found.startswith(wanted[:40]) or (len(found) >= 20 and wanted.startswith(found)))


# --- openings


def opening_of_file(made: MadeDocument, folder: Path, reader: IsolatedReader) -> str:
    path = folder / made.name
    path.write_bytes(made_bytes(made.name, made.text))
    found = read_parts(read_file(content_of(path), reader).document).opening()
    return found.opening_sentence if found else ""


def made_openings(documents: Sequence[MadeDocument]) -> list[bool]:
    right = []
    with tempfile.TemporaryDirectory(prefix="documents-") as folder, IsolatedReader() as reader:
        for made in documents:
            found = opening_of_file(made, Path(folder), reader)
            right.append(same_opening(found, made.opening))
            if not right[-1]:
                print(f"WRONG  {made.name}: {found[:60]!r}, not {made.opening[:60]!r}")
    return right


def book_openings() -> list[bool]:
    right = []
    catalogue = Catalogue.load()
    for entry in cached_entries():
        work = catalogue.find(entry.title, entry.author)
        wanted = KNOWN_OPENINGS.get(entry.title) or (work.opening_sentence if work else None)
        if wanted is None:
            continue
        found = read_parts(entry.document()).opening()
        sentence = found.opening_sentence if found else ""
        right.append(same_opening(sentence, wanted))
        if not right[-1]:
            print(f"WRONG  {entry.title}: {sentence[:60]!r}, not {wanted[:60]!r}")
    return right


# --- editions


EDITIONS: dict[str, Callable[[list[str]], str]] = {
    "clean": lambda blocks: "\n\n".join(fill(curly(block), 60) for block in blocks),
    "a line each": lambda blocks: "\n".join(curly(block) for block in blocks),
    "indented": lambda blocks: "\n".join(
        block if len(block) < 40 and block.isupper() else fill(block, 70, initial_indent="   ") for block in blocks
    ),
    "no blank lines": lambda blocks: "\n".join(fill(block, 72) for block in blocks),
}


def shared_openings(first: Sequence[Passage], second: Sequence[Passage]) -> tuple[int, int]:
    """How many passages of the first reading open a passage of the second, and how many there are."""
    known = {fold_typography(passage.opening_sentence).casefold() for passage in second}
    return sum(fold_typography(each.opening_sentence).casefold() in known for each in first), len(first)


def edition_shares(documents: Sequence[Document]) -> dict[str, tuple[int, int]]:
    totals = dict.fromkeys(EDITIONS, (0, 0))
    for document in documents:
        usual = passages(document)
        for name, written in EDITIONS.items():
            text = written(as_paragraphs(document))
            other = passages(make_document(text, source="edition", title=document.title))
            found, count = shared_openings(usual, other)
            totals[name] = (totals[name][0] + found, totals[name][1] + count)
    return totals


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.documents", description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="only this part")
    options = parser.parse_args(arguments)
    parts = [options.part] if options.part else PARTS
    try:
        for part in parts:
            tell(f"{part}: openings of made documents", *count(made_openings(made_documents(part))))
            if part == "tuned":
                tell("tuned: openings of packaged books", *count(book_openings()))
            if part == "later_layouts":
                continue
            books = cached_books(list(NOVELS[part == "held_out" :: 2]))
            for name, (found, total) in edition_shares(books).items():
                tell(f"{part}: same openings, {name}", found, total)
    except LeagueError as error:
        print(f"documents: {error}", file=sys.stderr)
        return 3
    return 0


def count(right: Sequence[bool]) -> tuple[int, int]:
    return sum(right), len(right)


def tell(what: str, found: int, total: int) -> None:
    estimate = wilson(found, total)
    if estimate is not None:
        print(f"{what}: {found} of {total} = {estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]")


if __name__ == "__main__":
    sys.exit(main())
