"""BatchStream: the batches of one rank in the order of the epoch, with a state that is one counter.

Shapes: K steps planned ahead, B rows a batch, T tokens a row.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError, StateError
from loader.fetch import BufferPool
from loader.order import BLOCK, Order, named
from loader.share import PAD, Share
from loader.state import LoaderState
from loader.stream.dataset import TokenDataset
from loader.stream.mix import Mix, MixOrder
from loader.stream.stats import Stats

FIRST_STEPS = 8  # of which the order is evaluated at once; four times as many each time after

NumpyBatch = dict[str, npt.NDArray[Any]]
Batch = TypeVar("Batch")


class BatchStream:
    """Numpy batches of one rank; `loader.Loader` is this with tensors.

    A `for` runs from the current state to the end of the epoch; the next `for` then begins the next epoch. A new
    `for`, `seek`, `set_epoch` or `load_state_dict` ends the iterator before it.

    Args:
        dataset: the rows: a TokenDataset, or a Mix of several.
        batch_size: B, rows of this rank and step.
        seed: of the order.
        rank: 0 to world_size - 1.
        world_size: number of ranks that share the rows.
        shuffle: "global"; "block" for cold or remote data, which keeps rows of 256 near each other (`loader.order`);
            None for the rows as they lie.
        tail: what becomes of rows at the end that fill no whole global step: "drop" leaves them out
            (`num_tail_rows`); "pad_masked" fills the step with rows whose labels are all -100, "wrap" with the first
            rows of the epoch (`num_extra_rows`).
        prefetch: batches made ahead by background threads; 0 makes each when it is asked for.
        threads: background threads.

    Raises:
        SettingError: an argument out of its range, or a data set too small for one global step.
    """

    def __init__(  # noqa: PLR0913 - the public face of DESIGN.md section 7
        self,
        dataset: TokenDataset | Mix,
        *,
        batch_size: int,
        seed: int = 1,
        rank: int = 0,
        world_size: int = 1,
        shuffle: str | None = "global",
        tail: str = "drop",
        prefetch: int = 4,
        threads: int = 1,
    ) -> None:
        for name, value, least in (("prefetch", prefetch, 0), ("threads", threads, 1)):
            if type(value) is not int or value < least:
                raise SettingError(f"{name} = {value!r}, wanted an integer >= {least}")
        self.dataset = dataset
        self._share = Share(rank=rank, world_size=world_size, batch_size=batch_size, tail=tail)
        Order(num_rows=len(dataset), seed=seed, epoch=0, shuffle=shuffle)  # refuses what it cannot order
        if not len(self):
            raise SettingError(
                f"batch_size {batch_size} x world_size {world_size} = {self._share.rows_per_step} rows a step, but "
                f"{dataset.folder} split {dataset.split!r} has {len(dataset)} of seq_len {dataset.seq_len}; "
                "take a smaller batch_size or seq_len, or more data"
            )
        self._state = LoaderState(
            data=dataset.digest,
            split=dataset.split,
            seq_len=dataset.seq_len,
            stride=dataset.stride,
            shift=dataset.shift,
            packing=dataset.packing,
            shuffle=named(shuffle),
            seed=seed,
            epoch=0,
            rows=0,
            step=0,
            batch_size=batch_size,
            world_size=world_size,
        )
        self._prefetch, self._threads = prefetch, threads
        self._buffers = BufferPool((2, batch_size, dataset.seq_len), keep=prefetch + 2)
        self._step, self._turn, self._stats = 0, 0, Stats()

    def __len__(self) -> int:
        """Give the steps of a whole epoch at this batch size and world size."""
        return self._share.steps_between(0, len(self.dataset))

    def __iter__(self) -> Iterator[NumpyBatch]:
        """Give the batches from the current state to the end of the epoch.

        Yields:
            {"input_ids": int64 [B, T], "labels": int64 [B, T]} and the data set's boundaries, all contiguous, never
            overwritten while held.

        Raises:
            ShardError: a shard that cannot be read.
            StateError: the stream was moved, or iterated anew, meanwhile.
        """
        return self.batches(lambda batch: batch)

    def batches(self, finish: Callable[[NumpyBatch], Batch]) -> Generator[Batch, None, None]:
        """Iterate as `for` does, with `finish` applied to each batch by the background thread."""
        self._turn += 1
        return self._run(self._turn, finish)

    @property
    def epoch(self) -> int:
        """The epoch under way."""
        return self._state.epoch

    @property
    def step(self) -> int:
        """Global steps delivered in this epoch."""
        return self._step

    @property
    def num_tail_rows(self) -> int:
        """Rows that this epoch leaves out at its end."""
        return self._share.tail_rows(self._state.since_rows, len(self.dataset))

    @property
    def num_extra_rows(self) -> int:
        """Padded or repeated rows that fill this epoch's last step up, over all ranks."""
        return self._share.extra_rows(self._state.since_rows, len(self.dataset))

    def state_dict(self) -> dict[str, Any]:
        """Give the state after the last batch delivered, whatever was made ahead; a small dict for JSON."""
        return replace(self._state, step=self._step, rows=self._rows_before(self._step)).to_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a state was saved, at this stream's own batch size and world size.

        Args:
            state: from `state_dict`, of any rank, batch size and world size.

        Raises:
            StateError: malformed, or saved over other data or in another order.
        """
        saved, here = LoaderState.from_dict(state), self._state
        saved.check_continues(here, num_rows=len(self.dataset), where=str(self.dataset.folder))
        if (saved.batch_size, saved.world_size) != (here.batch_size, here.world_size):
            saved = replace(saved, since_step=saved.step, since_rows=saved.rows)
            saved = replace(saved, batch_size=here.batch_size, world_size=here.world_size)
        self._state, self._step = saved, saved.step
        self._turn += 1

    def seek(self, step: int) -> None:
        """Make `step` the next to be delivered in this epoch.

        Args:
            step: 0 to the number of steps of the epoch; steps before a loaded state can be reached if it was saved
                at this batch size and world size.

        Raises:
            StateError: beyond these bounds.
        """
        self._check_step(step, last=self._last_step)
        self._step = step
        self._turn += 1

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch, which has an order of its own.

        Args:
            epoch: 0 or more.

        Raises:
            SettingError: not an integer from 0 on.
        """
        Order(num_rows=len(self.dataset), seed=self._state.seed, epoch=epoch)  # refuses what it cannot order
        self._begin(epoch)
        self._turn += 1

    def windows(self, step: int, *, rank: int | None = None) -> npt.NDArray[np.int64]:
        """Give the rows of the data set that make up a batch of this epoch; -1 is a row of padding.

        Args:
            step: counted from the epoch's start, the first being 0.
            rank: whose batch; None = this rank's.

        Returns:
            int64 [B].

        Raises:
            StateError: a step outside the epoch, or before a state that was loaded from another geometry.
            SettingError: no such rank.
        """
        self._check_step(step, last=self._last_step - 1)
        share = self._share if rank is None else replace(self._share, rank=rank)
        return self._rows_at(share.positions(self._rows_before(step), num_steps=1)).reshape(-1)

    def explain(self, step: int, row: int, *, rank: int | None = None) -> list[dict[str, Any]]:
        """Tell which documents were in a row of a batch of this epoch.

        Args:
            step: counted from the epoch's start, the first being 0.
            row: 0 to B - 1.
            rank: whose batch; None = this rank's.

        Returns:
            As `TokenDataset.documents`.

        Raises:
            StateError: a step outside the epoch, or before a state that was loaded from another geometry.
            SettingError: no such rank or row.
        """
        windows_B = self.windows(step, rank=rank)
        if type(row) is not int or not 0 <= row < len(windows_B):
            raise SettingError(f"row = {row!r}, wanted 0 to batch_size - 1 = {len(windows_B) - 1}")
        return self.dataset.documents(int(windows_B[row])) if windows_B[row] != PAD else []

    def stats(self) -> dict[str, float]:
        """Give what was delivered and waited for since the stream was made; see `Stats.report`."""
        return self._stats.report()

    @property
    def _order(self) -> Order | MixOrder:
        state = self._state
        return self.dataset.order(seed=state.seed, epoch=state.epoch, shuffle=state.shuffle)

    @property
    def _last_step(self) -> int:
        """Steps of this epoch, those before a loaded state included."""
        return self._state.since_step + self._share.steps_between(self._state.since_rows, len(self.dataset))

    def _rows_at(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows of the data set at positions of the epoch, those beyond its end as the tail has them."""
        placed = self._share.placed(positions, num_rows=len(self.dataset))
        real = placed != PAD
        placed[real] = self._order.at(placed[real])
        return placed

    def _rows_before(self, step: int) -> int:
        return self._state.since_rows + (step - self._state.since_step) * self._share.rows_per_step

    def _check_step(self, step: int, *, last: int) -> None:
        first = self._state.since_step
        if type(step) is not int or not first <= step <= last:
            why = f"; steps before {first} had another batch or world size: load a state saved then" if first else ""
            raise StateError(f"step = {step!r} of epoch {self._state.epoch}, wanted {first} to {last}{why}")

    def _begin(self, epoch: int) -> None:
        self._state = replace(self._state, epoch=epoch, rows=0, step=0, since_step=0, since_rows=0)
        self._step = 0

    def _run(self, turn: int, finish: Callable[[NumpyBatch], Batch]) -> Generator[Batch, None, None]:
        self._check_turn(turn)
        if self._step == self._last_step:
            self._begin(self._state.epoch + 1)
        asked_s = time.perf_counter()
        with closing(self._made(finish)) as made:
            for batch in made:
                self._check_turn(turn)
                self._step += 1
                given_s = time.perf_counter()
                self._stats.count(self._state.batch_size * self._state.seq_len, stall_s=given_s - asked_s)
                yield batch
                asked_s = time.perf_counter()
                self._stats.busy_s += asked_s - given_s
                self._check_turn(turn)

    def _check_turn(self, turn: int) -> None:
        if turn != self._turn:
            raise StateError("the loader was moved or iterated anew while this iterator was under way; use the new one")

    def _made(self, finish: Callable[[NumpyBatch], Batch]) -> Generator[Batch, None, None]:
        """Make batches, some ahead of the one that is asked for."""
        if not self._prefetch:
            for windows_B in self._plan():
                yield finish(self._gather(windows_B))
            return
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="loader")
        waiting: deque[Future[Batch]] = deque()
        try:
            for windows_B in self._plan():
                waiting.append(pool.submit(lambda ids: finish(self._gather(ids)), windows_B))
                if len(waiting) > self._prefetch:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _plan(self) -> Iterator[npt.NDArray[np.int64]]:
        """Rows of each batch to come; the order is evaluated for many steps at once, for few at first."""
        rows, steps_left = self._rows_before(self._step), self._last_step - self._step
        ahead = FIRST_STEPS
        while steps_left:
            num_steps = min(steps_left, ahead, max(1, BLOCK // self._share.batch_size))
            ahead *= 4
            yield from self._rows_at(self._share.positions(rows, num_steps=num_steps))
            rows += num_steps * self._share.rows_per_step
            steps_left -= num_steps

    def _gather(self, windows_B: npt.NDArray[np.int64]) -> NumpyBatch:
        inputs_BT, labels_BT = self._buffers.take()
        document_BT = self.dataset.gather(windows_B, inputs_BT=inputs_BT, labels_BT=labels_BT)
        told = {} if document_BT is None else self.dataset.bounds.of(document_BT)
        return {"input_ids": inputs_BT, "labels": labels_BT, **told}
