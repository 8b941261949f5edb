"""The keys of a league file: each with its type, its limits and its default.

Rule: an absent key without a default here is derived from the environment or from another key, or the reader reports
it as missing if it is needed. Imported only when a league file is read, because importing pydantic is slow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from league_agents.config.model_file import WrittenModels
from league_agents.kit.mistakes import wrong_value
from league_agents.kit.written import (
    NUMBER_AS_TEXT,
    PRINTABLE,
    Line,
    LongLine,
    Words,
    WrittenMapping,
    allowed_in_words,
    inner_of,
    one_line,
)
from league_agents.league.machines.manager.config import LookupTable
from league_agents.league.season.schedule import MOST_AT_ONCE, MOST_ROUNDS, ScheduleKind
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
    """Refuse plain ``http`` unless the server is on this machine: tokens are sent to it."""
    value = value.rstrip("/")
    host = value.partition("://")[2].partition("/")[0]
    name = host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    is_near = value.startswith("http://") and name in ("127.0.0.1", "localhost", "[::1]")
    if not name or not (value.startswith("https://") or is_near) or "@" in host:
        raise ValueError("not protected")
    return value


def host_and_port(value: str) -> tuple[str, int]:
    """The parts of ``127.0.0.1:9464``, ``[::1]:9464`` or ``localhost:9464``. Raises ``ValueError``."""
    host, _, port = value.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host
    if host.startswith("[") != (":" in host) or not (port.isascii() and port.isdecimal() and int(port) < 65_536):
        raise ValueError("no address")
    return str(ip_address(host.removeprefix("[").removesuffix("]"))), int(port)


def _is_listening_address(value: str) -> str:
    host_and_port(value)
    return value


Address = Annotated[str, one_line(254), PRINTABLE, AfterValidator(_is_address), Words("a mail address")]
Endpoint = Annotated[
    str,
    one_line(2_000),
    PRINTABLE,
    AfterValidator(_is_protected),
    Words("an https address (http only for 127.0.0.1 or localhost)"),
]
ListeningAddress = Annotated[
    str,
    one_line(300),
    PRINTABLE,
    AfterValidator(_is_listening_address),
    Words("an IP address and a port, such as 127.0.0.1:9464"),
]
Wait = Annotated[float, Field(ge=0.001, le=WEEK_S)]
Pause = Annotated[float, Field(ge=0.2, le=WEEK_S)]
SeasonWait = Annotated[float, Field(ge=0, le=YEAR_S)]

Units = Annotated[int, Field(ge=0, le=10**9)]


_USUAL = QuotaLimits()


@dataclass(frozen=True, slots=True)
class ReadBy:
    """Annotation beside ``Any`` for a section that is not always read: the class that reads it."""

    kind: type[WrittenMapping]


class WrittenQuota(WrittenMapping):
    """What one account may use."""

    units_per_minute: Units = _USUAL.units_per_minute
    """What Google grants for calls."""

    units_kept_for_sending: Units = _USUAL.units_kept_for_sending
    """Of these, those that reading leaves alone."""

    sends_per_day: Units = _USUAL.sends_per_day
    """2000 for Google Workspace."""

    sends_kept_for_running_games: Units = _USUAL.sends_kept_for_running_games
    """Only games that have begun may use the last sends of the day."""

    sends_kept_from_new_games: Units = _USUAL.sends_kept_from_new_games
    """No game is begun when fewer would be left."""


class WrittenLeague(WrittenMapping):
    """Whom this process listens to."""

    manager_email: Address | None = None
    """The only address whose league messages are obeyed. Default: that of the manager's role."""

    league_id: Line = "LEAGUE001"
    """Used by a league manager; referees and players learn it from the broadcasts."""


class WrittenWaits(WrittenMapping):
    """Laid over the rules."""

    warmup_seconds: Wait | None = None
    """For the answer to the warm-up question. Default of all four: the rules."""

    questions_seconds: Wait | None = None
    """For the questions."""

    guess_seconds: Wait | None = None
    """For the guess."""

    grace_seconds: Annotated[float, Field(ge=0, le=WEEK_S)] | None = None
    """Added to a written deadline before a player times out."""


class WrittenPoll(WrittenMapping):
    """How often mail is looked for."""

    active_seconds: Pause | None = None
    """While a game is open, and for a minute after anything happened. Default: 1.5."""

    idle_seconds: Pause | None = None
    """At any other time. Default: 15."""


def _is_name_in_project(value: str) -> str:
    if _IN_PROJECT.fullmatch(value) is None:
        raise ValueError("no name")
    return value


_IN_PROJECT = re.compile(r"projects/[a-z0-9.:-]{1,100}/(?:topics|subscriptions)/[A-Za-z][A-Za-z0-9._~+%-]{2,254}")
Topic = Annotated[
    str,
    one_line(400),
    PRINTABLE,
    Field(pattern="/topics/"),
    AfterValidator(_is_name_in_project),
    Words("a name such as projects/my-league/topics/mail"),
]
SubscriptionName = Annotated[
    str,
    one_line(400),
    PRINTABLE,
    Field(pattern="/subscriptions/"),
    AfterValidator(_is_name_in_project),
    Words("a name such as projects/my-league/subscriptions/mail"),
]


class WrittenPush(WrittenMapping):
    """Gmail says through Cloud Pub/Sub that mail has arrived (extra `push`)."""

    topic: Topic | None = None
    """What Gmail publishes to: `projects/PROJECT/topics/NAME`, where gmail-api-push@system.gserviceaccount.com may
    publish. Default: new mail is found by polling alone."""

    subscription: SubscriptionName | None = None
    """A pull subscription of that topic, `projects/PROJECT/subscriptions/NAME`. It may serve all mailboxes of this
    process, and no other process."""

    credentials: LongLine | None = None
    """Key file of a service account that may read the subscription. Keep it out of git. Default: the application
    default credentials of this machine."""

    endpoint: Endpoint = "https://pubsub.googleapis.com"
    """Another server that speaks Pub/Sub's API, such as `league-agents sandbox`."""


class WrittenGmail(WrittenMapping):
    """The mail service."""

    credentials: LongLine = "client_secret.json"
    """File of the OAuth client of your Google Cloud project. Keep it out of git."""

    endpoint: Endpoint = GMAIL_ENDPOINT
    """Another server that speaks Gmail's API, such as `league-agents sandbox`."""

    sender_check: Annotated[Require, Field(strict=False)] = Require.PASS
    """How sure of a sender to be: `pass`, our mail server has confirmed the domain; `no_failure`, it has found no
    forgery; `nothing`, the From header is believed."""

    mail_server: Line = GMAIL
    """What our receiving server calls itself in Authentication-Results. Everybody else's verdict is ignored."""

    timeout_seconds: Annotated[float, Field(ge=1, le=WEEK_S)] = 30
    """For each wait for the network."""

    look_into_spam: bool = True
    """Whether league mail is taken out of Spam, every ten minutes."""

    price_table: Literal["2026", "before_2026"] = "2026"
    """What Google charges: `2026` for projects made since May 2026, `before_2026` for older ones."""

    prices: dict[str, Annotated[int, Field(ge=0, le=10_000)]] = Field(default_factory=dict)
    """Units of single methods, instead of the table's."""

    quota: WrittenQuota = WrittenQuota()
    """What one account may use."""

    push: WrittenPush = WrittenPush()
    """Gmail says through Cloud Pub/Sub that mail has arrived (extra `push`)."""


class WrittenLog(WrittenMapping):
    """Where the log goes."""

    level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value),
    ] = "INFO"
    """The least that is told."""

    is_json: bool = Field(default=False, alias="json")
    """Whether every line is one JSON object."""

    file: LongLine | None = None
    """Instead of stderr; begun anew at 10 MB, five old ones are kept."""


class WrittenRole(WrittenMapping):
    """What every role has."""

    address: Address | None = None
    """The mailbox, spelled exactly as Gmail shows it."""

    name: Line | None = None
    """What the log calls it where several of a kind run together, and its files in a list. Default: its address."""

    journal: LongLine | None = None
    """Where everything that happened is kept: a file, an address such as `sqlite:///referee.db`, or a PostgreSQL
    database, `postgresql://USER@HOST/DATABASE` (extra `postgres`). Default: `LEAGUE_JOURNAL_URL`, or a file named
    after the role, in a list also after its name."""

    token: LongLine | None = None
    """File of the mailbox's authorization, made by `league-agents auth login`. Default: named as the journal is."""


class WrittenPlayer(WrittenRole):
    """A player, and what a referee has too."""

    id: Line | None = None
    """Who you are in the league. A referee needs it; a player's default is its group_id."""

    group_id: Line = ""
    """Your group, as the league office spells it."""

    display_name: Line = "Player"
    """What people call you."""

    agent: Annotated[str, one_line(1_000), PRINTABLE] = "offline"
    """Who plays or judges: offline, llm (both also with a difficulty, as in `offline:hard`), scripted,
    `scripted:NAME`, `a2a:URL`, `module:Class` or `file.py:Class`."""


class WrittenTarget(WrittenMapping):
    """What a referee does not let its agent choose."""

    opening_sentence: Annotated[str, one_line(5_000), PRINTABLE] | None = None
    """The sentence that players have to find."""

    associative_word: Annotated[str, one_line(100), PRINTABLE, NUMBER_AS_TEXT] | None = None
    """The word that they have to find."""


class WrittenReferee(WrittenPlayer):
    """A referee."""

    display_name: Line = "Q21 Referee"
    """What people call you."""

    target: WrittenTarget = WrittenTarget()
    """A fixed target instead of one that the agent chooses."""

    assignment_table_id: Line | None = None
    """Handed to the agent as it is."""

    avoid_not_relevant: bool = False
    """Whether D is sent for Not Relevant; one player client in the field cannot store the longer word."""


class WrittenTeam(WrittenMapping):
    """Two mailboxes of one group."""

    group_id: Line
    """The group."""

    player: Address
    """Its player's mailbox."""

    referee: Address
    """Its referee's mailbox."""

    name: Line = ""
    """What people call the team. Default: the group_id."""


Teams = Annotated[list[WrittenTeam], Field(max_length=500)]


class WrittenManager(WrittenRole):
    """A league manager."""

    teams: Teams = Field(default_factory=list)
    """Its division, where `manager` is a list. Default: `season.teams`."""


class WrittenRoles(WrittenMapping):
    """Each is read when it runs."""

    manager: Annotated[Any, ReadBy(WrittenManager)] = None
    """The league manager, or a list of them: one for each division, the highest division first."""

    referee: Annotated[Any, ReadBy(WrittenReferee)] = None
    """A referee, or a list of referees."""

    player: Annotated[Any, ReadBy(WrittenPlayer)] = None
    """A player, or a list of players."""


ROLE_KEYS: dict[str, type[WrittenRole]] = {
    name: read_by.kind
    for name, field in WrittenRoles.model_fields.items()
    for read_by in field.metadata
    if isinstance(read_by, ReadBy) and issubclass(read_by.kind, WrittenRole)
}
"""Class of a role's section, or of each entry where the section is a list."""


class WrittenSeason(WrittenMapping):
    """A season, for the league manager."""

    id: Annotated[str, one_line(180), PRINTABLE, NUMBER_AS_TEXT]
    """What the season is called in messages."""

    name: Line | None = None
    """What people call it. Default: its id."""

    number: Annotated[int, Field(ge=0, le=99)] = 1
    """The first two digits of game ids."""

    opens_by_itself: bool = True
    """Whether the season is opened at the first start."""

    is_automatic: bool = True
    """Whether steps follow each other by themselves; otherwise each waits for an order."""

    schedule: Annotated[ScheduleKind, Field(strict=False)] | None = None
    """Who meets whom. Default: `round-robin`, or `double` with `meet_twice`."""

    meet_twice: bool = False
    """Whether everybody plays everybody twice, with sides swapped."""

    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    """Of a Swiss schedule. Default: as many as it takes to find one winner."""

    games_at_once: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 1
    """Games of a mailbox in a round that is no Swiss or knockout one. Some clients judge only the first."""

    tie_breaks: list[Annotated[TieBreak, Field(strict=False)]] = Field(default_factory=list)
    """What ranks teams with the same points, the first one first; equal after all of them shares a rank."""

    lot_seed: Annotated[str, one_line(100), PRINTABLE, NUMBER_AS_TEXT] = ""
    """What lots are drawn by. Default: the season's id."""

    registration_seconds: SeasonWait | None = None
    """Registration ends then, or when everybody has registered. Default: 600."""

    start_delay_seconds: SeasonWait | None = None
    """From the assignment table to round 1, unless everybody acknowledged before. Default: 10."""

    round_seconds: SeasonWait | None = None
    """The longest that a round may take. Default: 1800."""

    end_of_round_grace_seconds: SeasonWait | None = None
    """How long reports of matches that were cut off are awaited. Default: 120."""

    round_gap_seconds: SeasonWait | None = None
    """From the end of a round to the next one. Default: 0."""

    presence_seconds: SeasonWait | None = None
    """How long a keep-alive must be out before silence counts as absence. Default: 60."""

    results_broadcast: bool = True
    """Whether everybody is told the results of each round."""

    lookup_table: Annotated[LookupTable, Field(strict=False)] = LookupTable.OFF
    """`seen`: referees are told who was heard of this season."""

    core_only: Annotated[list[Address], Field(max_length=1_000)] = Field(default_factory=list)
    """Players that understand the five core broadcasts only."""

    promoted: Annotated[int, Field(ge=0, le=500)] = 0
    """How many teams rise from each division after the season, and fall into it: `manage next-season`."""

    follows: Annotated[str, one_line(180), PRINTABLE, NUMBER_AS_TEXT] = ""
    """The season before, which `manage next-season` writes here: a manager that has ended it begins this one."""

    teams: Teams = Field(default_factory=list)
    """At least three: two play, a third one judges."""


class WrittenFile(WrittenMapping):
    """The whole file. Sections that are not always read are looked at when they are."""

    league: Annotated[Any, ReadBy(WrittenLeague)] = None
    """Whom this process listens to."""

    roles: Annotated[Any, ReadBy(WrittenRoles)] = None
    """What this process is: one or more of manager, referee, player. Each has a mailbox, a token and a journal."""

    season: Annotated[Any, ReadBy(WrittenSeason)] = None
    """The season that a league manager runs."""

    rules: Annotated[Any, Words("the name of a rule set, a file or a mapping of rules")] = None
    """`prd`, `course`, a file of your own, or a mapping with its keys (`league-agents rules`). Default: `prd`."""

    waits: Annotated[Any, ReadBy(WrittenWaits)] = None
    """How long a referee waits for each step of a player."""

    demo: bool = False
    """Whether fixed built-in texts are used instead of an agent that thinks."""

    poll: Annotated[Any, ReadBy(WrittenPoll)] = None
    """How often mail is looked for. A look costs 2 of the 6,000 units that Google grants a minute."""

    gmail: Annotated[Any, ReadBy(WrittenGmail)] = None
    """The mail service."""

    models: Annotated[Any, ReadBy(WrittenModels)] = None
    """Language models for agents that are called llm."""

    log: Annotated[Any, ReadBy(WrittenLog)] = None
    """Where the log goes."""

    archive_after_days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    """When a match that is over, and had no mail for so long, becomes one compressed record of its journal. Commands
    show it as before. Default: never."""

    metrics: ListeningAddress | None = None
    """Where `run --watch` serves figures for Prometheus at `/metrics`, and `/healthz` (extra `metrics`). Port 0 is any
    free one, which the log names. Default: nowhere."""

    metrics_for_others: bool = False
    """Whether `metrics` may be an address that other machines reach. Everybody who reaches it may read the figures."""


def mapping_in(field: FieldInfo) -> type[WrittenMapping] | None:
    """The class of the keys in a mapping; ``None`` for a field that holds no mapping with declared keys."""
    return next((each.kind for each in field.metadata if isinstance(each, ReadBy)), inner_of(field.annotation))


def declared_at(path: str) -> FieldInfo:
    """The key of a league file at a path such as ``roles.player.address``."""
    kind, key = _mapping_at(path)
    return kind.model_fields[key]


def value_at(path: str, value: object) -> object:
    """``value`` as the key at ``path`` holds it. Raises ``ConfigError`` that names the key and what is allowed."""
    kind, key = _mapping_at(path)
    field = kind.model_fields[key]
    allowed: Any = Annotated[field.annotation, path, *field.metadata]
    try:
        found: object = TypeAdapter(allowed).validate_python(value)
    except ValidationError:
        raise wrong_value(path, allowed_in_words(kind, key), value) from None
    return found


def _mapping_at(path: str) -> tuple[type[WrittenMapping], str]:
    """The mapping that holds the key at ``path``, and the key's name in it."""
    kind: type[WrittenMapping] = WrittenFile
    *sections, key = path.split(".")
    for name in sections:
        inner = mapping_in(kind.model_fields[name])
        assert inner is not None, path
        kind = inner
    return kind, key
