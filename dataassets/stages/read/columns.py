"""parquet: one row, one document, read by row groups so that a broken one costs itself only."""

from collections.abc import Iterator
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dataassets.recipe import Fields
from dataassets.stages.read.lines import from_fields
from dataassets.stages.read.rows import MAX_BAD_BYTES, Row, bad, canonical_json

BATCH_ROWS = 1024
MAX_LOST_ROWS = 10_000_000  # more in one row group is a damaged number
_CORRUPT = (pa.ArrowException, OSError, UnicodeDecodeError)  # the last: names of columns


def read_parquet(stream: IO[bytes], *, fields: Fields) -> Iterator[Row]:
    """Records of a Parquet file.

    Args:
        stream: the file, which must be able to seek.
        fields: which columns hold text, address and time; the others become meta.

    Returns:
        Rows at their row number. A file whose footer is broken is one bad row; every row of a row group that cannot
        be decoded is a bad row, without content.
    """
    watched = _Watched(stream)
    try:
        file = pq.ParquetFile(watched)
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    except _CORRUPT as error:
        watched.raise_own()
        stream.seek(0)
        yield bad(0, stream.read(MAX_BAD_BYTES), reason="read:damaged", error=f"the Parquet file is corrupt: {error}")
        return
    position = 0
    for group, num_rows in enumerate(sizes):
        end = position + max(0, num_rows)
        try:
            for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=[group]):
                for found in _plain_rows(batch):
                    yield _row(found, position=position, fields=fields)
                    position += 1
        except _CORRUPT as error:
            watched.raise_own()
            end = max(end, position + 1)
            yield from _lost(position, end, error=f"row group {group} is corrupt: {error}")
        else:
            yield from _lost(position, end, error=f"row group {group} is corrupt: it holds fewer rows than it says")
        position = max(end, position)


def _lost(begin: int, end: int, *, error: str) -> Iterator[Row]:
    """A bad row for each row that cannot be decoded; one for all where the number itself is not to be believed."""
    if end - begin > MAX_LOST_ROWS:
        error, end = f"{error} ({end - begin} rows, it says)", begin + 1
    for position in range(begin, end):
        yield bad(position, b"", reason="read:damaged", error=error)


class _Watched:
    """The file as Arrow reads it; remembers an error of its own, which is the network's and no damage."""

    closed = False

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._error: Exception | None = None

    def read(self, num_bytes: int = -1) -> bytes:
        try:
            return self._stream.read(num_bytes)
        except Exception as error:
            self._error = error
            raise

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def raise_own(self) -> None:
        if self._error is not None:
            raise self._error


def _plain_rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    columns = [_plain_column(column) for column in batch.columns]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _plain_column(column: pa.Array) -> list[Any]:
    """Python values; strings that are no UTF-8 stay bytes, times end at microseconds as Python's do."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        column = pc.cast(column, pa.timestamp("us", tz=kind.tz), safe=False)
    try:
        return cast("list[Any]", column.to_pylist())
    except (UnicodeDecodeError, ValueError, OverflowError):  # bytes, or years, that Python does not have
        return [_plain_value(value) for value in column]


def _plain_value(value: pa.Scalar) -> object:
    try:
        return cast("object", value.as_py())
    except UnicodeDecodeError:
        return cast("bytes", value.as_buffer().to_pybytes()) if hasattr(value, "as_buffer") else None
    except (ValueError, OverflowError):
        return str(value.value)


def _row(found: dict[str, Any], *, position: int, fields: Fields) -> Row:
    row = from_fields(found, position=position, fields=fields, raw=b"")
    return row if not row.reason else row._replace(content=canonical_json(found).encode()[:MAX_BAD_BYTES])
