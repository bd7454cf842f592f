"""Columns of text as bytes: the buffers that kernels read, and how a kernel reads a character.

Shapes: D documents, W words of all of them.
"""

from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.stages.text.compiling import bare, inner

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Int: TypeAlias = Any  # int64 in a kernel, which mypy sees as int here and as np.int64 there
_A = TypeVar("_A", bound=npt.NDArray[Any])

FNV_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a, 64 bits
FNV_PRIME = np.uint64(0x100000001B3)


class Words(NamedTuple):
    """Where the words of some documents lie in their buffer.

    Args:
        starts: int64 [W], first byte of each word.
        stops: int64 [W], the byte after each.
        first: int64 [D + 1]; the words of document d are those from first[d] up to first[d + 1].
    """

    starts: Ints
    stops: Ints
    first: Ints


def utf8_buffers(array: pa.Array | pa.ChunkedArray) -> tuple[Bytes, Ints]:
    """The bytes of a column of strings and where each document lies in them, without a copy where it is one chunk.

    Args:
        array: large_string or string, no nulls; several chunks are joined.

    Returns:
        uint8 buffer and int64 [D + 1] offsets, both read-only; document d is buffer[offsets[d]:offsets[d + 1]].

    >>> buffer, offsets = utf8_buffers(pa.array(["ab", "", "c"], pa.large_string()).slice(1))
    >>> offsets.tolist(), bytes(buffer[offsets[1]:offsets[2]])
    ([2, 2, 3], b'c')
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # older pyarrow: combining no chunks, or too many, gives chunks
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.large_string())
    if not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    assert array.null_count == 0, "a column of texts has no nulls"
    _, offsets, data = array.buffers()
    return _view(data, np.uint8), _view(offsets, np.int64)[array.offset : array.offset + len(array) + 1]


def frozen(array: _A) -> _A:
    """The same array, read-only, as kernels take every input: numba compiles once for each kind."""
    array.flags.writeable = False
    return array


def _view(buffer: pa.Buffer | None, dtype: type) -> npt.NDArray[Any]:
    """A read-only array over an Arrow buffer; an empty column may have none, its one offset is 0."""
    if buffer is not None and buffer.size:
        return frozen(np.frombuffer(buffer, dtype))
    return frozen(np.zeros(1, dtype))


@inner
def decode(buffer: Bytes, at: Int, stop: Int) -> tuple[Int, Int]:
    """The code point at a byte of UTF-8 and its width in bytes; a character cut short by `stop` reads as U+FFFD."""
    lead = np.int64(buffer[at])
    if lead < 0x80:
        return lead, np.int64(1)
    if lead < 0xE0:
        point, width = lead & 0x1F, np.int64(2)
    elif lead < 0xF0:
        point, width = lead & 0x0F, np.int64(3)
    else:
        point, width = lead & 0x07, np.int64(4)
    if at + width > stop:
        return np.int64(0xFFFD), stop - at
    for k in range(1, width):
        point = (point << 6) | (np.int64(buffer[at + k]) & 0x3F)
    return point, width


@bare
def fnv1a(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """FNV-1a of some bytes.  Source: Fowler, Noll, Vo; RFC 9923."""
    h = FNV_BASIS
    for at in range(start, stop):
        h = (h ^ np.uint64(buffer[at])) * FNV_PRIME
    return h
