"""Find the passages and works that a hint may mean, best first.

Rule 1: a hint seldom shares words with its target, so a passage is scored by the pages around it as well.
Rule 2: one scale for all sources: word rarity is counted over the index, the other books and the catalogue together, so
that scores are comparable.
Rule 3: a hint is untrusted text: it is cut before it is parsed, and it has no syntax.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from league_agents.kit.values import evolve
from league_agents.knowledge.catalogue import Work
from league_agents.knowledge.embeddings import Reranker
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.search_words import query_words, search_words
from league_agents.knowledge.titles import title_key
from league_agents.knowledge.words import stem

MAX_HINT_CHARACTERS = 2_000
MAX_TERMS = 64

_POOL = 60
"""Number of index passages that are scored again with their neighbours."""

_NEAR = ((0, 1.0), (1, 0.7), (2, 0.5), (3, 0.3))
"""Distance in passages and a word's weight there: measured on hints of three kinds, see ``testing.retrieval``."""

_SHOWN_SHARE = 0.1
"""Weight of a word of the opening sentence itself: a referee may not use it in a hint."""

RERANKED = 60
"""Number of top results that are ranked by meaning; each new one costs about ten milliseconds."""

_MEANING = 1.5
"""Weight of meaning against words, whose best score is 1: measured on hints of works, see ``testing.retrieval``."""

_SATURATION = 1.2
_LENGTH_SHARE = 0.75
"""BM25's k1 and b, as in SQLite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """A sentence that a hint may mean."""

    book: str
    """The title."""

    opening_sentence: str
    """Exactly as in the book or the catalogue."""

    text: str
    """The paragraph; for a work of the catalogue, its known facts."""

    score: float
    """Larger is better; comparable within one hint only."""


@dataclass(frozen=True, slots=True)
class _Page:
    """The unit of scoring: a passage with neighbours, or a work without."""

    passage: Passage
    """For a work: its opening, whose ``text`` holds its known facts."""

    counts: Mapping[str, int]
    """Stem -> number of occurrences."""

    shown: frozenset[str]
    """The stems of the opening sentence."""

    length: int


class Retriever:
    """Search passages of the index, other books in memory, and works of the catalogue. May be shared by threads."""

    def __init__(
        self, *, index: KnowledgeIndex | None = None, passages: Sequence[Passage] = (), works: Sequence[Work] = ()
    ) -> None:
        """``passages`` are those of whole books, in the order of the text."""
        self._index = index
        self._pages = {(title_key(p.book), p.position): _page(p, p.text) for p in passages}
        # A work's page is not adjacent to any passage: its position precedes the first.
        for work in works:
            self._pages[(f"\n{title_key(work.title)}\n{title_key(work.author)}", 0)] = _work_page(work)
        self._places: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for place, page in self._pages.items():
            for term in page.counts:
                self._places[term].append(place)
        total = sum(page.length for page in self._pages.values())
        self._mean_length = total / len(self._pages) if self._pages else 100.0

    def retrieve(
        self, hint: str, limit: int = 10, *, book: str | None = None, reranker: Reranker | None = None
    ) -> list[Retrieved]:
        """Return likely meanings of ``hint``, best first, each sentence once; ``book`` restricts them to that title.

        Empty if the hint shares no word with any page. A ``reranker`` reorders the first ``RERANKED``.
        """
        words = query_words(hint[:MAX_HINT_CHARACTERS], MAX_TERMS)
        if not words or limit < 1:
            return []
        terms = {stem(word) for word in words}
        pages = self._reachable(hint, terms, book, limit)
        rarity = self._rarity(words)
        best: dict[tuple[str, str], Retrieved] = {}
        for key, page in pages.items():
            score = self._score(key, pages, rarity)
            if score <= 0 or (page.passage.book and book and title_key(page.passage.book) != title_key(book)):
                continue
            found = Retrieved(
                book=page.passage.book,
                opening_sentence=page.passage.opening_sentence,
                text=page.passage.text,
                score=round(score, 4),
            )
            same = (title_key(found.book), found.opening_sentence)
            if same not in best or best[same].score < found.score:
                best[same] = found
        ranked = sorted(best.values(), key=_by_score)
        if reranker is not None:
            ranked[:RERANKED] = _reranked(hint, ranked[:RERANKED], reranker)
        return ranked[:limit]

    def _reachable(self, hint: str, terms: Iterable[str], book: str | None, limit: int) -> dict[tuple[str, int], _Page]:
        """Return every page that contains a term of the hint, and its neighbours."""
        hit = {place for term in terms for place in self._places.get(term, ())}
        found = {place: self._pages[place] for place in _with_neighbours(hit) if place in self._pages}
        if self._index is not None:
            places: dict[str, set[int]] = defaultdict(set)
            for each in self._index.search(hint, max(_POOL, limit), book=book):
                places[each.passage.book].add(each.passage.position)
            for title, positions in places.items():
                wanted = [position for _, position in _with_neighbours({("", number) for number in positions})]
                for passage in self._index.passages_at(title, wanted):
                    found[title_key(title), passage.position] = _page_of(passage)
        return found

    def _rarity(self, words: Sequence[str]) -> dict[str, float]:
        """Return stem -> its BM25 weight over all sources."""
        pages = len(self._pages)
        in_index: Sequence[int] = [0] * len(words)
        if self._index is not None:
            pages += self._index.size
            in_index = self._index.frequencies(words)
        counts = {stem(word): len(self._places.get(stem(word), ())) for word in words}
        for word, count in zip(words, in_index, strict=True):
            counts[stem(word)] += count
        return {term: max(0.05, math.log((pages - n + 0.5) / (n + 0.5))) for term, n in counts.items()}

    def _score(
        self, place: tuple[str, int], pages: Mapping[tuple[str, int], _Page], rarity: Mapping[str, float]
    ) -> float:
        """Return BM25 over the page and its neighbours: each word counts at its highest weight."""
        strongest: dict[str, float] = {}
        for distance, share in _NEAR:
            for sign in (1, -1) if distance else (1,):
                page = pages.get((place[0], place[1] + sign * distance))
                if page is None:
                    continue
                norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * page.length / self._mean_length)
                for term in rarity:
                    if count := page.counts.get(term, 0):
                        strength = share * count * (_SATURATION + 1) / (count + norm)
                        if distance == 0 and term in page.shown:
                            strength *= _SHOWN_SHARE
                        strongest[term] = max(strongest.get(term, 0.0), strength)
        return sum(rarity[term] * strength for term, strength in strongest.items())


def _by_score(found: Retrieved) -> tuple[float, str, str]:
    return -found.score, found.book, found.opening_sentence


def _reranked(hint: str, ranked: Sequence[Retrieved], reranker: Reranker) -> list[Retrieved]:
    """Order by words and meaning; the scores do not increase and stay above those of the remaining results."""
    if len(ranked) < 2:
        return list(ranked)
    best, least = ranked[0].score, ranked[-1].score
    nearness = reranker.likeness(hint[:MAX_HINT_CHARACTERS], [f"{each.book}. {each.text}" for each in ranked])
    merits = [each.score / best + _MEANING * near for each, near in zip(ranked, nearness, strict=True)]
    low, high = min(merits), max(merits)
    span = (best - least) / (high - low) if high > low else 0.0
    judged = [
        evolve(each, score=round(least + (merit - low) * span, 4)) for each, merit in zip(ranked, merits, strict=True)
    ]
    return sorted(judged, key=_by_score)


def _with_neighbours(places: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    reach = _NEAR[-1][0]
    seen = set()
    for key, number in places:
        for other in range(max(0, number - reach), number + reach + 1):
            if (key, other) not in seen:
                seen.add((key, other))
                yield key, other


@lru_cache(maxsize=4096)
def _page_of(passage: Passage) -> _Page:
    """Return the page of an index passage, cached because several hints may score it."""
    return _page(passage, passage.text)


def _page(passage: Passage, text: str) -> _Page:
    counts = Counter(stem(word) for word in search_words(text))
    shown = frozenset(stem(word) for word in search_words(passage.opening_sentence))
    return _Page(passage=passage, counts=counts, shown=shown, length=sum(counts.values()))


def _work_page(work: Work) -> _Page:
    known = " ".join((*work.facts, work.hint))
    passage = Passage(work.title, None, 0, known, work.opening_sentence)
    named = " ".join((work.title, work.english_title or "", work.author, work.opening_sentence))
    words = " ".join(each.word for each in work.words)
    # A work's facts may contain words of its opening; they count fully all the same.
    return evolve(_page(passage, f"{named} {known} {words}"), shown=frozenset())
