"""The settings of language models in the league file and the environment, parsed strictly.

Rule 1: the environment overrides the file: ``LEAGUE_LLM_PROVIDER`` or ``LEAGUE_LLM_MODEL`` name one model that is asked
before those of the file.
Rule 2: keys are stored in the environment only. The file may name the variable.
Rule 3: a key is never sent unencrypted: a server on another machine that is reached without encryption gets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.config.environment import Environment
from league_agents.config.mapping_file import read_mapping
from league_agents.games.registry import game_codes
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import no_such_key, not_one_of, wrong_value
from league_agents.kit.values import evolve
from league_agents.kit.web_address import is_protected, web_address
from league_agents.llm.exchange import Patience
from league_agents.llm.limits import LONGEST_CHAIN, Limit, SpendingLimits
from league_agents.llm.prices import Price, PriceList
from league_agents.llm.provider import OPTION_NAMES, ModelOptions, Provider
from league_agents.llm.registry import DEFAULT_PROVIDER, all_providers, provider_named, provider_names

if TYPE_CHECKING:
    from league_agents.config.model_file import WrittenLimits, WrittenModel, WrittenModels

DEFAULT_USE = "default"
ARENA = "arena."
PRICES_VARIABLE = "LEAGUE_LLM_PRICES"
FROM_ENVIRONMENT = "environment"
"""The name of the model that the environment describes."""

_EXAMPLE = "http://127.0.0.1:8080/v1"

PROVIDER_VARIABLE, MODEL_VARIABLE = "LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model that may be asked."""

    name: str
    provider: str
    """The name of a declared provider; in a recording, possibly one that is not installed here."""

    model: str
    base_url: str | None
    """``None`` for the service's own."""

    key: str | None = field(repr=False)
    """``None`` for a server that needs no key."""

    key_name: str
    """The variable that holds the key, also when it is unset."""

    needs_key: bool
    """Whether a key is required: by services, usually not by a user's own server."""

    patience: Patience
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def full_name(self) -> str:
        """``provider:model``."""
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """All settings of language models."""

    where: str
    """The source in error messages: the section of the league file, or the environment."""

    entries: tuple[ModelEntry, ...] = ()
    use: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Callback, or ``default``, to names of entries, the best first; empty for a callback without a model."""

    limits: SpendingLimits = field(default_factory=SpendingLimits)
    prices: Path | None = None
    """``None`` means ``prices.yaml`` in the data folder, if it exists."""

    def chain(self, callback: str) -> tuple[ModelEntry, ...]:
        """The models for a callback, the best first."""
        named = self.use.get(callback, self.use.get(DEFAULT_USE))
        if named is None:
            return self.entries[:LONGEST_CHAIN]
        return tuple(entry for name in named for entry in self.entries if entry.name == name)


def none_configured(where: str) -> ConfigError:
    """The error for a model that is required where none is configured."""
    return ConfigError(
        where,
        f"no language model is configured; set {PROVIDER_VARIABLE} (one of {', '.join(provider_names())}),"
        f" {MODEL_VARIABLE} and the service's key in the environment or in .env, and LEAGUE_LLM_BASE_URL for a server"
        " of your own; or fill in the section 'models' of the league file",
    )


def read_models(section: object, variables: Mapping[str, str], folder: Path, *, path: str = "") -> ModelSettings:
    """The section ``models`` of a league file, which stands at ``path``, overridden by the environment. ``section`` is
    ``None`` without a file or a section.

    Raises ``ConfigError`` that names the key or the variable.
    """
    env = Environment(variables)
    entries: list[ModelEntry] = []
    use: dict[str, tuple[str, ...]] = {}
    written: WrittenModels | None = None
    if section is not None:
        from league_agents.config.model_file import WrittenModels
        from league_agents.kit.written import read_written

        written = read_written(WrittenModels, section, path)
        entries = [_entry(each, f"{path}.models[{place}]", env) for place, each in enumerate(written.models)]
        _check_names(entries, path)
        use = _use(written.use, entries, f"{path}.use")
    own = _from_environment(env)
    if own is not None:
        entries.insert(0, own)
        use = {callback: (own.name, *names) if names else names for callback, names in use.items()}
    if env.truth("LLM_FALLBACK_ENABLED") is False:
        entries, use = _without_fallback(entries, use)
    prices = env.text(PRICES_VARIABLE) or (None if written is None else written.prices)
    return ModelSettings(
        where=path or PROVIDER_VARIABLE,
        entries=tuple(entries),
        use=use,
        limits=_limits(None if written is None else written.limits, env),
        prices=folder / Path(prices).expanduser() if prices else None,
    )


def read_prices(path: Path | None) -> PriceList:
    """Read a price file; ``None`` gives an empty price list. Raises ``ConfigError``."""
    if path is None:
        return PriceList({})
    from league_agents.config.model_file import WrittenPrices
    from league_agents.kit.written import read_written

    found = {}
    providers = provider_names()
    for name, each in read_written(WrittenPrices, read_mapping(path), str(path)).prices.items():
        place = f"{path}.prices[{name}]"
        provider, colon, _ = name.partition(":")
        if not colon or "*" in name[:-1]:
            raise ConfigError(place, "must be provider:MODEL, perhaps with a star at the end")
        if provider not in providers:
            raise not_one_of(place, providers, provider)
        found[name] = Price(
            input_usd=each.input, output_usd=each.output, cached_usd=each.cached, stored_usd=each.stored
        )
    return PriceList(found)


def _entry(written: WrittenModel, path: str, env: Environment) -> ModelEntry:
    provider = provider_named(written.provider, f"{path}.provider")
    model = written.model or provider.default_model
    if model is None:
        raise ConfigError(f"{path}.model", "is missing")
    seconds = written.timeout_seconds
    return _made(
        env,
        name=written.name,
        provider=provider,
        model=model,
        base_url=None
        if written.base_url is None
        else web_address(written.base_url, f"{path}.base_url", example=_EXAMPLE),
        named_key=written.key_variable,
        where=path,
        patience=Patience(
            retries=_retries(env) if written.retries is None else written.retries,
            timeout=_timeout(env) if seconds is None else timedelta(seconds=seconds),
            max_output_tokens=written.max_output,
            thinking_tokens=written.thinking_tokens,
        ),
        options=_options(written, provider, path),
    )


def _options(written: WrittenModel, provider: Provider, path: str) -> ModelOptions:
    options = ModelOptions(**{name: getattr(written, name) for name in OPTION_NAMES})
    for name, value in options.given().items():
        words = provider.options.get(name)
        if words is None:
            taken = ", ".join(provider.options) or "no options"
            raise ConfigError(f"{path}.{name}", f"{provider.name} takes {taken}; leave it out")
        if words and value not in words:
            raise not_one_of(f"{path}.{name}", words, str(value))
    return options


def _from_environment(env: Environment) -> ModelEntry | None:
    """The model in the environment; ``None`` when it names none."""
    named = env.text(PROVIDER_VARIABLE)
    model = env.text(MODEL_VARIABLE) or env.text("LLM_MODEL")
    base_url = env.text("LEAGUE_LLM_BASE_URL")
    if named is None and env.text(MODEL_VARIABLE) is None and base_url is None:
        return None  # LLM_MODEL alone may be meant for a user's own agent
    if named is None and base_url is None:
        has_key = [each.name for each in all_providers() if any(env.text(name) for name in each.key_variables)]
        named = has_key[0] if len(has_key) == 1 else None
    provider = provider_named((named or DEFAULT_PROVIDER).lower(), PROVIDER_VARIABLE)
    model = model or provider.default_model
    if model is None:
        raise ConfigError(MODEL_VARIABLE, "is not set; write the model's name as its service spells it")
    return _made(
        env,
        name=FROM_ENVIRONMENT,
        provider=provider,
        model=model,
        base_url=None if base_url is None else web_address(base_url, "LEAGUE_LLM_BASE_URL", example=_EXAMPLE),
        named_key=None,
        where=PROVIDER_VARIABLE,
        patience=Patience(retries=_retries(env), timeout=_timeout(env)),
    )


def _made(
    env: Environment,
    *,
    name: str,
    provider: Provider,
    model: str,
    base_url: str | None,
    named_key: str | None,
    where: str,
    patience: Patience,
    options: ModelOptions | None = None,
) -> ModelEntry:
    variables = provider.key_variables if named_key is None else (named_key,)
    key = next((found for each in variables if (found := env.text(each)) is not None), None)
    if key is not None and not key.isprintable():
        raise ConfigError(variables[0], "holds more than one line; write the key alone")
    if not model.isprintable() or len(model) > 200:
        raise ConfigError(where, "the model's name must be one line")
    if base_url is not None and not is_protected(base_url):
        if named_key is not None:
            raise ConfigError(f"{where}.base_url", f"is not https, so the key in {named_key} would travel unprotected")
        key = None
    return ModelEntry(
        name=name,
        provider=provider.name,
        model=model,
        base_url=base_url,
        key=key,
        key_name=variables[0] if variables else "",
        needs_key=bool(variables) and (base_url is None or named_key is not None),
        patience=patience,
        options=options or ModelOptions(),
    )


def _retries(env: Environment) -> int:
    text = env.text("LLM_MAX_RETRIES")
    if text is None:
        return Patience().retries
    if not (text.isascii() and text.isdecimal() and len(text) <= 2 and int(text) <= 20):
        raise ConfigError("LLM_MAX_RETRIES", f"must be a whole number from 0 to 20, found {text[:40]!a}")
    return int(text)


def _timeout(env: Environment) -> timedelta:
    seconds = env.seconds("LLM_TIMEOUT_SEC")
    return Patience().timeout if seconds is None else timedelta(seconds=seconds)


def _check_names(entries: list[ModelEntry], path: str) -> None:
    names = [entry.name for entry in entries]
    for place, name in enumerate(names):
        if name in names[:place] or name == FROM_ENVIRONMENT:
            raise ConfigError(f"{path}.models[{place}].name", f"{name!r} is taken already; give it another name")


def _use(written: Mapping[str, list[str]], entries: list[ModelEntry], path: str) -> dict[str, tuple[str, ...]]:
    callbacks = [DEFAULT_USE, *REFEREE_CALLBACKS, *PLAYER_CALLBACKS]
    if any(callback.startswith(ARENA) for callback in written):
        callbacks += [f"{ARENA}{code}" for code in game_codes()]
    names = [entry.name for entry in entries]
    for callback, listed in written.items():
        if callback not in callbacks:
            raise no_such_key(path, callback, callbacks)
        if any(each not in names for each in listed):
            known = ", ".join(names) or "none is listed under models"
            allowed = f"a list of at most {LONGEST_CHAIN} names of models ({known})"
            raise wrong_value(f"{path}.{callback}", allowed, listed)
    return {callback: tuple(dict.fromkeys(listed)) for callback, listed in written.items()}


def _without_fallback(
    entries: list[ModelEntry], use: dict[str, tuple[str, ...]]
) -> tuple[list[ModelEntry], dict[str, tuple[str, ...]]]:
    """The first model of every chain, without the others."""
    default = use.get(DEFAULT_USE, tuple(entry.name for entry in entries))
    return entries, {callback: names[:1] for callback, names in {**use, DEFAULT_USE: default}.items()}


_LIMIT_VARIABLES = {
    "per_game": "LEAGUE_LLM_USD_PER_GAME",
    "per_day": "LEAGUE_LLM_USD_PER_DAY",
    "per_season": "LEAGUE_LLM_USD_PER_SEASON",
}


def _limits(written: WrittenLimits | None, env: Environment) -> SpendingLimits:
    found = {}
    for name, variable in _LIMIT_VARIABLES.items():
        each = Limit() if written is None else Limit(**getattr(written, name).model_dump())
        own = env.text(variable)
        found[name] = each if own is None else evolve(each, usd=_dollars(own, variable))
    return SpendingLimits(**found)


def _dollars(text: str, name: str) -> float:
    try:
        value = float(text.removeprefix("$"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1_000_000:
        raise ConfigError(name, f"must be a number of dollars such as 0.50, found {text[:40]!a}")
    return value
