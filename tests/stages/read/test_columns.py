"""parquet: rows by their number; what is broken costs its row group only."""

import datetime as dt
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import Fields
from dataassets.stages.read.columns import read_parquet


def stored(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def rows(data: bytes, **fields: str):
    return list(read_parquet(io.BytesIO(data), fields=Fields(**fields)))


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_text_of_any_string_type_comes_back_at_its_row_number(kind):
    texts = [f"text {i} é" for i in range(5_000)]
    table = pa.table(
        {
            "text": pa.array(texts, pa.string()).cast(kind)
            if not pa.types.is_dictionary(kind)
            else pa.array(texts).dictionary_encode()
        }
    )
    found = rows(stored(table, row_group_size=777))
    assert [(r.position, r.content.decode(), r.reason) for r in found] == [(i, t, "") for i, t in enumerate(texts)]


def test_a_row_without_text_is_bad_and_keeps_what_it_has():
    found = rows(stored(pa.table({"text": ["a", None], "n": [1, 2]})))
    assert [r.reason for r in found] == ["", "read:no_text"]
    assert json.loads(found[1].content) == {"n": 2, "text": None}
    assert [r.reason for r in rows(stored(pa.table({"body": ["a", "b"]})))] == ["read:no_text"] * 2
    assert "body" in rows(stored(pa.table({"body": ["a"]})))[0].error
    assert [r.reason for r in rows(stored(pa.table({"text": [1, 2]})))] == ["read:no_text"] * 2


def test_a_string_that_is_no_utf8_is_bad_and_its_neighbours_are_not():
    wrong = pa.array([b"good", b"\xff\xfe", b"fine"], pa.binary()).view(pa.string())
    found = rows(stored(pa.table({"text": wrong, "other": wrong})))
    assert [r.reason for r in found] == ["", "read:not_utf8", ""]
    assert [r.content for r in found][::2] == [b"good", b"fine"]


def test_times_of_any_type_are_utc_microseconds_and_the_rest_is_meta():
    when = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
    columns = {
        "ns": pa.array([when], pa.timestamp("ns", tz="Europe/Berlin")),
        "ms": pa.array([when], pa.timestamp("ms", tz="UTC")),
        "text_time": pa.array(["2024-05-01T14:00+02:00"]),
        "epoch": pa.array([int(when.timestamp())]),
    }
    for name, column in columns.items():
        (row,) = rows(
            stored(pa.table({"text": ["t"], name: column, "x": [np.float32("nan")], "y": [[1, 2]]})), timestamp=name
        )
        assert row.timestamp == int(when.timestamp()) * 1_000_000
        assert set(row.meta) == {"x", "y"}
    (row,) = rows(stored(pa.table({"text": ["t"], "timestamp": ["soon"], "d": [dt.date(2024, 1, 2)]})))
    assert (row.timestamp, row.meta) == (None, {"timestamp": "soon", "d": dt.date(2024, 1, 2)})


def test_a_file_without_a_footer_is_one_damaged_row():
    data = stored(pa.table({"text": ["a"] * 100}))
    for broken in (data[:-10], b"", b"PAR1", b"no parquet at all"):
        (row,) = rows(broken)
        assert (row.position, row.reason, row.content) == (0, "read:damaged", broken[: 64 * 1024])
        assert "corrupt" in row.error


def test_every_row_of_a_broken_row_group_is_told_and_the_others_are_read():
    texts = [f"{i:08d} {i * 7919 % 9973}" for i in range(3_000)]
    data = bytearray(stored(pa.table({"text": texts}), row_group_size=1_000, compression="zstd", use_dictionary=False))
    column = pq.ParquetFile(io.BytesIO(bytes(data))).metadata.row_group(1).column(0)
    start = column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    found = rows(bytes(data))
    assert [r.position for r in found] == list(range(3_000))
    assert [r.content.decode() for r in found if not r.reason] == texts[:1_000] + texts[2_000:]
    assert {r.reason for r in found[1_000:2_000]} == {"read:damaged"}


class Failing(io.BytesIO):
    """A file whose storage fails in the middle."""

    def read(self, num_bytes=-1):
        if self.tell() < 2_000:
            raise TimeoutError("the network is gone")
        return super().read(num_bytes)


def test_an_error_of_the_storage_is_raised_and_is_no_damage():
    data = stored(pa.table({"text": [f"{i * 7919 % 9973}" for i in range(3_000)]}), use_dictionary=False)
    with pytest.raises(TimeoutError):
        list(read_parquet(Failing(data), fields=Fields()))


@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=3)), min_size=1, max_size=4))
def test_whatever_is_damaged_the_file_is_read_to_its_end(changes):
    data = bytearray(stored(pa.table({"text": [f"text {i}" for i in range(30)]}), row_group_size=10))
    for at, change in changes:
        at %= len(data)
        data[at : at + len(change)] = change
    found = rows(bytes(data))
    assert found
    assert [r.position for r in found] == sorted({r.position for r in found})
