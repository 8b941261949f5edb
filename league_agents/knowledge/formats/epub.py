"""EPUB files: a ZIP archive of XHTML pages and a list with their reading order.

Rule 1: nothing is unpacked to disk, and no name in the archive is used as a path.
Rule 2: every member is read up to a limit, whatever size the archive states; the sum is limited as well.
Rule 3: a protected book is refused with that reason. Obfuscated fonts alone do not count as protection.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.extract import Extract, field, gathered, language_code
from league_agents.knowledge.formats.html import decode_html, html_blocks, main_matter, parse
from league_agents.knowledge.layout import LineBlock

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 30_000_000
MAX_BYTES = 150_000_000
"""Limit for all pages of one book, unpacked."""

_LONGEST_SPINE = 10_000
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_RIGHTS = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
# Font obfuscation by publishers; the text stays readable.
_SCRAMBLED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def epub_extract(content: bytes, source: str) -> Extract:
    """Return the text of an EPUB. Raises DocumentRefused if it is broken, protected, too large, or without text."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Book(archive, source).extract()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError) as error:
        raise DocumentRefused(source, "is a broken EPUB (its archive cannot be read)") from error
    except RuntimeError as error:  # zipfile raises it for a member with a password
        raise DocumentRefused(source, "is protected by a password") from error


class _Book:
    """One archive that is being read."""

    def __init__(self, archive: zipfile.ZipFile, source: str) -> None:
        self._archive = archive
        self._source = source
        self._left = MAX_BYTES
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise DocumentRefused(source, f"has {len(members):,} files inside; at most {MAX_MEMBERS:,} are read")
        self._names = {member.filename for member in members}

    def extract(self) -> Extract:
        package_name = self._package_name()
        package = self._tree(package_name)
        if package is None:
            raise DocumentRefused(self._source, "is a broken EPUB (its table of files is missing)")
        self._check_protection()
        metadata = {
            name: next((text for element in package.iter(name) if (text := _text(element))), None)
            for name in ("title", "creator", "language")
        }
        parts = gathered(self._parts(package, posixpath.dirname(package_name)), self._source)
        return Extract(
            title=field(metadata["title"]),
            author=field(metadata["creator"]),
            language=language_code(metadata["language"]),
            parts=parts,
            pages=None,
        )

    def _package_name(self) -> str:
        container = self._tree(_CONTAINER)
        for each in container.iter("rootfile") if container is not None else ():
            if (name := str(each.get("full-path"))) in self._names:
                return name
        lone = sorted(name for name in self._names if name.endswith(".opf"))
        if not lone:
            raise DocumentRefused(self._source, "is a broken EPUB (it does not say what is in it)")
        return lone[0]

    def _check_protection(self) -> None:
        if any(name in self._names for name in _RIGHTS):
            raise DocumentRefused(self._source, "is protected (DRM) and cannot be read")
        listed = self._tree(_ENCRYPTION)
        if listed is None:
            return
        for entry in listed.iter("EncryptedData"):
            method = next((each.get("Algorithm") or "" for each in entry.iter("EncryptionMethod")), "")
            if method not in _SCRAMBLED_FONTS:
                raise DocumentRefused(self._source, "is protected (DRM) and cannot be read")

    def _parts(self, package: _Element, folder: str) -> Iterator[LineBlock]:
        items = {
            element.get("id") or "": element for element in package.iter("item") if element.get("href") is not None
        }
        spine = list(package.iter("itemref"))[:_LONGEST_SPINE]
        seen: set[str] = set()
        for reference in spine:
            item = items.get(reference.get("idref") or "")
            if item is None or (reference.get("linear") or "").casefold() == "no":
                continue
            if "nav" in (item.get("properties") or "").split():
                continue
            if (item.get("media-type") or _PAGES[0]).casefold() not in _PAGES:
                continue
            name = _member(folder, item.get("href") or "")
            if name not in self._names or name in seen:
                continue
            seen.add(name)
            content = self._read(name)
            if content.strip():
                yield from self._page(content)

    def _page(self, content: bytes) -> Iterator[LineBlock]:
        try:
            yield from html_blocks(main_matter(parse(decode_html(content, self._source), self._source)))
        except DocumentRefused:
            return  # an unreadable page does not prevent reading the others

    def _tree(self, name: str) -> _Element | None:
        """Parse a member as XML without name spaces; ``None`` if it is missing or broken."""
        if name not in self._names:
            return None
        try:
            return parse(decode_html(self._read(name), self._source), self._source, is_xml=True)
        except DocumentRefused:
            return None

    def _read(self, name: str) -> bytes:
        most = min(MAX_MEMBER_BYTES, self._left)
        with self._archive.open(name) as member:
            content = member.read(most + 1)
        if len(content) > most:
            raise DocumentRefused(self._source, f"unpacks to more than {MAX_BYTES // 1_000_000} MB and is not read")
        self._left -= len(content)
        return content


def _member(folder: str, href: str) -> str:
    """Return the archive's name for a link in a page."""
    try:
        path = unquote(urlsplit(href).path)
    except ValueError:
        return ""
    return posixpath.normpath(posixpath.join(folder, path)).lstrip("/")


def _text(element: _Element) -> str:
    return " ".join("".join(element.itertext()).split())
