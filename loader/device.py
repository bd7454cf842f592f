"""Loader: batches as torch tensors, on the device where they are wanted. The only file that imports torch.

Shapes: B rows a batch, T tokens a row.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import torch

from loader.errors import SettingError
from loader.stream import BatchStream, Mix, TokenDataset
from loader.stream.batches import NumpyBatch

TensorBatch = dict[str, torch.Tensor]


class Loader:
    """Batches of a data set for one rank, in an order that any rank count and batch size can resume.

    `for batch in loader` runs from the current state to the end of the epoch; the next `for` then begins the next
    epoch. After a checkpoint: `load_state_dict`, then `for` without `set_epoch`, which would rewind.

    Args:
        dataset: the rows: a TokenDataset, or a Mix of several.
        batch_size: B, rows of this rank and step.
        seed: of the order.
        rank: 0 to world_size - 1. Rank and world size not given come from torch.distributed where it is initialised,
            else from RANK and WORLD_SIZE in the environment, else they are 0 and 1.
        world_size: number of ranks that share the rows.
        shuffle: "global"; "block" for cold or remote data, which keeps rows of 256 near each other (`loader.order`);
            None for the rows as they lie.
        tail: what becomes of rows at the end that fill no whole global step: "drop" leaves them out
            (`num_tail_rows`); "pad_masked" fills the step with rows whose labels are all -100, "wrap" with the first
            rows of the epoch (`num_extra_rows`).
        device: where the tensors go; None = cpu. For CUDA they are pinned and copied without blocking, on the
            consumer's current stream.
        prefetch: batches made ahead by background threads; 0 makes each when it is asked for.
        threads: background threads.

    Raises:
        SettingError: an argument out of its range, one of rank and world size without the other, or a data set too
            small for one global step.
    """

    def __init__(  # noqa: PLR0913 - the public face of DESIGN.md section 7
        self,
        dataset: TokenDataset | Mix,
        *,
        batch_size: int,
        seed: int = 1,
        rank: int | None = None,
        world_size: int | None = None,
        shuffle: str | None = "global",
        tail: str = "drop",
        device: str | torch.device | None = None,
        prefetch: int = 4,
        threads: int = 1,
    ) -> None:
        self.device = torch.device("cpu" if device is None else device)
        self.rank, self.world_size = rank_and_world(rank, world_size)
        self.dataset = dataset
        self._stream = BatchStream(
            dataset,
            batch_size=batch_size,
            seed=seed,
            rank=self.rank,
            world_size=self.world_size,
            shuffle=shuffle,
            tail=tail,
            prefetch=prefetch,
            threads=threads,
        )

    def __len__(self) -> int:
        """Give the steps of a whole epoch at this batch size and world size."""
        return len(self._stream)

    def __iter__(self) -> Iterator[TensorBatch]:
        """Give the batches from the current state to the end of the epoch.

        Yields:
            {"input_ids": int64 [B, T], "labels": int64 [B, T]} and the data set's boundaries, all contiguous, never
            overwritten while held.

        Raises:
            ShardError: a shard that cannot be read.
            StateError: the loader was moved, or iterated anew, meanwhile.
        """
        if self.device.type == "cuda":
            return self._copied(self._stream.batches(self._pinned))
        if self.device.type == "cpu":
            return self._stream.batches(_tensors)
        return self._copied(self._stream.batches(_tensors))

    @property
    def epoch(self) -> int:
        """The epoch under way."""
        return self._stream.epoch

    @property
    def step(self) -> int:
        """Global steps delivered in this epoch."""
        return self._stream.step

    @property
    def num_tail_rows(self) -> int:
        """Rows that this epoch leaves out at its end."""
        return self._stream.num_tail_rows

    @property
    def num_extra_rows(self) -> int:
        """Padded or repeated rows that fill this epoch's last step up, over all ranks."""
        return self._stream.num_extra_rows

    def state_dict(self) -> dict[str, Any]:
        """Give the state after the last batch delivered, whatever was made ahead; a small dict for JSON."""
        return self._stream.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a state was saved, at this loader's own batch size and world size.

        Args:
            state: from `state_dict`, of any rank, batch size and world size.

        Raises:
            StateError: malformed, or saved over other data or in another order.
        """
        self._stream.load_state_dict(state)

    def seek(self, step: int) -> None:
        """Make `step` the next to be delivered in this epoch.

        Args:
            step: 0 to the number of steps of the epoch; steps before a loaded state can be reached if it was saved
                at this batch size and world size.

        Raises:
            StateError: beyond these bounds.
        """
        self._stream.seek(step)

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch, which has an order of its own.

        Args:
            epoch: 0 or more.

        Raises:
            SettingError: not an integer from 0 on.
        """
        self._stream.set_epoch(epoch)

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
        return self._stream.explain(step, row, rank=rank)

    def stats(self) -> dict[str, float]:
        """Give `batches`, `tokens`, `elapsed_s`, `stall_s`, `stall_fraction`, `tokens_per_s`, `required_tokens_per_s`.

        All of this rank, since the loader was made; required is what the consumer would take if it never waited.
        """
        return self._stream.stats()

    def _pinned(self, batch: NumpyBatch) -> TensorBatch:
        """Page-locked copies; torch's allocator keeps them until the copy to the device is over."""
        with torch.cuda.device(self.device):
            return {name: tensor.pin_memory() for name, tensor in _tensors(batch).items()}

    def _copied(self, batches: Iterator[TensorBatch]) -> Iterator[TensorBatch]:
        with closing(batches):  # type: ignore[type-var]
            for batch in batches:
                yield {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}


def rank_and_world(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Find this process's rank and the number of ranks.

    Args:
        rank: as given by the user, or None.
        world_size: likewise.

    Returns:
        The arguments where given, else torch.distributed's where it is initialised, else those of the environment
        variables RANK and WORLD_SIZE, else (0, 1).

    Raises:
        SettingError: one without the other, or a variable that is no integer.
    """
    if rank is not None and world_size is not None:
        return rank, world_size
    if rank is not None or world_size is not None:
        raise SettingError(f"rank = {rank}, world_size = {world_size}; give both, or neither")
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    given = {name: os.environ.get(name) for name in ("RANK", "WORLD_SIZE")}
    if not any(given.values()):
        return 0, 1
    try:
        return int(given["RANK"] or ""), int(given["WORLD_SIZE"] or "")
    except ValueError as error:
        raise SettingError(
            f"RANK = {given['RANK']!r}, WORLD_SIZE = {given['WORLD_SIZE']!r} in the environment; set both to integers, "
            "or unset both"
        ) from error


def _tensors(batch: NumpyBatch) -> TensorBatch:
    """Tensors over the same memory, which they keep from being used again."""
    return {name: torch.from_numpy(array) for name, array in batch.items()}
