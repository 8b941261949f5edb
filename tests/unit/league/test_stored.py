"""Parts of a state as text: what is left out of its holder is put back."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from league_agents.games.q21.model import Answer, Choice, Guess, Question, Scorecard
from league_agents.kit.errors import JournalError
from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.events import CallbackReturned, MessageArrived
from league_agents.league.machines.participant.held import Held
from league_agents.league.machines.player.game_state import LeagueGame
from league_agents.league.machines.stored import add_apart, changed, dump, load, rejoined, with_entry, without_entry
from league_agents.league.machines.turn import Timer
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import WarmupResponse

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
QUESTIONS = (Question(number=1, text="Is it?", options=("a", "b", "c", "d")),)
ANSWERS = (Answer(number=1, choice=Choice.NOT_RELEVANT),)
GAME = LeagueGame(
    game_id=GameId("0101001"),
    token="0cdbb206",
    season_id="S",
    league_id="L",
    round_number=1,
    own_role=None,
    own_group="one",
    referee_email="r@league.test",
    opponent_email="",
    opened_at=NOON,
    questions=QUESTIONS,
    answers=ANSWERS,
    guess=Guess(
        opening_sentence="It was.", sentence_justification="", associative_word="", word_justification="",
        confidence=None,
    ),
    timers=(Timer(name="resend:0101001:", at=NOON),),
)  # fmt: skip


def apart(game: LeagueGame, place: str) -> dict[str, object | None]:
    parts: dict[str, object | None] = {}
    add_apart(parts, game, None, place)
    return parts


def test_a_game_is_what_its_own_text_and_those_of_its_batches_say() -> None:
    texts = {name: dump(part) for name, part in apart(GAME, "0101001").items()}
    assert sorted(texts) == ["answers/0101001", "questions/0101001"]
    assert "Is it?" not in dump(GAME)
    assert rejoined(load(LeagueGame, dump(GAME), "game"), texts, "0101001") == GAME


def test_what_is_left_out_is_the_very_object_so_that_it_is_written_once() -> None:
    assert apart(GAME, "x")["questions/x"] is QUESTIONS


def test_an_empty_batch_is_no_part() -> None:
    game = load(LeagueGame, dump(GAME), "game")
    assert (game.questions, game.answers) == ((), ())
    assert apart(game, "x") == {}
    assert rejoined(game, {}, "x") is game


def test_a_text_that_still_holds_its_batches_is_read_as_it_is() -> None:
    whole = {**json.loads(dump(GAME)), **{name: json.loads(dump(part)) for name, part in
             (("questions", QUESTIONS), ("answers", ANSWERS))}}  # fmt: skip
    assert load(LeagueGame, json.dumps(whole), "game") == GAME


def test_what_an_older_version_did_not_write_has_its_default() -> None:
    card = Scorecard(league_points=1, private_score=50.0, breakdown=None, feedback=None)
    older = json.loads(dump(card))
    del older["is_judged"]
    assert load(Scorecard, json.dumps(older), "card") == card
    del older["league_points"]
    with pytest.raises(JournalError, match="part 'card' of the journal cannot be read"):
        load(Scorecard, json.dumps(older), "card")


def test_a_batch_that_cannot_be_read_is_named() -> None:
    with pytest.raises(JournalError, match="part 'questions/x' of the journal cannot be read"):
        rejoined(GAME, {"questions/x": '[{"number": "one"}]'}, "x")


def test_a_missing_field_is_an_error_and_not_a_default() -> None:
    fields = json.loads(dump(GAME))
    del fields["token"]
    with pytest.raises(JournalError, match="'game'"):
        load(LeagueGame, json.dumps(fields), "game")


def test_values_of_a_union_carry_the_name_of_their_class() -> None:
    envelope = Envelope(
        protocol=Protocol.GAME,
        message_type=MessageType.Q21WARMUPRESPONSE,
        message_id="m1",
        timestamp=NOON,
        sender=Sender(email="a@b.c", role=Role.PLAYER),
        recipient_id="R",
        payload=WarmupResponse(answer="42", auth_token=None),
    )
    held: tuple[Held, ...] = (
        MessageArrived(envelope=envelope, mail_id="1", arrived_at=NOON),
        CallbackReturned(call_id="c", result={"answers": [1, None, "x", {"y": 0.5}]}),
    )
    assert load(tuple[Held, ...], dump(held), "held") == held


def test_a_state_cannot_hold_what_json_cannot_say() -> None:
    with pytest.raises(TypeError, match="a state cannot hold a object"):
        dump({"x": object()})


def test_of_a_holder_only_what_changed_is_written_again() -> None:
    parts: dict[str, object | None] = {}
    add_apart(parts, evolve(GAME, answers=()), GAME, "x")
    assert parts == {"answers/x": None}, "an answer batch that is gone is named, the questions are not"
    parts.clear()
    add_apart(parts, evolve(GAME, timers=()), GAME, "x")
    assert parts == {}
    add_apart(parts, None, GAME, "x")
    assert parts == {"questions/x": None, "answers/x": None}


def test_a_mapping_that_was_made_of_another_is_compared_in_one_entry_only() -> None:
    kept, old, new = object(), object(), object()

    class Counted(str):
        """A key that counts how often it is looked up or compared."""

        looks = 0

        def __hash__(self) -> int:
            Counted.looks += 1
            return super().__hash__()

    first = with_entry({Counted(number): kept for number in range(100)}, Counted("a"), old)
    second = with_entry(first, Counted("a"), new)
    third = without_entry(second, Counted("a"))
    Counted.looks = 0
    assert list(changed(second, first)) == [("a", new, old)]
    assert list(changed(third, second)) == [("a", None, new)]
    assert Counted.looks < 20
    # Two steps away every entry is compared, and one that is there again is no change.
    assert list(changed(third, first)) == [("a", None, old)]
    assert list(changed(with_entry(second, Counted("a"), old), first)) == []
    assert list(changed(with_entry(first, Counted("0"), kept), first)) == []
    assert list(changed(with_entry({}, "b", new), {})) == [("b", new, None)]


def test_the_entries_that_changed_are_found_by_identity() -> None:
    kept, old, new = ["kept"], ["same"], ["same"]
    found = list(changed({"a": kept, "b": new, "c": new}, {"a": kept, "b": old, "d": old}))
    assert found == [("b", new, old), ("c", new, None), ("d", None, old)]


@pytest.mark.parametrize("text", ['"call me Ishmael"', "\"call me 'Ishmael'\""])
def test_a_part_that_cannot_be_read_is_not_quoted(text: str) -> None:
    with pytest.raises(JournalError) as caught:
        load(Choice, text, "match")
    assert str(caught.value).startswith("part 'match' of the journal cannot be read (Invalid enum value); ")
