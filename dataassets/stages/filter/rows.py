"""Rows of a table of embeddings, added up without a way through memory between two of them."""

from importlib import import_module
from typing import Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt
from numba import extending
from numba.core import cgutils as _cgutils

_It: TypeAlias = Any  # of numba and llvmlite, which have no types
_intrinsic: _It = extending.intrinsic
cgutils: _It = _cgutils

SIZE = 16  # numbers of a row
_LINE = 64  # bytes that a core's cache asks for at once


def zeros(num: int, width: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Zeros [num, width] that begin with a line of the cache, so that a row of 64 bytes is not spread over two.

    >>> zeros(3, 16, np.float32).ctypes.data % 64
    0
    """
    size = num * width * np.dtype(kind).itemsize
    room = np.zeros(size + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    return room[start : start + size].view(kind).reshape(num, width)


@_intrinsic  # type: ignore[untyped-decorator]
def add_rows(_: _It, total: _It, rows: _It, numbers: _It, num: _It) -> _It:
    """Add some rows to a total, in order; as `total[e] += rows[numbers[k], e]` for each k, to the bit.

    The total stays in registers. A compiled loop over arrays may not keep it there, since a store to one array might
    change another: each row then waits for the store of the one before.

    Args:
        total: float32 [SIZE], changed.
        rows: float32 [N, SIZE], C order.
        numbers: int64, which rows.
        num: how many of `numbers` count.
    """

    def generate(context: _It, builder: _It, signature: _It, args: _It) -> _It:
        total, rows, numbers = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:3], args[:3], strict=True)
        )
        ir: _It = import_module("llvmlite.ir")
        vector = ir.VectorType(ir.FloatType(), SIZE)
        target = builder.bitcast(total, vector.as_pointer())
        held = cgutils.alloca_once_value(builder, builder.load(target, align=4))
        with cgutils.for_range(builder, args[3]) as loop:
            first = builder.mul(builder.load(builder.gep(numbers, [loop.index])), ir.IntType(64)(SIZE))
            row = builder.bitcast(builder.gep(rows, [first]), vector.as_pointer())
            builder.store(builder.fadd(builder.load(held), builder.load(row, align=4)), held)
        builder.store(builder.load(held), target, align=4)
        return context.get_dummy_value()

    return numba.void(total, rows, numbers, numba.int64), generate
