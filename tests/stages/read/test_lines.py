"""jsonl: each line is a record or a reason."""

import gzip
import io
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import Fields
from dataassets.stages.read import lines
from dataassets.stages.read.lines import read_jsonl
from dataassets.stages.read.rows import Row, Skipped, canonical_json

PACK = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.zst": zstandard.compress}
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)
KEYS = st.sampled_from(["text", "url", "timestamp", "n", "körper"]) | st.text(max_size=5)


def rows(stored: bytes, name: str = "a.jsonl", **fields: str):
    return list(read_jsonl(io.BytesIO(stored), name=name, fields=Fields(**fields)))


@given(st.lists(st.dictionaries(KEYS, VALUES) | VALUES, max_size=8), st.sampled_from(sorted(PACK)), st.booleans())
def test_every_line_becomes_a_row_at_its_offset(records, kind, newline_at_end):
    written = [json.dumps(record).encode() for record in records]
    data = b"\n".join(written) + (b"\n" if newline_at_end and written else b"")
    found = rows(PACK[kind](data), f"a.{kind}")
    offset = 0
    for line, record, row in zip(written, records, found, strict=True):
        assert row.position == offset
        assert data[offset : offset + len(line)] == line
        offset += len(line) + 1
        if isinstance(record, dict) and isinstance(record.get("text"), str):
            try:
                content = record["text"].encode()
            except UnicodeEncodeError:
                assert row.reason == "read:not_utf8"
                continue
            assert (row.content, row.reason) == (content, "")
            json.loads(canonical_json(row.meta))
            canonical_json(row.meta).encode()
        else:
            assert row.reason == ("read:no_text" if isinstance(record, dict) else "read:not_object")
            assert row.content == line


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "a"', "read:not_json"),
        (b"hello", "read:not_json"),
        (b'{"text": "\xff"}', "read:not_utf8"),
        (b'{"text": "\\ud800"}', "read:not_utf8"),
        (b"[1]", "read:not_object"),
        (b'{"text": null}', "read:no_text"),
        (b'{"body": "x"}', "read:no_text"),
        (b"[" * 100_000, "read:not_json"),
        (b'{"n": ' + b"9" * 5_000 + b"}", "read:not_json"),
    ],
)
def test_a_bad_line_is_a_row_with_its_reason_and_bytes_and_stops_nothing(line, reason):
    good = b'{"text": "good"}\n'
    first, bad, last = rows(good + line + b"\n" + good)
    assert (bad.reason, bad.content, bad.position) == (reason, line[: 64 * 1024], len(good))
    assert bad.error
    assert (first.content, last.content) == (b"good", b"good")


def test_fields_are_taken_by_name_and_the_rest_goes_to_meta():
    record = {
        "body": "t",
        "link": "http://x/",
        "when": "2024-05-01T02:00:00+02:00",
        "url": "other",
        "n": [1],
        "no": None,
    }
    (row,) = rows(json.dumps(record).encode(), text="body", url="link", timestamp="when")
    assert (row.content, row.url, row.timestamp) == (b"t", "http://x/", 1714521600000000)
    assert row.meta == {"url": "other", "n": [1]}


@pytest.mark.parametrize("when", ["yesterday", True, 1e300, "99999-01-01", [1], "0000-00-00"])
def test_a_time_that_cannot_be_told_is_kept_in_meta(when):
    (row,) = rows(json.dumps({"text": "t", "timestamp": when}).encode())
    assert (row.timestamp, row.meta) == (None, {"timestamp": when})


def test_blank_lines_are_counted_and_a_byte_order_mark_is_no_text():
    found = rows(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n \n{"text": "b"}')
    assert [r.content for r in found if isinstance(r, Row)] == [b"a", b"b"]
    assert [r for r in found if isinstance(r, Skipped)] == [Skipped("blank")] * 2


def test_nan_in_meta_is_null():
    (row,) = rows(b'{"text": "a", "x": NaN, "y": [-Infinity, 1e999]}')
    assert canonical_json(row.meta) == '{"y":[null,null]}'


@pytest.mark.parametrize("kind", ["jsonl.gz", "jsonl.zst"])
def test_a_cut_file_gives_its_whole_lines_and_one_truncated_row(kind):
    whole = b"".join(json.dumps({"text": f"document {i}"}).encode() + b"\n" for i in range(5_000))
    stored = PACK[kind](whole)
    found = rows(stored[: len(stored) * 2 // 3], f"a.{kind}")
    *good, last = found
    assert last.reason == "read:truncated"
    assert [r.content for r in good] == [f"document {i}".encode() for i in range(len(good))]
    assert len({r.position for r in found}) == len(found)
    assert whole[last.position :].startswith(last.content)


def test_members_of_one_gzip_file_are_one_stream_and_a_broken_one_is_told():
    members = [gzip.compress(b'{"text": "%d-%d"}\n' % (i, i) * 20) for i in range(3)]
    assert [r.content for r in rows(b"".join(members), "a.gz")] == [
        b"%d-%d" % (i, i) for i in range(3) for _ in range(20)
    ]
    broken = bytearray(members[1])
    broken[12] ^= 0xFF
    found = rows(members[0] + bytes(broken) + members[2], "a.gz")
    assert "read:damaged" in [r.reason for r in found]
    good = [r.content for r in found if not r.reason]
    assert good[:20] == [b"0-0"] * 20
    assert good[-20:] == [b"2-2"] * 20
    assert len({r.position for r in found}) == len(found)


def test_a_line_too_long_to_hold_is_told_and_passed_over(monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 200_000)
    long = b'{"text": "' + b"x" * 900_000 + b'"}'
    good = b'{"text": "good"}'
    first, bad, last = rows(good + b"\n" + long + b"\n" + good)
    assert (bad.reason, bad.position, last.position) == ("read:too_long", len(good) + 1, len(good) + len(long) + 2)
    assert bad.content == long[: 64 * 1024]
    assert (first.content, last.content) == (b"good", b"good")
    assert [r.reason for r in rows(long)] == ["read:too_long"]
