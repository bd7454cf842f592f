"""The exchange of a mix: every pick arrives once, in the plan's order, whatever the order of arrival."""

import numpy as np
import pyarrow as pa

from dataassets import hashing, records
from dataassets.recipe import Mix
from dataassets.stages.mix import Available, gather, plan, scatter

MIX = Mix(tokens=3000, weights={"a": 0.6, "b": 0.4}, val_fraction=0.1, tokens_per_shard=700, max_epochs=9)


def tokenized(source, num, *, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 50257, rng.integers(1, 30)).tolist() for _ in range(num)]
    ids = [hashing.document_id(source, str(seed), i) for i in range(num)]
    urls = [f"https://x/{i}" if i % 2 else None for i in range(num)]
    return pa.table([ids, [source] * num, urls, rows], schema=records.tokens(pa.uint16()))


def mixed(tables, *, seed=None):
    parts = [
        Available(
            t["source"][0].as_py(),
            np.array(t["id"].to_pylist(), "S16"),
            np.array([len(x) for x in t["tokens"].to_pylist()]),
        )
        for t in tables
    ]
    made = plan(parts, settings=MIX)
    rows = pa.concat_tables([scatter(t, made.picks(i)) for i, t in enumerate(tables)])
    if seed is not None:
        rows = rows.take(pa.array(np.random.default_rng(seed).permutation(len(rows))))
    bucket = np.asarray(rows["bucket"])
    rows = rows.drop_columns(["bucket"])
    return made, [gather(rows.filter(pa.array(bucket == k))) for k in range(len(made.shards))]


def test_shards_hold_what_the_plan_says_in_the_schema_of_tokens():
    tables = [tokenized("a", 30, seed=1), tokenized("b", 60, seed=2), tokenized("a", 40, seed=3)]
    made, shards = mixed(tables)
    known = {r["id"]: r for t in tables for r in t.to_pylist()}
    assert len(made.shards) > 3
    for told, shard in zip(made.shards, shards, strict=True):
        assert shard.schema.equals(records.tokens(pa.uint16()))
        assert len(shard) == told.documents
        assert sum(len(t) for t in shard["tokens"].to_pylist()) == told.tokens
        assert all(row == known[row["id"]] for row in shard.to_pylist())


def test_the_order_of_arrival_changes_nothing():
    tables = [tokenized("a", 30, seed=1), tokenized("b", 60, seed=2)]
    _, first = mixed(tables)
    for seed in range(3):
        assert [s.equals(t) for s, t in zip(mixed(tables, seed=seed)[1], first, strict=True)] == [True] * len(first)


def test_the_cut_into_parts_changes_nothing():
    whole = [tokenized("a", 30, seed=1), tokenized("b", 60, seed=2)]
    pieces = [whole[0].slice(0, 7), whole[0].slice(7), whole[1].slice(0, 59), whole[1].slice(59)]
    for s, t in zip(mixed(whole)[1], mixed(pieces)[1], strict=True):
        assert s.combine_chunks().equals(t.combine_chunks())


def test_a_part_that_is_not_picked_gives_no_rows():
    table = tokenized("unused", 5, seed=4)
    tables = [tokenized("a", 30, seed=1), tokenized("b", 60, seed=2), table]
    made, _ = mixed(tables)
    rows = scatter(table, made.picks(2))
    assert len(rows) == 0
    assert gather(rows.drop_columns(["bucket"])).schema.equals(records.tokens(pa.uint16()))
