"""Laws of packing documents: each token in one row, no row over-full, and rows as a slow best-fit makes them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.pack import best_fit, by_document

LENGTHS = st.lists(st.integers(0, 40), max_size=60)


def offsets_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@pytest.mark.parametrize("pack", [by_document, best_fit])
@given(lengths=LENGTHS, seq_len=st.integers(1, 20))
def test_each_token_lies_in_one_row_and_no_row_is_over_full(pack, lengths, seq_len):
    offsets = offsets_of(lengths)
    rows = pack(offsets, seq_len=seq_len)
    tokens = [t for a, b in zip(rows.starts.tolist(), rows.stops.tolist(), strict=True) for t in range(a, b)]
    assert sorted(tokens) == list(range(int(offsets[-1])))
    used = [sum((rows.stops - rows.starts)[a:b].tolist()) for a, b in zip(rows.first[:-1], rows.first[1:], strict=True)]
    assert all(0 < n <= seq_len for n in used)
    assert rows.num_padding == sum(seq_len - n for n in used)
    owner = np.searchsorted(offsets, rows.starts, side="right") - 1
    assert rows.ends.tolist() == offsets[owner + 1].tolist()
    assert rows.num_cut == sum(max(0, -(-n // seq_len) - 1) for n in lengths)


@given(lengths=LENGTHS, seq_len=st.integers(1, 20))
def test_a_document_has_its_rows_in_order(lengths, seq_len):
    rows = by_document(offsets_of(lengths), seq_len=seq_len)
    assert rows.starts.tolist() == sorted(rows.starts.tolist())
    assert (np.diff(rows.first) == 1).all()


def slow_best_fit(lengths, seq_len):
    """Tokens in each row, by best-fit decreasing, one piece at a time."""
    pieces = [size for n in lengths for size in [seq_len] * (n // seq_len) + [n % seq_len] * (n % seq_len > 0)]
    rows = []
    for size in sorted(pieces, reverse=True):
        fitting = [r for r, used in enumerate(rows) if used + size <= seq_len]
        if fitting:
            rows[max(fitting, key=rows.__getitem__)] += size
        else:
            rows.append(size)
    return sorted(rows)


@given(lengths=LENGTHS, seq_len=st.integers(1, 20))
def test_rows_are_filled_as_a_slow_best_fit_fills_them(lengths, seq_len):
    rows = best_fit(offsets_of(lengths), seq_len=seq_len)
    used = np.add.reduceat(np.append(rows.stops - rows.starts, 0), rows.first[:-1]) if len(rows) else []
    assert sorted(used) == slow_best_fit(lengths, seq_len)
