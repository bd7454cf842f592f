"""Output bytes are a function of data and recipe: not of workers, order of partitions, or kills."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ray_cluster import loopback
from small_corpus import write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import Corpus, Progress, Work
from dataassets.store import PRODUCTS, Manifest, Store

Cell = tuple[str, str]


def build(work: Work, order: list[Cell]) -> dict[Cell, Manifest]:
    for cell in order:
        work.run(*cell)
    return committed(work.store, work.corpus)


def committed(store: Store, corpus: Corpus) -> dict[Cell, Manifest]:
    found = {}
    for cell in corpus.cells(PRODUCTS):
        manifest = store.manifest(*cell)
        assert manifest is not None, cell
        found[cell] = manifest
    return found


def any_allowed_order(corpus: Corpus, seed: int) -> list[Cell]:
    """A random topological order of all cells."""
    chance = random.Random(seed)
    left = {cell: set(corpus.upstream(*cell)) for cell in corpus.cells(PRODUCTS)}
    order: list[Cell] = []
    while left:
        ready = sorted(cell for cell, needs in left.items() if needs <= set(order))
        order.append(chance.choice(ready))
        del left[order[-1]]
    return order


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder)
    return folder


@pytest.fixture(scope="module")
def straight(place: Path) -> dict[Cell, Manifest]:
    work = Work(load(write_recipe(place, root="./straight")), executor=Executor("inline"))
    return build(work, work.corpus.cells(PRODUCTS))


def test_counts_balance_at_every_stage(straight):
    for (product, _), manifest in straight.items():
        if "documents_in" in manifest.counts:
            assert manifest.counts["documents_in"] == manifest.counts["documents"] + sum(manifest.dropped.values()), (
                product
            )


def test_every_stage_did_something(straight):
    dropped = {
        product: sum(sum(m.dropped.values()) for (p, _), m in straight.items() if p == product) for product in PRODUCTS
    }
    assert dropped["deduped"] >= 6
    assert all(m.counts["documents"] > 0 for (p, key), m in straight.items() if p == "tokenized" and "notes" in key)
    empty = [m for (p, key), m in straight.items() if key == "2026-09-01|books"]
    assert len(empty) == 7
    assert all(m.counts["documents"] == 0 for m in empty)


@pytest.mark.parametrize(("seed", "workers"), [(1, 1), (2, 2), (3, 4)])
def test_any_order_and_any_number_of_workers_give_the_same_manifests(place, straight, seed, workers):
    with Executor("process", workers=workers) as executor:
        work = Work(load(write_recipe(place, root=f"./order-{seed}")), executor=executor)
        found = build(work, any_allowed_order(work.corpus, seed))
    assert {cell: m.to_bytes() for cell, m in found.items()} == {cell: m.to_bytes() for cell, m in straight.items()}


@pytest.mark.slow
def test_a_ray_cluster_that_loses_a_node_twice_gives_the_same_manifests(place, straight):
    pytest.importorskip("ray", reason="wants Ray: make cluster")
    losses = {"cleaned": 2, "mixed": 3}  # after how many units of it

    def lose(progress: Progress) -> None:
        if losses.get(progress.product, 0) == progress.done:
            del losses[progress.product]
            cluster.replace_a_node(0)

    with loopback() as cluster, Executor("ray", address=cluster.address) as executor:
        work = Work(load(write_recipe(place, root="./ray")), executor=executor, listener=lose)
        found = build(work, any_allowed_order(work.corpus, 4))
    assert not losses
    assert {cell: m.to_bytes() for cell, m in found.items()} == {cell: m.to_bytes() for cell, m in straight.items()}
    assert not (place / "ray" / ".work").exists()


def test_after_a_build_nothing_lies_there_that_no_manifest_names(place, straight):
    store = Store.at(str(place / "straight"))
    named = set()
    for (product, partition), manifest in straight.items():
        folder = store.folder(product, partition)
        named |= {os.path.normpath(f"{folder}/{e.name}") for e in (*manifest.files, *manifest.dropped_files)}
        named.add(f"{folder}/manifest.json")
    assert set(store.files.walk()) - named == {"mixed/pretrain/latest"}


def num_files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


@pytest.mark.slow
def test_kill_9_at_five_moments_then_the_same_command_gives_the_same_digests(place, straight):
    recipe = write_recipe(place, root="./killed", compute={"executor": "process", "workers": 2, "part_bytes": 60000})
    command = [sys.executable, "-m", "dataassets.cli", "build", str(recipe)]
    environment = os.environ | {"DAGSTER_HOME": str(place / "home")}
    whole = len(Store.at(str(place / "straight")).files.walk())
    for files in sorted(random.Random(7).sample(range(1, whole), 5)):  # kill when so many files lie there
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and num_files(place / "killed") < files:
            time.sleep(0.01)
        assert process.poll() is None, f"ended with {process.returncode} before it had written {files} of {whole} files"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    located = load(recipe)
    found = committed(Store.at(located.root), Corpus.of(located))
    assert {c: m.digest for c, m in found.items()} == {c: m.digest for c, m in straight.items()}
    assert not (place / "killed" / ".work").exists()
