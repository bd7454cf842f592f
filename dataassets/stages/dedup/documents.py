"""The few documents that pairs ask for, as compact arrays: ids, sources, what decides a pair.

Shapes: N documents in pairs, H hashes a signature.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.recipe import Dedup
from dataassets.stages.dedup.candidates import bytes_of, signatures_of
from dataassets.stages.dedup.part import Ints, Part


class Documents(NamedTuple):
    """Documents in pairs.

    Args:
        position: int64 [N], rising.
        id: uint8 [N, 16].
        part: int32 [N], number of its part.
        signature: uint32 [N, H]; zeros where there is none, [N, 0] where pairs are not decided by it.
        start: int64 [N], place of its first shingle in its part.
        size: int64 [N], distinct shingles.
        length: int64 [N], shingles.
    """

    position: Ints
    id: npt.NDArray[np.uint8]
    part: npt.NDArray[np.int32]
    signature: npt.NDArray[np.uint32]
    start: Ints
    size: Ints
    length: Ints


def documents_at(positions: Ints, parts: Sequence[Part], *, settings: Dedup) -> Documents:
    """Read documents part by part; parts without any are not read, nor columns that decide nothing.

    Args:
        positions: int64 [N], rising.
        parts: in document order.
        settings: how pairs are decided.
    """
    by_signature = settings.minhash is not None and settings.minhash.verify != "exact"
    num_docs, num_perm = len(positions), settings.minhash.num_perm if by_signature and settings.minhash else 0
    found = Documents(
        positions,
        np.empty((num_docs, 16), np.uint8),
        np.empty(num_docs, np.int32),
        np.zeros((num_docs, num_perm), np.uint32),
        *np.zeros((3, num_docs), np.int64),
    )
    for number, place in _hits(positions, parts):
        part = parts[number]
        columns = ["id", "num_shingles", "num_distinct", *(["signature"] if by_signature else [])]
        table, rows = part.load(columns=columns), positions[place] - part.first
        size = np.asarray(table["num_distinct"], np.int64)
        found.start[place], found.size[place] = (np.cumsum(size) - size)[rows], size[rows]
        found.length[place], found.part[place] = np.asarray(table["num_shingles"])[rows], number
        found.id[place] = bytes_of(table["id"].take(pa.array(rows)))
        if by_signature:
            signed, sig_DH = signatures_of(table.take(pa.array(rows)), settings=settings)
            found.signature[np.arange(place.start, place.stop)[signed]] = sig_DH
    return found


def _hits(positions: Ints, parts: Sequence[Part]) -> Iterator[tuple[int, slice]]:
    """Parts that hold some of the rising positions, and which."""
    firsts = np.array([part.first for part in parts], np.int64)
    for number in np.unique(np.searchsorted(firsts, positions, side="right") - 1).tolist():
        part = parts[number]
        start, stop = np.searchsorted(positions, [part.first, part.first + part.rows]).tolist()
        yield number, slice(start, stop)
