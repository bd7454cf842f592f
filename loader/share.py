"""Who gets which rows: pure arithmetic on positions of the epoch's order.

A global step takes world_size * batch_size consecutive positions; rank r gets the r-th slice of them. Positions that
fill no whole step at the end of an epoch are its tail: left out, or filled up to a whole step.

Shapes: K steps, B rows a batch.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError

TAILS = ("drop", "pad_masked", "wrap")
PAD = -1  # the position of a row that is none: all its labels are masked


@dataclass(frozen=True)
class Share:
    """One rank's part of each global step.

    Args:
        rank: 0 to world_size - 1.
        world_size: number of ranks.
        batch_size: B, rows of one rank and step.
        tail: what becomes of the rows that fill no whole global step: "drop" leaves them out; "pad_masked" fills the
            step with rows that are none, "wrap" with the first rows of the epoch. Both are counted.

    Raises:
        SettingError: a number out of its range, or a tail that is not available.

    >>> share = Share(rank=1, world_size=2, batch_size=3)
    >>> share.positions(12, num_steps=2).tolist()
    [[15, 16, 17], [21, 22, 23]]
    >>> share.steps_between(12, 25), share.tail_rows(12, 25)
    (2, 1)
    >>> Share(rank=1, world_size=2, batch_size=3, tail="wrap").placed(np.array([12, 13]), num_rows=13).tolist()
    [12, 0]
    """

    rank: int
    world_size: int
    batch_size: int
    tail: str = "drop"

    def __post_init__(self) -> None:
        for name, value in (("world_size", self.world_size), ("batch_size", self.batch_size)):
            if type(value) is not int or value < 1:
                raise SettingError(f"{name} = {value!r}, wanted an integer >= 1")
        if type(self.rank) is not int or not 0 <= self.rank < self.world_size:
            raise SettingError(f"rank = {self.rank!r}, wanted 0 to world_size - 1 = {self.world_size - 1}")
        if self.tail not in TAILS:
            raise SettingError(f"tail = {self.tail!r}, wanted one of {TAILS}")

    @property
    def rows_per_step(self) -> int:
        """Rows that all ranks together take in one step."""
        return self.world_size * self.batch_size

    def steps_between(self, start: int, stop: int) -> int:
        """Give the number of global steps in positions start, ..., stop - 1; one more where a tail is filled up."""
        num = max(0, stop - start)
        return num // self.rows_per_step if self.tail == "drop" else -(-num // self.rows_per_step)

    def tail_rows(self, start: int, stop: int) -> int:
        """Give the number of positions that are left out after the last whole global step from `start` on."""
        return max(0, stop - start) % self.rows_per_step if self.tail == "drop" else 0

    def extra_rows(self, start: int, stop: int) -> int:
        """Give the number of rows that fill the last step up: padded or repeated ones."""
        return 0 if self.tail == "drop" else -max(0, stop - start) % self.rows_per_step

    def positions(self, start: int, *, num_steps: int) -> npt.NDArray[np.int64]:
        """Give this rank's positions in the steps from position `start` on.

        Args:
            start: first position of the first global step.
            num_steps: K.

        Returns:
            int64 [K, B].
        """
        first_K = start + self.rank * self.batch_size + self.rows_per_step * np.arange(num_steps, dtype=np.int64)
        return first_K[:, None] + np.arange(self.batch_size, dtype=np.int64)

    def placed(self, positions: npt.NDArray[np.int64], *, num_rows: int) -> npt.NDArray[np.int64]:
        """Give the positions where those beyond the epoch are filled up: PAD, or the epoch's first ones again.

        Args:
            positions: int64, any shape.
            num_rows: rows of the epoch.
        """
        if self.tail == "wrap":
            return positions % num_rows
        return np.where(positions < num_rows, positions, PAD)
