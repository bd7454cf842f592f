"""Laws of sharing: the ranks of a step take its rows, each once, in their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import SettingError
from loader.share import PAD, Share


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 50), st.integers(0, 100))
def test_ranks_together_take_consecutive_positions(world_size, batch_size, start, stop):
    shares = [Share(rank=rank, world_size=world_size, batch_size=batch_size) for rank in range(world_size)]
    num_steps = shares[0].steps_between(start, stop)
    by_rank = np.stack([share.positions(start, num_steps=num_steps) for share in shares], axis=1)
    assert by_rank.shape == (num_steps, world_size, batch_size)
    rows = num_steps * world_size * batch_size
    assert by_rank.ravel().tolist() == list(range(start, start + rows))
    assert rows + shares[0].tail_rows(start, stop) == max(0, stop - start)
    assert shares[0].tail_rows(start, stop) < world_size * batch_size


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": 2}, r"rank = 2, wanted 0 to world_size - 1 = 1"),
        ({"rank": -1}, r"rank = -1"),
        ({"world_size": 0}, r"world_size = 0, wanted an integer >= 1"),
        ({"batch_size": 2.0}, r"batch_size = 2\.0"),
        ({"tail": "keep"}, r"tail = 'keep', wanted one of"),
    ],
)
def test_what_is_no_share_is_refused(change, message):
    with pytest.raises(SettingError, match=message):
        Share(**{"rank": 0, "world_size": 2, "batch_size": 3, **change})


@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 100), st.integers(1, 100))
def test_a_tail_is_filled_up_to_one_whole_step(world_size, batch_size, start, num_rows):
    start = min(start, num_rows)
    for tail in ("pad_masked", "wrap"):
        shares = [Share(rank=r, world_size=world_size, batch_size=batch_size, tail=tail) for r in range(world_size)]
        num_steps = shares[0].steps_between(start, num_rows)
        asked = np.stack([share.positions(start, num_steps=num_steps) for share in shares], axis=1).ravel()
        placed = shares[0].placed(asked, num_rows=num_rows).tolist()
        assert placed[: num_rows - start] == list(range(start, num_rows))
        extra = placed[num_rows - start :]
        assert len(extra) == shares[0].extra_rows(start, num_rows) < world_size * batch_size
        assert extra == ([PAD] * len(extra) if tail == "pad_masked" else [k % num_rows for k in range(len(extra))])
        assert shares[0].tail_rows(start, num_rows) == 0
