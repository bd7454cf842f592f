"""The store: units write files, one manifest commits them. Nothing half-written is ever read.

A unit's files carry the product's key in their names, so a new product never overwrites the one that is being read;
the manifest, replaced at once, decides which of them count; what it does not name is swept after the commit.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.hashing import TableDigest
from dataassets.report import Check, merge
from dataassets.store import layout, parquet
from dataassets.store.files import Files
from dataassets.store.unit import UnitRecord, total
from loader.format import FileEntry, Manifest, ManifestError, ShardError, canonical_json, read_index, write_shard


@dataclass(frozen=True)
class Causes:
    """All that a partition of a product depends on.

    Args:
        inputs: name of each input -> its digest.
        settings: JSON, the part of the recipe that matters here.
        code_version: version of the stage's code.
    """

    inputs: Mapping[str, str]
    settings: Mapping[str, Any]
    code_version: str

    def job(self, product: str, partition: str) -> "Job":
        """The job whose key these causes make: equal keys, equal products.

        >>> len(Causes({}, {}, "1").job("raw", "2026-10-01|web").key)
        64
        """
        body = {
            "product": product,
            "partition": partition,
            "inputs": dict(self.inputs),
            "settings": dict(self.settings),
            "code_version": self.code_version,
        }
        return Job(product, partition, hashlib.sha256(canonical_json(body)).hexdigest())


@dataclass(frozen=True)
class Job:
    """One partition of one product, to be made under a key that is known before any work. Light: workers hold it."""

    product: str
    partition: str
    key: str

    @property
    def folder(self) -> str:
        """Where its manifest will lie, relative to the root."""
        return layout.folder(self.product, self.partition, key=self.key)


@dataclass(frozen=True)
class Store:
    """All products under one root; picklable, so that workers can hold it."""

    files: Files

    @classmethod
    def at(cls, root: str) -> "Store":
        """The store of a root.

        Args:
            root: absolute folder, or an fsspec URL.

        >>> Store.at("/data").files.path("raw")
        '/data/raw'
        """
        return cls(Files(root))

    # ---- committed products

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
        folder = self.folder(product, partition)
        if folder is None or not self.files.exists(f"{folder}/{layout.MANIFEST}"):
            return None
        name = f"{folder}/{layout.MANIFEST}"
        return Manifest.from_bytes(self.files.read(name), where=self.files.path(name))

    def is_whole(self, product: str, partition: str, manifest: Manifest) -> bool:
        """Whether all files of a manifest are there in their size (bytes are `verify`'s to check)."""
        folder = self.folder(product, partition)
        return folder is not None and all(
            self.files.size(_join(folder, entry.name)) == entry.bytes
            for entry in (*manifest.files, *manifest.dropped_files)
        )

    def read_part(self, product: str, partition: str, name: str, *, columns: list[str] | None = None) -> pa.Table:
        """Read one Parquet file of a product by its name in the manifest."""
        folder = self.folder(product, partition)
        with self.files.open(_join(folder or "", name)) as f:
            return parquet.read_table(f, columns=columns)

    def read_parts(
        self, product: str, partition: str, *, columns: list[str] | None = None, dropped: bool = False
    ) -> Iterator[pa.Table]:
        """Read a committed product part by part, in order.

        Raises:
            ManifestError: nothing is committed there.
        """
        manifest = self.manifest(product, partition)
        if manifest is None:
            raise ManifestError(f"{self.files.root}: {product} {partition} is not there; materialize it first")
        for entry in manifest.dropped_files if dropped else manifest.files:
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
        name = _join(layout.folder("tokenized", partition), entry.name.removesuffix(".bin"))
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
        name = _join(self.folder(product, partition) or "", entry.name.removesuffix(".bin"))
        index = read_index(self.files.read(f"{name}.idx"), bin_bytes=entry.bytes)
        with self.files.open(f"{name}.docs.parquet") as f:
            docs = parquet.read_table(f)
        return docs, index.lengths, np.frombuffer(self.files.read(f"{name}.bin"), index.dtype)

    # ---- units

    def unit_record(self, job: Job, index: int) -> UnitRecord | None:
        """The record of a unit that was finished earlier and whose files are still there."""
        name = _record_name(job, index)
        if not self.files.exists(name):
            return None
        record = UnitRecord.from_bytes(self.files.read(name))
        whole = all(self.files.size(e.name) == e.bytes for e in (*record.files, *record.dropped_files))
        return record if whole else None

    def finish_unit(self, job: Job, index: int, record: UnitRecord) -> UnitRecord:
        """Keep the record of a finished unit, so that a re-run reuses it."""
        self.files.write(_record_name(job, index), record.to_bytes())
        return record

    def write_part(
        self, job: Job, index: int, table: pa.Table, *, piece: int = 0, dropped: bool = False
    ) -> tuple[FileEntry, str]:
        """Write one Parquet part.

        Args:
            job: the product.
            index: number of the unit.
            table: rows.
            piece: number of the part within its unit.
            dropped: whether these rows were removed.

        Returns:
            The entry, its name relative to the root; the digest of the rows.
        """
        base = layout.dropped_folder(job.product, job.partition) if dropped else job.folder
        name = f"{base}/{_part_name(job, index, piece)}.parquet"
        with self.files.create(name) as f:
            parquet.write_table(table, f)
        digest = TableDigest()
        digest.update(table)
        return FileEntry(name, len(table), f.size, f.sha256), digest.hexdigest()

    def write_tokens(self, job: Job, stem: str, tokens: pa.Table) -> tuple[tuple[FileEntry, ...], tuple[str, ...]]:
        """Write one shard: `.bin`, `.idx` and `.docs.parquet`.

        Args:
            job: the product.
            stem: name without ending, relative to the product's folder.
            tokens: rows of records.tokens.

        Returns:
            The three entries, names relative to the root; digests of their content.
        """
        base = f"{job.folder}/{stem}"
        lists = tokens.column("tokens")
        lengths_D = np.concatenate([np.diff(np.asarray(c.offsets)) for c in lists.chunks] or [np.empty(0, np.int64)])
        dtype = lists.type.value_type.to_pandas_dtype()
        flat = (np.asarray(chunk.flatten()) for chunk in lists.chunks)
        with self.files.create(f"{base}.bin") as bin_file, self.files.create(f"{base}.idx") as idx_file:
            write_shard(bin_file, idx_file, flat, lengths_D, dtype=dtype)  # type: ignore[arg-type]
        docs = tokens.select(["id", "source", "url"])
        with self.files.create(f"{base}.docs.parquet") as docs_file:
            parquet.write_table(docs, docs_file)
        digest = TableDigest()
        digest.update(docs)
        written = ((".bin", bin_file), (".idx", idx_file), (".docs.parquet", docs_file))
        entries = tuple(FileEntry(f"{base}{end}", len(tokens), f.size, f.sha256) for end, f in written)
        return entries, (bin_file.sha256, idx_file.sha256, digest.hexdigest())

    @property
    def work_root(self) -> str:
        """The full path of the folder of all unfinished work."""
        return self.files.path(layout.WORK)

    def work_path(self, job: Job, name: str) -> str:
        """Full path of a local scratch folder of this job, gone after its commit.

        It lies below the root; where that is a URL, below this machine's folder for temporary files, under a name that
        a re-run finds again.
        """
        scratch, prefix = self._scratch()
        if prefix:
            Path(scratch.path(prefix)).mkdir(mode=0o700, parents=True, exist_ok=True)
        return scratch.path(f"{prefix}{layout.work_folder(job.product, job.partition, key=job.key)}/{name}")

    def _scratch(self) -> tuple[Files, str]:
        """Where files between two steps lie: local, and the folder in it that is this root's."""
        if self.files.is_local:
            return self.files, ""
        mine = hashlib.sha256(f"{os.getuid()}\0{self.files.root}".encode()).hexdigest()[:16]
        return Files(tempfile.gettempdir()), f"dataassets-{mine}/"

    # ---- commit

    def compose(
        self,
        job: Job,
        causes: Causes,
        records: Sequence[UnitRecord],
        *,
        counts: Mapping[str, int],
        checks: Iterable[Check],
        shard_format: Mapping[str, Any] | None = None,
    ) -> Manifest:
        """Merge unit records, in their order, into the manifest that would commit them.

        Args:
            job: the product.
            causes: what its key was made of.
            records: of all units.
            counts: added to the units' own.
            checks: results.
            shard_format: what a reader of shards needs.
        """
        digests = [d for record in records for d in record.digests]
        return Manifest(
            product=job.product,
            partition=job.partition,
            inputs=dict(causes.inputs),
            settings=dict(causes.settings),
            code_version=causes.code_version,
            key=job.key,
            files=tuple(_relative(e, job.folder) for record in records for e in record.files),
            dropped_files=tuple(_relative(e, job.folder) for record in records for e in record.dropped_files),
            counts={**total([r.counts for r in records]), **counts},
            dropped=total([r.dropped for r in records]),
            checks=[check.to_json() for check in checks],
            digest=hashlib.sha256(canonical_json([job.product, digests])).hexdigest(),
            format=None if shard_format is None else dict(shard_format),
            report=merge(r.report for r in records).to_json(),
        )

    def commit(self, manifest: Manifest) -> None:
        """Make a product the one that readers see, then sweep what it replaces."""
        product, partition = manifest.product, manifest.partition
        folder = layout.folder(product, partition, key=manifest.key)
        self.files.write(f"{folder}/{layout.MANIFEST}", manifest.to_bytes())
        if product == "mixed":
            self.files.write(f"mixed/{partition}/{layout.LATEST}", (manifest.key[:8] + "\n").encode())
        self.tidy(manifest)

    def tidy(self, manifest: Manifest) -> None:
        """Remove what the manifest of this partition does not name: drafts, older files, finished work."""
        product, partition = manifest.product, manifest.partition
        folder = layout.folder(product, partition, key=manifest.key)
        named = {_join(folder, e.name) for e in (*manifest.files, *manifest.dropped_files)}
        named.add(f"{folder}/{layout.MANIFEST}")
        if product == "mixed":
            names = self._unfinished(partition, folder)
        else:
            names = [*self.files.walk(folder), *self.files.walk(layout.dropped_folder(product, partition))]
        for name in names:
            if name not in named:
                self.files.remove(name)
        self._remove_work(product, partition)
        self.files.remove_folder(layout.failed_folder(product, partition))

    def _unfinished(self, mix: str, folder: str) -> list[str]:
        """Files of a mix outside its older, finished folders: of its newest one, and what kills left behind."""
        names = [name for name in self.files.walk(f"mixed/{mix}") if layout.is_own(name)]
        older = {name.rpartition("/")[0] for name in names if name.endswith(f"/{layout.MANIFEST}")} - {folder}
        latest = f"mixed/{mix}/{layout.LATEST}"
        return [name for name in names if name != latest and "/".join(name.split("/")[:3]) not in older]

    def _remove_work(self, product: str, partition: str) -> None:
        work = layout.work_folder(product, partition)
        for files, prefix in dict.fromkeys([(self.files, ""), self._scratch()]):
            files.remove_folder(f"{prefix}{work}")

    def keep_failure(self, manifest: Manifest) -> str:
        """Keep the report of a product that a blocking check stopped, to look at; its files go.

        Returns:
            The full path of the report.
        """
        folder = layout.folder(manifest.product, manifest.partition, key=manifest.key)
        for entry in (*manifest.files, *manifest.dropped_files):
            self.files.remove(_join(folder, entry.name))
        self._remove_work(manifest.product, manifest.partition)
        name = f"{layout.failed_folder(manifest.product, manifest.partition)}/report.json"
        self.files.write(name, replace(manifest, files=(), dropped_files=()).to_bytes())
        return self.files.path(name)


def _record_name(job: Job, index: int) -> str:
    return f"{layout.work_folder(job.product, job.partition, key=job.key)}/unit-{index:05d}.json"


def _part_name(job: Job, index: int, piece: int) -> str:
    return f"part-{index:05d}{f'.{piece:03d}' if piece else ''}-{job.key[:8]}"


def _join(folder: str, name: str) -> str:
    """A manifest's name, which may climb with ../, relative to the root."""
    return os.path.normpath(f"{folder}/{name}").replace(os.sep, "/")


def _relative(entry: FileEntry, folder: str) -> FileEntry:
    """An entry whose name is relative to the folder of its manifest."""
    return replace(entry, name=os.path.relpath(entry.name, folder).replace(os.sep, "/"))
