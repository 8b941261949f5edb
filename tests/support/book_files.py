"""Small PDF and EPUB files made from text, for tests and measurements of those who read them.

The PDF writer knows what the readers must cope with: lines at places, pages, a running head, a page's number. It writes
Latin letters only; a file in Hebrew is a matter for a program that knows fonts.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LEFT, TOP, LEADING, SIZE = 72.0, 720.0, 14.0, 11.0
CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


@dataclass(frozen=True, slots=True)
class Placed:
    """One line of a page, in points from the lower left corner."""

    text: str
    x: float = LEFT
    y: float = TOP
    size: float = SIZE


def lines_of(texts: Iterable[str], *, x: float = LEFT, top: float = TOP, size: float = SIZE) -> list[Placed]:
    """Lines one below the other."""
    leading = LEADING * size / SIZE
    return [Placed(text, x, top - i * leading, size) for i, text in enumerate(texts)]


def pdf_bytes(
    pages: Sequence[Sequence[Placed]],
    *,
    width: float = 612,
    height: float = 792,
    fields: Mapping[str, str] | None = None,
) -> bytes:
    """A PDF file with these lines; ``fields`` are such as Title and Author."""
    objects: list[bytes] = [b"", b""]  # the catalogue and the list of pages, which know the numbers of the others
    font = len(objects) + 1
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    numbers = []
    for page in pages:
        drawn = "\n".join(f"/F {p.size:g} Tf 1 0 0 1 {p.x:g} {p.y:g} Tm ({_escaped(p.text)}) Tj" for p in page)
        stream = f"BT\n{drawn}\nET".encode("cp1252", "replace")
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
        objects.append(
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:g} {height:g}] /Contents {len(objects)} 0 R "
                f"/Resources << /Font << /F {font} 0 R >> >> >>"
            ).encode()
        )
        numbers.append(len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>".encode()
    named = "".join(f"/{key} ({_escaped(value)}) " for key, value in (fields or {}).items())
    objects.append(f"<< {named}>>".encode("cp1252", "replace"))
    return _with_table(objects)


def pdf_of_streams(streams: Sequence[tuple[bytes, bytes]]) -> bytes:
    """A PDF file with a page for each of these content streams, packed as their filters say."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", font]
    numbers = []
    for content, packed in streams:
        objects.append(b"<< /Filter %b /Length %d >>\nstream\n%b\nendstream" % (packed, len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F 3 0 R >> >> >>" % len(objects)
        )
        numbers.append(len(objects))
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(numbers))
    return _with_table([*objects, b"<< >>"])


def _with_table(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        *(len(objects) + 1, len(objects), start),
    )
    return bytes(out)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def epub_bytes(
    pages: Mapping[str, str],
    *,
    title: str = "A Book",
    author: str = "A Writer",
    language: str = "en",
    order: Sequence[str] | None = None,
    more: Mapping[str, bytes | str] | None = None,
) -> bytes:
    """An EPUB: member name -> XHTML, read in ``order``; ``more`` members stand beside them and may replace any."""
    order = list(pages) if order is None else order
    manifest = "".join(
        f'<item id="p{i}" href="{name}" media-type="application/xhtml+xml"/>' for i, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{list(pages).index(name)}"/>' for name in order)
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator><dc:language>{language}</dc:language>"
        f"</metadata><manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    )
    members: dict[str, bytes | str] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        **{f"OEBPS/{name}": xhtml(body) for name, body in pages.items()},
        **(more or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            method = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return buffer.getvalue()


def xhtml(body: str) -> str:
    """A whole page around a body, unless it is one."""
    if body.lstrip().startswith("<"):
        head = body.lstrip()[:5].casefold()
        if head in ("<?xml", "<html", "<!doc"):
            return body
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>page</title></head><body>{body}</body></html>'
    )
