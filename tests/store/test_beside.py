"""What lies beside a product's rows: read by position or by key, sealed and swept with it, and no part of its rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.products import KEY, documents, fresh_root

from dataassets import records
from dataassets.store import Causes, ManifestError, Store, UnitRecord, is_beside, rows_of, verify

SNAPSHOT = "2026-10-01"


def keys_table(keys):
    keys = np.sort(np.array(keys, np.uint64))
    columns = [keys, keys ^ np.uint64(1), keys % np.uint64(2) == 0, np.arange(len(keys))]
    return pa.table([pa.array(column) for column in columns], schema=records.KEYS)


def test_numbers_are_read_by_their_place(store):
    job = Causes({}, {}, "1").job("signatures", KEY)
    values = np.random.default_rng(1).integers(0, 2**32, 1000, dtype=np.uint32)
    entry = store.beside.write_spans(job, 3, "shingles", [values[:10], values[10:10], values[10:]], rows=7)
    name = entry.name.rpartition("/")[2]
    assert (name, entry.rows, entry.bytes) == (f"_shingles-00003-{job.key[:8]}.bin", 7, 4000)
    starts, sizes = np.array([0, 990, 5, 5]), np.array([3, 10, 0, 300])
    found = store.beside.read_spans("signatures", KEY, name, starts, sizes)
    assert found.tolist() == [x for a, n in zip(starts, sizes, strict=True) for x in values[a : a + n].tolist()]
    assert store.beside.read_spans("signatures", KEY, name, starts[:0], sizes[:0]).tolist() == []
    with pytest.raises(ManifestError, match="10 numbers where 20 are wanted"):
        store.beside.read_spans("signatures", KEY, name, np.array([990]), np.array([20]))


def test_keys_are_read_by_their_range_and_row_groups_outside_it_are_not(store, monkeypatch):
    monkeypatch.setattr("dataassets.store.parquet.ROWS_PER_GROUP", 16)
    job = Causes({}, {}, "1").job("duplicates", SNAPSHOT)
    table = keys_table(np.random.default_rng(2).integers(0, 2**64, 500, dtype=np.uint64))
    entry, digest = store.beside.write_keys(job, 0, table)
    name = entry.name.rpartition("/")[2]
    assert (name, entry.rows) == (f"_kept-00000-{job.key[:8]}.keys", 500)
    key = np.asarray(table["key"])
    for low, high in (
        (0, 2**64 - 1),
        (2**63, 2**64 - 1),
        (int(key[100]), int(key[115])),
        (int(key[7]) + 1, int(key[8]) - 1),
    ):
        found = store.beside.read_keys("duplicates", SNAPSHOT, name, low, high)
        assert found.equals(table.filter(pa.array((key >= low) & (key <= high))))
    read = []
    plain = pa.parquet.ParquetFile.read_row_groups
    monkeypatch.setattr(
        "pyarrow.parquet.ParquetFile.read_row_groups", lambda self, groups: read.extend(groups) or plain(self, groups)
    )
    store.beside.read_keys("duplicates", SNAPSHOT, name, int(key[20]), int(key[40]))
    assert read == [1, 2]
    assert digest == store.beside.write_keys(job, 1, table)[1]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(2**63 - 2, 2**63 + 2), max_size=40), st.integers(0, 2**64 - 1))
def test_signs_of_large_keys_are_no_trap(keys, low):
    store = Store.at(fresh_root("memory", None))
    entry, _ = store.beside.write_keys(Causes({}, {}, "1").job("duplicates", SNAPSHOT), 0, keys_table(keys))
    found = store.beside.read_keys("duplicates", SNAPSHOT, entry.name.rpartition("/")[2], low, 2**64 - 1)
    assert found["key"].to_pylist() == sorted(key for key in keys if key >= low)


def test_it_is_sealed_and_swept_with_the_product_and_is_no_part_of_its_rows(store):
    for version in "12":
        causes = Causes({}, {}, version)
        job = causes.job("signatures", KEY)
        entry, digest = store.write_part(job, 0, documents(3))
        beside = store.beside.write_spans(job, 0, "shingles", [np.arange(5, dtype=np.uint32)], rows=3)
        record = UnitRecord((entry, beside), digests=(digest, beside.sha256))
        manifest = store.compose(job, causes, [record], counts={}, checks=[])
        store.commit(manifest)
    assert [is_beside(e.name) for e in manifest.files] == [False, True]
    assert [e.name for e in rows_of(manifest)] == [manifest.files[0].name]
    assert [len(table) for table in store.read_parts("signatures", KEY)] == [3]
    assert {f.kind for f in verify(store.files.root)} == {"ok"}
    assert len(store.files.walk()) == 3
    name = next(name for name in store.files.walk() if is_beside(name))
    store.files.write(name, b"\0" * 20)
    assert [f.name for f in verify(store.files.root) if f.kind == "damaged"] == [name]
