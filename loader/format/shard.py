"""A shard: `name.bin` and `name.idx`, byte for byte Megatron's indexed-dataset format, one sequence per document.

`name.bin` holds raw little-endian tokens; `name.idx` a 34-byte header, then three arrays:

    9 bytes  magic          u64 version = 1     u8 dtype code     u64 number of sequences D     u64 D + 1
    int32 [D] tokens of each sequence    int64 [D] its first byte in .bin    int64 [D + 1] document bounds 0, 1, ..., D

Shapes: D documents.
Source: NVIDIA/Megatron-LM, megatron/core/datasets/indexed_dataset.py.
"""

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from loader.errors import ShardError

MAGIC = b"MMIDIDX\x00\x00"
INDEX_VERSION = 1
HEADER = struct.Struct("<9sQBQQ")
DTYPE_CODES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 6: "<f8", 7: "<f4", 8: "<u2"}
WRITTEN_DTYPES = ("uint16", "int32")
DOCS_COLUMNS = ("id", "source", "url")
"""Columns of `name.docs.parquet`: fixed_size_binary[16], string, string; row d tells of document d of the shard."""

_BYTES_PER_DOCUMENT = 4 + 8 + 8
_MEND = "restore the shard from a copy, or materialize its partition again"


@dataclass(frozen=True, eq=False)
class ShardIndex:
    """Where each document of a shard lies.

    Attributes:
        dtype: of the tokens, little-endian.
        lengths: int32 [D], tokens of each document.
        offsets: int64 [D + 1], in tokens: document d is tokens[offsets[d] : offsets[d + 1]].
    """

    dtype: np.dtype[Any]
    lengths: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    @property
    def num_documents(self) -> int:
        """D, the number of documents."""
        return len(self.lengths)

    @property
    def num_tokens(self) -> int:
        """Tokens of all documents."""
        return int(self.offsets[-1])


def write_shard(
    bin_file: BinaryIO,
    idx_file: BinaryIO,
    token_chunks: Iterable[npt.NDArray[Any]],
    lengths: npt.NDArray[Any],
    *,
    dtype: npt.DTypeLike,
) -> None:
    """Write one shard in memory of one chunk: the tokens as they come, then the index.

    Args:
        bin_file: open for writing; receives `name.bin`.
        idx_file: open for writing; receives `name.idx`.
        token_chunks: integer arrays [any number of tokens]; their concatenation is the shard, cut anywhere.
        lengths: integer [D], tokens of each document, in order.
        dtype: uint16 or int32, of the tokens written.

    Raises:
        ShardError: another dtype, a token outside it or negative, a document beyond int32, or lengths
            that do not add up to the tokens. What was written until then is no shard.

    >>> import io
    >>> tokens, index = io.BytesIO(), io.BytesIO()
    >>> write_shard(tokens, index, [np.array([5, 6, 50256])], np.array([1, 2]), dtype="uint16")
    >>> tokens.getvalue().hex(), len(index.getvalue())
    ('0500060050c4', 82)
    """
    kind = np.dtype(dtype)
    if kind.name not in WRITTEN_DTYPES:
        raise ShardError(f"dtype = {kind.name}, a shard holds one of {WRITTEN_DTYPES}; take uint16 if the ids fit")
    kind = kind.newbyteorder("<")
    lengths_D = _checked_lengths(np.asarray(lengths))
    num_tokens = 0
    for chunk in token_chunks:
        bin_file.write(_as_tokens(np.asarray(chunk), kind, num_tokens).data)
        num_tokens += len(chunk)
    if num_tokens != int(lengths_D.sum()):
        raise ShardError(
            f"lengths of {len(lengths_D)} documents add up to {int(lengths_D.sum())} tokens, but {num_tokens} were "
            "given; give the lengths of exactly these tokens"
        )
    bounds = np.arange(len(lengths_D) + 1, dtype="<i8")
    pointers_D = (np.cumsum(lengths_D) - lengths_D) * kind.itemsize
    code = next(c for c, name in DTYPE_CODES.items() if np.dtype(name) == kind)
    idx_file.write(HEADER.pack(MAGIC, INDEX_VERSION, code, len(lengths_D), len(bounds)))
    for array in (lengths_D.astype("<i4"), pointers_D.astype("<i8"), bounds):
        idx_file.write(array.data)


def read_index(source: str | os.PathLike[str] | bytes, *, bin_bytes: int | None = None) -> ShardIndex:
    """Read `name.idx` and check all of it.

    Args:
        source: path of the index, whose `.bin` must lie beside it; or its bytes.
        bin_bytes: size of `name.bin`; for a path it is looked up where not given, for bytes it is checked if given.

    Returns:
        The index, its arrays owned by the caller.

    Raises:
        ShardError: damaged, truncated, not one sequence per document, or not the index of that `.bin`.
    """
    if isinstance(source, bytes):
        data, where = source, "index"
    else:
        where, data = os.fspath(source), _read(Path(source))
        bin_bytes = _size(Path(source).with_suffix(".bin")) if bin_bytes is None else bin_bytes
    dtype, num_docs = _read_header(data, where)
    at = HEADER.size
    lengths_D = np.frombuffer(data, "<i4", num_docs, at).astype(np.int32)
    pointers_D = np.frombuffer(data, "<i8", num_docs, at + 4 * num_docs)
    bounds = np.frombuffer(data, "<i8", num_docs + 1, at + 12 * num_docs)
    if num_docs and int(lengths_D.min()) < 0:
        first = int(np.argmax(lengths_D < 0))
        raise ShardError(f"{where}: document {first} has {lengths_D[first]} tokens, wanted >= 0; {_MEND}")
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths_D, dtype=np.int64)])
    _check_equal(pointers_D, offsets[:-1] * dtype.itemsize, what="byte pointer of document", where=where)
    _check_equal(bounds, np.arange(num_docs + 1), what="document bound", where=where)
    wanted = int(offsets[-1]) * dtype.itemsize
    if bin_bytes is not None and bin_bytes != wanted:
        raise ShardError(f"{where}: tells of {wanted} bytes of tokens, but its .bin has {bin_bytes}; {_MEND}")
    return ShardIndex(dtype=dtype, lengths=lengths_D, offsets=offsets)


def _checked_lengths(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """int64 [D] of lengths that an index can hold."""
    if lengths.ndim != 1 or (len(lengths) and lengths.dtype.kind not in "iu"):
        raise ShardError(
            f"lengths are {lengths.dtype}{list(lengths.shape)}, wanted integers [D]; give one per document"
        )
    limit = np.iinfo(np.int32).max
    for d in np.flatnonzero((lengths < 0) | (lengths > limit))[:1]:
        raise ShardError(f"document {d} has {lengths[d]} tokens, wanted 0 to {limit}; split it or leave it out")
    return lengths.astype(np.int64)


def _as_tokens(chunk: npt.NDArray[Any], kind: np.dtype[Any], start: int) -> npt.NDArray[Any]:
    """The chunk in the shard's dtype, every value unchanged."""
    if chunk.ndim != 1 or (len(chunk) and chunk.dtype.kind not in "iu"):
        raise ShardError(
            f"token chunk at token {start} is {chunk.dtype}{list(chunk.shape)}, wanted integers [N]; flatten or cast it"
        )
    limit = np.iinfo(kind).max
    if len(chunk) and (int(chunk.min()) < 0 or int(chunk.max()) > limit):
        i = int(np.argmax((chunk < 0) | (chunk > limit)))
        raise ShardError(f"token {start + i} is {chunk[i]}, {kind.name} wants 0 to {limit}; take int32 or mend it")
    return np.ascontiguousarray(chunk, dtype=kind)


def _read_header(data: bytes, where: str) -> tuple[np.dtype[Any], int]:
    """Token dtype and number of documents, when the size of the index agrees with them."""
    if len(data) < HEADER.size:
        raise ShardError(f"{where}: {len(data)} bytes, an index has at least {HEADER.size}; {_MEND}")
    magic, version, code, num_sequences, num_bounds = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise ShardError(f"{where}: begins with {magic!r}, an index with {MAGIC!r}; {_MEND}")
    if version != INDEX_VERSION:
        raise ShardError(f"{where}: version {version}, this loader reads {INDEX_VERSION}; {_MEND}")
    if code not in DTYPE_CODES:
        raise ShardError(f"{where}: dtype code {code}, known are {sorted(DTYPE_CODES)}; {_MEND}")
    if num_bounds != num_sequences + 1:
        raise ShardError(
            f"{where}: {num_sequences} sequences with {num_bounds} document bounds, wanted {num_sequences + 1}, one "
            "sequence per document; write the data anew through loader.format"
        )
    wanted = HEADER.size + num_sequences * _BYTES_PER_DOCUMENT + 8
    if len(data) != wanted:
        raise ShardError(f"{where}: {len(data)} bytes, {num_sequences} documents take {wanted}; {_MEND}")
    return np.dtype(DTYPE_CODES[code]), num_sequences


def _check_equal(found: npt.NDArray[Any], wanted: npt.NDArray[Any], *, what: str, where: str) -> None:
    for d in np.flatnonzero(found != wanted)[:1]:
        raise ShardError(f"{where}: {what} {d} is {found[d]}, wanted {wanted[d]}; {_MEND}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ShardError(f"{path}: cannot be read ({error.strerror}); {_MEND}") from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise ShardError(f"{path}: cannot be read ({error.strerror}); {_MEND}") from error
