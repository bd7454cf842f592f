"""The runner: what is reused, refused, gated, and what each recipe section does to the road."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from small_corpus import write_recipe

from dataassets.compute import Executor
from dataassets.recipe import Located, RecipeError, load
from dataassets.runner import ChecksFailedError, Progress, UpstreamError, Work
from dataassets.store import PRODUCTS, ManifestError, verify

KEY = "2026-08-01|notes"
TO_FILTERED = ("raw", "cleaned", "signals", "filtered")


def runner(located: Located) -> Work:
    return Work(located, executor=Executor("inline"))


def changed(located: Located, **changes: object) -> Located:
    recipe = yaml.safe_load(located.file.read_text()) | changes
    located.file.write_text(yaml.safe_dump(recipe, sort_keys=False))
    return load(located.file)


def run_chain(work: Work, products: tuple[str, ...] = TO_FILTERED, key: str = KEY) -> None:
    for product in products:
        work.run(product, key)


def test_what_is_there_and_equal_is_reused_with_its_checks(corpus):
    work = runner(corpus)
    first = work.run("raw", KEY)
    again = work.run("raw", KEY)
    assert (first.skipped, again.skipped) == (False, True)
    assert again.manifest == first.manifest
    assert again.checks == first.checks
    assert again.checks


def test_an_absent_upstream_is_named_with_the_command_that_makes_it(corpus):
    with pytest.raises(
        UpstreamError, match=r"cleaned 2026-08-01\|notes needs raw 2026-08-01\|notes, which is not there"
    ):
        runner(corpus).run("cleaned", KEY)


@pytest.mark.parametrize(
    ("change", "product", "stale"),
    [
        ({"clean": {"pii": "keep"}}, "signals", "cleaned"),
        ({"clean": {"pii": "keep"}}, "signatures", "filtered"),
        ({"filter": {"length": {"min": 300}}}, "signatures", "filtered"),
    ],
)
def test_an_upstream_made_by_other_settings_is_refused_as_stale(corpus, change, product, stale):
    run_chain(runner(corpus))
    with pytest.raises(UpstreamError, match=rf"needs {stale} 2026-08-01\|notes, which is stale"):
        runner(changed(corpus, **change)).run(product, KEY)


def test_a_changed_threshold_leaves_signals_as_they_are(corpus):
    run_chain(runner(corpus))
    work = runner(changed(corpus, filter={"length": {"min": 3000}, "language": {"min_score": 0.1}}))
    skipped = {product: work.run(product, KEY).skipped for product in TO_FILTERED}
    assert skipped == {"raw": True, "cleaned": True, "signals": True, "filtered": False}


def test_equal_content_from_another_key_does_not_make_later_stages_again(corpus):
    work = runner(corpus)
    run_chain(work)
    work = runner(changed(corpus, filter={"length": {"min": 201}, "language": {"keep": ["en"], "min_score": 0.3}}))
    old = work.store.manifest("filtered", KEY)
    new = work.run("filtered", KEY).manifest
    assert (old.key != new.key, old.digest == new.digest) == (True, True)


def test_a_failed_blocking_check_commits_nothing_keeps_a_report_and_a_mended_run_clears_it(corpus):
    folder = corpus.file.parent
    part = folder / "notes" / "2026-08-01" / "part-1.jsonl.gz"
    sound = part.read_bytes()
    part.write_bytes(gzip.compress(gzip.decompress(sound) + b"\nno json\n"))
    sources = yaml.safe_load(corpus.file.read_text())["sources"]
    sources["notes"]["max_bad"] = {"fraction": 0.001, "block": True}
    work = runner(changed(corpus, sources=sources))
    with pytest.raises(ChecksFailedError, match=r"raw 2026-08-01\|notes: blocking check bad_records failed"):
        work.run("raw", KEY)
    assert work.store.manifest("raw", KEY) is None
    assert work.store.files.walk() == ["failed/raw/snapshot=2026-08-01/source=notes/report.json"]
    part.write_bytes(sound)
    work.run("raw", KEY)
    assert not any(name.startswith("failed") for name in work.store.files.walk())


def test_an_unreadable_record_is_quarantined_and_warned_of_not_lost(corpus):
    part = corpus.file.parent / "notes" / "2026-08-01" / "part-1.jsonl.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes()) + b"\nno json\n"))
    done = runner(corpus).run("raw", KEY)
    assert done.manifest.dropped == {"read:not_json": 1}
    assert done.manifest.counts["documents_in"] == done.manifest.counts["documents"] + 1
    assert [c.name for c in done.checks if not c.passed] == ["bad_records"]
    kept = next(runner(corpus).store.read_parts("raw", KEY, dropped=True))
    assert kept.column("content").to_pylist() == [b"no json"]


def test_moving_a_corpus_changes_no_byte(corpus, tmp_path_factory):
    run_chain(runner(corpus))
    moved = tmp_path_factory.mktemp("elsewhere") / "deeper"
    shutil.copytree(corpus.file.parent, moved, ignore=shutil.ignore_patterns("data"))
    there = runner(load(moved / "recipe.yaml"))
    run_chain(there)
    for product in TO_FILTERED:
        assert there.store.manifest(product, KEY) == runner(corpus).store.manifest(product, KEY)


def test_a_static_source_lies_in_the_first_snapshot_and_its_other_cells_are_committed_empty(corpus):
    work = runner(corpus)
    assert work.run("raw", "2026-08-01|books").manifest.counts["documents"] > 0
    empty = work.run("raw", "2026-09-01|books").manifest
    assert (empty.counts["documents"], empty.files) == (0, ())


def test_a_pattern_that_matches_nothing_in_any_snapshot_is_refused_before_any_work(corpus):
    sources = yaml.safe_load(corpus.file.read_text())["sources"]
    sources["books"]["paths"] = ["books/*.txt", "boks/*.md"]
    work = runner(changed(corpus, sources=sources))
    with pytest.raises(RecipeError, match=r"recipe.yaml: sources.books.paths.1 = 'boks/\*.md' matches no file"):
        work.validate()
    sources["books"]["paths"] = ["boks/*.md"]
    with pytest.raises(RecipeError, match=r"sources.books.paths = \['boks/\*.md'\] match no file in any snapshot"):
        runner(changed(corpus, sources=sources)).run("raw", "2026-08-01|books")


def test_overrides_inside_a_source_hold_for_it_alone(corpus):
    sources = yaml.safe_load(corpus.file.read_text())["sources"]
    sources["books"] |= {"clean": {"pii": "keep"}, "filter": {}, "dedup": {"exact": False, "minhash": None}}
    work = runner(changed(corpus, sources=sources, filter={"length": {"min": 10**9}}))
    for key, kept in ((KEY, 0), ("2026-08-01|books", 13)):
        run_chain(work, key=key)
        assert (work.store.manifest("filtered", key).counts["documents"] > 0) == (kept > 0)
    table = (
        next(work.store.read_parts("signatures", "2026-08-01|books"))
        if work.run("signatures", "2026-08-01|books")
        else None
    )
    assert table.column("signature").null_count == table.column("text_hash").null_count == len(table)


def test_a_recipe_that_says_nothing_drops_nothing_but_what_cannot_be_read(corpus):
    recipe = yaml.safe_load(corpus.file.read_text())
    plain = {k: recipe[k] for k in ("root", "snapshots", "sources", "compute")}
    corpus.file.write_text(yaml.safe_dump(plain))
    work = runner(load(corpus.file))
    for cell in work.corpus.cells(PRODUCTS):
        assert sum(work.run(*cell).manifest.dropped.values()) == 0
    tokenized = work.store.manifest("tokenized", KEY)
    assert tokenized.format["tokenizer"] == "gpt2"
    assert tokenized.counts["documents"] == work.store.manifest("raw", KEY).counts["documents"]


def test_masking_leaves_no_address_and_says_how_many_it_masked(corpus):
    work = runner(corpus)
    work.run("raw", KEY)
    done = work.run("cleaned", KEY)
    assert done.report.counts["pii:email"] >= 6
    assert all(
        "@example.com" not in text for t in work.store.read_parts("cleaned", KEY) for text in t["text"].to_pylist()
    )


def test_shingles_lie_beside_a_part_of_signatures_and_are_sealed_read_and_swept_with_it(corpus):
    work = runner(corpus)
    run_chain(work, (*TO_FILTERED, "signatures"))
    manifest = work.store.manifest("signatures", KEY)
    for part, beside in zip(manifest.files[::2], manifest.files[1::2], strict=True):
        table = work.store.read_part("signatures", KEY, part.name)
        size = np.asarray(table["num_distinct"], np.int64)
        start = np.cumsum(size) - size
        every = work.store.beside.read_spans("signatures", KEY, beside.name, start, size)
        assert beside.bytes == 4 * len(every) > 0
        own = work.store.beside.read_spans("signatures", KEY, beside.name, start[1:2], size[1:2])
        assert own.tolist() == every[size[0] : size[0] + size[1]].tolist() == sorted(set(own.tolist()))
    assert sum(len(t) for t in work.store.read_parts("signatures", KEY)) == manifest.counts["documents"]
    file = Path(corpus.root) / "signatures/snapshot=2026-08-01/source=notes" / manifest.files[-1].name
    file.write_bytes(file.read_bytes()[:-4])
    assert [f.note for f in verify(corpus.root) if f.kind == "damaged"]
    with pytest.raises(ManifestError, match="it was cut"):
        work.store.beside.read_spans("signatures", KEY, manifest.files[-1].name, start[-1:], size[-1:])
    dedup = yaml.safe_load(corpus.file.read_text())["dedup"]
    dedup["minhash"]["verify"] = "estimate"
    work = runner(changed(corpus, dedup=dedup))
    work.run("signatures", KEY)
    assert not [name for name in work.store.files.walk("signatures") if "_shingles" in name]


def test_scope_partition_looks_for_copies_within_a_source_only(corpus):
    folder = corpus.file.parent
    twin = json.loads(gzip.decompress((folder / "notes/2026-08-01/part-0.jsonl.gz").read_bytes()).splitlines()[0])[
        "text"
    ]
    (folder / "books" / "twin.txt").write_text(twin, encoding="utf-8")
    dedup = yaml.safe_load(corpus.file.read_text())["dedup"]
    found = {}
    for scope in ("snapshot", "partition"):
        work = runner(changed(corpus, root=f"./{scope}", dedup=dedup | {"scope": scope}))
        for cell in [c for c in work.corpus.cells(["duplicates"]) if c[1].startswith("2026-08-01")]:
            work.run(*cell)
        rows = [r for t in work.store.read_parts("duplicates", "2026-08-01") for r in t.to_pylist()]
        found[scope] = [r for r in rows if r["source"] != r["match_source"]]
    assert len(found["snapshot"]) == 1
    assert found["snapshot"][0]["reason"] == "exact:duplicate"
    assert found["partition"] == []


def test_progress_is_told_for_each_unit(corpus):
    told: list[Progress] = []
    work = Work(corpus, executor=Executor("inline"), listener=told.append)
    done = work.run("raw", KEY)
    assert [p.done for p in told] == list(range(1, told[-1].units + 1))
    assert sum(1 for _ in told) >= 1
    assert told[-1].bytes == done.manifest.counts["bytes_in"]
    assert told[-1].told.startswith(f"unit {told[-1].done} of {told[-1].units}")
    assert told[-1].told.endswith(", 0 s left")


def test_a_flipped_byte_in_a_product_is_found(corpus):
    work = runner(corpus)
    run_chain(work, ("raw", "cleaned"))
    assert all(f.kind == "ok" for f in verify(corpus.root))
    name = (
        Path(corpus.root)
        / "cleaned/snapshot=2026-08-01/source=notes"
        / work.store.manifest("cleaned", KEY).files[0].name
    )
    data = bytearray(name.read_bytes())
    data[len(data) // 2] ^= 1
    name.write_bytes(data)
    damaged = [f for f in verify(corpus.root) if f.kind == "damaged"]
    assert [Path(f.name).name for f in damaged] == [name.name]


def test_a_mix_that_would_repeat_a_source_too_often_says_what_would_work(tmp_path, corpus):
    mixes = {"pretrain": {"tokens": 10_000_000, "weights": {"notes": 0.5, "books": 0.5}}}
    work = runner(load(write_recipe(corpus.file.parent, mixes=mixes)))
    for cell in work.corpus.cells(["tokenized"]):
        work.run(*cell)
    with pytest.raises(RecipeError, match="max_epochs"):
        work.run("mixed", "pretrain")
