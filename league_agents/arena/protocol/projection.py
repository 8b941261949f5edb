"""The state and the events of a match as one viewer may see them.

Rule: a viewer is sent nothing that the match does not show it. Fields added here (status, names, rules) are the
same for everybody, except the viewer's own clock and legal actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from league_agents.arena.protocol.envelope import OutgoingFrame, PushBody, headed, instant
from league_agents.arena.protocol.hosting import Hosted, Profile, Status, agents_of, viewer_of
from league_agents.arena.protocol.profile import state_as_in_schemas
from league_agents.arena.protocol.requests import RequestHeading
from league_agents.games.game import HOST, SPECTATOR, Event, LegalAction, is_visible


def state_answer(hosted: Hosted, heading: RequestHeading) -> OutgoingFrame:
    """The answer to ``get_state``: the match as the sender may see it."""
    match, asker = hosted.match, heading.agent_id
    viewer = viewer_of(asker)
    active = match.active() if hosted.status is Status.STARTED else ()
    if hosted.started_at is None:
        # Also for a match that was abandoned before it began: it has no state yet.
        phase, turn, stage, view = "lobby", 0, "wait", {}
    else:
        info = match.info(viewer)
        phase, turn, view = info.phase, info.turn, match.view(viewer)
        stage = "done" if hosted.status is Status.ABANDONED else info.stage
    outcome = match.outcome() if hosted.status is Status.ENDED else None
    is_active = asker in active
    deadline = hosted.driver.deadline(asker) if is_active else None
    answer = headed(
        "get_state_response",
        heading,
        {
            "status": hosted.status.value,
            "phase": phase,
            "turn": turn,
            "stage": stage,
            "started_at": None if hosted.started_at is None else instant(hosted.started_at),
            "ended_at": None if hosted.ended_at is None else instant(hosted.ended_at),
            "active_agent_id": asker if is_active else active[0] if active else None,
            "agents": agents_of(hosted.seats),
            "winners": [] if outcome is None else list(outcome.winners),
            "state": {
                "version": match.game.version,
                "data": {
                    "seq": last_seq(hosted, viewer),
                    "active_agent_ids": list(active),
                    "deadline": None if deadline is None else instant(deadline),
                    "legal": [_legal(each) for each in match.legal(asker)] if is_active else [],
                    "rules": rules_of(hosted),
                    "view": view,
                },
            },
        },
    )
    return state_as_in_schemas(answer, hosted) if hosted.profile is Profile.SCHEMAS else answer


def rules_of(hosted: Hosted) -> str:
    """The rules in words, in the match's language."""
    if hosted.rules is None:
        match = hosted.match
        usual = match.game.config_schema.get("properties", {}).get("lang", {}).get("default", "en")
        hosted.rules = match.game.rules_text(match.config, match.config.get("lang", usual))
    return hosted.rules


def last_seq(hosted: Hosted, viewer: str) -> int:
    """The number of the last event visible to a viewer; 0 before there is any.

    Not the number of the last event overall: the difference would reveal how many events are hidden from the viewer.
    """
    if hosted.status is Status.WAITING:
        return 0
    if hosted.closing is not None:
        return hosted.closing.seq
    for event in hosted.match.events_for(HOST, hosted.counted):
        hosted.counted = event.seq
        for each in (*hosted.match.agent_ids, SPECTATOR):
            if is_visible(event, each):
                hosted.seen[each] = event.seq
    return hosted.seen.get(viewer, 0)


def happened(hosted: Hosted, viewer: str, after: int) -> list[Event]:
    """The events visible to a viewer with numbers above ``after``, oldest first."""
    if hosted.status is Status.WAITING:
        return []
    found = [event for event in hosted.match.events_for(viewer, after) if event.seq <= hosted.pushed]
    if hosted.closing is not None and hosted.closing.seq > after:
        found.append(hosted.closing)
    return found


def pushes(hosted: Hosted, events: Sequence[Event]) -> Iterator[tuple[str, OutgoingFrame]]:
    """Each event for each agent and spectator that may see it, in the order of the events."""
    recipients = [(seat.agent_id, seat.agent_id) for seat in hosted.seats]
    recipients += [(spectator, viewer_of(spectator)) for spectator in hosted.spectators]
    for event in events:
        body: PushBody | None = None
        for recipient, viewer in recipients:
            if is_visible(event, viewer):
                body = body or push_body(hosted, event)
                yield recipient, body.to(recipient)


def push_body(hosted: Hosted, event: Event) -> PushBody:
    """The push body of an event of this match."""
    game = hosted.match.game
    return PushBody(
        event,
        game=game.code,
        game_version=game.version,
        match_id=hosted.match_id,
        as_event=hosted.profile is Profile.SCHEMAS,
    )


def _legal(legal: LegalAction) -> dict[str, Any]:
    found: dict[str, Any] = {"type": legal.type, "schema": legal.schema}
    if legal.choices is not None:
        found["choices"] = list(legal.choices)
    return found
