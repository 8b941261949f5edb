"""Extract the main content of an HTML page, without navigation and other surroundings.

Rule 1: nothing is fetched or expanded: no network, no external entities, no scripts.
Rule 2: the tree is walked without recursion, so deep nesting cannot exhaust the stack.
Rule 3: when in doubt a part is kept; only parts that the page marks as navigation, ornament or code are dropped.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html.entities import html5
from typing import TYPE_CHECKING, cast

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.extract import Extract, field, gathered, language_code
from league_agents.knowledge.headings import CHAPTER_HEADING, CONTENTS_HEADING, LONGEST_HEADING
from league_agents.knowledge.layout import Kind, LineBlock
from league_agents.knowledge.reading import decode_bytes, tidy

if TYPE_CHECKING:
    from lxml.etree import _Element

_META_CHARSET = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_HEAD_BYTES = 4_096
# Browsers read these encoding names as the encodings on the right, because pages use them wrongly.
_MEANT = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-8": "cp1255",
    "iso-8859-8-i": "cp1255",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "x-user-defined": "cp1252",
}
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]{0,2000}(?:\[.{0,200000}?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_DOCTYPE_BEGIN = re.compile("<!DOCTYPE", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,300}\?>")
_NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,40});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HEADINGS = _set_of("h1 h2 h3 h4 h5 h6")
_LEFT_OUT = _set_of(
    "script style noscript template nav form button select textarea input iframe object embed canvas svg audio video "
    "picture img map head title dialog menu rt rp"
)
_ASIDES = _set_of("li dt dd table pre figure figcaption aside math caption")
_BLOCKS = (
    _set_of(
        "p div section article main header footer body html blockquote address center fieldset details summary "
        "hgroup ul ol dl tr td th thead tbody hr"
    )
    | _HEADINGS
    | (_ASIDES - {"math"})
)
_ROLES_LEFT_OUT = _set_of("navigation banner contentinfo search complementary menu doc-toc")
# EPUB (epub:type) and DPUB-ARIA (role) names for parts of a book that are not prose.
_MATTER_LEFT_OUT = _set_of(
    "toc landmarks loi lot page-list copyright-page colophon titlepage halftitlepage cover index bibliography "
    "endnotes footnotes footnote rearnote rearnotes noteref pagebreak other-credits imprint"
)
_CLASSES_LEFT_OUT = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|sidebar|breadcrumbs?|cookie|share|social|advert|ads?|toc|pagination"
    r"|pg-boilerplate|pagenum|pageno|noprint|footnotes?|copyright|skip-link|mw-editsection|reference|reflist)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_MAIN_SHARE = 0.4
"""A ``main`` or an ``article`` with this share of the page's text is its main content."""

_LINK_SHARE = 0.6
"""A block with a larger share of its text inside links is navigation."""


def html_extract(content: bytes, source: str) -> Extract:
    """Return a page's main content. Raises DocumentRefused if it has no text or an unknown encoding."""
    text = decode_html(content, source)
    root = parse(text, source)
    parts = gathered(html_blocks(main_matter(root)), source)
    heading = next((part.text for part in parts[:20] if part.kind == "heading"), None)
    return Extract(
        title=_title(field(heading), field(_first(root, "title"))),
        author=field(_meta(root, "author")),
        language=language_code(root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")),
        parts=parts,
        pages=None,
    )


def _title(heading: str | None, of_page: str | None) -> str | None:
    """Prefer the first heading to the page's ``title``, unless it is only a number: ``Chapter 1``."""
    is_chapter = heading is not None and CHAPTER_HEADING.match(heading) is not None
    return (of_page or heading) if is_chapter else (heading or of_page)


def decode_html(content: bytes, source: str) -> str:
    """Decode by byte order mark, else by the declared encoding, else like plain text."""
    head = content[:_HEAD_BYTES]
    named = _XML_ENCODING.match(head) or _META_CHARSET.search(head)
    has_mark = content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if named and not has_mark and b"\x00" not in head:
        name = named[1].decode("ascii").casefold()
        try:
            # A declaration of UTF-16 that is readable in single bytes must be wrong.
            encoding = "utf-8" if name.startswith(("utf-16", "utf-32")) else _MEANT.get(name, name)
            return tidy(content.decode(encoding), source)
        except (LookupError, UnicodeDecodeError, ValueError):
            pass  # the declaration is wrong: decode like plain text
    try:
        return tidy(decode_bytes(content, source), source)
    except DocumentRefused:
        if not named:
            raise
        # One broken byte in a page that declares its encoding is no reason to refuse the page.
        try:
            text = content.decode(_MEANT.get(name, name), "replace")
        except (LookupError, ValueError):
            raise DocumentRefused(source, f"is in an unknown encoding ({name[:40]}); save it as UTF-8") from None
        if text.count("\ufffd") * 100 > len(text):
            raise
        return tidy(text, source)


def parse(text: str, source: str, *, is_xml: bool = False) -> _Element:
    """Parse as XHTML if possible, otherwise as browsers read HTML; ``is_xml`` accepts XML only."""
    from lxml import etree, html

    bare = _without_doctype(text)
    if is_xml or ("<html" in bare[:_HEAD_BYTES] and "xmlns" in bare[:_HEAD_BYTES]):
        strict = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
            remove_comments=True, remove_pis=True, collect_ids=False,
        )  # fmt: skip
        try:
            # Parsed as HTML, ``<title/>`` and ``<script/>`` would swallow the rest of the page.
            named = _NAMED_ENTITY.sub(_entity, _XML_DECLARATION.sub("", bare, count=1))
            return _without_namespaces(etree.fromstring(named.strip().encode("utf-8", "replace"), strict))
        except etree.XMLSyntaxError as error:
            _pass_on_want_of_memory(error)
            if is_xml:
                raise DocumentRefused(source, f"is no XML that can be read ({_first_line(error)})") from error
    lenient = html.HTMLParser(no_network=True, huge_tree=False, remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        root = html.document_fromstring(bare.encode("utf-8", "replace"), parser=lenient)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        _pass_on_want_of_memory(error)
        raise DocumentRefused(source, f"is no HTML that can be read ({_first_line(error)})") from error
    return cast("_Element", root)


def _without_doctype(text: str) -> str:
    # Matched at the first place only: matching at every place would take quadratic time.
    start = _DOCTYPE_BEGIN.search(text)
    whole = _DOCTYPE.match(text, start.start()) if start is not None else None
    return text if whole is None else text[: whole.start()] + text[whole.end() :]


def main_matter(root: _Element) -> _Element:
    """Return the element with the main content; the page itself if no element stands out."""
    body = next(iter(root.iter("body")), root)
    whole = _length(body)
    for tag in ("main", "article"):
        found = list(body.iter(tag))
        if len(found) == 1 and _length(found[0]) >= _MAIN_SHARE * whole:
            return found[0]
    return body


def html_blocks(top: _Element) -> Iterator[LineBlock]:
    """Yield the parts below an element in order, each with its words on one line."""
    state = _BlockState()
    skipped: _Element | None = None
    for event, element in _walk(top):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            if skipped is not None:
                continue
            if not tag or tag in _LEFT_OUT or (element is not top and _is_left_out(element, tag)):
                skipped = element
                continue
            yield from state.enter(tag)
            state.say(element.text)
        else:
            if skipped is not None:
                if element is not skipped:
                    continue
                skipped = None
            else:
                yield from state.leave(tag)
            if element is not top:
                state.say(element.tail)
    yield from state.flush()


class _BlockState:
    """The words of the current block, and its enclosing elements."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._linked = 0
        self._links = 0
        self._aside = 0
        self._heading = 0

    def enter(self, tag: str) -> Iterator[LineBlock]:
        if tag in _BLOCKS:
            yield from self.flush()
        if tag == "br":
            self._words.append("\n")
        self._aside += tag in _ASIDES
        self._heading += tag in _HEADINGS
        self._links += tag == "a"

    def leave(self, tag: str) -> Iterator[LineBlock]:
        if tag in _BLOCKS:
            yield from self.flush()
        self._aside -= tag in _ASIDES
        self._heading -= tag in _HEADINGS
        self._links -= tag == "a"

    def say(self, text: str | None) -> None:
        if text:
            # A line break in the file is a space; requested line breaks are inserted by ``br``.
            self._words.append(" ".join(text.split("\n")))
            self._linked += len(text.strip()) if self._links > 0 else 0

    def flush(self) -> Iterator[LineBlock]:
        said, linked = "".join(self._words), self._linked
        self._words, self._linked = [], 0
        if not said.strip():
            return
        for paragraph in re.split(r"\n[ \t]*(?:\n[ \t]*)+", said):
            text = "\n".join(" ".join(line.split()) for line in paragraph.split("\n")).strip()
            if text:
                yield LineBlock(self._kind(text, linked / max(1, len(said.strip()))), text)

    def _kind(self, text: str, link_share: float) -> Kind:
        if self._heading > 0:
            if CONTENTS_HEADING.match(text[:LONGEST_HEADING]):
                return "contents"
            return "heading" if len(text) <= 2 * LONGEST_HEADING else "paragraph"
        return "aside" if self._aside > 0 or link_share > _LINK_SHARE else "paragraph"


def _walk(top: _Element) -> Iterator[tuple[str, _Element]]:
    from lxml import etree

    yield from etree.iterwalk(top, events=("start", "end"))


def _is_left_out(element: _Element, tag: str) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if _HIDDEN.search((element.get("style") or "")[:500]):
        return True
    if tag == "sup" and element.find(".//a") is not None:
        return True  # the number of a note
    role = (element.get("role") or "").casefold()
    if role in _ROLES_LEFT_OUT or role.removeprefix("doc-") in _MATTER_LEFT_OUT:
        return True
    matter = element.get("{http://www.idpf.org/2007/ops}type") or element.get("epub:type") or ""
    if _MATTER_LEFT_OUT & set(matter.casefold().split()):
        return True
    if tag in ("header", "footer"):
        parent = element.getparent()
        return parent is not None and parent.tag in ("body", "div") and tag == "footer"
    named = f"{element.get('class') or ''} {element.get('id') or ''}"[:500]
    return tag not in ("body", "main", "article", "p") and _CLASSES_LEFT_OUT.search(named) is not None


def _length(element: _Element) -> int:
    return sum(len(text) for text in element.itertext("p", "li", "h1", "h2", "h3", "div", "span", "td", "em", "i", "a"))


def _without_namespaces(root: _Element) -> _Element:
    for element in root.iter():
        if isinstance(element.tag, str) and "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
    return root


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    # Entities from the page's own document type are dropped, so none of them can be expanded.
    return match[0] if name in _XML_ENTITIES else html5.get(f"{name};", "")


def _first(root: _Element, tag: str) -> str | None:
    found = next(iter(root.iter(tag)), None)
    return None if found is None else "".join(found.itertext())[:2_000]


def _meta(root: _Element, name: str) -> str | None:
    for element in root.iter("meta"):
        if (element.get("name") or "").casefold() == name:
            return str(element.get("content") or "")
    return None


def _pass_on_want_of_memory(error: Exception) -> None:
    """Raise ``MemoryError`` if libxml2 reports a lack of memory as an error in the file."""
    from lxml import etree

    if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
