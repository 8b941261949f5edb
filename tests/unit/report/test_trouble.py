"""Warnings in words for people."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from league_agents.journal.port import Note
from league_agents.report.trouble import MOST, plain_warning, troubles

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)


def warning(text: object, kind: str = "warning") -> Note:
    return Note(at=NOON, kind=kind, key="callback_failed", facts={"text": text})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("get_guess in game 0101001: raised: get_guess raised KeyError (me.py:11): 'x'; a placeholder is guessed",
         "get_guess raised KeyError (me.py:11): 'x'; a placeholder is guessed"),
        ("get_guess in game 0101001: opening_sentence: must be text; a placeholder is guessed",
         "get_guess: opening_sentence: must be text; a placeholder is guessed"),
        ("0101001:be8fc299:on_score_received: raised: on_score_received raised ValueError: no; the game is over",
         "on_score_received raised ValueError: no; the game is over"),
        ("nobody waits for 0101001:be8fc299:get_guess any more",
         "get_guess ended after its game was over, so its result was not used"),
        ("Q21ROUNDSTART in game 0101001 was answered before", "Q21ROUNDSTART was answered before"),
        ("something was odd", "something was odd"),
        ("\x1b[31mred", "red"),
        (None, "callback_failed"),
        (["x"], "callback_failed"),
    ],
)  # fmt: skip
def test_a_warning_is_told_without_what_only_machines_read(text: object, told: str) -> None:
    assert plain_warning(warning(text)) == told


def test_only_warnings_of_the_match_are_its_troubles_and_each_is_told_once() -> None:
    notes = [
        warning("get_guess in game 0101001: it failed"),
        warning("get_guess in game 0202002: it failed"),
        warning("get_guess in game 0101001: it failed"),
        warning("of the match 0101001", kind="match"),
        Note(at=NOON, kind="warning", key="duplicate_message", facts={"text": "X in game 0101001 came before"}),
    ]
    assert troubles(notes, "0101001") == ["get_guess: it failed (2 times)"]
    assert troubles([], "0101001") == []


def test_many_warnings_and_long_ones_are_cut() -> None:
    notes = [warning(f"{n} of game 0101001: " + "x" * 10_000) for n in range(MOST + 5)]
    told = troubles(notes, "0101001")
    assert told[-1] == "and 5 more"
    assert len(told) == MOST + 1
    assert all(len(each) <= 500 for each in told)
