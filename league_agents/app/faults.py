"""Faults of an offline season: a named profile or a file of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct, field
from pydantic import Field, create_model

from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError
from league_agents.kit.written import WrittenMapping, read_written
from league_agents.mail.memory import Weather
from league_agents.mail.misconduct import PLAYER_CONDUCT, REFEREE_CONDUCT


class FaultProfile(Struct, frozen=True, kw_only=True):
    """The probabilities of faults, from 0 to 1."""

    name: str = "none"
    delay_s: float = 0
    """The longest delay of a mail."""

    weather: Mapping[str, float] = field(default_factory=dict)
    """Probabilities by the names of ``mail.memory.Weather``."""

    players: Mapping[str, float] = field(default_factory=dict)
    """For each player and match: the probability of each conduct of ``PLAYER_CONDUCT``."""

    referees: Mapping[str, float] = field(default_factory=dict)
    timeouts: float = 0
    """For each callback: the probability of a timeout."""

    @property
    def mail(self) -> Weather:
        """The mail faults."""
        return Weather(delay=timedelta(seconds=self.delay_s), **self.weather)


NONE = FaultProfile()
LIGHT = FaultProfile(
    name="light",
    delay_s=20,
    weather={"reordering": 0.1, "loss": 0.005, "duplication": 0.05},
    players={"silent": 0.02, "late": 0.01},
    referees={"silent": 0.01},
    timeouts=0.01,
)
HEAVY = FaultProfile(
    name="heavy",
    delay_s=60,
    weather={"reordering": 0.2, "loss": 0.03, "duplication": 0.1, "refusal": 0.1, "ambiguity": 0.1, "throttling": 0.1},
    players={"silent": 0.1, "silent-after-warmup": 0.03, "late": 0.05, "malformed": 0.05, "repeating": 0.05},
    referees={"silent": 0.05, "late": 0.02, "repeating": 0.05},
    timeouts=0.05,
)
PROFILES = {profile.name: profile for profile in (NONE, LIGHT, HEAVY)}

Chance = Annotated[float, Field(ge=0, le=1)]
_CHANCES = tuple(name for name in Weather.__dataclass_fields__ if name != "delay")


def _chances(model: str, names: Mapping[str, object] | tuple[str, ...]) -> type[WrittenMapping]:
    fields: dict[str, Any] = {name.replace("-", "_"): (Chance, Field(default=0.0, alias=name)) for name in names}
    return create_model(model, __base__=WrittenMapping, **fields)


WrittenWeather: Any = create_model(
    "WrittenWeather",
    __base__=_chances("WrittenChances", _CHANCES),
    delay_seconds=(Annotated[float, Field(ge=0, le=86_400)], 0.0),
)
WrittenPlayers: Any = _chances("WrittenPlayers", PLAYER_CONDUCT)
WrittenReferees: Any = _chances("WrittenReferees", REFEREE_CONDUCT)


class WrittenFaults(WrittenMapping):
    """A file of faults."""

    weather: WrittenWeather = WrittenWeather()
    players: WrittenPlayers = WrittenPlayers()
    referees: WrittenReferees = WrittenReferees()
    timeouts: Chance = 0.0


def faults_named(name: str) -> FaultProfile:
    """The profile of that name, or the one in the YAML or JSON file. Raises ``ConfigError``."""
    known = PROFILES.get(name)
    if known is not None:
        return known
    path = Path(name)
    if not path.is_file():
        raise ConfigError(name, f"is neither a fault profile ({', '.join(PROFILES)}) nor a file; write one of them")
    written: Any = read_written(WrittenFaults, read_mapping(path), str(path))
    for key in ("players", "referees"):
        chances = _given(getattr(written, key))
        if sum(chances.values()) > 1:
            raise ConfigError(f"{path}.{key}", f"add up to {sum(chances.values()):g}; at most 1")
    return FaultProfile(
        name=path.stem,
        delay_s=written.weather.delay_seconds,
        weather={name: chance for name, chance in _given(written.weather).items() if name != "delay_seconds"},
        players=_given(written.players),
        referees=_given(written.referees),
        timeouts=written.timeouts,
    )


def _given(written: WrittenMapping) -> dict[str, float]:
    return {name: float(value) for name, value in written.model_dump(by_alias=True).items() if value}
