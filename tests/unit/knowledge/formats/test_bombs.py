"""Files that were made to use up a machine: each is refused within the bounds, and the next file is read."""

from __future__ import annotations

import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.child import end_above
from league_agents.knowledge.formats.kinds import BookFormat
from league_agents.knowledge.formats.reader import CPU_S, MEMORY_BYTES, IsolatedReader
from tests.support.book_files import epub_bytes, pdf_of_streams

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows bounds no process this way")

PAGE = b"<h1>On Tides</h1><p>The tide came in.</p>"
MEGABYTE = 1_000_000


def inflating(unit: bytes, megabytes: int) -> bytes:
    """What inflates to so many megabytes of a text, made without compressing them all."""
    packer = zlib.compressobj(9)
    text = unit * (MEGABYTE // len(unit))
    first = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + again * (megabytes - 1) + packer.flush()


def pdf_of_spaces() -> bytes:
    return pdf_of_streams([(inflating(b" " * 1000, 4000), b"/FlateDecode")])


def pdf_packed_twice() -> bytes:
    return pdf_of_streams([(zlib.compress(inflating(b" " * 1000, 2000), 9), b"[/FlateDecode /FlateDecode]")])


def pdf_of_letters() -> bytes:
    return pdf_of_streams([(inflating(b"BT /F 11 Tf (abcdefghij) Tj ET ", 300), b"/FlateDecode")])


def pdf_of_lines() -> bytes:
    return pdf_of_streams([(inflating(b"0 0 m 1 1 l S ", 300), b"/FlateDecode")])


def html_of_entities() -> bytes:
    return b'<html xmlns="http://www.w3.org/1999/xhtml"><body>' + b"&amp;" * 8_000_000


def epub_of_elements() -> bytes:
    return epub_bytes({"c.xhtml": "<b>x</b>" * 3_500_000})


BOMBS: dict[Callable[[], bytes], BookFormat] = {
    pdf_of_spaces: BookFormat.PDF,
    pdf_packed_twice: BookFormat.PDF,
    pdf_of_letters: BookFormat.PDF,
    pdf_of_lines: BookFormat.PDF,
    html_of_entities: BookFormat.HTML,
    epub_of_elements: BookFormat.EPUB,
}
READS_IT = """
import resource, sys
from pathlib import Path
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.kinds import BookFormat
from league_agents.knowledge.formats.reader import IsolatedReader

with IsolatedReader() as reader:
    try:
        reader.extract(BookFormat(sys.argv[1]), Path(sys.argv[2]).read_bytes(), "bomb")
        print("it was read")
    except DocumentRefused as refused:
        print(refused)
    assert reader.extract(BookFormat.HTML, b"<h1>On Tides</h1><p>The tide came in.</p>", "b.html").title == "On Tides"
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
print(used.ru_utime + used.ru_stime)
"""


@unix_only
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_a_file_that_unpacks_to_gigabytes_is_refused_within_the_bounds(
    bomb: Callable[[], bytes], tmp_path: Path
) -> None:
    place = tmp_path / "bomb"
    place.write_bytes(bomb())
    command = [sys.executable, "-c", READS_IT, BOMBS[bomb].value, str(place)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    said, peak, cpu_s = shown.stdout.splitlines()
    assert "of memory: the reader of PDF files broke down over it" in said or said == "bomb: needs too much memory"
    assert int(peak) <= MEMORY_BYTES
    assert float(cpu_s) < CPU_S + 5  # the start of two processes and the good file


@unix_only
def test_a_file_that_computes_for_ever_is_refused() -> None:
    page = b"<html " + b" ".join(b"a%d=1" % number for number in range(1_000_000)) + b">x"
    with IsolatedReader(cpu_s=1) as reader:
        with pytest.raises(DocumentRefused, match=r"^a\.html: needs more than 1 seconds of computing and is not read"):
            reader.extract(BookFormat.HTML, page, "a.html")
        assert reader.extract(BookFormat.HTML, PAGE, "b.html").title == "On Tides"


BURNS = """
import time
from league_agents.knowledge.formats.child import _bound_computing

for _ in range(2):
    _bound_computing(1)
    begun = time.process_time()
    while time.process_time() < begun + 0.6:
        pass
"""


@unix_only
def test_every_file_has_its_own_seconds_of_computing() -> None:
    assert subprocess.run([sys.executable, "-c", BURNS], check=False).returncode == 0


@pytest.mark.parametrize(
    "page",
    [
        b"<table><tr><td>" * 200_000 + b"x",
        b"<p><b><i><a>x" * 200_000,
        b"<sup>" * 100_000 + b"<a>x</a>",
        (b"<!DOCTYPE" + b"a" * 2000 + b"[") * 20_000 + b"<html><body><p>x",
        b'<html xmlns="http://www.w3.org/1999/xhtml"><body>' + b"<div>" * 100_000 + b"x",
    ],
    ids=["tables", "marks", "notes", "document types", "strict and deep"],
)
def test_a_page_of_many_elements_is_read_or_refused_at_once(page: bytes) -> None:
    said = ""
    with IsolatedReader(cpu_s=10) as reader:
        try:
            said = reader.extract(BookFormat.HTML, page, "a.html").parts[0].text
        except DocumentRefused as refused:
            said = str(refused)
    assert "x" in said or "holds no text" in said or "is no HTML" in said


def test_entities_that_expand_each_other_are_not_expanded() -> None:
    chain = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(12))
    page = f'<!DOCTYPE html [{chain}]><html xmlns="http://www.w3.org/1999/xhtml"><p>So &e11; it is.</p></html>'
    with IsolatedReader() as reader:
        (part,) = reader.extract(BookFormat.HTML, page.encode(), "a.html").parts
    assert part.text == "So it is."


def test_a_system_that_bounds_no_memory_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    used, ended = iter([10, 90, 101]), threading.Event()
    monkeypatch.setattr("os.kill", lambda _pid, _signal: ended.set())
    end_above(100, lambda: next(used), every_s=0)
    assert ended.is_set()
    assert next(used, None) is None
