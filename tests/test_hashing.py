"""Digests tell equal content from other content, whatever the chunks; ids and orders are fixed for ever."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.tables import SCHEMAS, recut, table_of

from dataassets.hashing import TableDigest, document_id, keyed_order


def digest(*tables: pa.Table) -> str:
    found = TableDigest()
    for table in tables:
        found.update(table)
    return found.hexdigest()


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
@settings(max_examples=15, deadline=None)
@given(rows=st.integers(0, 12), seed=st.integers(0, 2**32))
def test_equal_rows_give_equal_digests_however_cut(schema, rows, seed):
    table, chance = table_of(schema, rows, seed=seed), random.Random(seed)
    wanted = digest(table)
    for _ in range(3):
        assert digest(recut(table, chance)) == wanted
    at = chance.randint(0, rows)
    assert digest(table.slice(0, at), table.slice(at)) == wanted


WORDS = st.sampled_from(["", "a", "aa", "b", "\0"])
KINDS = {
    "string": (pa.string(), WORDS),
    "large_string": (pa.large_string(), WORDS),
    "large_binary": (pa.large_binary(), WORDS.map(str.encode)),
    "binary(1)": (pa.binary(1), st.sampled_from([b"a", b"b"])),
    "int32": (pa.int32(), st.integers(-1, 1)),
    "float64": (pa.float64(), st.sampled_from([0.0, 0.5, 1.0])),
    "bool": (pa.bool_(), st.booleans()),
    "list<int32>": (pa.list_(pa.int32()), st.lists(st.none() | st.integers(0, 1), max_size=2)),
    "large_list<uint16>": (pa.large_list(pa.uint16()), st.lists(st.integers(0, 1), max_size=2)),
    "list<string>": (pa.list_(pa.string()), st.lists(WORDS, max_size=2)),
    "list[2]": (pa.list_(pa.uint32(), 2), st.lists(st.integers(0, 1), min_size=2, max_size=2)),
    "timestamp": (pa.timestamp("us", tz="UTC"), st.integers(0, 1)),
}


@pytest.mark.parametrize(("kind", "values"), KINDS.values(), ids=list(KINDS))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_digests_are_equal_exactly_where_the_rows_are(kind, values, data):
    rows = st.lists(st.tuples(st.none() | values, st.none() | values), max_size=4)
    one, other = data.draw(rows), data.draw(rows)
    tables = [
        pa.table({"x": pa.array([r[0] for r in rows], kind), "y": pa.array([r[1] for r in rows], kind)})
        for rows in (one, other)
    ]
    assert (digest(tables[0]) == digest(tables[1])) == (one == other)


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32))
def test_another_order_of_rows_is_another_digest(rows, seed):
    table = table_of(SCHEMAS["documents"], rows, seed=seed)
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    assert (digest(table) == digest(table.take(order))) == (order == sorted(order))  # ids are unique


def test_names_and_types_of_columns_count_their_order_does_not():
    one = pa.table({"x": pa.array([1], pa.int32()), "y": pa.array([2], pa.int32())})
    assert digest(one) == digest(one.select(["y", "x"]))
    assert digest(one) != digest(one.rename_columns(["y", "x"]))
    assert digest(one) != digest(one.cast(pa.schema([("x", pa.uint32()), ("y", pa.int32())])))
    assert digest(one.slice(0, 0)) != digest(one.select(["x"]).slice(0, 0))


def test_dictionary_columns_count_by_their_values():
    words = pa.chunked_array([pa.array(["a", None, "b"]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()])
    other = pa.chunked_array([pa.array(["a", None, "b", "b", "a"]).dictionary_encode()])
    assert digest(pa.table({"x": words})) == digest(pa.table({"x": other}))


def test_golden_values():
    assert document_id("web", "2026/a.txt", 7).hex() == "b8e4a5f645a32215e2fb67c095246686"
    assert keyed_order([b"a" * 16, b"b" * 16], salt="val").tolist() == [1263703693696398331, 7803150115847336987]
    assert digest(pa.table({"x": [1, None, 3], "y": ["a", "", None]})) == "227c1d21d2947cc5ccc089280e7aa697"


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3), st.integers(0, 3)), unique=True))
def test_ids_differ_where_source_origin_or_position_do(places):
    clean = [p for p in places if "\0" not in p[0] + p[1]]
    assert len({document_id(s, o, position=n) for s, o, n in clean}) == len(clean)


def test_orders_of_two_salts_are_independent_and_uniform():
    ids = [document_id("s", "o", i) for i in range(4000)]
    one, two = keyed_order(ids, salt="a") / 2**64, keyed_order(ids, salt="b") / 2**64
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.06
    assert all(abs(np.mean(x < 0.25) - 0.25) < 0.03 for x in (one, two))
    assert keyed_order([], salt="a").tolist() == []
