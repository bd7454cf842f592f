"""Columns of text as bytes: the buffers that kernels read, and how a kernel reads a character.

numba keeps a compiled caller as long as the caller's own file is unchanged: after an edit here, delete the
`__pycache__/*.nbi` of modules whose kernels call these.

Shapes: D documents, W words of all of them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from llvmlite import ir
from numba.extending import intrinsic

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Int: TypeAlias = Any  # int64 in a kernel, which mypy sees as int here and as np.int64 there
EIGHT = np.int64(8)  # bytes that a kernel reads at a time
ONES, TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # of each of eight bytes, the lowest bit, top
_HASH, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # 2**64 / golden ratio, odd
_F = TypeVar("_F", bound=Callable[..., Any])
_A = TypeVar("_A", bound=npt.NDArray[Any])

FNV_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a, 64 bits
FNV_PRIME = np.uint64(0x100000001B3)


def compiled(function: _F) -> _F:
    """`numba.njit(cache=True, nogil=True)` that keeps the function's type for mypy."""
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


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


@compiled
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


@compiled
def fnv1a(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """FNV-1a of some bytes.  Source: Fowler, Noll, Vo; RFC 9923."""
    h = FNV_BASIS
    for at in range(start, stop):
        h = (h ^ np.uint64(buffer[at])) * FNV_PRIME
    return h


@intrinsic  # type: ignore[untyped-decorator]
def load64(_: Any, buffer: Any, at: Any) -> Any:
    """Eight bytes of a buffer from `at` on, wherever that is, the first one lowest; all must lie in the buffer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return numba.uint64(buffer, numba.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store64(_: Any, buffer: Any, at: Any, value: Any) -> Any:
    """Write eight bytes, as `load64` reads them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        builder.store(args[2], place, align=1)
        return context.get_dummy_value()

    return numba.void(buffer, numba.int64, numba.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(_: Any, x: Any) -> Any:
    """Bits set in 64."""
    return numba.int64(numba.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic  # type: ignore[untyped-decorator]
def low_zeros(_: Any, x: Any) -> Any:
    """Zero bits of 64 below the lowest one that is set; one is."""
    flag = ir.Constant(ir.IntType(1), 1)
    return numba.int64(numba.uint64), lambda context, builder, signature, args: builder.cttz(args[0], flag)


@compiled
def where_is(x: np.uint64, byte: np.uint64) -> np.uint64:
    """The top bit of each of eight bytes that is `byte`."""
    y = x ^ (byte * ONES)
    return ~(((y & ~TOPS) + ~TOPS) | y) & TOPS


@compiled
def has_below(x: np.uint64, byte: np.uint64) -> np.uint64:
    """Whether one of eight bytes is less than `byte`, which is 128 at most: not zero then."""
    return (x - byte * ONES) & ~x & TOPS


@compiled
def num_followers(x: np.uint64) -> Int:
    """How many of eight bytes go on with a character of UTF-8."""
    return count_ones(x & ~(x << np.uint64(1)) & TOPS)


@compiled
def head64(buffer: Bytes, at: Int, size: Int) -> np.uint64:
    """The first `size` bytes from `at` on, eight at most, as `load64` gives them; zeros above."""
    if size <= 0:
        return np.uint64(0)
    size = min(size, EIGHT)
    if at + EIGHT <= len(buffer):
        return load64(buffer, at) & (np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * size))
    x = np.uint64(0)
    for k in range(size):
        x |= np.uint64(buffer[at + k]) << np.uint64(8 * k)
    return x


@compiled
def mix64(h: np.uint64, x: np.uint64) -> np.uint64:
    """A hash that goes on with eight more bytes."""
    h = (h ^ x) * _HASH
    return h ^ (h >> _FOLD)


@compiled
def hash64(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """A hash of some bytes, eight at a time; for tables in memory, no format knows it."""
    h, at = np.uint64(stop - start) * _HASH, start
    while stop - at > EIGHT:
        h = mix64(h, load64(buffer, at))
        at += EIGHT
    return mix64(h, head64(buffer, at, stop - at))
