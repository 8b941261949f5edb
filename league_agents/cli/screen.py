"""Where a command writes: results to stdout, everything else to stderr.

Rule: while code of the user's own runs, stdout belongs to this program alone, because a script may be reading JSON
from it. Whatever that code prints goes to stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import ProgressColumn

WIDEST = 120
"""Columns. Longer lines of prose are hard to read, however wide the window."""

UNLIMITED = 100_000
"""Columns."""


def console(stream: TextIO) -> Console:
    """A console that adds no colours of its own, and none at all where nobody could see them."""
    from rich.console import Console

    made = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if made.width > WIDEST:
        made.width = WIDEST
    return made


def print_whole(shown: RenderableType, stream: TextIO) -> None:
    """Print to a terminal in its width, or wider where a word does not fit; elsewhere without dividing any line."""
    from rich.measure import Measurement

    screen = console(stream)
    needed = Measurement.get(screen, screen.options.update(width=UNLIMITED), shown)
    screen.width = max(screen.width, needed.minimum if screen.is_terminal else needed.maximum)
    screen.print(shown)


@contextlib.contextmanager
def bar(
    screen: Console, what: str, total: int, *, done: int = 0, beside: Sequence[ProgressColumn] = ()
) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal that goes when the work is over, with columns ``beside`` the count. What it yields is called
    with the number of things that are done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), *beside, TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(what, total=total, completed=done)
        yield lambda count: progress.update(task, completed=count)


@contextlib.contextmanager
def counter(screen: Console, what: str, *, every: int) -> Iterator[Callable[[int], None]]:
    """A line on a terminal that counts and goes when the work is over. What it yields is called with each number, and
    shows one in ``every``."""
    from rich.progress import Progress, TextColumn
    from rich.text import Text

    columns = (TextColumn(Text(what).markup), TextColumn("{task.completed:,.0f}"))
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda count: None if count % every else progress.update(task, completed=count)


def mark(screen: Console, *, is_good: bool) -> str:
    """``✓`` or ``✗``; a letter where they cannot be written."""
    told, plain = ("✓", "v") if is_good else ("✗", "x")
    try:
        told.encode(screen.encoding)
    except UnicodeError:
        return plain
    return told


@contextlib.contextmanager
def own_stdout() -> Iterator[TextIO]:
    """The real stdout, while everybody else's prints go to stderr, those of child processes included."""
    real = sys.stdout
    is_replaced = real is not sys.__stdout__  # by somebody who calls a command in his own process, such as a test
    if is_replaced:
        with contextlib.redirect_stdout(sys.stderr):
            yield real
        return
    # It stays so until the process ends: a thread that was left behind, or an exit function, may print later.
    real.flush()
    kept = open(os.dup(real.fileno()), "w", encoding=real.encoding, errors="replace")  # noqa: PTH123, SIM115
    os.dup2(sys.stderr.fileno(), real.fileno())
    sys.stdout = sys.stderr
    try:
        yield kept
    finally:
        kept.close()


def document_text(document: object) -> str:
    """A JSON document as it is printed and recorded: the same bytes for the same values."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    # A lone surrogate cannot be written as UTF-8; as JSON's own escape it can.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def print_document(document: object, stream: TextIO) -> None:
    """One JSON document in UTF-8, whatever the locale says."""
    _print_text(document_text(document), stream)


def print_documents(documents: Iterable[object], stream: TextIO) -> None:
    """A JSON array in UTF-8, the same bytes as ``print_document`` of the list, one element in memory at a time."""
    between = "["
    for document in documents:
        # No text of a JSON document has a line break of its own.
        _print_text(between + "\n  " + document_text(document).rstrip("\n").replace("\n", "\n  "), stream)
        between = ","
    _print_text("[]\n" if between == "[" else "\n]\n", stream)


def _print_text(text: str, stream: TextIO) -> None:
    raw = getattr(stream, "buffer", None)
    if raw is None:
        stream.write(text)
    else:
        stream.flush()
        raw.write(text.encode())
    stream.flush()
