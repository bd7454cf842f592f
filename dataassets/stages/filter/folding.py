"""Case folding of text in compiled passes: how word lists and texts are made alike.

A folded text has each character's simple case folding, one space for each run of white space, and START before each
character where a word may start: the first one, and those behind a character of no word. So a pattern with START before
it is found there alone, and an automaton rests wherever no word starts.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.stages.text import CODE_POINTS, Bytes, Int, compiled, decode, frozen, utf8_buffers

POINT = (1 << 21) - 1  # of a value of the table: what the character folds to
WORD, BLANK = 1 << 21, 1 << 22  # whether it is one of a word, as `\w` of `re` has it, or white space
START = 0xFF  # no byte of UTF-8
_TABLE_SIZE = 0x200000  # whatever four bytes can spell, so that damaged UTF-8 cannot read past the table


def simple_fold(char: str) -> str:
    """What a character folds to: one character, whatever the language.

    Source: Unicode, CaseFolding.txt, statuses C and S, which Python has only inside its full folding.

    >>> [simple_fold(char) for char in "Aẞςİ\u212a"]
    ['a', 'ß', 'σ', 'İ', 'k']
    """
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


@lru_cache(maxsize=1)
def fold_table() -> npt.NDArray[np.int32]:
    """Of every code point: what it folds to, WORD, BLANK. int32 [0x200000], read-only, made once a process (0.5 s)."""
    table = np.arange(_TABLE_SIZE, dtype=np.int32)
    chars = [chr(point) for point in range(CODE_POINTS)]
    for point, char in enumerate(chars):
        if char.casefold() != char:
            table[point] = ord(simple_fold(char))
    table[:CODE_POINTS] |= WORD * np.fromiter(map(str.isalnum, chars), np.int32, CODE_POINTS)
    table[:CODE_POINTS] |= BLANK * np.fromiter(map(str.isspace, chars), np.int32, CODE_POINTS)
    table[ord("_")] |= WORD
    return frozen(table)


def folded(text: str) -> bytes:
    r"""A text as `fold` has it.

    >>> folded("Der  GROẞE\nTag").replace(b"\xff", b"|").decode()
    '|der |große |tag'
    """
    buffer, offsets = utf8_buffers(pa.array([text], pa.large_string()))
    out = np.empty(room(len(buffer)), np.uint8)
    return out[: fold(buffer, offsets[0], offsets[1], fold_table(), out)].tobytes()


def room(num_bytes: int) -> int:
    """The most bytes that a text may have when it is folded: marks of one byte, each with START, are the worst."""
    return 2 * num_bytes + 1


@compiled
def fold(buffer: Bytes, start: Int, stop: Int, table: npt.NDArray[np.int32], out: Bytes) -> Int:
    """Write the folded text; its size in bytes."""
    at, size, in_word, in_blank = start, np.int64(0), False, False
    while at < stop:
        if buffer[at] < 0x80:
            value = np.int64(table[buffer[at]])
            at += 1
        else:
            point, width = decode(buffer, at, stop)
            value = np.int64(table[point])
            at += width
        blank = value & BLANK != 0
        if not (blank and in_blank):
            out[size] = START
            size = _put(out, size + (not in_word), 32 if blank else value & POINT)
        in_word, in_blank = value & WORD != 0, blank
    return size


@compiled
def _put(out: Bytes, at: Int, point: Int) -> Int:
    """Write a code point as UTF-8; the byte after it."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
    elif point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        at += 1
        out[at] = 0x80 | ((point >> 6) & 0x3F)
    else:
        out[at] = 0xF0 | (point >> 18)
        out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
        at += 2
        out[at] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 1] = 0x80 | (point & 0x3F)
    return at + 2


@compiled
def ends_word(text: Bytes, stop: Int, size: Int, table: npt.NDArray[np.int32]) -> bool:
    """Whether no character of a word stands right behind a part of a folded text of some size."""
    stop += stop < size and text[stop] == START
    if stop == size:
        return True
    point, _ = decode(text, stop, size)
    return not table[point] & WORD
