"""Compiled choice of lines by what each of them holds: symbols, capitals, stop words, words, letters.

Shapes: D documents, L lines and W words of all of them.
"""

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter.blocks import fence
from dataassets.stages.filter.lines import next_line, strip
from dataassets.stages.filter.repeats import not_zero, place
from dataassets.stages.text import (
    ALPHA,
    CODE_POINTS,
    DIGIT,
    SPACE,
    Bytes,
    Hashes,
    Int,
    Ints,
    bare,
    class_table,
    decode,
    fnv1a,
    frozen,
    inner,
)

# Kinds of a character beside those of `class_table`, a bit each.
MARK, UPPER, LOWER = 1, 2, 4  # Unicode's categories P and S; Lu; Ll
# Limits, in the order in which `choose_lines` takes them.
LIMITS = ("max_symbol_share", "max_upper_share", "min_stop_words", "min_words", "need_letter")
OFF = (np.inf, np.inf, 0, 0, 0)  # the limits that no line breaks


@lru_cache(maxsize=1)
def kinds() -> Bytes:
    """Kinds of every code point: uint8, read-only, as long as `class_table`; made once a process (0.2 s).

    Signs that combine with letters are no marks: Hindi, Thai and Hebrew are written with many of them.

    >>> [int(kinds()[ord(char)]) for char in "a_Z+1"]
    [4, 1, 2, 1, 0]
    """
    of_category, table = {"P": MARK, "S": MARK, "Lu": UPPER, "Ll": LOWER}, np.zeros(len(class_table()), np.uint8)
    for point in range(CODE_POINTS):
        category = unicodedata.category(chr(point))
        table[point] = of_category.get(category) or of_category.get(category[0], 0)
    return frozen(table)


@bare
def choose_lines(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, kinds: Bytes, word_starts: Ints, word_stops: Ints,
    stop_words: Hashes, limits: npt.NDArray[np.float64], out_kept: Bytes, out_edges: Bytes, out_sizes: Ints,
    out_first: Ints,
) -> None:  # fmt: skip
    """Judge each line by itself; a blank one stays.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        kinds: `kinds()`.
        word_starts: int64 [W], first byte of each word.
        word_stops: int64 [W], the byte after each.
        stop_words: hashes of the stop words, as `repeats.hash_table` makes them.
        limits: float64 [5], those that LIMITS names; OFF where there is none.
        out_kept: uint8 [L], filled with whether a line stays.
        out_edges: uint8 [L], filled with the fences that it is, as `blocks.mark_blocks` takes them.
        out_sizes: int64 [L], filled with its characters, white space not counted.
        out_first: int64 [D + 1], filled with where the lines of each document begin.
    """
    line, word = np.int64(0), np.int64(0)
    for d in range(len(starts)):
        out_first[d], at = line, starts[d]
        while at < stops[d]:
            end, after = next_line(buffer, at, stops[d], table)
            start, stop = strip(buffer, at, end, table)
            num_words, num_stop_words = np.int64(0), np.int64(0)
            while word < len(word_starts) and word_starts[word] < end:
                num_words += _has(buffer, word_starts[word], word_stops[word], table, ALPHA | DIGIT)
                key = not_zero(fnv1a(buffer, word_starts[word], word_stops[word]))
                num_stop_words += stop_words[place(stop_words, key)] == key
                word += 1
            out_sizes[line], marks, upper, lower = _characters(buffer, start, stop, table, kinds)
            out_edges[line] = fence(buffer, start, stop)
            out_kept[line] = not (
                (marks > 0 and marks / out_sizes[line] > limits[0])
                or (upper > 0 and upper / (upper + lower) > limits[1])
                or num_stop_words < limits[2]
                or num_words < limits[3]
                or (limits[4] and not _has(buffer, start, stop, table, ALPHA))
            )
            out_kept[line] |= start == stop
            line += 1
            at = after
    out_first[len(starts)] = line


@inner
def _has(buffer: Bytes, start: Int, stop: Int, table: Bytes, classes: Int) -> bool:
    """Whether a text has a character of some classes."""
    while start < stop:
        point, width = decode(buffer, start, stop)
        if table[point] & classes:
            return True
        start += width
    return False


@inner
def _characters(buffer: Bytes, start: Int, stop: Int, table: Bytes, kinds: Bytes) -> tuple[Int, Int, Int, Int]:
    """Characters, white space not counted; marks, capitals, small letters among them."""
    chars, marks, upper, lower = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while start < stop:
        point, width = decode(buffer, start, stop)
        chars += not table[point] & SPACE
        marks += kinds[point] == MARK
        upper += kinds[point] == UPPER
        lower += kinds[point] == LOWER
        start += width
    return chars, marks, upper, lower
