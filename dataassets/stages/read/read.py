"""Files of one source to tables of `raw`: which reader for which format."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import IO

import pyarrow as pa

from dataassets.recipe import Source
from dataassets.report import Report
from dataassets.stages.read.columns import read_parquet
from dataassets.stages.read.files import UNOPENED, InputFile, open_file
from dataassets.stages.read.lines import read_jsonl
from dataassets.stages.read.rows import Row, Skipped, bad, tables
from dataassets.stages.read.whole import HTML, TEXT, read_whole


def read(files: Sequence[InputFile], *, source: str, settings: Source) -> Iterator[tuple[pa.Table, Report]]:
    """Read files into bounded tables, file by file, by rising position.

    Bad input never stops a file that can go on and is never lost: an unreadable record is a row whose reason starts
    with `read:`, with at most 64 KiB of the bytes met, and its `meta` tells the error. Records that are no documents
    (WARC requests, images, blank lines) are counted as `skipped:<what>`.

    Args:
        files: as `list_files` gives them.
        source: name of the source, part of every id.
        settings: its format and fields.

    Returns:
        Tables of `with_reason(RAW)` of about 4 MB of content or 10,000 rows, with their reports.

    Raises:
        OSError: the machine or the network failed; a file that is absent or forbidden is a bad row instead.
    """
    for file in files:
        yield from tables(_events(file, settings=settings), source=source, origin=file.origin)


def _events(file: InputFile, *, settings: Source) -> Iterator[Row | Skipped]:
    try:
        stream = open_file(file.path)
    except UNOPENED as error:
        yield bad(0, b"", reason="read:not_opened", error=f"{type(error).__name__}: {error.strerror or error}")
        return
    with stream:
        yield from _records(stream, name=PurePosixPath(file.origin).name, settings=settings)


def _records(stream: IO[bytes], *, name: str, settings: Source) -> Iterator[Row | Skipped]:
    match settings.format:
        case "text":
            return read_whole(stream, media_type=TEXT)
        case "html":
            return read_whole(stream, media_type=HTML)
        case "jsonl":
            return read_jsonl(stream, name=name, fields=settings.fields)
        case "parquet":
            return read_parquet(stream, fields=settings.fields)
        case "warc":
            from dataassets.stages.read.warc import read_warc  # compiled, for those who read archives only

            return read_warc(stream, name=name)
