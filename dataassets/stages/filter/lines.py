"""Compiled signals of lines: paragraphs, lines, bullets, ellipses, and the shape that FineWeb judges.

A document is cut once at line feeds, and every rule reads the segments. They are the lines of all rules, unless another
line end stands in one: at that only str.splitlines cuts.

Shapes: D documents, S segments of one document, L quantities of lines, F quantities of shape.
"""

import numpy as np

from dataassets.stages.filter.repeats import Slots, count_repeats, num_slots
from dataassets.stages.text import (
    EIGHT,
    LINE_END,
    SPACE,
    TERMINAL,
    TOPS,
    Bytes,
    Hashes,
    Int,
    Ints,
    compiled,
    count_ones,
    decode,
    has_below,
    head64,
    inner,
    load64,
    low_zeros,
    mix64,
    num_followers,
    where_is,
)  # fmt: skip

# Columns of what the kernels count.
LINES = ("chars", "paras", "dup_paras", "dup_para_chars", "pieces", "dup_pieces", "dup_piece_chars",
         "hashes", "ellipses", "lines", "bullets", "end_ellipses")  # fmt: skip
SHAPE = ("num_lines", "terminal", "short", "dup_chars", "line_feeds", "chars")

_LF, _BLANK, _NUMBER, _DOT, _C2, _E2 = map(np.uint64, (10, 32, 35, 46, 0xC2, 0xE2))
_ONE, _SEVEN, _BLANKS = np.uint64(1), np.uint64(7), np.uint64(0x2020202020202020)
_BASE = np.uint64(0x9E3779B97F4A7C15)


@inner
def strip(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> tuple[Int, Int]:
    """The text less white space at both ends; an empty one lies at `stop`."""
    while start < stop:
        point, width = decode(buffer, start, stop)
        if not table[point] & SPACE:
            break
        start += width
    while stop > start:
        at = last_char(buffer, start, stop)
        point, width = decode(buffer, at, stop)
        if not table[point] & SPACE:
            break
        stop = at
    return start, stop


@inner
def last_char(buffer: Bytes, start: Int, stop: Int) -> Int:
    """First byte of the last character of a text that is not empty."""
    at = stop - 1
    while at > start and buffer[at] & 0xC0 == 0x80:
        at -= 1
    return at


@inner
def next_line(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> tuple[Int, Int]:
    """End of the line that starts at a byte and start of the one after it, as str.splitlines cuts."""
    while at < stop:
        if at + EIGHT <= len(buffer) and not _may_end_a_line(load64(buffer, at)):
            at += EIGHT
            continue
        for k in range(at, min(stop, at + EIGHT)):
            byte = buffer[k]
            if byte < 0x20 or byte == 0xC2 or byte == 0xE2:
                point, width = decode(buffer, k, stop)
                if table[point] & LINE_END:
                    crlf = point == 13 and k + 1 < stop and buffer[k + 1] == 10
                    return k, k + width + crlf
        at += EIGHT
    return stop, stop


@inner
def _may_end_a_line(x: np.uint64) -> bool:
    """Whether one of eight bytes is such as line ends begin with."""
    found = has_below(x, _BLANK)
    if x & TOPS:
        found |= where_is(x, _C2) | where_is(x, _E2)
    return bool(found != 0)


@inner
def cut(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, start: Int, stop: Int, table: Bytes, out_ends: Ints, out_other: Bytes, out_chars: Ints,
    out_hashes: Hashes, out_marks: Ints,
) -> Int:  # fmt: skip
    """Cut a document at line feeds.

    Args:
        buffer: uint8 [bytes], UTF-8.
        start: first byte of the document.
        stop: the byte after it.
        table: `class_table()`.
        out_ends: int64 [S or more], filled with the byte after each segment.
        out_other: uint8 [S or more], filled with whether another line end stands in it.
        out_chars: int64 [S or more], filled with its characters.
        out_hashes: uint64 [S or more], filled with its hash, as `_hash` makes it.
        out_marks: int64 [2], number signs and ellipses are added: a run of r dots holds r // 3 of them.

    Returns:
        S, one more than there are line feeds.
    """
    num, at, begin = np.int64(0), start, start
    chars: Int = 0
    dots: Int = 0
    h, other = _BASE, False
    while True:
        size = min(EIGHT, stop - at)
        x = head64(buffer, at, size)
        feeds = where_is(x, _LF)
        if feeds:
            size = low_zeros(feeds) >> 3
            x &= ((feeds & (~feeds + _ONE)) >> _SEVEN) - _ONE
        if size > 0:
            h = mix64(h, x)
        chars += size - num_followers(x)
        out_marks[0] += count_ones(where_is(x, _NUMBER))
        if where_is(x, _DOT):
            for k in range(at, at + size):
                dots = dots + 1 if buffer[k] == 46 else 0
                out_marks[1] += dots > 0 and dots % 3 == 0
        else:
            dots = 0
        if _may_end_a_line(x if size == EIGHT else x | _BLANKS << np.uint64(8 * size)):
            for k in range(at, at + size):
                other = other or _is_line_end(buffer, k, stop, table)
                out_marks[1] += _is_ellipsis(buffer, k, stop)
        at += size
        if feeds or at >= stop:
            out_ends[num], out_other[num] = at, other
            out_chars[num], out_hashes[num] = chars, mix64(h, np.uint64(at - begin))
            num += 1
            if not feeds:
                return num
            at += 1
            h, chars, dots, other, begin = _BASE, np.int64(0), np.int64(0), False, at


@inner
def _is_line_end(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> bool:
    """Whether a character that is cut by str.splitlines starts here."""
    byte = buffer[at]
    return bool((byte < 0x20 or byte == 0xC2 or byte == 0xE2) and table[decode(buffer, at, stop)[0]] & LINE_END)


@inner
def _is_ellipsis(buffer: Bytes, at: Int, stop: Int) -> bool:
    """Whether the one character for three dots starts here."""
    return bool(buffer[at] == 0xE2 and at + 2 < stop and buffer[at + 1] == 0x80 and buffer[at + 2] == 0xA6)


@inner
def _hash(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """Hash of a segment."""
    h = _BASE
    for at in range(start, stop, 8):
        h = mix64(h, head64(buffer, at, stop - at))
    return mix64(h, np.uint64(stop - start))


@inner
def _most_segments(buffer: Bytes, starts: Ints, stops: Ints) -> Int:
    """Most segments of one document, at least."""
    most = np.int64(0)
    for d in range(len(starts)):
        num = np.int64(1)
        for byte in buffer[starts[d] : stops[d]]:
            num += byte == 10
        most = max(most, num)
    return most


@compiled
def copy_lines(
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, lines: Ints, first: Ints, out: Bytes, out_offsets: Ints
) -> None:
    """Copy the kept lines of documents with their line ends, as `rewritten.keep_lines` says.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        lines: int64 [K], numbers of kept lines.
        first: int64 [D + 1]; those of document d are lines[first[d]:first[d + 1]].
        out: uint8, at least as many as bytes in all documents.
        out_offsets: int64 [D + 1], filled with where each text begins in `out`.
    """
    size = np.int64(0)
    for d in range(len(starts)):
        out_offsets[d], at, number, k = size, starts[d], 0, first[d]
        while k < first[d + 1]:
            end, after = next_line(buffer, at, stops[d], table)
            if number == lines[k]:
                k += 1
                last = after if k < first[d + 1] or after == stops[d] else end
                for byte in buffer[at:last]:
                    out[size] = byte
                    size += 1
            number += 1
            at = after
    out_offsets[len(starts)] = size


@compiled
def count_lines(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, out_DL: Ints) -> None:
    """Fill int64 [D, len(LINES)] with what Gopher's rules ask of lines and characters."""
    most = _most_segments(buffer, starts, stops)
    ends, other, chars, hashes = (
        np.empty(most, np.int64),
        np.empty(most, np.uint8),
        np.empty(most, np.int64),
        np.empty(most, np.uint64),
    )
    keys, sizes, slots = np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(num_slots(most), np.int32)
    marks = np.empty(2, np.int64)
    for d in range(len(starts)):
        start, stop, out = starts[d], stops[d], out_DL[d]
        marks[0], marks[1] = 0, 0
        num = cut(buffer, start, stop, table, ends, other, chars, hashes, marks)
        out[0], out[7], out[8] = num - 1, marks[0], marks[1]
        for s in range(num):
            out[0] += chars[s]
        _count_paragraphs(buffer, start, stop, table, ends[:num], chars, hashes, keys, sizes, slots, out)
        _count_pieces(buffer, start, stop, ends[:num], chars, hashes, keys, sizes, slots, out)
        begin = start
        for s in range(num):
            after = min(ends[s] + 1, stop)
            if not other[s] and begin < after:
                _count_line(buffer, begin, ends[s], table, out)
            while other[s] and begin < after:
                end, following = next_line(buffer, begin, after, table)
                _count_line(buffer, begin, end, table, out)
                begin = following
            begin = after


@inner
def _count_line(buffer: Bytes, start: Int, stop: Int, table: Bytes, out: Ints) -> None:
    """Add a line, as str.splitlines cuts it."""
    out[9] += 1
    first, last = strip(buffer, start, stop, table)
    if first < last:
        point, _ = decode(buffer, first, last)
        out[10] += point == 0x2D or point == 0x2022  # - and bullet
        out[11] += _ends_in_ellipsis(buffer, first, last)


@inner
def _ends_in_ellipsis(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Ends in three dots or in the one character for them."""
    point, _ = decode(buffer, last_char(buffer, start, stop), stop)
    dots = point == 46 and stop - start >= 3 and buffer[stop - 2] == 46 and buffer[stop - 3] == 46
    return bool(dots or point == 0x2026)


@inner
def _count_pieces(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, start: Int, stop: Int, ends: Ints, chars: Ints, hashes: Hashes, keys: Hashes, sizes: Ints,
    slots: Slots, out: Ints,
) -> None:  # fmt: skip
    """Segments that are not empty; an empty piece stands before a line feed at the start, and after one at the end."""
    num = np.int64(0)
    for s in range(len(ends)):
        if chars[s]:
            keys[num], sizes[num] = hashes[s], chars[s]
            num += 1
    out[5], out[6] = count_repeats(keys, sizes, num, slots)
    outer = np.int64(0)
    if len(ends) > 1:
        outer = np.int64(buffer[start] == 10) + np.int64(buffer[stop - 1] == 10)
    out[4] = num + outer if start < stop else 1
    out[5] += outer == 2


@inner
def _count_paragraphs(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, start: Int, stop: Int, table: Bytes, ends: Ints, chars: Ints, hashes: Hashes, keys: Hashes,
    sizes: Ints, slots: Slots, out: Ints,
) -> None:  # fmt: skip
    """Runs of segments that are not empty, of the text without white space at its ends."""
    first, last = strip(buffer, start, stop, table)
    num, num_lines, h, size, begin = np.int64(0), np.int64(0), _BASE, np.int64(0), start
    for s in range(len(ends)):
        a, b = max(begin, first), min(ends[s], last)
        if begin <= last and ends[s] >= first and first < last:
            if a == b:  # empty: ends a paragraph
                if num_lines:
                    keys[num], sizes[num] = h, size + num_lines - 1
                    num += 1
                num_lines, h, size = np.int64(0), _BASE, np.int64(0)
            else:
                whole = a == begin and b == ends[s]
                h = mix64(h, hashes[s] if whole else _hash(buffer, a, b))
                size += chars[s] if whole else _num_chars(buffer, a, b)
                num_lines += 1
        begin = ends[s] + 1
    if num_lines or num == 0:
        keys[num], sizes[num] = h, size + num_lines - 1
        num += 1
    out[1] = num
    out[2], out[3] = count_repeats(keys, sizes, num, slots)


@inner
def _num_chars(buffer: Bytes, start: Int, stop: Int) -> Int:
    num = np.int64(0)
    for at in range(start, stop):
        num += buffer[at] & 0xC0 != 0x80
    return num


@compiled
def count_shape(
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, short_length: Int, final: Bytes, final_at: Ints,
    out_DF: Ints,
) -> None:  # fmt: skip
    """Count what FineWeb asks of the lines between line feeds that are not blank.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        short_length: a line is short up to this many characters.
        final: uint8, UTF-8: what ends a line, one after another.
        final_at: int64: where each of these begins in `final`, and where the last one ends; [] for the TERMINAL marks.
        out_DF: int64 [D, len(SHAPE)], filled.
    """
    most = _most_segments(buffer, starts, stops)
    ends, other, chars, hashes = (
        np.empty(most, np.int64),
        np.empty(most, np.uint8),
        np.empty(most, np.int64),
        np.empty(most, np.uint64),
    )
    slots, marks = np.empty(num_slots(most), np.int32), np.empty(2, np.int64)
    for d in range(len(starts)):
        out, begin, num = out_DF[d], starts[d], np.int64(0)
        num_segments = cut(buffer, begin, stops[d], table, ends, other, chars, hashes, marks)
        for s in range(num_segments):
            end = ends[s]
            if begin < end and not _is_blank(buffer, begin, end, table):
                if len(final_at):
                    out[1] += _ends_with_any(buffer, begin, end, final, final_at)
                else:
                    point, _ = decode(buffer, last_char(buffer, begin, end), end)
                    out[1] += table[point] & TERMINAL != 0
                out[2] += chars[s] <= short_length
                hashes[num], chars[num] = hashes[s], chars[s]
                num += 1
            out[5] += chars[s]
            begin = end + 1
        out[0], out[4] = num, num_segments - 1
        out[5] += num_segments - 1
        out[3] = count_repeats(hashes, chars, num, slots)[1]


@inner
def _ends_with_any(buffer: Bytes, start: Int, stop: Int, texts: Bytes, at: Ints) -> bool:
    """Whether one of some texts is the end of a line."""
    for t in range(len(at) - 1):
        size = at[t + 1] - at[t]
        k = np.int64(0)
        while k < size and size <= stop - start and buffer[stop - size + k] == texts[at[t] + k]:
            k += 1
        if k == size:
            return True
    return False


@inner
def _is_blank(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> bool:
    """Whether all characters are white space."""
    at = start
    while at < stop:
        point, width = decode(buffer, at, stop)
        if not table[point] & SPACE:
            return False
        at += width
    return True
