"""Whole matches of every game between agents that know nothing but what the envelopes say."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.arena.protocol.hosting import Profile
from league_agents.arena.protocol.shapes import schema_documents
from league_agents.games.game import LegalAction
from league_agents.kit.draw import Draw
from league_agents.turns.match import Match

TABLES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "guess_number": (["agent_0", "agent_1", "agent_2"], {}),
    "market": (["s1", "s2", "s3"], {}),
    "q21": (["referee", "ann", "bob"], {}),
    "undercover": (["agent_1", "agent_2", "agent_3", "agent_4", "agent_5"], {"tie": "revote"}),
}


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("game", sorted(TABLES))
def test_a_match_over_the_wire_is_the_match_that_it_would_be_without(
    table: Callable[..., Any], game: str, profile: Profile
) -> None:
    agents, config = TABLES[game]
    wire = table(game, agents, config, seed=11, profile=profile)
    scripted = import_module(f"league_agents.games.{game}.scripted").scripted
    documents = {
        name: Draft202012Validator(json.loads(text)) for name, text in schema_documents([wire.match.game]).items()
    }
    draws = {agent: Draw(5, agent) for agent in agents}
    sent = list(wire.opening)
    taken = []
    for _ in range(500):
        state = wire.state(agents[0])
        if state["status"] != "started":
            break
        agent = state["active_agent_id"]
        told = json.loads(wire.state(agent).text)["state"]["data"]
        legal = [LegalAction(**{"choices": None, **each}) for each in told["legal"]]
        action = scripted(told["view"], legal, draws[agent])
        data = json.loads(json.dumps(action.data))
        assert documents[f"action.{game}.{action.type}.json"].is_valid(data)
        out = wire.act(agent, action.type, data)
        assert out[0][1]["action_response"]["status"] == "success", out[0][1]
        sent += out
        taken.append((agent, action))

    direct = Match(wire.match.game, config=config, agent_ids=agents, seed=11)
    for agent, action in taken:
        direct.act(agent, action)
    assert wire.state(agents[0])["winners"] == list(direct.outcome().winners)  # type: ignore[union-attr]
    assert wire.match.events == direct.events
    for agent in agents:
        pushed = [each for to, each in sent if to == agent and each["type"].startswith("push")]
        seqs = [(each.get("message_response") or each["event"])["data"]["seq"] for each in pushed]
        assert seqs == [event.seq for event in direct.events_for(agent)]
        assert [json.loads(each.text) for each in pushed] == pushed == wire.service.pushes_after("m-1", agent, 0)
