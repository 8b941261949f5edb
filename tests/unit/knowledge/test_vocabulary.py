"""The words of a book's passages, stored when it is added."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from league_agents.knowledge import vocabulary as module
from league_agents.knowledge.documents import make_document
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.knowledge.vocabulary import BookVocabulary, vocabulary_of

TEXTS = ("Emma's mother-in-law sang.", "The sea, the SEA!", "", "海は広い. Über 1801 _waves_.")


def test_a_vocabulary_knows_the_passages_of_each_word_and_survives_storage() -> None:
    made = BookVocabulary.of([vocabulary_of(text) for text in TEXTS])
    for found in (made, BookVocabulary.from_bytes(made.to_bytes())):
        assert found.passages == len(TEXTS)
        assert list(found.words) == sorted(set().union(*map(vocabulary_of, TEXTS)))
        for word in found.words:
            assert found.places(word).tolist() == [i for i, text in enumerate(TEXTS) if word in vocabulary_of(text)]
        assert {"emma", "emma's", "mother-in-law", "law", "海", "über", "1801", "waves"} <= set(found.words)
        assert found.places("whale").size == 0
        assert np.flatnonzero(found.with_any(["sea", "emma", "whale"])).tolist() == [0, 1]


def test_an_empty_vocabulary_can_be_stored() -> None:
    found = BookVocabulary.from_bytes(BookVocabulary.of([]).to_bytes())
    assert (found.passages, found.words) == (0, ())


def test_the_words_are_stored_with_a_book_and_read_anew_in_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "# A Tale\n\n" + "The whale rose out of the sea and looked at the ship for a long while. " * 3
    path = tmp_path / "index.sqlite"
    with KnowledgeIndex(path) as index:
        index.add(make_document(text, source="tale.md", markup="markdown"))
        assert index.vocabulary("A Tale").places("whale").tolist() == [0]
    rows = sqlite3.connect(path)
    rows.execute("UPDATE vocabularies SET content = ?", (BookVocabulary.of([frozenset({"other"})]).to_bytes(),))
    rows.commit()
    rows.close()
    with KnowledgeIndex(path) as index:
        assert index.vocabulary("A Tale").words == ("other",)
        monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
        assert index.vocabulary("A Tale").places("whale").tolist() == [0]
        index.remove("A Tale")
        assert index.vocabulary("A Tale").words == ()
