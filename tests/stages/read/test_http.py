"""HTTP messages: what a server encoded comes back; what cannot is told."""

import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dataassets.stages.read import http
from dataassets.stages.read.http import UndecodableError, decode, header_map, split_message


def bare_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


ENCODE = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "identity": bytes,
}


def chunked(data: bytes, size: int, end: bytes = b"\r\n") -> bytes:
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(b"%X;x=1%s%s%s" % (len(p), end, p, end) for p in pieces) + b"0" + end + end


def headers(**fields: str):
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return header_map(b"HTTP/1.1 200 OK\r\n" + lines.encode())


@given(st.binary(max_size=500), st.sampled_from(sorted(ENCODE)), st.booleans(), st.integers(1, 100))
def test_encodings_are_undone(data, name, in_chunks, size):
    data = b"x" + data  # a payload that begins with < is taken for markup stored decoded
    payload = ENCODE[name](data)
    fields = {"content_encoding": name}
    if in_chunks:
        payload, fields = chunked(payload, size), {**fields, "transfer_encoding": "chunked"}
    assert decode(payload, headers(**fields)) == data


@given(st.binary(max_size=300))
def test_encodings_nest_and_deflate_may_be_bare(data):
    assert decode(gzip.compress(brotli.compress(data)), headers(content_encoding="br, gzip")) == data
    assert decode(bare_deflate(data), headers(content_encoding="deflate")) == data
    assert decode(gzip.compress(data) + gzip.compress(data), headers(content_encoding="gzip")) == data + data


@pytest.mark.parametrize("name", [*ENCODE, "chunked", "foo"])
def test_markup_that_was_stored_decoded_is_taken_as_it_is(name):
    html = b"\n<html>hello</html>"
    fields = {"transfer_encoding": name} if name == "chunked" else {"content_encoding": name}
    assert decode(html, headers(**fields)) == html


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_payload_that_breaks_off_is_told(name):
    data = bytes(range(256)) * 20
    payload = ENCODE[name](data)
    with pytest.raises(UndecodableError):
        decode(payload[: len(payload) // 2], headers(content_encoding=name))
    with pytest.raises(UndecodableError, match="breaks off") as error:
        decode(chunked(data, 100)[:1000], headers(transfer_encoding="chunked"))
    assert data.startswith(error.value.partial)
    assert len(error.value.partial) > 800


@pytest.mark.parametrize("missing", range(1, 8))
def test_gzip_that_lacks_only_its_trailer_is_whole(missing):
    data = b"hello" * 100
    assert decode(gzip.compress(data)[:-missing], headers(content_encoding="gzip")) == data


@pytest.mark.parametrize(
    ("fields", "payload"),
    [
        ({"content_encoding": "foo"}, b"hello"),
        ({"content_encoding": "br"}, b"hello hello hello"),
        ({"content_encoding": "gzip"}, gzip.compress(b"hello")[:-8] + b"\0" * 8),
        ({"transfer_encoding": "chunked"}, b"5\r\nhello\r\nnonsense"),
    ],
)
def test_what_is_not_as_told_is_undecodable(fields, payload):
    with pytest.raises(UndecodableError):
        decode(payload, headers(**fields))


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate"])
def test_a_bomb_is_refused(name, monkeypatch):
    monkeypatch.setattr(http, "MAX_PAYLOAD_BYTES", 100_000)
    with pytest.raises(UndecodableError, match="more than 100000"):
        decode(ENCODE[name](bytes(10_000_000)), headers(content_encoding=name))


@given(st.binary(max_size=60), st.sampled_from([b"\r\n", b"\n"]))
def test_the_payload_begins_after_the_first_blank_line(payload, end):
    block = end.join(
        [b"HTTP/1.1 203 Fine", b"Content-Type: text/html;", b" charset=x", b"X-Name: caf\xe9", b"", payload]
    )
    status, fields, found = split_message(block)
    assert (status, found) == (203, payload)
    assert fields.get("content-type") == "text/html; charset=x"


@pytest.mark.parametrize("block", [b"", b"\0\xff", b"<html>", b"HTTP/1.1 abc\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_no_status_line_is_no_response(block):
    assert split_message(block) is None
