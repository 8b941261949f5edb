"""``league-agents corpus``: the user's own books."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.screen import console, print_document
from league_agents.kit.printable import printable
from league_agents.knowledge.watching import AddingWatcher

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from league_agents.knowledge.corpus import BookReport, FileReport
    from league_agents.knowledge.index import AddReport, Book
    from league_agents.knowledge.index_records import ReadingReport

EPILOG = """\b
Examples:
  league-agents corpus add books/ lecture-3.pdf novel.epub
  league-agents corpus add persuasion.txt --title Persuasion --author "Jane Austen"
  league-agents corpus search "a captain who hunts a whale"
  league-agents corpus list
  league-agents corpus show persuasion
  league-agents corpus show persuasion --quality
  league-agents corpus set-opening persuasion "Sir Walter Elliot, of Kellynch"
  league-agents corpus stats
  league-agents corpus remove persuasion

The books lie in one file, knowledge.db, in the folder that LEAGUE_AGENTS_DATA names or in your own data folder.
"""


@click.group(name="corpus", short_help="Your own books for the agents.", epilog=EPILOG)
def command() -> None:
    """Books that the agents play with, next to the built-in ones: PDF, EPUB, HTML, Office, Markdown and text files."""


@command.command(name="add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|FOLDER…")
@click.option("--title", help="The title, for a single file; otherwise it is read from the book or the file's name.")
@click.option("--author", help="The author of all these files.")
@click.option("--language", metavar="CODE", help="Their language, such as en or he; otherwise it is recognised.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def add(files: tuple[Path, ...], title: str | None, author: str | None, language: str | None, as_json: bool) -> int:
    """Add books from PDF, EPUB, HTML, Word, PowerPoint, Markdown or text files, or from all of these in a folder.

    Word documents (.docx) and presentations (.pptx) need the extra: pip install 'league-agents[office]'.

    The offline referee plays about every second match with one of your books: with their openings under prd, with
    their passages under course. A passage is a paragraph of 25 words or more and two sentences or more. Of slides, each
    page is a passage, and so are the speaker's notes of a presentation.

    A file that was added before is said to be known, and takes the title, author and language that you give it now; a
    changed one replaces its former text. Two files with the same title and nothing else in common are two books: the
    second gets its file's name behind the title. A file that cannot be used is named, and the others are added all the
    same. The exit code is 3 when a file that you named cannot be used, or nothing in a folder that you named. What was
    added stays when you interrupt.
    """
    from league_agents.cli import PROGRAM, Exit
    from league_agents.knowledge.corpus import add_each

    if title is not None and (len(files) > 1 or files[0].is_dir()):
        raise click.UsageError(f"--title is for one file at a time, found {_what(files)}")
    reports = []
    with _Bar(is_shown=sys.stderr.isatty()) as bar:
        for report in add_each(files, title=title, author=author, language=language, watcher=bar):
            reports.append(report)
            if report.added is None:
                bar.say(f"{PROGRAM}: {printable(str(report.error), 1000)}", is_error=True)
            elif not as_json:
                bar.say(_said(report, report.added), is_error=False)
    if as_json:
        print_document({"files": [_as_document(report) for report in reports]}, sys.stdout)
    elif len(reports) > 1:
        click.echo(_summary(reports))
    used = [report.path for report in reports if report.added is not None]
    is_each_of_use = all(any(path.is_relative_to(named) for path in used) for named in files)
    return Exit.OK if is_each_of_use else Exit.CONFIGURATION


class _Bar(AddingWatcher):
    """A bar on a terminal that shows how far the adding has come, and lines above it."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._name = ""

    def __enter__(self) -> _Bar:
        if self._is_shown:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                console=console(sys.stderr),
                transient=True,
                redirect_stdout=sys.stdout.isatty(),
            )
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def begins(self, files: int) -> None:
        if self._progress is not None:
            self._task = self._progress.add_task("", total=files)

    def opens(self, path: Path) -> None:
        self._name = printable(path.name, 40)
        self._describe(self._name)

    def reads(self, pages: int) -> None:
        self._describe(f"{self._name}, page {pages:,}")

    def is_done_with(self, path: Path) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)

    def say(self, line: str, *, is_error: bool) -> None:
        """A line that stays, on the stream that it belongs to."""
        stream = sys.stderr if is_error else sys.stdout
        if self._progress is not None and stream.isatty():
            from rich.text import Text

            self._progress.console.print(Text(line), soft_wrap=True)
        else:
            click.echo(line, err=is_error)

    def _describe(self, words: str) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=words)


def _said(report: FileReport, book: AddReport) -> str:
    size = f"{_counted(book.passages, 'passage')} in {_counted(book.words, 'word')}"
    if report.pages is not None:
        size += f" on {_counted(report.pages, 'page')}"
    title, use = printable(book.title, 200), _use(book)
    return {
        "added": f"added {title}: {size}; {use}",
        "replaced": f"replaced {title}: now {size}; {use}",
        "unchanged": f"{printable(str(report.path), 300)} is known already, as {title}; {use}",
        "updated": f"{printable(str(report.path), 300)} is known already, now as {title}; {use}",
    }[book.outcome.value]


def _as_document(report: FileReport) -> dict[str, object]:
    document: dict[str, object] = {"file": str(report.path), "format": report.format, "pages": report.pages}
    if report.added is None:
        return {**document, "outcome": "refused", "reason": str(report.error)}
    return {**document, **asdict(report.added)}


def _summary(reports: list[FileReport]) -> str:
    counts = Counter(report.added.outcome.value if report.added else "refused" for report in reports)
    said = {
        "added": "added",
        "replaced": "replaced",
        "updated": "described anew",
        "unchanged": "known already",
        "refused": "not used",
    }
    told = ", ".join(f"{counts[key]:,} {words}" for key, words in said.items() if counts[key])
    return f"{_counted(len(reports), 'file')}: {told}"


def _what(files: tuple[Path, ...]) -> str:
    return _counted(len(files), "file") if len(files) > 1 else "a folder"


@command.command(name="search", context_settings={"ignore_unknown_options": True})
@click.argument("query")
@click.option("--limit", type=WholeRange(1, 1000), default=10, show_default=True, help="How many passages.")
@click.option("--book", metavar="TITLE", help="Search in this book only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def search(query: str, limit: int, book: str | None, as_json: bool) -> int:
    """Find passages of your books by their words, best first.

    A question in plain words will do, in any language. Nothing in it is syntax. The exit code is 1 when there is none.
    """
    from league_agents.cli import Exit
    from league_agents.knowledge.corpus import search_books

    hits = search_books(query, limit=limit, book=book)
    if as_json:
        found = [{"score": hit.score, **asdict(hit.passage)} for hit in hits]
        print_document({"query": query, "hits": found}, sys.stdout)
        return Exit.OK if hits else Exit.FAILED
    if not hits:
        click.echo("No passage of your books has any of these words; the built-in ones are not searched.")
        return Exit.FAILED
    from rich.padding import Padding
    from rich.text import Text

    screen = console(sys.stdout)
    for number, hit in enumerate(hits, start=1):
        passage = hit.passage
        where = f", {printable(passage.chapter, 60)}" if passage.chapter else ""
        screen.print(
            Text.assemble(
                f"{number:>3}  ",
                (printable(passage.book, 100), "bold"),
                f"{where}, passage {passage.position:,}  ",
                (f"score {hit.score:.3g}", "dim"),
            )
        )
        screen.print(Padding(Text(f"“{printable(passage.opening_sentence, 300)}”"), (0, 0, 0, 5)))
        rest = passage.text.removeprefix(passage.opening_sentence).strip()
        if rest:
            screen.print(Padding(Text(printable(" ".join(rest.split()), 300), style="dim"), (0, 0, 0, 5)))
        screen.print()
    return Exit.OK


@command.command(name="stats")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def stats(as_json: bool) -> None:
    """Say how many books and passages there are, in which languages and formats, and how large the index is."""
    from league_agents.knowledge.corpus import corpus_statistics, default_index_path

    found = corpus_statistics()
    path = str(default_index_path())
    if as_json:
        print_document({"path": path, **(asdict(found) if found else {"books": 0})}, sys.stdout)
        return
    if found is None or not found.books:
        click.echo("No books yet; 'league-agents corpus add FILE…' adds some. The built-in ones are always there.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("books", f"{found.books:,}"),
        ("passages", f"{found.passages:,}"),
        ("words", f"{found.words:,}"),
        ("languages", _shares(found.languages)),
        ("formats", _shares(found.formats)),
        ("size", f"{found.size_bytes / 1_000_000:,.1f} MB"),
        ("schema", str(found.schema)),
        ("file", path),
    ):
        table.add_row(Text(name, style="dim"), Text(printable(value, 500)))
    console(sys.stdout).print(table)


def _shares(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


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
@click.argument("name", metavar="TITLE|FILE")
@click.option("--quality", is_flag=True, help="Show how it was read: its first parts, and why parts were passed over.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(name: str, quality: bool, as_json: bool) -> None:
    """Show one book, its chapters and its first passages. It is named by its title or by the file it came from.

    With --quality the first parts of the book are numbered, each with the reason if it cannot be the opening;
    'corpus set-opening' corrects an opening that was found wrongly.
    """
    from league_agents.knowledge.corpus import show_book

    found = show_book(name)
    if as_json:
        print_document(
            {
                "book": asdict(found.book),
                "chapters": [asdict(chapter) for chapter in found.chapters],
                "first_passages": [asdict(passage) for passage in found.first_passages],
                "reading": asdict(found.reading) if found.reading is not None else None,
            },
            sys.stdout,
        )
        return
    if quality:
        _show_quality(found.book, found.reading)
    else:
        _show(found.book, found)


def _show_quality(book: Book, reading: ReadingReport | None) -> None:
    from rich.padding import Padding
    from rich.text import Text

    screen = console(sys.stdout)
    screen.print(Text(printable(book.title, 200), style="bold"))
    screen.print(Text(f"opens with “{printable(book.opening_sentence, 400)}”"))
    if reading is None:
        click.echo("No report: an older version added this book. Add its file again to get one.")
        return
    passed = ", ".join(f"{reason} {count:,}" for reason, count in reading.skipped.items()) or "none"
    screen.print(
        Text(
            f"{_counted(reading.parts, 'part')}: {_counted(reading.passages, 'passage')}, {reading.too_short:,} too "
            f"short for one; passed over: {passed}",
            style="dim",
        )
    )
    screen.print(Text("\nFirst parts", style="bold"))
    before, opens_at = 0, _opened_at(book, reading)
    for part in reading.first_parts:
        if part.number != before + 1:
            screen.print(Text("      …", style="dim"))
        before = part.number
        mark = "→" if part.number == opens_at else " "
        why = f"[{part.skipped}] " if part.skipped else ""
        line = Text.assemble(f"{mark}{part.number:>4}  ", (why, "dim"), printable(" ".join(part.text.split()), 160))
        screen.print(Padding(line, (0, 0, 0, 0)))
    click.echo("\nTo correct it: league-agents corpus set-opening TITLE|FILE NUMBER, or the first words of a sentence.")


def _opened_at(book: Book, reading: ReadingReport) -> int | None:
    """The number of the part that a book opens with, as it was found or set; ``None`` if it is not among the first."""
    sentence = " ".join((book.opening_sentence or "").split())
    holding = [part.number for part in reading.first_parts if sentence and sentence in " ".join(part.text.split())]
    return reading.opens_at if reading.opens_at in holding else next(iter(holding), None)


@command.command(name="set-opening", context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="TITLE|FILE")
@click.argument("which", metavar="NUMBER|WORDS", required=False)
@click.option("--found", is_flag=True, help="Return to the opening that was found.")
def set_opening(name: str, which: str | None, found: bool) -> None:
    """Set the sentence that a book opens with: by a number of 'corpus show --quality', or by its first words.

    The same file keeps it when it is added again, also by a later version and after the book was removed.
    """
    from league_agents.knowledge.corpus import set_opening as set_

    if found == (which is not None and bool(which.strip())):
        raise click.UsageError("say where the book opens: a part's number, the first words of a sentence, or --found")
    book = set_(name, None if found else which)
    click.echo(f"{printable(book.title, 200)} opens with “{printable(book.opening_sentence, 400)}”")


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
@click.argument("name", metavar="TITLE|FILE")
def remove(name: str) -> None:
    """Remove the book of exactly this title (case and punctuation do not matter), or from a file of this name."""
    from league_agents.knowledge.corpus import remove_book

    click.echo(f"removed {printable(remove_book(name).title, 200)}")


def _use(book: AddReport) -> str:
    """What the offline referee can make of it."""
    if not book.opening_sentence:
        return "its passages can be targets"
    return f"its opening ({printable(book.opening_sentence, 50)}) and its passages can be targets"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
