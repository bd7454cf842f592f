"""From shards on disk to int64 rows: windows are gathered from memory maps, by a compiled loop once it is at hand.

Shapes: S shards, B rows, T tokens a row.
"""

import mmap
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import ShardError
from loader.fetch import compiled

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
        self._addresses = np.zeros(len(self._paths), np.int64)
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
        loop = compiled.loop(self._dtype.itemsize) if len(self._paths) <= MAX_OPEN else None
        rest: Sequence[int] = range(len(starts_B))
        if loop is not None and inputs_BT.flags.c_contiguous and labels_BT.flags.c_contiguous:
            rest_B = np.empty(len(starts_B), np.int64)
            num = loop(starts_B, self._offsets, self._addresses, shift, inputs_BT, labels_BT, rest_B)
            rest = rest_B[:num].tolist()
        if len(rest):
            self._gather(rest, starts_B, inputs_BT, labels_BT, shift)

    def _gather(
        self,
        rows: Sequence[int],
        starts_B: npt.NDArray[np.int64],
        inputs_BT: npt.NDArray[np.int64],
        labels_BT: npt.NDArray[np.int64],
        shift: int,
    ) -> None:
        """Fill some of the rows by numpy."""
        seq_len = inputs_BT.shape[1]
        shard_B = np.searchsorted(self._offsets, starts_B, side="right") - 1
        local_B = starts_B - self._offsets[shard_B]
        left_B = self._offsets[shard_B + 1] - starts_B
        places = list(zip(shard_B.tolist(), local_B.tolist(), left_B.tolist(), strict=True))
        for b in rows:
            shard, first, left = places[b]
            if left >= seq_len + shift:
                tokens = self._tokens(shard)
                inputs_BT[b] = tokens[first : first + seq_len]
                labels_BT[b] = tokens[first + shift : first + shift + seq_len]
            else:
                start = int(self._offsets[shard]) + first
                self.read(start, inputs_BT[b])
                self.read(start + shift, labels_BT[b])

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
        self.__dict__.update(
            state, _maps={}, _addresses=np.zeros(len(state["_paths"]), np.int64), _opening=threading.Lock()
        )

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
            self._addresses[shard] = tokens.ctypes.data
            self._maps[shard] = tokens
        return tokens
