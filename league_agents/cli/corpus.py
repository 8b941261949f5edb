"""``league-agents corpus``: the user's own books."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.screen import console, print_document
from league_agents.core.printable import printable

if TYPE_CHECKING:
    from league_agents.knowledge.corpus import BookReport
    from league_agents.knowledge.index import AddReport, Book

EPILOG = """\b
Examples:
  league-agents corpus add books/*.txt notes.md
  league-agents corpus add persuasion.txt --title Persuasion --author "Jane Austen"
  league-agents corpus list
  league-agents corpus show persuasion
  league-agents corpus remove persuasion

The books lie in one file, knowledge.db, in the folder that LEAGUE_AGENTS_DATA names or in your own data folder.
"""


@click.group(name="corpus", short_help="Your own books for the offline agents.", epilog=EPILOG)
def command() -> None:
    """Plain text and Markdown books that the offline agents play with, next to the built-in ones."""


@command.command(name="add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--title", help="The title, for a single file; otherwise it is read from the text or the file's name.")
@click.option("--author", help="The author of all these files.")
@click.option("--language", metavar="CODE", help="Their language, such as en or he; otherwise it is recognised.")
def add(files: tuple[Path, ...], title: str | None, author: str | None, language: str | None) -> int:
    """Add books from text or Markdown files.

    The offline referee plays about every second match with one of your books: with their openings under prd, with
    their passages under course. A passage is a paragraph of 25 words or more and two sentences or more; paragraphs
    have empty lines between them.

    A file that was added before is said to be known; a changed one replaces its former text. A file that cannot be
    used is named, the others are added all the same, and the exit code is 3.
    """
    from league_agents.cli import PROGRAM, Exit
    from league_agents.knowledge.corpus import add_files

    if title is not None and len(files) > 1:
        raise click.UsageError(f"--title is for one file at a time, found {len(files)} files")
    refused = 0
    for report in add_files(files, title=title, author=author, language=language):
        if report.added is None:
            refused += 1
            click.echo(f"{PROGRAM}: {printable(str(report.error), 1000)}", err=True)
            continue
        book = report.added
        size = f"{_counted(book.passages, 'passage')} in {_counted(book.words, 'word')}"
        use = _use(book)
        said = {
            "added": f"added {printable(book.title, 200)}: {size}; {use}",
            "replaced": f"replaced {printable(book.title, 200)}: now {size}; {use}",
            "unchanged": f"{printable(str(report.path), 300)} is known already, as {printable(book.title, 200)}; {use}",
        }
        click.echo(said[book.outcome.value])
    return Exit.CONFIGURATION if refused else Exit.OK


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_(as_json: bool) -> None:
    """List your books, by title."""
    from league_agents.knowledge.corpus import default_index_path, list_books

    books = list_books()
    if as_json:
        print_document({"books": [asdict(book) for book in books]}, sys.stdout)
        return
    if not books:
        click.echo("No books yet; 'league-agents corpus add FILE…' adds some. The built-in ones are always there.")
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for heading in ("Title", "Author", "Language"):
        table.add_column(heading, overflow="fold")
    table.add_column("Words", justify="right")
    table.add_column("Passages", justify="right")
    for book in books:
        table.add_row(
            Text(printable(book.title, 120)),
            Text(printable(book.author or "–", 80)),
            Text(printable(book.language, 20)),
            f"{book.words:,}",
            f"{book.passages:,}",
        )
    screen = console(sys.stdout)
    screen.print(table)
    screen.print(f"{_counted(len(books), 'book')} in {default_index_path()}", style="dim", soft_wrap=True)


@command.command(name="show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(name: str, as_json: bool) -> None:
    """Show one book, its chapters and its first passages."""
    from league_agents.knowledge.corpus import show_book

    found = show_book(name)
    if as_json:
        print_document(
            {
                "book": asdict(found.book),
                "chapters": [asdict(chapter) for chapter in found.chapters],
                "first_passages": [asdict(passage) for passage in found.first_passages],
            },
            sys.stdout,
        )
        return
    _show(found.book, found)


def _show(book: Book, found: BookReport) -> None:
    from rich.padding import Padding
    from rich.text import Text

    screen = console(sys.stdout)
    by = f" by {printable(book.author, 100)}" if book.author else ""
    screen.print(Text.assemble((printable(book.title, 200), "bold"), by))
    size = f"{_counted(book.words, 'word')}, {_counted(book.passages, 'passage')}"
    screen.print(Text(f"{size}, language {printable(book.language, 20)}", style="dim"))
    screen.print(Text(f"from {printable(book.source, 300)}", style="dim"))
    screen.print(Text(f"\n“{printable(book.opening_sentence, 400)}”"))
    if any(chapter.heading is not None for chapter in found.chapters):
        screen.print(Text("\nChapters", style="bold"))
        for chapter in found.chapters:
            heading = printable(chapter.heading, 70) if chapter.heading is not None else "(before the first heading)"
            screen.print(Text(f"  {heading}  {_counted(chapter.passages, 'passage')}"))
    screen.print(Text("\nFirst passages", style="bold"))
    for passage in found.first_passages:
        screen.print(Padding(Text(f"{passage.position}  {printable(passage.text, 300)}"), (0, 0, 1, 2)))


@command.command(name="remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the book of exactly this title; case and punctuation do not matter."""
    from league_agents.knowledge.corpus import remove_book

    click.echo(f"removed {printable(remove_book(name).title, 200)}")


def _use(book: AddReport) -> str:
    """What the offline referee can make of it."""
    if not book.opening_sentence:
        return "its passages can be targets"
    return f"its opening ({printable(book.opening_sentence, 50)}) and its passages can be targets"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
