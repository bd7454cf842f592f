"""What is removed, judged by brute-force Jaccard: nothing wrong with `exact`, and what the LSH curve lets be found."""

import numpy as np
import pytest
from stages.dedup.planted import brute_force, documents_of, planted_texts, sets_of
from stages.dedup.worlds import in_memory, part_of, spread

from dataassets import recipe as rc
from dataassets.stages.dedup import find_duplicates, sign
from dataassets.stages.dedup.kernels import sign_sets
from dataassets.stages.dedup.minhash import band_keys, permutations

NUM_PAIRS, THRESHOLD = 1621, 0.7


@pytest.fixture(scope="module")
def texts():
    return planted_texts(NUM_PAIRS, seed=1)


@pytest.fixture(scope="module")
def jaccard(texts):
    return brute_force(sets_of(texts))


def removed(texts, **changes):
    """Rows that go and rows that each repeats."""
    asked = rc.Dedup(minhash=rc.MinHash(**changes))
    documents = documents_of(texts)
    part = part_of(sign(documents, settings=asked)[0], "web", 0)
    found, *_ = find_duplicates([part], settings=asked, exchange=in_memory, spread=spread, num_buckets=4)
    row = {doc: i for i, doc in enumerate(documents["id"].to_pylist())}
    return {row[d]: row[m] for d, m in zip(found["id"].to_pylist(), found["match_id"].to_pylist(), strict=True)}


def wrong(gone, jaccard):
    """Removed documents that no kept one is near enough to."""
    kept = np.array([d not in gone for d in range(len(jaccard))])
    return [d for d in gone if not (np.maximum(jaccard[:, d], jaccard[d])[kept] >= THRESHOLD).any()]


def test_the_planted_pairs_are_the_only_near_ones_and_spread_over_similarities(jaccard):
    d, e = np.nonzero(jaccard >= 0.5)
    assert (e == d + 1).all()
    assert (d % 2 == 0).all()
    planted = jaccard[np.arange(0, len(jaccard), 2), np.arange(1, len(jaccard), 2)]
    assert min(np.histogram(planted, bins=np.arange(0.4, 1.0, 0.1))[0]) > 100


def test_exact_removes_nothing_wrongly_and_the_others_do(texts, jaccard):
    share = {}
    for verify in ("none", "estimate", "exact"):
        gone = removed(texts, verify=verify)
        assert not set(gone) & set(gone.values())  # of each group something stays
        share[verify] = len(wrong(gone, jaccard)) / len(gone)
    assert share["exact"] == 0
    assert 0 < share["estimate"] < share["none"]


def test_exact_removes_every_candidate_that_is_near_enough(texts, jaccard):
    candidates, gone = removed(texts, verify="none"), removed(texts, verify="exact")
    assert set(gone) == {d for d, e in candidates.items() if jaccard[e, d] >= THRESHOLD}


@pytest.mark.parametrize(("bands", "threshold", "num_perm"), [(14, 0.7, 112), ("auto", 0.8, 128), ("auto", 0.5, 64)])
def test_recall_of_each_bin_is_that_of_the_curve_within_two_points(texts, jaccard, bands, threshold, num_perm):
    minhash = rc.MinHash(num_perm=num_perm, bands=bands, threshold=threshold)
    num_bands, num_rows = minhash.banding
    table, _ = sign(documents_of(texts), settings=rc.Dedup(minhash=minhash))
    values = np.concatenate([np.asarray(chunk.flatten()) for chunk in table["shingles"].chunks])
    sizes = np.asarray(table["num_distinct"])
    planted = jaccard[np.arange(0, len(jaccard), 2), np.arange(1, len(jaccard), 2)]
    met, num_seeds = np.zeros(len(planted)), 24
    for seed in range(num_seeds):
        sig_DH = np.zeros((len(texts), num_perm), np.uint32)
        sign_sets(values, sizes, *permutations(num_perm=num_perm, seed=seed), sig_DH)
        keys = band_keys(sig_DH, num_bands=num_bands, num_rows=num_rows, salt=0)
        met += (keys[:, 0::2] == keys[:, 1::2]).any(axis=0)
    curve = 1 - (1 - planted**num_rows) ** num_bands
    for low in np.arange(0.4, 1.0, 0.1):
        own = (planted >= low) & (planted < low + 0.1)
        if own.sum() >= 50:
            assert abs(met[own].mean() / num_seeds - curve[own].mean()) < 0.02, low
