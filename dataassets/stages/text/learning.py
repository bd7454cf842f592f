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
_LINKS = np.frombuffer(b"-/:<>=~,'", np.uint8)  # what may stand inside; all but the last are words between letters


@bare
def learn_plain(arena: Bytes, slots: Hashes, new: Ints, table: Bytes, out_left: Ints) -> Int:
    """Write the words of new records where the rules are simple: letters and digits, links, a mark at either end.

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
    num = _write_core(arena, place, lo, hi)
    if lo > start or hi < stop:
        plain = _known(arena, lo, hi, num, slots)
        if lo > start and hi < stop:
            plain = plain and _known(arena, start, hi, num + 1, slots) and _known(arena, lo, stop, num + 1, slots)
        if not plain:
            return False
    return _write_codes(arena, place, num > 1, slots)


@inner
def _write_core(arena: Bytes, place: Int, lo: Int, hi: Int) -> Int:
    """Write where the words of a record end; how many are not the marks outside."""
    start, stop = place + HEADER, place + HEADER + np.int64(arena[place])
    at = stop
    if lo > start:
        arena[at] = lo - start
        at += 1
    before = at
    for k in range(lo + 1, hi - 1):
        if _parts(arena, k):
            arena[at], arena[at + 1] = k - start, k + 1 - start
            at += 2
    arena[at] = hi - start
    num = at + 1 - before
    at += 1
    if hi < stop:
        arena[at] = stop - start
        at += 1
    arena[place + 2], arena[place + 3] = at - stop, 0  # for the number of words only once all is right
    return num


@inner
def _write_codes(arena: Bytes, place: Int, is_cut: bool, slots: Hashes) -> bool:
    """Finish a record whose ends are written; False where its core is cut and words of it may spell an exception.

    Where the core is not cut, any words side by side are a part that was looked at before. Words of exceptions have
    records from the start.
    """
    at = place + HEADER
    start, ends, num, last = at, at + np.int64(arena[place]), np.int64(arena[place + 2]), np.int64(0)
    arena[place + 2] = 0
    for k in range(num):
        stop, code = at + np.int64(arena[ends + k]), np.int64(0)
        h = hash64(arena, start, stop)
        record = np.int64(slots[slot_of(arena, start, stop - start, h, slots, arena)] & LOW) if num > 1 else UNKNOWN
        if record != UNKNOWN and arena[record + 1] > 0:
            code = np.int64(arena[record + 4]) | np.int64(arena[record + 5]) << 8
            if is_cut and (arena[record + 1] > 1 or (last and code)):
                return False
        if k == 0:
            arena[place + 4], arena[place + 5] = code & 255, code >> 8
        arena[place + 6], arena[place + 7] = code & 255, code >> 8
        start, last = stop, code
    arena[place + 1] = num
    return True


@inner
def _known(arena: Bytes, start: Int, stop: Int, num_words: Int, slots: Hashes) -> bool:
    """Whether a part of a chunk has no record, or one of so many words."""
    h = hash64(arena, start, stop)
    place = np.int64(slots[slot_of(arena, start, stop - start, h, slots, arena)] & LOW)
    return bool(place == UNKNOWN or arena[place + 1] == num_words)


@inner
def _is_one_of(byte: Int, marks: Bytes) -> bool:
    for k in range(len(marks)):  # noqa: SIM110 (any() is no numba)
        if marks[k] == byte:
            return True
    return False


@inner
def _is_core(arena: Bytes, lo: Int, hi: Int, table: Bytes) -> bool:
    """Letters, digits, low lines, links; the latter two not outside. With digits, one is last, so that no unit is."""
    if lo >= hi or arena[lo] == 95 or arena[hi - 1] == 95:
        return False
    at, digits = lo, False
    while at < hi:
        point, width = decode(arena, at, hi)
        if 48 <= point <= 57:
            digits = True
        elif _is_one_of(point, _LINKS):
            if at == lo or at + 1 == hi or not (_is_plain(arena[at - 1]) and _is_plain(arena[at + 1])):
                return False
            if point == 39 and at + 2 == hi and arena[at + 1] | 32 == 115:  # 's is cut from an end
                return False
        elif point != 95 and not table[point] & ALPHA:
            return False
        at += width
    return not digits or 48 <= arena[hi - 1] <= 57


@inner
def _is_plain(byte: Int) -> bool:
    """A letter or digit of ASCII."""
    return bool(48 <= byte <= 57 or 97 <= byte | 32 <= 122)


@inner
def _parts(arena: Bytes, at: Int) -> bool:
    """Whether a link is a word of its own; between letters and digits of ASCII."""
    if arena[at] == 39 or not _is_one_of(arena[at], _LINKS):  # an apostrophe links
        return False
    before, after = arena[at - 1] <= 57, arena[at + 1] <= 57  # digits
    if arena[at] == 44:
        return not before and not after
    return not after or (before and arena[at] == 45)


@inner
def _parts_dot(arena: Bytes, lo: Int, hi: Int) -> bool:
    """Whether a dot is cut from what stands before: after a small letter or digit, or two capitals; of ASCII only."""
    last = arena[hi - 1]
    if 97 <= last <= 122 or 48 <= last <= 57:
        return True
    return bool(hi - lo >= 2 and 65 <= last <= 90 and 65 <= arena[hi - 2] <= 90)
