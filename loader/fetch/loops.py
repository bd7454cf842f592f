"""The gathering loop, compiled by numba; imported in the background only (`loader.fetch.compiled`).

numpy takes a call for inputs and one for labels of each row; the loop takes one a batch, and lets other threads run.

Shapes: B rows, S shards, T tokens a row.
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
def _fill(tokens: Any, shift: int, inputs_T: Ints, labels_T: Ints) -> None:  # noqa: ANN401
    """Fill a row from T + shift tokens. Slices, since sums of indices keep a loop from taking many at a time."""
    later = tokens[shift:]
    for t in range(len(inputs_T)):
        inputs_T[t] = tokens[t]
    for t in range(len(labels_T)):
        labels_T[t] = later[t]


@numba.njit(nogil=True, cache=True)
def gather_uint16(
    starts_B: Ints, offsets: Ints, addresses_S: Ints, shift: int, inputs_BT: Ints, labels_BT: Ints, out_rest_B: Ints
) -> int:
    """Fill the rows that lie whole in one mapped shard of uint16 tokens.

    Args:
        starts_B: int64 [B], first token of each row in the stream of all shards.
        offsets: int64 [S + 1], first token of each shard.
        addresses_S: int64 [S], where each shard is mapped; 0 where it is not.
        shift: how far the labels lie ahead.
        inputs_BT: int64 [B, T], overwritten.
        labels_BT: int64 [B, T], overwritten.
        out_rest_B: int64 [B], filled with the numbers of the other rows.

    Returns:
        How many those are.
    """
    width, num = inputs_BT.shape[1] + shift, 0
    for b in range(len(starts_B)):
        shard = np.searchsorted(offsets, starts_B[b], side="right") - 1
        if addresses_S[shard] == 0 or offsets[shard + 1] - starts_B[b] < width:
            out_rest_B[num] = b
            num += 1
        else:
            first = addresses_S[shard] + 2 * (starts_B[b] - offsets[shard])
            _fill(carray(_uint16_at(first), width), shift, inputs_BT[b], labels_BT[b])
    return num


@numba.njit(nogil=True, cache=True)
def gather_int32(
    starts_B: Ints, offsets: Ints, addresses_S: Ints, shift: int, inputs_BT: Ints, labels_BT: Ints, out_rest_B: Ints
) -> int:
    """The same for int32 tokens."""
    width, num = inputs_BT.shape[1] + shift, 0
    for b in range(len(starts_B)):
        shard = np.searchsorted(offsets, starts_B[b], side="right") - 1
        if addresses_S[shard] == 0 or offsets[shard + 1] - starts_B[b] < width:
            out_rest_B[num] = b
            num += 1
        else:
            first = addresses_S[shard] + 4 * (starts_B[b] - offsets[shard])
            _fill(carray(_int32_at(first), width), shift, inputs_BT[b], labels_BT[b])
    return num


def made(itemsize: int) -> Any:  # noqa: ANN401 - a compiled function
    """The loop for tokens of 2 or 4 bytes, ready to run: a row of a shard that is not mapped compiles it."""
    loop = {2: gather_uint16, 4: gather_int32}[itemsize]
    one, rows = np.zeros(1, np.int64), np.zeros((2, 1, 1), np.int64)
    loop(one, np.array([0, 5]), one, 1, rows[0], rows[1], one.copy())
    return loop
