"""The language models of an evaluation: use counted by game, and recorded or replayed.

Rule 1: a recording is self-contained: it holds the models, their prices and the settings beside the replies.
Rule 2: a replay makes no decision that depends on time. Agents have a clock that stands still, in both cases, and the
callbacks that timed out are recorded.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from league_agents.app.models import Books, Models, chat_models, prices_of
from league_agents.config.model_settings import ModelEntry, ModelSettings
from league_agents.evaluation.results import Behaviour, Spent
from league_agents.evaluation.results_file import difference
from league_agents.kit.errors import ConfigError, ModelError
from league_agents.kit.values import evolve
from league_agents.llm.accounted import may_cost
from league_agents.llm.cassette import Cassette, CassettePlayer, NotAsked
from league_agents.llm.exchange import Backend, OverBudget, Patience, Reply, Request, usage_of
from league_agents.llm.prices import Price, PriceList

NOTE = "evaluation"
_PLAYED_RETRIES = 50
"""A recording answers or fails at once, and it decides how many retries there were."""


class Meter:
    """The use of one participant's models, by game."""

    def __init__(self, prices: PriceList) -> None:
        self._prices = prices
        self._lock = threading.Lock()
        self._spent: dict[str, Spent] = {}

    def spent(self, match_id: str) -> Spent:
        """The use in one game."""
        with self._lock:
            return self._spent.get(match_id, Spent())

    def watched(self, backend: Backend) -> Backend:
        """The same model, with its use counted."""
        return _Metered(backend, self)

    def count(self, request: Request, reply: Reply | None, error: ModelError | None, model: str) -> None:
        """Count one completed exchange."""
        if isinstance(error, NotAsked):
            return
        usage = None
        if reply is not None:
            usage = reply.usage if reply.is_counted else None
        elif error is not None and not may_cost(error):
            usage = usage_of(error)
        price = self._prices.of(model)
        is_free = reply is None and usage is not None
        nano_usd = None if usage is None or price is None else price.nano_usd(usage)
        nano_usd = 0 if is_free else nano_usd
        with self._lock:
            before = self._spent.get(request.prompt.purpose.match_id, Spent())
            self._spent[request.prompt.purpose.match_id] = Spent(
                calls=before.calls + (not isinstance(error, OverBudget)),
                input_tokens=before.input_tokens + (0 if usage is None else usage.input_tokens),
                output_tokens=before.output_tokens + (0 if usage is None else usage.output_tokens),
                uncounted=before.uncounted + (usage is None),
                nano_usd=before.nano_usd + (nano_usd or 0),
                unpriced=before.unpriced + (nano_usd is None),
            )


class _Metered:
    def __init__(self, backend: Backend, meter: Meter) -> None:
        self._backend = backend
        self._meter = meter

    @property
    def name(self) -> str:
        return self._backend.name

    def exchange(self, request: Request) -> Reply:
        try:
            reply = self._backend.exchange(request)
        except ModelError as error:
            self._meter.count(request, None, error, self.name)
            raise
        self._meter.count(request, reply, None, self.name)
        return reply


class Traffic:
    """All model traffic of one evaluation."""

    def __init__(
        self, settings: ModelSettings, *, record: Cassette | None = None, replay: CassettePlayer | None = None
    ) -> None:
        self.settings = settings
        self.prices = prices_of(settings) if replay is None else _noted_prices(noted_in(replay))
        self.replay = replay
        self._record = record
        self._run = secrets.token_hex(6)
        self._meters: dict[str, Meter] = {}

    def models(self, part: str, role: str) -> Models:
        """The models of one participant. Raises ``ConfigError`` with the remedy when none is configured."""
        books = Books(league=f"evaluation {self._run}", scope=f"evaluation {self._run} {part}")
        self._meters[part] = meter = Meter(self.prices)
        return chat_models(
            self.settings,
            role=role,
            books=books,
            record=self._record,
            replay=self.replay,
            watched=meter.watched,
        )

    def spent(self, part: str, match_id: str) -> Spent:
        """The use of a participant's models in a game."""
        meter = self._meters.get(part)
        return Spent() if meter is None else meter.spent(match_id)

    def names(self, callbacks: Sequence[str]) -> dict[str, list[str]]:
        """The models of each callback."""
        return {callback: [entry.full_name for entry in self.settings.chain(callback)] for callback in callbacks}

    def ended(self, game: int, behaviour: Mapping[str, Behaviour]) -> Mapping[str, Behaviour]:
        """Record the timeouts of a game that has ended.

        Raises ``ConfigError`` that names the step when a recording lacks something.
        """
        if self._record is not None:
            self._record.note(_game_note(game), {part: {"late": list(each.late)} for part, each in behaviour.items()})
        if self.replay is None:
            return behaviour
        if self.replay.missing:
            raise ConfigError(str(self.replay.path), self.replay.missing[0])
        # In a replay, durations only reflect the speed of reading the recording.
        return {part: evolve(each, seconds={}) for part, each in behaviour.items()}

    def has_recorded(self, game: int) -> bool:
        """Whether the recording holds a whole game."""
        return self._record is not None and self._record.noted(_game_note(game)) is not None

    def late(self, game: int, part: str) -> frozenset[int]:
        """The calls of a participant that timed out when the game was recorded, counted from 1."""
        noted = None if self.replay is None else self.replay.noted(_game_note(game))
        found = (noted or {}).get(part)
        late = found.get("late") if isinstance(found, Mapping) else None
        return frozenset(each for each in late if type(each) is int) if isinstance(late, list) else frozenset()

    def discard(self) -> None:
        """Discard the evaluation: a recording without an exchange is removed."""
        if self._record is not None:
            self._record.discard()

    def close(self) -> None:
        """Finish the recording."""
        if self._record is not None:
            self._record.close()


def begin_recording(cassette: Cassette, traffic: Traffic, settings: Mapping[str, object]) -> None:
    """Write the settings of a recording. Raises ``ConfigError`` when the file has other contents."""
    if not cassette.is_new:
        check_recording(cassette, settings)
        return
    entries = traffic.settings.entries
    prices = {entry.full_name: traffic.prices.of(entry.full_name) for entry in entries}
    cassette.note(
        NOTE,
        {
            "settings": dict(settings),
            "models": [{"name": each.name, "provider": each.provider, "model": each.model} for each in entries],
            "use": {callback: list(names) for callback, names in traffic.settings.use.items()},
            "prices": {
                name: None if price is None else [price.input_usd, price.cached_usd, price.output_usd]
                for name, price in prices.items()
            },
        },
    )


def check_recording(recording: Cassette | CassettePlayer, settings: Mapping[str, object]) -> None:
    """Raises ``ConfigError`` when a recording was made under other settings, or the file is not a recording."""
    differing = difference(noted_in(recording).settings, settings)
    if differing is not None:
        path = str(recording.path)
        raise ConfigError(path, f"was recorded under other settings: {differing}; use the same, or another file")


class NotedModel(Struct, frozen=True, kw_only=True):
    """A model that was recorded."""

    name: str
    provider: str
    model: str


class NotedEvaluation(Struct, frozen=True, kw_only=True):
    """The header of a recording."""

    settings: Mapping[str, object] = msgspec.field(default_factory=dict)
    models: tuple[NotedModel, ...] = ()
    use: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    prices: Mapping[str, tuple[float, float | None, float] | None] = msgspec.field(default_factory=dict)
    """Model -> dollars for a million tokens: read, read from the cache, written; ``None`` for an unknown price."""


def played_settings(player: CassettePlayer) -> ModelSettings:
    """The models of a recording: a replay needs no other configuration. Raises ``ConfigError``."""
    noted = noted_in(player)
    entries = [
        ModelEntry(
            name=each.name,
            provider=each.provider,
            model=each.model,
            base_url=None,
            key=None,
            key_name="",
            needs_key=False,
            patience=Patience(retries=_PLAYED_RETRIES),
        )
        for each in noted.models
    ]
    return ModelSettings(where=str(player.path), entries=tuple(entries), use=noted.use)


def noted_in(recording: Cassette | CassettePlayer) -> NotedEvaluation:
    """The header of a recording. Raises ``ConfigError``."""
    try:
        return msgspec.convert(recording.noted(NOTE), NotedEvaluation)
    except msgspec.ValidationError:
        raise _no_recording(recording.path) from None


def _no_recording(path: Path) -> ConfigError:
    return ConfigError(str(path), "is no recording of an evaluation; make one with --record")


def _noted_prices(noted: NotedEvaluation) -> PriceList:
    found = {}
    for name, price in noted.prices.items():
        if price is not None:
            read, cached, written = price
            found[name] = Price(input_usd=read, cached_usd=cached, output_usd=written)
    return PriceList(found)


def _game_note(game: int) -> str:
    return f"game {game:06d}"
