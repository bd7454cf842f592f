"""Exchange: rows of many units meet by bucket, through files, in bounded memory.

Scatter writes one run a unit (see runs); gather reads bucket q of every run. So the order of rows in a bucket is the
order of units, whoever ran them. Where that would be too many small reads, neighbouring runs are merged first, by
counts alone. What is finished is reused by a re-run; what is damaged is made again. Memory: one unit while
scattering, one bucket while gathering.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from dataassets.compute.carry import loaded, packed
from dataassets.compute.errors import ComputeError
from dataassets.compute.executor import Executor
from dataassets.compute.runs import DamagedError, merge_runs, read_bucket, read_sealed, write_run, write_sealed

BUCKET = "bucket"
MOST_READS = 1_000_000  # runs x buckets; above it runs are merged
FAN_IN = 32  # runs in one merge: reads of 1 MB where it holds 32 MB
COMBINE_ROWS = 1_000_000  # rows of a bucket after which gather combines while it reads
TRIES = 3  # of the whole, each without what the one before found damaged

U = TypeVar("U")
R = TypeVar("R")
Combine = Callable[[pa.Table], pa.Table]
OnDone = Callable[[int, object], None]


def exchange(  # noqa: PLR0913 - one call with two functions and how they run; all but three are named
    units: Sequence[U],
    scatter: Callable[[U], pa.Table],
    gather: Callable[[int, pa.Table], R],
    *,
    num_buckets: int,
    executor: Executor,
    folder: str,
    on_done: OnDone | None = None,
    on_start: Callable[[int], None] | None = None,
    combine: Combine | None = None,
    keep: bool = False,
    name: Callable[[U], str] | None = None,
) -> list[R]:
    """Scatter each unit's rows into buckets, gather each bucket.

    Args:
        units: picklable with the executors "process" and "ray", as are all functions and their results.
        scatter: gives rows with a uint32 column `bucket`, each below num_buckets; no column is a dictionary.
        gather: is given a bucket's number and all its rows, without `bucket`, in the order of units.
        num_buckets: from the recipe or the data, never from the number of workers.
        executor: runs both.
        folder: for the files between, made here and left for the caller to remove; with the executor "ray" on storage
            that all its nodes share.
        on_done: told of each scatter and each gather as it ends.
        on_start: told beforehand how many that will be.
        combine: makes fewer rows of a bucket's rows, so that one frequent key cannot fill memory. It is applied to
            some, all or none of a bucket's neighbouring rows, once or more: gather must give the same for each.
        keep: keep what gather gave, for a re-run; only where gather does nothing but give it.
        name: tells a unit for people, in errors.

    Returns:
        What gather gave, in bucket order; [] where there are no units.

    Raises:
        ComputeError: files between are damaged again and again; or see Executor.map.
        RecipeError: a node of the cluster does not see the folder.
    """
    if not units:
        return []
    Path(folder).mkdir(parents=True, exist_ok=True)
    executor.check_shared(folder)
    work = _Work(units, partial(_scatter, scatter, combine, num_buckets), folder, executor, on_done, name)
    results: dict[int, Any] = {}
    for trial in range(TRIES):
        try:
            names = work.make_runs(trial, num_buckets, on_start)
            todo = [q for q in range(num_buckets) if q not in results]
            work.map(
                partial(_gather, gather, combine, names, folder if keep else None),
                todo,
                results,
                told="bucket {}".format,
            )
            return [results[q] for q in range(num_buckets)]
        except DamagedError as error:
            damaged = error
    raise ComputeError(
        f"{damaged.name}: {damaged.what}, the {TRIES}rd time; its disk does not keep what is written, or another "
        f"process works in {folder}; look at both"
    ) from damaged


@dataclass(frozen=True)
class _Work(Generic[U]):
    """One exchange under way."""

    units: Sequence[U]
    scatter: Callable[[tuple[U, str]], None]
    folder: str
    executor: Executor
    on_done: OnDone | None
    name: Callable[[U], str] | None

    def make_runs(self, trial: int, num_buckets: int, on_start: Callable[[int], None] | None) -> list[str]:
        """Make those runs that are not there; the names of all that gather reads."""
        levels = _levels(len(self.units), num_buckets)
        there = {path.name for path in Path(self.folder).iterdir()}
        missing = [list(range(levels[-1]))]  # from the last level down to the units
        for level in range(len(levels) - 1, -1, -1):
            missing[-1] = [i for i in missing[-1] if _run_name(level, i) not in there]
            if level:
                missing.append([j for i in missing[-1] for j in _members(i, levels[level - 1])])
        if not trial:
            self._tell(missing, num_buckets, on_start)
        for level, todo in enumerate(reversed(missing)):
            if level == 0:
                self._scatter_all([(self.units[i], self._path(0, i)) for i in todo], todo if not trial else None)
                continue
            below = [[self._path(level - 1, j) for j in _members(i, levels[level - 1])] for i in todo]
            tasks = [(self._path(level, i), names) for i, names in zip(todo, below, strict=True)]
            self.map(_merge, tasks, None, told=lambda task: f"merge into {task[0]}")
        top = len(levels) - 1
        return [self._path(top, i) for i in range(levels[top])]

    def _path(self, level: int, run: int) -> str:
        return f"{self.folder}/{_run_name(level, run)}"

    def _tell(self, missing: list[list[int]], num_buckets: int, on_start: Callable[[int], None] | None) -> None:
        """How much there is to do; units of an earlier run are done."""
        if on_start:
            on_start(len(self.units) + sum(map(len, missing[:-1])) + num_buckets)
        if self.on_done:
            todo = set(missing[-1])
            for i in range(len(self.units)):
                if i not in todo:
                    self.on_done(i, None)

    def _scatter_all(self, tasks: list[tuple[U, str]], indices: list[int] | None) -> None:
        """Scatter units; `indices` are told, those that are made again are not."""

        def told(i: int, result: None) -> None:
            if self.on_done and indices is not None:
                self.on_done(indices[i], result)

        named = self.name
        self.executor.map(self.scatter, tasks, on_done=told, name=(lambda task: named(task[0])) if named else None)

    def map(
        self,
        work: Callable[[Any], object],
        tasks: Sequence[Any],
        results: dict[int, Any] | None,
        *,
        told: Callable[[Any], str],
    ) -> None:
        """Run what may meet damage; results by task where they are asked for.

        Raises:
            DamagedError: it did; all else is done, and the damaged files are gone.
        """
        damaged: list[DamagedError] = []

        def on_done(i: int, result: object) -> None:
            if isinstance(result, DamagedError):
                damaged.append(result)
                return
            if results is not None:
                results[tasks[i]] = result
            if self.on_done:
                self.on_done(tasks[i] if results is not None else i, result)

        self.executor.map(work, tasks, on_done=on_done, name=told)
        for error in damaged:
            Path(error.name).unlink(missing_ok=True)
        if damaged:
            raise damaged[0]


def _levels(num_units: int, num_buckets: int) -> list[int]:
    """How many runs there are, of the units and after each round of merging.

    >>> _levels(1_000, 64), _levels(100_000, 10_000)
    ([1000], [100000, 3125, 98])
    """
    levels = [num_units]
    while levels[-1] > 1 and levels[-1] * num_buckets > MOST_READS:
        levels.append(-(-levels[-1] // FAN_IN))
    return levels


def _members(run: int, num_below: int) -> range:
    """Which runs of the level below a run is merged from.

    >>> list(_members(1, 34))
    [32, 33]
    """
    return range(run * FAN_IN, min((run + 1) * FAN_IN, num_below))


def _run_name(level: int, run: int) -> str:
    return f"merge-{level}-{run:05d}.run" if level else f"scatter-{run:05d}.run"


def _scatter(scatter: Callable[[U], pa.Table], combine: Combine | None, num_buckets: int, task: tuple[U, str]) -> None:
    unit, name = task
    if Path(name).exists():
        return
    rows = scatter(unit)
    buckets = rows.column(BUCKET).to_numpy()
    assert not len(buckets) or int(buckets.max()) < num_buckets, "scatter gave a bucket that does not exist"
    rows = rows.drop_columns([BUCKET])
    if combine:
        found, starts = np.unique(np.sort(buckets), return_index=True)
        rows = rows.take(np.argsort(buckets, kind="stable"))
        ends = [*starts[1:].tolist(), len(rows)]
        pieces = [combine(rows.slice(a, b - a)) for a, b in zip(starts.tolist(), ends, strict=False)]
        rows = pa.concat_tables([rows.slice(0, 0), *pieces])
        buckets = np.repeat(found, [len(piece) for piece in pieces])
    write_run(name, rows, buckets, num_buckets=num_buckets)


def _merge(task: tuple[str, list[str]]) -> DamagedError | None:
    name, sources = task
    if not Path(name).exists():
        try:
            merge_runs(name, sources)
        except DamagedError as error:
            if not Path(name).exists():  # else another try at this merge, of a node thought dead, has just ended
                return error
    for source in sources:
        Path(source).unlink(missing_ok=True)
    return None


def _gather(
    gather: Callable[[int, pa.Table], R],
    combine: Combine | None,
    names: Sequence[str],
    folder: str | None,
    bucket: int,
) -> R | DamagedError:
    kept = f"{folder}/gather-{bucket:05d}.result" if folder is not None else None
    try:
        if kept and Path(kept).exists():
            found: R = loaded(read_sealed(kept))
            return found
        rows = _rows(names, bucket, combine)
    except DamagedError as error:
        return error
    result = gather(bucket, rows)
    if kept:
        write_sealed(kept, packed(result))
    return result


def _rows(names: Iterable[str], bucket: int, combine: Combine | None) -> pa.Table:
    """The rows of a bucket in all runs."""
    held: list[pa.RecordBatch] = []
    num_rows, most = 0, COMBINE_ROWS
    for name in names:
        schema, batches = read_bucket(name, bucket)
        held += batches
        num_rows += sum(map(len, batches))
        if combine and num_rows > most:
            rows = combine(pa.Table.from_batches(held, schema))
            held, num_rows = rows.to_batches(), len(rows)
            most = max(COMBINE_ROWS, 2 * num_rows)
    return pa.Table.from_batches(held, schema)
