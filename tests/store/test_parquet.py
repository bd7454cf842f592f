"""Equal rows are equal bytes, and come back as they went in."""

import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.tables import SCHEMAS, recut, table_of

from dataassets.hashing import TableDigest
from dataassets.store import parquet


def written(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
@settings(max_examples=12, deadline=None)
@given(rows=st.integers(0, 12), seed=st.integers(0, 2**32))
def test_equal_rows_give_equal_bytes_however_cut_and_come_back(schema, rows, seed):
    table, chance = table_of(schema, rows, seed=seed), random.Random(seed)
    wanted = written(table)
    for _ in range(3):
        assert written(recut(table, chance)) == wanted
    back = parquet.read_table(io.BytesIO(wanted))
    assert back.schema.equals(schema)
    digests = [TableDigest(), TableDigest()]
    for found, rows_of in zip(digests, (back, table), strict=True):
        found.update(rows_of)
    assert digests[0].hexdigest() == digests[1].hexdigest()


@pytest.mark.parametrize("rows", [parquet.ROWS_PER_GROUP - 1, parquet.ROWS_PER_GROUP, 2 * parquet.ROWS_PER_GROUP + 1])
def test_the_cut_into_row_groups_does_not_show_in_the_chunks(rows):
    table = table_of(SCHEMAS["documents"], 700, seed=rows)
    table = pa.concat_tables([table] * (rows // 700 + 1)).slice(0, rows)
    chance = random.Random(rows)
    assert len({written(recut(table, chance)) for _ in range(4)}) == 1
    assert parquet.read_table(io.BytesIO(written(table)), columns=["position"]).equals(table.select(["position"]))


def test_schema_metadata_leaves_no_trace():
    table = table_of(SCHEMAS["raw"], 3, seed=1)
    assert written(table.replace_schema_metadata({"made": "today"})) == written(table)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_rows_asked_for_come_in_their_order_whatever_the_row_groups(
    num_rows: int, group: int, data: st.DataObject
) -> None:
    table, sink = pa.table({"a": range(num_rows), "b": [str(n) for n in range(num_rows)]}), io.BytesIO()
    pq.write_table(table, sink, row_group_size=group)
    rows = data.draw(st.lists(st.integers(0, num_rows - 1), min_size=1))
    assert parquet.read_rows(sink, rows, columns=["b"])["b"].to_pylist() == [str(n) for n in rows]
