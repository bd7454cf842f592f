"""The manifest is the commit: before it the old product, after it the new one and nothing else."""

import os
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from store.products import KEY, committed, documents, made, token_rows
from store.tables import SCHEMAS, table_of

from dataassets.report import Check, Report
from dataassets.store import Causes, FileEntry, Manifest, ManifestError, Store, UnitRecord, verify

PLACES = [("filtered", KEY), ("duplicates", "2026-10-01"), ("tokenized", KEY), ("mixed", "pretrain")]


def names_of(store, manifest):
    """All that a manifest stands for, relative to the root."""
    folder = store.folder(manifest.product, manifest.partition)
    entries = (*manifest.files, *manifest.dropped_files)
    return {os.path.normpath(f"{folder}/{e.name}") for e in entries} | {f"{folder}/manifest.json"}


@pytest.mark.parametrize(("product", "partition"), PLACES)
def test_a_commit_leaves_what_its_manifest_names_and_nothing_else(store, product, partition):
    job, manifest = made(store, product, partition)
    assert store.manifest(product, partition) is None
    Path(store.work_path(job, "exchange")).mkdir(parents=True)
    store.files.write(f"{job.folder}/.part-00009.abcd.draft", b"half")
    store.commit(manifest)
    found = store.manifest(product, partition)
    assert found == manifest
    assert store.is_whole(product, partition, found)
    more = {"mixed/pretrain/latest"} if product == "mixed" else set()
    assert set(store.files.walk()) == names_of(store, manifest) | more
    assert not Path(store.work_path(job, "exchange")).exists()


@pytest.mark.parametrize(("product", "partition"), PLACES[:3])
def test_the_old_product_is_read_until_the_new_one_is_committed(store, product, partition):
    old = committed(store, product, partition)
    _, new = made(store, product, partition, version="2")
    assert store.manifest(product, partition) == old
    assert store.is_whole(product, partition, old)
    assert all(f.kind != "damaged" for f in verify(store.files.root))
    store.commit(new)
    assert store.manifest(product, partition) == new
    assert set(store.files.walk()) == names_of(store, new)


def test_latest_switches_and_the_folder_before_it_stays_whole(store):
    old = committed(store, "mixed", "pretrain")
    before = names_of(store, old)
    new = committed(store, "mixed", "pretrain", version="2")
    assert store.files.read("mixed/pretrain/latest").decode().strip() == new.key[:8]
    assert store.manifest("mixed", "pretrain") == new
    assert set(store.files.walk()) == before | names_of(store, new) | {"mixed/pretrain/latest"}
    assert {f.kind for f in verify(store.files.root)} == {"ok"}


def test_what_kills_left_of_a_mix_goes_at_the_next_commit(store):
    made(store, "mixed", "pretrain")  # under a key that no recipe asks for any more
    store.files.write("mixed/pretrain/.latest.0a1b2c3d.draft", b"half")
    store.files.write("mixed/pretrain/notes.txt", b"somebody's own")
    new = committed(store, "mixed", "pretrain", version="2")
    wanted = names_of(store, new) | {"mixed/pretrain/latest", "mixed/pretrain/notes.txt"}
    assert set(store.files.walk()) == wanted


def test_a_commit_touches_no_other_partition(store):
    other = committed(store, "filtered", "2026-10-01|books")
    third = committed(store, "cleaned", KEY)
    committed(store, "filtered", KEY)
    committed(store, "filtered", KEY, version="2")
    assert store.is_whole("filtered", "2026-10-01|books", other)
    assert store.is_whole("cleaned", KEY, third)


def test_parts_read_back_in_order_and_dropped_ones_apart(store):
    committed(store, "filtered", KEY)
    parts = list(store.read_parts("filtered", KEY))
    assert [len(p) for p in parts] == [3, 0, 2]
    assert parts[0].column("id").equals(documents(3, seed=100).column("id"))
    assert [len(p) for p in store.read_parts("filtered", KEY, dropped=True)] == [1, 1]
    with pytest.raises(ManifestError, match=r"filtered 2026-10-01\|books is not there; materialize it first"):
        next(store.read_parts("filtered", "2026-10-01|books"))


def test_tokens_read_back_as_written(store):
    manifest = committed(store, "tokenized", KEY, rows=(4, 0))
    bins = [e for e in manifest.files if e.name.endswith(".bin")]
    for i, (entry, rows) in enumerate(zip(bins, (4, 0), strict=True)):
        wanted = token_rows(rows, seed=100 + i)
        found = store.read_tokens(KEY, entry)
        assert found.schema.equals(wanted.schema)
        assert found.to_pylist() == wanted.to_pylist()
        ids, lengths = store.read_lengths(KEY, entry)
        assert [bytes(i) for i in ids] == wanted.column("id").to_pylist()
        assert lengths.tolist() == [len(t) for t in wanted.column("tokens").to_pylist()]


def test_a_shard_that_changed_does_not_hold_what_was_written(store):
    job, _ = made(store, "tokenized", KEY, rows=(4,))
    entries = store.unit_record(job, 0).files
    assert store.shard_holds(entries) == (4, entries[0].bytes // 2)
    data = store.files.read(entries[0].name)
    store.files.write(entries[0].name, data[:-1] + bytes([data[-1] ^ 1]))
    assert store.shard_holds(entries) is None


def test_unit_records_come_back_whole_and_only_under_their_key(store):
    job, _ = made(store, "filtered", KEY)
    other = Causes({}, {}, "9").job("filtered", KEY)
    record = UnitRecord(
        (FileEntry("x", 0, 0, "0" * 64),), (), ("d",), {"a": 1}, {"r": 2}, Report({"c": 3}), {"largest_id": 4}
    )
    assert UnitRecord.from_bytes(record.to_bytes()) == record
    assert [store.unit_record(job, i).counts["documents"] for i in range(3)] == [3, 0, 2]
    assert store.unit_record(job, 3) is None
    assert store.unit_record(other, 0) is None


@pytest.mark.parametrize("dropped", [False, True])
def test_a_unit_whose_files_are_gone_or_cut_is_done_again(store, dropped):
    for damage in ("gone", "cut"):
        job, _ = made(store, "filtered", KEY)
        record = store.unit_record(job, 0)
        name = (record.dropped_files if dropped else record.files)[0].name
        data = store.files.read(name)
        if damage == "gone":
            store.files.remove(name)
        else:
            store.files.write(name, data[:-1])
        assert store.unit_record(job, 0) is None
        assert store.unit_record(job, 2) is not None


def test_a_product_with_a_file_gone_is_not_whole(store):
    manifest = committed(store, "filtered", KEY)
    for name in names_of(store, manifest) - {f"{store.folder('filtered', KEY)}/manifest.json"}:
        data = store.files.read(name)
        store.files.remove(name)
        assert not store.is_whole("filtered", KEY, manifest)
        store.files.write(name, data)
    assert store.is_whole("filtered", KEY, manifest)


@pytest.mark.parametrize(("product", "partition"), PLACES)
def test_a_failure_leaves_its_report_and_no_part_and_the_old_product(store, product, partition):
    old = committed(store, product, partition)
    before = set(store.files.walk())
    job, manifest = made(store, product, partition, version="2")
    Path(store.work_path(job, "exchange")).mkdir(parents=True)
    check = Check("pii_left", False, blocking=True, numbers={"rate": 2.0}).to_json()
    kept = store.keep_failure(replace(manifest, checks=[check]))
    assert store.manifest(product, partition) == old
    name = next(iter(set(store.files.walk()) - before))
    assert set(store.files.walk()) == before | {name}
    assert kept == store.files.path(name)
    report = Manifest.from_bytes(store.files.read(name), where=kept)
    assert (report.checks, report.counts, report.files, report.dropped_files) == ([check], manifest.counts, (), ())
    assert not Path(store.work_path(job, "exchange")).exists()
    assert {f.kind for f in verify(store.files.root)} == {"ok"}
    committed(store, product, partition, version="3")
    assert not any(n.startswith("failed/") for n in store.files.walk())


def test_keys_follow_every_cause_and_digests_the_content_alone(store):
    base = Causes({"a": "1"}, {"min": 1}, "1")
    others = [replace(base, inputs={"a": "2"}), replace(base, settings={"min": 2}), replace(base, code_version="2")]
    jobs = [c.job("filtered", KEY) for c in (base, *others)] + [base.job("filtered", "x"), base.job("cleaned", KEY)]
    assert len({job.key for job in jobs}) == 6
    one = committed(store, "filtered", KEY)
    again = made(store, "filtered", "2026-10-01|books")[1]
    assert one.digest == again.digest
    assert one.digest != made(store, "filtered", KEY, version="2")[1].digest
    assert one.digest != made(store, "cleaned", KEY)[1].digest


def test_counts_of_units_add_up_beside_those_of_the_whole(store):
    manifest = made(store, "filtered", KEY)[1]
    assert manifest.counts == {"documents": 5, "extra": 1}
    assert manifest.dropped == {"length:short": 2}
    assert [e.name.startswith("../../../dropped/stage=filtered/") for e in manifest.dropped_files] == [True, True]


def test_ids_come_in_row_order(store):
    table = table_of(SCHEMAS["documents"], 20, seed=5)
    entry, _ = store.write_part(Causes({}, {}, "1").job("raw", KEY), 0, table)
    assert [bytes(i) for i in store.read_ids(entry.name)] == table.column("id").to_pylist()
    empty, _ = store.write_part(Causes({}, {}, "1").job("raw", KEY), 1, table.slice(0, 0))
    assert store.read_ids(empty.name).dtype == np.dtype("V16")
    assert len(store.read_ids(empty.name)) == 0


def test_workers_are_given_a_store_and_a_job(store):
    job = Causes({}, {}, "1").job("raw", KEY)
    assert pickle.loads(pickle.dumps((store, job))) == (store, job)  # noqa: S301


def test_scratch_is_local_and_apart_for_each_root_and_key(store, tmp_path):
    one, two = (Causes({}, {}, v).job("duplicates", "2026-10-01") for v in "12")
    folders = {Store.at(r).work_path(j, "x") for r in (store.files.root, f"{store.files.root}2") for j in (one, two)}
    assert len(folders) == 4
    assert all(folder.startswith(str(tmp_path)) for folder in folders)
    assert store.work_path(one, "x") == store.work_path(one, "x")


def test_a_latest_that_holds_no_text_names_no_product(store):
    committed(store, "mixed", "pretrain")
    store.files.write("mixed/pretrain/latest", b"\xff\xfe")
    assert store.manifest("mixed", "pretrain") is None


def test_a_manifest_that_was_changed_is_refused_by_name(store):
    committed(store, "filtered", KEY)
    name = f"{store.folder('filtered', KEY)}/manifest.json"
    store.files.write(name, store.files.read(name).replace(b'"documents":5', b'"documents":6'))
    with pytest.raises(ManifestError, match=re.escape(store.files.path(name))):
        store.manifest("filtered", KEY)
