"""Packing `best_fit`: documents go whole into the row that they fill best, so that few are cut and little is padded.

Shapes: P pieces, T tokens a row.
Source: Ding et al., "Fewer truncations improve language modeling", ICML 2024 (best-fit decreasing).
"""

from collections import deque

import numpy as np

from loader.pack.pieces import Ints, Pieces, chopped


def best_fit(offsets: Ints, *, seq_len: int) -> Pieces:
    """Pack documents by best-fit decreasing; one longer than a row is first cut into whole rows and a rest.

    Pieces of one length are placed together: rows are kept by their room left, so the work is O(P + T**2) in arrays.
    The plan is a function of lengths and order alone. Its memory: 32 bytes a piece and 8 a row.

    Args:
        offsets: int64 [D + 1]; document d is tokens offsets[d] to offsets[d + 1] of the stream.
        seq_len: T.

    Returns:
        Pieces, each token in exactly one.

    >>> rows = best_fit(np.array([0, 3, 5, 6, 8]), seq_len=4)
    >>> rows.first.tolist(), rows.starts.tolist(), rows.num_padding
    ([0, 2, 4], [0, 5, 3, 6], 0)
    """
    starts, stops, ends = chopped(offsets, seq_len=seq_len)
    row_P, num_rows = _rows_of(stops - starts, seq_len)
    order = np.argsort(row_P, kind="stable")
    counts = np.bincount(row_P, minlength=num_rows) if num_rows else np.zeros(0, np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Pieces(starts[order], stops[order], ends[order], first, seq_len)


def _rows_of(lengths_P: Ints, seq_len: int) -> tuple[Ints, int]:
    """The row of each piece, and how many there are; rows of equal room are filled in the order of their making.

    A row that took a piece is the best fit for the next one of its length as long as that fits, so it takes as many as
    fit before another is looked at.
    """
    row_P = np.empty(len(lengths_P), np.int64)
    by_length = np.argsort(lengths_P, kind="stable")
    bounds = np.searchsorted(lengths_P[by_length], np.arange(seq_len + 2))
    by_room: list[deque[Ints]] = [deque() for _ in range(seq_len)]  # arrays of rows with so much room left
    num_rows = 0
    for length in range(seq_len, 0, -1):
        todo = by_length[bounds[length] : bounds[length + 1]]
        for room in range(length, seq_len):
            while len(todo) and by_room[room]:
                rows, each = by_room[room].popleft(), room // length
                num = min(len(rows), -(-len(todo) // each))
                if num < len(rows):
                    by_room[room].appendleft(rows[num:])
                todo = _fill(rows[:num], todo, room, length, row_P, by_room)
            if not len(todo):
                break
        num_new = -(-len(todo) // (seq_len // length))
        _fill(np.arange(num_rows, num_rows + num_new), todo, seq_len, length, row_P, by_room)
        num_rows += num_new
    return row_P, num_rows


def _fill(rows: Ints, todo: Ints, room: int, length: int, row_P: Ints, by_room: list[deque[Ints]]) -> Ints:
    """Put pieces of one length into rows with so much room, as many as fit in each; gives the pieces left over."""
    each = room // length
    placed, left = todo[: len(rows) * each], todo[len(rows) * each :]
    row_P[placed] = np.repeat(rows, each)[: len(placed)]
    num_full = len(placed) // each
    by_room[room - each * length].append(rows[:num_full])
    if num_full < len(rows):  # the last one took fewer
        by_room[room - len(placed) % each * length].append(rows[num_full:])
    return left
