"""The books that an agent knows, their passages, and searching them."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.knowledge import full_text
from league_agents.knowledge.documents import Document, make_document
from league_agents.knowledge.failures import DocumentRefused, IndexUnusable, UnknownBook
from league_agents.knowledge.index import AddOutcome, KnowledgeIndex
from league_agents.knowledge.layout import LineBlock
from league_agents.knowledge.lectures import lectures
from league_agents.knowledge.passages import Passage, Reading

WHALES = """CHAPTER I

The whale rose slowly beside the ship that morning. Every man on deck had seen it, and none of them dared to speak
before the captain did, for whales of that size were rare.

CHAPTER II

In the café of the old town sat two men with their hats on. They talked of nothing but Zürich, its lakes and its
naïve bankers, until the waiter put the lamps out one by one.
"""
CHINESE = (
    "話說天下大勢，分久必合，合久必分。周末七國分爭，并入於秦。"
    "及秦滅之後，楚、漢分爭，又并入於漢。漢朝自高祖斬白蛇而起義。"
)
HEBREW = (
    "בְּרֵאשִׁית בָּרָא אֱלֹהִים את השמים ואת הארץ. והארץ היתה תהו ובהו וחשך על פני תהום, "
    'ורוח אלהים מרחפת על פני המים. ויאמר אלהים יהי אור ויהי אור, וכך כתב ד"ר לוי.'
)


def book(text: str = WHALES, title: str = "Whales", author: str | None = "Ann Writer") -> Document:
    return make_document(text, source="test.txt", title=title, author=author)


def test_a_book_that_was_added_is_found_with_its_passages() -> None:
    with KnowledgeIndex() as index:
        report = index.add(book())
        assert (report.outcome, report.title, report.passages) == (AddOutcome.ADDED, "Whales", 2)
        assert [(b.title, b.author, b.language, b.passages, b.words) for b in index.books()] == [
            ("Whales", "Ann Writer", "en", 2, report.words)
        ]
        found = index.book("the WHALES")
        assert found is not None
        assert found.opening_sentence == "The whale rose slowly beside the ship that morning."
        assert [(p.book, p.chapter, p.position) for p in index.passages(found)] == [
            ("Whales", "CHAPTER I", 1),
            ("Whales", "CHAPTER II", 2),
        ]
        assert index.passages("Whales") == index.passages(found)
        assert index.passages("Sharks") == []
        assert index.book("Sharks") is None


def test_the_same_text_twice_is_a_no_op_and_says_so_even_under_another_name() -> None:
    with KnowledgeIndex() as index:
        first = index.add(book())
        again = index.add(book(title="Another Name"))
        assert again == replace(first, outcome=AddOutcome.UNCHANGED)
        assert [b.title for b in index.books()] == ["Whales"]


def test_two_who_add_the_same_text_at_once_replace_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with KnowledgeIndex(tmp_path / "k.db") as first, KnowledgeIndex(tmp_path / "k.db") as second:
        usual = Reading.passages

        def while_another_adds(reading: Reading, **bounds: int) -> list[Passage]:
            monkeypatch.setattr(Reading, "passages", usual)
            assert second.add(book()).outcome is AddOutcome.ADDED
            return usual(reading, **bounds)

        monkeypatch.setattr(Reading, "passages", while_another_adds)
        report = first.add(book())
        assert report.outcome is AddOutcome.UNCHANGED
        assert report.passages == 2
        assert len(first.books()) == 1


def test_a_changed_text_under_the_same_title_replaces_the_book_and_its_words() -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        report = index.add(book(WHALES.replace("whale", "shark"), title="WHALES"))
        assert report.outcome is AddOutcome.REPLACED
        assert [b.title for b in index.books()] == ["WHALES"]
        assert index.search("whale") == []
        assert len(index.search("shark")) == 1


def test_another_authors_book_of_the_same_title_is_not_overwritten() -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        with pytest.raises(DocumentRefused, match="Ann Writer has the same title"):
            index.add(book(WHALES.replace("whale", "shark"), author="Bob Byron"))
        assert len(index.search("whale")) == 1


def test_a_text_without_passages_or_title_is_refused_and_leaves_nothing_behind() -> None:
    with KnowledgeIndex() as index:
        with pytest.raises(DocumentRefused, match="needs paragraphs of 25 words or more"):
            index.add(book("Short. Too short.\n"))
        with pytest.raises(DocumentRefused, match="no title; give one with --title"):
            index.add(book(title="?!"))
        assert index.books() == []


def test_removing_takes_the_words_out_too_and_only_by_the_very_title() -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        with pytest.raises(UnknownBook, match="did you mean Whales") as unknown:
            index.remove("Whale")
        assert unknown.value.known == ("Whales",)
        assert index.remove("the whales").title == "Whales"
        assert index.search("whale") == []
        assert index.books() == []
        assert index.add(book()).outcome is AddOutcome.ADDED


@pytest.mark.parametrize(
    ("query", "opening"),
    [
        ("Where was the whale?", "The whale rose"),
        ("whales", "The whale rose"),
        ("zurich", "In the café"),
        ("cafe ZÜRICH", "In the café"),
    ],
)
def test_search_finds_words_whatever_their_form_case_or_accents(query: str, opening: str) -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        assert index.search(query)[0].passage.opening_sentence.startswith(opening)


def test_search_knows_chinese_and_hebrew() -> None:
    with KnowledgeIndex() as index:
        index.add(book(CHINESE, "三國演義", None))
        index.add(book(HEBREW, "בראשית", None))
        assert [hit.passage.book for hit in index.search("天下大勢如何")] == ["三國演義"]
        assert [hit.passage.book for hit in index.search("ברא")] == ["בראשית"]
        assert [hit.passage.book for hit in index.search('ד"ר לוי')] == ["בראשית"]
        assert index.search("紅樓") == []
        index.remove("三國演義")
        assert index.search("天下大勢") == []


def test_better_hits_come_first_and_the_search_can_be_kept_to_one_book() -> None:
    with KnowledgeIndex() as index:
        for lecture in lectures():
            index.add(lecture)
        hits = index.search("pivot of quicksort in a sorted list", limit=5)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert "pivot" in hits[0].passage.text
        assert {hit.passage.book for hit in index.search("message letter", 50, book="Lecture 2: Sorting")} <= {
            "Lecture 2: Sorting"
        }
        assert len(index.search("the message", limit=3)) == 3
        assert index.search("message", limit=0) == []


HOSTILE = [
    '"', "'", "*", "whale*", "NEAR(a b)", "a AND", "OR", "NOT", "words:whale", "^whale", "(", '"whale', "-whale", "+",
    "\x00whale", "'; DROP TABLE books; --", "whale\ud800", "", "   ", "whale " * 10_000, 'צה"ל"', "AND OR NOT NEAR",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_syntax(query: str) -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        index.search(query)
        assert len(index.books()) == 1


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_a_search(query: str) -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        assert all(hit.score > -1 for hit in index.search(query))


def test_what_was_added_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "knowledge.db"
    with KnowledgeIndex(path) as index:
        index.add(book())
    with KnowledgeIndex(path) as index:
        assert [b.title for b in index.books()] == ["Whales"]
        assert index.add(book()).outcome is AddOutcome.UNCHANGED


def test_threads_share_one_index() -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            index.add(book(WHALES.replace("whale", f"whale{number}"), title=f"Book {number}"))
            assert len(index.search(f"whale{number}")) == 1
            assert index.passages(f"Book {number}")
        except BaseException as error:  # a thread's failure must reach the test
            failures.append(error)

    with KnowledgeIndex() as index:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(index.books()) == 8


def test_a_reader_sees_what_another_connection_committed(tmp_path: Path) -> None:
    with KnowledgeIndex(tmp_path / "k.db") as one, KnowledgeIndex(tmp_path / "k.db") as other:
        one.add(book())
        assert [b.title for b in other.books()] == ["Whales"]


def test_a_file_that_is_no_index_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "novel.txt"
    text.write_text("This is no database. " * 100)
    with pytest.raises(IndexUnusable, match="damaged or no index"):
        KnowledgeIndex(text)
    assert text.read_text().startswith("This is no database.")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(IndexUnusable, match="another program's"):
        KnowledgeIndex(foreign)
    with pytest.raises(IndexUnusable, match="cannot be opened"):
        KnowledgeIndex(tmp_path)


def test_an_index_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    KnowledgeIndex(path).close()
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO migrations (version) VALUES (999)")
    connection.commit()
    connection.close()
    with pytest.raises(IndexUnusable, match="newer version"):
        KnowledgeIndex(path)


def test_a_closed_index_says_so() -> None:
    index = KnowledgeIndex()
    index.close()
    index.close()
    with pytest.raises(IndexUnusable, match="is closed"):
        index.books()


def test_the_first_sentence_is_kept_although_its_paragraph_is_no_passage() -> None:
    with KnowledgeIndex() as index:
        index.add(book(WHALES.replace("The whale", "It began at sea.\n\nThe whale", 1)))
        opening = index.opening("Whales")
        assert opening is not None
        assert (opening.opening_sentence, opening.text, opening.position) == ("It began at sea.",) * 2 + (0,)
        assert [b.opening_sentence for b in index.books()] == ["It began at sea."]
        assert index.opening("Nothing") is None


def test_a_book_of_an_older_index_begins_with_its_first_passage_until_it_is_added_again(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    text = WHALES.replace("The whale", "It began at sea.\n\nThe whale", 1)
    with KnowledgeIndex(path) as index:
        index.add(book(text))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE books SET opening_sentence = NULL, opening_paragraph = NULL")
    connection.commit()
    connection.close()
    with KnowledgeIndex(path) as index:
        opening = index.opening("Whales")
        assert opening is not None
        assert opening.opening_sentence == "The whale rose slowly beside the ship that morning."
        assert index.books()[0].opening_sentence == opening.opening_sentence
        assert index.add(book(text)).outcome is AddOutcome.UNCHANGED
        assert index.books()[0].opening_sentence == "It began at sea."


FIRST_VERSION = """
    PRAGMA application_id = 1279740738;
    CREATE TABLE migrations (version INTEGER PRIMARY KEY);
    INSERT INTO migrations VALUES (1);
    CREATE TABLE books (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, title_key TEXT NOT NULL UNIQUE, author TEXT,
        language TEXT NOT NULL, source TEXT NOT NULL, content_hash TEXT NOT NULL UNIQUE, words INTEGER NOT NULL
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE,
        position INTEGER NOT NULL, chapter TEXT, text TEXT NOT NULL, opening_sentence TEXT NOT NULL,
        UNIQUE (book_id, position)
    );
    CREATE VIEW shelf AS SELECT b.title, b.author, b.language, b.source, b.words, 1, '', b.id, b.title_key,
        b.content_hash FROM books b;
    CREATE VIRTUAL TABLE passage_words USING fts5 (
        words, content = '', tokenize = "porter unicode61 remove_diacritics 2"
    );
    INSERT INTO books VALUES (1, 'Whales', 'whales', NULL, 'en', 'whales.md', 'x', 9);
    INSERT INTO books VALUES (2, 'תקשורת', 'תקשורת', NULL, 'he', 'lecture.txt', 'y', 5);
    INSERT INTO passages VALUES (1, 1, 1, NULL, 'The whale rose. It sank again.', 'The whale rose.');
    INSERT INTO passages VALUES (2, 2, 1, NULL, 'הפרוטוקולים נשלחים. כך זה עובד.', 'הפרוטוקולים נשלחים.');
    INSERT INTO passage_words (rowid, words) VALUES (1, 'The whale rose. It sank again.');
    INSERT INTO passage_words (rowid, words) VALUES (2, 'הפרוטוקולים נשלחים. כך זה עובד.');
"""


def test_an_index_of_the_first_version_is_brought_up_to_date_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_VERSION)
    connection.close()
    with KnowledgeIndex(path) as index:
        whales, lecture = index.books()
        assert (whales.title, whales.opening_sentence) == ("Whales", "The whale rose.")
        assert index.statistics().formats == {"markdown": 1, "text": 1}
        assert index.statistics().schema == 5
        assert index.vocabulary("Whales").places("whale").tolist() == [0]
        assert [hit.passage.book for hit in index.search("whales")] == ["Whales"]
        assert [hit.passage.book for hit in index.search("פרוטוקול")] == [lecture.title]
        index.remove("Whales")
        assert index.search("whales") == []
    with KnowledgeIndex(path) as index:
        assert [b.title for b in index.books()] == [lecture.title]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("הפרוטוקולים נשלחים בחבילות קטנות. כך עובדת הרשת.", "פרוטוקול"),
        ("פרוטוקול הוא הסכם. כך עובדת הרשת.", "לפרוטוקולים"),
        ("吾輩は縁の下の猫である。名前はまだ無い。", "猫である"),
        ("나는 고양이로소이다. 이름은 아직 없다.", "고양이"),
        ("ฉันรักแมวมาก แมวก็รักฉัน", "แมว"),
        ("Дама с собачкой гуляла по набережной. Никто не знал её.", "собачкой"),
    ],
)
def test_words_are_found_in_scripts_that_do_not_divide_them(text: str, query: str) -> None:
    document = Document(
        title="One", author=None, language="und", text=text, source="s", parts=(LineBlock("paragraph", text),)
    )
    with KnowledgeIndex() as index:
        index.add(document, min_words=1, min_sentences=1)
        index.add(book())
        assert [hit.passage.book for hit in index.search(query)] == ["One"]
        index.remove("One")
        assert index.search(query) == []


def test_how_many_passages_have_a_word_is_known_in_all_its_forms() -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        assert index.frequencies(["whale", "ship", "café", "nowhere", "the", "ship's"]) == [1, 1, 1, 0, 2, 0]
        assert index.frequencies([]) == []
        assert index.size == 2


def test_frequent_words_order_what_rarer_ones_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"The boat number{i} lay there. It was a boat of {'oak' if i % 2 else 'pine'}." for i in range(40)]
    parts = tuple(LineBlock("paragraph", text) for text in texts)
    document = Document(title="Boats", author=None, language="en", text=" ".join(texts), source="s", parts=parts)
    with KnowledgeIndex() as index:
        index.add(document, min_words=1, min_sentences=1)
        query = "oak boat number8 number9"
        exact = [hit.passage.position for hit in index.search(query, 2)]
        monkeypatch.setattr(full_text, "MOST_POSTINGS", 10)
        assert [hit.passage.position for hit in index.search(query, 2)] == exact == [10, 9]


def test_a_part_of_a_book_is_fetched_by_its_places() -> None:
    with KnowledgeIndex() as index:
        index.add(book())
        assert [passage.position for passage in index.passages_at("Whales", [2, 7, 2, 0])] == [2]
        assert index.passages_at("Sharks", [1]) == []


def test_what_was_counted_is_counted_again_when_anybody_changed_the_file(tmp_path: Path) -> None:
    with KnowledgeIndex(tmp_path / "k.db") as one, KnowledgeIndex(tmp_path / "k.db") as other:
        assert (one.frequencies(["whale"]), one.size) == ([0], 0)
        other.add(book())
        assert (one.frequencies(["whale"]), one.size) == ([1], 2)
        one.remove("Whales")
        assert (one.frequencies(["whale"]), one.size) == ([0], 0)
        assert (other.frequencies(["whale"]), other.size) == ([0], 0)
