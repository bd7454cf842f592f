"""Executors: the same units give the same results inline and in spawned processes, in the order of the units."""

import os
import pickle
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import TracebackType
from typing import Literal, Self, TypeVar

U = TypeVar("U")
R = TypeVar("R")

Kind = Literal["inline", "process"]

AHEAD = 2  # units waiting for each worker; more would only hold their arguments in memory


class ComputeError(RuntimeError):
    """Work that could not be done for a reason that lies in the machine, not in the data."""


class Executor:
    """Maps functions over units of work.

    The pool of processes starts with the first unit that needs it and lives until `close`, so that a build of many
    small partitions pays for imports and compiled kernels once.

    Args:
        kind: "inline" or "process".
        workers: processes; None for one a core.

    >>> Executor("inline").map(abs, [-1, 2])
    [1, 2]
    """

    def __init__(self, kind: Kind = "inline", *, workers: int | None = None) -> None:
        self.kind = kind
        self.workers = workers or _num_cores()
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, work: Callable[[U], R], units: Sequence[U], *, on_done: Callable[[int, R], None] | None = None
    ) -> list[R]:
        """Run `work` on each unit.

        Args:
            work: picklable, as are units and results, where the executor is "process".
            units: any number.
            on_done: told index and result of each unit as it ends, in any order.

        Returns:
            Results in the order of the units.

        Raises:
            ComputeError: worker processes died twice, or a unit's error cannot travel between processes.
            Exception: what a unit raised, as it raised it; units that wait are not begun.
        """
        if self.kind == "inline" or len(units) == 0:
            results = []
            for i, unit in enumerate(units):
                results.append(work(unit))
                if on_done:
                    on_done(i, results[-1])
            return results
        done: dict[int, R] = {}
        for attempt in (1, 2):
            try:
                self._run(work, units, done, on_done)
                return [done[i] for i in range(len(units))]
            except BrokenProcessPool as error:
                self.close()
                if attempt == 2:
                    left = [i for i in range(len(units)) if i not in done]
                    raise ComputeError(
                        f"a worker process died twice while units {left[: self.workers * AHEAD]} of {len(units)} ran, "
                        f"as happens when memory is short; take fewer workers than {self.workers} or a smaller "
                        "compute.part_bytes"
                    ) from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        """End the worker processes; a later `map` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _run(
        self,
        work: Callable[[U], R],
        units: Sequence[U],
        done: dict[int, R],
        on_done: Callable[[int, R], None] | None,
    ) -> None:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_one_thread)
        todo = [i for i in range(len(units)) if i not in done]
        running: dict[Future[R], int] = {}
        while todo or running:
            while todo and len(running) < self.workers * AHEAD:
                i = todo.pop(0)
                running[self._pool.submit(_carried, work, units[i])] = i
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                i = running.pop(future)
                try:
                    done[i] = future.result()
                    if on_done:
                        on_done(i, done[i])
                except BaseException:
                    for other in running:
                        other.cancel()
                    raise


def _carried(work: Callable[[U], R], unit: U) -> R:
    """What a unit gives; an error that would break the pool on its way back travels as its text."""
    try:
        return work(unit)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - what we just wrote
        except Exception:  # noqa: BLE001 - whatever its constructor does
            raise ComputeError(f"{type(error).__qualname__}: {error}") from None
        raise


def _num_cores() -> int:
    """Cores that this process may use; all of them where the system does not tell (macOS)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_thread() -> None:
    """Workers share the cores among themselves: no library in them starts threads of its own."""
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
        os.environ[name] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear; it ends its workers

    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(2)
