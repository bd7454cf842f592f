"""Snapshot after snapshot, with nothing handed on but the keys of what was kept: the rule over all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stages.dedup.worlds import NAMES, NUM_PERM, K, Row, between, chain, history, ids_of, slow, with_minhash

from dataassets import records
from dataassets.stages.dedup import EXACT, NEAR
from dataassets.stages.dedup.candidates import key_range

ASKED = with_minhash(verify="exact").model_copy(update={"scope": "history"})


@settings(max_examples=100)
@given(history, st.sampled_from(["exact", "estimate", "none"]))
def test_the_rule_over_all_snapshots(snapshots, verify):
    asked = with_minhash(verify=verify).model_copy(update={"scope": "history"})
    told = chain(snapshots, asked)
    wanted = slow(snapshots, asked)
    rows = [(name, i, row) for name, own in zip(NAMES, snapshots, strict=False) for i, row in enumerate(own)]
    ids = ids_of(snapshots)
    got = [row for found, _ in told for row in found.table.to_pylist()]
    assert got == [
        {
            "id": ids[d],
            "source": rows[d][2].source,
            "match_id": ids[e],
            "match_source": rows[e][2].source,
            "similarity": equal,
            "reason": EXACT if exact else NEAR,
            "match_snapshot": rows[e][0],
        }
        for d, e, exact, equal in wanted
    ]
    assert np.concatenate([found.gone for found, _ in told]).tolist() == [d for d, *_ in wanted]
    for (found, _), name in zip(told[1:], NAMES[1:], strict=False):
        of_earlier = sum(match != name for match in found.table["match_snapshot"].to_pylist())
        assert found.report.counts["matches:earlier_snapshots"] == of_earlier


@settings(max_examples=40)
@given(history, st.integers(1, 6), st.integers(1, 12), st.integers(0, 3), st.integers(1, 40))
def test_cut_buckets_files_and_arrival_change_nothing(snapshots, cut, num_buckets, shuffle, keys_per_file):
    plain = chain(snapshots, ASKED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dataassets.stages.dedup.keeping.KEYS_PER_FILE", keys_per_file)
        other = chain(snapshots, ASKED, num_buckets=num_buckets, cut=cut, shuffle=shuffle)
    for (a, kept_a), (b, kept_b) in zip(plain, other, strict=True):
        assert b.table.equals(a.table)
        assert b.report == a.report
        assert between(kept_b, 0, 2**64 - 1).equals(between(kept_a, 0, 2**64 - 1))


@settings(max_examples=40)
@given(history, st.data())
def test_a_later_snapshot_changes_nothing_before_it_and_one_alone_is_found_again(snapshots, data):
    told = chain(snapshots, ASKED)
    upto = data.draw(st.integers(0, len(snapshots)))
    for (a, _), (b, _) in zip(chain(snapshots[:upto], ASKED), told, strict=False):
        assert a.table.equals(b.table)


@settings(max_examples=40)
@given(history)
def test_kept_keys_are_those_of_the_documents_that_stay(snapshots):
    for (found, kept), own in zip(chain(snapshots, ASKED), snapshots, strict=True):
        keys = between(kept, 0, 2**64 - 1)
        assert keys.schema.equals(records.KEYS)
        has_key = {i for i, row in enumerate(own) if row.text_hash is not None or row.signature is not None}
        assert len(set(keys["position"].to_pylist())) == len(has_key) - len(found.gone)


def test_of_many_kept_members_the_first_k_are_looked_at():
    """K kept documents that share a band but no shingle fill a bucket: the copy of a later one is not met there."""
    base = [1] * NUM_PERM
    apart = [Row("web", None, [*base[:2], *([k + 2] * (NUM_PERM - 2))], frozenset([k])) for k in range(K + 1)]
    met = Row("web", None, [*base[:2], *([90] * (NUM_PERM - 2))], frozenset([K - 1]))
    not_met = Row("web", None, [*base[:2], *([91] * (NUM_PERM - 2))], frozenset([K]))
    found = chain([apart[:5], apart[5:], [met, not_met]], ASKED)[2][0]
    assert len(found.table) == 1
    assert found.table["match_snapshot"].to_pylist() == [NAMES[1]]


@given(st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_a_bucket_is_a_range_of_keys(num_buckets, key):
    bucket = ((key >> 32) * num_buckets) >> 32
    low, high = key_range(bucket, num_buckets=num_buckets)
    assert low <= key <= high
    assert key_range(num_buckets - 1, num_buckets=num_buckets)[1] == 2**64 - 1
    assert key_range(0, num_buckets=num_buckets)[0] == 0
    if bucket:
        assert key_range(bucket - 1, num_buckets=num_buckets)[1] == low - 1
