"""MinHash signatures a second, beside datasketch: `pytest tests/bench --benchmark-only`, rows of a group in one run.

The text is the standard library's own sources (5 MB), so a bench needs no data.
"""

import functools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import xxhash
from datasketch import MinHash
from stages.dedup.planted import documents_of, planted_texts
from stages.dedup.worlds import part_of

from dataassets import recipe as rc
from dataassets.stages.dedup import sign, warm_up
from dataassets.stages.dedup.documents import documents_at
from dataassets.stages.dedup.kernels import shingle_hashes, sign_shingles
from dataassets.stages.dedup.minhash import permutations
from dataassets.stages.dedup.verifying import similarities
from dataassets.stages.text import compiled, words
from dataassets.store import Causes, Store

SETTINGS = rc.Dedup(minhash=rc.MinHash())
NUM_PERM, NGRAM = SETTINGS.minhash.num_perm, SETTINGS.minhash.ngram


@pytest.fixture(scope="module")
def texts():
    warm_up()
    return [path.read_text() for path in sorted(Path(os.__file__).parent.glob("*.py"))]


@pytest.fixture(scope="module")
def cut(texts):
    return [words(text.lower()) for text in texts]


def told(benchmark, texts):
    num_bytes = sum(len(text.encode()) for text in texts)
    benchmark.extra_info["MB_per_s"] = round(num_bytes / 1e6 / benchmark.stats.stats.median, 2)


@compiled
def sign_all(word_hashes, first, a, b, out):
    """Word hashes of all documents to signatures: the kernel alone."""
    longest = 0
    for d in range(len(first) - 1):
        longest = max(longest, first[d + 1] - first[d])
    mine, shingles = np.empty(longest, np.uint64), np.empty(longest, np.uint32)
    for d in range(len(first) - 1):
        num = first[d + 1] - first[d]
        mine[:num] = word_hashes[first[d] : first[d + 1]]
        sign_shingles(shingles, shingle_hashes(mine, num, NGRAM, shingles), a, b, out[d])


def by_datasketch(shingles, base):
    made = []
    for some in shingles:
        minhash = MinHash(num_perm=NUM_PERM, scheme="affine32", hashfunc=xxhash.xxh32_intdigest, permutations=base)
        minhash.update_batch(some)
        made.append(minhash.hashvalues)
    return made


def shingles_of(cut):
    return [[" ".join(w[i : i + NGRAM]).encode() for i in range(len(w) - NGRAM + 1)] for w in cut]


@pytest.mark.benchmark(group="minhash, words given")
def test_kernel(benchmark, texts, cut):
    a, b = permutations(num_perm=NUM_PERM, seed=1)
    hashes = np.array([xxhash.xxh3_64_intdigest(w.encode()) for one in cut for w in one], np.uint64)
    first = np.cumsum([0, *map(len, cut)])
    out = np.zeros((len(cut), NUM_PERM), np.uint32)
    benchmark.pedantic(sign_all, (hashes, first, a, b, out), rounds=7, warmup_rounds=1)
    told(benchmark, texts)
    assert out.any()


@pytest.mark.benchmark(group="minhash, words given")
def test_datasketch_update_batch_xxh32(benchmark, texts, cut):
    base = MinHash(num_perm=NUM_PERM, scheme="affine32").permutations
    benchmark.pedantic(lambda: by_datasketch(shingles_of(cut), base), rounds=3)
    told(benchmark, texts)


@pytest.mark.benchmark(group="minhash, whole stage from text")
def test_sign(benchmark, texts):
    documents = pa.table(
        {"id": pa.array([bytes(16)] * len(texts), pa.binary(16)), "text": pa.array(texts, "large_string")}
    )
    table, _ = benchmark.pedantic(lambda: sign(documents, settings=SETTINGS), rounds=7, warmup_rounds=1)
    told(benchmark, texts)
    assert table["signature"].null_count < len(texts)


@pytest.mark.benchmark(group="minhash, whole stage from text")
def test_datasketch_with_words_by_pyarrow(benchmark, texts):
    """The fastest words that Python offers: split at white space; ours are cut finer, so this side has less to do."""
    base = MinHash(num_perm=NUM_PERM, scheme="affine32").permutations
    column = pa.array(texts)

    def whole():
        return by_datasketch(shingles_of(pc.utf8_split_whitespace(pc.utf8_lower(column)).to_pylist()), base)

    benchmark.pedantic(whole, rounds=3)
    told(benchmark, texts)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Signed documents of 4,000 words in pairs, their shingles in a file as the store writes them."""
    texts = planted_texts(500, seed=1, length=4000)
    table, _ = sign(documents_of(texts), settings=SETTINGS)
    store = Store.at(str(tmp_path_factory.mktemp("store")))
    job = Causes({}, {}, "1").job("signatures", "2026-08-01|web")
    flat = [np.asarray(chunk.flatten()) for chunk in table["shingles"].chunks]
    entry = store.beside.write_spans(job, 0, "shingles", flat, rows=len(table))
    read = functools.partial(store.beside.read_spans, job.product, job.partition, entry.name.rpartition("/")[2])
    return texts, replace(part_of(table, "web", 0), shingles=read)


@pytest.mark.benchmark(group="verification beside signing, 500 pairs of 4,000 words")
@pytest.mark.parametrize("verify", ["exact", "estimate"])
def test_verify(benchmark, pairs, verify):
    texts, part = pairs
    settings = rc.Dedup(minhash=rc.MinHash(verify=verify))
    docs = documents_at(np.arange(len(texts)), [part], settings=settings)
    later, earlier = np.arange(1, len(texts), 2), np.arange(0, len(texts), 2)

    def inline(work, blocks):
        return [work(block) for block in blocks]

    found = benchmark(lambda: similarities(docs, later, earlier, parts=[part], settings=settings, spread=inline))
    benchmark.extra_info["pairs_per_s"] = round(len(later) / benchmark.stats.stats.median)
    assert found.min() > 0.5


@pytest.mark.benchmark(group="verification beside signing, 500 pairs of 4,000 words")
def test_sign_the_same_documents(benchmark, pairs):
    documents = documents_of(pairs[0])
    benchmark.pedantic(lambda: sign(documents, settings=SETTINGS), rounds=5, warmup_rounds=1)
    told(benchmark, pairs[0])
