"""Words as decontamination compares them: letters and digits alone, so that case, marks and punctuation hide nothing.

A word is a run of letters and digits, each folded: NFKD, case folded, marks left out (`Ａ`, `a` and `á` are one, `ﬁ` is
`fi`). Marks and characters without width inside a word belong to it and do not count. All else separates words. Han
and kana, which are written without spaces, are words of one character.

Shapes: D documents, W words of all of them.
"""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.text import CODE_POINTS, Bytes, Hashes, Int, Ints, code_points, compiled, decode, frozen

BETWEEN, MARK, LETTER, ALONE = range(4)  # kinds of characters
_ALONE = """
    3005-3007 3041-3096 309d-309f 30a1-30fa 30fc-30ff 31f0-31ff 3400-4dbf 4e00-9fff f900-faff ff66-ff9f
    1b000-1b122 1b132-1b167 20000-323af"""
_TABLE_SIZE = 0x200000  # whatever four bytes can spell, so that damaged UTF-8 cannot read past the table
_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd


class Folding(NamedTuple):
    """How characters are compared.

    Args:
        kinds: uint8 [0x200000], kind of each code point.
        points: int32 [0x200000], what a letter is folded to; -i where it is several, from sequences[i] on.
        sequences: int32, those, each ended by a 0.
    """

    kinds: Bytes
    points: npt.NDArray[np.int32]
    sequences: npt.NDArray[np.int32]


class Cut(NamedTuple):
    """The words of some documents.

    Args:
        starts: int64 [W], first byte of each.
        stops: int64 [W], the byte after each, its last marks included.
        hashes: uint64 [W], equal for words that are folded alike.
        first: int64 [D + 1]; the words of document d are those from first[d] up to first[d + 1].
    """

    starts: Ints
    stops: Ints
    hashes: Hashes
    first: Ints


def folded(char: str) -> str:
    """What a character is compared by; "" where it is no letter and no digit, or a letter form of marks alone.

    >>> folded("É"), folded("ﬁ"), folded("-")
    ('e', 'fi', '')
    """
    if not char.isalnum():
        return ""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    return "".join(c for c in plain if c.isalnum())


@lru_cache(maxsize=1)
def folding() -> Folding:
    """The tables, made once a process from `unicodedata`."""
    kinds, points, sequences = np.zeros(_TABLE_SIZE, np.uint8), np.zeros(_TABLE_SIZE, np.int32), [0]
    for point, char in enumerate(map(chr, range(CODE_POINTS))):
        if spelled := folded(char):
            kinds[point] = LETTER
            points[point] = ord(spelled) if len(spelled) == 1 else -len(sequences)
            if len(spelled) != 1:
                sequences += [*map(ord, spelled), 0]
        elif unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf"):
            kinds[point] = MARK
    alone = np.array(code_points(_ALONE))
    kinds[alone[kinds[alone] == LETTER]] = ALONE
    return Folding(frozen(kinds), frozen(points), frozen(np.array(sequences, np.int32)))


def cut(buffer: Bytes, offsets: Ints) -> Cut:
    """Cut documents into words.

    Args:
        buffer: uint8, UTF-8, read-only.
        offsets: int64 [D + 1], where the documents begin, read-only.
    """
    most = (int(offsets[-1] - offsets[0]) + len(offsets)) // 2  # a word and what parts it from the next: two bytes
    starts, stops, hashes = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.uint64)
    first = np.zeros(len(offsets), np.int64)
    _cut(buffer, offsets, folding(), Cut(starts, stops, hashes, first))
    num = first[-1]
    return Cut(frozen(starts[:num]), frozen(stops[:num]), frozen(hashes[:num]), frozen(first))


@compiled
def mixed(h: np.uint64) -> np.uint64:
    """The finalizer of MurmurHash3 (Appleby): every bit of the input moves every bit of the result."""
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@compiled
def _cut(buffer: Bytes, offsets: Ints, folding: Folding, out: Cut) -> None:  # noqa: C901 - one hot loop
    kinds, points, sequences = folding.kinds, folding.points, folding.sequences
    starts, stops, hashes = out.starts, out.stops, out.hashes
    w = np.int64(0)
    for d in range(len(offsets) - 1):
        at, stop = offsets[d], offsets[d + 1]
        inside, full, h = False, False, np.uint64(0)  # full: the word takes marks only
        while at < stop:
            if inside and not full:  # most characters are ASCII letters inside a word
                while at < stop and buffer[at] < 0x80 and points[buffer[at]]:
                    h = (h ^ np.uint64(points[buffer[at]])) * _STEP
                    at += 1
                stops[w] = at
                if at == stop:
                    break
            point, width = np.int64(buffer[at]), np.int64(1)
            if point >= 0x80:
                point, width = decode(buffer, at, stop)
            kind = kinds[point]
            if inside and (kind in (BETWEEN, ALONE) or (full and kind == LETTER)):
                hashes[w] = mixed(h)
                w += 1
                inside = False
            if kind >= LETTER:
                if not inside:
                    inside, full, h, starts[w] = True, kind == ALONE, np.uint64(0), at
                fold = points[point]
                if fold > 0:
                    h = (h ^ np.uint64(fold)) * _STEP
                else:
                    i = -fold
                    while sequences[i]:
                        h = (h ^ np.uint64(sequences[i])) * _STEP
                        i += 1
            at += width
            if inside:
                stops[w] = at
        if inside:
            hashes[w] = mixed(h)
            w += 1
        out.first[d + 1] = w


@compiled
def _next_point(buffer: Bytes, at: Int, stop: Int, rest: Int, folding: Folding) -> tuple[Int, Int, Int]:
    """The next folded code point of a word, 0 at its end; where to go on: byte, and place in `sequences` or 0."""
    while True:
        if rest:
            point = np.int64(folding.sequences[rest])
            if point:
                return point, at, rest + 1
            rest = np.int64(0)
        if at >= stop:
            return np.int64(0), at, rest
        point, width = decode(buffer, at, stop)
        at += width
        if folding.kinds[point] >= LETTER:
            fold = np.int64(folding.points[point])
            if fold > 0:
                return fold, at, rest
            rest = -fold


@compiled
def same_word(a: Bytes, a_start: Int, a_stop: Int, b: Bytes, b_start: Int, b_stop: Int, folding: Folding) -> bool:
    """Whether two words are folded alike, character by character."""
    i, j, a_rest, b_rest = a_start, b_start, np.int64(0), np.int64(0)
    while True:
        x, i, a_rest = _next_point(a, i, a_stop, a_rest, folding)
        y, j, b_rest = _next_point(b, j, b_stop, b_rest, folding)
        if x != y:
            return False
        if x == 0:
            return True
