"""Executors: the same units give the same results here, in spawned processes and on a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self, TypeVar

from dataassets.compute.carry import Name
from dataassets.compute.workers import Workers

U = TypeVar("U")
R = TypeVar("R")

Kind = Literal["inline", "process", "ray"]


class _Pool(Protocol):
    """What does units elsewhere."""

    def map(
        self, work: Callable[[U], R], units: Sequence[U], *, on_done: Callable[[int, R], None] | None, name: Name | None
    ) -> list[R]: ...

    def close(self) -> None: ...


class Executor:
    """Maps functions over units of work.

    Processes start, and a cluster is met, with the first unit that needs it, and stay until `close`, so that a build
    of many small partitions pays for imports and compiled kernels once.

    Args:
        kind: "inline", "process" or "ray".
        workers: units at a time; None for one a core, of this machine or of the cluster.
        address: of a Ray cluster: "local" for one on this machine, started here and ended by `close`; "auto" for the
            one that this machine is part of; "host:port" of its head.

    >>> Executor("inline").map(abs, [-1, 2])
    [1, 2]
    """

    def __init__(self, kind: Kind = "inline", *, workers: int | None = None, address: str = "local") -> None:
        self.kind = kind
        self.workers = workers or num_cores()
        self._asked, self._address = workers, address
        self._pool: _Pool | None = None

    def map(
        self,
        work: Callable[[U], R],
        units: Sequence[U],
        *,
        on_done: Callable[[int, R], None] | None = None,
        name: Callable[[U], str] | None = None,
    ) -> list[R]:
        """Run `work` on each unit.

        Args:
            work: picklable by name, as are units and results, where the executor is not "inline".
            units: any number.
            on_done: told index and result of each unit as it ends, in any order.
            name: tells a unit for people, in errors.

        Returns:
            Results in the order of the units.

        Raises:
            ComputeError: a unit's worker died, was tried again and died again; or a unit's error cannot travel.
            RecipeError: Ray is not installed, or there is no cluster at the address.
            Exception: what a unit raised, as it raised it; units that wait are not begun.
        """
        if self.kind != "inline" and len(units):
            return self._elsewhere().map(work, units, on_done=on_done, name=name)
        results = []
        for i, unit in enumerate(units):
            results.append(work(unit))
            if on_done:
                on_done(i, results[-1])
        return results

    def check_shared(self, folder: str) -> None:
        """Make sure that files in a local folder are seen wherever units run; made here if it is not there.

        Raises:
            RecipeError: a node of the cluster does not see it.
        """
        if self.kind == "ray":
            from dataassets.compute.cluster import Cluster

            pool = self._elsewhere()
            assert isinstance(pool, Cluster)
            pool.check_shared(folder)

    def close(self) -> None:
        """End worker processes and leave the cluster; a later `map` begins anew."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _elsewhere(self) -> _Pool:
        if self._pool is None and self.kind == "process":
            self._pool = Workers(self.workers)
        elif self._pool is None:
            from dataassets.compute.cluster import Cluster  # Ray is an extra, and slow to import

            self._pool = Cluster(self._address, workers=self._asked)
        return self._pool


def num_cores() -> int:
    """Cores that this process may use; all of them where the system does not tell (macOS)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
