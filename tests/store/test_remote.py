"""A root behind a URL is a root like any other: the same road, the same digests."""

import uuid
from pathlib import Path

import pytest
from small_corpus import write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import Work
from dataassets.store import PRODUCTS, Files, garbage, verify
from dataassets.store.layout import folder


def built(place: Path, root: str) -> Work:
    """The small corpus, one snapshot of it."""
    snapshots = {"start": "2026-08-01", "end": "2026-08-01", "cadence": "monthly"}
    work = Work(load(write_recipe(place, root=root, snapshots=snapshots)), executor=Executor("inline"))
    for cell in work.corpus.cells(PRODUCTS):
        work.run(*cell)
    return work


@pytest.fixture(scope="module")
def works(tmp_path_factory):
    place = tmp_path_factory.mktemp("corpus")
    write_corpus(place, snapshots=("2026-08-01",), copies=3)
    with pytest.MonkeyPatch.context() as patch:
        (place / "tmp").mkdir()
        patch.setattr("tempfile.tempdir", str(place / "tmp"))
        yield place, built(place, "./data"), built(place, f"memory://{uuid.uuid4()}/corpus")


def test_a_remote_root_holds_the_bytes_of_a_local_one(works):
    _, local, remote = works
    assert not remote.store.files.is_local
    cells = local.corpus.cells(PRODUCTS)
    for cell in cells:
        assert local.store.manifest(*cell) == remote.store.manifest(*cell), cell
    assert local.store.manifest("mixed", "pretrain").counts["documents"] > 0
    assert local.store.files.walk() == remote.store.files.walk()


def test_nothing_stays_on_this_machine(works):
    place, _, _ = works
    assert [str(p) for p in (place / "tmp").rglob("*")] == []
    assert not Path("memory:").exists()  # what a URL taken for a path would make


def test_a_second_run_skips_all(works):
    _, _, remote = works
    assert all(remote.run(*cell).skipped for cell in remote.corpus.cells(PRODUCTS))


def test_a_remote_root_is_verified_and_swept(works):
    _, _, remote = works
    root, files = remote.store.files.root, remote.store.files
    assert {f.kind for f in verify(root)} == {"ok"}
    assert {f.kind for f in verify(f"{root}/mixed/pretrain")} == {"ok"}
    cells = remote.corpus.cells(PRODUCTS)
    keep = {f"mixed/{key}" if product == "mixed" else folder(product, key) for product, key in cells}
    assert garbage(root, keep=keep) == []
    name = next(n for n in files.walk("dropped") if n.endswith(".parquet"))
    data = files.read(name)
    files.write(name, data[:-1])
    assert [f.name for f in verify(root) if f.kind == "damaged"] == [name]
    files.write(name, data)


def test_no_listing_is_remembered_as_other_processes_write_too():
    assert not Files(f"memory://{uuid.uuid4()}")._fs.dircache.use_listings_cache
