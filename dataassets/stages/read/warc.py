"""WARC and WET archives: captures of pages become documents, all other records are counted."""

import re
from collections.abc import Iterator
from typing import IO, Any

from dataassets.stages.read.frames import Frame, frames
from dataassets.stages.read.http import UndecodableError, decode, header_map, split_message
from dataassets.stages.read.inflate import inflate
from dataassets.stages.read.rows import Row, Skipped, bad, microseconds

_HTML = ("text/html", "application/xhtml+xml")
# text to a machine, not to a reader
_CODE = frozenset(
    f"text/{kind}" for kind in ("css", "javascript", "ecmascript", "x-javascript", "jscript", "xml", "dns")
)
_LOOKS_HTML = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_SNIFF_BYTES = 1024


def read_warc(stream: IO[bytes], *, name: str) -> Iterator[Row | Skipped]:
    """Documents of an archive: what it holds of HTML and text.

    HTTP responses with status 2xx, `resource` and `conversion` (WET) records count, where their media type is HTML or
    text; style sheets, scripts and XML feeds are no documents.

    Args:
        stream: the archive as stored: plain, gzip (by record or as a whole) or zstd.
        name: its name.

    Returns:
        Rows with the payload after transfer and content decoding; bad rows; `Skipped` for every other record.
    """
    for found in frames(inflate(stream, name=name)):
        yield found if isinstance(found, Row) else _event(found)


def _event(frame: Frame) -> Row | Skipped:
    warc = header_map(frame.head)
    kind = (warc.get("warc-type") or "untyped").lower()
    url = (warc.get("warc-target-uri") or "").strip().removeprefix("<").removesuffix(">") or None
    date, truncated = warc.get("warc-date"), warc.get("warc-truncated")
    timestamp = microseconds(date) if date else None
    meta: dict[str, Any] = {"timestamp": date} if date and timestamp is None else {}
    if truncated:  # the crawler says that it cut the payload
        meta["truncated"] = truncated
    if kind in ("resource", "conversion"):
        media_type = warc.get("content-type") or ""
        return _document(Row(frame.position, frame.block, media_type, url, timestamp, meta))
    if kind != "response":
        return Skipped(kind)
    if not (warc.get("content-type") or "application/http").lower().lstrip().startswith("application/http"):
        return Skipped("response_not_http")
    message = split_message(frame.block)
    if message is None:
        return bad(frame.position, frame.block, reason="read:bad_http", error="no HTTP status line", url=url)
    status, http, payload = message
    if not 200 <= status < 300:
        return Skipped(f"http_{status // 100}xx")
    media_type = http.get("content-type") or warc.get("warc-identified-payload-type") or ""
    if _base(media_type) and not _is_document(media_type):
        return Skipped(f"media_{_family(media_type)}")
    try:
        payload = decode(payload, http)
    except UndecodableError as error:
        if error.partial is None or not truncated:
            return bad(frame.position, payload, reason="read:undecodable", error=str(error), url=url)
        payload = error.partial
    return _document(Row(frame.position, payload, media_type, url, timestamp, meta))


def _document(row: Row) -> Row | Skipped:
    media_type = row.media_type.strip()
    if not _base(media_type):
        if not _LOOKS_HTML.search(row.content, 0, _SNIFF_BYTES):
            return Skipped("media_none")
        media_type = "text/html" + media_type
    return row._replace(media_type=media_type) if _is_document(media_type) else Skipped(f"media_{_family(media_type)}")


def _base(media_type: str) -> str:
    return media_type.split(";", 1)[0].strip().lower()


def _is_document(media_type: str) -> bool:
    base = _base(media_type)
    return base in _HTML or (base.startswith("text/") and base not in _CODE)


def _family(media_type: str) -> str:
    """One of few names, since counters are for people."""
    family = _base(media_type).split("/", 1)[0]
    known = ("application", "audio", "font", "image", "text", "video")
    return family if family in known else "other"
