"""The season opens: how its payloads are read and written (protocol 4.1).

Rule: a reader asks only for what the receiver cannot do without; everything else has a default (the league manager in
the field leaves much empty). A writer fills in every key that some deployed client reads.
"""

from __future__ import annotations

from league_agents.core.violation import Violation, shown
from league_agents.ids import is_game_id, read_game_id
from league_agents.protocol.league.address import read_address
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.kinds import Role, canonical_role
from league_agents.protocol.league.messages import (
    Assignment,
    AssignmentAck,
    AssignmentRole,
    AssignmentTable,
    BrokenPayload,
    RegistrationRequest,
    RegistrationResponse,
    RegistrationStatus,
    RequestAssignmentTable,
    StartSeason,
)
from league_agents.protocol.league.reading import (
    Fields,
    broken,
    first_id,
    first_of,
    first_text,
    id_of,
    instant_of,
    integer_of,
    list_of,
    object_of,
    text_of,
)
from league_agents.protocol.league.writing import Document, present, refuse, stamp_or_none

MOST_ASSIGNMENTS = 20_000
"""Rows of a table: a large league needs more than other lists may have."""
_MOST_SKIPPED = 20

_ASSIGNMENT_ROLES = {
    "player1": AssignmentRole.PLAYER1,
    "playera": AssignmentRole.PLAYER1,
    "player2": AssignmentRole.PLAYER2,
    "playerb": AssignmentRole.PLAYER2,
    "referee": AssignmentRole.REFEREE,
    "ref": AssignmentRole.REFEREE,
}

_REGISTRATION_STATUS = {
    "accepted": RegistrationStatus.ACCEPTED,
    "registered": RegistrationStatus.ACCEPTED,
    "ok": RegistrationStatus.ACCEPTED,
    "rejected": RegistrationStatus.REJECTED,
}


def assignment_role_of(value: object) -> AssignmentRole | None:
    """``player1`` and its tolerated spellings (protocol 4.1.4)."""
    text = id_of(value)
    if text is None:
        return None
    return _ASSIGNMENT_ROLES.get(text.lower().replace("_", "").replace("-", "").replace(" ", ""))


def read_start_season(fields: Fields) -> StartSeason:
    return StartSeason(
        season_name=first_text(fields, "season_name", "season_id") or "",
        game_type=first_id(fields, "game_type") or "Q21",
        total_rounds=integer_of(fields.get("total_rounds"), 0) or 0,
        registration_deadline=instant_of(first_of(fields, "registration_deadline", "registration_end")),
        registered_players=integer_of(fields.get("registered_players"), 0),
        registered_referees=integer_of(fields.get("registered_referees"), 0),
        message_text=text_of(fields.get("message_text")),
    )


def write_start_season(payload: StartSeason, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        league_id=envelope.league_id,
        season_id=envelope.season_id,
        season_name=payload.season_name,
        game_type=payload.game_type,
        total_rounds=payload.total_rounds,
        registered_players=payload.registered_players,
        registered_referees=payload.registered_referees,
        registration_deadline=stamp_or_none(payload.registration_deadline) or "",
        message_text=payload.message_text,
    )


def read_registration_request(fields: Fields, role: Role | None) -> RegistrationRequest:
    return RegistrationRequest(
        display_name=(first_text(fields, "display_name", "player_name") or "").strip()[:200],
        participant_role=canonical_role(fields.get("participant_role")) or role,
        user_id=first_id(fields, "user_id"),
        participant_id=first_id(fields, "participant_id"),
        group_id=first_id(fields, "group_id"),
    )


def write_registration_request(payload: RegistrationRequest, envelope: Envelope) -> Document:
    if payload.participant_role is None or not payload.display_name.strip():
        raise refuse(envelope, "it needs a role and a display name")
    return present(
        season_id=envelope.season_id,
        user_id=payload.user_id,
        participant_id=payload.participant_id,
        participant_role=payload.participant_role.value,
        display_name=payload.display_name,
        email=envelope.sender.email,
        group_id=payload.group_id,
    )


def read_registration_response(fields: Fields) -> RegistrationResponse | BrokenPayload:
    stated = id_of(fields.get("status"))
    status = _REGISTRATION_STATUS.get((stated or "").lower())
    if status is None:
        return broken("status", "accepted or rejected", fields.get("status"))
    return RegistrationResponse(
        status=status,
        reason=id_of(fields.get("reason")),
        registration_id=id_of(fields.get("registration_id")),
        message=text_of(fields.get("message")),
    )


def write_registration_response(payload: RegistrationResponse, envelope: Envelope) -> Document:
    if payload.status is RegistrationStatus.REJECTED and not payload.reason:
        raise refuse(envelope, "a rejection needs a reason")
    return present(
        status=payload.status.value,
        season_id=envelope.season_id,
        registration_id=payload.registration_id,
        reason=payload.reason,
        message=payload.message,
    )


def read_assignment_table(fields: Fields) -> AssignmentTable | BrokenPayload:
    rows = list_of(fields.get("assignments"), MOST_ASSIGNMENTS)
    if rows is None:
        return broken("assignments", f"a list of at most {MOST_ASSIGNMENTS} rows", fields.get("assignments"))
    assignments: list[Assignment] = []
    skipped: list[Violation] = []
    for position, row in enumerate(rows):
        read = _read_assignment(row)
        if isinstance(read, Assignment):
            assignments.append(read)
        elif len(skipped) < _MOST_SKIPPED:
            skipped.append(Violation(path=f"assignments[{position}]", rule=read, found=shown(row)))
    if not assignments:
        return BrokenPayload(violations=tuple(skipped)) if skipped else broken("assignments", "not empty", rows)
    return AssignmentTable(
        assignments=tuple(assignments), message_text=text_of(fields.get("message_text")), skipped=tuple(skipped)
    )


def _read_assignment(row: object) -> Assignment | str:
    """The row, or the rule that it breaks."""
    fields = object_of(row)
    if fields is None:
        return "an object"
    role = assignment_role_of(fields.get("role"))
    if role is None:
        return "a row with role player1, player2 or referee"
    email = read_address(fields.get("email"))
    if email is None:
        return "a row with an e-mail address"
    game_id = read_game_id(first_of(fields, "game_id", "match_id"))
    if game_id is None:
        return "a row with a game_id that ends in seven digits"
    return Assignment(role=role, email=email, game_id=game_id, group_id=id_of(fields.get("group_id")) or "")


def write_assignment_table(payload: AssignmentTable, envelope: Envelope) -> Document:
    if not payload.assignments:
        raise refuse(envelope, "it needs at least one assignment")
    for row in payload.assignments:
        if not row.group_id or not is_game_id(row.game_id) or read_address(row.email) != row.email:
            raise refuse(envelope, f"the row of {row.email[:60]!a} in game {row.game_id[:20]!a} is incomplete")
    return present(
        broadcast_id=envelope.broadcast_id,
        season_id=envelope.season_id,
        league_id=envelope.league_id,
        assignments=[
            {"role": row.role.value, "email": row.email, "game_id": row.game_id, "group_id": row.group_id}
            for row in payload.assignments
        ],
        total_count=len(payload.assignments),
        message_text=payload.message_text,
    )


def read_assignment_ack(fields: Fields) -> AssignmentAck:
    return AssignmentAck(
        assignments_received=integer_of(first_of(fields, "assignments_received", "assignments_count"), 0),
        status=(id_of(fields.get("status")) or "acknowledged").lower(),
        referee_id=id_of(fields.get("referee_id")),
        player_email=read_address(fields.get("player_email")),
        group_id=id_of(fields.get("group_id")),
    )


def write_assignment_ack(payload: AssignmentAck, envelope: Envelope) -> Document:
    return present(
        status=payload.status,
        season_id=envelope.season_id,
        referee_id=payload.referee_id,
        player_email=payload.player_email,
        group_id=payload.group_id,
        assignments_received=payload.assignments_received,
    )


def read_request_assignment_table(fields: Fields) -> RequestAssignmentTable:
    return RequestAssignmentTable(
        group_id=id_of(fields.get("group_id")), response_timestamp=instant_of(fields.get("response_timestamp"))
    )


def write_request_assignment_table(payload: RequestAssignmentTable, envelope: Envelope) -> Document:
    return present(
        season_id=envelope.season_id,
        group_id=payload.group_id,
        response_timestamp=stamp_or_none(payload.response_timestamp),
    )
