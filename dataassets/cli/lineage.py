"""Lineage: from a row of a batch to its documents, from a document to its file and to every decision on it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import loader
from dataassets.cli import telling
from dataassets.recipe import RecipeError
from dataassets.store import CORPUS, EVERY, PRODUCTS, SHARDED, Manifest, Store, partition_key, rows_of, split_key
from dataassets.store.layout import MANIFEST

ID = re.compile(r"[0-9a-f]{32}")


def of_row(folder: Path, state: Mapping[str, Any], *, step: int | None, rank: int, row: int) -> Iterator[str]:
    """The documents in one row of a batch, a line or two each.

    Args:
        folder: a mix, or its key folder.
        state: of a loader.
        step: of the epoch; None for the last one delivered.
        rank: whose batch.
        row: of the batch.

    Raises:
        loader.LoaderError: the state and the data do not fit, or there is no such step.
    """
    found = loader.explain(folder, state, step=step, rank=rank, row=row)
    where = f"step {step}" if step is not None else f"the last step before row {state['rows']:,} of the epoch"
    yield f"epoch {state['epoch']}, {where}, rank {rank}, row {row}: {found[-1]['stop']:,} tokens in input_ids"
    for d in found:
        tokens = f"{d['start']}-{d['stop'] - 1}"
        cut = f" from its token {d['offset']:,} on" if d["offset"] else ""
        yield f"tokens {tokens:<11} {d['source']}  {d['id']}  {d['url'] or 'no url'}"
        yield f"       {'':<11} document {d['document']:,} of {d['shard']}{cut}"
    yield f"one document's whole way: dataassets explain {folder} --doc {found[0]['id']}"


def of_document(folder: Path, doc: str) -> Iterator[str]:
    """What became of one document: where it came from, each stage it passed, where it went or where it lies.

    Args:
        folder: a root, or a folder in it.
        doc: id, 32 hex digits.

    Yields:
        A line for each product that knows it.

    Raises:
        RecipeError: no id, no such root, or no such document.
    """
    if not ID.fullmatch(doc.lower()):
        raise RecipeError(f"--doc {doc!r} is no id; give the 32 hex digits that explain or a product's `id` shows")
    store = Store.at(str(_root(folder)))
    found = list(_Search(store, bytes.fromhex(doc)).facts())
    if not found:
        raise RecipeError(
            f"{store.files.root}: no product holds document {doc.lower()}; "
            "ids stand in the column `id` of each product and in `explain --state`"
        )
    yield f"document {doc.lower()}"
    for fact in found:
        yield f"{fact.product:<16} {fact.partition:<22} {fact.what}"


def _root(folder: Path) -> Path:
    """The nearest folder, from here up, that holds products."""
    folder = folder.resolve()
    if not folder.exists():
        raise RecipeError(f"{folder}: no such folder; name the recipe's root or a mix below it")
    for here in (folder, *folder.parents):
        if (here / "raw").is_dir() and (here == folder or folder.relative_to(here).parts[0] in EVERY):
            return here
    raise RecipeError(
        f"{folder}: neither a root of products nor a product in one; name the recipe's root or a mix below it"
    )


@dataclass(frozen=True)
class _Fact:
    """What one product knows of a document."""

    product: str
    partition: str
    what: str


class _Search:
    """Looks for a document in every product; where one has it, the later ones are looked at in its partition only."""

    def __init__(self, store: Store, doc: bytes) -> None:
        self._store, self._doc = store, doc
        self._partition: str | None = None  # of the corpus: an id is made of source and origin, so it has but one

    def facts(self) -> Iterator[_Fact]:
        signals = None
        for product in PRODUCTS:
            for manifest in self._manifests(product):
                if product in SHARDED:
                    found = [telling.place(name, ordinals) for name, ordinals in self._in_shards(manifest)]
                else:
                    found = []
                    for row, was_dropped in self._rows(manifest):
                        signals = row if product == "signals" else signals
                        if product == "duplicates":
                            found.append(self._repetition(row.to_pylist()[0]))
                        else:
                            found.append(telling.record(manifest, row, was_dropped=was_dropped, signals=signals))
                if found and product in CORPUS:
                    self._partition = manifest.partition
                yield from (_Fact(product, manifest.partition, what) for what in found)

    def _manifests(self, product: str) -> Iterator[Manifest]:
        """Committed partitions in which the document may be."""
        for name in self._store.files.walk(product):
            if name.rsplit("/", 1)[-1] != MANIFEST:
                continue
            manifest = Manifest.from_bytes(self._store.files.read(name), where=self._store.files.path(name))
            own = self._partition
            at_home = own is None or product == "mixed" or manifest.partition in (own, split_key(own)[0])
            # of a mix, the latest build only
            if at_home and self._store.manifest(product, manifest.partition) == manifest:
                yield manifest

    def _rows(self, manifest: Manifest) -> Iterator[tuple[pa.Table, bool]]:
        """The document's rows, and whether they lie among what was dropped."""
        for was_dropped, entries in ((False, rows_of(manifest)), (True, manifest.dropped_files)):
            for entry in entries:
                row = self._row(manifest.product, manifest.partition, entry.name, self._doc)
                if row is not None:
                    yield row, was_dropped

    def _row(self, product: str, partition: str, name: str, doc: bytes, columns: Sequence[str] = ()) -> pa.Table | None:
        """One row of a part; the other columns are read only where its id is there."""
        ids = self._store.read_part(product, partition, name, columns=["id"]).column("id")
        at = pc.index(ids, pa.scalar(doc, ids.type)).as_py()
        if at < 0:
            return None
        return self._store.read_part(product, partition, name, columns=list(columns) or None).slice(at, 1)

    def _in_shards(self, manifest: Manifest) -> Iterator[tuple[str, list[int]]]:
        folder = self._store.folder(manifest.product, manifest.partition)
        wanted = np.frombuffer(self._doc, "V16")[0]
        for entry in manifest.files:
            if entry.name.endswith(".docs.parquet"):
                ordinals = np.flatnonzero(self._store.read_ids(f"{folder}/{entry.name}") == wanted).tolist()
                if ordinals:
                    yield entry.name.removesuffix(".docs.parquet"), ordinals

    def _repetition(self, row: Mapping[str, Any]) -> str:
        """A row of `duplicates`, with the address of the kept document that it repeats."""
        partition = partition_key(row["match_snapshot"], row["match_source"])
        manifest = self._store.manifest("filtered", partition)
        for entry in manifest.files if manifest else ():
            match = self._row("filtered", partition, entry.name, row["match_id"], ["url", "origin"])
            if match is not None:
                return telling.repetition(row, match.to_pylist()[0])
        return telling.repetition(row, {})
