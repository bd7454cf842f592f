"""The order of an epoch: a keyed permutation of range(n), evaluated anywhere in O(1), stored nowhere.

An unbalanced Feistel network permutes range(2**bits), the smallest such range that holds n (at least 2 bits), and
cycle walking repeats it until the value falls below n: at most 2 evaluations on average (for n of 3 or more).

Shapes: N positions asked for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError

SHUFFLES = ("global", None)
ROUNDS = 6  # 3 show serial correlation (shared/proofs/order.py; tests/loader/test_order.py repeats it)
SMALL_N = 1_000  # below it the halves have few bits, so that 6 rounds reach too few permutations
SMALL_ROUNDS = 24
BLOCK = 8_192  # positions at a time: the temporaries stay in the cache

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


@dataclass(frozen=True)
class Order:
    """The order in which an epoch visits range(num_rows).

    Args:
        num_rows: n, rows of the data set.
        seed: 0 to 2**64 - 1.
        epoch: 0 to 2**64 - 1; each epoch has its own order.
        shuffle: "global" permutes all rows; None keeps them in order.

    Raises:
        SettingError: another shuffle, or a number out of its range.

    >>> order = Order(num_rows=10, seed=1, epoch=0)
    >>> order.between(0, 10).tolist()
    [7, 6, 9, 5, 2, 4, 0, 1, 3, 8]
    >>> order.at(np.array([9, 0])).tolist()
    [8, 7]
    """

    num_rows: int
    seed: int
    epoch: int
    shuffle: str | None = "global"

    def __post_init__(self) -> None:
        if self.shuffle not in SHUFFLES:
            later = "; 'block' is not available yet" if self.shuffle == "block" else ""
            raise SettingError(f"shuffle = {self.shuffle!r}, wanted one of {SHUFFLES}{later}")
        for name, value in (("num_rows", self.num_rows), ("seed", self.seed), ("epoch", self.epoch)):
            if type(value) is not int or not 0 <= value <= _MASK:
                raise SettingError(f"{name} = {value!r}, wanted an integer from 0 to 2**64 - 1")

    def at(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Give the rows at some positions of the epoch.

        Args:
            positions: int64, any shape, each 0 <= position < num_rows.

        Returns:
            int64 of the same shape.
        """
        flat_N = np.ascontiguousarray(positions, np.int64).reshape(-1)
        assert not len(flat_N) or 0 <= int(flat_N.min()) <= int(flat_N.max()) < self.num_rows, "position out of range"
        if self.shuffle is None:
            return flat_N.reshape(positions.shape).copy()
        keys = round_keys(self.seed, self.epoch, num_rounds=ROUNDS if self.num_rows >= SMALL_N else SMALL_ROUNDS)
        rows_N = np.empty(len(flat_N), np.int64)
        for start in range(0, len(flat_N), BLOCK):
            rows_N[start : start + BLOCK] = permute(flat_N[start : start + BLOCK], num_rows=self.num_rows, keys=keys)
        return rows_N.reshape(positions.shape)

    def between(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Give the rows at positions start, ..., stop - 1, as int64 [stop - start]."""
        return self.at(np.arange(start, stop, dtype=np.int64))


def round_keys(seed: int, epoch: int, *, num_rounds: int) -> npt.NDArray[np.uint64]:
    """Derive uint64 [num_rounds] from seed and epoch, by SplitMix64 in counter mode.

    Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    start = _splitmix(_splitmix(seed) ^ epoch)
    return np.array([_splitmix((start + i) & _MASK) for i in range(num_rounds)], np.uint64)


def permute(positions_N: npt.NDArray[Any], *, num_rows: int, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Map positions to rows, one to one on range(num_rows).

    Args:
        positions_N: integer [N], 0 <= position < num_rows.
        num_rows: n, at least 1.
        keys: uint64, one per round, from `round_keys`.

    Returns:
        int64 [N].

    Source: Black, Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002 (cycle walking).
    """
    rows_N = np.empty(len(positions_N), np.uint64)
    todo, x = np.arange(len(positions_N)), positions_N.astype(np.uint64)
    num_bits = max(2, (num_rows - 1).bit_length())
    while len(x):
        x = _feistel(x, num_bits, keys)
        inside = x < np.uint64(num_rows)
        rows_N[todo[inside]] = x[inside]
        todo, x = todo[~inside], x[~inside]
    return rows_N.astype(np.int64)


def _feistel(x: npt.NDArray[np.uint64], num_bits: int, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Permute range(2**num_bits): the halves change places each round, and their widths with them."""
    high_bits, low_bits = num_bits - num_bits // 2, num_bits // 2
    for key in keys:
        low = x & np.uint64((1 << low_bits) - 1)
        high = x >> np.uint64(low_bits)
        noise = (low + key) * np.uint64(_MIX_1)
        noise ^= noise >> np.uint64(32)
        noise *= np.uint64(_MIX_2)
        noise ^= noise >> np.uint64(29)
        noise ^= high
        noise &= np.uint64((1 << high_bits) - 1)
        low <<= np.uint64(high_bits)
        low |= noise
        x = low
        high_bits, low_bits = low_bits, high_bits
    return x


def _splitmix(x: int) -> int:
    x = (x + _GOLDEN) & _MASK
    x = ((x ^ (x >> 30)) * _MIX_1) & _MASK
    x = ((x ^ (x >> 27)) * _MIX_2) & _MASK
    return x ^ (x >> 31)
