"""Compiled learning of chunks: the records of those that are plainly letters and digits, with a mark at either end.

The others go through the rules (`chunks`). Records are laid out as `kernels` says.
"""

import numpy as np

from dataassets.stages.text.buffers import Bytes, Hashes, Int, Ints, decode
from dataassets.stages.text.classes import ALPHA
from dataassets.stages.text.compiling import bare, inner
from dataassets.stages.text.eight import hash64
from dataassets.stages.text.kernels import HEADER, LOW, UNKNOWN, slot_of

_BEFORE = np.frombuffer(b"([{<\"'`#*&", np.uint8)  # marks that are always cut from a start
_AFTER = np.frombuffer(b".,;:!?)]}>\"'`", np.uint8)  # and from an end, but for the dot


@bare
def learn_plain(arena: Bytes, slots: Hashes, new: Ints, table: Bytes, out_left: Ints) -> Int:
    """Write the words of new records where the rules are simple: letters and digits, a mark before and one after.

    Every exception has a record from the start, so a chunk, or a part of one, that has none is no exception.

    Args:
        arena: uint8 [bytes], changed.
        slots: uint64 [S].
        new: int64, places of the records.
        table: `class_table()`.
        out_left: int64 [len(new)], filled with the places of records that want the rules.

    Returns:
        How many of these there are.
    """
    num = np.int64(0)
    for num_marks in range(3):  # a part of a chunk comes before the chunk
        for n in range(len(new)):
            place = new[n]
            start = place + HEADER
            stop = start + np.int64(arena[place])
            lo = start + np.int64(_is_one_of(arena[start], _BEFORE))
            hi = stop - np.int64(_is_one_of(arena[stop - 1], _AFTER))
            if (lo - start) + (stop - hi) == num_marks and not _learn_one(arena, place, lo, hi, slots, table):
                out_left[num] = place
                num += 1
    return num


@inner
def _learn_one(arena: Bytes, place: Int, lo: Int, hi: Int, slots: Hashes, table: Bytes) -> bool:
    """Write the record of a chunk with a mark before `lo` and from `hi` on; False where that wants the rules."""
    start, stop = place + HEADER, place + HEADER + np.int64(arena[place])
    if not _is_core(arena, lo, hi, table) or (hi < stop and arena[hi] == 46 and not _parts_dot(arena, lo, hi)):
        return False
    head, tail = np.int64(UNKNOWN), np.int64(UNKNOWN)
    if lo > start or hi < stop:
        core, plain = _known(arena, lo, hi, 1, slots)
        if lo > start and hi < stop:
            plain = plain and _known(arena, start, hi, 2, slots)[1] and _known(arena, lo, stop, 2, slots)[1]
        if not plain:
            return False
        head = _known(arena, start, lo, 1, slots)[0] if lo > start else core
        tail = _known(arena, hi, stop, 1, slots)[0] if hi < stop else core
    _write(arena, place, lo, hi, head, tail)
    return True


@inner
def _write(arena: Bytes, place: Int, lo: Int, hi: Int, head: Int, tail: Int) -> None:
    """Fill the record of a chunk that is cut at `lo` and `hi`, each where it is no end of the chunk."""
    start, stop = place + HEADER, place + HEADER + np.int64(arena[place])
    at = stop
    if lo > start:
        arena[at] = lo - start
        at += 1
    arena[at] = hi - start
    at += 1
    if hi < stop:
        arena[at] = stop - start
        at += 1
    arena[place + 1], arena[place + 2], arena[place + 3] = at - stop, 0, 0
    for k in range(2):
        arena[place + 4 + k] = arena[head + 4 + k] if head != UNKNOWN else 0
        arena[place + 6 + k] = arena[tail + 6 + k] if tail != UNKNOWN else 0


@inner
def _known(arena: Bytes, start: Int, stop: Int, num_words: Int, slots: Hashes) -> tuple[Int, bool]:
    """Record of a part of a chunk, UNKNOWN where it has none; whether it has none, or so many words."""
    h = hash64(arena, start, stop)
    place = np.int64(slots[slot_of(arena, start, stop - start, h, slots, arena)] & LOW)
    return place, place == UNKNOWN or arena[place + 1] == num_words


@inner
def _is_one_of(byte: Int, marks: Bytes) -> bool:
    for k in range(len(marks)):  # noqa: SIM110 (any() is no numba)
        if marks[k] == byte:
            return True
    return False


@inner
def _is_core(arena: Bytes, lo: Int, hi: Int, table: Bytes) -> bool:
    """Letters, digits and low lines, the latter not outside; if there are digits, one is last, so that no unit is."""
    if lo >= hi or arena[lo] == 95 or arena[hi - 1] == 95:
        return False
    at, digits = lo, False
    while at < hi:
        point, width = decode(arena, at, hi)
        if 48 <= point <= 57:
            digits = True
        elif point != 95 and not table[point] & ALPHA:
            return False
        at += width
    return not digits or 48 <= arena[hi - 1] <= 57


@inner
def _parts_dot(arena: Bytes, lo: Int, hi: Int) -> bool:
    """Whether a dot is cut from what stands before: after a small letter or digit, or two capitals; of ASCII only."""
    last = arena[hi - 1]
    if 97 <= last <= 122 or 48 <= last <= 57:
        return True
    return bool(hi - lo >= 2 and 65 <= last <= 90 and 65 <= arena[hi - 2] <= 90)
