"""One unit of work of each corpus stage, as workers run it: read a part, call the stage, write what stays and goes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.records import KEPT
from dataassets.report import Report
from dataassets.runner.models import with_models
from dataassets.store import FileEntry, Job, Store, UnitRecord, split_key


@dataclass(frozen=True)
class Unit:
    """What a worker is given; picklable and small.

    Args:
        store: where parts are read and written.
        job: the product in the making.
        index: number of the unit, from the data alone.
        parts: upstream (product, partition, file), one of each upstream product with parts.
        settings: what the stage takes: models of the recipe, files to read.
    """

    store: Store
    job: Job
    index: int
    parts: tuple[tuple[str, str, FileEntry], ...]
    settings: Any

    def __str__(self) -> str:
        made_of = ", ".join(entry.name for _, _, entry in self.parts)
        return f"{self.job.product} {self.job.partition}{f' from {made_of}' if made_of else ''}"

    @property
    def source(self) -> str:
        """The source that this unit's documents are from."""
        return split_key(self.job.partition)[1]

    def table(self, number: int = 0) -> pa.Table:
        """The rows of one upstream part."""
        product, partition, entry = self.parts[number]
        return self.store.read_part(product, partition, entry.name)


def run_unit(unit: Unit) -> UnitRecord:
    """Do one unit, or take its record if an earlier run finished it.

    Args:
        unit: of any corpus product.

    Returns:
        The record, kept in the store for a re-run.
    """
    done = unit.store.unit_record(unit.job, unit.index)
    if done is not None:
        return done
    return unit.store.finish_unit(unit.job, unit.index, _WORK[unit.job.product](unit))


def _raw(unit: Unit) -> UnitRecord:
    """Files to parts of bounded size."""
    from dataassets.stages.read import read

    files, source, part_bytes = unit.settings
    batches = read(files, source=unit.source, settings=source)
    keep = Keeper(unit)
    for table, report in _by_size(batches, part_bytes):
        keep.add(table, report)
    return keep.record()


def _cleaned(unit: Unit) -> UnitRecord:
    from dataassets.stages.clean import clean, count_pii

    settings, normalize = unit.settings
    table, report = clean(unit.table(), settings=settings, normalize=normalize)
    keep = Keeper(unit)
    kept = keep.add(table, report)
    left = count_pii(kept.column("text")) if settings.pii != "keep" else 0
    return keep.record(pii_left=left)


def _signals(unit: Unit) -> UnitRecord:
    from dataassets.stages.filter import measure

    filters, trained = unit.settings
    table, report = measure(unit.table(), settings=with_models(filters, trained, store=unit.store))
    keep = Keeper(unit)
    keep.add(table, report)
    required = [table.column(field.name) for field in table.schema if not field.nullable]
    return keep.record(rows_expected=unit.parts[0][2].rows, nulls=sum(c.null_count for c in required))


def _filtered(unit: Unit) -> UnitRecord:
    from dataassets.stages.filter import judge

    documents, signals = unit.table(0), unit.table(1)
    assert documents.column("id").equals(signals.column("id")), "signals are aligned with cleaned"
    keep = Keeper(unit)
    filters, found = unit.settings
    keep.add(*judge(documents, signals, settings=filters, cuts=found))
    return keep.record()


def _signatures(unit: Unit) -> UnitRecord:
    from dataassets.stages.dedup import sign

    table, report = sign(unit.table(), settings=unit.settings)
    keep = Keeper(unit)
    keep.add(table.drop_columns(["shingles"]), report)
    minhash = unit.settings.minhash
    if minhash is not None and minhash.verify == "exact":
        keep.beside("shingles", [np.asarray(chunk.flatten()) for chunk in table["shingles"].chunks], rows=len(table))
    signed = len(table) - (table.column("signature").null_count if minhash else 0)
    return keep.record(rows_expected=unit.parts[0][2].rows, signed=signed)


def _deduped(unit: Unit) -> UnitRecord:
    from dataassets.stages.dedup import drop

    names = unit.settings
    snapshot = split_key(unit.job.partition)[0]
    rows = [unit.store.read_part("duplicates", snapshot, name) for name in names]
    duplicates = pa.concat_tables(rows)
    own = duplicates.filter(pc.equal(duplicates.column("source"), unit.source))
    keep = Keeper(unit)
    keep.add(*drop(unit.table(), own))
    return keep.record()


def _tokenized(unit: Unit) -> UnitRecord:
    from dataassets.stages.tokenize import tokenize, verify_sample, vocabulary

    documents = unit.table()
    tokens, report = tokenize(documents, source=unit.source, settings=unit.settings)
    verified = verify_sample(documents, tokens)
    files, digests = unit.store.write_tokens(unit.job, f"part-{unit.index:05d}-{unit.job.key[:8]}", tokens)
    flat = pc.list_flatten(tokens.column("tokens"))
    return UnitRecord(
        files=files,
        digests=digests,
        counts={
            "documents_in": len(documents),
            "documents": len(tokens),
            "bytes_in": content_bytes(documents),
            "bytes": len(flat) * flat.type.bit_width // 8,
            "tokens": len(flat),
        },
        report=report + verified,
        numbers={
            "sampled": verified.counts["sample:checked"],
            "mismatches": verified.counts["sample:differ"],
            "rows_expected": unit.parts[0][2].rows,
            "largest_id": int(pc.max(flat).as_py() or 0),
            "vocabulary": vocabulary(unit.settings).size,
        },
    )


_WORK: dict[str, Callable[[Unit], UnitRecord]] = {
    "raw": _raw,
    "cleaned": _cleaned,
    "signals": _signals,
    "filtered": _filtered,
    "signatures": _signatures,
    "deduped": _deduped,
    "tokenized": _tokenized,
}


class Keeper:
    """Parts what a stage kept from what it dropped, writes both, and counts: in = out + dropped by construction.

    Args:
        unit: whose products these are.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._files: list[FileEntry] = []
        self._dropped_files: list[FileEntry] = []
        self._digests: list[str] = []
        self._counts = {"documents_in": 0, "documents": 0, "bytes_in": 0, "bytes": 0}
        self._dropped: dict[str, int] = {}
        self._report = Report()

    def add(self, table: pa.Table, report: Report) -> pa.Table:
        """Write one part.

        Args:
            table: what a stage gave; with a column `reason` where it may drop.
            report: its report.

        Returns:
            The rows that stay.
        """
        kept, dropped = part(table)
        piece = len(self._files)
        entry, digest = self._unit.store.write_part(self._unit.job, self._unit.index, kept, piece=piece)
        self._files.append(entry)
        self._digests.append(digest)
        if len(dropped):
            entry, _ = self._unit.store.write_part(self._unit.job, self._unit.index, dropped, piece=piece, dropped=True)
            self._dropped_files.append(entry)
            for found in dropped.column("reason").value_counts().to_pylist():
                self._dropped[found["values"]] = self._dropped.get(found["values"], 0) + found["counts"]
        for name, n in (
            ("documents_in", len(table)),
            ("documents", len(kept)),
            ("bytes_in", content_bytes(table)),
            ("bytes", content_bytes(kept)),
        ):
            self._counts[name] += n
        self._report = self._report + report
        return kept

    def beside(self, kind: str, values: Sequence[npt.NDArray[np.uint32]], *, rows: int) -> None:
        """Write the numbers that belong to the rows of a part and are read by position.

        Args:
            kind: what they are.
            values: uint32, one after the other.
            rows: of the part.
        """
        entry = self._unit.store.beside.write_spans(self._unit.job, self._unit.index, kind, values, rows=rows)
        self._files.append(entry)
        self._digests.append(entry.sha256)

    def record(self, **numbers: int) -> UnitRecord:
        """The unit's record.

        Args:
            numbers: measured for checks.
        """
        return UnitRecord(
            files=tuple(self._files),
            dropped_files=tuple(self._dropped_files),
            digests=tuple(self._digests),
            counts=self._counts,
            dropped=self._dropped,
            report=self._report,
            numbers=numbers,
        )


def part(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Part rows that stay, without `reason`, from those that go.

    Args:
        table: rows, with or without a column `reason`.
    """
    if "reason" not in table.column_names:
        return table, table.slice(0, 0)
    stays = pc.equal(table.column("reason"), KEPT)
    return table.filter(stays).drop_columns(["reason"]), table.filter(pc.invert(stays))


def content_bytes(table: pa.Table) -> int:
    """Bytes of text or content in a table; 0 where it has neither."""
    for name in ("text", "content"):
        if name in table.column_names:
            return int(pc.sum(pc.binary_length(table.column(name))).as_py() or 0)
    return 0


def _by_size(batches: Iterator[tuple[pa.Table, Report]], part_bytes: int) -> Iterator[tuple[pa.Table, Report]]:
    """Join batches until about part_bytes of content are together; at least one table, if an empty one."""
    tables: list[pa.Table] = []
    size, report = 0, Report()
    for table, told in batches:
        tables.append(table)
        report = report + told
        size += content_bytes(table)
        if size >= part_bytes:
            yield pa.concat_tables(tables), report
            tables, size, report = [], 0, Report()
    if tables:
        yield pa.concat_tables(tables), report
