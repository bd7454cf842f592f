"""What dedup is given of a snapshot: its parts, and the means to work on many at once and to bring rows together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Ints = npt.NDArray[np.int64]


class Load(Protocol):
    """Reads some columns of a part."""

    def __call__(self, *, columns: list[str]) -> pa.Table:
        """All rows of these columns."""
        ...


@dataclass(frozen=True)
class Part:
    """One part of `signatures`; picklable where `load` and `shingles` are.

    Args:
        load: gives columns of the part's rows, records.signatures(H).
        source: name of their source.
        first: position of its first row, in document order (snapshot, source priority, origin, row).
        rows: number of rows.
        snapshot: their snapshot.
        shingles: gives runs (first, how many) of the shingle hashes of the part; None where there are none.
    """

    load: Load
    source: str
    first: int
    rows: int
    snapshot: str
    shingles: Callable[[Ints, Ints], npt.NDArray[np.uint32]] | None = None


@dataclass(frozen=True)
class Earlier:
    """An earlier snapshot, as later ones look back at it; picklable where `kept` and its parts are.

    Args:
        parts: of its signatures, in document order.
        first: position of its first document.
        kept: gives the rows of records.KEYS of its kept documents whose key is neither below the first nor above the
            second number; their positions count from `first`.
    """

    parts: Sequence[Part]
    first: int
    kept: Callable[[int, int], pa.Table]


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


class Spread(Protocol):
    """Work on many units, wherever it is done; `dataassets.compute` has executors."""

    def __call__(self, work: Callable[[Any], Result], units: Sequence[Any], /) -> list[Result]:
        """Results in the order of the units."""
        ...
