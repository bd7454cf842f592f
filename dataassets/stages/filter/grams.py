"""Compiled signals of words: letters, symbols, stop words, and the n-grams that repeat.

Most n-grams of a text occur once and need no table. An n-gram of words with a space between two repeats only if its two
(n - 1)-grams do; one of joined words, whatever stands between two, only if its first 16 bytes do, and its first 32. So
at each order only those go on that may repeat, by a bitmap that misses none (`keep_repeated`).

Shapes: D documents, W words of all of them, N words of one, Q quantities.
"""

import numpy as np

from dataassets.stages.filter.repeats import Slots, clear, keep_repeated, most_frequent, num_slots, seen_before
from dataassets.stages.text import (
    ALPHA,
    EIGHT,
    SYMBOL,
    Bytes,
    Hashes,
    Int,
    Ints,
    compiled,
    decode,
    hash64,
    head64,
    inner,
    load64,
    mix64,
    store64,
)  # fmt: skip

# Columns of what the kernel counts, before those of the orders asked for: of the most frequent n-grams, of those seen
# before.
WORDS = ("words", "nonsymbol", "nonsymbol_chars", "alpha", "stop_words")

_SHORT, _LONG = 16, 32  # bytes that n-grams which repeat begin with
_HIGH = np.uint64(0x8080808080808080)  # the top bit of each of eight bytes
_ONES = np.uint64(0x0101010101010101)
_BELOW_A, _ABOVE_Z = np.uint64(0x1F1F1F1F1F1F1F1F), np.uint64(0x0505050505050505)  # carry into the top bit
_LOWER = np.uint64(0x2020202020202020)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NO_TEXT = np.uint8(0xFF)  # a byte of no UTF-8


@compiled
def count_words(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, first: Ints, table: Bytes, stop_hashes: Hashes, top: Ints, dup: Ints,
    apart: Int, out_DQ: Ints,
) -> None:  # fmt: skip
    """Count what the words of documents are, and what their n-grams repeat.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [W], first byte of each word.
        stops: int64 [W], the byte after each.
        first: int64 [D + 1]; document d has words first[d] to first[d + 1].
        table: `class_table()`.
        stop_hashes: `hash64` of the stop words.
        top: int64, rising: orders of the n-grams of which the most frequent counts.
        dup: int64, rising, one at least: orders of those that count when seen before.
        apart: whether these are different where their words are; else where their words are without a separator.
        out_DQ: int64 [D, len(WORDS) + len(top) + len(dup)], filled.
    """
    most_words, most_bytes = np.int64(0), np.int64(0)
    for d in range(len(first) - 1):
        most_words = max(most_words, first[d + 1] - first[d])
        if first[d] < first[d + 1]:
            most_bytes = max(most_bytes, stops[first[d + 1] - 1] - starts[first[d]])
    joined = np.zeros(most_bytes + most_words + _LONG + 8, np.uint8)
    at, chars, some = (
        np.zeros(most_words + 1, np.int64),
        np.zeros(most_words + 1, np.int64),
        np.empty(most_words, np.int64),
    )
    keys, hashes = np.empty(most_words, np.uint64), np.empty(most_words, np.uint64)
    once, twice = np.empty(num_slots(most_words) // 8, np.uint64), np.empty(num_slots(most_words) // 8, np.uint64)
    slots, counts = np.empty(num_slots(most_words), np.int32), np.empty(most_words, np.int32)
    begins = np.empty(most_words, np.uint8)
    for d in range(len(first) - 1):
        a, b, out = first[d], first[d + 1], out_DQ[d]
        _read(buffer, starts[a:b], stops[a:b], table, apart, joined, at, chars, keys, out)
        out[0] = b - a
        out[4] = _num_found(keys[: b - a], stop_hashes)
        _top_n_grams(keys[: b - a], chars, top, hashes, some, once, twice, slots, counts, out[len(WORDS) :])
        num = _may_repeat(joined, at[: b - a + 1], dup[0], hashes, some, once, twice, begins)
        for k in range(len(dup)):
            total = _seen_n_grams(joined, at[: b - a + 1], chars, begins, some[:num], slots, hashes, dup[k])
            out[len(WORDS) + len(top) + k] = total


@inner
def _read(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, apart: Int, joined: Bytes, at: Ints, chars: Ints,
    keys: Hashes, out: Ints,
) -> None:  # fmt: skip
    """Join the words of a document; where each then begins, characters before each, a hash of each; count kinds."""
    place, num_chars = np.int64(0), np.int64(0)
    nonsymbol, nonsymbol_chars, alpha = np.int64(0), np.int64(0), np.int64(0)
    for w in range(len(starts)):
        start, stop = starts[w], stops[w]
        size = stop - start
        h, high, letters = np.uint64(size) * _BASE, np.uint64(0), np.uint64(0)
        k = np.int64(0)
        while k < size:
            x = head64(buffer, start + k, size - k)
            store64(joined, place + k, x)
            h = mix64(h, x)
            high |= x & _HIGH
            small = (x | _LOWER) & ~_HIGH
            letters |= (small + _BELOW_A) & ~(small + _ABOVE_Z) & _HIGH
            k += EIGHT
        keys[w] = h
        if high == 0 and letters != 0:
            length, is_alpha, is_symbol = size, True, False
        else:
            length, is_alpha, is_symbol = _char_classes(buffer, start, stop, table)
        place += size
        if apart:
            joined[place] = _NO_TEXT
            place += 1
        num_chars += length
        at[w + 1], chars[w + 1] = place, num_chars
        if not is_symbol:
            nonsymbol += 1
            nonsymbol_chars += length
        alpha += is_alpha
    out[1], out[2], out[3] = nonsymbol, nonsymbol_chars, alpha


@inner
def _char_classes(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> tuple[Int, bool, bool]:
    """Characters of a word, whether one is a letter, whether all are symbols."""
    some: Int = 0
    every: Int = 0xFF
    length, at = 0, start
    while at < stop:
        point, width = decode(buffer, at, stop)
        some |= np.int64(table[point])
        every &= np.int64(table[point])
        length += 1
        at += width
    return length, some & ALPHA != 0, every & SYMBOL != 0


@inner
def _num_found(keys: Hashes, wanted: Hashes) -> Int:
    """How many different wanted hashes occur among the keys."""
    bits, low = np.uint64(0), np.uint64(63)
    for k in range(len(wanted)):
        bits |= np.uint64(1) << (wanted[k] & low)
    seen, num = np.zeros(len(wanted), np.bool_), np.int64(0)
    for w in range(len(keys)):
        if bits >> (keys[w] & low) & np.uint64(1):
            for k in range(len(wanted)):
                if wanted[k] == keys[w] and not seen[k]:
                    seen[k] = True
                    num += 1
    return num


@inner
def _top_n_grams(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    keys: Hashes, chars: Ints, orders: Ints, hashes: Hashes, some: Ints, once: Hashes, twice: Hashes, slots: Slots,
    counts: Slots, out: Ints,
) -> None:  # fmt: skip
    """Of each order, count times length, a space between words, of the most frequent n-gram; the first of equals."""
    num: Int = len(keys)
    for i in range(num):
        some[i], hashes[i] = i, keys[i]
    asked = np.int64(0)
    if len(orders) and orders[0] == 1 and num:
        count, i = most_frequent(hashes, some, num, slots, counts)
        out[0] = count * (chars[i + 1] - chars[i])
        asked = np.int64(1)
    num -= 1
    for n in range(2, orders[-1] + 1 if len(orders) else 0):
        if len(keys) < n:
            return
        for k in range(num):
            hashes[k] = mix64(hashes[k] * _BASE, keys[some[k] + n - 1])
        num = keep_repeated(hashes, some, num, once, twice)
        if orders[asked] == n:
            count, i = most_frequent(hashes, some, num, slots, counts)
            out[asked] = count * (chars[i + n] - chars[i] + n - 1)
            asked += 1
        left = np.int64(0)
        for k in range(num - 1):  # a longer one repeats only if what begins at its second word does
            if some[k + 1] == some[k] + 1:
                some[left], hashes[left] = some[k], hashes[k]
                left += 1
        num = left


@inner
def _may_repeat(
    joined: Bytes, at: Ints, least: Int, hashes: Hashes, some: Ints, once: Hashes, twice: Hashes, begins: Bytes
) -> Int:
    """Words where an n-gram of an order from `least` on may begin that repeats: fill `some`, return how many.

    `begins` [N] tells how long what repeats there may be: 0 less than _SHORT bytes, 1 less than _LONG, 2 any.
    """
    num_words, end = len(at) - 1, at[len(at) - 1]
    num = np.int64(0)
    for i in range(num_words):
        begins[i] = 0
        if at[i] + _SHORT <= end:
            some[num] = i
            hashes[num] = mix64(mix64(_BASE, load64(joined, at[i])), load64(joined, at[i] + 8))
            num += 1
    num = keep_repeated(hashes, some, num, once, twice)
    left = np.int64(0)
    for k in range(num):
        i = some[k]
        begins[i] = 1
        if at[i] + _LONG <= end:
            some[left] = i
            hashes[left] = mix64(mix64(hashes[k], load64(joined, at[i] + 16)), load64(joined, at[i] + 24))
            left += 1
    for k in range(keep_repeated(hashes, some, left, once, twice)):
        begins[some[k]] = 2
    num = np.int64(0)
    for i in range(num_words - least + 1):
        if begins[i] or at[i + least] - at[i] < _SHORT:
            some[num] = i
            num += 1
    return num


@inner
def _seen_n_grams(
    joined: Bytes, at: Ints, chars: Ints, begins: Bytes, some: Ints, slots: Slots, hashes: Hashes, n: Int
) -> Int:
    """Characters of the n-grams seen before, by a walk that jumps over them; a separator is none."""
    total, free, num = np.int64(0), np.int64(0), np.int64(0)
    size = num_slots(len(some))
    clear(slots, size)
    for k in range(len(some)):
        i = some[k]
        if i < free or i + n >= len(at):
            continue
        length = at[i + n] - at[i]
        if (length >= _LONG and begins[i] < 2) or (length >= _SHORT and begins[i] < 1):
            continue
        hashes[num] = hash64(joined, at[i], at[i + n])
        if seen_before(hashes, num, slots, size):
            total += chars[i + n] - chars[i]
            free = i + n
        else:
            num += 1
    return total
