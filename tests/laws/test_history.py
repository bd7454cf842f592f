"""Dedup over history: what was built snapshot by snapshot, in any order, or mended, is what a fresh build makes."""

import datetime as dt
import gzip
import json
import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from small_corpus import SNAPSHOTS, topic_texts, write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import CODE_VERSIONS, Corpus, Ledger, UpstreamError, Work
from dataassets.runner.duplicates import Past, _checks
from dataassets.store import Causes, Manifest, verify

FIRST, SECOND, THIRD = SNAPSHOTS
BEFORE = ("raw", "cleaned", "signals", "filtered", "signatures")
DEDUP = {"scope": "history", "priority": ["books", "notes"], "exact": True, "minhash": {"num_perm": 112, "bands": 14}}


def write_again(folder: Path, snapshot: str, texts: list[str]) -> None:
    """One more file of a snapshot."""
    rows = [json.dumps({"text": text, "url": f"https://again.example/{snapshot}/{n}"}) for n, text in enumerate(texts)]
    file = folder / "notes" / snapshot / "part-9.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))


def changed(text: str, *, every: int) -> str:
    """A near-copy: some words exchanged."""
    return " ".join(f"w{i}" if i % every == every - 1 else word for i, word in enumerate(text.split(" ")))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A corpus whose later snapshots bring documents of earlier ones again: as they were, and changed step by step."""
    folder = tmp_path_factory.mktemp("history")
    write_corpus(folder, copies=2)
    texts = topic_texts()
    write_again(folder, SECOND, [texts[0], changed(texts[1], every=60), changed(texts[-1], every=80)])
    twice = changed(changed(texts[1], every=60), every=61)
    write_again(folder, THIRD, [texts[0].upper(), twice, texts[2], "new " * 99])
    return folder


def runner(folder: Path, *, root: str, end: str = THIRD, executor: Executor | None = None) -> Work:
    recipe = write_recipe(folder, root=f"./{root}", dedup=DEDUP, mixes={})
    body = yaml.safe_load(recipe.read_text())
    body["snapshots"]["end"] = end
    body["filter"] = {"length": {"min": 200}}
    recipe.write_text(yaml.safe_dump(body, sort_keys=False))
    return Work(load(recipe), executor=executor or Executor("inline"))


def bytes_of(work: Work) -> dict[str, bytes]:
    """All that lies under a root, manifests included."""
    return {name: work.store.files.read(name) for name in work.store.files.walk()}


def build(work: Work, *products: str) -> Work:
    for cell in work.corpus.cells(products or ["deduped"]):
        work.run(*cell)
    return work


@pytest.fixture(scope="module")
def scratch(place) -> Work:
    return build(runner(place, root="scratch"))


def up_to_signatures(scratch: Work, place: Path, root: str) -> None:
    """A root where all that dedup needs is there already."""
    without = shutil.ignore_patterns("duplicates", "deduped", "stage=deduped")
    shutil.copytree(scratch.store.files.path(""), place / root, ignore=without)


def test_documents_of_earlier_snapshots_go_and_name_the_kept_one(scratch):
    rows = {s: [r for t in scratch.store.read_parts("duplicates", s) for r in t.to_pylist()] for s in SNAPSHOTS}
    matched = {s: [r["match_snapshot"] for r in rows[s] if r["match_snapshot"] != s] for s in SNAPSHOTS}
    assert matched == {FIRST: [], SECOND: [FIRST] * 3, THIRD: [FIRST] * 3}
    reports = [scratch.run("duplicates", s).report.counts for s in (SECOND, THIRD)]
    assert [counts["matches:earlier_snapshots"] for counts in reports] == [3, 3]
    shown = [g for s in (SECOND, THIRD) for g in scratch.run("duplicates", s).report.samples["groups:largest"]]
    every = [r for key in scratch.corpus.partitions("filtered") for r in filtered(scratch, key)]
    texts = {r["id"].hex(): r["text"][:240] for r in every}
    assert all(texts[g["id"]] == g["snippet"] and texts[g["repeated_by"]] == g["repeated_as"] for g in shown)
    books = {r["match_source"] for r in rows[SECOND]}
    assert books == {"books", "notes"}
    gone = {r["id"] for s in SNAPSHOTS for r in rows[s]}
    kept = {r["id"] for s in SNAPSHOTS for x in ("notes", "books") for r in documents(scratch, f"{s}|{x}")}
    assert not gone & kept
    assert {r["match_id"] for s in SNAPSHOTS for r in rows[s]} <= kept


def filtered(work: Work, key: str) -> list[dict]:
    return [r for t in work.store.read_parts("filtered", key) for r in t.to_pylist()]


def documents(work: Work, key: str) -> list[dict]:
    return [r for t in work.store.read_parts("deduped", key) for r in t.to_pylist()]


def test_every_byte_is_named_and_whole(scratch):
    assert {f.kind for f in verify(scratch.corpus.located.root)} == {"ok"}


def test_a_corpus_that_grows_is_the_one_built_at_once(place, scratch):
    for end in SNAPSHOTS:
        grown = build(runner(place, root="grown", end=end))
    assert bytes_of(grown) == bytes_of(scratch)


def test_order_of_work_and_workers_change_no_byte(place, scratch):
    with Executor("process", workers=2) as executor:
        work = runner(place, root="shuffled", executor=executor)
        up_to_signatures(scratch, place, "shuffled")
        chance = random.Random(3)
        left = [cell for cell in work.corpus.cells(["deduped"]) if cell[0] not in BEFORE]
        done: set[tuple[str, str]] = set(work.corpus.cells(["signatures"]))
        while left:
            ready = [cell for cell in left if set(work.corpus.upstream(*cell)) <= done]
            cell = chance.choice(ready)
            work.run(*cell)
            done.add(cell)
            left.remove(cell)
    assert bytes_of(work) == bytes_of(scratch)


def test_a_missing_predecessor_is_named_with_the_command_that_makes_it(place, scratch):
    work = runner(place, root="gap")
    up_to_signatures(scratch, place, "gap")
    with pytest.raises(UpstreamError, match=f"{SECOND} needs duplicates {FIRST}, which is not there; .*--stage"):
        work.run("duplicates", SECOND)
    work.run("duplicates", FIRST)
    work.run("duplicates", SECOND)


def test_an_older_snapshot_made_anew_makes_later_ones_stale_and_a_backfill_from_it_mends_them(place, scratch):
    own = place / "mended"
    own.mkdir()
    for name in ("notes", "books"):
        shutil.copytree(place / name, own / name)
    work = runner(own, root="data")
    shutil.copytree(place / "scratch", own / "data")
    write_again(
        own, FIRST, [changed(topic_texts()[len(topic_texts()) // 2 + 4], every=50)]
    )  # a document of the third one
    for product in BEFORE:
        for source in ("notes", "books"):
            work.run(product, f"{FIRST}|{source}")
    assert [work.ledger.state("duplicates", s) for s in SNAPSHOTS] == ["stale"] * 3
    with pytest.raises(UpstreamError, match=f"needs duplicates {FIRST}, which is stale"):
        work.run("duplicates", SECOND)
    old = {s: work.store.manifest("duplicates", s) for s in SNAPSHOTS}
    work.run("duplicates", FIRST)
    assert [work.ledger.state("duplicates", s) for s in SNAPSHOTS] == ["there", "stale", "stale"]
    with pytest.raises(UpstreamError, match=f"deduped {THIRD}.notes needs duplicates {THIRD}, which is stale"):
        work.run("deduped", f"{THIRD}|notes")
    for snapshot in (SECOND, THIRD):  # the backfill from the snapshot that changed
        assert not work.run("duplicates", snapshot).skipped
    new = {s: work.store.manifest("duplicates", s) for s in SNAPSHOTS}
    assert all(new[s].digest != old[s].digest for s in SNAPSHOTS)  # also of one whose own rows are as they were:
    assert [e.sha256 for e in new[SECOND].files] == [e.sha256 for e in old[SECOND].files]
    build(work)
    assert bytes_of(work) == bytes_of(build(runner(own, root="fresh")))
    listed = [r for t in work.store.read_parts("duplicates", THIRD) for r in t.to_pylist()]
    assert len([r for r in listed if r["match_snapshot"] == FIRST]) == 4


def test_a_match_that_was_dropped_in_an_earlier_snapshot_fails_the_check(scratch):
    store = scratch.store
    dropped = next(store.read_parts("duplicates", FIRST))["id"][0].as_py()
    good = pa.concat_tables(list(store.read_parts("duplicates", SECOND)))
    past = [Past(FIRST, [], (), "")]
    assert all(c.passed for c in _checks(store, good, 50, past))
    row = good.filter(pa.array([s == FIRST for s in good["match_snapshot"].to_pylist()])).slice(0, 1)
    bad = row.set_column(2, row.schema.field("match_id"), pa.array([dropped], pa.binary(16)))
    failed = [c for c in _checks(store, bad, 50, past) if not c.passed]
    assert [(c.name, c.blocking, c.numbers) for c in failed] == [("matches_are_kept", True, {"dropped_matches": 1.0})]


def test_a_long_history_is_no_deep_recursion(place, scratch):
    """More snapshots than Python nests calls, all there and fresh: freshness is looked up oldest first."""
    work = runner(place, root="long")
    snapshots = work.recipe.snapshots.model_copy(update={"cadence": "daily", "end": None})
    located = replace(work.corpus.located, recipe=work.recipe.model_copy(update={"snapshots": snapshots}))
    corpus = replace(work.corpus, located=located, today=snapshots.start + dt.timedelta(days=1200))
    assert len(corpus.snapshots) > sys.getrecursionlimit()
    ledger = Ledger(corpus, AllThere(corpus, scratch.store.manifest("duplicates", FIRST)))
    assert ledger.state("duplicates", corpus.snapshots[-1]) == "there"


class AllThere:
    """A store with every partition, each made of what the recipe says."""

    def __init__(self, corpus: Corpus, like: Manifest) -> None:
        self.corpus, self.like = corpus, like

    def manifest_bytes(self, product: str, partition: str) -> bytes:
        return f"{product} {partition}".encode()

    def manifest(self, product: str, partition: str) -> Manifest:
        inputs = {"/".join(cell): self.like.digest for cell in self.corpus.upstream(product, partition)}
        causes = Causes(inputs, self.corpus.settings(product, partition), CODE_VERSIONS[product])
        return replace(self.like, key=causes.job(product, partition).key, inputs=inputs)
