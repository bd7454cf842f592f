"""Compiled counting of what repeats: bitmaps, hash sets, counters. Their memory is the caller's, used again and again.

Things are compared by 64-bit hashes: two different ones of a document pass for equal once in some 10**12 documents.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dataassets.stages.text import Hashes, Int, Ints, bare, fnv1a, frozen, inner

Slots = npt.NDArray[np.int32]
_SIX, _LOW = np.uint64(6), np.uint64(63)


@inner
def num_slots(num_keys: Int) -> Int:
    """Places of a table that keys fill by half at most: a power of two."""
    size = np.int64(16)
    while size < 2 * num_keys:
        size *= 2
    return size


@inner
def keep_repeated(hashes: Hashes, some: Ints, num: Int, once: Hashes, twice: Hashes) -> Int:
    """Of things, keep those whose hash may be there again: all that are, and few more.

    Args:
        hashes: uint64, the first `num` are read; those kept are moved to the front.
        some: int64, what they are the hashes of, moved alike.
        num: how many.
        once: uint64 [num_slots(num) // 8 or more], overwritten: a bit for each hash, 16 bits or more a thing.
        twice: the same, for what was seen again.

    Returns:
        How many are kept.
    """
    size = num_slots(num) // 8
    for k in range(size):
        once[k], twice[k] = 0, 0
    mask = np.uint64(size - 1)
    for k in range(num):
        word, bit = np.int64((hashes[k] >> _SIX) & mask), np.uint64(1) << (hashes[k] & _LOW)
        twice[word] |= once[word] & bit
        once[word] |= bit
    left = np.int64(0)
    for k in range(num):
        word, bit = np.int64((hashes[k] >> _SIX) & mask), np.uint64(1) << (hashes[k] & _LOW)
        if twice[word] & bit:
            hashes[left], some[left] = hashes[k], some[k]
            left += 1
    return left


@inner
def clear(slots: Slots, size: Int) -> None:
    """Zero the first slots (a loop compiles in a tenth of the time of a slice)."""
    for at in range(size):
        slots[at] = 0


@inner
def seen_before(hashes: Hashes, k: Int, slots: Slots, size: Int) -> bool:
    """Whether the k-th hash is one of those before it that are in the table; if not, it is put there.

    Args:
        hashes: uint64.
        k: which.
        slots: int32, the first `size` zero at the beginning: 1 + the number of a hash.
        size: `num_slots` of all hashes to come.
    """
    return _slot(hashes, k, slots, size)[1]


@inner
def _slot(hashes: Hashes, k: Int, slots: Slots, size: Int) -> tuple[Int, bool]:
    """Number of the hash that is equal, and True; else its own, which is put in, and False."""
    at = np.int64(hashes[k] >> np.uint64(20)) & (size - 1)
    while slots[at] != 0:
        other = np.int64(slots[at]) - 1
        if hashes[other] == hashes[k]:
            return other, True
        at = (at + 1) & (size - 1)
    slots[at] = k + 1
    return k, False


@inner
def most_frequent(hashes: Hashes, some: Ints, num: Int, slots: Slots, counts: Slots) -> tuple[Int, Int]:
    """How often the most frequent thing occurs, and the first of it; of equals the first, thing 0 if all occur once.

    Args:
        hashes: uint64, `num` are read.
        some: int64, rising, what they are the hashes of.
        num: how many.
        slots: int32 [num_slots(num) or more], overwritten.
        counts: int32 [num or more], overwritten.
    """
    size = num_slots(num)
    clear(slots, size)
    best: Int = 1
    best_at: Int = 0
    for k in range(num):
        first, again = _slot(hashes, k, slots, size)
        counts[first] = counts[first] + 1 if again else 1
        count = np.int64(counts[first])
        if count > best or (count == best and some[first] < best_at):
            best, best_at = count, some[first]
    return best, best_at


@inner
def count_repeats(hashes: Hashes, sizes: Ints, num: Int, slots: Slots) -> tuple[Int, Int]:
    """How many hashes were seen before, and the sum of their sizes. The first of its kind never counts.

    Args:
        hashes: uint64, `num` are read.
        sizes: int64, one of each.
        num: how many.
        slots: int32 [num_slots(num) or more], overwritten.
    """
    size = num_slots(num)
    clear(slots, size)
    repeats, total = np.int64(0), np.int64(0)
    for k in range(num):
        if seen_before(hashes, k, slots, size):
            repeats += 1
            total += sizes[k]
    return repeats, total


@bare
def place(keys: Hashes, key: np.uint64) -> Int:
    """Where a key is, or is to be put, in a table whose empty places hold 0. Keys are never 0."""
    mask = np.int64(len(keys) - 1)
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
    at = np.int64(mixed >> np.uint64(20)) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@inner
def not_zero(key: np.uint64) -> np.uint64:
    """The key, or 1 for 0."""
    return key if key != 0 else np.uint64(1)


def hash_table(words: Sequence[str]) -> Hashes:
    """FNV-1a of words in a table for `place`: a word is among them iff what lies at its place is its hash.

    >>> table = hash_table(["a", "be"])
    >>> len(table), int((table != 0).sum())
    (16, 2)
    """
    table = np.zeros(num_slots(len(words)), np.uint64)
    for word in words:
        spelled = np.frombuffer(word.encode(), np.uint8)
        key = np.uint64(not_zero(np.uint64(fnv1a(spelled, 0, len(spelled)))))
        table[place(table, key)] = key
    return frozen(table)
