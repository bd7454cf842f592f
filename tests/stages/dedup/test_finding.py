"""The rule, against a slow plain reference; and that nothing but the documents and their order decides."""

import functools
import itertools
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets import hashing, records
from dataassets import recipe as rc
from dataassets.stages.dedup import EXACT, NEAR, Part, find_duplicates, sign
from dataassets.stages.dedup.candidates import signatures_of
from dataassets.stages.dedup.kernels import sign_shingles
from dataassets.stages.dedup.minhash import band_keys, permutations
from dataassets.stages.text import words

DOCS = Path(__file__).parents[4] / "shared/data/docs.parquet"
NUM_PERM, BANDS, K = 8, 4, 8
NUM_SEEDS = 12
SETTINGS = rc.Dedup(exact=True, minhash=rc.MinHash(num_perm=NUM_PERM, bands=BANDS, threshold=0.625))


def in_memory(units, scatter, gather, *, num_buckets, shuffle=None):
    """The exchange, all in memory; with `shuffle`, rows of a bucket arrive in another order."""
    scatter, gather = (pickle.loads(pickle.dumps(call)) for call in (scatter, gather))  # noqa: S301
    rows = pa.concat_tables([scatter(unit) for unit in units]) if units else None
    results = []
    for bucket in range(num_buckets if rows is not None else 0):
        own = rows.filter(pa.array(np.asarray(rows["bucket"]) == bucket)).drop_columns(["bucket"])
        if shuffle is not None:
            own = own.take(pa.array(np.random.default_rng(shuffle).permutation(len(own))))
        results.append(gather(bucket, own))
    assert rows is None or max(rows["bucket"].to_pylist(), default=0) < num_buckets
    return results


def signatures(rows, *, num_perm=NUM_PERM):
    """Rows (source, hash or None, signature or None) as records.signatures."""
    ids = [hashing.document_id("s", "o", i) for i in range(len(rows))]
    hashes = [None if h is None else bytes([h]) * 16 for _, h, _ in rows]
    return pa.table([ids, hashes, [s for _, _, s in rows], [0] * len(rows)], schema=records.signatures(num_perm))


def load(table):
    return table


def parts_of(rows, *, cut=10**6):
    """Parts of at most `cut` rows of one source."""
    table, parts, first = signatures(rows), [], 0
    for source, own in itertools.groupby(rows, key=lambda row: row[0]):
        num = len(list(own))
        for start in range(0, num, cut):
            size = min(cut, num - start)
            piece = table.slice(first + start, size)
            parts.append(Part(functools.partial(load, piece), source, first + start, size))
        first += num
    return parts


def found(rows, *, settings=SETTINGS, cut=10**6, num_buckets=3, shuffle=None):
    meet = functools.partial(in_memory, shuffle=shuffle)
    return find_duplicates(parts_of(rows, cut=cut), settings=settings, exchange=meet, num_buckets=num_buckets)


def slow(rows, settings):
    """The rule as it is written: (row, match, exact, similarity) of each dropped row."""
    minhash, apart = settings.minhash, settings.scope == "partition"
    buckets, dropped = {}, {}
    width = minhash.num_perm // minhash.bands if minhash else 0
    for d, (source, text_hash, signature) in enumerate(rows):
        keys = [] if text_hash is None else [("exact", text_hash)]
        if signature is not None and minhash:
            keys += [(b, tuple(signature[b * width : (b + 1) * width])) for b in range(minhash.bands)]
        partners = {}
        for key in keys:
            members = buckets.setdefault((key, source if apart else ""), [])
            for e in members[:K]:
                partners[e] = partners.get(e, False) or key[0] == "exact"
            members.append(d)
        kept = []
        for e, exact in partners.items():
            equal = 1.0 if exact else np.mean([x == y for x, y in zip(signature, rows[e][2], strict=True)])
            if e not in dropped and (exact or minhash.verify == "none" or equal >= minhash.threshold):
                kept.append((not exact, e, equal))
        if kept:
            not_exact, e, equal = min(kept)
            dropped[d] = (d, e, not not_exact, np.float32(equal))
    return list(dropped.values())


value = st.integers(0, 1)
row = st.tuples(
    st.one_of(st.none(), st.integers(0, 30)),
    st.one_of(st.none(), st.lists(value, min_size=NUM_PERM, max_size=NUM_PERM)),
)
world = st.lists(row, max_size=40).flatmap(
    lambda rows: st.integers(0, len(rows)).map(
        lambda k: [("web" if i < k else "code", h, s) for i, (h, s) in enumerate(rows)]
    )
)


@settings(deadline=None, max_examples=150)
@given(world, st.sampled_from(["snapshot", "partition"]), st.sampled_from(["estimate", "none"]))
def test_the_rule(rows, scope, verify):
    asked = SETTINGS.model_copy(
        update={"scope": scope, "minhash": SETTINGS.minhash.model_copy(update={"verify": verify})}
    )
    table, report = found(rows, settings=asked)
    wanted = slow(rows, asked)
    ids = signatures(rows)["id"].to_pylist()
    assert table.schema.equals(records.DUPLICATES)
    assert table.to_pylist() == [
        {
            "id": ids[d],
            "source": rows[d][0],
            "match_id": ids[e],
            "match_source": rows[e][0],
            "similarity": equal,
            "reason": EXACT if exact else NEAR,
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
def test_cut_buckets_and_arrival_change_nothing(rows, cut, num_buckets, shuffle):
    table, report = found(rows)
    other, told = found(rows, cut=cut, num_buckets=num_buckets, shuffle=shuffle)
    assert other.equals(table)
    assert told == report


def test_more_copies_than_k_all_go_to_the_first():
    rows = [("web", 1, [1] * NUM_PERM)] * 40
    table, report = found(rows)
    assert len(table) == 39
    assert set(table["match_id"].to_pylist()) == {signatures(rows)["id"][0].as_py()}
    assert report.counts["pairs:exact"] == sum(min(d, K) for d in range(40))


def test_a_source_without_minhash_or_exact_takes_no_part_in_it():
    rows = [("web", 1, [1] * NUM_PERM), ("web", 2, [1] * NUM_PERM), ("code", 1, None), ("code", 2, None)]
    table, _ = found(rows)
    assert table["reason"].to_pylist() == [
        NEAR,
        EXACT,
    ]
    off = signatures([("code", 1, None)], num_perm=0)
    parts = [*parts_of(rows[:2]), Part(functools.partial(load, off), "code", 2, 1)]
    table, _ = find_duplicates(parts, settings=SETTINGS, exchange=in_memory, num_buckets=2)
    assert table["source"].to_pylist() == ["web", "code"]


def test_nothing_in_nothing_out():
    for parts in ([], parts_of([]), parts_of([("web", None, None)])):
        table, report = find_duplicates(parts, settings=SETTINGS, exchange=in_memory, num_buckets=2)
        assert table.schema.equals(records.DUPLICATES)
        assert len(table) == 0
        assert report.samples == {}


def test_only_parts_that_hold_pairs_are_read_again():
    reads = []

    def spy(part, k):
        reads.append(k)
        return part

    rows = [("web", k, [k % 2**32] * NUM_PERM) for k in range(20)] + [("web", 3, [3] * NUM_PERM)]
    table = signatures(rows)
    parts = [Part(functools.partial(spy, table.slice(k, 1), k), "web", k, 1) for k in range(len(rows))]

    def unpickled(units, scatter, gather, *, num_buckets):
        return [gather(0, pa.concat_tables([scatter(unit) for unit in units]).drop_columns(["bucket"]))]

    find_duplicates(parts, settings=SETTINGS, exchange=unpickled, num_buckets=1)
    assert reads == [*range(21), 3, 20]


def test_signatures_of_another_shape_are_refused():
    rows = [("web", None, [1] * NUM_PERM)]
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
        keys = band_keys(signature, num_bands=14, salt=0)
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
    table = pa.table([ids, [None] * 2 * num, rows, [400] * 2 * num], schema=records.signatures(112))
    parts = [Part(functools.partial(load, table), "web", 0, 2 * num)]
    gone, report = find_duplicates(parts, settings=rc.Dedup(minhash=asked), exchange=in_memory, num_buckets=4)
    curve = 1 - (1 - jaccard**8) ** 14
    assert abs(len(gone) / num - curve) <= 4 * (curve * (1 - curve) / num) ** 0.5 + 0.01
    place = {i: k for k, i in enumerate(ids)}
    assert all(
        place[d] == place[e] + 1 and place[e] % 2 == 0
        for d, e in zip(*(gone[c].to_pylist() for c in ("id", "match_id")), strict=True)
    )
    estimated = asked.model_copy(update={"verify": "estimate"})
    verified, told = find_duplicates(parts, settings=rc.Dedup(minhash=estimated), exchange=in_memory, num_buckets=4)
    assert told.counts["pairs:candidate"] == report.counts["pairs:candidate"]
    assert min(verified["similarity"].to_pylist(), default=1) >= np.float32(0.7)
    assert len(verified) == sum(x >= 0.7 for x in gone["similarity"].to_pylist())
    assert told.histograms["similarity"].limits == (0.7,)
