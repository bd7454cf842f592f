"""Rows of a table of embeddings, added up without a way through memory between two of them."""

from typing import Any, TypeAlias

import numba
from llvmlite import ir
from numba import extending
from numba.core import cgutils

_It: TypeAlias = Any  # of numba and llvmlite, which have no types
_intrinsic: _It = extending.intrinsic

SIZE = 16  # numbers of a row


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
