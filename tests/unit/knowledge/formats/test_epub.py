"""EPUB archives: what is read, in which order, and what is refused."""

from __future__ import annotations

import io
import zipfile

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats import epub
from league_agents.knowledge.formats.epub import epub_extract
from tests.support.book_files import CONTAINER, epub_bytes, xhtml

ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/>'
    '<enc:CipherData><enc:CipherReference URI="OEBPS/a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
)


def texts(content: bytes) -> list[str]:
    return [part.text for part in epub_extract(content, "book.epub").parts]


def refusal(content: bytes) -> str:
    with pytest.raises(DocumentRefused) as refused:
        epub_extract(content, "book.epub")
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_pages_are_read_in_the_order_of_the_spine() -> None:
    pages = {"b.xhtml": "<h1>Two</h1><p>Second.</p>", "a.xhtml": "<h1>One</h1><p>First.</p>"}
    content = epub_bytes(pages, order=["a.xhtml", "b.xhtml"], title="A Tale", author="Ann", language="en-US")
    found = epub_extract(content, "book.epub")
    assert [(part.kind, part.text) for part in found.parts] == [
        ("heading", "One"),
        ("paragraph", "First."),
        ("heading", "Two"),
        ("paragraph", "Second."),
    ]
    assert (found.title, found.author, found.language) == ("A Tale", "Ann", "en")


def test_contents_notes_and_copyright_pages_are_left_out() -> None:
    pages = {
        "a.xhtml": '<section epub:type="toc"><p>Chapter 1</p></section>'
        '<p>The text<a epub:type="noteref" href="#n">1</a>.</p>',
        "b.xhtml": '<section epub:type="copyright-page"><p>Copyright</p></section>'
        '<aside epub:type="footnote">n</aside>',
    }
    assert texts(epub_bytes(pages)) == ["The text."]


def test_a_name_with_spaces_and_accents_is_found_and_a_path_out_of_the_archive_is_not() -> None:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="a" href="../text/caf%C3%A9%20one.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="b" href="../../../../etc/passwd" media-type="application/xhtml+xml"/>'
        '<item id="c" href="/etc/passwd" media-type="application/xhtml+xml"/>'
        '<item id="d" href="file:///etc/passwd" media-type="application/xhtml+xml"/>'
        '<item id="e" href="http://[" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="c"/><itemref idref="d"/><itemref idref="e"/><itemref idref="a"/>'
        '<itemref idref="a"/></spine></package>'
    )
    content = epub_bytes({}, more={"OEBPS/book.opf": package, "text/café one.xhtml": "<html><p>Found.</p></html>"})
    assert texts(content) == ["Found."]


def test_a_page_that_is_broken_or_missing_leaves_the_others() -> None:
    pages = {
        "a.xhtml": "<html><body></body></html>",
        "b.xhtml": "<p>Unclosed <b>and <i>crossed</b></i>",
        "c.xhtml": " ",
    }
    assert texts(epub_bytes(pages)) == ["Unclosed and crossed"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"META-INF/encryption.xml": ENCRYPTED.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")}, "DRM"),
        ({"META-INF/rights.xml": "<rights/>"}, "DRM"),
        ({"META-INF/license.lcpl": "{}"}, "DRM"),
        ({"META-INF/container.xml": "no xml", "OEBPS/book.opf": "no xml"}, "table of files is missing"),
        ({"OEBPS/book.opf": "<package><spine/></package>"}, "holds no text"),
    ],
)
def test_a_protected_or_broken_book_is_refused_by_name(more: dict[str, bytes | str], says: str) -> None:
    said = refusal(epub_bytes({"a.xhtml": "<p>Words.</p>"}, more=more))
    assert said.startswith("book.epub: ")
    assert says in said


def test_scrambled_fonts_do_not_make_a_protected_book() -> None:
    more = {"META-INF/encryption.xml": ENCRYPTED.format("http://www.idpf.org/2008/embedding")}
    assert texts(epub_bytes({"a.xhtml": "<p>Words.</p>"}, more=more)) == ["Words."]


def test_a_table_of_files_that_is_not_where_it_is_said_is_looked_for() -> None:
    content = epub_bytes({"a.xhtml": "<p>Words.</p>"}, more={"META-INF/container.xml": CONTAINER.replace("book", "x")})
    assert texts(content) == ["Words."]


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub, "MAX_BYTES", 2_000_000)
    one = epub_bytes({"a.xhtml": "<p>" + "a " * 2_000_000 + "</p>"})
    assert len(one) < 20_000
    assert "unpacks to more than" in refusal(one)
    many = epub_bytes({f"{i}.xhtml": "<p>" + "a " * 400_000 + "</p>" for i in range(5)})
    assert "unpacks to more than" in refusal(many)
    monkeypatch.setattr(epub, "MAX_MEMBERS", 5)
    assert "files inside" in refusal(epub_bytes({f"{i}.xhtml": "<p>Words.</p>" for i in range(5)}))


def test_a_size_that_the_archive_lies_about_is_not_believed() -> None:
    words = "<p>" + "a " * 50_000 + "</p>"
    size = len(xhtml(words)).to_bytes(4, "little")
    content = epub_bytes({"a.xhtml": words})
    assert content.count(size) == 2  # in front of the member and in the archive's table
    assert "broken EPUB" in refusal(content.replace(size, (10).to_bytes(4, "little")))


@pytest.mark.parametrize("cut", [10, 100, 300, -60, -10])
def test_an_archive_that_breaks_off_is_refused(cut: int) -> None:
    assert "broken EPUB" in refusal(epub_bytes({"a.xhtml": "<p>Words.</p>"})[:cut])


def test_an_archive_under_a_password_is_refused() -> None:
    content = bytearray(epub_bytes({"a.xhtml": "<p>Words.</p>"}))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        place = archive.getinfo("OEBPS/a.xhtml").header_offset
    content[place + 6] |= 1  # the mark of an encrypted member, in front of it and in the archive's table
    name = content.rfind(b"OEBPS/a.xhtml")
    content[name - 46 + 8] |= 1
    assert "password" in refusal(bytes(content))


def test_an_entity_bomb_in_the_table_of_files_expands_to_nothing() -> None:
    bomb = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    package = (
        f'<!DOCTYPE package [<!ENTITY a0 "x">{bomb}]><package xmlns="http://www.idpf.org/2007/opf">'
        "<metadata><title>T&a11;</title></metadata>"
        '<manifest><item id="p0" href="a.xhtml"/></manifest><spine><itemref idref="p0"/></spine></package>'
    )
    found = epub_extract(epub_bytes({"a.xhtml": "<p>Words.</p>"}, more={"OEBPS/book.opf": package}), "book.epub")
    assert found.title == "T"
