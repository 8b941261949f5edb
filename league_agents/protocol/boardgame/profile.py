"""Answers in the form of the organisation's schemas, which are narrower than the protocol's own page (arena 5.3).

Rule: with this profile everything that goes out is valid against those schemas. A ``request_id`` is echoed all the
same: they know none, so a sender that keeps to them sends none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from league_agents.protocol.boardgame.envelope import Envelope, instant
from league_agents.protocol.boardgame.hosting import Hosted


def state_as_in_schemas(answer: Mapping[str, Any], hosted: Hosted) -> Envelope:
    """A ``get_state_response`` without what the schema forbids, and with what it demands."""
    fields = {name: value for name, value in answer.items() if name != "agent_id"}
    # The schema has no null: an instant that has not come is left out, or is the creation where one must stand.
    if fields["ended_at"] is None:
        del fields["ended_at"]
    if fields["started_at"] is None:
        fields["started_at"] = instant(hosted.created_at)
    fields["active_agent_id"] = fields["active_agent_id"] or ""
    agents = [{"id": agent["id"], "name": agent["name"]} for agent in fields["agents"]]
    # It wants at least one agent, also of a match that nobody has joined.
    fields["agents"] = agents or [{"id": seat.agent_id, "name": seat.agent_id} for seat in hosted.seats]
    return Envelope(fields)


def matches_as_in_schemas(answer: Mapping[str, Any]) -> Envelope:
    """A ``get_matches_response``: no match without agents, and ``ended`` for one that was abandoned."""
    matches = [
        {**match, "status": "ended" if match["status"] == "abandoned" else match["status"]}
        for match in answer["matches"]
        if match["agents"]
    ]
    return Envelope({**answer, "matches": matches})
