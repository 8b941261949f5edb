"""How well and how fast the knowledge is: hints to passages, files to passages, searches in a large index.

Rule 1: a hint is made from a passage by a seeded draw, so two runs measure the same hints.
Rule 2: time is that of the processor, the child that reads files included: a shared machine gives the figure of one's
own.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from league_agents.agents.hints import passage_hints
from league_agents.agents.word_forms import forms_of
from league_agents.games.q21.rules import COURSE
from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import Document
from league_agents.knowledge.embeddings import Reranker
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.passages import Passage, passages
from league_agents.knowledge.retrieval import Retriever
from league_agents.knowledge.words import STOP_WORDS, content_words, stem, words_of
from tests.support.book_files import LEADING, Placed, epub_bytes, lines_of, pdf_bytes

CUTS = (1, 5, 10)
BOOKS = ("Emma", "Frankenstein", "Moby-Dick", "Persuasion", "Adventures of Huckleberry Finn")
FORMATS = (".pdf", ".epub", ".html", ".md", ".txt")
_WORDS_OF_HINT = 8
_LINES_ON_PAGE = 38
_COLUMNS = 82

HintMaker = Callable[[Sequence[Passage], int, Draw], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How often the passage that a hint was made for is among the first found."""

    hints: int

    at: dict[int, float]
    """Share, by how many of the first count."""


def referee_hint(found: Sequence[Passage], place: int, draw: Draw) -> str | None:
    """What the offline referee says: true of the pages around, and no word of the passage itself."""
    return next(passage_hints(found, place, COURSE, draw), None)


def shortened_hint(found: Sequence[Passage], place: int, draw: Draw) -> str | None:
    """Eight words of the passage in their order, none of its opening sentence, as the rules want it."""
    told = _telling(found[place])
    if len(told) < _WORDS_OF_HINT:
        return None
    kept = sorted(draw.shuffled(range(len(told)))[:_WORDS_OF_HINT])
    return " ".join(told[i] for i in kept)


def paraphrased_hint(found: Sequence[Passage], place: int, draw: Draw) -> str | None:
    """Four words of the passage, in another form where they have one, among four that it does not have."""
    half = _WORDS_OF_HINT // 2
    told = _telling(found[place])
    if len(told) < _WORDS_OF_HINT:
        return None
    kept = [_other_form(word) for word in draw.shuffled(told)[:half]]
    own = content_words(found[place].text)
    strange: list[str] = []
    while len(strange) < half:
        elsewhere = [word for word in _telling(found[draw.below(len(found))]) if stem(word) not in own]
        strange += draw.shuffled(elsewhere)[:1]  # from one passage each: together they mean none
    return " ".join(draw.shuffled([*kept, *strange]))


HINTS: dict[str, HintMaker] = {
    "referee": referee_hint,
    "shortened": shortened_hint,
    "paraphrased": paraphrased_hint,
}


def _telling(passage: Passage) -> list[str]:
    hidden = content_words(passage.opening_sentence) | content_words(passage.book)
    words = (word for word in words_of(passage.text) if word not in STOP_WORDS and len(word) > 2)
    return list(dict.fromkeys(word for word in words if stem(word) not in hidden))


def _other_form(word: str) -> str:
    return next((form for form in sorted(forms_of(word)) if form != word), word)


def measure_recall(
    documents: Sequence[Document],
    maker: HintMaker,
    *,
    hints_per_book: int,
    knows_book: bool,
    reranker: Reranker | None = None,
) -> Recall:
    """Recall over seeded hints for passages of ``documents``, which are in one index with the catalogue beside it.

    ``knows_book``: whether the search is kept to the book, whose name a player is told.
    """
    ranks: list[int | None] = []
    with KnowledgeIndex() as index:
        for document in documents:
            index.add(document)
        retriever = Retriever(index=index, works=Catalogue.load().works)
        for document in documents:
            found = index.passages(document.title)
            draw = Draw("recall", document.title)
            for place in draw.shuffled(range(len(found)))[:hints_per_book]:
                hint = maker(found, place, draw.fork(str(place)))
                if hint is None:
                    continue
                title = document.title if knows_book else None
                hits = retriever.retrieve(hint, max(CUTS), book=title, reranker=reranker)
                wanted = (document.title, found[place].opening_sentence)
                sentences = [(hit.book, hit.opening_sentence) for hit in hits]
                ranks.append(sentences.index(wanted) if wanted in sentences else None)
    count = max(1, len(ranks))
    shares = {cut: sum(rank is not None and rank < cut for rank in ranks) / count for cut in CUTS}
    return Recall(hints=len(ranks), at=shares)


def measure_catalogue_recall(reranker: Reranker | None = None, *, every: int = 1) -> Recall:
    """Whether a work of the catalogue is found by its hint, when all else that is known of it is searched.

    Only each ``every``-th work is looked for, among all of them.
    """
    works = Catalogue.load().works
    retriever = Retriever(works=[evolve(work, hint="") for work in works])
    ranks = []
    for work in works[::every]:
        sentences = [hit.opening_sentence for hit in retriever.retrieve(work.hint, max(CUTS), reranker=reranker)]
        ranks.append(sentences.index(work.opening_sentence) if work.opening_sentence in sentences else None)
    shares = {cut: sum(rank is not None and rank < cut for rank in ranks) / len(ranks) for cut in CUTS}
    return Recall(hints=len(ranks), at=shares)


def invented_document(title: str, passage_count: int, seed: str) -> Document:
    """A book of invented words that occur as often as words do: the n-th commonest a n-th as often as the commonest."""
    draw = Draw(seed, title)
    parts = tuple(LineBlock("paragraph", _invented_paragraph(draw)) for _ in range(passage_count))
    return Document(
        title=title, author=None, language="en", source=title, text="\n\n".join(p.text for p in parts), parts=parts
    )


_VOCABULARY = 30_000
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "wi", "zo", "ka", "li")


def _word(rank: int) -> str:
    """A word for a rank, always the same."""
    letters = []
    rank += 16
    while rank:
        letters.append(_SYLLABLES[rank % 16])
        rank //= 16
    return "".join(letters)


def _invented_word(draw: Draw) -> str:
    # Zipf: the logarithm of the rank is even.
    return _word(int(_VOCABULARY ** (draw.below(1_000_000) / 1_000_000)))


def _invented_paragraph(draw: Draw) -> str:
    sentences = []
    for _ in range(4 + draw.below(3)):
        words = [_invented_word(draw) for _ in range(14 + draw.below(12))]
        sentences.append(f"{words[0].capitalize()} {' '.join(words[1:])}.")
    return " ".join(sentences)


def measure_search(*, passage_count: int, searches: int) -> tuple[float, float]:
    """Median and 95th percentile of the processor time of one search, in seconds."""
    books = max(1, passage_count // 1_000)
    with tempfile.TemporaryDirectory() as folder, KnowledgeIndex(Path(folder) / "bench.db") as index:
        texts = []
        for number in range(books):
            document = invented_document(f"Book {number}", passage_count // books, "search")
            index.add(document)
            texts += [part.text for part in document.parts or ()][:: max(1, 10 * books // 100)]
        draw = Draw("searches", "queries")
        times = []
        for _ in range(searches):
            words = words_of(texts[draw.below(len(texts))])
            query = " ".join(draw.shuffled(words)[:12])
            begin = time.process_time()
            hits = index.search(query)
            times.append(time.process_time() - begin)
            if not hits:
                raise RuntimeError("a search for words of the index found nothing")
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def printed(document: Document) -> list[list[Placed]]:
    """A book on pages: wrapped lines, indented paragraphs, a running head and page numbers."""
    lines: list[tuple[str, float]] = []
    for passage in passages(document):
        wrapped = textwrap.wrap(passage.text, _COLUMNS)
        lines += [(line, 14.0 if i == 0 else 0.0) for i, line in enumerate(wrapped)]
    pages: list[list[Placed]] = []
    for start in range(0, len(lines), _LINES_ON_PAGE):
        page = [
            Placed(text, 72 + indent, 700 - i * LEADING, 11)
            for i, (text, indent) in enumerate(lines[start : start + _LINES_ON_PAGE])
        ]
        number = len(pages) + 1
        pages.append([*lines_of([document.title], top=740, size=8), *page, Placed(str(number), 300, 60, 9)])
    return pages


def measure_ingestion(document: Document, ending: str, *, copies: int) -> float:
    """Pages a minute of one core for files of one format, from the bytes on disk to the index.

    A page is what ``printed`` makes of it, for every format: the same text is in all of them.
    """
    from league_agents.knowledge.corpus import add_files

    pages = printed(document)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number in range(copies):
            # Another title makes another book: the same twice would not be read.
            path = Path(folder) / f"{document.title} {number}{ending}"
            path.write_bytes(_content(document, pages, ending, f"{document.title} {number}"))
            paths.append(path)
        begin = _cpu_s()
        reports = add_files(paths, Path(folder) / "bench.db")
        elapsed = _cpu_s() - begin
    refused = [str(report.error) for report in reports if report.error is not None]
    if refused:
        raise RuntimeError(refused[0])
    return len(pages) * copies / elapsed * 60


def _content(document: Document, pages: Sequence[Sequence[Placed]], ending: str, title: str) -> bytes:
    head = f"This is the copy that is called {title}. It was made to be measured."
    if ending == ".pdf":
        return pdf_bytes([lines_of([head]), *pages], fields={"Title": title})
    texts = [head, *(passage.text for passage in passages(document))]
    body = "".join(f"<p>{_escaped(text)}</p>" for text in texts)
    if ending == ".epub":
        return epub_bytes({"a.xhtml": body}, title=title)
    if ending == ".html":
        return f"<!doctype html><meta charset=utf-8><title>{title}</title><body><h1>{title}</h1>{body}".encode()
    return "\n\n".join([f"# {title}" if ending == ".md" else "", *texts]).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _cpu_s() -> float:
    """Of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
