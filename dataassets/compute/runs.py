"""Runs: files between scatter and gather. Rows lie by bucket, each bucket's bytes under a checksum of their own.

A run is, all integers little endian uint64:

    magic, number of buckets Q, bytes of the schema
    index: Q rows of (offset, bytes, checksum)
    checksum and schema, an Arrow message; buckets, each zero or more Arrow record batch messages

So a bucket is read by two positioned reads, wherever the file lies, and runs are merged by joining bytes. What was
damaged is told from what is not there: a bucket without rows has a checksum too, and an index of zeros has none.
"""

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

MAGIC = int.from_bytes(b"dataxch1", "little")
HEAD = 3 * 8
ROW = 3 * 8
CHUNK = 32_000_000  # bytes that a merge holds, but for a bucket that is larger

Index = npt.NDArray[np.uint64]  # [Q, 3]


class DamagedError(Exception):
    """A file between is not what was written, or is gone.

    Args:
        name: of the file.
        what: met.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name, what)
        self.name, self.what = name, what


def write_run(name: str, rows: pa.Table, buckets: npt.NDArray[np.uint32], *, num_buckets: int) -> None:
    """Write the rows of one unit.

    Args:
        name: of the file, which appears whole or not at all.
        rows: in any order; the rows of a bucket keep theirs.
        buckets: uint32, the bucket of each row.
        num_buckets: Q.
    """
    assert not any(pa.types.is_dictionary(f.type) for f in rows.schema), "a dictionary has no place in a run"
    rows = rows.take(np.argsort(buckets, kind="stable")).combine_chunks()
    ends = np.cumsum(np.bincount(buckets, minlength=num_buckets)).tolist()

    def spans() -> Iterator[bytes]:
        for start, end in pairwise([0, *ends]):
            batches = rows.slice(start, end - start).to_batches()
            yield b"".join(batch.serialize() for batch in batches if len(batch))

    with _created(name) as file:
        _write(file, rows.schema.serialize().to_pybytes(), spans(), num_buckets)


def merge_runs(name: str, sources: Sequence[str]) -> None:
    """Write one run that holds, in each bucket, what each of some runs holds, in their order; read them once.

    Raises:
        DamagedError: a source is damaged.
    """
    schema, lengths = b"", np.zeros(0, np.uint64)
    for source in sources:
        with _opened(source) as file:
            num_buckets, schema_bytes = _head(file, source)
            found = _schema(file, source, num_buckets, schema_bytes)
            assert schema in (b"", found), "units of one exchange have one schema"
            schema = found
            lengths = lengths if len(lengths) else np.zeros(num_buckets, np.uint64)
            lengths = lengths + _index(file, source, 0, num_buckets)[:, 1]

    def spans() -> Iterator[bytes]:
        for low, high in _chunks(lengths):
            pieces = []
            for source in sources:
                with _opened(source) as file:
                    pieces.append(_spans(file, source, low, high))
            for of_bucket in zip(*pieces, strict=True):
                yield b"".join(of_bucket)

    with _created(name) as file:
        _write(file, schema, spans(), len(lengths))


def read_bucket(name: str, bucket: int) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    """The rows of one bucket of a run.

    Raises:
        DamagedError: they are not those that were written.
    """
    with _opened(name) as file:
        num_buckets, schema_bytes = _head(file, name)
        if bucket >= num_buckets:
            raise DamagedError(name, f"{num_buckets} buckets")
        schema = pa.ipc.read_schema(pa.py_buffer(_schema(file, name, num_buckets, schema_bytes)))
        (span,) = _spans(file, name, bucket, bucket + 1)
    batches, reader = [], pa.BufferReader(span)
    while reader.tell() < len(span):
        batches.append(pa.ipc.read_record_batch(pa.ipc.read_message(reader), schema))
    return schema, batches


def write_sealed(name: str, data: bytes) -> None:
    """Write bytes under their own checksum; the file appears whole or not at all."""
    with _created(name) as file:
        file.write(_sealed(data))
        file.write(data)


def read_sealed(name: str) -> bytes:
    """The bytes that `write_sealed` wrote.

    Raises:
        DamagedError: they are others.
    """
    with _opened(name) as file:
        seal, data = file.read(16), file.read()
    if seal != _sealed(data):
        raise DamagedError(name, "another checksum")
    return data


def _sealed(data: bytes) -> bytes:
    return xxhash.xxh3_128_digest(data)


def _write(file: BinaryIO, schema: bytes, spans: Iterator[bytes], num_buckets: int) -> None:
    index: Index = np.zeros((num_buckets, 3), np.uint64)
    file.write(np.array([MAGIC, num_buckets, len(schema) + 8], "<u8").tobytes())
    file.write(index.tobytes())  # its room
    file.write(_checksum(schema, num_buckets, 0).to_bytes(8, "little") + schema)
    offset = HEAD + ROW * num_buckets + 8 + len(schema)
    for bucket, span in enumerate(spans):
        file.write(span)
        index[bucket] = offset, len(span), _checksum(span, bucket, offset)
        offset += len(span)
    file.seek(HEAD)
    file.write(index.astype("<u8").tobytes())


def _head(file: BinaryIO, name: str) -> tuple[int, int]:
    """Number of buckets, bytes of the schema with its checksum."""
    head = np.frombuffer(_read(file, name, 0, HEAD), "<u8").tolist()
    if head[0] != MAGIC:
        raise DamagedError(name, "no run")
    return head[1], head[2]


def _schema(file: BinaryIO, name: str, num_buckets: int, length: int) -> bytes:
    data = _read(file, name, HEAD + ROW * num_buckets, length)
    if int.from_bytes(data[:8], "little") != _checksum(data[8:], num_buckets, 0):
        raise DamagedError(name, "another schema")
    return data[8:]


def _index(file: BinaryIO, name: str, low: int, high: int) -> Index:
    return np.frombuffer(_read(file, name, HEAD + ROW * low, ROW * (high - low)), "<u8").reshape(-1, 3)


def _spans(file: BinaryIO, name: str, low: int, high: int) -> list[bytes]:
    """The bytes of buckets that lie side by side, checked."""
    rows = _index(file, name, low, high).tolist()
    first = rows[0][0]
    data = memoryview(_read(file, name, first, sum(length for _, length, _ in rows)))
    spans = []
    for bucket, (offset, length, checksum) in enumerate(rows, start=low):
        span = bytes(data[offset - first : offset - first + length]) if offset >= first else b""
        if len(span) != length or _checksum(span, bucket, offset) != checksum:
            raise DamagedError(name, f"another checksum of bucket {bucket}")
        spans.append(span)
    return spans


def _chunks(lengths: Index) -> Iterator[tuple[int, int]]:
    """Ranges of buckets of about CHUNK bytes."""
    low = held = 0
    for bucket, length in enumerate(lengths.tolist()):
        if held and held + length > CHUNK:
            yield low, bucket
            low, held = bucket, 0
        held += length
    if low < len(lengths):
        yield low, len(lengths)


def _checksum(data: bytes, bucket: int, offset: int) -> int:
    """Of the bytes, whose they are and where they lie: so an index that moved is met too."""
    digest = xxhash.xxh3_64(data, seed=bucket)
    digest.update(offset.to_bytes(8, "little"))
    return digest.intdigest()


def _read(file: BinaryIO, name: str, offset: int, length: int) -> bytes:
    size = os.fstat(file.fileno()).st_size
    if offset + length > size:  # also keeps a damaged length from asking for all the memory
        raise DamagedError(name, f"ends after {size} bytes")
    file.seek(offset)
    return file.read(length)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    try:
        with Path(name).open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise DamagedError(name, "is not there") from error


@contextmanager
def _created(name: str) -> Iterator[BinaryIO]:
    draft = Path(f"{name}.{uuid.uuid4().hex[:8]}.draft")
    try:
        with draft.open("wb") as file:
            yield file
        draft.replace(name)  # atomic: a file that is there is whole, unless the disk says otherwise
    finally:
        draft.unlink(missing_ok=True)
