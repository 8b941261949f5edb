"""Build the models that agents can call from the settings of language models.

Rule: every model is behind a time limit and the books, on every path; the chains of all callbacks share their parts,
so they share the health of each model.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from league_agents.app.outages import Outages
from league_agents.app.storage import STORAGE, RoleJournals
from league_agents.config.model_settings import (
    PROVIDER_VARIABLE,
    ModelEntry,
    ModelSettings,
    none_configured,
    read_models,
    read_prices,
)
from league_agents.kit.clock import Clock, SystemClock, monotonic_s, sleep_s
from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.kit.printable import line_of
from league_agents.kit.private_file import make_private_folder
from league_agents.kit.violation import shown
from league_agents.knowledge.corpus import default_index_path
from league_agents.llm.accounted import Account, Accounted, amount_of
from league_agents.llm.calls import ModelCall
from league_agents.llm.cassette import Cassette, CassettePlayer, CassetteRecorder
from league_agents.llm.chain import Chain, ChainModel, Health
from league_agents.llm.chat import Chat
from league_agents.llm.exchange import Backend, Request
from league_agents.llm.limits import Amount, Planned
from league_agents.llm.port import ChatModel, Prompt, Purpose, Usage
from league_agents.llm.prices import PriceList
from league_agents.llm.provider import Access
from league_agents.llm.registry import provider_named
from league_agents.llm.responses import quoted
from league_agents.llm.schema_in_words import SchemaInWords
from league_agents.llm.time_limit import TimeLimited

LEDGER_NAME, PRICES_NAME = "ledger.db", "prices.yaml"

CONNECTIVITY = "connectivity"
"""The callback's name in the books when a person tries a model outside a game."""


@dataclass(frozen=True, slots=True)
class Need:
    """The most that one callback of a game may need."""

    stage: int
    """The stage, as in ``Planned``."""

    times: int
    """Calls in a game: one for a player, one for each player for a referee."""

    sent_bytes: int
    written_tokens: int


NEEDS: Mapping[str, Mapping[str, Need]] = {
    "referee": {
        "get_round_start_info": Need(0, 1, 8_000, 600),
        "get_answers": Need(1, 2, 16_000, 2_000),
        "get_score_feedback": Need(1, 2, 9_000, 600),
    },
    "player": {
        "get_questions": Need(0, 1, 20_000, 3_000),
        "get_guess": Need(1, 1, 10_000, 600),
    },
}
"""In the order of the callbacks. A text has at most as many tokens as bytes."""

BackendMaker = Callable[[ModelEntry], Backend]
"""Makes the connection to a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """The files that record the calls of one participant."""

    league: str
    """Limits per season are counted for each league."""

    scope: str
    """The participant's id, the same after a restart."""

    journal: Path | None = None
    """The role's journal; ``None`` means the ledger."""

    journals: RoleJournals | None = None
    """Where the role's journal is kept, instead of ``journal``. One in a database counts the spending too."""

    ledger: Path | None = None
    """``None`` means the one in the data folder. It counts the spending of all participants."""

    @classmethod
    def of_one_run(cls, participant: str) -> Books:
        """Books for games that are not resumed after a crash: no earlier call is found, and limits per game and season
        are not shared with another run."""
        run = secrets.token_hex(6)
        return cls(league=f"run {run}", scope=f"run {run} {participant}")


class Models:
    """The models of one participant. Thread-safe."""

    def __init__(
        self,
        settings: ModelSettings,
        backend_of: BackendMaker,
        *,
        sleep: Callable[[float], None] = sleep_s,
        health_of: Callable[[], Health] = Health,
    ) -> None:
        self._settings = settings
        self._backend_of = backend_of
        self._sleep = sleep
        self._health_of = health_of
        self._lock = threading.Lock()
        self._members: dict[str, ChainModel] = {}
        self._chains: dict[str, ChatModel | None] = {}

    def for_callback(self, callback: str) -> ChatModel | None:
        """The model of a callback; ``None`` when the settings name none."""
        with self._lock:
            if callback not in self._chains:
                members = [self._member(entry) for entry in self._settings.chain(callback)]
                self._chains[callback] = Chain(members, sleep=self._sleep) if members else None
            return self._chains[callback]

    def _member(self, entry: ModelEntry) -> ChainModel:
        if entry.name not in self._members:
            chat = Chat(self._backend_of(entry), entry.patience, sleep=self._sleep)
            self._members[entry.name] = ChainModel(model=chat, health=self._health_of())
        return self._members[entry.name]


class SharedBackends:
    """One connection to each service for all participants of a process: each takes a megabyte. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[ModelEntry, Backend] = {}

    def of(self, entry: ModelEntry) -> Backend:
        """The connection that an entry describes. Raises as ``limited_backend``."""
        with self._lock:
            if entry not in self._made:
                self._made[entry] = limited_backend(entry)
            return self._made[entry]


def chat_models(
    settings: ModelSettings,
    *,
    role: str,
    books: Books,
    clock: Clock | None = None,
    backend_of: BackendMaker | None = None,
    shared: SharedBackends | None = None,
    record: Cassette | None = None,
    replay: CassettePlayer | None = None,
    watched: Callable[[Backend], Backend] = lambda backend: backend,
    called: Callable[[ModelCall], None] = lambda _call: None,
) -> Models:
    """The models of one participant. ``role`` is ``referee``, ``player`` or another word for a game without a plan.

    ``record`` keeps every exchange; ``replay`` answers from a recording, without calls, waits or cost. Both may be
    shared by several participants. ``watched`` wraps every model, replayed ones too; ``called`` is
    called with every recorded call; ``shared`` holds the connections that participants share. Raises ``ConfigError``
    with the remedy when no model is configured.
    """
    if not settings.entries:
        raise none_configured(settings.where)
    if replay is not None:
        return Models(
            settings, lambda entry: watched(replay.of(entry.full_name)), sleep=_do_not_wait, health_of=_always_rested
        )
    if backend_of is None:
        for entry in settings.entries:
            _check_key(entry)
    make = backend_of or (limited_backend if shared is None else shared.of)
    account = _account(settings, role, books, clock or SystemClock())

    def accounted(entry: ModelEntry) -> Backend:
        backend = Accounted(make(entry), account, called)
        return watched(backend if record is None else CassetteRecorder(backend, record))

    return Models(settings, accounted)


def _check_key(entry: ModelEntry) -> None:
    if entry.needs_key and entry.key is None:
        raise ConfigError(entry.key_name, f"is not set, and {entry.full_name} needs a key; put it into .env")
    if entry.key is not None and not (entry.key.isascii() and entry.key.isprintable() and " " not in entry.key):
        raise ConfigError(entry.key_name, "has a character that no key has; copy the whole key anew")


def _account(settings: ModelSettings, role: str, books: Books, clock: Clock) -> Account:
    prices = prices_of(settings)
    _check_money_can_be_counted(settings, prices)
    path = books.ledger or default_ledger_path()
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise ConfigError(str(path.parent), f"cannot be made: {error.strerror}; set LEAGUE_AGENTS_DATA") from None
    plan, journals = _plan(settings, role, prices), books.journals
    shared = None if journals is None else journals.spending(settings.limits, plan, clock=clock)
    in_file = STORAGE.calls(books.journal or path, in_journal=books.journal is not None)
    return Account(
        league=books.league,
        scope=books.scope,
        ledger=in_file if journals is None else journals.calls(),
        budget=shared or STORAGE.spending(path, settings.limits, plan, clock=clock),
        prices=prices,
        clock=clock,
    )


def limited_backend(entry: ModelEntry) -> Backend:
    """The connection to the service, within a time limit. Raises ``ConfigError`` when its provider cannot be used."""
    provider = provider_named(entry.provider, entry.name)
    access = Access(
        name=entry.full_name,
        model=entry.model,
        base_url=entry.base_url or provider.base_url.rstrip("/"),
        key=entry.key,
        key_name=entry.key_name,
        options=entry.options,
        thinks=entry.patience.thinking_tokens > 0,
    )
    try:
        backend = provider.connect(access)
        called = backend.name
    except LeagueError:
        raise
    except Exception as error:
        # Boundary to third-party code: the SDK may be missing, or raise anything.
        why = quoted(line_of(error), access.key)
        raise ConfigError(f"provider {provider.name}", f"cannot be used: {why}") from None
    if called != access.name:
        raise ConfigError(f"provider {provider.name}", f"its backend is called {shown(called)}, not {access.name}")
    return TimeLimited(backend if provider.takes_schema else SchemaInWords(backend))


def environment_models(environment: Mapping[str, str] | None = None) -> ModelSettings:
    """The models in the environment and in ``.env`` in the current folder, without a league file. Raises
    ``ConfigError``."""
    if environment is None:
        from league_agents.config.league_file import environment_of

        environment = environment_of(Path.cwd() / "league.yaml")
    return read_models(None, environment, Path.cwd())


def arena_models(told: Callable[[str], None]) -> Callable[[str], ChatModel | None]:
    """The models of the environment for games of the arena, by ``arena.GAME``. ``told`` is called with one line when a
    model fails, and when it recovers. Raises ``ConfigError``."""
    outages = Outages(failed=told, recovered=told)
    books = Books.of_one_run("arena")
    return chat_models(environment_models(), role="arena", books=books, watched=outages.watched).for_callback


def ask_for_a_word(
    settings: ModelSettings, entry: ModelEntry, *, timeout: timedelta = timedelta(seconds=30)
) -> timedelta:
    """Make a minimal call to a model, to test that it answers. Return its duration.

    The ledger records this call under the callback ``connectivity``, and it counts against the limits of a day. Raises
    ``ModelError``, and ``ConfigError`` when the key is missing or a limit in dollars cannot be kept.
    """
    _check_key(entry)
    account = _account(settings, CONNECTIVITY, Books.of_one_run(CONNECTIVITY), SystemClock())
    backend = Accounted(limited_backend(entry), account)
    purpose = Purpose(match_id="", callback=CONNECTIVITY, step="test")
    request = Request(
        prompt=Prompt(system="Answer with one word.", user="Say: ready", purpose=purpose),
        schema=None,
        max_output_tokens=16 + entry.patience.thinking_tokens,
        timeout=min(timeout, entry.patience.timeout),
    )
    began_s = monotonic_s()
    backend.exchange(request)
    return timedelta(seconds=monotonic_s() - began_s)


def default_ledger_path() -> Path:
    """``ledger.db`` beside the knowledge index. Raises ``ConfigError``."""
    return default_index_path().with_name(LEDGER_NAME)


def prices_of(settings: ModelSettings) -> PriceList:
    """The user's prices. Raises ``ConfigError``."""
    default = default_index_path().with_name(PRICES_NAME)
    return read_prices(settings.prices or (default if default.is_file() else None))


def _plan(settings: ModelSettings, role: str, prices: PriceList) -> dict[str, Planned]:
    plan = {}
    for callback, need in NEEDS.get(role, {}).items():
        amounts = [
            amount_of(
                Usage(
                    input_tokens=need.times * need.sent_bytes,
                    stored_tokens=need.times * need.sent_bytes,
                    output_tokens=need.times * (need.written_tokens + entry.patience.thinking_tokens),
                ),
                entry.full_name,
                prices,
                calls=need.times,
            )
            for entry in settings.chain(callback)
        ]
        if amounts:
            # The need of the dearest model of the chain; one without a price is limited in tokens and calls.
            nano_usd = max(amount.nano_usd or 0 for amount in amounts)
            tokens = max(amount.tokens for amount in amounts)
            amount = Amount(nano_usd=nano_usd, tokens=tokens, calls=need.times)
            plan[callback] = Planned(amount=amount, stage=need.stage)
    return plan


def _check_money_can_be_counted(settings: ModelSettings, prices: PriceList) -> None:
    limits = (settings.limits.per_game, settings.limits.per_day, settings.limits.per_season)
    # Limits in tokens or calls of another period would leave this period unlimited.
    if all(limit.usd is None or limit.tokens is not None or limit.calls is not None for limit in limits):
        return
    for entry in settings.entries:
        if prices.of(entry.full_name) is None:
            raise ConfigError(
                "LEAGUE_LLM_USD_PER_…" if settings.where == PROVIDER_VARIABLE else f"{settings.where}.limits",
                f"a limit in dollars cannot be kept for {entry.full_name}, whose price is unknown; write it into the"
                " price file ('league-agents config init prices'), or limit tokens or calls beside it",
            )


def _do_not_wait(_seconds: float) -> None:
    return None


def _always_rested() -> Health:
    """Health whose clock advances by an hour at each reading: no time passes during a replay, so a model that failed
    would never be tried again."""
    return Health(monotonic=itertools.count(0.0, 3600.0).__next__)
