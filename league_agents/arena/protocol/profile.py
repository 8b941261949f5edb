"""Answers in the form of the organisation's schemas, which are narrower than the protocol's own page (arena 5.3).

Rule: with this profile everything that goes out is valid against those schemas. A ``request_id`` is echoed all the
same: they know none, so a sender that keeps to them sends none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from league_agents.arena.protocol.envelope import OutgoingFrame, instant
from league_agents.arena.protocol.hosting import Hosted, agents_of
from league_agents.kit.values import evolve


def state_as_in_schemas(answer: Mapping[str, Any], hosted: Hosted) -> OutgoingFrame:
    """A ``get_state_response`` without what the schema forbids, and with what it demands."""
    fields = {name: value for name, value in answer.items() if name != "agent_id"}
    # The schema has no null: an instant that has not come is left out, or is the creation where one must stand.
    if fields["ended_at"] is None:
        del fields["ended_at"]
    if fields["started_at"] is None:
        fields["started_at"] = instant(hosted.created_at)
    fields["active_agent_id"] = fields["active_agent_id"] or ""
    fields["agents"] = [{"id": agent["id"], "name": agent["name"]} for agent in _at_least_one(fields["agents"], hosted)]
    return OutgoingFrame(fields)


def match_as_in_schemas(told: Mapping[str, Any], hosted: Hosted) -> dict[str, Any]:
    """A match of ``get_matches_response``: ``ended`` where it was abandoned."""
    status = "ended" if told["status"] == "abandoned" else told["status"]
    return {**told, "status": status, "agents": _at_least_one(told["agents"], hosted)}


def _at_least_one(agents: list[dict[str, str]], hosted: Hosted) -> list[dict[str, str]]:
    """The agents; of a match that nobody has joined those who will sit there, because the schemas want one."""
    return agents or agents_of([evolve(seat, is_taken=True) for seat in hosted.seats])
