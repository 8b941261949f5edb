"""The calls of language models and their cost, summed over the ledger and the journals.

Rule: a sum with an unknown amount is unknown, and is shown with its known part. A call whose price was unknown at the
time is priced by today's list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from league_agents.app.journals import is_begun, journals_of, refuse_lost_journal
from league_agents.app.storage import STORAGE
from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.model_work import ModelWorkUse
from league_agents.llm.calls import ModelCall
from league_agents.llm.exchange import Finish, OverBudget
from league_agents.llm.prices import PriceList

OUTSIDE = "outside a game"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The sum over a group of calls."""

    name: str
    calls: int = 0
    """Exchanges with a service, including failed ones."""

    failures: int = 0
    """Exchanges without a reply."""

    unusable: int = 0
    """Exchanges whose reply was not used at all."""

    forbidden: int = 0
    """Calls that were not made because of a limit of the user's own."""

    cache_hits: int = 0
    """Replies that were already in the books."""

    input_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that the service had cached."""

    output_tokens: int = 0
    uncounted: int = 0
    """Calls whose tokens are unknown."""

    estimated: int = 0
    """Calls whose tokens are an estimate: the reply was not read to its end."""

    known_usd: float = 0.0
    unpriced: int = 0
    """Calls whose cost is unknown."""

    def __add__(self, other: Cost) -> Cost:
        """The sum of both, under this one's name."""
        return Cost(
            name=self.name,
            calls=self.calls + other.calls,
            failures=self.failures + other.failures,
            unusable=self.unusable + other.unusable,
            forbidden=self.forbidden + other.forbidden,
            cache_hits=self.cache_hits + other.cache_hits,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            uncounted=self.uncounted + other.uncounted,
            estimated=self.estimated + other.estimated,
            known_usd=self.known_usd + other.known_usd,
            unpriced=self.unpriced + other.unpriced,
        )

    @property
    def cost_usd(self) -> float | None:
        """The cost in dollars; ``None`` when any part of it is unknown."""
        return None if self.unpriced else self.known_usd

    def money(self) -> str:
        """The cost in words."""
        estimated = f" ({_calls(self.estimated)} estimated)" if self.estimated else ""
        known = f"${self.known_usd:.4f}{estimated}"
        if not self.unpriced:
            return known
        unknown = f"unknown ({_calls(self.unpriced)})"
        return f"{known} + {unknown}" if self.known_usd else unknown

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "calls": self.calls,
            "failures": self.failures,
            "unusable": self.unusable,
            "forbidden": self.forbidden,
            "cache_hits": self.cache_hits,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "calls_of_unknown_tokens": self.uncounted,
            "calls_of_estimated_tokens": self.estimated,
            "cost_usd": None if self.cost_usd is None else round(self.cost_usd, 9),
            "known_cost_usd": round(self.known_usd, 9),
            "calls_of_unknown_cost": self.unpriced,
        }


def _calls(number: int) -> str:
    return f"{number} call{'s' if number > 1 else ''}"


KEYS: Mapping[str, Callable[[ModelCall], str]] = {
    "game": lambda call: f"{call.purpose.match_id} {call.scope}".strip() if call.purpose.match_id else OUTSIDE,
    "callback": lambda call: call.purpose.callback or OUTSIDE,
    "model": lambda call: call.model,
}
"""The groupings of calls."""


def files_of(ledger: Path, settings: LeagueSettings | None, further: Sequence[Path]) -> list[Path]:
    """The ledger, the journals of a league file, and the given files; each once.

    Raises ``ConfigError`` for a journal that is gone.
    """
    roles = () if settings is None else settings.roles
    for role in roles:
        refuse_lost_journal(role)
    journals = [role.journal for role in roles if isinstance(role.journal, Path)]
    found: dict[Path, Path] = {}
    for path in (ledger, *journals, *further):
        found.setdefault(path.resolve(), path)
    return list(found.values())


def calls_in(files: Iterable[Path]) -> Iterator[ModelCall]:
    """All calls. Raises ``JournalError`` for a file that is neither a journal nor a ledger."""
    for path in files:
        yield from STORAGE.calls(path).calls()


def calls_in_databases(settings: LeagueSettings | None) -> Iterator[ModelCall]:
    """The calls in the journals of a league file that lie in a database. Raises ``JournalError``."""
    for role in () if settings is None else settings.roles:
        if not isinstance(role.journal, Path) and is_begun(role):
            yield from journals_of(role).calls().calls()


def add_up(calls: Iterable[ModelCall], by: str, prices: PriceList) -> list[Cost]:
    """One sum for each name, in the order of names; ``by`` is one of ``KEYS``."""
    found: dict[str, Cost] = {}
    for call in calls:
        name = KEYS[by](call)
        found[name] = found.get(name, Cost(name=name)) + _of_call(call, name, prices)
    return [found[name] for name in sorted(found)]


def total(costs: Sequence[Cost]) -> Cost:
    """The sum of all costs."""
    return sum(costs, Cost(name="total"))


def _of_call(call: ModelCall, name: str, prices: PriceList) -> Cost:
    if call.is_cached:
        return Cost(name=name, cache_hits=1)
    if call.outcome == OverBudget.reason:
        return Cost(name=name, forbidden=1)
    usage = call.usage
    usd = call.cost_usd
    if usd is None and usage is not None:
        usd = prices.cost_usd(call.model, usage)
    return Cost(
        name=name,
        calls=1,
        failures=int(call.reply is None),
        unusable=int(call.reply is not None and call.work is ModelWorkUse.REPLACED),
        input_tokens=0 if usage is None else usage.input_tokens,
        cached_tokens=0 if usage is None else usage.cached_tokens,
        output_tokens=0 if usage is None else usage.output_tokens,
        uncounted=int(usage is None),
        estimated=int(usage is not None and call.outcome == Finish.OVERDUE),
        known_usd=usd or 0.0,
        unpriced=int(usd is None),
    )
