"""Test data: a `mixed/<mix>/<key8>/{train,val}` folder as the data side writes it, small and known token by token."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loader.format import FileEntry, Manifest, write_shard

EOT = 50_256


@dataclass(frozen=True)
class Mix:
    """A written mix, and what is in it."""

    path: Path  # mixed/<mix>
    folder: Path  # its key folder
    digest: str
    tokens: dict[str, np.ndarray]  # split -> int64 [all tokens of the split]
    documents: dict[
        str, list[tuple[str, int, str, str, str, int]]
    ]  # split -> (shard, ordinal, id, source, url, tokens)


def write_part(folder, prefix, docs, *, shards, dtype):
    """Write documents (id, source, url, tokens) as so many shards; gives entries, tokens, documents."""
    entries, known = [], []
    for s, part in enumerate(np.array_split(np.arange(len(docs)), shards)):
        mine = [docs[d] for d in part]
        stem = f"{prefix}shard_{s:05d}"
        bin_path = folder / f"{stem}.bin"
        bin_path.parent.mkdir(parents=True, exist_ok=True)
        with bin_path.open("wb") as bin_file, (folder / f"{stem}.idx").open("wb") as idx_file:
            lengths = np.array([len(tokens) for *_, tokens in mine], np.int64)
            write_shard(bin_file, idx_file, (tokens for *_, tokens in mine), lengths, dtype=dtype)
        table = pa.table(
            {
                "id": pa.array([doc[0] for doc in mine], pa.binary(16)),
                "source": pa.array([doc[1] for doc in mine], pa.string()),
                "url": pa.array([doc[2] for doc in mine], pa.string()),
            }
        )
        pq.write_table(table, folder / f"{stem}.docs.parquet")
        for suffix in (".bin", ".idx", ".docs.parquet"):
            data = (folder / f"{stem}{suffix}").read_bytes()
            entries.append(FileEntry(f"{stem}{suffix}", len(mine), len(data), hashlib.sha256(data).hexdigest()))
        known += [(f"{stem}.bin", d, doc[0].hex(), *doc[1:3], len(doc[3])) for d, doc in enumerate(mine)]
    tokens = np.concatenate([np.zeros(0, np.int64), *(doc[3] for doc in docs)])
    return entries, tokens, known


def make_docs(num, *, seed, longest=60, vocab_size=50_257):
    """Documents of 1 to `longest` random tokens, the last of each the end-of-text token."""
    rng = np.random.default_rng(seed)
    docs = []
    for d in range(num):
        tokens = np.append(rng.integers(0, vocab_size - 1, rng.integers(0, longest)), vocab_size - 1)
        doc_id = hashlib.md5(f"{seed}/{d}".encode()).digest()
        docs.append((doc_id, ["web", "code"][d % 2], f"https://example.org/{seed}/{d}", tokens))
    return docs


def write_mix(root, *, train=120, val=20, shards=3, dtype="uint16", seed=0, longest=60, latest=True):
    """Write one build of a mix under root/mixed/demo."""
    key = hashlib.sha256(f"{train} {val} {shards} {dtype} {seed} {longest}".encode()).hexdigest()
    path = root / "mixed" / "demo"
    folder = path / key[:8]
    entries, tokens, documents = [], {}, {}
    for split, num, count in (("train", train, shards), ("val", val, 1)):
        docs = make_docs(num, seed=seed * 2 + (split == "val"), longest=longest)
        files, tokens[split], documents[split] = write_part(folder, f"{split}/", docs, shards=count, dtype=dtype)
        entries += files
    digest = hashlib.sha256(b"".join(tokens[split].tobytes() for split in tokens)).hexdigest()
    manifest = Manifest(
        product="mixed",
        partition="demo",
        inputs={"tokenized/2026-10-01|web": "0" * 64},
        settings={"seed": 1},
        code_version="1",
        key=key,
        files=tuple(entries),
        dropped_files=(),
        counts={"documents": train + val, "tokens": sum(map(len, tokens.values()))},
        dropped={},
        checks=[],
        digest=digest,
        format={"dtype": dtype, "tokenizer": "gpt2", "tokenizer_sha256": "0" * 64, "vocab_size": 50_257, "eot": EOT},
    )
    (folder / "manifest.json").write_bytes(manifest.to_bytes())
    if latest:
        (path / "latest").write_text(f"{folder.name}\n")
    return Mix(path=path, folder=folder, digest=digest, tokens=tokens, documents=documents)


@pytest.fixture(scope="session")
def mix_writer():
    """write_mix, for tests that want another size, dtype or seed."""
    return write_mix


@pytest.fixture(scope="session")
def mix(tmp_path_factory):
    return write_mix(tmp_path_factory.mktemp("store"))


@pytest.fixture
def fresh_mix(tmp_path):
    """A mix of one's own, to damage."""
    return write_mix(tmp_path)
