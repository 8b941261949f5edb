"""What a league file may say: every key with its type, its limits and its default.

Rule: a key that is absent and has no default here follows from the environment, from another key, or is missed by the
reader, which knows whether it is needed. Imported when a league file is read, and not before: pydantic takes its time.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model

from league_agents.kit.written import NUMBER_AS_TEXT, PRINTABLE, Line, LongLine, Words, WrittenMapping, one_line
from league_agents.league.machines.manager.config import LookupTable
from league_agents.league.season.schedule import MOST_ROUNDS, ScheduleKind
from league_agents.league.season.tie_breaks import TieBreak
from league_agents.league.wire.address import read_address
from league_agents.mail.gmail.mailbox import GMAIL_ENDPOINT
from league_agents.mail.identity import GMAIL, Require
from league_agents.mail.quota import QuotaLimits

WEEK_S, YEAR_S = 7 * 86_400, 400 * 86_400


def _is_address(value: str) -> str:
    if read_address(value) != value:
        raise ValueError("no address")
    return value


def _is_protected(value: str) -> str:
    """Tokens travel on it, so plain ``http`` is for a server on this machine only."""
    value = value.rstrip("/")
    host = value.partition("://")[2].partition("/")[0]
    name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    is_near = value.startswith("http://") and name in ("127.0.0.1", "localhost", "[::1]")
    if not name or not (value.startswith("https://") or is_near) or "@" in host:
        raise ValueError("not protected")
    return value


Address = Annotated[str, one_line(254), PRINTABLE, AfterValidator(_is_address), Words("a mail address")]
Endpoint = Annotated[
    str,
    one_line(2_000),
    PRINTABLE,
    AfterValidator(_is_protected),
    Words("an https address (http only for 127.0.0.1 or localhost)"),
]
Wait = Annotated[float, Field(ge=0.001, le=WEEK_S)]
Pause = Annotated[float, Field(ge=0.2, le=WEEK_S)]
SeasonWait = Annotated[float, Field(ge=0, le=YEAR_S)]

_QUOTA: dict[str, Any] = {
    each.name: (Annotated[int, Field(ge=0, le=10**9)], each.default) for each in fields(QuotaLimits)
}
WrittenQuota: Any = create_model("WrittenQuota", __base__=WrittenMapping, **_QUOTA)


class WrittenFile(WrittenMapping):
    """The whole file. Sections that are not always read are looked at when they are."""

    league: Any = None
    rules: Any = None
    waits: Any = None
    demo: bool = False
    poll: Any = None
    gmail: Any = None
    log: Any = None
    roles: Any = None
    season: Any = None
    models: Any = None


class WrittenLeague(WrittenMapping):
    """Whom this process listens to."""

    manager_email: Address | None = None
    league_id: Line = "LEAGUE001"


class WrittenWaits(WrittenMapping):
    """Laid over the rules."""

    warmup_seconds: Wait | None = None
    questions_seconds: Wait | None = None
    guess_seconds: Wait | None = None
    grace_seconds: Annotated[float, Field(ge=0, le=WEEK_S)] | None = None


class WrittenPoll(WrittenMapping):
    """How often mail is looked for."""

    active_seconds: Pause | None = None
    idle_seconds: Pause | None = None


class WrittenGmail(WrittenMapping):
    """The mail service."""

    credentials: LongLine = "client_secret.json"
    endpoint: Endpoint = GMAIL_ENDPOINT
    sender_check: Annotated[Require, Field(strict=False)] = Require.PASS
    mail_server: Line = GMAIL
    timeout_seconds: Annotated[float, Field(ge=1, le=WEEK_S)] = 30
    look_into_spam: bool = True
    price_table: Literal["2026", "before_2026"] = "2026"
    prices: dict[str, Annotated[int, Field(ge=0, le=10_000)]] = Field(default_factory=dict)
    quota: WrittenQuota = WrittenQuota()


class WrittenLog(WrittenMapping):
    """Where the log goes."""

    level: Line = "INFO"
    is_json: bool = Field(default=False, alias="json")
    file: LongLine | None = None


class WrittenRoles(WrittenMapping):
    """Each is read when it runs."""

    manager: Any = None
    referee: Any = None
    player: Any = None


class WrittenRole(WrittenMapping):
    """What every role has."""

    address: Address | None = None
    journal: LongLine | None = None
    token: LongLine | None = None


class WrittenPlayer(WrittenRole):
    """A player, and what a referee has too."""

    id: Line | None = None
    group_id: Line = ""
    display_name: Line = "Player"
    agent: Annotated[str, one_line(1_000), PRINTABLE] = "offline"


class WrittenTarget(WrittenMapping):
    """What a referee does not let its agent choose."""

    opening_sentence: Annotated[str, one_line(5_000), PRINTABLE] | None = None
    associative_word: Annotated[str, one_line(100), PRINTABLE, NUMBER_AS_TEXT] | None = None


class WrittenReferee(WrittenPlayer):
    """A referee."""

    display_name: Line = "Q21 Referee"
    target: WrittenTarget = WrittenTarget()
    assignment_table_id: Line | None = None
    avoid_not_relevant: bool = False


ROLE_KEYS: dict[str, type[WrittenRole]] = {
    "manager": WrittenRole,
    "referee": WrittenReferee,
    "player": WrittenPlayer,
}


class WrittenTeam(WrittenMapping):
    """Two mailboxes of one group."""

    group_id: Line
    player: Address
    referee: Address
    name: Line = ""


class WrittenSeason(WrittenMapping):
    """A season, for the league manager."""

    id: Annotated[str, one_line(180), PRINTABLE, NUMBER_AS_TEXT]
    name: Line | None = None
    number: Annotated[int, Field(ge=0, le=99)] = 1
    opens_by_itself: bool = True
    is_automatic: bool = True
    schedule: Annotated[ScheduleKind, Field(strict=False)] | None = None
    meet_twice: bool = False
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    tie_breaks: list[Annotated[TieBreak, Field(strict=False)]] = Field(default_factory=list)
    lot_seed: Annotated[str, one_line(100), PRINTABLE, NUMBER_AS_TEXT] | Literal[""] = ""
    registration_seconds: SeasonWait | None = None
    start_delay_seconds: SeasonWait | None = None
    round_seconds: SeasonWait | None = None
    end_of_round_grace_seconds: SeasonWait | None = None
    round_gap_seconds: SeasonWait | None = None
    presence_seconds: SeasonWait | None = None
    results_broadcast: bool = True
    lookup_table: Annotated[LookupTable, Field(strict=False)] = LookupTable.OFF
    core_only: Annotated[list[Address], Field(max_length=1_000)] = Field(default_factory=list)
    teams: Annotated[list[WrittenTeam], Field(max_length=500)] = Field(default_factory=list)
