"""What an agent remembers, and when (arena 3.4)."""

from __future__ import annotations

from typing import Any

from league_agents.games.game import ALL, Event
from league_agents.games.undercover.memory import AgentMemory, learned_from
from league_agents.kit.values import evolve


def memories(table: Any) -> dict[int, AgentMemory]:
    """One memory a seat, filled with what its agent may see so far."""
    found = {}
    for seat in range(1, len(table.ids) + 1):
        found[seat] = memory = AgentMemory()
        for number, event in enumerate(table.events, 1):
            if event.visible_to == ALL or f"a{seat}" in event.visible_to:
                memory.observe(evolve(event, seq=number))
    return found


def test_at_each_request_the_memory_holds_what_was_heard_this_round(table: Any) -> None:
    t = table()
    spoken: list[str] = []
    for seat in (1, 2, 3, 4):
        assert memories(t)[seat].heard_in(1) == spoken
        t.say(seat, f"remark of {seat}")
        spoken.append(f"remark of {seat}")
    for seat in (1, 2, 3, 4):
        memory = memories(t)[seat]
        assert memory.heard_in(1) == spoken
        assert memory.heard_in(1, besides=seat) == [text for text in spoken if not text.endswith(str(seat))]
        t.vote(seat, None)


def test_the_four_histories_hold_what_the_specification_names(table: Any) -> None:
    t = table(names={"a2": "Bob"})
    t.say(1, "grey")
    t.say_all()
    t.vote(1, 2, "odd")
    t.vote_all({2: 1, 3: 1, 4: 2})
    memory = memories(t)[1]
    assert (memory.player_id, memory.word) == (1, t.word(1))
    assert memory.all_descriptions[0] == {"round": 1, "player_id": 1, "name": "a1", "description": "grey"}
    assert len(memory.all_descriptions) == 4
    assert memory.voting_history == [
        {"round": 1, "target_id": 2, "target_name": "Bob", "vote_number": 2, "reason": "odd"}
    ]
    assert memory.reasoning_history == [{"round": 1, "reasoning": {"reason": "odd", "vote_number": 2}}]
    assert memory.all_votes_history == [{"round": 1, "ballot": 1, "votes": t.last("votes_revealed").data["votes"]}]
    assert memory.as_json() == {
        "all_descriptions": memory.all_descriptions,
        "voting_history": memory.voting_history,
        "reasoning_history": memory.reasoning_history,
        "all_votes_history": memory.all_votes_history,
    }


def test_an_unheard_description_is_not_remembered(table: Any) -> None:
    t = table()
    t.say(1, "whispered", heard_by=[3])
    found = memories(t)
    assert [seat for seat in found if found[seat].heard_in(1)] == [1, 3]


def test_votes_of_others_are_not_remembered_while_the_vote_is_open(table: Any) -> None:
    t = table()
    t.say_all()
    t.vote(1, 2)
    found = memories(t)
    assert (len(found[1].voting_history), len(found[2].voting_history)) == (1, 0)
    assert found[1].all_votes_history == []


def test_whoever_is_out_is_told_of_it_and_of_nothing_more(table: Any) -> None:
    t = table(5, (5,))
    t.round({1: 2, 2: 1, 3: 2, 4: 2, 5: 2})
    t.say(1, "a new remark")
    found = memories(t)
    assert found[2].is_out
    assert len(found[2].all_votes_history) == 1
    assert found[2].heard_in(2) == []
    assert found[3].heard_in(2) == ["a new remark"]


def test_a_revote_is_remembered_beside_the_first_vote(table: Any) -> None:
    t = table(5, (3,), tie="revote")
    t.round({1: 2, 2: 1, 3: 2, 4: 1, 5: None})
    t.vote_all({1: 2, 2: 1, 3: 1, 4: 1, 5: 1})
    memory = memories(t)[5]
    assert [(entry["round"], entry["ballot"]) for entry in memory.all_votes_history] == [(1, 1), (1, 2)]
    assert [entry["vote_number"] for entry in memory.voting_history] == [None, 1]


def test_a_forfeited_vote_is_no_vote_of_ones_own_and_a_silence_is_nothing_said(table: Any) -> None:
    t = table()
    t.forfeit(1)
    t.say_all()
    t.forfeit(1)
    memory = memories(t)[1]
    assert memory.voting_history == []
    assert memory.all_descriptions[0]["description"] == ""
    assert len(memory.heard_in(1)) == 3


def test_an_event_that_comes_twice_is_remembered_once(table: Any) -> None:
    t = table()
    t.round({1: 2, 2: 1, 3: 1, 4: 2})
    once, twice, unnumbered = AgentMemory(), AgentMemory(), AgentMemory()
    for number, event in enumerate(t.events, 1):
        if event.visible_to == ALL or "a1" in event.visible_to:
            once.observe(evolve(event, seq=number))
            for _ in range(2):
                twice.observe(evolve(event, seq=number))
            unnumbered.observe(event)
    assert once.as_json() == twice.as_json() == unnumbered.as_json()
    assert once.last_seq == twice.last_seq > 0


def test_memory_can_be_filled_by_hand_and_is_not_changed_from_outside() -> None:
    memory = AgentMemory()
    said = [{"player_id": 2, "name": "Bob", "description": "grey", "role": "civilian"}]
    memory.add_to_memory(1, descriptions=said, all_votes=[{"voter_id": 1, "target_id": 2}])
    memory.add_to_memory(1, vote_record={"target_id": 2, "reason": "r"}, reasoning={"reason": "r", "vote_number": 2})
    copy = memory.as_json()
    copy["all_votes_history"][0]["votes"][0]["target_id"] = 9
    said[0]["description"] = "red"
    assert memory.all_descriptions == [{"round": 1, "player_id": 2, "name": "Bob", "description": "grey"}]
    assert memory.all_votes_history == [{"round": 1, "ballot": 1, "votes": [{"voter_id": 1, "target_id": 2}]}]
    assert memory.voting_history[0]["target_id"] == memory.reasoning_history[0]["reasoning"]["vote_number"] == 2


def test_other_events_teach_nothing() -> None:
    assert learned_from(Event(kind="round_started", visible_to=ALL, text="", data={"round": 1, "order": [1]})) is None
