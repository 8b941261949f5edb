"""Everything that watches a running process, as its league file and its environment want it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from league_agents.app.metrics import Metrics, shown_name
from league_agents.app.notify import ServiceManager, service_manager
from league_agents.app.traces import Traces, trace_provider
from league_agents.app.vitals import Vitals
from league_agents.app.watch_server import WatchPage, WatchServer
from league_agents.config.league_settings import LeagueSettings, MetricsSettings
from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ConfigError
from league_agents.runner.probe import Probe, ProbedObserver, Probes
from league_agents.runner.role import Observer

_TEXT = "text/plain; charset=utf-8"
_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What watches the process."""

    observer: Observer
    """To be handed to the roles."""

    manager: ServiceManager | None = None
    """The service manager that started the process; ``None`` without one."""

    @contextmanager
    def reloading(self) -> Iterator[None]:
        """Tell the service manager that the configuration is read again, and when it was."""
        if self.manager is not None:
            self.manager.reloading()
        try:
            yield
        finally:
            if self.manager is not None:
                self.manager.reloaded()

    def ending(self) -> None:
        """Tell the service manager that the process ends."""
        if self.manager is not None:
            self.manager.stopping()


def metrics_among(files: Sequence[LeagueSettings]) -> MetricsSettings | None:
    """Where the figures of a process with these league files are served. Raises ``ConfigError`` for two addresses."""
    found: dict[MetricsSettings, Path] = {}
    for settings in files:
        if settings.metrics is not None:
            found.setdefault(settings.metrics, settings.path)
    if len(found) > 1:
        one, other, *_ = found.values()
        raise ConfigError(f"{other}.metrics", f"is not that of {one}, and one process serves its figures in one place")
    return next(iter(found), None)


@contextmanager
def watched(
    metrics: MetricsSettings | None,
    observer: Observer,
    environment: MutableMapping[str, str],
    *,
    tell: Callable[[str], None] = lambda _line: None,
    monotonic_s: Callable[[], float] = monotonic_s,
) -> Iterator[Watched]:
    """Watch the roles that are given the observer of the result. ``tell`` is called with lines for a person.

    Raises ``ConfigError`` for an address that cannot be used and for an extra that is missing.
    """
    vitals = Vitals(monotonic_s, names=shown_name)
    probes: list[Probe] = [vitals]
    observers: list[Observer] = [observer, vitals]
    with ExitStack() as opened:
        manager = service_manager(environment, vitals, monotonic_s)
        if manager is not None:
            opened.callback(manager.close)
            probes.append(manager)
            observers.append(manager)
        if metrics is not None:
            figures = Metrics(monotonic_s)
            server = WatchServer(
                metrics.host,
                metrics.port,
                {
                    "/metrics": lambda: WatchPage(200, _EXPOSITION, figures.exposition()),
                    "/healthz": lambda: health(vitals),
                },
            )
            opened.callback(server.close)
            probes.append(figures)
            observers.append(figures)
            host = f"[{metrics.host}]" if ":" in metrics.host else metrics.host
            tell(f"metrics at http://{host}:{server.port}/metrics")
        provider = trace_provider(environment, tell)
        if provider is not None:
            opened.callback(provider.shutdown)
            probes.append(Traces(provider))
        if len(probes) == 1:
            yield Watched(observer=observer)
            return
        yield Watched(observer=ProbedObserver(observers, Probes(probes)), manager=manager)


def health(vitals: Vitals) -> WatchPage:
    """200 if all roles do their work, else 503 with one line that says why not."""
    trouble = vitals.trouble()
    return WatchPage(503 if trouble else 200, _TEXT, f"{trouble or 'ok'}\n".encode())
