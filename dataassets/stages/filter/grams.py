"""Compiled signals of words: letters, symbols, stop words, and the n-grams that repeat.

Shapes: D documents, W words of all of them, Q quantities.
"""

import numpy as np

from dataassets.stages.filter.repeats import not_zero, place, table_size
from dataassets.stages.text import ALPHA, SYMBOL, Bytes, Hashes, Int, Ints, compiled, decode, fnv1a

TOP_N = (2, 3, 4)  # orders of the n-grams of which the most frequent counts
DUP_N = (5, 6, 7, 8, 9, 10)  # orders of those that count when seen before
# Columns of what the kernel counts.
WORDS = ("words", "nonsymbol", "nonsymbol_chars", "alpha", "stop_words",
         *(f"top_{n}" for n in TOP_N), *(f"dup_{n}" for n in DUP_N))  # fmt: skip

_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that it has an inverse modulo 2**64
_BASE_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


@compiled
def count_words(
    buffer: Bytes, starts: Ints, stops: Ints, first: Ints, table: Bytes, stop_hashes: Hashes, out_DQ: Ints
) -> None:
    """Fill int64 [D, len(WORDS)] from words given by their bytes; document d has words first[d] to first[d + 1]."""
    for d in range(len(first) - 1):
        out, begin, num = out_DQ[d], first[d], first[d + 1] - first[d]
        keys = np.empty(num, np.uint64)
        chars = np.zeros(num + 1, np.int64)  # characters of the words before each
        sums = np.zeros(num + 1, np.uint64)  # the words before each, joined: sum of (byte + 1) * _BASE**position
        back = np.ones(num + 1, np.uint64)  # _BASE**-(bytes before each)
        power = np.uint64(1)
        for w in range(num):
            start, stop = starts[begin + w], stops[begin + w]
            total, shift = sums[w], back[w]
            for at in range(start, stop):
                total += (np.uint64(buffer[at]) + np.uint64(1)) * power
                power *= _BASE
                shift *= _BASE_INVERSE
            sums[w + 1], back[w + 1] = total, shift
            keys[w] = not_zero(fnv1a(buffer, start, stop))
            length, is_alpha, is_symbol = _char_classes(buffer, start, stop, table)
            chars[w + 1] = chars[w] + length
            out[1] += not is_symbol
            out[2] += 0 if is_symbol else length
            out[3] += is_alpha
        out[0] = num
        out[4] = _num_found(keys, stop_hashes)
        _count_n_grams(keys, chars, sums, back, out)


@compiled
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


@compiled
def _num_found(keys: Hashes, wanted: Hashes) -> Int:
    """How many different wanted hashes occur among the keys."""
    size = table_size(len(wanted))
    known, seen = np.zeros(size, np.uint64), np.zeros(size, np.bool_)
    for k in range(len(wanted)):
        known[place(known, wanted[k])] = wanted[k]
    num = np.int64(0)
    for k in range(len(keys)):
        at = place(known, keys[k])
        if known[at] != 0 and not seen[at]:
            seen[at] = True
            num += 1
    return num


@compiled
def _count_n_grams(keys: Hashes, chars: Ints, sums: Hashes, back: Hashes, out: Ints) -> None:
    grams = keys.copy()
    for n in range(2, 11):
        num = len(keys) - n + 1
        if num <= 0:
            return
        if n <= 4:
            for i in range(num):
                grams[i] = grams[i] * _BASE + keys[i + n - 1]
            out[n + 3] = _top_n_gram(grams[:num], chars, n)
        else:
            out[n + 3] = _seen_n_grams(num, chars, sums, back, n)


@compiled
def _top_n_gram(grams: Hashes, chars: Ints, n: Int) -> Int:
    """Count times length, a space between words, of the most frequent n-gram; the first of equals."""
    size = table_size(len(grams))
    table, counts, firsts = np.zeros(size, np.uint64), np.zeros(size, np.int64), np.empty(size, np.int64)
    best: Int = 1
    best_at: Int = 0
    for i in range(len(grams)):
        key = not_zero(grams[i])
        at = place(table, key)
        if table[at] == 0:
            table[at], firsts[at] = key, i
        counts[at] += 1
        if counts[at] > best or (counts[at] == best and firsts[at] < best_at):
            best, best_at = counts[at], firsts[at]
    return best * (chars[best_at + n] - chars[best_at] + n - 1)


@compiled
def _seen_n_grams(num: Int, chars: Ints, sums: Hashes, back: Hashes, n: Int) -> Int:
    """Characters of the n-grams seen before, by a walk that jumps over them. Words are joined without a separator."""
    seen = np.zeros(table_size(num), np.uint64)
    total, i = np.int64(0), 0
    while i < num:
        key = not_zero((sums[i + n] - sums[i]) * back[i])
        at = place(seen, key)
        if seen[at] == key:
            total += chars[i + n] - chars[i]
            i += n
        else:
            seen[at] = key
            i += 1
    return total
