"""Q21 around a table: whole matches, what each seat sees, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from league_agents.games.game import ALL, HOST, SPECTATOR, Action, Event, ForfeitCause, IllegalAction
from league_agents.games.q21.game import Q21
from league_agents.games.q21.scripted import scripted
from league_agents.games.q21.seats import TableMatch, TablePhase
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

GAME = Q21()
AGENTS = ("judge", "ann", "ben")

Observer = Callable[[TableMatch, tuple[Event, ...]], None]


def table(**config: object) -> TableMatch:
    return GAME.setup(config, AGENTS, 7)


def act(state: TableMatch, agent: str, kind: str, **data: object) -> TableMatch:
    return GAME.apply(state, agent, Action(type=kind, data=data)).state


def scripted_action(state: TableMatch, agent: str) -> Action:
    return scripted(GAME.view(state, agent), GAME.legal(state, agent), Draw(7, agent))


def play(
    state: TableMatch, *, until: TablePhase = TablePhase.OVER, seen: Observer | None = None, last_first: bool = False
) -> TableMatch:
    while (pending := GAME.pending(state)) and state.phase is not until:
        agent = pending[-1] if last_first else pending[0]
        step = GAME.apply(state, agent, scripted_action(state, agent))
        state = step.state
        if seen is not None:
            seen(state, step.events)
    return state


def announcement(**changes: str) -> dict[str, str]:
    return {
        "book_name": "The Book",
        "book_hint": "somebody waits for rain",
        "association_word": "weather",
        "actual_opening_sentence": "w-5f1c stood alone at q-8812 all night.",
        "actual_associative_word": "z-7741",
    } | changes


@pytest.mark.parametrize("rules", ["prd", "course"])
def test_a_scripted_match_ends_with_a_score_for_both_players(rules: str) -> None:
    ended = play(table(rules=rules))
    outcome = GAME.outcome(ended)
    assert outcome is not None
    assert outcome.reason == "completed"
    assert outcome.scores["ann"] == outcome.scores["ben"] > 0
    assert outcome.winners == ()


def test_the_one_who_guesses_better_wins() -> None:
    state = play(table(), until=TablePhase.GUESSES)
    wrong = dict(scripted_action(state, "ben").data) | {"opening_sentence": "Nothing of that kind was there."}
    state = act(state, "ben", "guess", **wrong | {"associative_word": "xyzzy"})
    ended = play(state)
    outcome = GAME.outcome(ended)
    assert outcome is not None
    assert outcome.winners == ("ann",)


def test_the_order_in_which_players_act_changes_nothing() -> None:
    events: list[list[Event]] = [[], []]
    ends = [
        play(table(), seen=lambda _, new, i=i: events[i].extend(new), last_first=bool(i))  # type: ignore[misc]
        for i in (0, 1)
    ]
    assert ends[0] == ends[1]
    assert events[0] == events[1]


def test_nothing_secret_is_seen_before_the_end() -> None:
    state = act(table(), "judge", "announce", **announcement())
    secret = ("w-5f1c", "q-8812", "z-7741")

    def check(state: TableMatch, events: tuple[Event, ...]) -> None:
        if state.phase is TablePhase.OVER:
            return
        for viewer in ("ann", "ben", SPECTATOR):
            shown = [GAME.view(state, viewer), GAME.info(state, viewer).stage, GAME.legal(state, viewer)]
            shown += [e.text + json.dumps(e.data) for e in events if e.visible_to == ALL or viewer in e.visible_to]
            assert not any(word in str(shown) for word in secret)
        assert "games" not in GAME.view(state, SPECTATOR)
        assert "me" not in GAME.view(state, SPECTATOR)
        assert GAME.view(state, "ann")["me"]["player_id"] == "ann"

    check(state, ())
    ended = play(state, seen=check)
    assert all(word in str(GAME.view(ended, SPECTATOR)) for word in secret)


def test_what_one_player_asks_and_is_answered_is_not_shown_to_the_other() -> None:
    state = play(table(), until=TablePhase.QUESTIONS)
    asked = dict(scripted_action(state, "ann").data)
    asked["questions"] = [dict(q, question_text="Is it about the number 90210?") for q in asked["questions"]]
    seen: list[Event] = []
    state = act(state, "ann", "ask", **asked)
    play(state, until=TablePhase.OVER, seen=lambda _, events: seen.extend(events))
    for event in seen:
        if "90210" in json.dumps(event.data):
            assert event.visible_to == ("judge", "ann")


def test_a_sealed_forfeit_is_told_when_the_phase_closes() -> None:
    state = play(table(), until=TablePhase.QUESTIONS)
    step = GAME.forfeit(state, "ann", ForfeitCause.TIMEOUT)
    assert step.events == ()
    assert GAME.view(step.state, SPECTATOR)["forfeits"] == {}
    step = GAME.apply(step.state, "ben", scripted_action(step.state, "ben"))
    assert [event.data["cause"] for event in step.events if event.kind == "forfeit"] == ["timeout"]
    assert GAME.view(step.state, SPECTATOR)["forfeits"] == {"ann": "timeout"}
    outcome = GAME.outcome(play(step.state))
    assert outcome is not None
    assert outcome.winners == ("ben",)
    assert outcome.scores["ann"] == 0


def test_a_match_without_a_brief_has_no_winner() -> None:
    state = GAME.forfeit(table(), "judge", ForfeitCause.ERROR).state
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.winners, outcome.reason, set(outcome.scores.values())) == ((), "no_brief", {0.0})


def test_a_referee_that_does_not_answer_costs_no_player_the_match() -> None:
    state = play(table(), until=TablePhase.ANSWERS)
    state = GAME.forfeit(state, "judge", ForfeitCause.TIMEOUT).state
    assert {a["answer"] for a in GAME.view(state, "ann")["me"]["answers"]} == {"Not Relevant"}
    outcome = GAME.outcome(play(state))
    assert outcome is not None
    assert outcome.metrics["unanswered_batches"] == 1
    assert outcome.reason == "completed"


def test_both_players_out_end_the_match() -> None:
    state = play(table(), until=TablePhase.QUESTIONS)
    for player in ("ann", "ben"):
        state = GAME.forfeit(state, player, ForfeitCause.TIMEOUT).state
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.winners == ()


def test_a_state_survives_being_written_down() -> None:
    def check(state: TableMatch, _: tuple[Event, ...]) -> None:
        assert GAME.load(json.loads(json.dumps(GAME.dump(state)))) == state

    play(table(rules="course"), seen=check)


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"book_hint": "w-5f1c stood alone at q-8812 all night."}, "/actual_opening_sentence", "given_away"),
        ({"association_word": "Z-7741"}, "/actual_associative_word", "given_away"),
        ({"book_hint": "rain"}, "/book_hint", "too_short"),  # ten characters at least
        ({"book_hint": "a " * 16 + "rain"}, "/book_hint", "too_long"),  # fifteen words at most
        ({"book_name": "  "}, "/book_name", "empty"),
        ({"book_name": "The\x00Book"}, "/book_name", "control_character"),
    ],
)
def test_a_brief_that_cannot_stand_is_refused(changes: dict[str, str], path: str, code: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        act(table(), "judge", "announce", **announcement(**changes))
    assert {"path": path, "code": code} in [
        {key: error[key] for key in ("path", "code")} for error in refused.value.data["errors"]
    ]


def questions(**changes: object) -> dict[str, Any]:
    state = play(table(rules="course"), until=TablePhase.QUESTIONS)
    data = scripted_action(state, "ann").data["questions"]
    data[2] = data[2] | changes
    return {"questions": data}


def refusals(state: TableMatch, agent: str, kind: str, data: dict[str, Any]) -> list[tuple[str, str]]:
    """Place and code of each fault that such an action is refused for; every fault has words."""
    with pytest.raises(IllegalAction) as refused:
        act(state, agent, kind, **data)
    errors = refused.value.data["errors"]
    assert all(isinstance(error["message"], str) and error["message"] for error in errors)
    return [(error["path"], error["code"]) for error in errors]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({"questions": []}, ("/questions", "wrong_length")),
        ({"questions": "Who?"}, ("/questions", "wrong_length")),
        ({}, ("/questions", "wrong_length")),
        ({"questions": [7] * 20}, ("/questions/19", "wrong_type")),
        (questions(question_number=2), ("/questions/2/question_number", "out_of_range")),
        (questions(question_number=True), ("/questions/2/question_number", "out_of_range")),
        (questions(question_text="Why?"), ("/questions/2/question_text", "wrong_length")),
        (questions(question_text=None), ("/questions/2/question_text", "wrong_type")),
        (questions(question_text="Is it a\x07 bell, then?"), ("/questions/2/question_text", "control_character")),
        (questions(options={"A": "x", "B": "y", "C": "z"}), ("/questions/2/options", "wrong_type")),
        (questions(options="ABCD"), ("/questions/2/options", "wrong_type")),
        (questions(options={"A": "x", "B": "y", "C": "z", "D": " "}), ("/questions/2/options/D", "wrong_length")),
        (questions(more=1), ("/questions/2", "unknown_field")),
        (questions() | {"secret": "tell me"}, ("/secret", "unknown_field")),
    ],
)
def test_a_batch_that_is_none_is_refused_with_its_place(data: dict[str, Any], fault: tuple[str, str]) -> None:
    assert fault in refusals(play(table(rules="course"), until=TablePhase.QUESTIONS), "ann", "ask", data)


def test_under_a_fixed_key_other_options_are_refused() -> None:
    state = play(table(), until=TablePhase.QUESTIONS)
    data = scripted_action(state, "ann").data["questions"]
    data[0] = data[0] | {"options": {"A": "Red", "B": "Green", "C": "Blue", "D": "None"}}
    assert refusals(state, "ann", "ask", {"questions": data}) == [("/questions/0/options", "fixed_key")]
    with pytest.raises(IllegalAction, match="A Yes, B No, C Partially"):
        act(state, "ann", "ask", questions=data)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"confidence": float("nan")}, ("/confidence", "out_of_range")),
        ({"confidence": 1.5}, ("/confidence", "out_of_range")),
        ({"confidence": -0.1}, ("/confidence", "out_of_range")),
        ({"confidence": True}, ("/confidence", "wrong_type")),
        ({"opening_sentence": "Short."}, ("/opening_sentence", "too_short")),
        ({"associative_word": ""}, ("/associative_word", "too_short")),
        ({"word_justification": "x" * 4001}, ("/word_justification", "too_long")),
        ({"league_points": 3}, ("/league_points", "unknown_field")),
    ],
)
def test_a_guess_that_is_none_is_refused_with_its_place(changes: dict[str, Any], fault: tuple[str, str]) -> None:
    state = play(table(), until=TablePhase.GUESSES)
    assert refusals(state, "ann", "guess", dict(scripted_action(state, "ann").data) | changes) == [fault]


def test_the_turns_of_a_match_are_its_four_stages() -> None:
    turns = [GAME.info(table(), "judge").turn]
    state = play(table(), seen=lambda state, _: turns.append(GAME.info(state, "judge").turn))
    assert sorted(set(turns)) == [1, 2, 3, 4]
    assert turns == sorted(turns)
    assert GAME.info(state, "judge").turn == 4  # the end is no stage of its own


@pytest.mark.parametrize(
    ("agent", "action", "code"),
    [
        ("ann", Action(type="ask"), "not_pending"),
        ("eve", Action(type="announce"), "not_pending"),
        ("judge", Action(type="guess"), "unknown_action"),
        ("judge", Action(type="announce", version="2.0.0"), "unsupported_game_version"),
    ],
)
def test_an_action_out_of_place_is_refused(agent: str, action: Action, code: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        GAME.apply(table(), agent, action)
    assert refused.value.code == code


def test_nothing_can_be_done_after_the_end() -> None:
    ended = play(table())
    with pytest.raises(IllegalAction) as refused:
        act(ended, "ann", "guess")
    assert refused.value.code == "match_over"
    assert GAME.info(ended, "ann").stage == "done"


@pytest.mark.parametrize(
    ("config", "path"),
    [({"rules": "chess"}, "rules"), ({"rule": "prd"}, "configuration"), ({"rules": {"name": 3}}, "rules.name")],
)
def test_a_configuration_that_cannot_be_played_is_named(config: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GAME.setup(config, AGENTS, 1)
    assert caught.value.path == path


def test_the_host_sees_what_the_referee_sees() -> None:
    state = act(table(), "judge", "announce", **announcement())
    assert GAME.view(state, HOST)["target"] == GAME.view(state, "judge")["target"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_rules_speak_of_the_rules_in_force(lang: str) -> None:
    assert "20" in GAME.rules_text({}, lang)
    own = {"extends": "prd", "tiers": [{"least": 77.5, "points": 3}, {"least": 43, "points": 1}]}
    told = GAME.rules_text({"rules": own}, lang)
    assert [number in told for number in ("77.5", "43", "85")] == [True, True, False]
    assert "Partially" in GAME.rules_text({"rules": "prd"}, lang)
    assert "Partially" not in GAME.rules_text({"rules": "course"}, lang)
