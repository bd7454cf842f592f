"""The gathering loop, compiled by numba; imported in the background only (`loader.fetch.compiled`).

numpy reads each token twice, for inputs and for labels; the loop reads it once, and lets other threads run.

Shapes: B rows, T tokens a row.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

Ints = npt.NDArray[np.int64]


def _pointer(dtype: Any) -> Any:  # noqa: ANN401 - numba's own types
    @intrinsic
    def at(_typing: Any, _address: Any) -> Any:  # noqa: ANN401
        """An address as a pointer to tokens."""

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(dtype)(types.int64), code  # type: ignore[no-untyped-call]

    return at


_uint16_at, _int32_at = _pointer(types.uint16), _pointer(types.int32)


@numba.njit(nogil=True, cache=True)
def _spread(tokens: Any, shift: int, inputs_T: Ints, labels_T: Ints) -> None:  # noqa: ANN401
    """Fill a row from T + shift tokens."""
    seq_len = len(inputs_T)
    ahead = min(shift, seq_len)
    for t in range(ahead):
        inputs_T[t] = tokens[t]
    for t in range(seq_len - ahead):
        token = tokens[t + shift]
        inputs_T[t + shift] = token
        labels_T[t] = token
    for t in range(seq_len - ahead, seq_len):
        labels_T[t] = tokens[t + shift]


@numba.njit(nogil=True, cache=True)
def gather_uint16(first_B: Ints, shift: int, inputs_BT: Ints, labels_BT: Ints) -> None:
    """Fill rows with the uint16 tokens at some addresses.

    Args:
        first_B: int64 [B], address of each row's first token; 0 leaves the row as it is.
        shift: how far the labels lie ahead.
        inputs_BT: int64 [B, T], overwritten.
        labels_BT: int64 [B, T], overwritten.
    """
    for b in range(len(first_B)):
        if first_B[b] != 0:
            tokens = carray(_uint16_at(first_B[b]), inputs_BT.shape[1] + shift)
            _spread(tokens, shift, inputs_BT[b], labels_BT[b])


@numba.njit(nogil=True, cache=True)
def gather_int32(first_B: Ints, shift: int, inputs_BT: Ints, labels_BT: Ints) -> None:
    """The same for int32 tokens."""
    for b in range(len(first_B)):
        if first_B[b] != 0:
            tokens = carray(_int32_at(first_B[b]), inputs_BT.shape[1] + shift)
            _spread(tokens, shift, inputs_BT[b], labels_BT[b])


def made(itemsize: int) -> Any:  # noqa: ANN401 - a compiled function
    """The loop for tokens of 2 or 4 bytes, ready to run: one row at address 0 compiles it and reads nothing."""
    loop = {2: gather_uint16, 4: gather_int32}[itemsize]
    loop(np.zeros(1, np.int64), 1, *np.zeros((2, 1, 1), np.int64))
    return loop
