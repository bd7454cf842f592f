"""Mix: rows of several data sets in proportions that may change on the way; itself a data set for a stream of batches.

Shapes: S data sets, B rows, T tokens a row.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from loader.blend import Blend, Point, ramp
from loader.errors import SettingError
from loader.order import Order
from loader.stream.dataset import TokenDataset

STOPS = ("first_exhausted", "all_exhausted", "never")
ENDLESS = 1 << 60  # rows of an epoch that never ends

Weights = Mapping[str, float] | Sequence[float]
Ints = npt.NDArray[np.int64]


class Mix:
    """Several data sets as one.

    Each row comes from one of them, in shares that hold to within a few rows at every step; a data set that is used
    up begins again in another order. Every epoch follows the schedule from its first row.

    Args:
        datasets: by name; of one seq_len, shift, vocabulary and the same boundaries.
        weights: of each data set, by name or in their order; or a schedule {first row: weights}, where rows are
            those of all ranks together.
        unit: "rows", or "tokens": the schedule counts input tokens, rounded to whole rows.
        schedule: "step": weights hold until the next ones; "linear": they move evenly, in 64 steps, to the next ones.
        stop: an epoch ends when the "first_exhausted" data set has given all its rows, when "all_exhausted" have (the
            others repeat), or "never".

    Attributes:
        names: of the data sets.
        digest: of the data, their weights and the stop; states refer to it.

    Raises:
        SettingError: data sets that do not fit each other, weights that are none, or an epoch that would never end.
    """

    def __init__(
        self,
        datasets: Mapping[str, TokenDataset],
        weights: Weights | Mapping[int, Weights],
        *,
        unit: str = "rows",
        schedule: str = "step",
        stop: str = "first_exhausted",
    ) -> None:
        _check_choice("unit", unit, ("rows", "tokens"))
        _check_choice("schedule", schedule, ("step", "linear"))
        _check_choice("stop", stop, STOPS)
        self.names, self.datasets = tuple(datasets), tuple(datasets.values())
        first = _fitting(self.names, self.datasets)
        self.seq_len, self.shift, self.eot, self.vocab_size = first.seq_len, first.shift, first.eot, first.vocab_size
        self.bounds, self.folder, self.stop = first.bounds, " + ".join(str(d.folder) for d in self.datasets), stop
        self.split, self.stride, self.packing = None, first.seq_len, "mix"
        points = _points(self.names, weights, 1 if unit == "rows" else self.seq_len)
        self._blend = Blend(ramp(points) if schedule == "linear" else points)
        self._offsets = np.cumsum([0, *map(len, self.datasets)])
        self.digest = self._digest()

    def __len__(self) -> int:
        """Give the rows of an epoch; 2**60 where it never ends."""
        return self._num_rows

    def order(self, *, seed: int, epoch: int, shuffle: str | None) -> "MixOrder":
        """The order of an epoch: which row of which data set comes at each position."""
        return MixOrder(self._blend, self.names, tuple(map(len, self.datasets)), seed, epoch, shuffle)

    def gather(self, rows_B: Ints, *, inputs_BT: Ints, labels_BT: Ints) -> Ints | None:
        """Fill two buffers; as `TokenDataset.gather`, rows counted through all data sets."""
        document_BT = np.empty(inputs_BT.shape, np.int64) if self.bounds.names else None
        source_B = np.searchsorted(self._offsets, rows_B, side="right") - 1
        for s in np.unique(source_B).tolist():
            mine = np.flatnonzero(source_B == s)
            inputs, labels = np.empty((2, len(mine), self.seq_len), np.int64)
            rows = np.where(rows_B[mine] < 0, -1, rows_B[mine] - self._offsets[max(s, 0)])
            told = self.datasets[s].gather(rows, inputs_BT=inputs, labels_BT=labels)
            inputs_BT[mine], labels_BT[mine] = inputs, labels
            if document_BT is not None:
                document_BT[mine] = told
        return document_BT

    def documents(self, index: int) -> list[dict[str, Any]]:
        """Tell which documents lie in the inputs of a row, each with its `dataset`; as `TokenDataset.documents`."""
        s = int(np.searchsorted(self._offsets, index, side="right")) - 1
        found = self.datasets[s].documents(int(index - self._offsets[s]))
        return [{"dataset": self.names[s], **document} for document in found]

    def counts(self, rows: int) -> dict[str, int]:
        """Rows that each data set has given after so many rows of an epoch, all ranks together.

        Args:
            rows: as in a state's `rows`.
        """
        return dict(zip(self.names, self._blend.counts(rows), strict=True))

    @cached_property
    def _num_rows(self) -> int:
        """The epoch's rows: found by bisection, since counts never fall."""
        sizes = list(map(len, self.datasets))

        def ended(rows: int) -> bool:
            gave = self._blend.counts(rows)
            if self.stop == "first_exhausted":
                return any(n > size for n, size in zip(gave, sizes, strict=True))
            return all(n >= size for n, size in zip(gave, sizes, strict=True))

        if self.stop == "never":
            return ENDLESS
        low, high = 0, 1
        while not ended(high):
            low, high = high, 2 * high
            if high > ENDLESS:
                raise SettingError(f"stop = {self.stop!r}: with these weights that never comes; take stop = 'never'")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if ended(middle) else (middle, high)
        return low if self.stop == "first_exhausted" else high

    def _digest(self) -> str:
        told = [[n, d.digest, d.split, d.stride, d.packing] for n, d in zip(self.names, self.datasets, strict=True)]
        body = json.dumps([told, self._blend.points, self.stop], separators=(",", ":"))
        return hashlib.sha256(body.encode()).hexdigest()


@dataclass(frozen=True)
class MixOrder:
    """The order of an epoch of a mix; each data set is gone through in an order of its own, anew each time."""

    blend: Blend
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    seed: int
    epoch: int
    shuffle: str | None

    def at(self, positions: Ints) -> Ints:
        """Give the rows, counted through all data sets, at some positions; as `Order.at`."""
        flat_N = np.ascontiguousarray(positions, np.int64).reshape(-1)
        source_N, nth_N = self.blend.at(flat_N)
        rows_N, first = np.empty_like(flat_N), 0
        for s, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            seed = int.from_bytes(hashlib.sha256(f"{self.seed}/{name}".encode()).digest()[:8], "big")
            turn_N = nth_N // max(size, 1)
            for turn in np.unique(turn_N[source_N == s]).tolist():
                mine = (source_N == s) & (turn_N == turn)
                order = Order(num_rows=size, seed=seed, epoch=(self.epoch << 32) + turn, shuffle=self.shuffle)
                rows_N[mine] = first + order.at(nth_N[mine] - turn * size)
            first += size
        return rows_N.reshape(positions.shape)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingError(f"{name} = {value!r}, wanted one of {choices}")


def _fitting(names: Sequence[str], datasets: Sequence[TokenDataset]) -> TokenDataset:
    """The first of some data sets that can be rows of one batch."""
    if not datasets:
        raise SettingError("a mix of no data sets; give at least one")
    for name, dataset in zip(names, datasets, strict=True):
        if not len(dataset):
            raise SettingError(f"{name} ({dataset.folder}) has no row of seq_len {dataset.seq_len}; leave it out")
        for field in ("seq_len", "shift", "eot", "vocab_size"):
            met, wanted = getattr(dataset, field), getattr(datasets[0], field)
            if met != wanted:
                raise SettingError(f"{name} has {field} = {met}, but {names[0]} has {wanted}; build both with the same")
        if dataset.bounds.names != datasets[0].bounds.names:
            raise SettingError(f"{name} and {names[0]} tell of different boundaries; give both the same")
    return datasets[0]


def _points(names: Sequence[str], weights: Weights | Mapping[int, Weights], row_units: int) -> tuple[Point, ...]:
    """A schedule in rows, whichever way it was written."""
    if isinstance(weights, Mapping) and weights and all(type(key) is int for key in weights):
        schedule = cast(Mapping[int, Weights], weights)
    else:
        schedule = {0: cast(Weights, weights)}
    return tuple((round(at / row_units), _in_order(names, own)) for at, own in sorted(schedule.items()))


def _in_order(names: Sequence[str], weights: Weights) -> tuple[float, ...]:
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise SettingError(f"weights of {sorted(weights)}, wanted one for each of {list(names)}")
        return tuple(float(weights[name]) for name in names)
    if len(weights) != len(names):
        raise SettingError(f"{len(weights)} weights {tuple(weights)}, wanted one for each of {list(names)}")
    return tuple(float(weight) for weight in weights)
