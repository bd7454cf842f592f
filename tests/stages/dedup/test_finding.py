"""The rule, against a slow plain reference; and that nothing but the documents and their order decides."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stages.dedup.worlds import (
    NUM_PERM,
    SETTINGS,
    SNAPSHOT,
    K,
    Row,
    found,
    in_memory,
    part_of,
    parts_of,
    signatures,
    slow,
    spread,
    with_minhash,
    world,
)

from dataassets import hashing, records
from dataassets import recipe as rc
from dataassets.stages.dedup import EXACT, NEAR, find_duplicates, sign
from dataassets.stages.dedup.candidates import signatures_of
from dataassets.stages.dedup.kernels import sign_shingles
from dataassets.stages.dedup.minhash import band_keys, permutations
from dataassets.stages.text import words

DOCS = Path(__file__).parents[4] / "shared/data/docs.parquet"
NUM_SEEDS = 12


@settings(deadline=None, max_examples=200)
@given(world, st.sampled_from(["snapshot", "partition"]), st.sampled_from(["exact", "estimate", "none"]))
def test_the_rule(rows, scope, verify):
    asked = with_minhash(verify=verify).model_copy(update={"scope": scope})
    table, report, *_ = found(rows, settings=asked)
    wanted = slow([rows], asked)
    ids = signatures(rows, salt=SNAPSHOT)["id"].to_pylist()
    assert table.schema.equals(records.DUPLICATES)
    assert table.to_pylist() == [
        {
            "id": ids[d],
            "source": rows[d].source,
            "match_id": ids[e],
            "match_source": rows[e].source,
            "similarity": equal,
            "reason": EXACT if exact else NEAR,
            "match_snapshot": SNAPSHOT,
        }
        for d, e, exact, equal in wanted
    ]
    gone = {d for d, *_ in wanted}
    assert not gone & {e for _, e, *_ in wanted}
    assert report.counts["documents"] == len(rows)
    assert sum(n for name, n in report.counts.items() if name.startswith("dropped:")) == len(gone)
    assert sum(report.histograms["group_size"].counts) == len({e for _, e, *_ in wanted})
    assert sum(report.histograms["similarity"].counts) == report.counts["pairs:candidate"]


@settings(deadline=None, max_examples=60)
@given(world, st.integers(1, 9), st.integers(1, 12), st.integers(0, 3))
def test_cut_buckets_blocks_and_arrival_change_nothing(rows, cut, num_buckets, shuffle):
    table, report, *_ = found(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dataassets.stages.dedup.verifying.BLOCK_PAIRS", cut)
        patch.setattr("dataassets.stages.dedup.verifying.BLOCK_SHINGLES", 7 * cut)
        other, told, *_ = found(rows, cut=cut, num_buckets=num_buckets, shuffle=shuffle)
    assert other.equals(table)
    assert told == report


def test_more_copies_than_k_all_go_to_the_first():
    rows = [Row("web", 1, [1] * NUM_PERM)] * 40
    table, report, *_ = found(rows)
    assert len(table) == 39
    assert set(table["match_id"].to_pylist()) == {signatures(rows, salt=SNAPSHOT)["id"][0].as_py()}
    assert report.counts["pairs:exact"] == sum(min(d, K) for d in range(40))


def test_a_source_without_minhash_or_exact_takes_no_part_in_it():
    same = [1] * NUM_PERM, frozenset([5])
    rows = [Row("web", 1, *same), Row("web", 2, *same), Row("code", 1, None), Row("code", 2, None)]
    table, *_ = found(rows)
    assert table["reason"].to_pylist() == [NEAR, EXACT]
    parts = [*parts_of(rows[:2]), part_of(signatures([Row("code", 1, None)], num_perm=0), "code", 2)]
    table, *_ = find_duplicates(parts, settings=SETTINGS, exchange=in_memory, spread=spread, num_buckets=2)
    assert table["source"].to_pylist() == ["web", "code"]


def test_nothing_in_nothing_out():
    for parts in ([], parts_of([]), parts_of([Row("web", None, None)])):
        table, report, *_ = find_duplicates(parts, settings=SETTINGS, exchange=in_memory, spread=spread, num_buckets=2)
        assert table.schema.equals(records.DUPLICATES)
        assert len(table) == 0
        assert report.samples == {}


@pytest.mark.parametrize(("verify", "sets"), [("exact", [(3, 1), (20, 1)]), ("estimate", [])])
def test_only_what_pairs_ask_for_is_read_again(verify, sets):
    """Columns of the parts that hold a pair, and the shingles of its two documents; signatures only to estimate."""
    reads, asked = [], []
    rows = [Row("web", k, [k] * NUM_PERM, frozenset([k, 1000])) for k in [*range(20), 3]]
    rows[20] = rows[20]._replace(text_hash=77)
    parts = []
    for part in parts_of(rows, cut=1):

        def load(*, columns, part=part):
            reads.append((part.first, "signature" in columns and "id" in columns))
            return part.load(columns=columns)

        def shingles(starts, sizes, part=part):
            asked.extend((part.first, num // 2) for num in sizes.tolist())
            return part.shingles(starts, sizes)

        parts.append(part.__class__(load, part.source, part.first, 1, SNAPSHOT, shingles))

    def unpickled(units, scatter, gather, *, num_buckets):
        return [gather(0, pa.concat_tables([scatter(unit) for unit in units]).drop_columns(["bucket"]))]

    inline = lambda work, units: [work(unit) for unit in units]  # noqa: E731
    told = find_duplicates(
        parts, settings=with_minhash(verify=verify), exchange=unpickled, spread=inline, num_buckets=1
    )
    assert len(told[0]) == 1
    assert reads == [*((k, False) for k in range(21)), (3, verify != "exact"), (20, verify != "exact")]
    assert asked == sets


def test_signatures_of_another_shape_are_refused():
    rows = [Row("web", None, [1] * NUM_PERM)]
    with pytest.raises(rc.RecipeError, match=r"signatures have 8 values, dedup\.minhash\.num_perm is 12"):
        found(rows, settings=rc.Dedup(minhash=rc.MinHash(num_perm=12, bands=4)))


@pytest.mark.skipif(not DOCS.exists(), reason="no shared data here")
def test_recall_on_natural_near_duplicates_is_that_of_the_curve():
    """Brute-force Jaccard of all pairs of one manual in many languages; the curve, averaged over each bin's pairs."""
    texts = pq.read_table(DOCS, filters=[("source", "=", "web/debian-handbook")])["text"].to_pylist()[::6]
    cut = [words(text.lower()) for text in texts]
    sets = [frozenset(hash(tuple(w[i : i + 5])) for i in range(len(w) - 4)) for w in cut]
    pairs = np.array(list(itertools.combinations(range(len(sets)), 2)))
    equal = np.array([len(sets[d] & sets[e]) for d, e in pairs.tolist()])
    size = np.array([len(one) for one in sets])
    jaccard = equal / (size[pairs].sum(axis=1) - equal)
    ids = [hashing.document_id("s", "o", i) for i in range(len(texts))]
    documents = pa.table({"id": pa.array(ids, pa.binary(16)), "text": pa.array(texts, pa.large_string())})
    met = np.zeros((NUM_SEEDS, len(pairs)))
    for seed in range(NUM_SEEDS):  # natural pairs come in groups that are found or missed together
        asked = rc.Dedup(minhash=rc.MinHash(seed=seed))
        _, signature = signatures_of(sign(documents, settings=asked)[0], settings=asked)
        keys = band_keys(signature, num_bands=14, num_rows=8, salt=0)
        met[seed] = (keys[:, pairs[:, 0]] == keys[:, pairs[:, 1]]).any(axis=0)
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        own = (jaccard >= low) & (jaccard < low + 0.1)
        assert own.sum() > 10
        recall = met[:, own].mean(axis=1)
        curve = (1 - (1 - jaccard[own] ** 8) ** 14).mean()
        assert abs(recall.mean() - curve) < 4 * recall.std() / NUM_SEEDS**0.5 + 0.01
    assert met[:, jaccard < 0.2].mean() < 1e-3


def near_pairs(rng, jaccard, num, *, shared_size=400):
    """Pairs of sets of 32-bit shingles with the given Jaccard similarity."""
    common = round(2 * shared_size * jaccard / (1 + jaccard))
    for _ in range(num):
        pool = rng.choice(2**32, 2 * shared_size - common, replace=False).astype(np.uint32)
        yield pool[:shared_size], pool[shared_size - common :]


@pytest.mark.parametrize("jaccard", [0.5, 0.7, 0.75, 0.8, 0.9, 0.95])
def test_recall_is_that_of_the_curve(jaccard):
    """P(some band agrees) = 1 - (1 - s^R)^B; `none` shows the candidates, `estimate` cuts at the threshold."""
    asked = rc.MinHash(num_perm=112, bands=14, threshold=0.7, verify="none")
    a, b = permutations(num_perm=112, seed=asked.seed)
    rng, num, rows = np.random.default_rng(int(jaccard * 100)), 400, []
    for pair in near_pairs(rng, jaccard, num):
        for shingles in pair:
            out = np.empty(112, np.uint32)
            sign_shingles(shingles.copy(), len(shingles), a, b, out)
            rows.append(out.tolist())
    ids = [hashing.document_id("s", "o", i) for i in range(2 * num)]
    size, none = [400] * 2 * num, [None] * 2 * num
    schema = records.with_shingles(records.signatures(112))
    parts = [part_of(pa.table([ids, none, rows, size, size, none], schema=schema), "web", 0)]
    meet = {"exchange": in_memory, "spread": spread, "num_buckets": 4}
    gone, report, *_ = find_duplicates(parts, settings=rc.Dedup(minhash=asked), **meet)
    curve = 1 - (1 - jaccard**8) ** 14
    assert abs(len(gone) / num - curve) <= 4 * (curve * (1 - curve) / num) ** 0.5 + 0.01
    place = {i: k for k, i in enumerate(ids)}
    assert all(
        place[d] == place[e] + 1 and place[e] % 2 == 0
        for d, e in zip(*(gone[c].to_pylist() for c in ("id", "match_id")), strict=True)
    )
    estimated = asked.model_copy(update={"verify": "estimate"})
    verified, told, *_ = find_duplicates(parts, settings=rc.Dedup(minhash=estimated), **meet)
    assert told.counts["pairs:candidate"] == report.counts["pairs:candidate"]
    assert min(verified["similarity"].to_pylist(), default=1) >= np.float32(0.7)
    assert len(verified) == sum(x >= 0.7 for x in gone["similarity"].to_pylist())
    assert told.histograms["similarity"].limits == (0.7,)
