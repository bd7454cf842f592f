"""Rows of every format end in bounded tables of one schema."""

import datetime as dt
import json

from hypothesis import given
from hypothesis import strategies as st

from dataassets.hashing import document_id
from dataassets.records import RAW, with_reason
from dataassets.stages.read import rows
from dataassets.stages.read.rows import Row, Skipped, bad, canonical_json, microseconds, tables

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON))
def test_meta_is_always_valid_json_in_one_spelling(meta):
    text = canonical_json(meta)
    text.encode()
    again = json.loads(text, parse_constant=lambda name: (_ for _ in ()).throw(AssertionError(name)))
    assert canonical_json(again) == text


@given(st.datetimes(timezones=st.timezones()))
def test_iso_times_of_any_zone_are_told(when):
    expected = (
        (when.astimezone(dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        if 1 < when.year < 9999
        else None
    )
    if expected is not None:
        assert microseconds(when) == expected
        if when.utcoffset().total_seconds() % 60 == 0:
            assert microseconds(when.isoformat()) == expected
    told = microseconds(when)
    assert told is None or dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=told) >= dt.datetime(
        1, 1, 1, tzinfo=dt.UTC
    )


EVENTS = st.lists(st.binary(max_size=30) | st.sampled_from([Skipped("a"), Skipped("b")]) | st.none(), max_size=40)


@given(EVENTS)
def test_tables_hold_every_row_once_in_order_and_stay_bounded(kinds):
    events = []
    for i, kind in enumerate(kinds):
        if kind is None:
            events.append(bad(i, b"\xff" * 10, reason="read:x", error="wrong"))
        else:
            events.append(kind if isinstance(kind, Skipped) else Row(i, kind))
    before = rows.TABLE_BYTES, rows.TABLE_ROWS
    rows.TABLE_BYTES, rows.TABLE_ROWS = 50, 4
    try:
        found = list(tables(events, source="s", origin="o"))
    finally:
        rows.TABLE_BYTES, rows.TABLE_ROWS = before
    expected = [e for e in events if isinstance(e, Row)]
    flat = [row for table, _ in found for row in table.to_pylist()]
    assert [(r["position"], r["content"], r["reason"]) for r in flat] == [
        (e.position, e.content, e.reason) for e in expected
    ]
    assert [r["id"] for r in flat] == [document_id("s", "o", e.position) for e in expected]
    for table, report in found:
        assert table.schema.equals(with_reason(RAW))
        table.validate(full=True)
        assert table.num_rows <= 4
        assert all(len(samples) <= 3 for samples in report.samples.values())
        json.dumps(report.to_json(), allow_nan=False)
    counted = sum(sum(report.counts.values()) for _, report in found)
    assert counted == sum(isinstance(e, Skipped) for e in events)


def test_a_bad_row_keeps_at_most_64_kib_and_tells_its_error():
    row = bad(3, b"x" * 100_000, reason="read:damaged", error="because")
    assert len(row.content) == 64 * 1024
    assert row.meta == {"error": "because"}
