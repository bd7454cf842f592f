"""The reading half of the store: committed products, by the manifest that names their files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.models import cache_folder
from dataassets.store import layout, parquet
from dataassets.store.beside import rows_of
from dataassets.store.files import CHUNK, Files
from loader.format import FileEntry, Manifest, ManifestError, ShardError, read_index


@dataclass(frozen=True)
class Committed:
    """What was committed under one root; picklable, so that workers can hold it."""

    files: Files

    @classmethod
    def at(cls, root: str) -> Self:
        """The store of a root.

        Args:
            root: absolute folder, or an fsspec URL.

        >>> Committed.at("/data").files.path("raw")
        '/data/raw'
        """
        return cls(Files(root))

    def folder(self, product: str, partition: str) -> str | None:
        """The folder of a committed product relative to the root; None where nothing was committed."""
        if product != "mixed":
            return layout.folder(product, partition)
        latest = f"mixed/{partition}/{layout.LATEST}"
        if not self.files.exists(latest):
            return None
        return f"mixed/{partition}/{self.files.read(latest).decode(errors='replace').strip()}"

    def manifest(self, product: str, partition: str) -> Manifest | None:
        """The manifest of a committed product; None where nothing was committed.

        Raises:
            ManifestError: it is damaged.
        """
        data = self.manifest_bytes(product, partition)
        where = self.files.path(f"{self.folder(product, partition)}/{layout.MANIFEST}")
        return None if data is None else Manifest.from_bytes(data, where=where)

    def manifest_bytes(self, product: str, partition: str) -> bytes | None:
        """The bytes of the manifest of a committed product; None where nothing was committed."""
        folder = self.folder(product, partition)
        if folder is None or not self.files.exists(f"{folder}/{layout.MANIFEST}"):
            return None
        return self.files.read(f"{folder}/{layout.MANIFEST}")

    def is_whole(self, product: str, partition: str, manifest: Manifest) -> bool:
        """Whether all files of a manifest are there in their size (bytes are `verify`'s to check)."""
        folder = self.folder(product, partition)
        return folder is not None and all(
            self.files.size(layout.join(folder, entry.name)) == entry.bytes
            for entry in (*manifest.files, *manifest.dropped_files)
        )

    def read_part(self, product: str, partition: str, name: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read one Parquet file of a product by its name in the manifest."""
        folder = self.folder(product, partition)
        with self.files.open(layout.join(folder or "", name)) as f:
            return parquet.read_table(f, columns=columns)

    def read_rows(
        self, product: str, partition: str, name: str, *, rows: Sequence[int], columns: list[str] | None = None
    ) -> pa.Table:
        """Read some rows of one Parquet file of a product, in the order asked for, and little else."""
        folder = self.folder(product, partition)
        with self.files.open(layout.join(folder or "", name)) as f:
            return parquet.read_rows(f, rows, columns=columns)

    def read_parts(
        self, product: str, partition: str, *, columns: list[str] | None = None, dropped: bool = False
    ) -> Iterator[pa.Table]:
        """Read a committed product part by part, in order; what lies beside its rows is passed over.

        Raises:
            ManifestError: nothing is committed there.
        """
        manifest = self.manifest(product, partition)
        if manifest is None:
            raise ManifestError(f"{self.files.root}: {product} {partition} is not there; materialize it first")
        for entry in manifest.dropped_files if dropped else rows_of(manifest):
            yield self.read_part(product, partition, entry.name, columns=columns)

    def read_tokens(self, partition: str, entry: FileEntry) -> pa.Table:
        """One tokenized part as a table of records.tokens, from its `.bin` entry."""
        docs, lengths_D, tokens = self._shard("tokenized", partition, entry)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths_D)]).astype(np.int64))
        lists = pa.LargeListArray.from_arrays(
            offsets, pa.array(tokens), type=pa.large_list(pa.field("item", pa.from_numpy_dtype(tokens.dtype), False))
        )
        return docs.append_column(pa.field("tokens", lists.type, nullable=False), lists)

    def read_lengths(self, partition: str, entry: FileEntry) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int32]]:
        """Ids (S16) and lengths in tokens of one tokenized part, without its tokens."""
        name = layout.join(layout.folder("tokenized", partition), entry.name.removesuffix(".bin"))
        index = read_index(self.files.read(f"{name}.idx"), bin_bytes=entry.bytes)
        return self.read_ids(f"{name}.docs.parquet"), index.lengths

    def read_ids(self, name: str) -> npt.NDArray[np.void]:
        """Ids of a Parquet file, V16, in row order.

        Args:
            name: of the file, relative to the root.
        """
        with self.files.open(name) as f:
            chunks = parquet.read_table(f, columns=["id"]).column("id").chunks
        pieces = [np.frombuffer(c.buffers()[1], "V16")[c.offset : c.offset + len(c)] for c in chunks if len(c)]
        return np.concatenate([np.empty(0, "V16"), *pieces])

    def shard_holds(self, files: Sequence[FileEntry]) -> tuple[int, int] | None:
        """Documents and tokens of a written shard, read back; None where a byte is not the one written.

        Args:
            files: its `.bin`, `.idx` and `.docs.parquet`, names relative to the root.
        """
        if any(self.files.sha256(e.name) != e.sha256 for e in files):
            return None
        try:
            index = read_index(self.files.read(files[1].name), bin_bytes=files[0].bytes)
        except ShardError:
            return None
        return index.num_documents, index.num_tokens

    def _shard(
        self, product: str, partition: str, entry: FileEntry
    ) -> tuple[pa.Table, npt.NDArray[np.int32], npt.NDArray[Any]]:
        name = layout.join(self.folder(product, partition) or "", entry.name.removesuffix(".bin"))
        index = read_index(self.files.read(f"{name}.idx"), bin_bytes=entry.bytes)
        with self.files.open(f"{name}.docs.parquet") as f:
            docs = parquet.read_table(f)
        return docs, index.lengths, np.frombuffer(self.files.read(f"{name}.bin"), index.dtype)

    def local_copy(self, entry: FileEntry) -> str:
        """A local path of a file of the store: its own where the root is local, else a copy in the cache.

        Args:
            entry: its name relative to the root.

        Raises:
            ManifestError: the file is not the one that its manifest names.
        """
        if self.files.is_local:
            return self.files.path(entry.name)
        base, _, last = entry.name.rpartition("/")
        copies = Files(str(cache_folder() / base / entry.sha256[:16]))
        if copies.size(last) != entry.bytes or copies.sha256(last) != entry.sha256:
            with self.files.open(entry.name) as source, copies.create(last) as f:
                while block := source.read(CHUNK):
                    f.write(block)
            if f.sha256 != entry.sha256:
                copies.remove(last)
                where, met = self.files.path(entry.name), f.sha256[:16]
                raise ManifestError(f"{where}: sha256 {met}…, wanted {entry.sha256[:16]}…; materialize it again")
        return copies.path(last)
