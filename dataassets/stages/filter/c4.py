"""Compiled line rules of C4: which lines of a document stay, and the text made of them.

`choose_lines` decides and `write_lines` writes; both edit a line by `_edit`, so what is measured is what is written.
The rules hold for sentences in place of lines where the ends of these are given.

Shapes: D documents, K kept lines of all of them.
"""

import numpy as np

from dataassets.stages.filter.lines import next_line, strip
from dataassets.stages.text import (
    DIGIT,
    EIGHT,
    SPACE,
    Bytes,
    Int,
    Ints,
    compiled,
    decode,
    inner,
    load64,
    store64,
    where_is,
)

KEPT, LOREM_IPSUM, CURLY_BRACKET = 0, 1, 2  # why a document is refused, or that it is not
REFUSALS = ("", "lorem_ipsum", "curly_bracket")

# What a line is searched for: kind bit, lower-case bytes, and the rarest byte, at which the search looks closer.
_LOREM, _JAVASCRIPT, _CURLY, _POLICY = 1, 2, 4, 8
_PATTERNS = sorted(
    [
        (b"j", _JAVASCRIPT, b"javascript"),
        (b"{", _CURLY, b"{"),
        (b"m", _LOREM, b"lorem ipsum"),
        (b"m", _POLICY, b"terms of use"),
        (b"v", _POLICY, b"privacy policy"),
        (b"k", _POLICY, b"cookie policy"),
        (b"k", _POLICY, b"uses cookies"),
        (b"k", _POLICY, b"use of cookies"),
        (b"k", _POLICY, b"use cookies"),
    ]
)
_KINDS = np.array([kind for _, kind, _ in _PATTERNS], np.int64)
_LENGTHS = np.array([len(pattern) for _, _, pattern in _PATTERNS], np.int64)
_RARE_AT = np.array([pattern.index(rare) for rare, _, pattern in _PATTERNS], np.int64)
_CHARS = np.array([list(pattern.ljust(int(_LENGTHS.max()), b"\0")) for _, _, pattern in _PATTERNS], np.uint8)
_RARE = [rare[0] for rare, _, _ in _PATTERNS]
_FROM = np.searchsorted(_RARE, np.arange(256), "left").astype(np.int64)  # patterns whose rare byte this is
_TO = np.searchsorted(_RARE, np.arange(256), "right").astype(np.int64)
_BRACKET = np.uint64(91)
_EDIT = np.frombuffer(b"[edit]", np.uint8)
_NEEDED = np.frombuffer(b"[citation needed]", np.uint8)


@compiled
def count_all_lines(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes) -> Int:
    """Lines of all documents, as str.splitlines cuts them."""
    num = np.int64(0)
    for d in range(len(starts)):
        at = starts[d]
        while at < stops[d]:
            _, at = next_line(buffer, at, stops[d], table)
            num += 1
    return num


@compiled
def choose_lines(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, sentences: tuple[Ints, Ints], knobs: Ints, out_lines: Ints,
    out_first: Ints, out_refused: Ints,
) -> None:  # fmt: skip
    """Decide on every line.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        sentences: as of `stages.text.sentence_ends`, judged in place of lines; no ends, and int64 [D + 1] zeros, for
            lines.
        knobs: int64 [8], the values of the settings that C4_REWRITING names.
        out_lines: int64 [at least as many as lines], filled with the numbers of kept lines.
        out_first: int64 [D + 1]; document d keeps out_lines[out_first[d]:out_first[d + 1]], none where refused.
        out_refused: int64 [D], filled with KEPT, LOREM_IPSUM or CURLY_BRACKET.
    """
    kept, most = np.int64(0), np.int64(0)
    for d in range(len(starts)):
        most = max(most, stops[d] - starts[d])
    scratch = np.empty(most, np.uint8)
    all_ends, ends_first = sentences
    for d in range(len(starts)):
        ends = all_ends[ends_first[d] : ends_first[d + 1]]
        out_first[d], number, at = kept, 0, starts[d]
        while at < stops[d] or number < len(ends):
            end, after = _next(buffer, at, stops[d], table, ends, number)
            verdict = _judge_line(buffer, at, end, table, knobs, scratch)
            if verdict in (_LOREM, _CURLY):
                out_refused[d] = LOREM_IPSUM if verdict == _LOREM else CURLY_BRACKET
                kept = out_first[d]
                break
            if verdict == 0:
                out_lines[kept] = number
                kept += 1
            number += 1
            at = after
    out_first[len(starts)] = kept


@inner
def _next(buffer: Bytes, at: Int, stop: Int, table: Bytes, ends: Ints, number: Int) -> tuple[Int, Int]:
    """End of the sentence of this number and start of the one after it; of the line at a byte, where no ends are."""
    if len(ends):
        return ends[number], ends[number]
    return next_line(buffer, at, stop, table)


@inner
def _judge_line(buffer: Bytes, start: Int, stop: Int, table: Bytes, knobs: Ints, scratch: Bytes) -> Int:
    """0 keeps the line, _LOREM and _CURLY refuse the document, anything else drops the line."""
    start, stop = strip(buffer, start, stop, table)
    if knobs[2] and stop - start > knobs[2] and _longest_word(buffer, start, stop, table) > knobs[2]:
        return _POLICY
    brackets, curly, hints = _hints(buffer[start:stop])
    written, size = hints or bool(brackets and knobs[3]), stop - start  # for a closer look, or for what is removed
    if written:
        size = _edit(buffer, start, stop, table, knobs[3], scratch, 0)
    if knobs[0] and not (_ends_a_sentence(scratch[:size]) if written else _ends_a_sentence(buffer[start:stop])):
        return _POLICY
    if not _has_words(buffer, start, stop, knobs[1], table):
        return _POLICY
    found = _search(scratch, size) if written else np.int64(curly * _CURLY)
    for k in range(4):
        kind = 1 << k
        if found & kind and knobs[4 + k]:
            return kind
    return np.int64(0)


@inner
def _longest_word(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> Int:
    """Characters of the longest word between white space."""
    longest, length, at = 0, 0, start
    while at < stop:
        point, width = decode(buffer, at, stop)
        length = 0 if table[point] & SPACE else length + 1
        longest = max(longest, length)
        at += width
    return longest


@inner
def _has_words(buffer: Bytes, start: Int, stop: Int, wanted: Int, table: Bytes) -> bool:
    """Whether there are so many words between white space."""
    num, inside, at = 0, False, start
    while at < stop and num < wanted:
        point, width = decode(buffer, at, stop)
        is_space = table[point] & SPACE != 0
        num += not is_space and not inside
        inside = not is_space
        at += width
    return bool(num >= wanted)


@inner
def _hints(line: Bytes) -> tuple[bool, bool, bool]:
    """Whether a line has an opening bracket, a curly one, and a pair of letters that the other patterns hold.

    A plain loop without a branch, which the compiler does for many bytes at a time.
    """
    brackets, curly, hints = np.uint8(0), np.uint8(0), np.uint8(0)
    for k in range(len(line) - 1):
        byte = line[k]
        a, b = byte | np.uint8(32), line[k + 1] | np.uint8(32)
        brackets |= np.uint8(byte == 91)
        curly |= np.uint8(byte == 123)
        hints |= np.uint8(((a == 106) & (b == 97)) | ((a == 112) & (b == 115)) | ((a == 109) & (b == 115)))  # ja ps ms
        hints |= np.uint8(((a == 99) & (b == 121)) | ((a == 111) & (b == 111)))  # cy oo
    if len(line):
        brackets |= np.uint8(line[-1] == 91)
        curly |= np.uint8(line[-1] == 123)
    return brackets != 0, curly != 0, hints != 0


@inner
def _edit(buffer: Bytes, start: Int, stop: Int, table: Bytes, citations: Int, out: Bytes, at: Int) -> Int:
    """Write a line less its citations from `at` on; returns where it ends."""
    while start < stop:
        if start + EIGHT <= min(stop, len(buffer)) and at + EIGHT <= len(out):
            x = load64(buffer, start)
            if not citations or not where_is(x, _BRACKET):
                store64(out, at, x)
                start += EIGHT
                at += EIGHT
                continue
        byte = buffer[start]
        if byte == 91 and citations:
            after = _citation(buffer, start, stop, table)
            if after > start:
                start = after
                continue
        out[at] = byte
        at += 1
        start += 1
    return at


@inner
def _citation(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> Int:
    """The byte after [12], [], [edit] or [citation needed] at an opening bracket; `start` where it is none of them."""
    at = start + 1
    while at < stop:
        point, width = decode(buffer, at, stop)
        if not table[point] & DIGIT:
            break
        at += width
    if at < stop and buffer[at] == 93:
        return at + 1
    if _starts_with(buffer, start, stop, _EDIT):
        return start + len(_EDIT)
    if _starts_with(buffer, start, stop, _NEEDED):
        return start + len(_NEEDED)
    return start


@inner
def _starts_with(buffer: Bytes, start: Int, stop: Int, text: Bytes) -> bool:
    if start + len(text) > stop:
        return False
    for k in range(len(text)):  # noqa: SIM110 (any() is no numba)
        if buffer[start + k] != text[k]:
            return False
    return True


@inner
def _ends_a_sentence(line: Bytes) -> bool:
    """Ends in . ? ! or a straight quote, but not in three dots."""
    size = len(line)
    if size == 0:
        return False
    last = line[size - 1]
    if last == 46 and size >= 3 and line[size - 2] == 46 and line[size - 3] == 46:
        return False
    return last in (46, 63, 33, 34, 39)


@inner
def _search(line: Bytes, size: Int) -> Int:
    """Kinds of patterns in a line, lower-cased: bits of _LOREM, _JAVASCRIPT, _CURLY, _POLICY. Lower-cases in place."""
    length = np.int64(0)
    for at in range(size):
        byte = line[at]
        if 65 <= byte <= 90:
            byte |= 32
        elif byte == 0xAA and length >= 2 and line[length - 1] == 0x84 and line[length - 2] == 0xE2:
            byte, length = 107, length - 2  # the Kelvin sign: the one other character whose lower case is ASCII
        line[length] = byte
        length += 1
    found = np.int64(0)
    for at in range(length):
        for p in range(_FROM[line[at]], _TO[line[at]]):
            begin = at - _RARE_AT[p]
            if begin >= 0 and begin + _LENGTHS[p] <= length:
                k = 0
                while k < _LENGTHS[p] and line[begin + k] == _CHARS[p, k]:
                    k += 1
                if k == _LENGTHS[p]:
                    found |= _KINDS[p]
    return found


@compiled
def write_lines(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, sentences: tuple[Ints, Ints], citations: Int, lines: Ints,
    first: Ints, out: Bytes, out_spans: Ints,
) -> None:  # fmt: skip
    """Write the kept lines of documents, edited, a line feed between two of one document; a space between sentences.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        sentences: as of `choose_lines`.
        citations: whether citations are removed.
        lines: int64 [K], numbers of kept lines.
        first: int64 [D + 1]; those of document d are lines[first[d]:first[d + 1]].
        out: uint8, at least as many as bytes in all documents, and K.
        out_spans: int64 [4, K], filled with where each line starts and stops in `out`, and where in `buffer`.
    """
    size = np.int64(0)
    all_ends, ends_first = sentences
    for d in range(len(starts)):
        ends = all_ends[ends_first[d] : ends_first[d + 1]]
        at, number, k = starts[d], 0, first[d]
        while k < first[d + 1]:
            end, after = _next(buffer, at, stops[d], table, ends, number)
            if number == lines[k]:
                if k > first[d]:
                    out[size] = 32 if len(ends) else 10
                    size += 1
                begin, last = strip(buffer, at, end, table)
                out_spans[0, k], out_spans[2, k], out_spans[3, k] = size, begin, last
                size = _edit(buffer, begin, last, table, citations, out, size)
                out_spans[1, k] = size
                k += 1
            number += 1
            at = after


@compiled
def trim(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, out: Bytes, out_offsets: Ints) -> None:
    """Copy texts without the white space at their ends, one after another; fill int64 [D + 1] offsets."""
    size = np.int64(0)
    for d in range(len(starts)):
        out_offsets[d] = size
        start, stop = strip(buffer, starts[d], stops[d], table)
        size = _edit(buffer, start, stop, table, 0, out, size)
    out_offsets[len(starts)] = size
