"""Compiled loops equal their plain forms."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.stages.dedup.kernels import jaccard, resolve, shingle_hashes, sign_sets, sign_shingles, sort_distinct
from dataassets.stages.dedup.minhash import permutations, shingle_hash

M32 = (1 << 32) - 1


def fnv(word):
    h = 0xCBF29CE484222325
    for byte in word:
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


@given(st.lists(st.sampled_from([b"a", b"b", b"the", "é".encode(), b"..."]), max_size=30), st.integers(1, 14))
def test_rolling_shingles_are_the_hash_of_each_run_of_words(words, ngram):
    out = np.zeros(len(words) + 1, np.uint32)
    num = shingle_hashes(np.array([fnv(w) for w in words], np.uint64), len(words), ngram, out)
    wanted = [shingle_hash(b" ".join(words[i : i + ngram])) for i in range(len(words) - ngram + 1)]
    assert out[:num].tolist() == wanted


def fmix32(x):
    x = (x ^ x >> 16) * 0x85EBCA6B & M32
    x = (x ^ x >> 13) * 0xC2B2AE35 & M32
    return x ^ x >> 16


@settings(deadline=None)
@given(st.lists(st.integers(0, M32), min_size=1, max_size=20), st.integers(1, 13), st.integers(0, 5))
def test_a_signature_is_the_least_value_of_each_permutation(shingles, num_perm, seed):
    a, b = permutations(num_perm=num_perm, seed=seed)
    out = np.zeros(num_perm, np.uint32)
    sign_shingles(np.array(shingles, np.uint32), len(shingles), a, b, out)
    mixed = [fmix32(x) for x in shingles]
    assert out.tolist() == [
        min((ai * x + bi) & M32 for x in mixed) for ai, bi in zip(a.tolist(), b.tolist(), strict=True)
    ]


many = st.lists(st.integers(0, M32) | st.integers(0, 50), max_size=60) | st.integers(1, 3000).map(
    lambda n: np.random.default_rng(n).integers(0, 2**32 if n % 2 else n, n).tolist()
)


@settings(deadline=None)
@given(many)
def test_sorted_and_distinct(values):
    own = np.array([*values, 7], np.uint32)
    left = sort_distinct(own, len(values), np.empty(len(values), np.uint32), np.empty(6144, np.int64))
    assert own[:left].tolist() == sorted(set(values))
    assert own[-1] == 7


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, M32), max_size=5), max_size=6), st.integers(1, 5))
def test_sets_are_signed_one_by_one(sets, num_perm):
    a, b = permutations(num_perm=num_perm, seed=1)
    flat = [x for one in sets for x in one]
    values, sizes = np.array(flat, np.uint32), np.array([len(one) for one in sets], np.int32)
    out = np.full((len(sets), num_perm), 9, np.uint32)
    sign_sets(values, sizes, a, b, out)
    for one, signature in zip(sets, out, strict=True):
        wanted = np.full(num_perm, 9, np.uint32)
        if one:
            sign_shingles(np.array(one, np.uint32), len(one), a, b, wanted)
        assert signature.tolist() == wanted.tolist()
    assert values.tolist() == flat


@settings(deadline=None)
@given(st.lists(st.frozensets(st.integers(0, 12) | st.integers(M32 - 3, M32), max_size=10), min_size=1, max_size=8))
def test_jaccard_is_that_of_the_sets(sets):
    values = np.array([x for one in sets for x in sorted(one)], np.uint32)
    sizes = np.array([len(one) for one in sets])
    left, right = (x.ravel() for x in np.meshgrid(np.arange(len(sets)), np.arange(len(sets))))
    out = np.empty(len(left))
    jaccard(values, np.cumsum(sizes) - sizes, sizes, left, right, out)
    wanted = [len(sets[i] & sets[j]) / max(len(sets[i] | sets[j]), 1) for i, j in zip(left, right, strict=True)]
    assert out.tolist() == wanted


pairs = st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(lambda p: p[0] > p[1]))


@settings(deadline=None)
@given(pairs, st.randoms(use_true_random=False))
def test_a_document_goes_iff_an_earlier_partner_stays(pairs, random):
    rows = sorted(pairs)
    exact = [random.random() < 0.4 for _ in rows]
    match = np.full(13, -1, np.int64)
    later, earlier = (np.array([p[k] for p in rows], np.int64) for k in (0, 1))
    resolve(later, earlier, np.array(exact, bool), match)
    gone = set()
    for d in range(13):
        kept = [(not exact[k], rows[k][1], k) for k in range(len(rows)) if rows[k][0] == d and rows[k][1] not in gone]
        assert (match[d] >= 0) == bool(kept)
        if kept:  # exact partners first, then the earliest
            gone.add(d)
            assert match[d] == min(kept)[2]
