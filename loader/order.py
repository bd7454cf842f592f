"""The order of an epoch: a keyed permutation of range(n), evaluated anywhere in O(1), stored nowhere.

An unbalanced Feistel network permutes range(2**bits), the smallest such range that holds n (at least 2 bits), and
cycle walking repeats it until the value falls below n: at most 2 evaluations on average (for n of 3 or more).

For cold or remote data the order "block" keeps W consecutive rows near each other: blocks of W rows are permuted, then
the rows of G blocks at a time. What is read in one go is a block, what is held at once are G of them.

Shapes: N positions asked for.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError

SHUFFLES = ("global", "block", None)
BLOCK_ROWS, BUFFER_BLOCKS = 256, 64  # of "block": rows read in one go, blocks mixed at a time
ROUNDS = 6  # 3 show serial correlation (shared/proofs/order.py; tests/loader/test_order.py repeats it)
SMALL_N = 1_000  # below it the halves have few bits, so that 6 rounds reach too few permutations
SMALL_ROUNDS = 24
BLOCK = 8_192  # positions at a time: the temporaries stay in the cache

_SIZES = re.compile(r"block:([1-9][0-9]{0,8})x([1-9][0-9]{0,8})")
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
        shuffle: "global" permutes all rows; "block" permutes blocks of 256 rows, then the rows of 64 blocks at a time
            ("block:WxG" for other sizes); None keeps them in order.

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
        object.__setattr__(self, "shuffle", named(self.shuffle))
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
        rows_N = np.empty(len(flat_N), np.int64)
        for start in range(0, len(flat_N), BLOCK):
            some = flat_N[start : start + BLOCK]
            rows_N[start : start + BLOCK] = self._blocked(some) if self._sizes else self._permuted(some, self.num_rows)
        return rows_N.reshape(positions.shape)

    def between(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Give the rows at positions start, ..., stop - 1, as int64 [stop - start]."""
        return self.at(np.arange(start, stop, dtype=np.int64))

    @cached_property
    def _sizes(self) -> tuple[int, int] | None:
        """Rows of a block and blocks of a buffer, where the order is by blocks."""
        found = _SIZES.fullmatch(self.shuffle or "")
        return (int(found[1]), int(found[2])) if found else None

    def _permuted(self, places_N: npt.NDArray[np.int64], num: int, *, stream: int = 0) -> npt.NDArray[np.int64]:
        """A permutation of range(num), another one for each stream of an epoch."""
        num_rounds = ROUNDS if num >= SMALL_N else SMALL_ROUNDS
        return permute(
            places_N, num_rows=num, keys=round_keys(self.seed, self.epoch, num_rounds=num_rounds, stream=stream)
        )

    def _blocked(self, places_N: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows of a buffer in their order, blocks in theirs; all turned, so that no row is always in the last buffer.

        Rows that fill no whole block come in the last buffer. Streams: 1 the blocks, 2 the turn, from 3 on the buffers.
        """
        assert self._sizes is not None
        rows, blocks = self._sizes
        span, num_blocks = rows * blocks, self.num_rows // rows
        slots_N = np.empty_like(places_N)
        for buffer in np.unique(places_N // span).tolist():
            mine, base = places_N // span == buffer, buffer * span
            size = min(span, self.num_rows - base)
            slots_N[mine] = base + self._permuted(places_N[mine] - base, size, stream=3 + buffer)
        whole = slots_N < num_blocks * rows
        block_N, row_N = slots_N[whole] // rows, slots_N[whole] % rows
        slots_N[whole] = self._permuted(block_N, num_blocks, stream=1) * rows + row_N
        turn = int(round_keys(self.seed, self.epoch, num_rounds=1, stream=2)[0]) % self.num_rows
        return (slots_N + turn) % self.num_rows


def named(shuffle: str | None) -> str | None:
    """A shuffle with its sizes, as states keep it.

    Raises:
        SettingError: there is no such shuffle.

    >>> named("block"), named("global"), named("block:8x2")
    ('block:256x64', 'global', 'block:8x2')
    """
    if shuffle == "block":
        return f"block:{BLOCK_ROWS}x{BUFFER_BLOCKS}"
    if shuffle in SHUFFLES or (isinstance(shuffle, str) and _SIZES.fullmatch(shuffle)):
        return shuffle
    raise SettingError(f"shuffle = {shuffle!r}, wanted one of {SHUFFLES}, or 'block:WxG' with W rows and G blocks")


def round_keys(seed: int, epoch: int, *, num_rounds: int, stream: int = 0) -> npt.NDArray[np.uint64]:
    """Derive uint64 [num_rounds] from seed, epoch and stream, by SplitMix64 in counter mode.

    Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    start = _splitmix(_splitmix(seed) ^ epoch)
    start = _splitmix(start ^ stream) if stream else start
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
