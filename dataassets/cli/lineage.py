"""Lineage: from a row of a batch to its documents, from a document to its file and to every decision on it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.table import Table

import loader
from dataassets.recipe import RecipeError
from dataassets.store import CORPUS, PRODUCTS, SHARDED, Manifest, Store
from dataassets.store.layout import MANIFEST

ID = re.compile(r"[0-9a-f]{32}")


def of_row(folder: Path, state: Mapping[str, Any], *, step: int | None, rank: int, row: int) -> Iterator[Table | str]:
    """The documents in one row of a batch.

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
    where = f"step {step}" if step is not None else f"the last step before row {state.get('rows')}"
    table = Table(title=f"epoch {state.get('epoch')}, {where}, rank {rank}, row {row}", title_justify="left")
    for head in ("tokens", "source", "id", "url", "shard", "document"):
        table.add_column(head, overflow="fold")
    for d in found:
        tokens = f"{d['start']}-{d['stop'] - 1}"
        table.add_row(tokens, d["source"], d["id"], d["url"] or "", d["shard"], str(d["document"]))
    yield table
    if found:
        yield f"one document's whole way: dataassets explain {folder} --doc {found[0]['id']}"


def of_document(folder: Path, doc: str) -> Table:
    """What became of one document: where it came from, each stage it passed, where it went or where it lies.

    Args:
        folder: a root, or a mix below it.
        doc: id, 32 hex digits.

    Raises:
        RecipeError: no id, no such root, or no such document.
    """
    if not ID.fullmatch(doc.lower()):
        raise RecipeError(f"--doc {doc!r} is no id; give the 32 hex digits that explain or a product's `id` shows")
    root = _root(folder)
    table = Table(title=f"document {doc.lower()}", title_justify="left")
    for head in ("product", "partition", "what"):
        table.add_column(head, overflow="fold")
    wanted = bytes.fromhex(doc)
    store = Store.at(str(root))
    rows = [row for product in PRODUCTS for row in _in_product(store, product, wanted)]
    if not rows:
        raise RecipeError(f"no product below {root} holds document {doc}; ids are in each product's `id`")
    for row in rows:
        table.add_row(*row)
    return table


def _root(folder: Path) -> Path:
    """The nearest folder, from here up, that holds products."""
    folder = folder.resolve()
    for here in (folder, *folder.parents):
        if (here / "raw").is_dir() and any((here / p).is_dir() for p in CORPUS[1:]):
            return here
    raise RecipeError(f"{folder}: neither a root of products nor inside one; name the recipe's root or a mix below it")


def _in_product(store: Store, product: str, doc: bytes) -> Iterator[tuple[str, str, str]]:
    for partition, manifest in _partitions(store, product):
        if product in SHARDED:
            yield from _in_shards(store, manifest, partition, doc)
            continue
        for where, entries in (("", manifest.files), ("dropped: ", manifest.dropped_files)):
            for entry in entries:
                found = _rows(store.read_part(product, partition, entry.name), doc)
                if len(found):
                    yield product, partition, where + _told(product, found, entry.name)


def _partitions(store: Store, product: str) -> Iterator[tuple[str, Manifest]]:
    """Committed partitions of a product, found by their manifests."""
    for name in store.files.walk(product):
        if name.rsplit("/", 1)[-1] == MANIFEST:
            manifest = Manifest.from_bytes(store.files.read(name), where=store.files.path(name))
            if store.manifest(product, manifest.partition) == manifest:  # of a mix, the latest only
                yield manifest.partition, manifest


def _in_shards(store: Store, manifest: Manifest, partition: str, doc: bytes) -> Iterator[tuple[str, str, str]]:
    folder = store.folder(manifest.product, partition)
    for entry in manifest.files:
        if entry.name.endswith(".docs.parquet"):
            ids = store.read_ids(f"{folder}/{entry.name}")
            for ordinal in np.flatnonzero(ids == np.frombuffer(doc, "V16")[0]).tolist():
                shard = entry.name.removesuffix(".docs.parquet")
                yield manifest.product, partition, f"document {ordinal} of shard {shard}"


def _rows(table: pa.Table, doc: bytes) -> pa.Table:
    return table.filter(pc.equal(table.column("id"), pa.scalar(doc, pa.binary(16))))


def _told(product: str, found: pa.Table, name: str) -> str:
    row = found.slice(0, 1).to_pylist()[0]
    if product == "duplicates":
        return f"{row['reason']}: repeats {row['match_id'].hex()} of {row['match_source']} at {row['similarity']:.3f}"
    if reason := row.get("reason"):
        return f"{reason} ({name})"
    if product == "raw":
        return f"{row['origin']} at {row['position']}, {row['media_type']}, {row['url'] or 'no url'}"
    if product == "signals":
        shown = {k: v for k, v in row.items() if isinstance(v, int | float) and not k.startswith("c4_")}
        return ", ".join(f"{k} {v:.4g}" for k, v in list(shown.items())[:12])
    if text := row.get("text"):
        return f"{len(text):,} characters: {' '.join(text.split())[:120]}"
    return name
