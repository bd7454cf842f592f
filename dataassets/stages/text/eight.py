"""Eight bytes at a time: how kernels read, compare and hash text by machine words.

The first byte is the lowest one of a word.
"""

from typing import Any, TypeAlias

import numba
import numpy as np
from numba import extending

from dataassets.stages.text.buffers import Bytes, Int
from dataassets.stages.text.compiling import bare, inner

_It: TypeAlias = Any  # of numba and llvmlite, which have no types
intrinsic: _It = extending.intrinsic

EIGHT = np.int64(8)
ONES, TOPS = (
    np.uint64(0x0101010101010101),
    np.uint64(0x8080808080808080),
)  # lowest bit of each byte, top bit
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASH, _FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # 2**64 / golden ratio, odd


@intrinsic  # type: ignore[untyped-decorator]
def load64(_: _It, buffer: _It, at: _It) -> _It:
    """Eight bytes of a buffer from `at` on, wherever that is, the first one lowest; all must lie in the buffer."""

    def generate(context: _It, builder: _It, signature: _It, args: _It) -> _It:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), context.get_value_type(numba.uint64).as_pointer())
        return builder.load(place, align=1)

    return numba.uint64(buffer, numba.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store64(_: _It, buffer: _It, at: _It, value: _It) -> _It:
    """Write eight bytes, as `load64` reads them."""

    def generate(context: _It, builder: _It, signature: _It, args: _It) -> _It:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), context.get_value_type(numba.uint64).as_pointer())
        builder.store(args[2], place, align=1)
        return context.get_dummy_value()

    return numba.void(buffer, numba.int64, numba.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(_: _It, x: _It) -> _It:
    """Bits set in 64."""
    return numba.int64(numba.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic  # type: ignore[untyped-decorator]
def low_zeros(_: _It, x: _It) -> _It:
    """Zero bits of 64 below the lowest one that is set; one is."""

    def generate(context: _It, builder: _It, signature: _It, args: _It) -> _It:
        return builder.cttz(args[0], context.get_constant(numba.boolean, 1))

    return numba.int64(numba.uint64), generate


@inner
def where_is(x: np.uint64, byte: np.uint64) -> np.uint64:
    """The top bit of each of eight bytes that is `byte`."""
    y = x ^ (byte * ONES)
    return ~(((y & ~TOPS) + ~TOPS) | y) & TOPS


@inner
def has_below(x: np.uint64, byte: np.uint64) -> np.uint64:
    """Whether one of eight bytes is less than `byte`, which is 128 at most: not zero then."""
    return (x - byte * ONES) & ~x & TOPS


@inner
def num_followers(x: np.uint64) -> Int:
    """How many of eight bytes go on with a character of UTF-8."""
    return count_ones(x & ~(x << np.uint64(1)) & TOPS)


@inner
def head64(buffer: Bytes, at: Int, size: Int) -> np.uint64:
    """The first `size` bytes from `at` on, eight at most, as `load64` gives them; zeros above."""
    if size <= 0:
        return np.uint64(0)
    size = min(size, EIGHT)
    if at + EIGHT <= len(buffer):
        x: np.uint64 = load64(buffer, at) & (_ALL >> np.uint64(64 - 8 * size))
        return x
    x = np.uint64(0)
    for k in range(size):
        x |= np.uint64(buffer[at + k]) << np.uint64(8 * k)
    return x


@inner
def mix64(h: np.uint64, x: np.uint64) -> np.uint64:
    """A hash that goes on with eight more bytes."""
    h = (h ^ x) * _HASH
    return h ^ (h >> _FOLD)


@bare
def hash64(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """A hash of some bytes, eight at a time; for tables in memory, no format knows it."""
    h, at = np.uint64(stop - start) * _HASH, start
    while stop - at > EIGHT:
        h = mix64(h, load64(buffer, at))
        at += EIGHT
    return mix64(h, head64(buffer, at, stop - at))
