"""HTML pages of every sort become the parts of a text."""

from __future__ import annotations

import pytest

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.extract import Extract
from league_agents.knowledge.formats.html import html_extract

PAGE = """<!doctype html>
<html lang="en-GB"><head><title>On Tides – A Site</title><meta name="author" content="Ann Writer">
<style>p { color: red }</style><script>var text = "<p>not this</p>";</script></head>
<body>
<nav><a href="/">Home</a> <a href="/tides">Tides</a></nav>
<div class="sidebar">Read also our other pages.</div>
<main>
<h1>On Tides</h1>
<p>The tide came in while the <em>children</em> were
still counting shells&nbsp;&amp; stones<sup><a href="#n1">1</a></sup>.</p>
loose words
<blockquote>Nobody told them.<br>Nobody told the sea.</blockquote>
<div>Inside a division.<p>Inside a paragraph.</p>Behind it.</div>
<ul><li>a list</li></ul><pre>code()</pre><table><tr><td>cell</td></tr></table>
<p hidden>hidden</p><p style="display: none">not displayed</p>
<h2>Contents</h2>
<p>First<br><br>Second</p>
</main>
<footer>All about tides since 1999</footer>
</body></html>"""


def parts_of(page: str | bytes) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in extract(page).parts]


def extract(page: str | bytes) -> Extract:
    return html_extract(page.encode() if isinstance(page, str) else page, "page.html")


def test_the_main_matter_is_taken_and_what_surrounds_it_is_left() -> None:
    assert parts_of(PAGE) == [
        ("heading", "On Tides"),
        ("paragraph", "The tide came in while the children were still counting shells & stones."),
        ("paragraph", "loose words"),
        ("paragraph", "Nobody told them.\nNobody told the sea."),
        ("paragraph", "Inside a division."),
        ("paragraph", "Inside a paragraph."),
        ("paragraph", "Behind it."),
        ("aside", "a list"),
        ("aside", "code()"),
        ("aside", "cell"),
        ("contents", "Contents"),
        ("paragraph", "First"),
        ("paragraph", "Second"),
    ]


def test_title_author_and_language_are_what_the_page_says() -> None:
    found = extract(PAGE)
    assert (found.title, found.author, found.language, found.pages) == ("On Tides", "Ann Writer", "en", None)
    assert extract("<title>Only\n this</title><p>Words.</p>").title == "Only this"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<meta charset="windows-1255"><p>שלום עולם</p>'.encode("cp1255"), "שלום עולם"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-8-i"><p>שלום</p>'.encode("cp1255"),
            "שלום",
        ),
        ('<meta charset="gb2312"><p>话说天下大势</p>'.encode("gb18030"), "话说天下大势"),
        ('<meta charset="Shift_JIS"><p>吾輩は猫である</p>'.encode("cp932"), "吾輩は猫である"),
        ('<meta charset="iso-8859-1"><p>“Café”</p>'.encode("cp1252"), "“Café”"),  # as browsers take it
        ("<p>Curly “quotes”</p>".encode("cp1252"), "Curly “quotes”"),
        ("<p>naïve</p>".encode("utf-8-sig"), "naïve"),
        ("<p>naïve</p>".encode("utf-16"), "naïve"),
        ('<meta charset="utf-16"><p>naïve</p>'.encode(), "naïve"),  # which it cannot be
        ('<meta charset="no-such-thing"><p>naïve</p>'.encode(), "naïve"),
        ('<?xml version="1.0" encoding="windows-1251"?><html><p>Дама</p></html>'.encode("cp1251"), "Дама"),
    ],
)
def test_a_page_is_decoded_as_it_says_and_as_any_text_where_it_says_wrong(page: bytes, text: str) -> None:
    assert parts_of(page) == [("paragraph", text)]


def test_one_broken_byte_in_a_page_that_names_its_encoding_loses_one_letter() -> None:
    page = b'<meta charset="utf-8"><p>' + "שלום ".encode() * 40 + b"\xff</p>"
    assert parts_of(page)[0][1].startswith("שלום שלום")


def test_xhtml_is_read_as_such() -> None:
    page = (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="he"><head><title/><script src="x"/></head>'
        "<body><p>שלום&nbsp;עולם&hellip;</p></body></html>"
    )
    found = extract(page)
    assert ([part.text for part in found.parts], found.language) == (["שלום עולם…"], "he")


def test_an_entity_is_never_expanded() -> None:
    bomb = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    for doctype in (f'<!ENTITY a0 "ha">{bomb}', '<!ENTITY a11 SYSTEM "file:///etc/passwd">'):
        page = (
            f'<!DOCTYPE html [{doctype}]><html xmlns="http://www.w3.org/1999/xhtml"><body><p>x&a11;y</p></body></html>'
        )
        assert parts_of(page) == [("paragraph", "xy")]


@pytest.mark.parametrize(
    "page",
    [
        "<html><body></body></html>",
        "<html><script>only()</script></html>",
        "<div>" * 100_000,
        "<!DOCTYPE html [" + "<" * 100_000,
        "",
        "\x00\x01\x02",
    ],
)
def test_a_page_without_text_is_refused(page: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        extract(page)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_mostly_links_is_navigation_whatever_it_is_called() -> None:
    links = "".join(f'<a href="/{i}">Chapter {i}</a> ' for i in range(20))
    assert parts_of(f"<div>{links}</div><p>The text itself.</p>")[-1] == ("paragraph", "The text itself.")
    assert parts_of(f"<div>{links}</div><p>The text itself.</p>")[0][0] == "aside"
