"""Files are taken apart in another process, which may die, hang or talk nonsense."""

from __future__ import annotations

import sys

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.kinds import BookFormat
from league_agents.knowledge.formats.reader import IsolatedReader
from tests.support.book_files import epub_bytes, lines_of, pdf_bytes

PAGE = b"<h1>On Tides</h1><p>The tide came in.</p>"
PDF = pdf_bytes([lines_of(["The harbour lay quiet in the early light."])])


def counterpart(code: str, silence_s: float = 20) -> IsolatedReader:
    """A reader whose other side does what it wants."""
    return IsolatedReader(silence_s=silence_s, command=[sys.executable, "-c", code])


def test_one_process_reads_files_of_all_formats() -> None:
    with IsolatedReader() as reader:
        told: list[int] = []
        assert reader.extract(BookFormat.PDF, PDF, "a.pdf", told.append).pages == 1
        assert told == [1]
        assert reader.extract(BookFormat.HTML, PAGE, "a.html").title == "On Tides"
        assert reader.extract(BookFormat.EPUB, epub_bytes({"a.xhtml": "<p>Words.</p>"}), "a.epub").author == "A Writer"


def test_a_refusal_names_the_file_once_and_the_next_file_is_read_by_the_same_process() -> None:
    with IsolatedReader() as reader:
        with pytest.raises(DocumentRefused) as refused:
            reader.extract(BookFormat.PDF, b"no PDF", "a.pdf")
        assert str(refused.value) == "a.pdf: is a broken PDF file"
        assert reader.extract(BookFormat.HTML, PAGE, "a.html").title == "On Tides"


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.abort()",
        "import sys; sys.stdin.buffer.read(100); import os; os._exit(3)",
        "raise SystemExit",
        "import sys; sys.stdout.buffer.write(b'nonsense, not a frame')",
        "import sys; sys.stdout.buffer.write(bytes([0, 0, 0, 2]) + b'[]'); sys.stdout.flush(); sys.stdin.buffer.read()",
    ],
    ids=["aborts", "dies half-way", "ends", "talks nonsense", "answers with a list"],
)
def test_a_process_that_breaks_down_is_the_files_fault(code: str) -> None:
    with counterpart(code) as reader:
        for _ in range(2):  # another process is started for the next file, which fares no better
            with pytest.raises(
                DocumentRefused,
                match=r"^a\.pdf: is damaged or needs more than 512 MB of memory: the reader of PDF files broke down",
            ):
                reader.extract(BookFormat.PDF, PDF, "a.pdf")


TELLS_ITS_ENVIRONMENT = """
import json, os, struct, sys
told = json.dumps({"refused": " ".join(sorted(os.environ))}).encode()
sys.stdout.buffer.write(struct.pack(">I", len(told)) + told)
sys.stdout.flush()
sys.stdin.buffer.read()
"""


def test_the_process_that_reads_strangers_files_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "Gmail_Token", "CLIENT_SECRET", "db_password", "KEY_RING", "PLAIN"):
        monkeypatch.setenv(name, "x")
    with counterpart(TELLS_ITS_ENVIRONMENT) as reader, pytest.raises(DocumentRefused) as told:
        reader.extract(BookFormat.PDF, PDF, "a.pdf")
    names = {name.upper() for name in str(told.value).split()}
    assert not names & {"OPENAI_API_KEY", "GMAIL_TOKEN", "CLIENT_SECRET", "DB_PASSWORD"}
    assert {"KEY_RING", "PLAIN", "PYTHONPATH", "PATH"} <= names


def test_a_process_that_gets_stuck_is_ended() -> None:
    stuck = pytest.raises(DocumentRefused, match=r"got stuck for 0\.2 seconds")
    with counterpart("import time; time.sleep(60)", silence_s=0.2) as reader, stuck:
        reader.extract(BookFormat.PDF, PDF, "a.pdf")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows bounds no process's memory this way")
def test_a_file_that_needs_too_much_memory_is_refused() -> None:
    with IsolatedReader(memory_bytes=400_000_000) as reader:
        with pytest.raises(DocumentRefused, match=r"^a\.html: "):
            reader.extract(BookFormat.HTML, b"<p>" + b"<b>x</b>" * 6_000_000, "a.html")
        assert reader.extract(BookFormat.HTML, PAGE, "b.html").title == "On Tides"


def test_closing_twice_is_harmless_and_a_closed_reader_starts_again() -> None:
    reader = IsolatedReader()
    reader.close()
    assert reader.extract(BookFormat.HTML, PAGE, "a.html").title == "On Tides"
    reader.close()
    reader.close()
