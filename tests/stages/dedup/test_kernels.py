"""Compiled loops equal their plain forms."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.stages.dedup.kernels import resolve, shingle_hashes, sign_shingles
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
