"""A model in the graph: made of all that it reads, pinned by its bytes in what asks it, made again when it must."""

import math
import os
import shutil
import uuid

import pyarrow as pa
import pytest
import tiny_lm
import yaml
from model_corpus import SNAPSHOTS, write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.models import CACHE_ENV
from dataassets.recipe import Located, RecipeError, load
from dataassets.runner import ChecksFailedError, UpstreamError, Work
from dataassets.runner.trying import Tuner
from dataassets.store import garbage, verify
from dataassets.store.layout import folder

MODEL = ("quality_model", "all")
WEB = f"{SNAPSHOTS[0]}|web"
TO_FILTERED = ("filtered",)


def runner(located: Located) -> Work:
    return Work(located, executor=Executor("inline"))


def changed(located: Located, **changes: object) -> Located:
    recipe = yaml.safe_load(located.file.read_text()) | changes
    located.file.write_text(yaml.safe_dump({k: v for k, v in recipe.items() if v is not None}, sort_keys=False))
    return load(located.file)


def build(work: Work, products: tuple[str, ...] = TO_FILTERED) -> dict[tuple[str, str], bool]:
    """Make some products and what they need; whether each was reused."""
    return {cell: work.run(*cell).skipped for cell in work.corpus.cells(products)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The corpus, filtered; for reading only."""
    place = tmp_path_factory.mktemp("models")
    write_corpus(place)
    work = runner(load(write_recipe(place)))
    build(work)
    return work


@pytest.fixture
def copy(made, tmp_path):
    """A copy of it, to be changed."""
    place = shutil.copytree(made.corpus.located.file.parent, tmp_path / "copy")
    return load(place / "recipe.yaml")


def test_without_a_section_there_is_no_such_product(tmp_path):
    write_corpus(tmp_path)
    work = runner(load(write_recipe(tmp_path, filter={})))
    plain = runner(changed(work.corpus.located, quality_model=None))
    assert set(work.corpus.products) - set(plain.corpus.products) == {"quality_model"}
    assert plain.corpus.partitions("quality_model") == []
    for cell in plain.corpus.cells(plain.corpus.products):
        assert plain.corpus.upstream(*cell) == work.corpus.upstream(*cell), cell
        assert plain.corpus.settings(*cell) == work.corpus.settings(*cell), cell
    with pytest.raises(
        RecipeError, match="quality_model has no partition 'all'; take one of none, as there is no sect"
    ):
        plain.run(*MODEL)


def test_every_cell_comes_after_what_it_needs(made):
    seen = set()
    for cell in made.corpus.cells(made.corpus.products):
        assert set(made.corpus.upstream(*cell)) <= seen, cell
        seen.add(cell)


def test_it_reads_cleaned_of_its_sources_and_signals_of_who_asks_read_it(made):
    corpus = made.corpus
    assert set(corpus.upstream(*MODEL)) == {("cleaned", f"{s}|{x}") for s in SNAPSHOTS for x in ("books", "web")}
    assert corpus.upstream("signals", WEB) == [("cleaned", WEB), MODEL]
    books = f"{SNAPSHOTS[0]}|books"
    assert corpus.upstream("signals", books) == [("cleaned", books)]


def test_the_digest_is_that_of_the_bytes_and_signals_are_pinned_by_it(made):
    manifest = made.store.manifest(*MODEL)
    (entry,) = manifest.files
    assert made.store.files.sha256(f"quality_model/{entry.name}") == entry.sha256
    assert made.store.manifest("signals", WEB).inputs["/".join(MODEL)] == manifest.digest
    assert manifest.format["auc"] > 0.6
    assert [c["name"] for c in manifest.checks if not c["passed"]] == []


def test_the_score_is_a_column_of_who_asks_only(made):
    def columns(source):
        return next(made.store.read_parts("signals", f"{SNAPSHOTS[0]}|{source}")).column_names

    assert "quality_score" in columns("web")
    assert "quality_score" not in columns("books")
    dropped = made.store.manifest("filtered", WEB).dropped
    assert set(dropped) == {"quality:low_score"}
    assert 0 < dropped["quality:low_score"] < 70


def test_a_changed_limit_measures_nothing_again(copy):
    skipped = build(runner(changed(copy, filter={"quality": {"min_score": 0.7}})))
    assert {cell[0] for cell, was in skipped.items() if not was} == {"filtered"}
    assert {cell[1] for cell, was in skipped.items() if not was} == {f"{s}|web" for s in SNAPSHOTS}


def test_a_changed_training_makes_stale_what_asks_it_and_no_more(copy):
    recipe = yaml.safe_load(copy.file.read_text())
    work = runner(changed(copy, quality_model=recipe["quality_model"] | {"epoch": 3}))
    assert work.ledger.state(*MODEL) == "stale"
    assert work.ledger.state("signals", WEB) == work.ledger.state("filtered", WEB) == "stale"
    assert work.ledger.state("signals", f"{SNAPSHOTS[0]}|books") == "there"
    with pytest.raises(UpstreamError, match=r"signals .* needs quality_model all, which is stale"):
        work.run("signals", WEB)
    skipped = build(work)
    assert {cell[0] for cell, was in skipped.items() if not was} == {"quality_model", "signals", "filtered"}
    assert all(was for cell, was in skipped.items() if cell[1].endswith("books"))


def test_equal_bytes_from_other_settings_leave_all_else_as_it_is(copy):
    recipe = yaml.safe_load(copy.file.read_text())
    # none of the classes has so many: the sample, and so the model, is the same
    work = runner(changed(copy, quality_model=recipe["quality_model"] | {"per_class": 190_000}))
    skipped = build(work)
    assert {cell[0] for cell, was in skipped.items() if not was} == {"quality_model"}


def test_snapshots_narrow_what_is_read(copy):
    recipe = yaml.safe_load(copy.file.read_text())
    narrow = recipe["quality_model"] | {"snapshots": {"to": SNAPSHOTS[0]}}
    work = runner(changed(copy, quality_model=narrow))
    assert {p for _, p in work.corpus.upstream(*MODEL)} == {f"{SNAPSHOTS[0]}|{x}" for x in ("books", "web")}
    wrong = recipe["quality_model"] | {"snapshots": {"to": "2027-01-01"}}
    with pytest.raises(RecipeError, match=r"quality_model\.snapshots\.to = 2027-01-01: no such snapshot; take one of"):
        runner(changed(copy, quality_model=wrong)).validate()


@pytest.mark.parametrize("fraction", [0.1, 0.5, 1.0])
def test_a_share_of_each_partition_is_kept_to_the_document(copy, fraction):
    work = runner(changed(copy, filter={"quality": {"keep_fraction": fraction}}))
    skipped = build(work)
    assert {cell[0] for cell, was in skipped.items() if not was} == {"filtered"}
    for snapshot in SNAPSHOTS:
        key = f"{snapshot}|web"
        signals = pa.concat_tables(work.store.read_parts("signals", key, columns=["id", "quality_score"])).to_pylist()
        assert len(work.store.manifest("signals", key).files) > 1
        kept = {i.as_py() for t in work.store.read_parts("filtered", key) for i in t.column("id")}
        ranked = sorted(signals, key=lambda row: (-row["quality_score"], row["id"]))
        wanted = math.ceil(round(fraction * len(ranked), 6))
        assert kept == {row["id"] for row in ranked[:wanted]}


def test_a_model_by_path_trains_nothing(copy, made):
    (entry,) = made.store.manifest(*MODEL).files
    shutil.copy(made.store.files.path(f"quality_model/{entry.name}"), copy.file.parent / "given.bin")
    work = runner(changed(copy, quality_model=None, filter={"quality": {"model": "given.bin"}}))
    assert MODEL not in work.corpus.cells(TO_FILTERED)
    build(work)
    for theirs, ours in zip(made.store.read_parts("signals", WEB), work.store.read_parts("signals", WEB), strict=True):
        assert theirs.equals(ours)


def test_too_few_examples_commit_nothing(copy):
    recipe = yaml.safe_load(copy.file.read_text())
    work = runner(changed(copy, quality_model=recipe["quality_model"] | {"per_class": 9}))
    with pytest.raises(ChecksFailedError, match="quality_model all: blocking check enough_examples failed"):
        build(work)
    assert work.store.files.walk("failed") == ["failed/quality_model/all/report.json"]
    assert work.ledger.state(*MODEL) == "stale"  # the old one is still there
    assert garbage(work.store.files.root, keep={folder(*c) for c in work.corpus.cells(TO_FILTERED)}) == []


def test_every_byte_is_verified_and_a_recipe_without_it_sweeps_it(copy):
    work = runner(copy)
    root = work.store.files.root
    assert {f.kind for f in verify(root)} == {"ok"}
    (entry,) = work.store.manifest(*MODEL).files
    assert garbage(root, keep={folder(*c) for c in work.corpus.cells(TO_FILTERED)}) == []
    rest = {folder(*c) for c in work.corpus.cells(TO_FILTERED) if c != MODEL}
    assert garbage(root, keep=rest) == sorted([f"quality_model/{entry.name}", "quality_model/manifest.json"])
    file = copy.file.parent / "data/quality_model" / entry.name
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert [f.name for f in verify(root) if f.kind == "damaged"] == [f"quality_model/{entry.name}"]


def test_a_model_made_again_leaves_no_older_file(copy):
    recipe = yaml.safe_load(copy.file.read_text())
    work = runner(changed(copy, quality_model=recipe["quality_model"] | {"epoch": 3}))
    build(work, ("quality_model",))
    assert len(work.store.files.walk("quality_model")) == 2
    assert work.store.files.walk(".work") == []


def test_a_remote_root_gives_the_same_and_its_workers_read_a_checked_copy(copy, made, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_ENV, str(tmp_path / "cache"))
    remote = runner(changed(copy, root=f"memory://{uuid.uuid4()}/corpus"))
    build(remote)
    for cell in made.corpus.cells(TO_FILTERED):
        assert remote.store.manifest(*cell) == made.store.manifest(*cell), cell
    (copied,) = (tmp_path / "cache").rglob("*.bin")
    (entry,) = remote.store.manifest(*MODEL).files
    assert copied.stat().st_size == entry.bytes
    copied.write_bytes(b"damaged")
    remote.store.local_copy(type(entry)(f"quality_model/{entry.name}", entry.rows, entry.bytes, entry.sha256))
    assert copied.stat().st_size == entry.bytes


def test_processes_and_parts_of_another_size_train_the_same_model(copy, made):
    compute = {"executor": "process", "workers": 2, "part_bytes": 60000}
    located = changed(copy, root="./elsewhere", compute=compute)
    with Executor("process", workers=2) as pool:
        work = Work(located, executor=pool)
        for cell in work.corpus.cells(("quality_model",)):
            work.run(*cell)
    ours, theirs = work.store.manifest(*MODEL), made.store.manifest(*MODEL)
    assert ours.digest == theirs.digest
    assert ours.format == theirs.format


# ---- the language model

LANGUAGE_MODEL = {"perplexity_model": {"sources": ["books"], "order": 2}, "quality_model": None}


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """KenLM's programs, or what stands in for them."""
    (tmp_path / "bin").mkdir()
    tiny_lm.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


def test_a_language_model_is_made_of_its_sources_and_judges_by_share(copy, programs):
    pytest.importorskip("kenlm", reason="wants the extra [kenlm]")
    work = runner(changed(copy, filter={"perplexity": {"keep": ["head"]}}, **LANGUAGE_MODEL))
    work.validate()
    build(work)
    manifest = work.store.manifest("perplexity_model", "all")
    assert {name.split("|")[-1] for name in manifest.inputs} == {"books"}
    assert manifest.counts["grams:2"] > manifest.counts["grams:1"] > 100
    assert work.store.manifest("signals", WEB).inputs["perplexity_model/all"] == manifest.digest
    signals = pa.concat_tables(work.store.read_parts("signals", WEB, columns=["id", "perplexity"])).to_pylist()
    ranked = sorted(signals, key=lambda row: (row["perplexity"], row["id"]))
    kept = {i.as_py() for t in work.store.read_parts("filtered", WEB) for i in t.column("id")}
    assert kept == {row["id"] for row in ranked[: math.ceil(round(0.3 * len(ranked), 6))]}
    assert set(work.store.manifest("filtered", WEB).dropped) == {"perplexity:middle", "perplexity:tail"}
    again = build(runner(changed(copy, filter={"perplexity": {"max": 1e6}})))
    assert {cell[0] for cell, was in again.items() if not was} == {"filtered"}
    assert {f.kind for f in verify(work.store.files.root)} == {"ok"}


def test_parts_of_another_size_estimate_the_same_language_model(copy, programs, tmp_path):
    works = []
    for root, size in (("./one", 4000), ("./two", 60000)):
        compute = {"executor": "inline", "part_bytes": size}
        works.append(runner(changed(copy, root=root, filter={}, compute=compute, **LANGUAGE_MODEL)))
        build(works[-1], ("perplexity_model",))
    one, two = (work.store.manifest("perplexity_model", "all") for work in works)
    assert one.digest == two.digest
    assert one.counts == two.counts


def test_without_kenlms_programs_a_build_says_so_before_any_work(copy, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    work = runner(changed(copy, filter={}, **LANGUAGE_MODEL))
    with pytest.raises(RecipeError, match="perplexity_model: lmplz and build_binary of KenLM not on PATH"):
        work.validate()


def test_a_share_tried_is_the_share_that_a_build_keeps(copy):
    now = runner(copy)
    then = changed(copy, filter={"quality": {"keep_fraction": 0.3}})
    outcome = Tuner(now.corpus.located).tried([then])
    work = runner(then)
    build(work)
    dropped = [work.store.manifest("filtered", f"{s}|web").dropped["quality:low_score"] for s in SNAPSHOTS]
    assert outcome.then[0].tallies["web"].dropped["quality:low_score"] == sum(dropped) == 120 - 21 - 15
