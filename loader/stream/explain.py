"""From a saved state to the documents of a row: all that a command line needs."""

import os
from collections.abc import Mapping
from typing import Any

from loader.state import LoaderState
from loader.stream.batches import BatchStream
from loader.stream.dataset import TokenDataset


def explain(
    path: str | os.PathLike[str],
    state: Mapping[str, Any],
    *,
    step: int | None = None,
    rank: int = 0,
    row: int = 0,
) -> list[dict[str, Any]]:
    """Tell which documents were in a row of a batch, given the data and a state that was saved over it.

    Args:
        path: the data, as for TokenDataset.
        state: from `Loader.state_dict`.
        step: counted from the start of the state's epoch, the first being 0; None = the last one delivered before
            the state was saved (the next, where none was at its batch size and world size).
        rank: whose batch.
        row: which row of it.

    Returns:
        A dict for each document in the row, in order: `shard`, `document` (ordinal in it), `id` (hex), `source`,
        `url`, `start` and `stop` (its tokens are input_ids[row, start:stop]), `offset` (of the first of them within
        the document).

    Raises:
        StateError: malformed, saved over other data, or no such step.
        SettingError: no such rank or row.
        DatasetError: no such data.
    """
    saved = LoaderState.from_dict(state)
    dataset = TokenDataset(
        path,
        split=saved.split,
        seq_len=saved.seq_len,
        stride=saved.stride,
        shift=saved.shift,
        packing=saved.packing,
    )
    stream = BatchStream(
        dataset,
        batch_size=saved.batch_size,
        seed=saved.seed,
        rank=rank,
        world_size=saved.world_size,
        shuffle=saved.shuffle,
    )
    stream.load_state_dict(state)
    return stream.explain(max(saved.step - 1, saved.since_step) if step is None else step, row)
