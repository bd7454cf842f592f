"""jsonl: one JSON object a line, plain or compressed."""

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from dataassets.recipe import Fields
from dataassets.stages.read.inflate import Break, inflate
from dataassets.stages.read.rows import MAX_BAD_BYTES, Row, Skipped, bad, microseconds

MAX_LINE_BYTES = 64 << 20  # a longer line is no record, but a file of another kind
_BOM = b"\xef\xbb\xbf"


def read_jsonl(stream: IO[bytes], *, name: str, fields: Fields) -> Iterator[Row | Skipped]:
    """Records of a jsonl file.

    Args:
        stream: the file as stored: plain, gzip or zstd.
        name: its name.
        fields: which keys hold text, address and time; the others become meta.

    Returns:
        Rows at the byte offset of their line in the decompressed bytes; `Skipped("blank")` for an empty line.
    """
    tail, offset = bytearray(), 0  # the unfinished line, and where it begins
    dropped = 0  # bytes of it that were dropped, since it is too long
    for event in inflate(stream, name=name):
        if isinstance(event, Break):
            yield bad(offset, bytes(tail), reason=f"read:{event.reason}", error=event.error)
            offset += max(1, dropped + len(tail))  # this place has a record now
            tail, dropped = bytearray(), 0
            continue
        *lines, rest = event.data.split(b"\n")
        for piece in lines:
            line = bytes(tail + piece) if tail else piece
            yield _line(line, dropped=dropped, position=offset, fields=fields)
            offset += dropped + len(line) + 1
            tail, dropped = bytearray(), 0
        tail += rest
        if dropped + len(tail) > MAX_LINE_BYTES:
            dropped += max(0, len(tail) - MAX_BAD_BYTES)
            del tail[MAX_BAD_BYTES:]
    if tail:
        yield _line(bytes(tail), dropped=dropped, position=offset, fields=fields)


def _line(line: bytes, *, dropped: int, position: int, fields: Fields) -> Row | Skipped:
    if dropped + len(line) <= MAX_LINE_BYTES:
        return record(line, position=position, fields=fields)
    error = f"a line of {dropped + len(line)} bytes; at most {MAX_LINE_BYTES} are read"
    return bad(position, line, reason="read:too_long", error=error)


def record(line: bytes, *, position: int, fields: Fields) -> Row | Skipped:
    """One line of a jsonl file.

    >>> record(b'{"text": "hi", "n": 1}', position=0, fields=Fields()).meta
    {'n': 1}
    """
    if position == 0:
        line = line.removeprefix(_BOM)
    if not line or line.isspace():
        return Skipped("blank")
    try:
        found = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        return bad(position, line, reason="read:not_utf8", error=str(error))
    except (ValueError, RecursionError) as error:  # RecursionError: thousands of nested brackets
        return bad(position, line, reason="read:not_json", error=str(error))
    if not isinstance(found, dict):
        return bad(position, line, reason="read:not_object", error=f"a JSON {type(found).__name__}, not an object")
    return from_fields(found, position=position, fields=fields, raw=line)


def _no_number(name: str) -> None:
    """NaN and Infinity, which Python writes and JSON does not know, are null."""


def from_fields(found: Mapping[str, Any], *, position: int, fields: Fields, raw: bytes) -> Row:
    """A row from the keys (or columns) of a record.

    Args:
        found: key to value.
        position: of the record in its file.
        fields: which keys hold text, address and time.
        raw: the record's bytes, for the quarantine.

    Returns:
        A row; bad where the text is no string, or no valid Unicode.
    """
    rest = dict(found)
    text = rest.pop(fields.text, None)
    if not isinstance(text, (str, bytes)):
        met = f"a {type(text).__name__}" if fields.text in found else f"only {sorted(map(str, found))[:20]}"
        error = f"{fields.text!r} should be a string, met {met}; see sources.<name>.fields.text"
        return bad(position, raw, reason="read:no_text", error=error)
    try:
        content = text.encode("utf-8") if isinstance(text, str) else text.decode("utf-8").encode()
    except UnicodeError as error:  # an escaped half of a surrogate pair; other bytes in a Parquet column
        return bad(position, raw, reason="read:not_utf8", error=str(error))
    url = rest.get(fields.url)
    if isinstance(url, str) and _is_unicode(url):
        del rest[fields.url]
    else:
        url = None
    when = rest.pop(fields.timestamp, None)
    timestamp = microseconds(when)
    if timestamp is None and when is not None:
        rest["timestamp"] = when
    return Row(position, content, url=url, timestamp=timestamp, meta={k: v for k, v in rest.items() if v is not None})


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)
