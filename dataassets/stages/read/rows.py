"""Rows of `raw` on their way into Arrow: one shape for all formats, good records and bad."""

import datetime as dt
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from dataassets.hashing import document_id
from dataassets.records import KEPT, RAW, with_reason
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Report

PLAIN_TEXT = "text/plain; charset=utf-8"
UNKNOWN = "application/octet-stream"  # media type of bytes that were not understood
MAX_BAD_BYTES = 64 * 1024  # bytes of a bad record that are kept
TABLE_BYTES = 4_000_000
TABLE_ROWS = 10_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_MIN_US, _MAX_US = (-62_135_596_800_000_000, 253_402_300_799_999_999)  # years 1 to 9999, what Python can show again


class Row(NamedTuple):
    """One record met in a file.

    Args:
        position: unique in its file, rising.
        content: bytes of the document, or what was met of a bad record.
        media_type: as served, with its charset.
        url: address, where there is one.
        timestamp: microseconds since 1970 UTC.
        meta: other fields, plain JSON values.
        reason: "" for a good record.
        error: what was wrong, for a person.
    """

    position: int
    content: bytes
    media_type: str = PLAIN_TEXT
    url: str | None = None
    timestamp: int | None = None
    meta: Mapping[str, Any] | None = None
    reason: str = KEPT
    error: str = ""


class Skipped(NamedTuple):
    """A record that is no document by its nature (a request, an image): counted, not kept."""

    kind: str


def bad(position: int, content: bytes, *, reason: str, error: str, url: str | None = None) -> Row:
    """A bad record: at most MAX_BAD_BYTES of what was met, and why it cannot be read."""
    return Row(position, bytes(content[:MAX_BAD_BYTES]), UNKNOWN, url, None, {"error": error}, reason, error)


def microseconds(value: object) -> int | None:
    """Time as microseconds since 1970 UTC; None where it cannot be told.

    Args:
        value: ISO 8601 text (UTC where it names no zone), epoch seconds as a number or digits, date or datetime.

    >>> microseconds("2024-05-01T00:00:00Z"), microseconds(1.5), microseconds("yesterday")
    (1714521600000000, 1500000, None)
    """
    found: int | None = None
    if isinstance(value, str):
        value = _from_text(value.strip())
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        found = (aware - _EPOCH) // _MICROSECOND
    elif isinstance(value, dt.date):
        found = (value.toordinal() - _EPOCH.toordinal()) * 86_400_000_000
    elif isinstance(value, int) and not isinstance(value, bool):
        found = value * 1_000_000
    elif isinstance(value, float) and math.isfinite(value):
        found = round(value * 1_000_000)
    return found if found is not None and _MIN_US <= found <= _MAX_US else None


def _from_text(text: str) -> object:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        pass
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return None


def canonical_json(meta: Mapping[str, Any]) -> str:
    """One spelling of a JSON object: sorted keys, no spaces, no NaN (null instead), valid UTF-8.

    >>> canonical_json({"b": float("nan"), "a": "é"})
    '{"a":"é","b":null}'
    """
    try:
        return _dumps(meta)
    except (ValueError, TypeError):  # NaN, values that JSON does not have, lone surrogates
        return _dumps(_plain(meta))


def _dumps(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text.encode()
    return text


def _plain(value: object) -> object:
    """The nearest JSON value."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return value if value is None or isinstance(value, int) else str(value)


def tables(events: Iterable[Row | Skipped], *, source: str, origin: str) -> Iterator[tuple[pa.Table, Report]]:
    """Rows of one file, in bounded tables.

    Args:
        events: rows by rising position, and what was skipped.
        source: name of the source.
        origin: lasting name of the file.

    Returns:
        Tables of `with_reason(RAW)` of about TABLE_BYTES or TABLE_ROWS, each with its report; none for no event.
    """
    rows: list[Row] = []
    counts: dict[str, int] = {}
    size = 0
    for event in events:
        if isinstance(event, Skipped):
            name = f"skipped:{event.kind}"
            counts[name] = counts.get(name, 0) + 1
            continue
        rows.append(event)
        size += len(event.content)
        if size >= TABLE_BYTES or len(rows) >= TABLE_ROWS:
            yield _table(rows, source=source, origin=origin), Report(counts, samples=_samples(rows, source, origin))
            rows, counts, size = [], {}, 0
    if rows or counts:
        yield _table(rows, source=source, origin=origin), Report(counts, samples=_samples(rows, source, origin))


def _table(rows: list[Row], *, source: str, origin: str) -> pa.Table:
    columns = {
        "id": [document_id(source, origin, row.position) for row in rows],
        "content": [row.content for row in rows],
        "media_type": [row.media_type for row in rows],
        "url": [row.url for row in rows],
        "origin": [origin] * len(rows),
        "position": [row.position for row in rows],
        "timestamp": [row.timestamp for row in rows],
        "meta": [canonical_json(row.meta) if row.meta else None for row in rows],
        "reason": [row.reason for row in rows],
    }
    schema = with_reason(RAW)
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _samples(rows: list[Row], source: str, origin: str) -> dict[str, list[dict[str, Any]]]:
    samples: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row.reason == KEPT or len(samples.setdefault(row.reason, [])) >= SAMPLES_PER_REASON:
            continue
        sample: dict[str, Any] = {
            "id": document_id(source, origin, row.position).hex(),
            "url": row.url,
            "origin": origin,
            "position": row.position,
            "error": row.error[:SAMPLE_CHARS],
            "snippet": row.content[:SAMPLE_CHARS].decode("utf-8", "backslashreplace")[:SAMPLE_CHARS],
        }
        samples[row.reason].append(sample)
    return samples
