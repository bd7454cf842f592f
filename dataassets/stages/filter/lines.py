"""Compiled signals of lines: paragraphs, lines, bullets, ellipses, and the shape that FineWeb judges.

Shapes: D documents, L quantities of lines, S quantities of shape.
"""

import numpy as np

from dataassets.stages.filter.repeats import count_repeats, not_zero, repeated_pieces
from dataassets.stages.text import LINE_END, SPACE, TERMINAL, Bytes, Int, Ints, compiled, decode, fnv1a

# Columns of what the kernels count.
LINES = ("chars", "paras", "dup_paras", "dup_para_chars", "pieces", "dup_pieces", "dup_piece_chars",
         "hashes", "ellipses", "lines", "bullets", "end_ellipses")  # fmt: skip
SHAPE = ("num_lines", "terminal", "short", "dup_chars", "line_feeds", "chars")


@compiled
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


@compiled
def last_char(buffer: Bytes, start: Int, stop: Int) -> Int:
    """First byte of the last character of a text that is not empty."""
    at = stop - 1
    while at > start and buffer[at] & 0xC0 == 0x80:
        at -= 1
    return at


@compiled
def next_line(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> tuple[Int, Int]:
    """End of the line that starts at a byte and start of the one after it, as str.splitlines cuts."""
    while at < stop:
        byte = buffer[at]
        if byte < 0x20 or byte == 0xC2 or byte == 0xE2:  # the first bytes of all line ends
            point, width = decode(buffer, at, stop)
            if table[point] & LINE_END:
                crlf = point == 13 and at + 1 < stop and buffer[at + 1] == 10
                return at, at + width + crlf
        at += 1
    return stop, stop


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
                out[size : size + last - at] = buffer[at:last]
                size += last - at
            number += 1
            at = after
    out_offsets[len(starts)] = size


@compiled
def count_lines(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, out_DL: Ints) -> None:
    """Fill int64 [D, len(LINES)] with what Gopher's rules ask of lines and characters."""
    for d in range(len(starts)):
        start, stop, out = starts[d], stops[d], out_DL[d]
        _count_chars(buffer, start, stop, out)
        first, last = strip(buffer, start, stop, table)
        out[1], out[2], out[3] = repeated_pieces(buffer, first, last, 2)
        out[4], out[5], out[6] = repeated_pieces(buffer, start, stop, 1)
        at = start
        while at < stop:
            end, after = next_line(buffer, at, stop, table)
            first, last = strip(buffer, at, end, table)
            out[9] += 1
            if first < last:
                point, _ = decode(buffer, first, last)
                out[10] += point == 0x2D or point == 0x2022  # - and bullet
                out[11] += _ends_in_ellipsis(buffer, first, last)
            at = after


@compiled
def _ends_in_ellipsis(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Ends in three dots or in the one character for them."""
    point, _ = decode(buffer, last_char(buffer, start, stop), stop)
    dots = point == 46 and stop - start >= 3 and buffer[stop - 2] == 46 and buffer[stop - 3] == 46
    return bool(dots or point == 0x2026)


@compiled
def _count_chars(buffer: Bytes, start: Int, stop: Int, out: Ints) -> None:
    """Characters, number signs and ellipses: a run of r dots holds r // 3 of them."""
    chars, hashes, ellipses, dots = 0, 0, 0, 0
    for at in range(start, stop):
        byte = buffer[at]
        chars += byte & 0xC0 != 0x80
        hashes += byte == 35
        if byte == 46:
            dots += 1
            ellipses += dots % 3 == 0
        else:
            dots = 0
        if byte == 0xE2 and at + 2 < stop and buffer[at + 1] == 0x80 and buffer[at + 2] == 0xA6:
            ellipses += 1
    out[0], out[7], out[8] = chars, hashes, ellipses


@compiled
def count_shape(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, short_length: Int, out_DS: Ints) -> None:
    """Fill int64 [D, len(SHAPE)] with what FineWeb asks of the lines between line feeds that are not blank."""
    for d in range(len(starts)):
        start, stop, out = starts[d], stops[d], out_DS[d]
        for at in range(start, stop):
            out[4] += buffer[at] == 10
            out[5] += buffer[at] & 0xC0 != 0x80
        keys, sizes = np.empty(out[4] + 1, np.uint64), np.empty(out[4] + 1, np.int64)
        at = start
        while at <= stop:
            end, chars = at, np.int64(0)
            while end < stop and buffer[end] != 10:
                chars += buffer[end] & 0xC0 != 0x80
                end += 1
            first, last = strip(buffer, at, end, table)
            if first < last:
                point, _ = decode(buffer, last_char(buffer, at, end), end)
                keys[out[0]], sizes[out[0]] = not_zero(fnv1a(buffer, at, end)), chars
                out[0] += 1
                out[1] += table[point] & TERMINAL != 0
                out[2] += chars <= short_length
            at = end + 1
        _, out[3] = count_repeats(keys, sizes, out[0])
