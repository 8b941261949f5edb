"""Guess number as a game (arena 2.2, checklist G-10, G-11, G-13)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jsonschema
import pytest

from league_agents.games.game import ALL, HOST, SPECTATOR, Action, Event, ForfeitCause, IllegalAction, Mode
from league_agents.games.game import Step as Taken
from league_agents.games.guess_number.game import GuessNumber
from league_agents.games.guess_number.scripted import scripted
from league_agents.games.guess_number.state import State
from league_agents.kit.errors import ConfigError

GAME = GuessNumber()
AB = ("A", "B")


def setup(agents: Sequence[str] = AB, /, **config: Any) -> State:
    return GAME.setup({"num_choices": 4, "target": 2, "max_steps": 5, **config}, agents, 7)


def reported(state: State, agent: str, next_guess: int = 0, **more: Any) -> Action:
    data = {"sender": agent, "type": "state_report", "timestamp": state.step, "next_guess": next_guess, **more}
    return Action(type="state_report", data=data)


def proposed(state: State, agent: str, next_guess: int = 0, **more: Any) -> Action:
    content = {"next_guess": next_guess}
    data = {"sender": agent, "type": "proposal", "timestamp": state.step, "content": content, **more}
    return Action(type="proposal", data=data)


def guessed(guess: object) -> Action:
    return Action(type="guess", data={"guess": guess})


def refusal(act: Callable[[], object]) -> IllegalAction:
    with pytest.raises(IllegalAction) as caught:
        act()
    return caught.value


def talked(state: State, next_guess: int = 0) -> State:
    """The state when everybody has reported and passed."""
    while state.phase == "reporting":
        state = GAME.apply(state, state.owing[0], reported(state, state.owing[0], next_guess)).state
    while state.phase == "reasoning":
        state = GAME.apply(state, state.owing[0], Action(type="pass")).state
    return state


def played(state: State, *rounds: Mapping[str, int | None]) -> State:
    """The state after these guesses; ``None`` is a forfeit."""
    for guesses in rounds:
        state = talked(state)
        for agent in state.owing:
            guess = guesses[agent]
            taken = (
                GAME.forfeit(state, agent, ForfeitCause.TIMEOUT)
                if guess is None
                else GAME.apply(state, agent, guessed(guess))
            )
            state = taken.state
    return state


def outcome(state: State) -> Any:
    found = GAME.outcome(state)
    assert found is not None
    return found


def seen_by(events: Sequence[Event], viewer: str) -> list[Event]:
    return [
        each for each in events if each.visible_to == ALL or (each.visible_to != HOST and viewer in each.visible_to)
    ]


def test_the_vector_of_the_specification() -> None:
    state = played(setup(), {"A": 0, "B": 1}, {"A": 2, "B": 3}, {"B": 2})
    found = outcome(state)
    assert (found.reason, found.winners, found.scores) == ("success", AB, {"A": 1.0, "B": 1.0})
    wanted = {"steps_used": 3, "total_guesses": 5, "redundant_guesses": 0, "collisions": 0}
    assert {key: found.metrics[key] for key in wanted} == wanted
    assert GAME.pending(state) == ()


def test_the_phases_come_in_their_order_in_every_step() -> None:
    state = setup(max_steps=2)
    events = list(GAME.opening(state))
    while state.owing:
        agent = state.owing[0]
        action = {"reporting": reported(state, agent), "reasoning": Action(type="pass"), "action": guessed(0)}
        taken = GAME.apply(state, agent, action[state.phase])
        state = taken.state
        events += taken.events
    phases = [(each.data["step"], each.data["phase"]) for each in events if each.kind == "phase"]
    names = ("observation", "reporting", "reasoning", "action")
    assert phases == [(step, phase) for step in (0, 1) for phase in names]
    assert all(each.visible_to == ALL for each in events if each.kind == "phase")
    assert events[-1].kind == "end"
    assert events[-1].data["target"] == 2


def test_without_proposals_reasoning_is_announced_and_asks_nobody() -> None:
    state = setup(proposals=False)
    state = GAME.apply(state, "A", reported(state, "A")).state
    taken = GAME.apply(state, "B", reported(state, "B"))
    assert [each.data["phase"] for each in taken.events if each.kind == "phase"] == ["reasoning", "action"]
    assert taken.state.phase == "action"


def test_an_observation_tells_an_agent_of_its_own_last_guess_only() -> None:
    opening = [each for each in GAME.opening(setup()) if each.kind == "observation"]
    assert [each.visible_to for each in opening] == [("A",), ("B",)]
    assert all(each.data == {"step": 0, "last_guess": None, "is_correct": None} for each in opening)

    state = played(setup(("A", "B", "C")), {"A": 0, "B": 2, "C": None})
    # C's forfeit makes its reported 0 count; without a report there is no guess at all.
    state = talked(state, 1)
    state = GAME.apply(state, "A", guessed(3)).state
    taken = GAME.forfeit(state, "C", ForfeitCause.TIMEOUT)
    told = {each.visible_to: each.data for each in taken.events if each.kind == "observation"}
    assert told == {
        ("A",): {"step": 2, "last_guess": 3, "is_correct": False},
        ("B",): {"step": 2, "last_guess": 2, "is_correct": True},
        ("C",): {"step": 2, "last_guess": 1, "is_correct": False},
    }


def test_every_agent_owes_one_report_of_this_step_also_who_is_right() -> None:
    state = played(setup(), {"A": 2, "B": 0})
    assert (state.phase, GAME.pending(state)) == ("reporting", AB)
    assert refusal(lambda: GAME.apply(state, "A", Action(type="pass"))).code == "unknown_action"
    stale = Action(type="state_report", data={**reported(state, "A").data, "timestamp": 0})
    found = refusal(lambda: GAME.apply(state, "A", stale))
    assert found.code == "invalid_data"
    assert found.data["errors"] == [
        {"path": "/timestamp", "code": "stale_timestamp", "message": "must be 1, the step of the game"}
    ]
    once = GAME.apply(state, "A", reported(state, "A")).state
    assert refusal(lambda: GAME.apply(once, "A", reported(state, "A"))).code == "already_reported"
    both = GAME.apply(once, "B", reported(state, "B")).state
    assert refusal(lambda: GAME.apply(both, "A", reported(state, "A"))).code == "already_reported"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"sender": "B"}, "sender_mismatch"),
        ({"type": "proposal", "content": {}}, "type_mismatch"),
        ({"next_guess": 4}, "guess_out_of_range"),
        ({"confidence": 2}, "confidence_out_of_range"),
    ],
)
def test_a_wrong_report_is_refused_with_its_errors(changed: dict[str, Any], code: str) -> None:
    state = setup()
    action = Action(type="state_report", data={**reported(state, "A").data, **changed})
    found = refusal(lambda: GAME.apply(state, "A", action))
    assert found.code == "invalid_data"
    assert [each["code"] for each in found.data["errors"]] == [code]


def test_a_missing_report_is_told_and_counted_and_the_phase_goes_on() -> None:
    state = setup()
    taken = GAME.forfeit(state, "A", ForfeitCause.TIMEOUT)
    assert [(each.kind, each.visible_to, each.data) for each in taken.events] == [
        ("report_missing", ALL, {"step": 0, "agent_id": "A", "cause": "timeout"})
    ]
    taken = GAME.apply(taken.state, "B", reported(state, "B"))
    assert taken.state.phase == "reasoning"
    assert refusal(lambda: GAME.apply(taken.state, "A", reported(state, "A"))).code == "unknown_action"
    state = played(taken.state, {"A": 2, "B": 2})
    assert outcome(state).metrics["missing_reports"] == 1


def test_in_reasoning_each_agent_proposes_or_passes_once() -> None:
    state = setup()
    for agent in AB:
        state = GAME.apply(state, agent, reported(state, agent)).state
    taken = GAME.apply(state, "B", proposed(state, "B", 3, rationale="A takes the low half"))
    (event,) = taken.events
    assert (event.kind, event.data["message"]["content"]) == ("proposal", {"next_guess": 3})
    assert event.text == "B proposes 3: A takes the low half"
    assert refusal(lambda: GAME.apply(taken.state, "B", Action(type="pass"))).code == "not_pending"
    assert refusal(lambda: GAME.apply(taken.state, "A", Action(type="pass", data={"x": 1}))).code == "invalid_data"
    done = GAME.forfeit(taken.state, "A", ForfeitCause.ERROR)
    assert done.events[0].kind == "pass"
    assert done.events[0].data["cause"] == "error"
    assert done.state.phase == "action"


def test_guesses_are_sealed_until_all_are_in() -> None:
    state = talked(setup(num_choices=100, target=99))
    assert GAME.phase_mode(state) == Mode.SEALED
    before = {viewer: json.dumps(GAME.view(state, viewer)) for viewer in ("B", SPECTATOR)}
    taken = GAME.apply(state, "A", guessed(57))
    assert [(each.kind, each.visible_to) for each in taken.events] == [("guess", ("A",))]
    assert {viewer: json.dumps(GAME.view(taken.state, viewer)) for viewer in before} == before
    assert GAME.view(taken.state, "A")["me"]["guess_history"] == [57]
    assert GAME.view(taken.state, "A")["me"]["feedback_history"] == []
    assert refusal(lambda: GAME.apply(taken.state, "A", guessed(58))).code == "not_pending"


def test_an_agents_guess_stays_between_it_and_the_host() -> None:
    state = talked(setup(num_choices=1000, target=999))
    first = GAME.apply(state, "A", guessed(571))
    second = GAME.apply(first.state, "B", guessed(382))
    events = (*first.events, *second.events)
    for viewer, own in (("A", "571"), ("B", "382"), (SPECTATOR, None)):
        told = json.dumps(
            [GAME.view(second.state, viewer), *([each.text, each.data] for each in seen_by(events, viewer))]
        )
        assert [guess for guess in ("571", "382") if guess in told] == ([own] if own else [])
    assert [each.data["guesses"] for each in events if each.visible_to == HOST] == [{"A": 571, "B": 382}]


def test_what_others_see_does_not_depend_on_who_guessed_first() -> None:
    state = talked(setup(num_choices=10, target=9))
    results = []
    for order in (("A", 1, "B", 2), ("B", 2, "A", 1)):
        first = GAME.apply(state, str(order[0]), guessed(order[1]))
        second = GAME.apply(first.state, str(order[2]), guessed(order[3]))
        public = [each for each in (*first.events, *second.events) if each.visible_to in (ALL, HOST)]
        results.append((second.state, public))
    assert results[0] == results[1]


def test_a_guess_must_be_an_integer_in_range() -> None:
    state = talked(setup())
    for guess in (-1, 4, 10**30):
        assert refusal(lambda guess=guess: GAME.apply(state, "A", guessed(guess))).code == "guess_out_of_range"
    for wrong in (True, 1.0, "1", None):
        assert refusal(lambda wrong=wrong: GAME.apply(state, "A", guessed(wrong))).code == "invalid_data"
    more = Action(type="guess", data={"guess": 1, "x": 2})
    assert refusal(lambda: GAME.apply(state, "A", more)).data["errors"][0]["code"] == "unknown_field"


def test_a_forfeited_guess_is_the_reported_one_or_none() -> None:
    state = setup()
    state = GAME.apply(state, "A", reported(state, "A", 2)).state
    state = GAME.forfeit(state, "B", ForfeitCause.DISCONNECTED).state
    state = talked(state)
    taken = GAME.forfeit(state, "B", ForfeitCause.DISCONNECTED)
    assert taken.events[0].data == {"step": 0, "agent_id": "B", "cause": "disconnected", "guess": None}
    assert taken.events[0].visible_to == ("B",)
    taken = GAME.forfeit(taken.state, "A", ForfeitCause.TIMEOUT)
    assert [seat.guesses for seat in taken.state.seats] == [(2,), ()]
    told = [each.data for each in taken.events if each.kind == "observation" and each.visible_to == ("B",)]
    assert told == [{"step": 1, "last_guess": None, "is_correct": None}]


def test_after_max_steps_the_game_is_lost_and_who_was_right_still_scores() -> None:
    state = played(setup(max_steps=2), {"A": 2, "B": 0}, {"B": 1})
    found = outcome(state)
    assert (found.reason, found.winners, found.scores) == ("failure", (), {"A": 1.0, "B": 0.0})
    assert found.metrics["steps_used"] == 2


@pytest.mark.parametrize(
    ("lang", "guesses", "said"),
    [
        ("en", {"A": 2, "B": 0}, "The number was 2: after 1 step found by Ann, not by B"),
        ("en", {"A": 1, "B": 0}, "The number was 2: not found in 1 step"),
        ("zh", {"A": 1, "B": 2}, "答案是 2：1 步后 B 找到了，Ann 没有找到"),
    ],
)
def test_what_some_have_found_is_not_called_not_found(lang: str, guesses: dict[str, int | None], said: str) -> None:
    state = talked(setup(max_steps=1, lang=lang, names={"A": "Ann"}))
    state = GAME.apply(state, "A", guessed(guesses["A"])).state
    assert GAME.apply(state, "B", guessed(guesses["B"])).events[-1].text == said


def test_the_host_is_told_what_everybody_guessed_and_whether_it_is_right() -> None:
    state = GAME.apply(talked(setup(names={"A": "Ann"})), "A", guessed(2)).state
    told = [event for event in GAME.apply(state, "B", guessed(0)).events if event.kind == "guesses"]
    assert [(event.visible_to, event.text) for event in told] == [(HOST, "Ann guesses 2: right; B guesses 0: wrong")]
    assert told[0].data == {"step": 0, "guesses": {"A": 2, "B": 0}}


def test_one_right_guess_is_enough_where_any_wins() -> None:
    found = outcome(played(setup(win="any"), {"A": 0, "B": 2}))
    assert (found.reason, found.winners, found.scores) == ("success", AB, {"A": 1.0, "B": 1.0})


def test_initial_guesses_are_answered_in_the_first_observation_and_cost_no_step() -> None:
    state = setup(initial_guesses={"A": 2})
    told = [each.data for each in GAME.opening(state) if each.kind == "observation"]
    assert told == [
        {"step": 0, "last_guess": 2, "is_correct": True},
        {"step": 0, "last_guess": None, "is_correct": None},
    ]
    state = talked(state)
    assert GAME.pending(state) == ("B",)
    found = outcome(GAME.apply(state, "B", guessed(2)).state)
    assert (found.metrics["steps_used"], found.metrics["total_guesses"]) == (1, 1)


def test_initial_guesses_can_end_the_game_before_anybody_acts() -> None:
    state = setup(initial_guesses={"A": 2, "B": 2})
    assert outcome(state).metrics["steps_used"] == 0
    assert GAME.pending(state) == ()
    assert [each.kind for each in GAME.opening(state)] == ["phase", "observation", "observation", "end"]
    assert GAME.info(state, "A").turn == 1


def test_the_metrics_count_what_they_say() -> None:
    state = setup(("A", "B", "C"), num_choices=10, target=9, max_steps=2)
    lie = {"guess_history": [4], "feedback_history": [True]}
    for agent, more in (("A", {}), ("B", {"content": lie}), ("C", {"content": {"is_correct": False}})):
        state = GAME.apply(state, agent, reported(state, agent, 1, **more)).state
    state = played(state, {"A": 1, "B": 1, "C": 1}, {"A": 1, "B": 2, "C": None})
    found = outcome(state).metrics
    assert found == {
        "steps_used": 2,
        "total_guesses": 6,
        "redundant_guesses": 1,  # A's second 1
        "collisions": 2,  # three ones in step 0
        "deviations": 2,  # step 1: all reported 0; C's forfeit is no choice of its own
        "missing_reports": 0,
        "report_mismatches": 1,
    }


@pytest.mark.parametrize(
    ("content", "mismatches"),
    [
        ({}, 0),
        ({"guess_history": [1], "feedback_history": [False], "is_correct": False}, 0),
        ({"guess_history": [1, 3]}, 0),  # the pending guess may end it
        ({"guess_history": [1, 0]}, 1),
        ({"guess_history": []}, 1),
        ({"guess_history": [0]}, 1),
        ({"feedback_history": [True]}, 1),
        ({"feedback_history": []}, 1),
        ({"is_correct": True}, 1),
    ],
)
def test_a_report_that_contradicts_what_happened_is_counted(content: dict[str, Any], mismatches: int) -> None:
    state = played(setup(), {"A": 1, "B": 1})
    state = GAME.apply(state, "A", reported(state, "A", 3, content=content)).state
    assert state.tally.report_mismatches == mismatches


def knowledge(state: State, agent: str) -> tuple[list[int], int | None]:
    me = GAME.view(state, agent)["me"]
    return me["known_wrong"], me["known_target"]


def history(*pairs: tuple[int, bool]) -> dict[str, Any]:
    guesses, feedback = [guess for guess, _ in pairs], [right for _, right in pairs]
    return {"guess_history": guesses, "feedback_history": feedback}


def test_what_an_agent_knows_comes_from_its_feedback_and_from_what_it_heard() -> None:
    state = played(setup(("A", "B", "C"), num_choices=10, target=9), {"A": 1, "B": 2, "C": 3})
    assert [knowledge(state, each) for each in "ABC"] == [([1], None), ([2], None), ([3], None)]
    state = GAME.apply(state, "A", reported(state, "A", content=history((1, False))), ("B",)).state
    assert [knowledge(state, each) for each in "ABC"] == [([1], None), ([1, 2], None), ([3], None)]
    state = GAME.apply(state, "B", reported(state, "B", content=history((2, False), (7, True)))).state
    assert [knowledge(state, each) for each in "ABC"] == [([1, 2], 7), ([1, 2], None), ([2, 3], 7)]


def test_own_feedback_is_stronger_than_what_is_said_and_contradictions_cancel() -> None:
    state = played(setup(("A", "B", "C"), num_choices=10, target=9), {"A": 1, "B": 9, "C": 3})
    state = GAME.apply(state, "A", reported(state, "A", content=history((9, False), (3, True), (5, True)))).state
    assert knowledge(state, "B") == ([], 9)
    assert knowledge(state, "C") == ([3, 9], 5)
    state = GAME.apply(state, "B", reported(state, "B", content=history((5, False), (9, True)))).state
    assert knowledge(state, "C") == ([3], None)
    assert knowledge(state, "A") == ([1, 5], 9)


def test_a_history_whose_lengths_do_not_fit_tells_nothing() -> None:
    state = setup(num_choices=10, target=9)
    content = {"guess_history": [1, 2, 3], "feedback_history": [False]}
    state = GAME.apply(state, "A", reported(state, "A", content=content)).state
    assert knowledge(state, "B") == ([], None)


def test_who_says_that_it_is_right_names_the_target() -> None:
    state = setup(num_choices=10, target=9)
    content = {"current_guess": 9, "is_correct": True}
    assert knowledge(GAME.apply(state, "A", reported(state, "A", 9, content=content)).state, "B") == ([], 9)
    content = {"current_guess": 9, "is_correct": False}
    assert knowledge(GAME.apply(state, "A", reported(state, "A", 9, content=content)).state, "B") == ([], None)


def test_known_wrong_guesses_are_refused_only_where_that_is_the_rule() -> None:
    for is_refused in (False, True):
        state = talked(played(setup(reject_known_wrong=is_refused), {"A": 1, "B": 0}))
        if is_refused:
            assert refusal(lambda state=state: GAME.apply(state, "A", guessed(1))).code == "known_wrong"
            (legal,) = GAME.legal(state, "A")
            assert legal.choices == ({"guess": 0}, {"guess": 2}, {"guess": 3})
        else:
            assert GAME.apply(state, "A", guessed(1)).state.owing == ("B",)


def test_false_claims_never_leave_an_agent_without_a_legal_guess() -> None:
    state = setup(reject_known_wrong=True)
    lies = history((0, False), (1, False), (2, False), (3, False))
    state = talked(GAME.apply(state, "A", reported(state, "A", content=lies)).state)
    (legal,) = GAME.legal(state, "B")
    assert legal.choices == ({"guess": 0}, {"guess": 1}, {"guess": 2}, {"guess": 3})


@pytest.mark.parametrize("num_choices", [50, 500, 5000])
def test_the_schema_of_a_guess_is_exact_for_any_number_of_choices(num_choices: int) -> None:
    state = setup(num_choices=num_choices, reject_known_wrong=True)
    state = talked(played(state, {"A": 7, "B": 8}))
    (legal,) = GAME.legal(state, "A")
    allowed = [guess for guess in (-1, 0, 6, 7, 8, num_choices - 1, num_choices) if is_valid({"guess": guess}, legal)]
    assert allowed == [0, 6, 8, num_choices - 1]


def is_valid(data: object, legal: Any) -> bool:
    return jsonschema.Draft202012Validator(legal.schema).is_valid(data)


def test_the_schemas_of_what_is_legal_are_exact() -> None:
    state = setup()
    assert GAME.legal(state, "nobody") == ()
    (legal,) = GAME.legal(state, "A")
    right = dict(reported(state, "A").data)
    assert is_valid(right, legal)
    assert is_valid({**right, "content": {"guess_history": [1]}, "reasoning": "x", "confidence": 0.5}, legal)
    for wrong in ({"sender": "B"}, {"timestamp": 1}, {"type": "proposal"}, {"next_guess": 4}, {"confidence": 2}):
        assert not is_valid({**right, **wrong}, legal)
    for key in right:
        assert not is_valid({name: value for name, value in right.items() if name != key}, legal)
    for agent in AB:
        state = GAME.apply(state, agent, reported(state, agent)).state
    proposal, pass_ = GAME.legal(state, "B")
    assert (proposal.type, pass_.type, pass_.choices) == ("proposal", "pass", ({},))
    assert is_valid(dict(proposed(state, "B").data), proposal)
    assert not is_valid({"x": 1}, pass_)


def test_private_reasoning_reaches_its_sender_and_the_host_only() -> None:
    state = setup(share_reasoning=False)
    taken = GAME.apply(state, "A", reported(state, "A", reasoning="a-secret-thought"))
    assert [each.kind for each in taken.events if "a-secret-thought" in json.dumps([each.text, each.data])] == [
        "reasoning"
    ]
    assert [each.visible_to for each in taken.events] == [ALL, ("A",)]
    state = taken.state
    for _ in range(2):  # in this step and when it is over
        seen = {each: "a-secret-thought" in json.dumps(GAME.view(state, each)) for each in (*AB, SPECTATOR, HOST)}
        assert seen == {"A": True, "B": False, SPECTATOR: False, HOST: True}
        state = played(GAME.apply(state, "B", reported(state, "B")).state, {"A": 0, "B": 0})


def test_shared_reasoning_is_heard_with_the_report() -> None:
    state = setup()
    taken = GAME.apply(state, "A", reported(state, "A", 1, reasoning="\x09low\nfirst"))
    (event,) = taken.events
    assert event.text == "A means to guess 1: low first"
    assert GAME.view(taken.state, "B")["messages"][0]["reasoning"] == "\tlow\nfirst"


def test_who_does_not_hear_a_message_never_sees_it() -> None:
    state = setup(("A", "B", "C"))
    taken = GAME.apply(state, "A", reported(state, "A", 3), ("C", "A"))
    assert taken.events[0].visible_to == ("A", "C")
    state = taken.state
    state = GAME.apply(state, "B", reported(state, "B", 1), ("C", "A")).state
    for _ in range(2):
        found = {each: [one["sender"] for one in GAME.view(state, each)["messages"][:2]] for each in ("A", "B", "C")}
        assert found == {"A": ["A", "B"], "B": ["B"], "C": ["A", "B"]}
        assert [one["sender"] for one in GAME.view(state, SPECTATOR)["messages"][:1]] == ["B"]
        state = GAME.forfeit(state, "C", ForfeitCause.TIMEOUT).state
        for agent in ("A", "B", "C"):
            state = GAME.forfeit(state, agent, ForfeitCause.TIMEOUT).state
        for agent in ("A", "B", "C"):
            state = GAME.forfeit(state, agent, ForfeitCause.TIMEOUT).state
        if state.reason is None:
            break
    taken = GAME.apply(setup(("A", "B", "C")), "A", reported(setup(), "A"), ())
    assert taken.events[0].visible_to == ("A",)


def test_a_message_that_all_others_hear_is_public() -> None:
    state = setup(("A", "B", "C"))
    assert GAME.apply(state, "A", reported(state, "A"), ("C", "B")).events[0].visible_to == ALL


COMMON_KEYS = ["step", "phase", "num_choices", "max_steps", "win", "agents"]


def test_a_view_has_what_its_viewer_may_know_and_nothing_else() -> None:
    state = talked(setup())
    me = ["agent_id", "guess_history", "feedback_history", "is_correct", "known_wrong", "known_target"]
    view = GAME.view(state, "A")
    assert list(view) == [*COMMON_KEYS, "me", "messages", "done"]
    assert list(view["me"]) == me
    assert view["agents"] == [{"agent_id": "A", "name": "A"}, {"agent_id": "B", "name": "B"}]
    assert list(GAME.view(state, SPECTATOR)) == [*COMMON_KEYS, "messages", "done"]
    assert GAME.view(state, "spectator-1") == GAME.view(state, SPECTATOR)
    host = GAME.view(state, HOST)
    assert (host["target"], [each["reported"] for each in host["seats"]]) == (2, [0, 0])
    over = played(state, {"A": 2, "B": 2})
    for viewer in ("A", SPECTATOR):
        assert {"target": 2, "done": True}.items() <= GAME.view(over, viewer).items()


def test_whoever_changes_a_view_changes_nobody_elses() -> None:
    state = talked(setup())
    kept = json.dumps(GAME.view(state, "B"))
    mine = GAME.view(state, "A")
    mine["messages"].clear()
    mine["me"]["known_wrong"].append(3)
    with pytest.raises(TypeError):
        GAME.view(state, "A")["messages"][0]["next_guess"] = 3
    with pytest.raises(TypeError):
        mine["agents"].clear()
    assert json.dumps(GAME.view(state, "B")) == kept


def test_every_viewer_has_a_stage_of_its_own() -> None:
    def stages(state: State) -> list[str]:
        return [GAME.info(state, viewer).stage for viewer in (*AB, SPECTATOR)]

    state = played(setup(max_steps=3), {"A": 2, "B": 0})
    assert stages(state) == ["report", "report", "watch"]
    assert GAME.info(state, "A").turn == 2
    state = GAME.apply(state, "A", reported(state, "A")).state
    assert stages(state) == ["wait", "report", "watch"]
    state = GAME.apply(state, "B", reported(state, "B")).state
    assert stages(state) == ["propose", "propose", "watch"]
    state = talked(state)
    assert stages(state) == ["wait", "guess", "watch"]
    assert GAME.info(state, "A").active_agent_ids == ("B",)
    state = GAME.apply(state, "B", guessed(2)).state
    assert stages(state) == ["done", "done", "done"]
    assert (GAME.info(state, "A").status, GAME.info(state, "A").phase) == ("ended", "end")


def test_when_the_game_is_over_nobody_can_do_anything() -> None:
    state = played(setup(), {"A": 2, "B": 2})
    assert GAME.legal(state, "A") == ()
    assert refusal(lambda: GAME.apply(state, "A", guessed(1))).code == "match_over"
    assert refusal(lambda: GAME.forfeit(state, "A", ForfeitCause.TIMEOUT)).code == "not_pending"


@pytest.mark.parametrize(
    ("agent", "action", "code"),
    [
        ("A", Action(type="guess", data={"guess": 1}), "unknown_action"),
        ("A", Action(type="shout"), "unknown_action"),
        ("ghost", Action(type="state_report"), "not_pending"),
        ("A", Action(type="state_report", version="2.0.0"), "unsupported_game_version"),
        ("A", Action(type="state_report", data=["sender"]), "invalid_data"),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_asked_for_is_refused(agent: str, action: Action, code: str) -> None:
    state = setup()
    before = GAME.dump(state)
    assert refusal(lambda: GAME.apply(state, agent, action)).code == code
    assert GAME.dump(state) == before


def test_another_minor_version_is_understood() -> None:
    state = setup()
    data = reported(state, "A").data
    assert GAME.apply(state, "A", Action(type="state_report", data=data, version="1.4.0")).state.owing == ("B",)


def test_the_target_is_drawn_from_the_seed_alone() -> None:
    targets = [GAME.setup({"num_choices": 1_000_000}, agents, 5).target for agents in (AB, ("x", "y", "z"))]
    assert targets[0] == targets[1]
    assert GAME.setup({"num_choices": 1_000_000}, AB, 6).target != targets[0]
    assert {GAME.setup({"num_choices": 2}, AB, seed).target for seed in range(20)} == {0, 1}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"num_choices": 1}, "num_choices"),
        ({"num_choices": 1_000_001}, "num_choices"),
        ({"num_choices": True}, "num_choices"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": 10_001}, "max_steps"),
        ({"win": "most"}, "win"),
        ({"target": 10}, "target"),
        ({"target": -1}, "target"),
        ({"target": "3"}, "target"),
        ({"num_choices": 3, "target": 3}, "target"),
        ({"proposals": 1}, "proposals"),
        ({"reject_known_wrong": "no"}, "reject_known_wrong"),
        ({"share_reasoning": "None"}, "share_reasoning"),
        ({"lang": "fr"}, "lang"),
        ({"initial_guesses": [1]}, "initial_guesses"),
        ({"initial_guesses": {"ghost": 1}}, "initial_guesses[ghost]"),
        ({"initial_guesses": {"A": 10}}, "initial_guesses[A]"),
        ({"initial_guesses": {"A": True}}, "initial_guesses[A]"),
        ({"num_choice": 3}, "configuration"),
        ([], "configuration"),
    ],
)
def test_a_configuration_that_cannot_be_played_is_named(config: Any, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        GAME.setup(config, AB, 1)
    assert caught.value.path == path


def test_the_number_of_agents_is_bounded() -> None:
    GAME.setup({}, ["solo"], 1)
    GAME.setup({}, [f"a{place}" for place in range(64)], 1)
    for agents in ([], [f"a{place}" for place in range(65)], ["A", "A"], ["host"]):
        with pytest.raises(ConfigError):
            GAME.setup({}, agents, 1)


def test_the_defaults_in_the_schema_are_those_in_force() -> None:
    schema = GAME.config_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    defaults = {key: each["default"] for key, each in schema["properties"].items()}
    assert jsonschema.Draft202012Validator(schema).is_valid(defaults)
    assert GAME.setup(defaults, AB, 3) == GAME.setup({}, AB, 3)
    assert all(each["description"] for each in schema["properties"].values())
    for each in GAME.action_schemas.values():
        jsonschema.Draft202012Validator.check_schema(each)


def test_the_rules_tell_the_configuration_that_is_in_force_and_no_secret() -> None:
    default = GAME.rules_text({})
    assert "0 to 9" in default
    assert "10 steps" in default
    other = {"num_choices": 77, "max_steps": 1, "win": "any", "proposals": False, "target": 55,
             "reject_known_wrong": True, "share_reasoning": False, "initial_guesses": {"A": 4}}  # fmt: skip
    for lang in ("en", "zh"):
        changed = GAME.rules_text(other, lang)
        assert "76" in changed
        assert "55" not in changed
        for key, value in other.items():
            if key != "target":
                assert GAME.rules_text({key: value}, lang) != GAME.rules_text({}, lang), key
    with pytest.raises(ConfigError):
        GAME.rules_text({}, "fr")


def test_what_happens_can_be_told_in_chinese() -> None:
    state = setup(lang="zh")
    assert GAME.opening(state)[0].text == "第 0 步：观察"
    assert GAME.apply(state, "A", reported(state, "A", 3)).events[0].text == "A 打算猜 3"


def halfway() -> State:
    state = played(setup(share_reasoning=False, initial_guesses={"B": 3}), {"A": 1, "B": 0})
    content = history((1, False))
    taken: Taken[State] = GAME.apply(state, "A", reported(state, "A", content=content, reasoning="hm", mood="x"), ())
    return taken.state


def test_a_dump_is_json_and_loads_as_the_same_state() -> None:
    state = halfway()
    assert GAME.load(json.loads(json.dumps(GAME.dump(state)))) == state


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["game"], "market", "game"),
        (["version"], "2.0.0", "version"),
        (["config", "num_choices"], "4", "num_choices"),
        (["agent_ids"], ["A"], "initial_guesses[B]"),
        (["agent_ids"], "AB", "agent_ids"),
        (["target"], 3, "target"),
        (["target"], None, "target"),
        (["step"], 5, "step"),
        (["phase"], "observation", "phase"),
        (["phase"], "end", "phase"),
        (["reason"], "success", "phase"),
        (["reason"], "luck", "reason"),
        (["owing"], [], "phase"),
        (["owing"], ["B", "A"], "owing"),
        (["owing"], ["C"], "owing"),
        (["seats"], [], "seats"),
        (["seats"], [{"guesses": [], "last_guess": None}], "seats"),  # one for two agents
        (["seats", 0, "guesses"], [4], "seats[0].guesses"),
        (["seats", 0, "guesses"], [2, 1], "seats[0].guesses"),
        (["seats", 0, "guesses"], None, "seats[0].guesses"),
        (["seats", 0, "last_guess"], 3, "seats[0].last_guess"),
        (["messages"], None, "messages"),
        (["messages", 0, "message", "next_guess"], 99, "messages[0].message"),
        (["messages", 0, "message", "timestamp"], 4, "messages[0].message"),
        (["messages", 0, "message"], None, "messages[0].message"),
        (["messages", 0, "heard_by"], [1], "messages[0].heard_by[0]"),
        (["reported"], [1], "reported"),
        (["sealed"], [1, "2"], "sealed[1]"),
        (["steps_used"], -1, "steps_used"),
        (["tally", "collisions"], 1.5, "tally[collisions]"),
        (["tally", "fun"], 1, "tally"),
        (["seed"], 1, "configuration"),
    ],
)
def test_a_dump_that_does_not_fit_together_is_refused(path: list[Any], value: object, named: str) -> None:
    dumped = GAME.dump(halfway())
    place = dumped
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ConfigError) as refused:
        GAME.load(dumped)
    assert refused.value.path == named


@pytest.mark.parametrize("dumped", [{}, [], None, {"game": "guess_number"}])
def test_something_else_than_a_dump_is_refused(dumped: Any) -> None:
    with pytest.raises(ConfigError):
        GAME.load(dumped)


def test_scripted_agents_find_the_number_together() -> None:
    state = GAME.setup({"num_choices": 30, "max_steps": 30}, ("a", "b", "c"), 11)
    while state.owing:
        agent = state.owing[0]
        action = scripted(GAME.view(state, agent), GAME.legal(state, agent))
        (legal,) = [each for each in GAME.legal(state, agent) if each.type == action.type]
        assert is_valid(dict(action.data), legal)
        state = GAME.apply(state, agent, action).state
    found = outcome(state)
    # Three numbers a step, and one more step for the others to hear which it was.
    assert found.reason == "success"
    assert found.metrics["steps_used"] <= state.target // 3 + 2
    assert (found.metrics["redundant_guesses"], found.metrics["report_mismatches"]) == (0, 0)
    assert found.metrics["collisions"] == 0


def test_the_scripted_agent_takes_the_smallest_number_that_is_neither_wrong_nor_claimed() -> None:
    state = played(setup(("A", "B", "C"), num_choices=10, target=9), {"A": 0, "B": 1, "C": 2})
    state = GAME.apply(state, "B", reported(state, "B", 3, content=history((1, False)))).state
    action = scripted(GAME.view(state, "A"), GAME.legal(state, "A"))
    assert action.data["next_guess"] == 2  # 0 is its own, 1 was heard, 3 is claimed; of C it heard nothing
    assert action.data["content"]["guess_history"] == [0, 2]
    view = GAME.view(state, "A")
    view["me"]["known_target"] = 7
    assert scripted(view, GAME.legal(state, "A")).data["next_guess"] == 7
    view["me"].update(known_target=None, known_wrong=[0, 1, 2, 4, 5, 6, 7, 8, 9])
    assert scripted(view, GAME.legal(state, "A")).data["next_guess"] == 3
