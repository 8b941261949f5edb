"""What a file is, by its first bytes and its name."""

from __future__ import annotations

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.kinds import BookFormat, kind_of

EPUB = b"PK\x03\x04\x14\x00\x00\x00\x00\x00" + bytes(20) + b"mimetypeapplication/epub+zip"


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n", BookFormat.PDF),
        (
            "a.pdf",
            b"\x00\x00junk\n%PDF-1.4\n",
            BookFormat.PDF,
        ),  # readers of PDF look for the mark in the first kilobyte
        ("a.txt", b"%PDF-1.7\n", BookFormat.PDF),  # the bytes know better than the name
        ("a.epub", EPUB, BookFormat.EPUB),
        ("a", EPUB, BookFormat.EPUB),
        ("a.epub", b"PK\x03\x04 an archive that does not say what it is", BookFormat.EPUB),
        ("a.html", b"<p>no more than a part", BookFormat.HTML),
        ("a.txt", b"\xef\xbb\xbf<!-- saved -->\n<!DOCTYPE HTML>", BookFormat.HTML),
        ("a.txt", '<?xml version="1.0"?><html>'.encode("utf-16"), BookFormat.HTML),
        ("A.MD", b"# Title", BookFormat.MARKDOWN),
        ("a.txt", b"Plain words.", BookFormat.TEXT),
        ("a.txt", b"We write <html> in a sentence.", BookFormat.TEXT),
        ("README", b"Plain words.", BookFormat.TEXT),
        ("a.txt", b"", BookFormat.TEXT),
    ],
)
def test_the_first_bytes_decide_and_the_name_where_they_leave_the_choice(
    name: str, head: bytes, kind: BookFormat
) -> None:
    assert kind_of(name, head) is kind


@pytest.mark.parametrize(
    ("name", "head", "says"),
    [
        ("a.pdf", b"<html>Please log in</html>", "is named like a PDF file and is none"),
        ("a.pdf", b"", "is named like a PDF file and is none"),
        ("a.EPUB", b"Plain words.", "is named like an EPUB file and is none"),
    ],
)
def test_a_false_name_is_refused(name: str, head: bytes, says: str) -> None:
    with pytest.raises(DocumentRefused, match=says):
        kind_of(name, head)
