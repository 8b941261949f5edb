"""Every refusal, its code, and that it changes nothing (arena 3.2, 1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.games.game import Action
from league_agents.games.undercover.game import Undercover

GAME = Undercover()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"description": ""}, "empty_description"),
        ({"description": " \n\t "}, "empty_description"),
        ({"description": "…!? --"}, "empty_description"),  # punctuation says nothing and would never repeat
        ({"description": "\u200b\u2060"}, "empty_description"),
        ({"description": "x" * 201}, "too_long"),
        ({"description": "x" * 100_000}, "too_long"),
        ({"description": "the WORD here"}, "reveals_own_word"),
        ({}, "invalid_data"),
        ({"description": 7}, "invalid_data"),
        ({"description": None}, "invalid_data"),
        ({"description": ["grey"]}, "invalid_data"),
        ({"description": "a\x00b"}, "invalid_data"),
        ({"description": "a\ud800b"}, "invalid_data"),
        ({"description": "grey", "mood": 1}, "invalid_data"),
    ],
)
def test_a_description_is_refused(table: Any, data: dict[str, Any], code: str) -> None:
    t = table(pair=["word", "other"], swap_pair=False)
    assert t.refusal(1, "describe", data).code == code


def test_invalid_data_lists_every_fault_with_its_path(table: Any) -> None:
    t = table()
    refused = t.refusal(1, "describe", {"description": 1, "z": 2, "a/b": 3})
    assert [(error["path"], error["code"]) for error in refused.data["errors"]] == [
        ("/a~1b", "unknown_field"),
        ("/description", "wrong_type"),
        ("/z", "unknown_field"),
    ]


def test_what_is_told_of_a_fault_is_one_line_whatever_the_key(table: Any) -> None:
    refused = table().refusal(1, "describe", {"description": "x", "\n\x1b[2J": 1})
    assert refused.message.startswith("/ is unknown; known: ")
    assert refused.data["errors"][0]["path"] == "/\n\x1b[2J"


def test_the_bounds_of_a_description_are_those_of_the_configuration(table: Any) -> None:
    t = table(max_description=3)
    assert t.refusal(1, "describe", {"description": "grey"}).code == "too_long"
    t.say(1, " abc ")  # what surrounds it does not count
    assert t.state.said[0].description == "abc"


@pytest.mark.parametrize(
    "again", ["Grey, and hungry!", "grey and hungry", "ＧＲＥＹ and\u200b hungry…", "greyandhungry"]
)
def test_a_description_that_was_heard_before_is_refused(table: Any, again: str) -> None:
    t = table()
    t.say(1, "Grey and hungry")
    assert t.refusal(2, "describe", {"description": again}).code == "repeated_description"
    t.say_all()
    t.vote_all(dict.fromkeys((1, 2, 3, 4)))
    assert t.refusal(1, "describe", {"description": again}).code == "repeated_description"  # its own, a round ago


def test_a_description_that_the_speaker_did_not_hear_may_be_made_again(table: Any) -> None:
    t = table()
    t.say(1, "grey", heard_by=[2])
    assert t.refusal(2, "describe", {"description": "grey"}).code == "repeated_description"
    t.say(3, "grey", heard_by=[4])  # refusing it would tell that somebody said it
    assert t.refusal(4, "describe", {"description": "grey"}).code == "repeated_description"


def test_silences_are_no_repeats(table: Any) -> None:
    t = table()
    t.forfeit(1)
    t.forfeit(2)
    t.say(3, "grey")
    assert [entry.description for entry in t.state.said] == ["", "", "grey"]


def test_only_the_speakers_own_word_is_tested(table: Any) -> None:
    t = table()
    assert t.refusal(3, "describe", {"description": f"not a {t.word(3)}"}).code == "reveals_own_word"
    t.say(3, f"not a {t.word(1)}")
    t.say(1, f"like a {t.word(3)}")


def test_both_tests_of_a_description_can_be_switched_off(table: Any) -> None:
    t = table(reject_own_word=False, reject_repeats=False)
    t.say(1, t.word(1))
    t.say(2, t.word(1))
    assert len(t.state.said) == 2


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"vote_number": 9, "reason": "r"}, "unknown_target"),
        ({"vote_number": 0, "reason": "r"}, "unknown_target"),
        ({"vote_number": -1, "reason": "r"}, "unknown_target"),
        ({"vote_number": 10**400, "reason": "r"}, "unknown_target"),
        ({"vote_number": 2, "reason": "r"}, "dead_target"),
        ({"vote_number": 1, "reason": "r"}, "self_vote"),
        ({"vote_number": 3}, "missing_reason"),
        ({"vote_number": 3, "reason": ""}, "missing_reason"),
        ({"vote_number": 3, "reason": " \n"}, "missing_reason"),
        ({"vote_number": None}, "missing_reason"),
        ({"vote_number": 3, "reason": "r" * 4001}, "invalid_data"),
        ({"vote_number": 3, "reason": 5}, "invalid_data"),
        ({"vote_number": True, "reason": "r"}, "invalid_data"),
        ({"vote_number": 3.0, "reason": "r"}, "invalid_data"),
        ({"vote_number": "3", "reason": "r"}, "invalid_data"),
        ({"vote_number": float("nan"), "reason": "r"}, "invalid_data"),
        ({"reason": "r"}, "invalid_data"),
        ({"vote_number": 3, "reason": "r", "why": 1}, "invalid_data"),
        ({}, "invalid_data"),
    ],
)
def test_a_vote_is_refused(table: Any, data: dict[str, Any], code: str) -> None:
    t = table(6, (6,))
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2, 6: 2})
    t.say_all()
    assert t.refusal(1, "vote", data).code == code


def test_a_refused_target_is_answered_with_those_that_there_are(table: Any) -> None:
    t = table()
    t.say_all()
    assert (
        t.refusal(2, "vote", {"vote_number": 9, "reason": "r"}).message == "vote_number must be one of 1, 3, 4, null."
    )


def test_abstaining_is_refused_where_it_is_not_allowed(table: Any) -> None:
    t = table(allow_abstain=False)
    t.say_all()
    assert t.refusal(1, "vote", {"vote_number": None, "reason": "r"}).code == "abstain_not_allowed"
    t.vote_all({1: 2, 2: 1, 3: 1})
    t.forfeit(4)  # a forfeit is an abstention all the same
    assert t.state.round == 2 or t.state.winner is not None


def test_a_revote_is_between_the_tied(table: Any) -> None:
    t = table(5, (3,), tie="revote")
    t.round({1: 2, 2: 1, 3: 2, 4: 1, 5: None})
    assert t.refusal(3, "vote", {"vote_number": 4, "reason": "r"}).code == "not_a_candidate"
    assert t.refusal(1, "vote", {"vote_number": 1, "reason": "r"}).code == "self_vote"


def test_who_owes_nothing_of_the_kind_is_refused(table: Any) -> None:
    t = table(5, (5,))
    vote, describe = {"vote_number": 2, "reason": "r"}, {"description": "grey"}
    assert t.refusal(1, "vote", vote).code == "not_pending"
    t.say(1)
    assert t.refusal(1, "describe", describe).code == "not_pending"
    t.say_all()
    assert t.refusal(1, "describe", describe).code == "not_pending"
    t.vote(1, 2)
    assert t.refusal(1, "vote", vote).code == "not_pending"  # a vote cannot be changed
    t.vote_all({2: 1, 3: 2, 4: 2, 5: 2})
    dead = t.refusal(2, "describe", describe)
    assert (dead.code, dead.message) == ("not_pending", "You are out and owe nothing more.")
    assert t.refusal("stranger", "describe", describe).code == "not_pending"
    assert t.refusal("host", "describe", describe).code == "not_pending"


def test_unknown_actions_foreign_versions_and_late_ones_are_refused(table: Any) -> None:
    t = table()
    assert t.refusal(1, "shout", {}).code == "unknown_action"
    assert t.refusal(1, "describe", {"description": "grey"}, version="2.0.0").code == "unsupported_game_version"
    later = Action(type="describe", data={"description": "grey"}, version="1.7.3")
    assert GAME.apply(t.state, "a1", later).events  # a later minor version is understood
    t.round({1: 3, 2: 3, 3: 1, 4: 3})
    assert t.refusal(1, "describe", {"description": "grey"}).code == "match_over"


def test_no_refusal_holds_a_word_of_the_match(table: Any) -> None:
    t = table()
    for text in (f"a {t.word(1)}", "", "x" * 500):
        refused = t.refusal(1, "describe", {"description": text})
        assert not {t.word(1), t.word(3)} & set(f"{refused.message} {refused.data}".replace(".", " ").split())
