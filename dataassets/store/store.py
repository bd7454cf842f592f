"""The store: units write files, one manifest commits them. Nothing half-written is ever read.

A unit's files carry the product's key in their names, so a new product never overwrites the one that is being read;
the manifest, replaced at once, decides which of them count; what it does not name is swept after the commit.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets.hashing import TableDigest
from dataassets.report import Check, merge
from dataassets.store import layout, parquet
from dataassets.store.beside import Beside
from dataassets.store.committed import Committed
from dataassets.store.files import CHUNK, Files
from dataassets.store.unit import UnitRecord, total
from loader.format import FileEntry, Manifest, canonical_json, write_shard


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
class Store(Committed):
    """All products under one root, to read and to write; picklable, so that workers can hold it."""

    @property
    def beside(self) -> Beside:
        """What lies beside the rows of products."""
        return Beside(self)

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
        return self.write_file(f"{base}/{layout.part_name(index, piece, key=job.key)}.parquet", table)

    def write_file(self, name: str, table: pa.Table) -> tuple[FileEntry, str]:
        """Write a table as Parquet.

        Args:
            name: relative to the root.
            table: rows.

        Returns:
            The entry, its name relative to the root; the digest of the rows.
        """
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

    def write_model(self, job: Job, path: Path, *, rows: int) -> FileEntry:
        """Write a trained model.

        Args:
            job: the product.
            path: local file that holds it.
            rows: documents that it was made of.

        Returns:
            The entry, its name relative to the root.
        """
        name = f"{job.folder}/model-{job.key[:8]}{path.suffix}"
        with path.open("rb") as source, self.files.create(name) as f:
            while block := source.read(CHUNK):
                f.write(block)
        return FileEntry(name, rows, f.size, f.sha256)

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
        named = {layout.join(folder, e.name) for e in (*manifest.files, *manifest.dropped_files)}
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
            self.files.remove(layout.join(folder, entry.name))
        self._remove_work(manifest.product, manifest.partition)
        name = f"{layout.failed_folder(manifest.product, manifest.partition)}/report.json"
        self.files.write(name, replace(manifest, files=(), dropped_files=()).to_bytes())
        return self.files.path(name)


def _record_name(job: Job, index: int) -> str:
    return f"{layout.work_folder(job.product, job.partition, key=job.key)}/unit-{index:05d}.json"


def _relative(entry: FileEntry, folder: str) -> FileEntry:
    """An entry whose name is relative to the folder of its manifest."""
    return replace(entry, name=os.path.relpath(entry.name, folder).replace(os.sep, "/"))
