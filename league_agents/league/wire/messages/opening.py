"""The season opens (protocol 4.1).

Rule: a reader asks only for what the receiver cannot do without; everything else has a default (the league manager in
the field leaves much empty). A writer fills in every key that some deployed client reads.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Struct

from league_agents.kit.ids import GameId, is_game_id, read_game_id
from league_agents.kit.values import evolve
from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.address import read_address
from league_agents.league.wire.declare import (
    ADDRESS,
    BROADCAST_ID,
    ID,
    INSTANT,
    LEAGUE_ID,
    SEASON_ID,
    SENDER_EMAIL,
    TEXT,
    DerivedKey,
    ValueKind,
    each,
    integer,
    message,
    read_fields,
    read_row,
    rows,
    wire,
    word,
)
from league_agents.league.wire.kinds import MessageType, Role, canonical_role
from league_agents.league.wire.messages.whole import WHOLE, WholeTable
from league_agents.league.wire.payload import BrokenPayload, LeagueMessage, Payload
from league_agents.league.wire.reading import (
    Fields,
    broken,
    first_id,
    first_of,
    first_text,
    id_of,
    list_of,
    text_of,
)

MOST_ASSIGNMENTS = 20_000
"""Rows of a table: a large league needs more than other lists may have."""
_MOST_SKIPPED = 20


@message(
    MessageType.BROADCAST_START_SEASON,
    MessageType.BROADCAST_START_SEASON_REGISTRATION,
    id_word="startseason",
    is_core=True,
    names_season=True,
)
class StartSeason(LeagueMessage, frozen=True, kw_only=True):
    """A season opens for registration."""

    broadcast_id: ClassVar = BROADCAST_ID
    league_id: ClassVar = LEAGUE_ID
    season_id: ClassVar = SEASON_ID
    season_name: Annotated[str, wire(TEXT, "season_name", "season_id", absent="")]
    game_type: Annotated[str, wire(ID, absent="Q21")] = "Q21"
    """The league manager in the field sent ``UNKNOWN``; never a reason to refuse."""

    total_rounds: Annotated[int, wire(integer(0), absent=0)] = 0
    """0: not known yet."""

    registered_players: Annotated[int | None, wire(integer(0))] = None
    registered_referees: Annotated[int | None, wire(integer(0))] = None
    registration_deadline: Annotated[
        datetime | None, wire(INSTANT, "registration_deadline", "registration_end", none_as="")
    ] = None
    """``None``: not stated (``""`` on the wire)."""

    message_text: Annotated[str | None, wire(TEXT)] = None


_ROLE = ValueKind(
    find=lambda fields, key: canonical_role(fields.get(key)), write=lambda role: role.value, rule="a role"
)
_NAME = ValueKind(find=lambda fields, *keys: (first_text(fields, *keys) or "").strip()[:200], rule="a name")


def _read_registration_request(fields: Fields, role: Role | None) -> Payload:
    request = read_fields(RegistrationRequest, fields)
    if isinstance(request, RegistrationRequest) and request.participant_role is None:
        return evolve(request, participant_role=role)
    return request


@message(MessageType.SEASON_REGISTRATION_REQUEST, read=_read_registration_request)
class RegistrationRequest(LeagueMessage, frozen=True, kw_only=True):
    """A participant wants to play. Who asks is the sender of the mail, whatever the ids say."""

    season_id: ClassVar = SEASON_ID
    user_id: Annotated[str | None, wire(ID)] = None
    participant_id: Annotated[str | None, wire(ID)] = None
    participant_role: Annotated[Role | None, wire(_ROLE)]
    """Received: the payload's, else the sender's, else the subject's."""

    display_name: Annotated[str, wire(_NAME, "display_name", "player_name")]
    """``""`` when a received request names nobody."""

    email: ClassVar = SENDER_EMAIL
    group_id: Annotated[str | None, wire(ID)] = None
    understands: Annotated[tuple[str, ...] | None, wire(each(id_of, most=20))] = None
    """What this client understands beyond the protocol: ``own_rows``. ``None``: nothing is declared."""

    def refusal(self) -> str | None:
        if self.participant_role is None or not self.display_name.strip():
            return "it needs a role and a display name"
        return None


class RegistrationStatus(StrEnum):
    """What the league manager decided about a request."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


_STATUS = word(
    {
        "accepted": RegistrationStatus.ACCEPTED,
        "registered": RegistrationStatus.ACCEPTED,
        "ok": RegistrationStatus.ACCEPTED,
        "rejected": RegistrationStatus.REJECTED,
    },
    "accepted or rejected",
)

ALREADY_REGISTERED = "already_registered"


@message(MessageType.SEASON_REGISTRATION_RESPONSE, is_core=True, names_season=True)
class RegistrationResponse(LeagueMessage, frozen=True, kw_only=True):
    """The league manager's answer to a request. Match it by season, not by correlation (4.1.3)."""

    status: Annotated[RegistrationStatus, wire(_STATUS, is_required=True)]
    season_id: ClassVar = SEASON_ID
    registration_id: Annotated[str | None, wire(ID)] = None
    reason: Annotated[str | None, wire(ID)] = None
    """A machine word when rejected: ``already_registered``, ``deadline_passed`` …"""

    message: Annotated[str | None, wire(TEXT)] = None

    @property
    def is_registered(self) -> bool:
        """Whether the participant is in. A rejection as ``already_registered`` means that it is (4.1.3)."""
        if self.status is RegistrationStatus.ACCEPTED:
            return True
        reason = (self.reason or "").strip().lower().replace("-", "_").replace(" ", "_")
        return reason == ALREADY_REGISTERED

    def refusal(self) -> str | None:
        if self.status is RegistrationStatus.REJECTED and not self.reason:
            return "a rejection needs a reason"
        return None


class AssignmentRole(StrEnum):
    """Who somebody is in one game; lower case on the wire (4.1.4)."""

    PLAYER1 = "player1"
    PLAYER2 = "player2"
    REFEREE = "referee"


_ASSIGNMENT_ROLES = {
    "player1": AssignmentRole.PLAYER1,
    "playera": AssignmentRole.PLAYER1,
    "player2": AssignmentRole.PLAYER2,
    "playerb": AssignmentRole.PLAYER2,
    "referee": AssignmentRole.REFEREE,
    "ref": AssignmentRole.REFEREE,
}


def assignment_role_of(value: object) -> AssignmentRole | None:
    """``player1`` and its tolerated spellings (protocol 4.1.4)."""
    text = id_of(value)
    if text is None:
        return None
    return _ASSIGNMENT_ROLES.get(text.lower().replace("_", "").replace("-", "").replace(" ", ""))


_ASSIGNMENT_ROLE = ValueKind(
    find=lambda fields, key: assignment_role_of(fields.get(key)),
    write=lambda role: role.value,
    rule="a row with role player1, player2 or referee",
)
GAME_ID = ValueKind(find=lambda fields, *keys: read_game_id(first_of(fields, *keys)), rule="a game id")
_GAME_ID_OF_A_ROW = evolve(GAME_ID, rule="a row with a game_id that ends in seven digits")


class Assignment(Struct, frozen=True, kw_only=True):
    """One row of the table: who has which role in which game."""

    role: Annotated[AssignmentRole, wire(_ASSIGNMENT_ROLE, is_required=True)]
    email: Annotated[str, wire(evolve(ADDRESS, rule="a row with an e-mail address"), is_required=True)]
    """Spelled as the league manager wrote it; reproduce it, compare it without letter case."""

    game_id: Annotated[GameId, wire(_GAME_ID_OF_A_ROW, "game_id", "match_id", is_required=True)]
    group_id: Annotated[str, wire(ID, absent="")]
    """``""`` when a received row lacks it."""


def _read_assignment_table(fields: Fields, _: Role | None) -> Payload:
    items = list_of(fields.get("assignments"), MOST_ASSIGNMENTS)
    if items is None:
        return broken("assignments", f"a list of at most {MOST_ASSIGNMENTS} rows", fields.get("assignments"))
    assignments: list[Assignment] = []
    skipped: list[Violation] = []
    for position, item in enumerate(items):
        read = read_row(Assignment, item)
        if isinstance(read, Assignment):
            assignments.append(read)
        elif len(skipped) < _MOST_SKIPPED:
            skipped.append(Violation(path=f"assignments[{position}]", rule=read, found=shown(item)))
    if not assignments:
        return BrokenPayload(violations=tuple(skipped)) if skipped else broken("assignments", "not empty", items)
    return AssignmentTable(
        assignments=tuple(assignments),
        message_text=text_of(fields.get("message_text")),
        whole=WHOLE.find(fields, "whole"),
        skipped=tuple(skipped),
    )


@message(
    MessageType.BROADCAST_ASSIGNMENT_TABLE,
    MessageType.ASSIGNMENT_TABLE_RESPONSE,
    read=_read_assignment_table,
    id_word="assign",
    is_core=True,
    names_season=True,
)
class AssignmentTable(LeagueMessage, frozen=True, kw_only=True):
    """The games of the whole season.

    At most 20,000 rows: a large league needs more than other lists do.
    """

    broadcast_id: ClassVar = BROADCAST_ID
    season_id: ClassVar = SEASON_ID
    league_id: ClassVar = LEAGUE_ID
    assignments: Annotated[tuple[Assignment, ...], wire(rows(Assignment))]
    total_count: ClassVar = DerivedKey(of=lambda table, _: len(table.assignments))
    message_text: Annotated[str | None, wire(TEXT)] = None
    whole: Annotated[WholeTable | None, wire(WHOLE)] = None
    """The table of which these are the receiver's rows; ``None``: this is the whole table."""

    skipped: tuple[Violation, ...] = ()
    """Rows of a received table that could not be read. One bad row does not cost everybody the season."""

    def refusal(self) -> str | None:
        if not self.assignments:
            return "it needs at least one assignment"
        for row in self.assignments:
            if not row.group_id or not is_game_id(row.game_id) or read_address(row.email) != row.email:
                return f"the row of {row.email[:60]!a} in game {row.game_id[:20]!a} is incomplete"
        return None


_LOWER_CASE_ID = ValueKind(find=lambda fields, key: (first_id(fields, key) or "").lower() or None, rule="an id")


@message(MessageType.RESPONSE_GROUP_ASSIGNMENT)
class AssignmentAck(LeagueMessage, frozen=True, kw_only=True):
    """A participant has received the table."""

    status: Annotated[str, wire(_LOWER_CASE_ID, absent="acknowledged")] = "acknowledged"
    season_id: ClassVar = SEASON_ID
    referee_id: Annotated[str | None, wire(ID)] = None
    player_email: Annotated[str | None, wire(ADDRESS)] = None
    group_id: Annotated[str | None, wire(ID)] = None
    assignments_received: Annotated[int | None, wire(integer(0), "assignments_received", "assignments_count")]


@message(MessageType.REQUEST_ASSIGNMENT_TABLE)
class RequestAssignmentTable(LeagueMessage, frozen=True, kw_only=True):
    """Please send the table again."""

    season_id: ClassVar = SEASON_ID
    group_id: Annotated[str | None, wire(ID)] = None
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None
