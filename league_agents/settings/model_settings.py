"""Which language models there are, as the league file and the environment say it, read strictly.

Rule 1: the environment wins over the file: ``LEAGUE_LLM_PROVIDER`` or ``LEAGUE_LLM_MODEL`` name one model that is asked
before those of the file.
Rule 2: a key stands in the environment and nowhere else. The file may say which variable holds it.
Rule 3: a key never travels unprotected: a server that is spoken to without encryption, on another machine, gets none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from league_agents.agents.base import PLAYER_CALLBACKS, REFEREE_CALLBACKS
from league_agents.core.keys import not_one_of
from league_agents.errors import ConfigError
from league_agents.llm.exchange import Patience
from league_agents.llm.limits import Limit, Limits
from league_agents.llm.prices import Price, PriceList
from league_agents.llm.provider import Provider
from league_agents.llm.registry import DEFAULT_PROVIDER, all_providers, provider_named, provider_names
from league_agents.settings.mapping_file import read_mapping
from league_agents.settings.sections import Environment, Section

DEFAULT_USE = "default"
ARENA = "arena."
PRICES_VARIABLE = "LEAGUE_LLM_PRICES"
FROM_ENVIRONMENT = "environment"
"""The name of the model that the environment describes."""

_KEYS = ("models", "use", "limits", "prices")
_MODEL = (
    "name",
    "provider",
    "model",
    "base_url",
    "key_variable",
    "timeout_seconds",
    "retries",
    "max_output",
    "thinking_tokens",
)
_LIMITS = ("per_game", "per_day", "per_season")
_LIMIT = ("usd", "tokens", "calls")
_PRICE = ("input", "cached", "output")
_MOST_MODELS, _MOST_PRICES, _LONGEST_CHAIN = 20, 1_000, 5
_NEAR = ("127.0.0.1", "localhost", "::1")

PROVIDER_VARIABLE, MODEL_VARIABLE = "LEAGUE_LLM_PROVIDER", "LEAGUE_LLM_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One model that may be asked."""

    name: str
    provider: str
    """The name of one that is declared; in a recording it may be one that is not installed here."""

    model: str
    base_url: str | None
    """``None`` for the service's own."""

    key: str | None = field(repr=False)
    """``None`` for a server that wants none."""

    key_name: str
    """The variable that holds the key, or should."""

    needs_key: bool
    """A service does; a server of one's own usually does not."""

    patience: Patience

    @property
    def full_name(self) -> str:
        """``provider:model``."""
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """All that is said about language models."""

    where: str
    """What a message names: the section of the league file, or the environment."""

    entries: tuple[ModelEntry, ...] = ()
    use: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Callback, or ``default``, to names of entries, the best first; none there means that the callback asks nobody."""

    limits: Limits = field(default_factory=Limits)
    prices: Path | None = None
    """``None``: ``prices.yaml`` in the data folder, if it is there."""

    def chain(self, callback: str) -> tuple[ModelEntry, ...]:
        """The models for a callback, the best first."""
        named = self.use.get(callback, self.use.get(DEFAULT_USE))
        if named is None:
            return self.entries[:_LONGEST_CHAIN]
        return tuple(entry for name in named for entry in self.entries if entry.name == name)


def none_configured(where: str) -> ConfigError:
    """The error for a model that is wanted where none is configured."""
    return ConfigError(
        where,
        f"no language model is configured; set {PROVIDER_VARIABLE} (one of {', '.join(provider_names())}),"
        f" {MODEL_VARIABLE} and the service's key in the environment or in .env, and LEAGUE_LLM_BASE_URL for a server"
        " of your own; or fill in the section 'models' of the league file",
    )


def read_models(keys: Section | None, variables: Mapping[str, str], folder: Path) -> ModelSettings:
    """The section ``models`` of a league file (``None`` where there is no file) below the environment.

    Raises ``ConfigError`` that names the key or the variable.
    """
    env = Environment(variables)
    where = PROVIDER_VARIABLE if keys is None else keys.path
    entries = [] if keys is None else [_entry(item, env) for item in keys.items("models", _MODEL)]
    _check_names(entries, where)
    own = _from_environment(env)
    use = {} if keys is None else _use(keys, entries)
    if own is not None:
        entries.insert(0, own)
        use = {callback: (own.name, *names) if names else names for callback, names in use.items()}
    if env.truth("LLM_FALLBACK_ENABLED") is False:
        entries, use = _without_fallback(entries, use)
    prices = env.text(PRICES_VARIABLE)
    path = folder / Path(prices).expanduser() if prices else None
    if path is None and keys is not None and keys.given("prices"):
        path = keys.file("prices", "", folder)
    return ModelSettings(where=where, entries=tuple(entries), use=use, limits=_limits(keys, env), prices=path)


def model_section(keys: Section) -> Section:
    """The section ``models`` of a whole league file."""
    return keys.section("models", _KEYS)


def read_prices(path: Path | None) -> PriceList:
    """A price file; no prices at all without one. Raises ``ConfigError``."""
    if path is None:
        return PriceList({})
    whole = Section(read_mapping(path), str(path), ("prices",))
    named = whole.at("prices") if whole.given("prices") else {}
    if not isinstance(named, Mapping) or len(named) > _MOST_PRICES:
        raise whole.wrong("prices", f"a mapping of at most {_MOST_PRICES} models", named)
    found = {}
    providers = provider_names() if named else []
    for name, value in named.items():
        place = f"{path}.prices[{name}]"
        provider, colon, _ = name.partition(":") if isinstance(name, str) else ("", "", "")
        if not colon or "*" in str(name)[:-1]:
            raise ConfigError(place, "must be provider:MODEL, perhaps with a star at the end")
        if provider not in providers:
            raise not_one_of(place, providers, provider)
        each = Section(value, place, _PRICE)
        cached = each.number("cached", None, 0, 100_000) if "cached" in each else None
        found[name] = Price(
            input_usd=each.number("input", None, 0, 100_000),
            output_usd=each.number("output", None, 0, 100_000),
            cached_usd=cached,
        )
    return PriceList(found)


def _entry(keys: Section, env: Environment) -> ModelEntry:
    name = keys.line("name")
    provider = provider_named(keys.line("provider"), keys.below("provider"))
    base_url = None
    if keys.given("base_url"):
        base_url = _web_address(keys.line("base_url", most=2_000), f"{keys.path}.base_url")
    named = keys.line("key_variable", "") or None
    return _made(
        env,
        name=name,
        provider=provider,
        model=keys.line("model", provider.default_model),
        base_url=base_url,
        named_key=named,
        where=keys.path,
        patience=Patience(
            retries=keys.integer("retries", _retries(env), 0, 20),
            timeout=keys.seconds("timeout_seconds", _timeout(env), least=1),
            max_output_tokens=keys.integer("max_output", None, 16, 1_000_000) if keys.given("max_output") else None,
            thinking_tokens=keys.integer("thinking_tokens", 0, 0, 1_000_000),
        ),
    )


def _from_environment(env: Environment) -> ModelEntry | None:
    """The model that the environment names; ``None`` when it names none."""
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
        base_url=None if base_url is None else _web_address(base_url, "LEAGUE_LLM_BASE_URL"),
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
) -> ModelEntry:
    variables = provider.key_variables if named_key is None else (named_key,)
    key = next((found for each in variables if (found := env.text(each)) is not None), None)
    if key is not None and not key.isprintable():
        raise ConfigError(variables[0], "holds more than one line; write the key alone")
    if not model.isprintable() or len(model) > 200:
        raise ConfigError(where, "the model's name must be one line")
    if base_url is not None and not _is_protected(base_url):
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
    )


def _is_protected(base_url: str) -> bool:
    parts = urlsplit(base_url)
    return parts.scheme == "https" or parts.hostname in _NEAR


def _web_address(value: str, where: str) -> str:
    try:
        parts = urlsplit(value)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        _ = parts.port
    except ValueError:
        is_right = False
    if not is_right or parts.query or parts.fragment:
        raise ConfigError(where, f"must be a web address such as http://127.0.0.1:8080/v1, found {value[:80]!a}")
    return value.rstrip("/")


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


def _check_names(entries: list[ModelEntry], where: str) -> None:
    names = [entry.name for entry in entries]
    if len(names) > _MOST_MODELS:
        raise ConfigError(f"{where}.models", f"has {len(names)} models; at most {_MOST_MODELS}")
    for place, name in enumerate(names):
        if name in names[:place] or name == FROM_ENVIRONMENT:
            raise ConfigError(f"{where}.models[{place}].name", f"{name!r} is taken already; give it another name")


def _use(keys: Section, entries: list[ModelEntry]) -> dict[str, tuple[str, ...]]:
    if not keys.given("use"):
        return {}
    value = keys.at("use")
    callbacks = (DEFAULT_USE, *REFEREE_CALLBACKS, *PLAYER_CALLBACKS)
    written = list(value) if isinstance(value, Mapping) else []
    arena = [key for key in written if isinstance(key, str) and key.startswith(ARENA)]
    section = keys.section("use", (*callbacks, *arena))
    names = [entry.name for entry in entries]
    found = {}
    for callback in (*callbacks, *arena):
        if callback not in section:
            continue
        listed = section.at(callback)
        if isinstance(listed, str):
            listed = [listed]
        if not isinstance(listed, list) or len(listed) > _LONGEST_CHAIN or any(each not in names for each in listed):
            known = ", ".join(names) or "none is listed under models"
            raise section.wrong(callback, f"a list of at most {_LONGEST_CHAIN} names of models ({known})", listed)
        found[callback] = tuple(dict.fromkeys(listed))
    return found


def _without_fallback(
    entries: list[ModelEntry], use: dict[str, tuple[str, ...]]
) -> tuple[list[ModelEntry], dict[str, tuple[str, ...]]]:
    """The first model of every chain alone."""
    default = use.get(DEFAULT_USE, tuple(entry.name for entry in entries))
    return entries, {callback: names[:1] for callback, names in {**use, DEFAULT_USE: default}.items()}


_LIMIT_VARIABLES = {
    "per_game": "LEAGUE_LLM_USD_PER_GAME",
    "per_day": "LEAGUE_LLM_USD_PER_DAY",
    "per_season": "LEAGUE_LLM_USD_PER_SEASON",
}


def _limits(keys: Section | None, env: Environment) -> Limits:
    section = None if keys is None else keys.section("limits", _LIMITS)
    found = {}
    for name in _LIMITS:
        each = None if section is None else section.section(name, _LIMIT)
        usd = each.number("usd", None, 0, 1_000_000) if each is not None and each.given("usd") else None
        own = env.text(_LIMIT_VARIABLES[name])
        if own is not None:
            usd = _dollars(own, _LIMIT_VARIABLES[name])
        found[name] = Limit(
            usd=usd,
            tokens=each.integer("tokens", None, 0, 10**12) if each is not None and each.given("tokens") else None,
            calls=each.integer("calls", None, 0, 10**9) if each is not None and each.given("calls") else None,
        )
    return Limits(**found)


def _dollars(text: str, name: str) -> float:
    try:
        value = float(text.removeprefix("$"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1_000_000:
        raise ConfigError(name, f"must be a number of dollars such as 0.50, found {text[:40]!a}")
    return value
