"""What dedup is given of a snapshot: its parts, and the means to bring rows with one key together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import pyarrow as pa

Unit = TypeVar("Unit")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Part:
    """One part of `signatures`; picklable where `load` is.

    Args:
        load: gives the part's rows, records.signatures(H).
        source: name of their source.
        first: position of its first row in the snapshot, in document order (source priority, origin, row).
        rows: number of rows.
    """

    load: Callable[[], pa.Table]
    source: str
    first: int
    rows: int


class Exchange(Protocol):
    """Rows of many units, brought together by bucket; `dataassets.compute` has the external one."""

    def __call__(
        self,
        units: Sequence[Unit],
        scatter: Callable[[Unit], pa.Table],
        gather: Callable[[int, pa.Table], Result],
        *,
        num_buckets: int,
    ) -> list[Result]:
        """Scatter each unit, gather each bucket.

        Args:
            units: what `scatter` takes, picklable.
            scatter: gives rows with a uint32 column `bucket` below num_buckets.
            gather: takes a bucket's number and all its rows, without `bucket`.
            num_buckets: how many.

        Returns:
            Results of `gather`, by bucket.
        """
        ...
