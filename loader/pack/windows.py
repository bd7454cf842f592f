"""Packing `concat`: one long stream of all documents, cut into windows of equal length.

Window i is tokens[i * stride : i * stride + seq_len + shift]: seq_len inputs and, `shift` further on, their labels.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError


@dataclass(frozen=True)
class Windows:
    """The windows of a stream of tokens.

    Args:
        num_tokens: tokens of the stream.
        seq_len: tokens of a row.
        stride: tokens from the start of one window to the next.
        shift: how far the labels lie ahead of the inputs.

    Raises:
        SettingError: a number out of its range.

    >>> windows = Windows(num_tokens=10, seq_len=4, stride=4, shift=1)
    >>> len(windows), windows.num_tail_tokens, windows.starts(np.array([1])).tolist()
    (2, 1, [4])
    """

    num_tokens: int
    seq_len: int
    stride: int
    shift: int

    def __post_init__(self) -> None:
        least = {"num_tokens": 0, "seq_len": 1, "stride": 1, "shift": 0}
        for name, limit in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < limit:
                raise SettingError(f"{name} = {value!r}, wanted an integer >= {limit}")

    def __len__(self) -> int:
        """Whole windows only: tokens that fill none are left over."""
        return max(0, (self.num_tokens - self.width) // self.stride + 1)

    @property
    def width(self) -> int:
        """Tokens that one window reads."""
        return self.seq_len + self.shift

    @property
    def num_tail_tokens(self) -> int:
        """Tokens after the last window, read by none."""
        return self.num_tokens - ((len(self) - 1) * self.stride + self.width) if len(self) else self.num_tokens

    def starts(self, indices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Give the first token of each window, as int64 of the shape of `indices`."""
        return indices * np.int64(self.stride)
