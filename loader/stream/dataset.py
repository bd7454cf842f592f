"""TokenDataset: the windows of a split, each a row of inputs and labels.

Shapes: B rows, T = seq_len tokens.
"""

import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.fetch import TokenReader
from loader.pack import Windows, check_packing
from loader.stream.documents import DocumentFinder
from loader.stream.source import find_manifest, format_field, shards_of


class TokenDataset:
    """A split of a mix, or a tokenized partition, cut into windows of seq_len tokens.

    Construction reads one manifest and looks up file sizes: O(shards). It may be pickled, and works as a map-style
    data set in torch's DataLoader with any number of workers.

    Args:
        path: `mixed/<mix>` (whose file `latest` names the newest build), the folder of one build, or a folder of
            `tokenized`.
        split: "train" or "val"; None for a folder without splits (tokenized).
        seq_len: T, tokens of a row.
        stride: tokens from the start of one window to the next; None = seq_len, so that each input is read once.
        shift: how far the labels lie ahead of the inputs: labels[t] = inputs[t + shift].
        packing: "concat": the split is one stream of tokens in the manifest's order, cut anywhere.
        boundaries: None: rows do not tell where documents begin.

    Attributes:
        num_tokens: tokens of the split.
        num_tail_tokens: tokens after the last window, read by none.
        num_documents: documents of the split.
        vocab_size: of the tokenizer.
        eot: id of the end-of-text token that ends every document.
        digest: of the manifest; states refer to it.
        folder: where the manifest lies.
        manifest: it.

    Raises:
        DatasetError: no such folder or split, or files that are not those of the manifest.
        ManifestError: a damaged manifest.
        SettingError: an argument out of its range, or not available yet.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        split: str | None = "train",
        seq_len: int,
        stride: int | None = None,
        shift: int = 1,
        packing: str = "concat",
        boundaries: str | None = None,
    ) -> None:
        check_packing(packing, boundaries)
        self.folder, self.manifest = find_manifest(path)
        shards = shards_of(self.folder, self.manifest, split=split)
        dtype = np.dtype(format_field(self.folder, self.manifest, "dtype", str))
        num_tokens = [shard.num_bytes // dtype.itemsize for shard in shards]
        self._windows = Windows(
            num_tokens=sum(num_tokens), seq_len=seq_len, stride=seq_len if stride is None else stride, shift=shift
        )
        self._reader = TokenReader([f"{shard.stem}.bin" for shard in shards], num_tokens=num_tokens, dtype=dtype)
        self._finder = DocumentFinder(shards)
        self.split, self.packing = split, packing
        self.seq_len, self.stride, self.shift = seq_len, self._windows.stride, shift
        self.num_tokens, self.num_tail_tokens = self._windows.num_tokens, self._windows.num_tail_tokens
        self.num_documents = sum(shard.num_documents for shard in shards)
        self.vocab_size = format_field(self.folder, self.manifest, "vocab_size", int)
        self.eot = format_field(self.folder, self.manifest, "eot", int)
        self.digest = self.manifest.digest

    def __len__(self) -> int:
        """Give the number of windows."""
        return len(self._windows)

    def __getitem__(self, index: int) -> dict[str, npt.NDArray[np.int64]]:
        """Give one window.

        Args:
            index: 0 to len - 1; negative ones count from the end.

        Returns:
            {"input_ids": int64 [T], "labels": int64 [T]}, both owned by the caller.

        Raises:
            IndexError: beyond the data set.
        """
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Iterable[int]) -> list[dict[str, npt.NDArray[np.int64]]]:
        """Give several windows at once, as torch's DataLoader asks for them.

        Args:
            indices: as in `dataset[index]`.

        Returns:
            One dict for each.

        Raises:
            IndexError: beyond the data set.
        """
        windows_B = np.array([self._index(i) for i in indices], np.int64)
        rows = np.empty((2, len(windows_B), self.seq_len), np.int64)
        self.gather(windows_B, inputs_BT=rows[0], labels_BT=rows[1])
        return [{"input_ids": inputs, "labels": labels} for inputs, labels in zip(*rows, strict=True)]

    def gather(
        self,
        windows_B: npt.NDArray[np.int64],
        *,
        inputs_BT: npt.NDArray[np.int64],
        labels_BT: npt.NDArray[np.int64],
    ) -> None:
        """Fill two buffers with the inputs and labels of some windows.

        Args:
            windows_B: int64 [B], 0 <= window < len.
            inputs_BT: int64 [B, T], overwritten.
            labels_BT: int64 [B, T], overwritten.

        Raises:
            ShardError: a shard that cannot be mapped, or changed its size.
        """
        starts_B = self._windows.starts(windows_B)
        self._reader.gather(starts_B, inputs_BT=inputs_BT, labels_BT=labels_BT, shift=self.shift)

    def documents(self, index: int) -> list[dict[str, Any]]:
        """Tell which documents lie in the inputs of a window (the labels lie `shift` tokens further on).

        Args:
            index: as in `dataset[index]`.

        Returns:
            A dict for each document, in order: `shard`, `document` (ordinal in it), `id` (hex), `source`, `url`,
            `start` and `stop` (its tokens are input_ids[start:stop]), `offset` (of input_ids[start] within it).

        Raises:
            IndexError: beyond the data set.
            ShardError: a damaged index or table of documents.
        """
        start = self._index(index) * self.stride
        return self._finder.find(self._reader.pieces(start, start + self.seq_len))

    def _index(self, index: int) -> int:
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f"window {number} of {self.folder} split {self.split!r}, which has {len(self)}")
        return number % len(self)
