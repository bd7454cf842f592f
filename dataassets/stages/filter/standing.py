"""A document's standing in its partition: the limit of a share that is kept, found from all its documents at once.

Documents of equal value stand in the order of their ids, so exactly as many stay as were asked for, whatever the parts.

Shapes: D documents.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.stages.filter.rule import values


@dataclass(frozen=True)
class Cut:
    """The last document of a share.

    Args:
        value: of its signal.
        id: of the document.
        lowest: whether the share is that of the lowest values, not of the highest.
    """

    value: float
    id: bytes
    lowest: bool = False

    def holds(self, signals: pa.Table, column: str) -> npt.NDArray[np.bool_]:
        """Whether each document is within the share: bool [D].

        Args:
            signals: `id` and the column, of any documents of the partition.
            column: the signal.
        """
        sign = 1 if self.lowest else -1
        found, last = sign * values(signals, column), sign * self.value
        high, low = _halves(signals.column("id"))
        (last_high,), (last_low,) = _halves(pa.chunked_array([pa.array([self.id], pa.binary(16))]))
        before = (high < last_high) | ((high == last_high) & (low <= last_low))
        within: npt.NDArray[np.bool_] = (found < last) | ((found == last) & before)
        return within


def cut(signals: pa.Table, column: str, *, fraction: float, lowest: bool = False) -> Cut | None:
    """Where a share of a partition's documents ends.

    Args:
        signals: `id` and the column, of all documents of the partition; NaN and null stand last.
        column: the signal.
        fraction: above 0; rounded up to whole documents.
        lowest: take the lowest values, not the highest.

    Returns:
        None where there is no document.

    >>> two = pa.table({"id": pa.array([b"a" * 16, b"b" * 16], pa.binary(16)), "x": [0.5, 0.9]})
    >>> cut(two, "x", fraction=0.5).value
    0.9
    """
    if not len(signals):
        return None
    found = values(signals, column)
    high, low = _halves(signals.column("id"))
    order = np.lexsort((low, high, found if lowest else -found))
    # the fraction as it is written: 0.1 of 30 is 3, though the float 0.1 is a little more
    last = order[math.ceil(Fraction(str(fraction)) * len(signals)) - 1]
    return Cut(float(found[last]), signals.column("id")[int(last)].as_py(), lowest)


def _halves(ids: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Ids as two numbers each, which order as the bytes do."""
    pairs = np.frombuffer(b"".join(ids.to_pylist()), ">u8").astype(np.uint64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
