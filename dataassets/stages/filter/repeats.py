"""Compiled counting of what repeats: a hash set, a counter and the pieces of a text between line feeds.

Things are compared by 64-bit hashes: two different ones of a document pass for equal once in some 10**12 documents.
"""

from collections.abc import Sequence

import numpy as np

from dataassets.stages.text import FNV_BASIS, FNV_PRIME, Bytes, Hashes, Int, Ints, compiled, fnv1a, frozen


@compiled
def table_size(num_keys: Int) -> Int:
    """Places of a table that keys fill by half at most: a power of two."""
    size = np.int64(16)
    while size < 2 * num_keys:
        size *= 2
    return size


@compiled
def place(keys: Hashes, key: np.uint64) -> Int:
    """Where a key is, or is to be put, in a table whose empty places hold 0. Keys are never 0."""
    mask = np.int64(len(keys) - 1)
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
    at = np.int64(mixed >> np.uint64(20)) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@compiled
def count_repeats(keys: Hashes, sizes: Ints, num_keys: Int) -> tuple[Int, Int]:
    """How many keys were seen before, and the sum of their sizes. The first of its kind never counts."""
    seen = np.zeros(table_size(num_keys), np.uint64)
    num, size = np.int64(0), np.int64(0)
    for k in range(num_keys):
        at = place(seen, keys[k])
        if seen[at] == keys[k]:
            num += 1
            size += sizes[k]
        seen[at] = keys[k]
    return num, size


@compiled
def not_zero(key: np.uint64) -> np.uint64:
    """The key, or 1 for 0."""
    return key if key != 0 else np.uint64(1)


def hash_table(words: Sequence[str]) -> Hashes:
    """FNV-1a of words in a table for `place`: a word is among them iff what lies at its place is its hash.

    >>> table = hash_table(["a", "be"])
    >>> len(table), int((table != 0).sum())
    (16, 2)
    """
    table = np.zeros(table_size(len(words)), np.uint64)
    for word in words:
        spelled = np.frombuffer(word.encode(), np.uint8)
        key = np.uint64(not_zero(np.uint64(fnv1a(spelled, 0, len(spelled)))))
        table[place(table, key)] = key
    return frozen(table)


@compiled
def repeated_pieces(buffer: Bytes, start: Int, stop: Int, min_run: Int) -> tuple[Int, Int, Int]:
    """Split a text at runs of line feeds and count what repeats.

    Args:
        buffer: uint8 [bytes], UTF-8.
        start: first byte of the text.
        stop: the byte after it.
        min_run: a run of so many line feeds splits, a shorter one belongs to its piece.

    Returns:
        Number of pieces, of those seen before, and the characters of these.
    """
    most = 1
    for at in range(start, stop):
        most += buffer[at] == 10
    keys, sizes = np.empty(most, np.uint64), np.empty(most, np.int64)
    num, h, size, at = 0, FNV_BASIS, np.int64(0), start
    while at < stop:
        end = at + 1
        if buffer[at] == 10:
            while end < stop and buffer[end] == 10:
                end += 1
            if end - at >= min_run:
                keys[num], sizes[num] = not_zero(h), size
                num, h, size, at = num + 1, FNV_BASIS, np.int64(0), end
                continue
        for k in range(at, end):
            h = (h ^ np.uint64(buffer[k])) * FNV_PRIME
            size += buffer[k] & 0xC0 != 0x80
        at = end
    keys[num], sizes[num] = not_zero(h), size
    num_repeats, repeated_chars = count_repeats(keys, sizes, num + 1)
    return num + 1, num_repeats, repeated_chars
