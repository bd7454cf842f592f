"""Exchange: rows of many units meet by bucket, through files, in bounded memory.

Scatter writes one Arrow file a unit, whose record batch q holds its rows of bucket q; gather reads batch q of every
file. So the order of rows in a bucket is the order of units, whoever ran them, and a finished file is reused by a
re-run. Memory: one unit while scattering, one bucket while gathering.
"""

import os
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from dataassets.compute.executor import Executor

BUCKET = "bucket"

U = TypeVar("U")
R = TypeVar("R")


def exchange(
    units: Sequence[U],
    scatter: Callable[[U], pa.Table],
    gather: Callable[[int, pa.Table], R],
    *,
    num_buckets: int,
    executor: Executor,
    folder: str,
    on_done: Callable[[int, object], None] | None = None,
) -> list[R]:
    """Scatter each unit's rows into buckets, gather each bucket.

    Args:
        units: picklable with the executor "process", as are both functions and their results.
        scatter: gives rows with a uint32 column `bucket`, each below num_buckets.
        gather: is given a bucket's number and all its rows, without `bucket`, in the order of units.
        num_buckets: from the recipe or the data, never from the number of workers.
        executor: runs both.
        folder: local folder for the files between, made here and left for the caller to remove.
        on_done: told of each scatter and each gather as it ends.

    Returns:
        What gather gave, in bucket order; [] where there are no units.
    """
    if not units:
        return []
    Path(folder).mkdir(parents=True, exist_ok=True)
    names = [f"{folder}/scatter-{i:05d}.arrow" for i in range(len(units))]
    tasks = list(zip(units, names, strict=True))
    executor.map(partial(_scatter, scatter, num_buckets), tasks, on_done=on_done)
    return executor.map(partial(_gather, gather, names), range(num_buckets), on_done=on_done)


def _scatter(scatter: Callable[[U], pa.Table], num_buckets: int, task: tuple[U, str]) -> None:
    unit, name = task
    if Path(name).exists():
        return
    rows = scatter(unit)
    bucket = rows.column(BUCKET).to_numpy()
    assert not len(bucket) or int(bucket.max()) < num_buckets, "scatter gave a bucket that does not exist"
    rows = rows.drop_columns([BUCKET]).take(np.argsort(bucket, kind="stable")).combine_chunks()
    ends = np.cumsum(np.bincount(bucket, minlength=num_buckets))
    draft = Path(f"{name}.{uuid.uuid4().hex[:8]}.draft")
    with pa.OSFile(str(draft), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        start = 0
        for end in ends.tolist():
            writer.write_batch(_one_batch(rows.slice(start, end - start)))
            start = end
    os.replace(draft, name)  # noqa: PTH105 - atomic: a file that is there is whole


def _gather(gather: Callable[[int, pa.Table], R], names: Sequence[str], bucket: int) -> R:
    batches = []
    for name in names:
        with pa.memory_map(name) as source:
            batches.append(pa.ipc.open_file(source).get_batch(bucket))
    return gather(bucket, pa.Table.from_batches(batches))


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    """Exactly one batch, also for no rows."""
    batches = rows.to_batches()
    if len(batches) == 1:
        return batches[0]
    assert not batches, "combined chunks are one batch"
    return pa.RecordBatch.from_arrays([pa.array([], f.type) for f in rows.schema], schema=rows.schema)
