"""The choice of an executor."""

from __future__ import annotations

from league_agents.app.executor import Executor, Here, Processes


def executor_of(workers: int, cluster: str | None = None) -> Executor:
    """The executor on a cluster, or for a number of workers; a single one runs in this process. Raises as
    ``Cluster``."""
    if cluster is not None:
        from league_agents.app.cluster import Cluster

        return Cluster(cluster, workers=workers)
    return Here() if workers < 2 else Processes(workers)
