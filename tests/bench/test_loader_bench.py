"""Loader rows: batches of 16 x 2048 from the page cache, inputs and labels as int64, beside a peer and a floor.

    pytest tests/bench/test_loader_bench.py --benchmark-only --benchmark-columns=median,iqr,rounds

The machine's own speed drifts: compare rows of one run only, by their medians. `extra_info` holds Mtok/s.
"""

import hashlib
from itertools import chain, islice, repeat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loader import BatchStream, Loader, TokenDataset
from loader.fetch import compiled
from loader.format import FileEntry, Manifest, write_shard

BATCH, SEQ_LEN, NUM_SHARDS, SHARD_TOKENS = 16, 2_048, 4, 16_000_000
BATCHES_A_ROUND, ROUNDS = 200, 15
pytestmark = pytest.mark.benchmark(group=f"loader {BATCH} x {SEQ_LEN}")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Shards of random tokens with documents of a thousand, 128 MB in all, just written and so in the page cache."""
    folder, entries = tmp_path_factory.mktemp("mix"), []
    (folder / "train").mkdir()
    rng, num_docs = np.random.default_rng(1), SHARD_TOKENS // 1_000
    for s in range(NUM_SHARDS):
        stem = folder / f"train/shard_{s:05d}"
        tokens = rng.integers(0, 50_257, SHARD_TOKENS, dtype=np.uint16)
        with stem.with_suffix(".bin").open("wb") as bin_file, stem.with_suffix(".idx").open("wb") as idx_file:
            write_shard(bin_file, idx_file, [tokens], np.full(num_docs, 1_000), dtype="uint16")
        ids = pa.array([(s * num_docs + d).to_bytes(16, "big") for d in range(num_docs)], pa.binary(16))
        pq.write_table(
            pa.table({"id": ids, "source": ["web"] * num_docs, "url": [""] * num_docs}), f"{stem}.docs.parquet"
        )
        for suffix in (".bin", ".idx", ".docs.parquet"):
            data = stem.with_name(stem.name + suffix).read_bytes()
            name = f"train/{stem.name}{suffix}"
            entries.append(FileEntry(name, num_docs, len(data), hashlib.sha256(data).hexdigest()))
    manifest = Manifest(
        product="mixed",
        partition="bench",
        inputs={},
        settings={},
        code_version="1",
        key="0" * 64,
        files=tuple(entries),
        dropped_files=(),
        counts={},
        dropped={},
        checks=[],
        digest="0" * 64,
        format={"dtype": "uint16", "vocab_size": 50_257, "eot": 50_256},
    )
    (folder / "manifest.json").write_bytes(manifest.to_bytes())
    return TokenDataset(folder, seq_len=SEQ_LEN)


class Memmap:
    """The usual data set for torch's DataLoader: windows of memmaps, cast one by one."""

    def __init__(self, paths):
        import torch

        self.torch, self.maps = torch, [np.memmap(path, np.uint16, "r") for path in paths]
        self.each = (len(self.maps[0]) - 1) // SEQ_LEN

    def __len__(self):
        return self.each * len(self.maps)

    def __getitem__(self, i):
        start = i % self.each * SEQ_LEN
        window = self.torch.from_numpy(self.maps[i // self.each][start : start + SEQ_LEN + 1].astype(np.int64))
        return {"input_ids": window[:-1], "labels": window[1:]}


def take(benchmark, batches):
    """Time rounds of batches from an endless iterator."""

    def one_round():
        for batch in islice(batches, BATCHES_A_ROUND):
            assert len(batch) == 2

    benchmark.pedantic(one_round, rounds=ROUNDS, warmup_rounds=3)
    rate = BATCHES_A_ROUND * BATCH * SEQ_LEN / benchmark.stats.stats.median / 1e6
    benchmark.extra_info["Mtok_per_s"] = round(rate, 1)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize("prefetch", [0, 4])
@pytest.mark.parametrize("face", [Loader, BatchStream])
def test_loader(benchmark, dataset, face, prefetch, engine, monkeypatch):
    compiled.make(2)  # as it is after the first 64 batches
    monkeypatch.setattr(compiled, "_loops", compiled._loops if engine == "compiled" else {})
    monkeypatch.setattr(compiled, "_asked", {2: compiled.PATIENCE})
    batches = face(dataset, batch_size=BATCH, rank=0, world_size=1, prefetch=prefetch)
    take(benchmark, chain.from_iterable(repeat(batches)))


@pytest.mark.parametrize("num_workers", [0, 2])
def test_torch_dataloader_over_memmaps(benchmark, dataset, num_workers):
    from torch.utils.data import DataLoader

    memmap = Memmap(sorted(dataset.folder.glob("train/*.bin")))
    peer = DataLoader(memmap, BATCH, shuffle=True, num_workers=num_workers, persistent_workers=num_workers > 0)
    take(benchmark, chain.from_iterable(repeat(peer)))


def test_floor_random_windows_into_one_kept_buffer(benchmark, dataset):
    maps = [np.memmap(path, np.uint16, "r").view(np.ndarray) for path in sorted(dataset.folder.glob("train/*.bin"))]
    buffer = np.empty((BATCH, SEQ_LEN + 1), np.int64)
    rng = np.random.default_rng(1)
    places = np.stack(
        [rng.integers(0, NUM_SHARDS, (512, BATCH)), rng.integers(0, SHARD_TOKENS - SEQ_LEN - 1, (512, BATCH))], axis=-1
    ).tolist()

    def batches():
        for batch in chain.from_iterable(repeat(places)):
            for b, (shard, start) in enumerate(batch):
                buffer[b] = maps[shard][start : start + SEQ_LEN + 1]
            yield buffer, buffer

    take(benchmark, batches())
