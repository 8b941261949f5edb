"""Which books targets come from."""

from __future__ import annotations

import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.evaluation.book_filter import book_filter
from league_agents.games.q21.rules import COURSE, PRD
from league_agents.kit.errors import ConfigError
from league_agents.knowledge.catalogue import Catalogue


def test_the_parts_of_a_split_hold_each_book_once() -> None:
    titles = [work.title for work in Catalogue.load().works]
    parts = [[title for title in titles if book_filter(f"{part}/3")(title)] for part in (1, 2, 3)]
    assert sorted(title for part in parts for title in part) == sorted(titles)
    assert min(map(len, parts)) > len(titles) / 5
    assert book_filter("1/2")("The Prince") == book_filter("1/2")("the prince")


def test_a_word_of_the_title_is_enough() -> None:
    wanted = book_filter("emma")
    assert wanted("Emma")
    assert not wanted("Persuasion")
    assert book_filter("éméric")("Emeric")


@pytest.mark.parametrize("wrong", ["0/2", "3/2", "  ", "?"])
def test_a_filter_that_means_nothing_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="--books"):
        book_filter(wrong)


@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_targets_come_from_the_wanted_books_alone(rules: object) -> None:
    rules = PRD if rules is PRD else COURSE
    is_wanted = book_filter("1/2")
    whole = Knowledge()
    referee = OfflineReferee(rules=rules, knowledge=whole.only(is_wanted), seed=1)
    drawn = {str(referee.get_round_start_info({"dynamic": {"match_id": f"{n:07d}"}})["book_name"]) for n in range(8)}
    assert drawn
    assert all(map(is_wanted, drawn))
    assert len(whole.only(is_wanted).shelf) < len(whole.shelf)
