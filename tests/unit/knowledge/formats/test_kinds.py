"""What a file is, by its first bytes and its name."""

from __future__ import annotations

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.kinds import Kind, kind_of

EPUB = b"PK\x03\x04\x14\x00\x00\x00\x00\x00" + bytes(20) + b"mimetypeapplication/epub+zip"


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n", Kind.PDF),
        ("a.pdf", b"\x00\x00junk\n%PDF-1.4\n", Kind.PDF),  # readers of PDF look for the mark in the first kilobyte
        ("a.txt", b"%PDF-1.7\n", Kind.PDF),  # the bytes know better than the name
        ("a.epub", EPUB, Kind.EPUB),
        ("a", EPUB, Kind.EPUB),
        ("a.epub", b"PK\x03\x04 an archive that does not say what it is", Kind.EPUB),
        ("a.html", b"<p>no more than a part", Kind.HTML),
        ("a.txt", b"\xef\xbb\xbf<!-- saved -->\n<!DOCTYPE HTML>", Kind.HTML),
        ("a.txt", '<?xml version="1.0"?><html>'.encode("utf-16"), Kind.HTML),
        ("A.MD", b"# Title", Kind.MARKDOWN),
        ("a.txt", b"Plain words.", Kind.TEXT),
        ("a.txt", b"We write <html> in a sentence.", Kind.TEXT),
        ("README", b"Plain words.", Kind.TEXT),
        ("a.txt", b"", Kind.TEXT),
    ],
)
def test_the_first_bytes_decide_and_the_name_where_they_leave_the_choice(name: str, head: bytes, kind: Kind) -> None:
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
