"""Archives: every record written is read back or counted; damage costs what it hit and is told."""

import gzip
import io
import json
import re
from pathlib import Path

import pytest
import zstandard
from fastwarc.warc import ArchiveIterator
from fastwarc.warc import response as response_type
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dataassets.stages.read import frames
from dataassets.stages.read.rows import Row, Skipped
from dataassets.stages.read.warc import read_warc

SHARED = Path(__file__).parents[4] / "shared" / "data" / "warc"
DATE = "2026-10-02T03:04:05Z"
MICROSECONDS = 1790910245000000


class Writer(WARCWriter):
    """warcio's, without temporary files that it leaves open."""

    _create_temp_file = staticmethod(io.BytesIO)


def write(
    pages: list[bytes], *, kind: str = "gz", media_type: str = "text/html; charset=utf-8"
) -> tuple[bytes, list[int]]:
    """An archive with a warcinfo, then a request and a response for each page; the offsets of the responses."""
    sink = io.BytesIO()
    writer = Writer(sink, gzip=kind == "gz")
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "test"}))
    places = []
    for i, page in enumerate(pages):
        url, fixed = f"http://example.com/{i}", {"WARC-Date": DATE}
        status = StatusAndHeaders("200 OK", [("Content-Type", media_type)], protocol="HTTP/1.1")
        ask = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.com")], is_http_request=True)
        writer.write_record(writer.create_warc_record(url, "request", http_headers=ask, warc_headers_dict=fixed))
        places.append(sink.tell())
        record = writer.create_warc_record(
            url, "response", payload=io.BytesIO(page), http_headers=status, warc_headers_dict=fixed
        )
        writer.write_record(record)
    data = sink.getvalue()
    pack = {"gz": bytes, "plain": bytes, "one": gzip.compress, "zst": zstandard.compress}
    return pack[kind](data), places


def events(stored: bytes) -> list[Row | Skipped]:
    return list(read_warc(io.BytesIO(stored), name="a.warc.gz"))


def split(found: list[Row | Skipped]) -> tuple[list[Row], list[Row], list[str]]:
    rows = [e for e in found if isinstance(e, Row)]
    positions = [row.position for row in rows]
    assert positions == sorted(set(positions)), "positions rise and are unique"
    return (
        [r for r in rows if not r.reason],
        [r for r in rows if r.reason],
        [e.kind for e in found if isinstance(e, Skipped)],
    )


PAGES = st.lists(st.binary(max_size=200) | st.just(b"\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n"), max_size=6)


@given(PAGES, st.sampled_from(["gz", "plain", "one", "zst"]))
def test_every_record_written_is_read_back_byte_identical(pages, kind):
    stored, places = write(pages, kind=kind)
    good, bad, skipped = split(events(stored))
    assert [r.content for r in good] == pages
    assert bad == []
    assert skipped == ["warcinfo"] + ["request"] * len(pages)
    assert [r.url for r in good] == [f"http://example.com/{i}" for i in range(len(pages))]
    assert {r.timestamp for r in good} <= {MICROSECONDS}
    assert {r.media_type for r in good} <= {"text/html; charset=utf-8"}
    if kind in ("gz", "plain"):
        assert [r.position for r in good] == places


@pytest.mark.parametrize("kind", ["gz", "plain"])
def test_positions_are_those_of_fastwarc(kind):
    stored, places = write([b"a" * 5_000, b"b", b"", *(bytes([i]) * 773 for i in range(150))], kind=kind)
    found = [r.stream_pos for r in ArchiveIterator(io.BytesIO(stored)) if r.record_type == response_type]
    assert [r.position for r in split(events(stored))[0]] == found == places


def test_members_cut_without_regard_to_records_are_one_stream():
    plain, _ = write([b"page %d " % i * 200 for i in range(5)], kind="plain")
    blocks = b"".join(gzip.compress(plain[i : i + 700]) for i in range(0, len(plain), 700))
    good, bad, _ = split(events(blocks))
    assert [r.content for r in good] == [b"page %d " % i * 200 for i in range(5)]
    assert bad == []


@pytest.mark.parametrize("kind", ["gz", "plain", "one"])
def test_a_cut_anywhere_is_told_and_every_whole_record_before_it_is_read(kind):
    pages = [b"<p>%d</p>" % i * 20 for i in range(3)]
    stored, places = write(pages, kind=kind)
    starts = [0] if kind == "one" else [r.stream_pos for r in ArchiveIterator(io.BytesIO(stored))]
    separator = 4 if kind == "plain" else 0  # bytes between two records; a cut there loses nothing
    ends = dict(zip(starts, [*starts[1:], len(stored)], strict=True))
    for cut in range(1, len(stored)):
        good, bad, _ = split(events(stored[:cut]))
        assert [r.content for r in good] == pages[: len(good)]
        if any(end - separator <= cut <= end for end in ends.values()):
            assert bad == []
        else:
            (row,) = bad
            # 17 bytes: before that it is no WARC record yet, nor a gzip member
            assert row.reason == "read:truncated" or (cut - max(s for s in starts if s <= cut) < 17), cut
        if kind != "one":
            num_whole = sum(ends[place] - separator <= cut for place in places)
            assert len(good) - num_whole in ((0, 1) if kind == "gz" else (0,))  # all there but the gzip trailer


@pytest.mark.parametrize("at", [0, 1, 3, 30, 150, -9, -5, -1])
def test_a_broken_member_costs_its_record_only(at):
    pages = [bytes(range(256)) * (i + 1) for i in range(4)]
    stored, places = write(pages)
    begin, end = places[1], next(r.stream_pos for r in ArchiveIterator(io.BytesIO(stored)) if r.stream_pos > places[1])
    broken = bytearray(stored)
    broken[begin + at if at >= 0 else end + at] ^= 0x55
    good, bad, _ = split(events(bytes(broken)))
    assert [r.content for r in good] == [pages[0], pages[2], pages[3]]
    assert [(r.reason, r.position) for r in bad] == [("read:damaged", begin)]


def test_a_length_that_is_too_long_costs_its_record_only():
    for kind in ("gz", "plain"):
        stored, places = write([b"page %d" % i for i in range(4)], kind="plain")
        head = stored[places[1] :]
        lie = re.sub(rb"Content-Length: (\d+)", lambda m: b"Content-Length: %d" % (int(m[1]) + 300), head, count=1)
        data = stored[: places[1]] + lie
        if kind == "gz":
            data = b"".join(gzip.compress(part) for part in re.split(rb"(?<=\r\n\r\n)(?=WARC/1)", data))
        good, bad, _ = split(events(data))
        assert [r.content for r in good] == [b"page 0", b"page 2", b"page 3"]
        assert [r.reason for r in bad] == ["read:damaged"]
        assert b"page 1" in bad[0].content


def test_a_length_that_is_too_short_is_told():
    stored, places = write([b"page %d" % i for i in range(3)], kind="plain")
    lie = re.sub(
        rb"Content-Length: (\d+)", lambda m: b"Content-Length: %d" % (int(m[1]) - 3), stored[places[1] :], count=1
    )
    good, bad, _ = split(events(stored[: places[1]] + lie))
    assert [r.content for r in good] == [b"page 0", b"pag", b"page 2"]
    assert [(r.reason, r.content) for r in bad] == [("read:damaged", b"e 1\r\n\r\n")]


@given(st.binary(min_size=1, max_size=80).filter(lambda junk: junk.strip(b"\r\n")), st.booleans())
def test_junk_between_records_is_told_and_passed_over(junk, packed):
    stored, places = write([b"zero", b"one"], kind="plain")
    parts = [stored[: places[1]], junk, stored[places[1] :]]
    data = b"".join(map(gzip.compress, parts)) if packed else b"".join(parts)
    good, bad, _ = split(events(data))
    assert [r.content for r in good] == [b"zero", b"one"]
    assert [r.reason for r in bad] == ["read:damaged"]
    assert bad[0].content == junk.lstrip(b"\r\n")


@pytest.mark.parametrize(
    "stored", [b"no archive at all", b"\0" * 5_000, b"WARC/1.0\r\n" * 3, b"WARC/1.0\r\nX: " + b"y" * 200_000]
)
def test_what_is_no_archive_is_told(stored):
    good, bad, skipped = split(events(stored))
    assert (good, skipped) == ([], [])
    assert {r.reason for r in bad} <= {"read:damaged", "read:truncated"}
    assert len(bad) >= 1


def record(kind: str, block: bytes, content_type: str, *more: str) -> bytes:
    lines = [f"WARC-Type: {kind}", "WARC-Target-URI: <http://x/>", f"Content-Type: {content_type}", *more]
    head = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "", ""])
    return head.encode() + block + b"\r\n\r\n"


def response(payload: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([status, *headers, "", ""]).encode() + payload


HTTP = "application/http; msgtype=response"


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (record("conversion", b"wet text", "text/plain"), "text/plain"),
        (record("resource", b"<p>", "text/html"), "text/html"),
        (record("resource", b"GIF", "image/gif"), Skipped("media_image")),
        (record("response", b"1.2.3.4", "text/dns"), Skipped("response_not_http")),
        (record("revisit", b"", HTTP), Skipped("revisit")),
        (record("odd", b"", HTTP), Skipped("odd")),
        (
            record("response", response(b"x", "Content-Type: text/html", status="HTTP/1.1 404 No"), HTTP),
            Skipped("http_4xx"),
        ),
        (record("response", response(b"x", "Content-Type: application/pdf"), HTTP), Skipped("media_application")),
        (record("response", response(b"x", "Content-Type: text/css"), HTTP), Skipped("media_text")),
        (record("response", response(b"x", "Content-Type: nonsense"), HTTP), Skipped("media_other")),
        (record("response", response(b"x"), HTTP), Skipped("media_none")),
        (record("response", response(b"<!DOCTYPE html>"), HTTP), "text/html"),
        (record("response", response(b"x"), HTTP, "WARC-Identified-Payload-Type: text/plain"), "text/plain"),
        (
            record("response", response(b"x", "content-type: Text/HTML;charset=Big5", status="HTTP/2 206"), HTTP),
            "Text/HTML;charset=Big5",
        ),
        (record("response", response(b"x", "Content-Type: application/xhtml+xml"), HTTP), "application/xhtml+xml"),
    ],
)
def test_html_and_text_are_documents_and_all_else_is_counted(stored, expected):
    (found,) = events(stored)
    if isinstance(expected, Skipped):
        assert found == expected
    else:
        assert (found.media_type, found.reason, found.url) == (expected, "", "http://x/")


def test_a_payload_that_cannot_be_decoded_is_bad_unless_the_crawler_says_that_it_cut_it():
    cut = response(
        gzip.compress(b"hello" * 1000 + bytes(range(256)))[:60], "Content-Type: text/html", "Content-Encoding: gzip"
    )
    (bad,) = events(record("response", cut, HTTP))
    assert (bad.reason, bad.url) == ("read:undecodable", "http://x/")
    (row,) = events(record("response", cut, HTTP, "WARC-Truncated: length"))
    assert row.reason == ""
    assert row.content.startswith(b"hello")
    assert row.meta["truncated"] == "length"
    (bad,) = events(record("response", b"\0 no http", HTTP))
    assert bad.reason == "read:bad_http"


def test_a_date_that_cannot_be_told_is_kept_in_meta():
    (row,) = events(record("resource", b"x", "text/plain", "WARC-Date: last week"))
    assert (row.timestamp, row.meta) == (None, {"timestamp": "last week"})


def test_a_record_too_large_to_hold_is_told_and_passed_over(monkeypatch):
    monkeypatch.setattr(frames, "MAX_BLOCK_BYTES", 1_000)
    stored, _ = write([b"small", b"x" * 90_000, b"last"])
    good, bad, _ = split(events(stored))
    assert [r.content for r in good] == [b"small", b"last"]
    assert [(r.reason, len(r.content)) for r in bad] == [("read:too_long", 64 * 1024)]


CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 60), st.binary(max_size=60)), min_size=1, max_size=4)


@given(CHANGES, st.sampled_from(["gz", "plain", "one", "zst"]))
def test_whatever_is_damaged_the_archive_is_read_to_its_end(changes, kind):
    pages = [b"page %d " % i * 40 for i in range(4)]
    data = bytearray(write(pages, kind=kind)[0])
    for at, num_gone, put in changes:
        at %= len(data) + 1
        data[at : at + num_gone] = put
    good, bad, _ = split(events(bytes(data)))
    assert bad or kind == "plain" or len(good) <= len(pages)
    for row in bad:
        assert row.reason in ("read:truncated", "read:damaged", "read:bad_http", "read:too_long", "read:undecodable")


@pytest.mark.skipif(not SHARED.exists(), reason="real archives are not here")
def test_real_archives_hold_what_their_truth_says():
    for name, truth in json.loads((SHARED / "expected.json").read_text()).items():
        found = list(read_warc(io.BytesIO((SHARED / name).read_bytes()), name=name))
        good, bad, skipped = split(found)
        html = sum("html" in r.media_type for r in good)
        assert html == truth["truth"]["html_responses"], name
        assert bool(bad) == (truth["truth"]["damaged"] or truth["truth"]["truncated"]), name
        if truth["truth"]["records"] is not None:
            assert len(good) + len(skipped) == truth["truth"]["records"], name
