"""Which source each row of a mixture is from: pure arithmetic on positions, exact in integers, so it resumes anywhere.

Rows are dealt out in frames of F positions. How many rows of a source come before a frame is its weight times their
number, rounded; within a frame the rows of each source lie evenly spread. So after any number of rows each source has
its share to within a few rows, and a position is found in O(F) work, whatever came before.

Shapes: N positions asked for, S sources, F positions a frame.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError

FRAME = 4_096
ONE = 1 << 32  # weights are integers out of this

Ints = npt.NDArray[np.int64]
Point = tuple[int, tuple[float, ...]]


@dataclass(frozen=True)
class Blend:
    """A schedule of weights.

    Args:
        points: (first row, weights of the S sources) by rising row, the first at row 0; weights are scaled to sum to 1
            and hold until the next point.

    Raises:
        SettingError: points out of order, or weights that are none.

    >>> blend = Blend(points=((0, (0.75, 0.25)),))
    >>> source, nth = blend.at(np.arange(8))
    >>> source.tolist(), nth.tolist()
    ([0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 2, 3, 4, 1, 5])
    >>> blend.counts(1_000_000)
    [750000, 250000]
    """

    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        rows = [row for row, _ in self.points]
        if not rows or rows[0] != 0 or rows != sorted(set(rows)):
            raise SettingError(f"weights begin at rows {rows}, wanted 0 first, then rising")
        for row, weights in self.points:
            if len(weights) != len(self.points[0][1]) or min(weights, default=-1) < 0 or not sum(weights) > 0:
                raise SettingError(
                    f"weights at row {row} are {weights}, wanted {len(self.points[0][1])} numbers, one a source, none "
                    "below 0 and not all 0"
                )

    def counts(self, rows: int) -> list[int]:
        """Rows of each source among the first `rows`."""
        part, start, before = self._part(rows)
        frame, rest = divmod(rows - start, FRAME)
        base = self._by_frame(part, frame)
        source_F, _ = self._frame(part, frame)
        within = np.bincount(source_F[:rest], minlength=len(base)).tolist()
        return [a + b + c for a, b, c in zip(before, base, within, strict=True)]

    def at(self, positions_N: Ints) -> tuple[Ints, Ints]:
        """Give source and place within the source of some positions.

        Args:
            positions_N: int64 [N], 0 or more.

        Returns:
            int64 [N] sources, and int64 [N]: how many rows of that source come before.
        """
        source_N, nth_N = np.empty_like(positions_N), np.empty_like(positions_N)
        starts = [row for row, _ in self.points]
        part_N = np.searchsorted(starts, positions_N, side="right") - 1
        frame_N = (positions_N - np.array(starts)[part_N]) // FRAME
        for part, frame in sorted(set(zip(part_N.tolist(), frame_N.tolist(), strict=True))):
            mine = (part_N == part) & (frame_N == frame)
            place = positions_N[mine] - starts[part] - frame * FRAME
            source_F, nth_F = self._frame(part, frame)
            _, _, before = self._part(starts[part])
            base = np.array(before) + np.array(self._by_frame(part, frame))
            source_N[mine] = source_F[place]
            nth_N[mine] = base[source_F[place]] + nth_F[place]
        return source_N, nth_N

    def _part(self, rows: int) -> tuple[int, int, list[int]]:
        """The part of the schedule that a row lies in, its first row, and the rows of each source before that."""
        before = [0] * len(self.points[0][1])
        part = 0
        while part + 1 < len(self.points) and self.points[part + 1][0] <= rows:
            start, stop = self.points[part][0], self.points[part + 1][0]
            frame, rest = divmod(stop - start, FRAME)
            source_F, _ = self._frame(part, frame)
            within = np.bincount(source_F[:rest], minlength=len(before)).tolist()
            before = [a + b + c for a, b, c in zip(before, self._by_frame(part, frame), within, strict=True)]
            part += 1
        return part, self.points[part][0], before

    def _by_frame(self, part: int, frame: int) -> list[int]:
        """Rows of each source in the first frames of a part.

        Each source takes its share, rounded, of the rows that the sources before it left: so no count ever falls.
        """
        left, counts = frame * FRAME, []
        for share in _shares(self.points[part][1]):
            counts.append((share * left + ONE // 2) // ONE)
            left -= counts[-1]
        return counts

    def _frame(self, part: int, frame: int) -> tuple[Ints, Ints]:
        quotas = [b - a for a, b in zip(self._by_frame(part, frame), self._by_frame(part, frame + 1), strict=True)]
        return _spread(tuple(quotas))


def ramp(points: tuple[Point, ...], *, steps: int = 64) -> tuple[Point, ...]:
    """Weights that move evenly from each point to the next, as a staircase.

    Args:
        points: (first row, weights), the last of which then hold.
        steps: between two points; each takes the weights of its middle.

    Raises:
        SettingError: points that are no schedule.

    >>> ramp(((0, (1.0, 0.0)), (100, (0.0, 1.0))), steps=2)
    ((0, (0.75, 0.25)), (50, (0.25, 0.75)), (100, (0.0, 1.0)))
    """
    points = Blend(points).points
    found: list[Point] = []
    for (start, now), (stop, then) in pairwise(points):
        num = min(steps, stop - start)
        a, b = (np.array(weights) / sum(weights) for weights in (now, then))
        for k in range(num):
            at = (k + 0.5) / num
            found.append((start + k * (stop - start) // num, tuple((a + at * (b - a)).tolist())))
    return (*found, points[-1])


@lru_cache(maxsize=1_024)
def _shares(weights: tuple[float, ...]) -> list[int]:
    """Of each source, its share of what the sources before it leave, as an integer out of ONE."""
    left, found = sum(weights), []
    for weight in weights[:-1]:
        found.append(min(ONE, max(0, round(weight / left * ONE))) if left > 0 else 0)
        left -= weight
    return [*found, ONE]


@lru_cache(maxsize=64)
def _spread(quotas: tuple[int, ...]) -> tuple[Ints, Ints]:
    """A frame that holds so many rows of each source, evenly spread: source and place within it, int64 [F] each."""
    assert sum(quotas) == FRAME, "a frame is full"
    assert min(quotas) >= 0, "no count falls"
    source = np.repeat(np.arange(len(quotas)), quotas)
    nth = np.concatenate([np.arange(q) for q in quotas])
    order = np.argsort((2 * nth + 1) / (2 * np.array(quotas)[source]), kind="stable")
    return source[order], nth[order]
