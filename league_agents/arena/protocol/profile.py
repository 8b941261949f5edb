"""Answers in the form of the organisation's schemas, which are narrower than the protocol's own page (arena 5.3).

Rule: with this profile every outgoing message is valid against those schemas. A ``request_id`` is the exception: it is
echoed, but the schemas do not define it, so a sender that follows them sends none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from league_agents.arena.protocol.envelope import OutgoingFrame, instant
from league_agents.arena.protocol.hosting import Hosted, agents_of
from league_agents.kit.values import evolve


def state_as_in_schemas(answer: Mapping[str, Any], hosted: Hosted) -> OutgoingFrame:
    """A ``get_state_response`` without the fields that the schema forbids, and with those that it requires."""
    fields = {name: value for name, value in answer.items() if name != "agent_id"}
    # The schema does not allow null: an unset instant is left out, or is the creation time if the field is required.
    if fields["ended_at"] is None:
        del fields["ended_at"]
    if fields["started_at"] is None:
        fields["started_at"] = instant(hosted.created_at)
    fields["active_agent_id"] = fields["active_agent_id"] or ""
    fields["agents"] = [{"id": agent["id"], "name": agent["name"]} for agent in _at_least_one(fields["agents"], hosted)]
    return OutgoingFrame(fields)


def match_as_in_schemas(told: Mapping[str, Any], hosted: Hosted) -> dict[str, Any]:
    """A match of ``get_matches_response``; an abandoned match has the status ``ended``."""
    status = "ended" if told["status"] == "abandoned" else told["status"]
    return {**told, "status": status, "agents": _at_least_one(told["agents"], hosted)}


def _at_least_one(agents: list[dict[str, str]], hosted: Hosted) -> list[dict[str, str]]:
    """The agents; for a match that nobody has joined, the agents of its free seats, as the schemas require one."""
    return agents or agents_of([evolve(seat, is_taken=True) for seat in hosted.seats])
