"""Words of any language: Unicode's word boundaries (UAX #29), compiled, over columns of bytes.

A word is a segment between two boundaries that holds something to see: punctuation marks are words, as the English
rules have it; white space and lone marks or format characters are none. Scripts that write no spaces have no dictionary
here: Han and Hiragana are cut after each character, Katakana after each run, Thai, Lao, Khmer and Burmese after each
character with its marks. Korean, which writes spaces, is cut at them.

Shapes: T texts, W words.
"""

import numpy as np

from dataassets.stages.text import kernels
from dataassets.stages.text.buffers import Bytes, Int, Ints, decode, frozen
from dataassets.stages.text.chunks import Words
from dataassets.stages.text.classes import class_table
from dataassets.stages.text.compiling import bare, inner
from dataassets.stages.text.word_break import (
    BLANK,
    CLASS,
    CR,
    DOUBLE_QUOTE,
    EXTEND,
    FORMAT,
    HEBREW,
    KATAKANA,
    LETTER,
    LF,
    LOW_LINE,
    MID_LETTER,
    MID_NUM,
    NEWLINE,
    NUMERIC,
    OTHER,
    PICTOGRAPH,
    QUOTE,
    REGIONAL,
    SEGMENT_SPACE,
    ZWJ,
    break_table,
)

_APART, _JOINT, _LOOK = 0, 1, 2


def unicode_word_spans(buffer: Bytes, offsets: Ints) -> Words:
    """Where the words of some documents lie, by UAX #29.

    Args:
        buffer: uint8 [bytes], UTF-8, as `utf8_buffers` gives it.
        offsets: int64 [D + 1]; document d is buffer[offsets[d]:offsets[d + 1]].

    Source: Unicode Standard Annex #29, section 4, version 18.0.0, rules WB1 to WB999, no tailoring.

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> buffer, offsets = utf8_buffers(pa.array(["Don't, 3.5", "漢字"], pa.large_string()))
    >>> [x.tolist() for x in unicode_word_spans(buffer, offsets)[1:]]
    [[0, 5, 7, 10, 13], [5, 6, 10, 13, 16], [0, 3, 5]]
    """
    return _spans(buffer, offsets[:-1], offsets[1:])


def unicode_word_counts(buffer: Bytes, offsets: Ints) -> Ints:
    """Number of words in each of some documents: int64 [D]; arguments as of `unicode_word_spans`.

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> unicode_word_counts(*utf8_buffers(pa.array(["Don't, 3.5", ""], pa.large_string()))).tolist()
    [3, 0]
    """
    return np.diff(unicode_word_spans(buffer, offsets).first)


def unicode_sentence_counts(buffer: Bytes, starts: Ints, stops: Ints) -> Ints:
    """Number of sentences in each of some texts: those of `sentence_counts`, over the words of UAX #29.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [T], first byte of each text.
        stops: int64 [T], the byte after each.

    Returns:
        int64 [T].

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> buffer, offsets = utf8_buffers(pa.array(["你好。再见！", ""], pa.large_string()))
    >>> unicode_sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist()
    [2, 0]
    """
    counts = np.zeros(len(starts), np.int64)
    starts, stops = frozen(starts.view()), frozen(stops.view())
    words = _spans(buffer, starts, stops)
    kernels.count_sentences(buffer, starts, stops, words[1:], class_table(), counts)
    return counts


def _spans(buffer: Bytes, starts: Ints, stops: Ints) -> Words:
    most = int((stops - starts).sum())
    word_starts, word_stops = np.empty(most, np.int64), np.empty(most, np.int64)
    first = np.zeros(len(starts) + 1, np.int64)
    num = _find_words(buffer, starts, stops, break_table(), word_starts, word_stops, first)
    return Words(buffer, frozen(word_starts[:num].copy()), frozen(word_stops[:num].copy()), frozen(first))


@bare
def _find_words(
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, out_starts: Ints, out_stops: Ints, out_first: Ints
) -> Int:
    """Fill the spans of the words of texts and first [T + 1]; give how many words there are."""
    num = np.int64(0)
    for t in range(len(starts)):
        out_first[t] = num
        at, stop = starts[t], stops[t]
        while at < stop:
            end, is_word = _segment(buffer, at, stop, table)
            if is_word:
                out_starts[num], out_stops[num] = at, end
                num += 1
            at = end
    out_first[len(starts)] = num
    return num


@inner
def _segment(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> tuple[Int, bool]:
    """End of the segment that starts at a byte, and whether it is a word."""
    point, width = decode(buffer, at, stop)
    bits = np.int64(table[point])
    at += width
    last, before, raw = bits & CLASS, np.int64(OTHER), bits & CLASS  # `last` and `before` skip marks, as WB4 does
    is_word = bits & BLANK == 0
    if last in (CR, LF, NEWLINE):  # WB3, WB3a
        return at + (last == CR and at < stop and buffer[at] == 10), False
    while at < stop:
        if _is_wordish(last):
            while at < stop and buffer[at] < 0x80 and _is_wordish(np.int64(table[buffer[at]])):
                last = raw = np.int64(table[buffer[at]])
                is_word = True
                at += 1
            if at == stop:
                break
        point, width = decode(buffer, at, stop)
        bits = np.int64(table[point])
        kind = bits & CLASS
        if not _is_ignored(kind):
            joint = _is_joint(before, last, kind)
            if joint == _LOOK:
                joint = _is_needed(last, kind, _next_kind(buffer, at + width, stop, table))
            elif joint == _APART:  # WB3c, WB3d
                joint = (raw == ZWJ and bits & PICTOGRAPH != 0) or (raw == SEGMENT_SPACE and kind == SEGMENT_SPACE)
            if not joint:
                break
            before, last = last, kind
        raw = kind
        is_word = is_word or bits & BLANK == 0
        at += width
    return at, is_word


@inner
def _is_wordish(kind: Int) -> bool:
    """Letters, digits and low lines: any two of them stay together (WB5, WB8 to WB10, WB13a, WB13b)."""
    return bool(LETTER <= kind <= LOW_LINE)


@inner
def _is_ignored(kind: Int) -> bool:
    """WB4: what belongs to the character before it."""
    return bool(EXTEND <= kind <= FORMAT)


@inner
def _is_letter(kind: Int) -> bool:
    return bool(kind in (LETTER, HEBREW))


@inner
def _is_joint(before: Int, last: Int, kind: Int) -> Int:
    """Whether two characters stay together, by their classes and the one before; _LOOK: the next one decides."""
    if _is_wordish(last):
        if _is_wordish(kind) or (last == HEBREW and kind == QUOTE):  # WB7a
            return _JOINT
        if kind == KATAKANA:
            return _JOINT if last == LOW_LINE else _APART  # WB13b
        return _LOOK if QUOTE <= kind <= MID_NUM else _APART
    if last == KATAKANA:
        return _JOINT if kind in (KATAKANA, LOW_LINE) else _APART  # WB13, WB13a
    if last == REGIONAL:
        return _JOINT if kind == REGIONAL and before != REGIONAL else _APART  # WB15, WB16
    if QUOTE <= last <= MID_NUM and (_is_letter(kind) or kind == NUMERIC):  # WB7, WB7c, WB11
        return _JOINT if _is_needed(before, last, kind) else _APART
    return _APART


@inner
def _is_needed(one: Int, mid: Int, other: Int) -> bool:
    """Whether a mark between two characters holds them together (WB6, WB7, WB7b, WB7c, WB11, WB12)."""
    if _is_letter(one) and _is_letter(other):
        if mid == DOUBLE_QUOTE:
            return bool(one == HEBREW and other == HEBREW)
        return bool(mid != MID_NUM)
    return bool(one == NUMERIC and other == NUMERIC and mid not in (MID_LETTER, DOUBLE_QUOTE))


@inner
def _next_kind(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> Int:
    """Class of the next character that WB4 does not skip; OTHER at the end."""
    while at < stop:
        point, width = decode(buffer, at, stop)
        kind = np.int64(table[point]) & CLASS
        if not _is_ignored(kind):
            return kind
        at += width
    return np.int64(OTHER)
