"""What each reader may see of a match."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from league_agents.kit.values import evolve
from league_agents.report.records import (
    OPEN,
    MatchRecord,
    MessageRecord,
    PlayerRecord,
    SeasonRecord,
    StandingRecord,
    Viewer,
    visible,
)

AT = datetime(2031, 5, 2, 8, 0, tzinfo=UTC)


def _player(name: str) -> PlayerRecord:
    return PlayerRecord(
        participant_id=name,
        display_name=name.title(),
        email=f"{name}@league.test",
        phase="GUESSED",
        private_score=71.5,
        questions=({"question_number": 1, "question_text": f"{name} asks"},),
        answers=({"question_number": 1, "answer": "A"},),
        guess={"associative_word": f"{name} guesses"},
        scorecard={"private_score": 71.5, "feedback": {"associative_word": f"it was 'lantern', {name}"}},
        notes=(f"{name}'s agent raised KeyError",),
    )


FINISHED = MatchRecord(
    game_id="0101001",
    status="aborted",
    abort_reason="player_timeout:owls@league.test",
    brief={"book_name": "The Lighthouse"},
    target={"associative_word": "lantern"},
    warmup_question="2 + 2?",
    players=(_player("owls"), _player("crows")),
    messages=(
        MessageRecord(at=AT, sender="r@x.test", to=("owls@league.test",), message_type="Q21WARMUPCALL", message_id="m"),
    ),
    notes=("the referee's agent was slow",),
)  # fmt: skip
RUNNING = evolve(FINISHED, status=OPEN, abort_reason=None)


def _text(match: MatchRecord) -> str:
    return msgspec.json.encode(match).decode()


@pytest.mark.parametrize("viewer", ["player", "referee", "public"])
def test_nobody_sees_the_target_or_a_feedback_to_others_before_the_match_is_over(viewer: Viewer) -> None:
    shown = visible(RUNNING, viewer, "crows")
    assert shown.target is None
    assert "it was 'lantern', owls" not in _text(shown)


def test_a_player_sees_all_of_its_own_run_and_nothing_of_its_opponent_s_before_the_match_is_over() -> None:
    shown = visible(RUNNING, "player", "owls")
    assert shown.player("owls") == _player("owls")
    assert shown.brief == {"book_name": "The Lighthouse"}
    assert "crows asks" not in _text(shown)
    assert "crows guesses" not in _text(shown)


def test_an_organiser_sees_neither_guesses_nor_scores_of_a_running_match() -> None:
    shown = visible(RUNNING, "referee")
    assert "crows asks" in _text(shown)
    for told in ("crows guesses", "owls guesses", "71.5"):
        assert told not in _text(shown)


def test_the_public_sees_of_a_running_match_who_plays_and_no_more() -> None:
    shown = visible(RUNNING, "public")
    assert [player.participant_id for player in shown.players] == ["owls", "crows"]
    for secret in ("asks", "guesses", "lantern", "Lighthouse", "2 + 2", "@", "71.5"):
        assert secret not in _text(shown)


def test_the_public_sees_a_finished_match_without_addresses_and_warnings() -> None:
    shown = visible(FINISHED, "public")
    assert shown.target == {"associative_word": "lantern"}
    assert shown.abort_reason == "player_timeout:owls"
    assert shown.messages[0].to == ("owls",)
    assert "@" not in _text(shown)
    assert "KeyError" not in _text(shown)


def test_a_player_sees_no_warnings_of_other_people_s_agents() -> None:
    shown = visible(FINISHED, "player", "owls")
    assert "owls's agent raised" in _text(shown)
    assert "crows's agent raised" not in _text(shown)
    assert "the referee's agent" not in _text(shown)


def test_the_latest_table_is_shown_unless_a_round_is_named() -> None:
    first, second = (StandingRecord(rank=1, participant_id=name) for name in ("owls", "crows"))
    season = SeasonRecord(standings_after={1: (first,), 2: (second,)})
    assert season.standings() == (second,)
    assert season.standings(1) == (first,)
    assert season.standings(3) == ()
