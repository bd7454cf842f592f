"""Laws of windows: as many as fit, the rest counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import SettingError
from loader.pack import Windows


@given(st.integers(0, 60), st.integers(1, 9), st.integers(1, 12), st.integers(0, 3))
def test_windows_are_all_that_fit(num_tokens, seq_len, stride, shift):
    windows = Windows(num_tokens=num_tokens, seq_len=seq_len, stride=stride, shift=shift)
    expected = [i for i in range(0, num_tokens + 1, stride) if i + seq_len + shift <= num_tokens]
    assert windows.starts(np.arange(len(windows))).tolist() == expected
    last = expected[-1] + seq_len + shift if expected else 0
    assert windows.num_tail_tokens == num_tokens - last


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seq_len": 0}, "seq_len = 0, wanted an integer >= 1"),
        ({"stride": 0}, "stride = 0"),
        ({"shift": -1}, "shift = -1, wanted an integer >= 0"),
        ({"seq_len": "8"}, "seq_len = '8'"),
    ],
)
def test_what_is_no_window_is_refused(change, message):
    with pytest.raises(SettingError, match=message):
        Windows(**{"num_tokens": 9, "seq_len": 2, "stride": 2, "shift": 1, **change})
