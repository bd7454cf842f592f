"""From shards on disk to int64 rows: windows are gathered from memory maps into buffers nobody else holds.

Shapes: S shards, B rows, T tokens a row.
"""

import mmap
import os
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import ShardError

try:
    import resource

    MAX_OPEN = max(64, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536) // 2)
except ImportError:  # no such module on Windows
    MAX_OPEN = 512
"""Shards mapped at once: each map holds a file descriptor."""


class TokenReader:
    """The tokens of several shards as one stream, mapped on first use.

    Memory is O(S). It may be pickled: the copy opens its own maps. Threads may share it.

    Args:
        paths: the `.bin` files, in order.
        num_tokens: tokens of each, as the manifest tells.
        dtype: of the tokens.
    """

    def __init__(self, paths: Sequence[str], *, num_tokens: Sequence[int], dtype: npt.DTypeLike) -> None:
        self._paths = list(paths)
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self._offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(num_tokens, np.int64))])
        self._maps: dict[int, npt.NDArray[Any]] = {}
        self._opening = threading.Lock()

    @property
    def num_tokens(self) -> int:
        """Tokens of all shards."""
        return int(self._offsets[-1])

    def gather(
        self,
        starts_B: npt.NDArray[np.int64],
        *,
        inputs_BT: npt.NDArray[np.int64],
        labels_BT: npt.NDArray[np.int64],
        shift: int,
    ) -> None:
        """Fill row b with the T tokens of the stream from starts_B[b] on, and its labels with those `shift` further.

        Args:
            starts_B: int64 [B], 0 <= start <= num_tokens - T - shift.
            inputs_BT: int64 [B, T], overwritten.
            labels_BT: int64 [B, T], overwritten.
            shift: 0 or more.

        Raises:
            ShardError: a shard that cannot be mapped, or is not of the size that the manifest tells.
        """
        seq_len = inputs_BT.shape[1]
        shard_B = np.searchsorted(self._offsets, starts_B, side="right") - 1
        local_B = starts_B - self._offsets[shard_B]
        left_B = self._offsets[shard_B + 1] - starts_B
        places = zip(shard_B.tolist(), local_B.tolist(), left_B.tolist(), strict=True)
        for (shard, first, left), inputs_T, labels_T in zip(places, inputs_BT, labels_BT, strict=True):
            if left >= seq_len + shift:
                tokens = self._tokens(shard)
                inputs_T[:] = tokens[first : first + seq_len]
                labels_T[:] = tokens[first + shift : first + shift + seq_len]
            else:
                start = int(self._offsets[shard]) + first
                self.read(start, inputs_T)
                self.read(start + shift, labels_T)

    def pieces(self, start: int, stop: int) -> list[tuple[int, int, int]]:
        """Give the (shard, first, last + 1) token ranges that make up tokens start, ..., stop - 1 of the stream."""
        found = []
        shard = int(np.searchsorted(self._offsets, start, side="right")) - 1
        while start < stop:
            base, end = int(self._offsets[shard]), int(self._offsets[shard + 1])
            if start < min(stop, end):
                found.append((shard, start - base, min(stop, end) - base))
                start = min(stop, end)
            shard += 1
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"_paths": self._paths, "_dtype": self._dtype, "_offsets": self._offsets}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _maps={}, _opening=threading.Lock())

    def read(self, start: int, out_T: npt.NDArray[np.int64]) -> None:
        """Fill an array with the tokens of the stream from `start` on; it may go on in the next shards.

        Args:
            start: 0 <= start <= num_tokens - T.
            out_T: int64 [T], overwritten.

        Raises:
            ShardError: a shard that cannot be mapped, or is not of the size that the manifest tells.
        """
        filled = 0
        for shard, first, stop in self.pieces(start, start + len(out_T)):
            out_T[filled : filled + stop - first] = self._tokens(shard)[first:stop]
            filled += stop - first

    def _tokens(self, shard: int) -> npt.NDArray[Any]:
        tokens = self._maps.get(shard)
        return self._open(shard) if tokens is None else tokens

    def _open(self, shard: int) -> npt.NDArray[Any]:
        """Map a shard, and let go of the one mapped first where too many are."""
        path, num = self._paths[shard], int(self._offsets[shard + 1] - self._offsets[shard])
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - a str path: pathlib costs more than the call
                found = os.fstat(file.fileno()).st_size
                wanted = num * self._dtype.itemsize
                if found != wanted:
                    raise ShardError(f"{path}: {found} bytes, the manifest tells of {wanted}; restore it from a copy")
                tokens = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), self._dtype)
        except OSError as error:
            raise ShardError(f"{path}: cannot be mapped ({error.strerror}); restore it from a copy") from error
        with self._opening:
            while len(self._maps) >= MAX_OPEN:
                del self._maps[next(iter(self._maps))]
            self._maps[shard] = tokens
        return tokens


class BufferPool:
    """Int64 buffers of one shape, each used again only after everything that looks into it is gone.

    A fresh large array costs as much in page faults as the gathering itself; so memory goes round. What `take` hands
    out anchors all arrays and tensors made from it: when the last of them is freed, the memory comes back.

    Args:
        shape: of every buffer.
        keep: free buffers kept; further ones are returned to the system.
    """

    def __init__(self, shape: tuple[int, ...], *, keep: int) -> None:
        self._shape = shape
        self._free: deque[npt.NDArray[np.int64]] = deque(maxlen=keep)

    def take(self) -> npt.NDArray[np.int64]:
        """Give a buffer that nobody holds, its content undefined."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._shape, np.int64)
        # numpy passes the base of a view on to the views of it, but only through arrays: the buffer stops it here
        anchor = np.frombuffer(memory.data, np.int64).reshape(self._shape)
        assert isinstance(anchor.base, np.ndarray)
        weakref.finalize(anchor.base, self._free.append, memory).atexit = False
        return anchor
