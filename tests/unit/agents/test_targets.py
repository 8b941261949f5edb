"""Which books are played with: the user's own among them, in any language."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.strength import play
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.secret_words import is_supported
from league_agents.agents.targets import Secret, choose_target
from league_agents.agents.word_forms import stands_in
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.draw import Draw
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import make_document
from league_agents.knowledge.index import KnowledgeIndex

ENGLISH = """# The Candle

The candle went out.

Nobody in the house could say who had blown it out, for the door was shut and the window too. My aunt lit another one
and looked under the table, where the dog lay and slept as if nothing had happened at all.

The dog was old and heard little. He had come with the house, my uncle used to say, like the well in the garden and the
creaking of the third stair, and nobody had ever thought of sending him away.

The police came at noon with a horse and a small notebook. They asked my aunt about the candle, my uncle about the
shoe, and me about nothing, which I thought unfair, because I was the one who had seen the man.
"""
HEBREW = """# הילד והים

הילד יצא מן הבית בבוקר.

הילד הלך אל הים וראה סירה קטנה ליד החוף. הדייג ישב בסירה ותיקן את הרשת שלו בשקט. הילד שאל אותו מתי הוא יוצא לים,
והדייג ענה לו שהוא יוצא רק בלילה כאשר הירח מאיר את הדרך.

בערב חזר הילד הביתה וסיפר לאמא שלו על הדייג ועל הסירה. אמא חייכה ואמרה לו שגם סבא היה דייג בצעירותו, ושהוא ידע לספר
סיפורים על דגים גדולים ועל סערות בלב הים הרחוק.
"""
CHINESE = """# 小村

話說有一個少年住在山下的小村。他每天早上起來讀書，晚上點燈寫字，從來不肯休息一天。村裡的人都說他將來一定會做大官，可是他只想知道山的那一邊有什麼東西。

有一天他終於背著一個小包走上山去。路上遇見一位老人，老人問他要到哪裡去，他說要去看山的那一邊。老人笑了一笑，給他一盞燈，說夜裡的路很長。
"""
OPENINGS = {
    "The Candle": "The candle went out.",
    "הילד והים": "הילד יצא מן הבית בבוקר.",
    "小村": "話說有一個少年住在山下的小村。",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path = tmp_path_factory.mktemp("own") / "knowledge.db"
    with KnowledgeIndex(path) as index:
        for text in (ENGLISH, HEBREW, CHINESE):
            index.add(make_document(text, source="own.md", markup="markdown"))
    return Knowledge.open(path)


def targets(knowledge: Knowledge, rules: RuleSet, count: int = 60) -> list[Secret]:
    return [choose_target(knowledge, rules, Draw(seed, "target/0101001")) for seed in range(count)]


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_about_every_second_match_is_about_a_book_of_the_users_in_whatever_language(
    own: Knowledge, rules: RuleSet
) -> None:
    drawn = Counter(secret.target.book_name for secret in targets(own, rules))
    assert all(drawn[title] >= 4 for title in OPENINGS)
    assert 20 <= sum(drawn[title] for title in OPENINGS) <= 40


def test_under_openings_the_target_is_the_first_sentence_of_the_users_book(own: Knowledge) -> None:
    for secret in targets(own, PRD):
        if secret.target.book_name in OPENINGS:
            assert secret.target.opening_sentence == OPENINGS[secret.target.book_name]
            assert secret.reading.sentence is not None
            assert secret.reading.paragraph is not None


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_neither_the_name_nor_the_hint_of_a_book_holds_its_secret_word(own: Knowledge, rules: RuleSet) -> None:
    for secret in targets(own, rules):
        if secret.target.book_name in OPENINGS:
            shown = f"{secret.brief.book_name} {secret.brief.book_hint}".casefold().replace(".", " ").split()
            assert not stands_in(secret.target.associative_word, shown)
            assert secret.target.associative_word in own.words_of(secret.brief.association_domain)


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_a_player_finds_what_is_hidden_in_a_users_book(own: Knowledge, rules: RuleSet) -> None:
    referee = OfflineReferee(rules=rules, knowledge=own, seed=1)
    player = OfflinePlayer(rules=rules, knowledge=own, seed=2)
    played = [play(referee, player, match_id=f"01{n:02}001") for n in range(8)]
    assert {game.book_name for game in played} & OPENINGS.keys()
    assert all(game.is_sentence_right and game.is_word_right for game in played)


def test_a_users_copy_of_a_known_work_begins_as_the_work_does(tmp_path: Path) -> None:
    emma = Catalogue.load().find("Emma")
    assert emma is not None
    text = f"A preface by somebody else.\n\n{emma.opening_sentence} She had a cat.\n\n{ENGLISH.partition(chr(10))[2]}"
    path = tmp_path / "knowledge.db"
    with KnowledgeIndex(path) as index:
        index.add(make_document(text, source="emma.txt", title="Emma"))
    secrets = [each for each in targets(Knowledge.open(path), PRD, 12) if each.target.book_name == "Emma"]
    assert secrets
    assert {each.target.opening_sentence for each in secrets} == {emma.opening_sentence}
    for each in secrets:
        text = each.reading.paragraph
        assert text is not None
        assert is_supported(each.target.associative_word, text)


def test_every_secret_word_is_one_that_its_opening_supports_where_one_does(own: Knowledge) -> None:
    for secret in targets(own, PRD):
        text = secret.reading.paragraph or secret.reading.sentence
        assert text is not None
        assert is_supported(secret.target.associative_word, text), secret.target


def test_a_book_whose_opening_supports_no_word_is_played_with_only_if_there_is_no_other(tmp_path: Path) -> None:
    silent = "Who is there, and why do you not answer?"
    said = ENGLISH.partition("\n\n")[2].replace("The candle went out.", silent)
    path = tmp_path / "knowledge.db"
    with KnowledgeIndex(path) as index:
        index.add(make_document(said, source="silent.txt", title="Silent"))
    alone = Knowledge.open(path)
    assert "Silent" in {secret.target.book_name for secret in targets(alone, PRD, 8)}
    with KnowledgeIndex(path) as index:
        index.add(make_document(ENGLISH, source="own.md", markup="markdown"))
    drawn = {secret.target.book_name for secret in targets(Knowledge.open(path), PRD, 16)}
    assert "The Candle" in drawn
    assert "Silent" not in drawn


def test_without_books_of_the_users_the_others_are_played_with(knowledge: Knowledge) -> None:
    assert {secret.target.book_name for secret in targets(knowledge, COURSE, 5)} == {"The Village Book"}
