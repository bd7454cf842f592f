"""Where sentences end: those that `sentences` gives, compiled, over columns of bytes.

Shapes: D documents, S sentences of all of them.
"""

import re

import numpy as np

from dataassets.stages.text.buffers import Bytes, Int, Ints, frozen
from dataassets.stages.text.chunks import Words
from dataassets.stages.text.classes import class_table
from dataassets.stages.text.compiling import compiled
from dataassets.stages.text.kernels import _is_blank, _kind
from dataassets.stages.text.plain import REFUSED, sentences


def sentence_ends(words: Words, buffer: Bytes, offsets: Ints) -> tuple[Ints, Ints]:
    """Where the sentences of documents end; each begins where the one before it ends, and they are the whole text.

    A text without words, even an empty one, is one sentence.

    Args:
        words: of the documents, by any cut.
        buffer: uint8 [bytes], UTF-8, as `utf8_buffers` gives it.
        offsets: int64 [D + 1]; document d is buffer[offsets[d]:offsets[d + 1]].

    Returns:
        int64 [S] bytes after sentences and int64 [D + 1]; those of document d are ends[first[d]:first[d + 1]].

    >>> from dataassets.stages.text import utf8_buffers, word_spans
    >>> import pyarrow as pa
    >>> buffer, offsets = utf8_buffers(pa.array(["Hi. You!", "", "a"], pa.large_string()))
    >>> [found.tolist() for found in sentence_ends(word_spans(buffer, offsets), buffer, offsets)]
    [[3, 8, 8, 9], [0, 2, 3, 4]]
    """
    ends = np.empty(len(words.starts) + 2 * (len(offsets) - 1), np.int64)
    first = np.zeros(len(offsets), np.int64)
    num = _write_ends(words.buffer, offsets[:-1], offsets[1:], words[1:], class_table(), ends, first)
    if words.buffer is buffer:
        return frozen(ends[:num]), frozen(first)
    return _less_refused(ends[:num], first, buffer, offsets)


def _less_refused(ends: Ints, first: Ints, buffer: Bytes, offsets: Ints) -> tuple[Ints, Ints]:
    """The same, by the plain form where words were cut from another text than the document's."""
    places = [found.start() for found in re.finditer(REFUSED.encode(), buffer.data)]
    rows = np.flatnonzero(np.searchsorted(places, offsets[:-1]) < np.searchsorted(places, offsets[1:]))
    parts, sizes, last = [], np.diff(first), 0
    for row in rows.tolist():
        text = bytes(buffer[offsets[row] : offsets[row + 1]]).decode()
        own = offsets[row] + np.cumsum([len(one.encode()) for one in sentences(text) or [text]])
        parts += [ends[first[last] : first[row]], own]
        sizes[row], last = len(own), row + 1
    first_after = np.concatenate([[0], np.cumsum(sizes)])
    return frozen(np.concatenate([*parts, ends[first[last] :]])), frozen(first_after)


@compiled
def _write_ends(
    buffer: Bytes, starts: Ints, stops: Ints, words: tuple[Ints, Ints, Ints], table: Bytes, out: Ints, out_first: Ints
) -> Int:
    """Fill the ends and int64 [D + 1], where those of each text begin; give how many there are."""
    word_starts, word_stops, first = words
    num = np.int64(0)
    for t in range(len(starts)):
        out_first[t], seen, last = num, False, starts[t]
        for w in range(first[t], first[t + 1]):
            mark, punct = _kind(buffer, word_starts[w], word_stops[w], table)
            if seen and (_is_blank(buffer, last, word_starts[w]) or not (mark or punct)):
                out[num], seen = last, False
                num += 1
            seen, last = seen or mark, word_stops[w]
        if seen and _is_blank(buffer, last, stops[t]):
            out[num] = last
            num += 1
        out[num] = stops[t]
        num += 1
    out_first[len(starts)] = num
    return num
