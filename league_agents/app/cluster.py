"""Work on a cluster of Dask: on the workers of a scheduler, or on some that this program starts on this machine.

Rule 1: a piece of work crosses as bytes with this program's version. A worker with another version refuses it.
Rule 2: a worker runs one piece of work at a time, however many threads it has: work keeps its agents in its process.
Rule 3: the scheduler runs work again that was lost with its worker. A scheduler that is gone, a cluster without workers
and work that ends its workers again and again are told in one line.
"""

from __future__ import annotations

import logging
import pickle
import re
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from typing import Any, ParamSpec, TypeVar

from league_agents import __version__
from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ClusterUnavailable, ConfigError, WorkerLost, shortened

P = ParamSpec("P")
T = TypeVar("T")

LOCAL = "local"
PACKAGE = "league-agents"
CONNECT_S = 10.0
WORKERS_WITHIN_S = 30.0
"""How long a cluster may be without workers."""

COUNT_EVERY_S = 1.0

_UNWATCHED = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of Dask for a cluster without pages: what they would show is measured rarely, and costs little."""

_ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^\s/]+:[0-9]{1,5}")
_IS_DASKS = re.compile(r"distributed\.")
GOES_ON = "the same command goes on"


class Cluster:
    """``Executor`` on a cluster. ``close`` it."""

    is_remote = True

    def __init__(self, address: str, *, workers: int = 1) -> None:
        """Connect, or start ``workers`` processes for the address ``local``. Raises ``ConfigError`` without the extra,
        for an invalid address and for workers of another version, and ``ClusterUnavailable``."""
        self._address = address
        if address != LOCAL and not _ADDRESS.fullmatch(address):
            raise ConfigError("--dask", f"{shortened(address)!a} is no address; write HOST:PORT or {LOCAL}")
        self._distributed = _distributed()
        for name in ("distributed", *filter(_IS_DASKS.match, logging.root.manager.loggerDict)):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # losses are expected; those for good are raised
        self._local: Any = None
        self._workers = 0
        self._counted_s = self._had_workers_s = monotonic_s()
        if address == LOCAL:
            self._local = local_cluster(workers)
        try:
            self._client = self._distributed.Client(self._local or address, timeout=CONNECT_S, set_as_default=False)
        except OSError:
            remedy = f"start one with 'dask scheduler', or write --dask {LOCAL}"
            raise ClusterUnavailable(f"no Dask scheduler answers at {shortened(address)}; {remedy}") from None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise
        self._executor = self._client.get_executor(pure=False)

    def _begin(self) -> None:
        """Wait for a worker, and check the version of all."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_WITHIN_S)
        except TimeoutError:
            raise self._no_workers() from None
        # A function of the standard library: this package may not be installed there.
        versions = self._client.run(version, PACKAGE, on_error="return")
        self._workers = len(versions)
        for worker, found in versions.items():
            if isinstance(found, Exception):
                raise ConfigError(f"worker {worker}", f"has no {PACKAGE}; install {PACKAGE} {__version__} there")
            _check_version(worker, found, __version__)

    @property
    def width(self) -> int:
        return max(1, self._workers)

    @property
    def most_waiting(self) -> int:
        # One that is played, one that begins when it ends, and one for a worker that was lost or just came.
        return 3 * self.width

    def submit(self, lane: int | None, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        assert lane is None, "a cluster has no lanes"
        submitted: Future[T] = self._executor.submit(perform, __version__, pickle.dumps((work, args, kwargs)))
        return submitted

    def check(self) -> None:
        """Count the workers. Raises ``ClusterUnavailable`` if there were none for ``WORKERS_WITHIN_S``."""
        now_s = monotonic_s()
        if now_s - self._counted_s < COUNT_EVERY_S:
            return
        self._counted_s = now_s
        try:
            self._workers = len(self._client.nthreads())
        except (OSError, TimeoutError):  # that of a lost connection is an OSError too
            raise self._lost() from None
        if self._workers:
            self._had_workers_s = now_s
        elif now_s - self._had_workers_s > WORKERS_WITHIN_S:
            raise self._no_workers()

    def close(self) -> None:
        """Disconnect, and stop the workers that this program started."""
        with suppress(Exception):  # the cluster may be gone
            self._client.close(timeout=CONNECT_S)
        if self._local is not None:
            with suppress(Exception):
                self._local.close(timeout=CONNECT_S)

    @contextmanager
    def naming_losses(self) -> Iterator[None]:
        """Raise ``WorkerLost`` or ``ClusterUnavailable`` for work that was lost for good."""
        client = self._distributed.client
        try:
            yield
        except self._distributed.KilledWorker:
            raise WorkerLost(
                f"several workers ended while they did the same work, perhaps because memory ran out: {GOES_ON}"
            ) from None
        except (client.CommClosedError, client.FutureCancelledError, client.ClosedClientError, CancelledError):
            raise self._lost() from None

    def _no_workers(self) -> ClusterUnavailable:
        remedy = f"start some with 'dask worker {shortened(self._address)} --nthreads 1': {GOES_ON}"
        return ClusterUnavailable(f"the Dask scheduler at {shortened(self._address)} has no workers; {remedy}")

    def _lost(self) -> ClusterUnavailable:
        return ClusterUnavailable(f"the Dask scheduler at {shortened(self._address)} is gone: {GOES_ON}")


def local_cluster(workers: int) -> Any:
    """A ``distributed.LocalCluster`` for this machine only. Raises ``ConfigError`` without the extra."""
    distributed = _distributed()
    with import_module("dask.config").set(_UNWATCHED):
        return distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            # Without a dashboard there is a page with figures all the same, by default for the whole network.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            memory_limit=0,
            preload=[__name__],  # calls ``dask_setup``
        )


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ConfigError("--dask", "Dask is not installed; pip install 'league-agents[dask]'") from None


def _check_version(worker: object, found: str, wanted: str) -> None:
    if found != wanted:
        raise ConfigError(f"worker {worker}", f"has {PACKAGE} {found}; install {wanted} there, as here")


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C in the terminal to the program that started this worker."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


_ONE_AT_A_TIME = threading.Lock()


def perform(sent_by: str, work: bytes) -> object:
    """Run a piece of work on a worker."""
    _check_version(_distributed().get_worker().address, __version__, sent_by)
    with _ONE_AT_A_TIME:
        function, args, kwargs = pickle.loads(work)  # noqa: S301 - from another part of this program
        return function(*args, **kwargs)
