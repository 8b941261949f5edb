"""A book as read from a file: author, language, and text without a library's additions.

Rule 1: the author's text is not changed; a library's header and footer are removed and, in ``blocks``, layout.
Rule 2: title, author and language given by the caller take precedence over those in the file, and those over a guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from league_agents.kit.errors import LimitExceeded
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.reading import MAX_TEXT_BYTES, decode_text, read_bytes
from league_agents.knowledge.titles import without_attribution

Markup = Literal["plain", "markdown"]
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdown", ".mkd")


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One book."""

    title: str

    author: str | None
    """``None`` if neither the file nor the caller names one."""

    language: str
    """ISO 639-1, or ``und`` if the text has no letters to judge by."""

    text: str

    source: str
    """The origin: the file as the user named it, or ``package version: member``."""

    markup: Markup = "plain"

    parts: tuple[LineBlock, ...] | None = None
    """The parts of the text, from a format that marks its parts; ``None`` if they must be found from the lines."""


def read_document(
    path: Path | str, *, title: str | None = None, author: str | None = None, language: str | None = None
) -> Document:
    """Read a plain text or Markdown file (by its ending). Errors: those of ``read_bytes`` and ``decode_text``."""
    path = Path(path)
    return text_document(read_bytes(path), path=path, title=title, author=author, language=language)


def text_document(
    content: bytes, *, path: Path, title: str | None = None, author: str | None = None, language: str | None = None
) -> Document:
    """Make a document of a file's ``content``. Raises LimitExceeded and the errors of ``decode_text``."""
    if len(content) > MAX_TEXT_BYTES:
        raise LimitExceeded(f"size of the text {path.name} in bytes", len(content), MAX_TEXT_BYTES)
    return make_document(
        decode_text(content, source=str(path)),
        source=str(path),
        markup="markdown" if path.suffix.lower() in MARKDOWN_ENDINGS else "plain",
        title=title,
        author=author,
        language=language,
        fallback_title=title_of_name(path),
    )


def title_of_name(path: Path) -> str:
    """Return the title for a file that does not state one."""
    return re.sub(r"[_\s]+", " ", path.stem).strip() or path.name


def make_document(
    text: str,
    *,
    source: str,
    markup: Markup = "plain",
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
    fallback_title: str | None = None,
) -> Document:
    """Make a document from text; missing values come from a library's header, front matter, a title page or a guess."""
    header, body = _without_library_text(text)
    if not body.strip():
        raise DocumentRefused(source, "holds a library's header and no book")
    fields = {m["key"].lower(): m["value"].strip() for m in _HEADER_FIELD.finditer(header)}
    page_title, page_author = _title_page(body, markup)
    stated_author = author or fields.get("author") or page_author
    bare, named_author = without_attribution(
        fields.get("title") or page_title or fallback_title or source, stated_author
    )
    return Document(
        title=one_line(title or bare),
        author=one_line(stated_author or named_author or "") or None,
        language=language or guess_language(body),
        text=body,
        source=source,
        markup=markup,
    )


def document_of_parts(
    parts: Sequence[LineBlock],
    *,
    source: str,
    title: str | None,
    author: str | None,
    language: str | None = None,
    stated_language: str | None = None,
) -> Document:
    """Make a document of parts, without a library's header and footer.

    ``title`` is the file's own: a library's name and the author are taken off it.

    The file's ``stated_language`` holds unless its letters contradict it: templates write ``en`` in any page.
    """
    kept = _without_library_parts(parts)
    text = "\n\n".join(part.text for part in kept)
    if not text.strip():
        raise DocumentRefused(source, "holds a library's header and no book")
    bare, named_author = without_attribution(title or source, author)
    return Document(
        title=one_line(bare),
        author=one_line(author or named_author or "") or None,
        language=language or _believable(stated_language, guess_language(text)),
        text=text,
        source=source,
        parts=tuple(kept),
    )


def _without_library_parts(parts: Sequence[LineBlock]) -> list[LineBlock]:
    first = 0
    for i, part in enumerate(parts[: max(300, len(parts) // 4)]):
        if _LIBRARY_START.match(part.text + "\n"):
            first = i + 1
    last = next(
        (i for i in range(max(first, len(parts) // 2), len(parts)) if _LIBRARY_END.match(parts[i].text)), len(parts)
    )
    kept = list(parts[first:last])
    while kept and (kept[0].kind != "heading" and _CREDITS.match(kept[0].text + "\n")):
        del kept[0]
    return kept


_WRITTEN_LIKE = {
    "he": {"he", "yi", "lad"},
    "zh": {"zh"},
    "ja": {"ja"},
    "ko": {"ko"},
    "ru": {"ru", "uk", "bg", "sr", "mk", "be", "kk", "mn"},
    "el": {"el"},
    "ar": {"ar", "fa", "ur", "ps"},
    "hi": {"hi", "mr", "ne", "sa"},
}
_NOT_LATIN = frozenset(code for codes in _WRITTEN_LIKE.values() for code in codes)


def _believable(stated: str | None, guessed: str) -> str:
    if stated is None or guessed == "und":
        return stated or guessed
    if guessed in _WRITTEN_LIKE:
        return stated if stated in _WRITTEN_LIKE[guessed] else guessed
    return guessed if stated in _NOT_LATIN else stated


_HEAD = 20_000
_LONGEST_NAME = 200
_HEADER_FIELD = re.compile(
    r"^(?P<key>title|author):[ \t]*[\"']?(?P<value>[^\n]{1,200}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_LIBRARY_START = re.compile(
    r"^[ \t]*\*{3}[ \t]*START OF (?:THIS|THE) PROJECT GUTENBERG[^\n]*\n"
    r"|^[ \t]*\*END[* \t]*THE SMALL PRINT[^\n]*\n",
    re.IGNORECASE | re.MULTILINE,
)
_LIBRARY_END = re.compile(
    r"^[ \t]*(?:\*{3}[ \t]*END OF (?:THIS|THE) PROJECT GUTENBERG"
    r"|End of (?:the |this )?Project Gutenberg)",
    re.IGNORECASE | re.MULTILINE,
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:[^\n]{0,500}\n){1,100}?(?:---|\.\.\.)[ \t]*\n")
_CREDITS = re.compile(
    r"\A\s*(?:(?:(?:This e-?text was |E-?text )?(?:produced|prepared) by|HTML version by|Transcribed (?:from|by)"
    r"|Copyright \(C\)|Note from the original file:|Original Transcriber's Notes:)[^\n]*(?:\n[ \t]*\S[^\n]*)*\n\s*)+",
    re.IGNORECASE,
)
_BY = re.compile(
    r"^\s*_?(?:written\s+)?by:?_?\s+(?P<author>[^\d\n]{3,60}?)(?:\s*[,(]?\s*\(?\d{4}\)?)?\s*$", re.IGNORECASE
)
_MARKDOWN_TITLE = re.compile(r"\A(?:\s|<!--.*?-->)*#\s+(?P<title>[^\n]{1,200}?)\s*#*\s*$", re.MULTILINE | re.DOTALL)


def _without_library_text(text: str) -> tuple[str, str]:
    """Return the text before the book, and the book without a library's footer and transcriber credits."""
    start = 0
    for marker in _LIBRARY_START.finditer(text, 0, max(60_000, len(text) // 4)):
        start = marker.end()
    # The footer is searched for in the second half only: a book may mention the library in its text.
    end = _LIBRARY_END.search(text, max(start, len(text) // 2))
    if front := _FRONT_MATTER.match(text):
        start = max(start, front.end())
    body = text[start : end.start() if end else len(text)]
    credit = _CREDITS.match(body[:_HEAD])
    return text[:start][-_HEAD:], body[credit.end() :] if credit else body


def guess_language(text: str) -> str:
    """Guess by script and, for Latin letters, by the most common words; ``und`` if there are no letters."""
    sample = text[:200] + text[len(text) // 3 : len(text) // 3 + _HEAD]
    scripts = Counter(name for name, pattern in _SCRIPTS for _ in pattern.findall(sample))
    if not scripts:
        return "und"
    # A page of Japanese has more Han than kana, so kana decide once they are more than a quotation.
    if scripts["ja"] * 5 > scripts["zh"] > 0 or (scripts["ja"] and not scripts["zh"]):
        scripts["ja"] += scripts["zh"]
    found = scripts.most_common(1)[0][0]
    if found != "latin":
        return found
    words = Counter(re.findall(r"[^\W\d_]+", sample.casefold()))
    votes = {language: sum(words[word] for word in common) for language, common in _COMMON_WORDS.items()}
    best = max(votes, key=lambda language: votes[language])
    return best if votes[best] else "en"


_SCRIPTS = (
    ("latin", re.compile(r"[A-Za-zÀ-ɏ]")),
    ("he", re.compile(r"[א-ת]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("ar", re.compile(r"[\u0620-\u06ff]")),
    ("hi", re.compile(r"[\u0904-\u0939]")),
)
_COMMON_WORDS = {
    "en": ("the", "and", "of", "to", "was", "that", "with", "his", "it"),
    "fr": ("le", "les", "et", "des", "que", "est", "une", "dans", "il"),
    "de": ("der", "die", "und", "das", "nicht", "ein", "ist", "zu", "den"),
    "es": ("el", "los", "y", "que", "una", "por", "con", "las", "del"),
    "it": ("il", "di", "che", "e", "la", "un", "per", "non", "della"),
    "nl": ("de", "het", "een", "en", "van", "dat", "niet", "zijn", "op"),
    "pt": ("o", "os", "e", "que", "uma", "não", "do", "da", "com"),
    "la": ("et", "in", "est", "non", "ad", "cum", "sed", "quod", "ut"),
}


def _title_page(body: str, markup: Markup) -> tuple[str | None, str | None]:
    """Return title and author from the first lines: a Markdown heading, or ``TITLE`` / ``by`` / ``Author``."""
    if markup == "markdown":
        heading = _MARKDOWN_TITLE.match(body[:_HEAD])
        return (heading["title"] if heading else None), None
    lines = [line.strip() for line in body[:2_000].split("\n") if line.strip()][:8]
    for i, line in enumerate(lines[1:], start=1):
        if line.lower() in {"by", "_by_"} and i + 1 < len(lines):
            line = f"by {lines[i + 1]}"
        if author := _BY.match(line):
            title = " ".join(lines[:i]) if i <= 2 else lines[0]
            return _readable(title), _readable(author["author"])
    return None, None


def _readable(name: str) -> str:
    """Return a name written in capitals in title case; any other name unchanged."""
    name = name.strip(" _*.,;")
    if not name.isupper():
        return name
    small = {"of", "the", "and", "in", "a", "an", "to", "or", "at", "on", "for"}
    words = [word.lower() if word.lower() in small and i else word.title() for i, word in enumerate(name.split())]
    return re.sub(r"(?<=['’])S\b", "s", " ".join(words))


def one_line(name: str) -> str:
    """Return a title or name on one line, as it is stored."""
    return " ".join(name.split())[:_LONGEST_NAME]
