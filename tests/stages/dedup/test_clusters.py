"""Connected components: one document of each stays, and their partition is datatrove's where the signatures are."""

import re
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from stages.dedup.planted import documents_of, true_jaccard
from stages.dedup.worlds import (
    K,
    alike,
    chain,
    found,
    history,
    ids_of,
    in_memory,
    keys_of,
    part_of,
    spread,
    with_minhash,
    world,
)

from dataassets import recipe as rc
from dataassets import records
from dataassets.stages.dedup import EXACT, find_duplicates, sign
from dataassets.stages.text import OTHER_SYMBOLS, code_points, words

SHARED = Path(__file__).parents[4] / "shared/data"
GOLDEN, DOCS = SHARED / "golden_datatrove.parquet", SHARED / "docs.parquet"


def slow_clusters(snapshots, asked):
    """The keeper of each row that goes, by labels that spread along pairs; and all verified pairs."""
    rows, kept_before, gone, pairs = [], {}, {}, {}
    for own in snapshots:
        first, members = len(rows), {key: list(kept) for key, kept in kept_before.items()}
        rows += own
        label = list(range(len(rows)))
        for d, row in enumerate(own, first):
            for key in keys_of(row, asked.minhash):
                bucket = members.setdefault(key, [])
                for e in bucket[:K]:
                    exact = key[0] == "exact" or pairs.get((d, e), (False,))[0]
                    x, enough = (1.0, True) if exact else alike(asked.minhash, row, rows[e])
                    if enough:
                        pairs[d, e] = exact, x
                bucket.append(d)
        while any(label[d] != label[e] for d, e in pairs if d >= first):
            for d, e in pairs:
                if d >= first:
                    label[d] = label[e] = min(label[d], label[e])
        for oldest in set(label):
            group = [d for d in range(len(rows)) if label[d] == oldest]
            longest = min(group, key=lambda d: (-len(rows[d].shingles), d))
            keeper = oldest if asked.cluster == "first" or oldest < first else longest
            gone |= {d: keeper for d in group if d >= first and d != keeper}
        kept_before = {key: [d for d in bucket if d not in gone] for key, bucket in members.items()}
    return gone, pairs, rows


@settings(max_examples=100)
@given(history, st.sampled_from(["first", "longest"]), st.sampled_from(["exact", "estimate", "none"]))
def test_one_of_each_component_stays(snapshots, keep, verify):
    asked = with_minhash(verify=verify).model_copy(update={"scope": "history", "cluster": keep})
    told = chain(snapshots, asked)
    gone, pairs, rows = slow_clusters(snapshots, asked)
    assert np.concatenate([f.gone for f, _ in told]).tolist() == sorted(gone)
    ids = ids_of(snapshots)
    for (d, keeper), row in zip(sorted(gone.items()), [r for f, _ in told for r in f.table.to_pylist()], strict=True):
        exact, x = pairs.get((max(d, keeper), min(d, keeper))) or (
            False,
            alike(asked.minhash, rows[d], rows[keeper])[0],
        )
        assert (row["id"], row["match_id"]) == (ids[d], ids[keeper])
        assert (row["reason"] == EXACT, row["similarity"]) == (exact, np.float32(x))


@settings(max_examples=50)
@given(world, st.sampled_from(["first", "longest"]))
def test_the_kept_of_a_snapshot_are_a_subset_of_those_that_the_rule_keeps(rows, keep):
    """A chain loses more: that is why it is not the default."""
    asked = with_minhash(verify="exact")
    plain = found(rows, settings=asked)
    clustered = found(rows, settings=asked.model_copy(update={"cluster": keep}))
    assert len(clustered.gone) >= len(plain.gone)
    if keep == "first":
        assert set(plain.gone) <= set(clustered.gone)


# ---- datatrove's signatures, from its own normalization and hash functions (FILTERS §5)

NUMBER = re.compile(r"\d+([.,،٫⎖⎗⎘]\d+)?")  # \d of str is category Nd
MARKS = dict.fromkeys(code_points(OTHER_SYMBOLS), " ")
MERSENNE = np.uint64((1 << 61) - 1)


def normalized(text):
    plain = NUMBER.sub("0", text.lower()).translate(MARKS)
    plain = unicodedata.normalize("NFD", " ".join(plain.split()))
    return "".join(c for c in plain if unicodedata.category(c) != "Mn").strip()


def their_signatures(texts):
    generator = np.random.RandomState(seed=1)
    a = generator.randint(1, MERSENNE, dtype=np.uint64, size=(1, 112))
    b = generator.randint(0, MERSENNE, dtype=np.uint64, size=(1, 112))
    for text in texts:
        cut = words(normalized(text))
        shingles = {xxhash.xxh64_intdigest(" ".join(cut[i : i + 5]).encode()) for i in range(len(cut) - 4)}
        if not shingles:
            yield None
            continue
        x = np.array(sorted(shingles), np.uint64)[:, None]
        yield ((x * a + b) % MERSENNE).min(axis=0).astype(np.uint32)  # equal low halves mean equal values


@pytest.fixture(scope="module")
def golden():
    """Texts, and datatrove's groups of more than one."""
    table = pq.read_table(GOLDEN, columns=["id", "mh_cluster", "mh_removed"])
    texts = dict(zip(*pq.read_table(DOCS, columns=["id", "text"]).to_pydict().values(), strict=True))
    groups = {}
    for i, cluster in enumerate(table["mh_cluster"].to_pylist()):
        if cluster is not None:
            groups.setdefault(cluster, set()).add(i)
    assert len(groups) == 10
    assert sum(table["mh_removed"].to_pylist()) == sum(len(group) - 1 for group in groups.values())
    return [texts[i] for i in table["id"].to_pylist()], {frozenset(group) for group in groups.values()}


def partition(table, asked):
    """Groups of more than one that share a kept document."""
    got = find_duplicates([part_of(table, "web", 0)], settings=asked, exchange=in_memory, spread=spread, num_buckets=4)
    row = {doc: i for i, doc in enumerate(table["id"].to_pylist())}
    groups = {}
    for doc, kept in zip(got.table["id"].to_pylist(), got.table["match_id"].to_pylist(), strict=True):
        groups.setdefault(row[kept], {row[kept]}).add(row[doc])
    return {frozenset(group) for group in groups.values()}


@pytest.mark.skipif(not GOLDEN.exists(), reason="no shared data here")
def test_with_datatroves_signatures_the_partition_is_datatroves(golden):
    texts, theirs = golden
    ids = [i.to_bytes(16, "big") for i in range(len(texts))]
    none, zeros = [None] * len(texts), [0] * len(texts)
    columns = [ids, none, list(their_signatures(texts)), zeros, zeros, none]
    table = pa.table(columns, schema=records.with_shingles(records.signatures(112)))
    assert partition(table, rc.Dedup(minhash=rc.MinHash(verify="none"), cluster="first")) == theirs


@pytest.mark.skipif(not GOLDEN.exists(), reason="no shared data here")
def test_with_our_own_signatures_each_group_of_datatroves_is_one_and_others_are_near_enough_in_truth(golden):
    """Words are lower-cased here and nothing else, there numbers, marks and accents go as well: short texts differ."""
    texts, theirs = golden
    asked = rc.Dedup(minhash=rc.MinHash(), cluster="first")
    ours = partition(sign(documents_of(texts), settings=asked)[0], asked)
    assert theirs <= ours
    for group in ours - theirs:
        first, *others = ([*zip(*(cut[k:] for k in range(5)), strict=False)] for cut in cuts_of(texts, group))
        assert all(true_jaccard(set(first), set(other)) >= asked.minhash.threshold for other in others)


def cuts_of(texts, group):
    return [words(texts[i].lower()) for i in sorted(group)]
