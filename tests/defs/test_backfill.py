"""A real web server and daemon on loopback: a backfill that is stopped by its middle snapshot, mended, completes."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_corpus import write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import Located, load
from dataassets.runner import PROMISES, Corpus, Work
from dataassets.store import PRODUCTS, Store

MIDDLE = "2026-09-01"
SOURCES = {
    "notes": {"format": "jsonl", "paths": ["notes/{snapshot}/*.jsonl.gz"], "max_bad": {"fraction": 0.01, "block": True}}
}
MIXES = {"pretrain": {"tokens": 30000, "weights": {"notes": 1.0}, "val_fraction": 0.1}}

LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
STATUS = """query($id: String!) { partitionBackfillOrError(backfillId: $id) {
  __typename ... on PartitionBackfill { status } ... on PythonError { message } } }"""
CHECKS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  assetChecksOrError { ... on AssetChecks { checks { name executionForLatestMaterialization { status } } } } } } }"""


class Dagster:
    """`dataassets ui` on a recipe, spoken to as the browser does."""

    def __init__(self, located: Located, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.log = home / "ui.log"
        home.mkdir()
        command = [
            sys.executable,
            "-m",
            "dataassets.cli",
            "ui",
            str(located.file),
            "--port",
            self.url.rsplit(":", 1)[1],
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | {"DAGSTER_HOME": str(home)}, stdout=log, stderr=log, start_new_session=True
            )

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        assert "errors" not in found, found
        (value,) = found["data"].values()
        return value

    def wait_until_up(self, *, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            try:
                nodes = self.ask("{ assetNodes { assetKey { path } } }")
            except OSError:
                nodes = {}
            if len(nodes) == len(PRODUCTS):
                return
            time.sleep(0.5)
        raise AssertionError(self.log.read_text()[-3000:])

    def backfill(self, cells: Iterable[tuple[str, str]], *, seconds: float = 420) -> str:
        """Launch a backfill of some partitions, wait for its end, return its status."""
        by_asset: dict[str, list[dict[str, str]]] = {}
        for product, key in cells:
            by_asset.setdefault(product, []).append({"start": key, "end": key})
        asked = [{"assetKey": {"path": [p]}, "partitions": {"ranges": ranges}} for p, ranges in by_asset.items()]
        launched = self.ask(LAUNCH, p={"partitionsByAssets": asked})
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.ask(STATUS, id=launched["backfillId"])["status"]
            if status not in ("REQUESTED", "CANCELING", "FAILING"):
                return status
            time.sleep(1)
        raise AssertionError(self.log.read_text()[-3000:])

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_corpus(tmp_path)
    return tmp_path


@pytest.fixture
def dagster(place: Path) -> Iterator[Dagster]:
    server = Dagster(load(write_recipe(place, sources=SOURCES, mixes=MIXES)), place / "home")
    try:
        server.wait_until_up()
        yield server
    finally:
        server.stop()


@pytest.mark.slow
def test_a_failing_middle_snapshot_stops_what_depends_on_it_and_the_mended_backfill_completes(place, dagster):
    part = place / "notes" / MIDDLE / "part-1.jsonl.gz"
    sound = part.read_bytes()
    part.write_bytes(gzip.compress(gzip.decompress(sound) + b"\nno json\nnor this\n", mtime=0))
    located = load(place / "recipe.yaml")
    corpus, store = Corpus.of(located), Store.at(located.root)

    assert dagster.backfill(corpus.cells(PRODUCTS)) == "COMPLETED_FAILED"
    there = {cell for cell in corpus.cells(PRODUCTS) if store.manifest(*cell) is not None}
    stopped = {cell for cell in corpus.cells(PRODUCTS) if MIDDLE in cell[1] or cell[0] == "mixed"}
    assert there == set(corpus.cells(PRODUCTS)) - stopped
    assert (Path(located.root) / "failed" / "raw" / f"snapshot={MIDDLE}" / "source=notes" / "report.json").exists()

    part.write_bytes(sound)
    assert dagster.backfill(sorted(stopped)) == "COMPLETED_SUCCESS"
    digests = {cell: store.manifest(*cell).digest for cell in corpus.cells(PRODUCTS)}
    checks = dagster.ask(CHECKS, key={"path": ["filtered"]})["assetChecksOrError"]["checks"]
    states = {c["name"]: c["executionForLatestMaterialization"]["status"] for c in checks}
    assert states == dict.fromkeys((p.name for p in PROMISES["filtered"]), "SUCCEEDED")

    inline = Work(load(write_recipe(place, root="./inline", sources=SOURCES, mixes=MIXES)), executor=Executor("inline"))
    for cell in inline.corpus.cells(PRODUCTS):
        assert inline.run(*cell).manifest.digest == digests[cell]
