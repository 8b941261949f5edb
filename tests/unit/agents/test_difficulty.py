"""Easy and hard matches: which target, and how much its hint tells."""

from __future__ import annotations

from statistics import mean

import pytest

from league_agents.agents.difficulty import DEMANDS, FAMOUS, Difficulty
from league_agents.agents.hints import breaks_hint, chosen_hint, rank_of
from league_agents.agents.library import Knowledge
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.agents.targets import Secret, choose_target, distinctness
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.draw import Draw
from league_agents.knowledge.catalogue import Catalogue
from league_agents.knowledge.documents import make_document

EASY, MEDIUM, HARD = Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD


def targets(knowledge: Knowledge, rules: RuleSet, difficulty: Difficulty, count: int = 12) -> list[Secret]:
    return [choose_target(knowledge, rules, Draw(seed, "target/0101001"), difficulty) for seed in range(count)]


def test_every_famous_title_is_a_work_of_the_catalogue() -> None:
    titles = {work.title for work in Catalogue.load().works}
    assert titles >= FAMOUS
    assert 30 <= len(FAMOUS) <= len(titles) / 3


def test_easy_matches_are_about_famous_works_and_hard_ones_about_others(knowledge: Knowledge) -> None:
    assert all(secret.brief.book_name in FAMOUS for secret in targets(knowledge, PRD, EASY))
    assert not any(secret.brief.book_name in FAMOUS for secret in targets(knowledge, PRD, HARD))


def test_an_easy_opening_is_told_apart_better_than_a_hard_one(knowledge: Knowledge) -> None:
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    bits = {
        difficulty: mean(
            distinctness(secret.reading.sentence, volume)
            for secret in targets(knowledge, COURSE, difficulty)
            if secret.reading.sentence is not None
        )
        for difficulty in Difficulty
    }
    assert bits[EASY] > bits[MEDIUM] > bits[HARD]


@pytest.mark.parametrize("difficulty", Difficulty)
@pytest.mark.parametrize("rules", [PRD, COURSE], ids=lambda rules: rules.name)
def test_at_any_difficulty_the_same_seed_gives_the_same_fair_target(
    rules: RuleSet, difficulty: Difficulty, knowledge: Knowledge
) -> None:
    first, again = (targets(knowledge, rules, difficulty, 4) for _ in range(2))
    assert [secret.brief for secret in first] == [secret.brief for secret in again]
    assert [secret.target for secret in first] == [secret.target for secret in again]
    for secret in first:
        assert not breaks_hint(secret.brief.book_hint, (secret.target.opening_sentence, secret.target.book_name))


def test_of_several_hints_the_one_is_taken_whose_rank_suits() -> None:
    ranks = {"first": 3, "second": 12, "third": 70, "fourth": None}
    hints = list(ranks)
    assert chosen_hint(iter(hints), DEMANDS[EASY], ranks.get) == "first"
    assert chosen_hint(iter(hints), DEMANDS[HARD], ranks.get) == "second"
    assert chosen_hint(iter(["third", "second"]), DEMANDS[EASY], ranks.get) == "second"  # the nearest
    assert chosen_hint(iter(["first"]), DEMANDS[HARD], ranks.get) == "first"
    assert chosen_hint(iter(["fourth"]), DEMANDS[EASY], ranks.get) == "fourth"
    assert chosen_hint(iter([]), DEMANDS[EASY], ranks.get) is None


def test_a_rank_is_counted_in_the_book_or_among_the_books(knowledge: Knowledge) -> None:
    emma = knowledge.work("Emma")
    assert emma is not None
    assert rank_of(knowledge, emma.hint, "Emma", None) == 1
    assert rank_of(knowledge, "quasar photon", "Emma", None) is None
    volume = knowledge.volume("The Village Book")
    assert volume is not None
    sentence = volume.passages[0].opening_sentence
    assert rank_of(knowledge, "quasar photon", "The Village Book", sentence) is None
    assert (rank_of(knowledge, volume.passages[0].text, "The Village Book", sentence) or 99) <= 3


@pytest.mark.parametrize("difficulty", Difficulty)
def test_a_book_of_two_paragraphs_can_be_played_at_any_difficulty(difficulty: Difficulty) -> None:
    text = (
        "# The Shed\n\nThe shed stood behind the house. It held a rake, two spades and a barrel that leaked in spring, "
        "and the children were told never to go in, so they knew it well.\n\nA letter came on Monday. It asked "
        "for the barrel, offered money, and was signed with a name that none of us could read, though we all tried.\n"
    )
    shed = Knowledge(documents=[make_document(text, source="shed.md", markup="markdown")])
    referee = OfflineReferee(rules=COURSE, knowledge=shed, seed=1, difficulty=difficulty)
    start = referee.get_round_start_info({"dynamic": {"match_id": "0101001"}, "service": {}})
    assert start["actual_opening_sentence"] in ("The shed stood behind the house.", "A letter came on Monday.")
