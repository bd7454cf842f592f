"""TokenDataset: the rows of a split, windows of its stream or packed documents, each with inputs and labels.

Shapes: B rows, T = seq_len tokens.
"""

import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError
from loader.fetch import TokenReader
from loader.order import Order
from loader.pack import IGNORED, PACKINGS, Bounds, Pieces, Windows
from loader.pack.bounds import documents_in
from loader.stream.documents import DocumentFinder
from loader.stream.plans import pieces_of
from loader.stream.source import find_manifest, format_field, shards_of


class TokenDataset:
    """A split of a mix, or a tokenized partition, as rows of seq_len tokens.

    Construction reads one manifest and looks up file sizes: O(shards); the packings of documents also read their
    lengths, once (`loader.stream.plans`). It may be pickled, and works as a map-style data set in torch's DataLoader
    with any number of workers.

    Args:
        path: `mixed/<mix>` (whose file `latest` names the newest build), the folder of one build, or a folder of
            `tokenized`.
        split: "train" or "val"; None for a folder without splits (tokenized).
        seq_len: T, tokens of a row.
        stride: tokens from the start of one window to the next; None = seq_len, so that each input is read once.
        shift: how far the labels lie ahead of the inputs: labels[t] = inputs[t + shift].
        packing: "concat": the split is one stream of tokens in the manifest's order, cut anywhere; "document": one
            document a row, a longer one goes on in further rows; "best_fit": several whole documents a row, packed so
            that few are cut and little is padded. In the last two labels never look across documents.
        boundaries: what rows tell of documents: None, or one or several of "position_ids", "document_ids",
            "cu_seqlens" (see `loader.pack.Bounds`).
        mask_labels: with "concat", labels that lie in another document than their input are -100.

    Attributes:
        num_tokens: tokens of the split.
        num_tail_tokens: tokens that no row reads.
        num_padding: places of all rows that hold no token: the end-of-text token stands there, its label is -100.
        num_cut: pieces of documents that end before their document does; None with "concat", which cuts anywhere.
        num_documents: documents of the split.
        vocab_size: of the tokenizer.
        eot: id of the end-of-text token that ends every document.
        digest: of the manifest; states refer to it.
        folder: where the manifest lies.
        manifest: it.
        bounds: what is told of boundaries.

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
        boundaries: str | tuple[str, ...] | None = None,
        mask_labels: bool = False,
    ) -> None:
        _check_packing(packing, seq_len=seq_len, stride=stride, shift=shift, mask_labels=mask_labels)
        self.bounds = Bounds(boundaries)
        self.folder, self.manifest = find_manifest(path)
        shards = shards_of(self.folder, self.manifest, split=split)
        dtype = np.dtype(format_field(self.folder, self.manifest, "dtype", str))
        num_tokens = [shard.num_bytes // dtype.itemsize for shard in shards]
        self._windows = Windows(
            num_tokens=sum(num_tokens), seq_len=seq_len, stride=seq_len if stride is None else stride, shift=shift
        )
        self._reader = TokenReader([f"{shard.stem}.bin" for shard in shards], num_tokens=num_tokens, dtype=dtype)
        self._finder = DocumentFinder(shards)
        self._pieces: Pieces | None = None
        if packing != "concat":
            self._pieces = pieces_of(shards, packing=packing, seq_len=seq_len, digest=self.manifest.digest, split=split)
        self.split, self.packing, self.mask_labels = split, packing, mask_labels
        self.seq_len, self.stride, self.shift = seq_len, self._windows.stride, shift
        self.num_tokens = self._windows.num_tokens
        self.num_tail_tokens = self._windows.num_tail_tokens if self._pieces is None else 0
        self.num_padding = 0 if self._pieces is None else self._pieces.num_padding
        self.num_cut = None if self._pieces is None else self._pieces.num_cut
        self.num_documents = sum(shard.num_documents for shard in shards)
        self.vocab_size = format_field(self.folder, self.manifest, "vocab_size", int)
        self.eot = format_field(self.folder, self.manifest, "eot", int)
        self.digest = self.manifest.digest

    def __len__(self) -> int:
        """Give the number of rows."""
        return len(self._windows) if self._pieces is None else len(self._pieces)

    def __getitem__(self, index: int) -> dict[str, npt.NDArray[Any]]:
        """Give one row.

        Args:
            index: 0 to len - 1; negative ones count from the end.

        Returns:
            {"input_ids": int64 [T], "labels": int64 [T]} and the boundaries asked for, owned by the caller.

        Raises:
            IndexError: beyond the data set.
        """
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Iterable[int]) -> list[dict[str, npt.NDArray[Any]]]:
        """Give several rows at once, as torch's DataLoader asks for them.

        Args:
            indices: as in `dataset[index]`.

        Returns:
            One dict for each.

        Raises:
            IndexError: beyond the data set.
        """
        rows_B = np.array([self._index(i) for i in indices], np.int64)
        inputs_BT, labels_BT = np.empty((2, len(rows_B), self.seq_len), np.int64)
        document_BT = self.gather(rows_B, inputs_BT=inputs_BT, labels_BT=labels_BT)
        found = [{"input_ids": inputs, "labels": labels} for inputs, labels in zip(inputs_BT, labels_BT, strict=True)]
        for b, row in enumerate(found):
            told = {} if document_BT is None else self.bounds.of(document_BT[b : b + 1])
            row.update({name: array if array.ndim == 1 else array[0] for name, array in told.items()})
        return found

    def order(self, *, seed: int, epoch: int, shuffle: str | None) -> Order:
        """The order of an epoch."""
        return Order(num_rows=len(self), seed=seed, epoch=epoch, shuffle=shuffle)

    def gather(
        self,
        rows_B: npt.NDArray[np.int64],
        *,
        inputs_BT: npt.NDArray[np.int64],
        labels_BT: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64] | None:
        """Fill two buffers with the inputs and labels of some rows.

        Args:
            rows_B: int64 [B], 0 <= row < len, or -1 for a row of nothing but padding.
            inputs_BT: int64 [B, T], overwritten.
            labels_BT: int64 [B, T], overwritten.

        Returns:
            int64 [B, T] for `bounds.of`: a number that changes where another document begins, -1 for padding; None
            where no boundaries are asked for.

        Raises:
            ShardError: a shard that cannot be mapped, or changed its size.
        """
        empty_B = rows_B < 0
        if self._pieces is None:
            starts_B = self._windows.starts(np.maximum(rows_B, 0))
            self._reader.gather(starts_B, inputs_BT=inputs_BT, labels_BT=labels_BT, shift=self.shift)
            document_BT = self._documents_of(inputs_BT, labels_BT)
        else:
            document_BT = self._gather_pieces(self._pieces, rows_B, inputs_BT, labels_BT)
        if empty_B.any():
            inputs_BT[empty_B], labels_BT[empty_B] = self.eot, IGNORED
            if document_BT is not None:
                document_BT[empty_B] = -1
        return document_BT

    def _documents_of(
        self, inputs_BT: npt.NDArray[np.int64], labels_BT: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64] | None:
        """Documents of windows, where somebody asks for them; masks labels that look across where that is wanted."""
        if not self.bounds.names and not self.mask_labels:
            return None
        ahead = min(self.shift, self.seq_len)
        width = self.seq_len + ahead
        tokens_BW = np.concatenate([inputs_BT, labels_BT[:, self.seq_len - ahead :]], axis=1)
        document_BW = documents_in(tokens_BW, eot=self.eot)
        document_BT = document_BW[:, : self.seq_len]
        if self.mask_labels:
            labels_BT[document_BW[:, ahead:width] != document_BT] = IGNORED
        return document_BT

    def _gather_pieces(
        self,
        rows: Pieces,
        rows_B: npt.NDArray[np.int64],
        inputs_BT: npt.NDArray[np.int64],
        labels_BT: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int64] | None:
        """Fill rows from pieces of documents; a label beyond its document is masked."""
        inputs_BT[:], labels_BT[:] = self.eot, IGNORED
        document_BT = np.full(inputs_BT.shape, -1, np.int64) if self.bounds.names else None
        for b, row in enumerate(rows_B.tolist()):
            at = 0
            for p in range(*(rows.first[row : row + 2].tolist() if row >= 0 else (0, 0))):
                start, stop, end = int(rows.starts[p]), int(rows.stops[p]), int(rows.ends[p])
                self._reader.read(start, inputs_BT[b, at : at + stop - start])
                known = max(0, min(stop, end - self.shift) - start)
                self._reader.read(start + self.shift, labels_BT[b, at : at + known])
                if document_BT is not None:
                    document_BT[b, at : at + stop - start] = p
                at += stop - start
        return document_BT

    def documents(self, index: int) -> list[dict[str, Any]]:
        """Tell which documents lie in the inputs of a row (the labels lie `shift` tokens further on).

        Args:
            index: as in `dataset[index]`.

        Returns:
            A dict for each document, in order: `shard`, `document` (ordinal in it), `id` (hex), `source`, `url`,
            `start` and `stop` (its tokens are input_ids[start:stop]), `offset` (of input_ids[start] within it).

        Raises:
            IndexError: beyond the data set.
            ShardError: a damaged index or table of documents.
        """
        row = self._index(index)
        if self._pieces is None:
            return self._finder.find(self._reader.pieces(row * self.stride, row * self.stride + self.seq_len))
        first, stop = self._pieces.first[row : row + 2].tolist()
        ranges = zip(self._pieces.starts[first:stop].tolist(), self._pieces.stops[first:stop].tolist(), strict=True)
        return self._finder.find([piece for start, end in ranges for piece in self._reader.pieces(start, end)])

    def _index(self, index: int) -> int:
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f"row {number} of {self.folder} split {self.split!r}, which has {len(self)}")
        return number % len(self)


def _check_packing(packing: str, *, seq_len: int, stride: int | None, shift: int, mask_labels: bool) -> None:
    """Refuse a packing that there is not, and settings that mean nothing with it."""
    if packing not in PACKINGS:
        raise SettingError(f"packing = {packing!r}, wanted one of {PACKINGS}")
    if packing != "concat" and stride is not None:
        raise SettingError(f"stride = {stride!r} with packing = {packing!r}, whose rows do not overlap; leave it out")
    if type(mask_labels) is not bool:
        raise SettingError(f"mask_labels = {mask_labels!r}, wanted True or False")
    if mask_labels and shift > seq_len:
        raise SettingError(f"mask_labels with shift = {shift} > seq_len = {seq_len}: tokens between are not read")
