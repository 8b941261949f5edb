"""Tables in the Markdown of the reference pages that are written from declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table. Cells are Markdown; each is put on one line."""
    yield _line(titles)
    yield _line(["---"] * len(titles))
    yield from (_line([" ".join(cell.split()).replace("|", "\\|") for cell in row]) for row in rows)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
