"""What a person reads in any game is filled in; what it types is an action of the game or is refused in words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.person import ByPerson, Reader, Unclear
from league_agents.games.registry import declared, game_codes, game_of, part_of
from league_agents.kit.draw import Draw

TYPED = (
    "",
    "-",
    "0",
    "1",
    "2 because",
    "-7",
    "999999999",
    "1 " + "x" * 20_000,
    "11 " + "x" * 20_000,
    "no number",
    "a | b",
    "?" * 300,
    "A" * 20,
)
UNFILLED = re.compile(r"None|[{}]")


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_a_person_reads_and_types(code: str, lang: str) -> None:
    game = game_of(code)
    person: ByPerson = part_of(declared(code), declared(code).person)
    agents = [f"a{n}" for n in range(max(3, game.min_agents))]
    state = game.setup({"lang": lang}, agents, 1)
    refusals: set[str] = set()
    seen: list[str] = []
    for event in game.opening(state):
        seen += person.told(event, Reader(lang=lang))
    while pending := game.pending(state):
        agent = pending[0]
        view, legal, reader = game.view(state, agent), game.legal(state, agent), Reader(viewer=agent, lang=lang)
        advice = script_of(code)(view, legal, Draw(1, agent))
        seen += [*person.shown(view, legal, reader), person.prompt(view, legal, advice, reader)]
        schemas: dict[str, Any] = {each.type: each.schema for each in legal}
        for typed in TYPED:
            try:
                action = person.read([typed], view, legal, advice, reader)
            except Unclear as unclear:
                refusals.add(str(unclear))
            else:
                assert Draft202012Validator(schemas[action.type]).is_valid(dict(action.data)), typed
        step = game.apply(state, agent, advice)
        state = step.state
        for event in step.events:
            seen += person.told(event, Reader(lang=lang))
    assert [line for line in [*seen, *refusals] if UNFILLED.search(line)] == []
    assert len(refusals) >= 2
