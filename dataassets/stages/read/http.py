"""An HTTP message as a WARC record holds it: its header read, its payload decoded."""

import io
import re
import struct
import zlib
from collections.abc import Callable

import zstandard
from fastwarc.stream_io import BrotliReader
from fastwarc.warc import HeaderMap

MAX_PAYLOAD_BYTES = 64 << 20
_STEP_BYTES = 8 * 1024  # of zstd, which gives all that a step holds at once
_STATUS = re.compile(rb"(?:HTTP/\d(?:\.\d)?|ICY)[ \t]+(\d{3})\b")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


class UndecodableError(ValueError):
    """A payload that is not what its header says; `partial` is what was decoded where only its end is missing."""

    def __init__(self, message: str, *, partial: bytes | None = None) -> None:
        super().__init__(message)
        self.partial = partial


def header_map(head: bytes) -> HeaderMap:
    r"""Read a header (status line first), its lines ended by CRLF or LF alone.

    >>> header_map(b"HTTP/1.1 200 OK\nA: 1\n").get("a")
    '1'
    """
    headers = HeaderMap()
    headers.parse(io.BytesIO(re.sub(rb"\r?\n", b"\r\n", head.rstrip(b"\r\n")) + b"\r\n\r\n"), True)
    return headers


def split_message(block: bytes) -> tuple[int, HeaderMap, bytes] | None:
    r"""Status, header and payload of an HTTP response; None where it does not begin with a status line.

    >>> status, _, payload = split_message(b"HTTP/1.1 200 OK\r\n\r\nhello")
    >>> status, payload
    (200, b'hello')
    """
    status = _STATUS.match(block)
    if status is None:
        return None
    end = _HEAD_END.search(block)
    if end is None:
        return int(status[1]), header_map(block), b""
    return int(status[1]), header_map(block[: end.start()]), block[end.end() :]


def decode(payload: bytes, headers: HeaderMap) -> bytes:
    """Undo transfer and content encoding.

    Archives often keep the header and store the payload decoded: what visibly is not encoded is taken as it is.

    Args:
        payload: bytes after the header.
        headers: of the response.

    Raises:
        UndecodableError: the encoding is unknown, or the payload breaks off (then with what came before) or is corrupt.
    """
    transfer = _encodings(headers.get("transfer-encoding"))
    if "chunked" in transfer:
        payload = _chunked(payload)
    for name in reversed(_encodings(headers.get("content-encoding"))):
        payload = _decoded(payload, name=name)
    return payload


def _encodings(value: str | None) -> list[str]:
    return [name for part in (value or "").split(",") if (name := part.strip().lower())]


def _decoded(payload: bytes, *, name: str) -> bytes:
    if name in ("identity", "none") or not payload:
        return payload
    if payload.lstrip()[:1] == b"<":  # markup: stored decoded
        return payload
    if name not in _DECODERS:
        raise UndecodableError(f"content encoding {name!r} is unknown")
    try:
        return _DECODERS[name](payload)
    except (zlib.error, zstandard.ZstdError, OSError) as error:
        raise UndecodableError(f"the payload is no {name}: {error}") from None


def _chunked(payload: bytes) -> bytes:
    """RFC 9112, section 7.1."""
    if not _CHUNK.match(payload):
        return payload  # stored decoded
    parts: list[bytes] = []
    at = 0
    while found := _CHUNK.match(payload, at):
        size = int(found[1], 16)
        if not size:
            return b"".join(parts)
        parts.append(payload[found.end() : found.end() + size])
        at = found.end() + size
        if at > len(payload):
            break
        at += 2 if payload[at : at + 2] == b"\r\n" else 1 if payload[at : at + 1] == b"\n" else 0
    if at < len(payload):
        raise UndecodableError(f"no chunk size at byte {at} of a chunked payload")
    raise UndecodableError("a chunked payload breaks off", partial=b"".join(parts))


def _inflated(payload: bytes, *, wbits: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while payload:
        engine = zlib.decompressobj(wbits)
        part = engine.decompress(payload, MAX_PAYLOAD_BYTES - size + 1)
        parts.append(part)
        size += len(part)
        if size > MAX_PAYLOAD_BYTES:
            raise UndecodableError(f"a payload of more than {MAX_PAYLOAD_BYTES} bytes decoded")
        if not engine.eof and not (wbits == 31 and _lacks_trailer_only(engine, part)):
            raise UndecodableError("a compressed payload breaks off", partial=b"".join(parts))
        payload = engine.unused_data if wbits == 31 and engine.unused_data[:2] == b"\x1f\x8b" else b""
    return b"".join(parts)


def _lacks_trailer_only(engine: "zlib._Decompress", data: bytes) -> bool:
    """Whether a gzip stream that breaks off has all its data: with the right last bytes of its trailer it is whole."""
    trailer = struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
    for missing in range(1, len(trailer) + 1):
        probe = engine.copy()
        try:
            probe.decompress(trailer[-missing:], 1)
        except zlib.error:
            continue
        if probe.eof:
            return True
    return False


def _gzip(payload: bytes) -> bytes:
    return _inflated(payload, wbits=31) if payload[:2] == b"\x1f\x8b" else payload  # else stored decoded


def _deflate(payload: bytes) -> bytes:
    try:
        return _inflated(payload, wbits=15)
    except zlib.error:  # some servers send it bare, without zlib's frame
        return _inflated(payload, wbits=-15)


def _brotli(payload: bytes) -> bytes:
    data = BrotliReader(io.BytesIO(payload)).read(MAX_PAYLOAD_BYTES + 1)
    if len(data) > MAX_PAYLOAD_BYTES:
        raise UndecodableError(f"a payload of more than {MAX_PAYLOAD_BYTES} bytes decoded")
    return bytes(data)


def _zstd(payload: bytes) -> bytes:
    parts: list[bytes] = []
    size = 0
    while payload:
        engine = zstandard.ZstdDecompressor().decompressobj()
        for at in range(0, len(payload), _STEP_BYTES):
            parts.append(engine.decompress(payload[at : at + _STEP_BYTES]))
            size += len(parts[-1])
            if size > MAX_PAYLOAD_BYTES:
                raise UndecodableError(f"a payload of more than {MAX_PAYLOAD_BYTES} bytes decoded")
            if engine.eof:
                payload = engine.unused_data + payload[at + _STEP_BYTES :]
                break
        else:
            raise UndecodableError("a compressed payload breaks off", partial=b"".join(parts))
    return b"".join(parts)


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
