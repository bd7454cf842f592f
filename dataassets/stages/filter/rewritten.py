"""The text that C4 makes of a document, which `measure` measures and `judge` writes; the text of kept lines alone.

Shapes: D documents, K kept lines of all of them.
"""

import re
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from dataassets.stages.filter import c4
from dataassets.stages.filter.lines import copy_lines
from dataassets.stages.text import REFUSED, Bytes, Cut, Ints, Words, class_table, counts, frozen

Ends: TypeAlias = tuple[Ints, Ints]  # of sentences, as `sentence_ends` gives them


class Rewritten(NamedTuple):
    """Documents as C4 leaves them.

    Args:
        buffer: uint8, read-only: the texts, one after another.
        offsets: int64 [D + 1], read-only.
        lines: uint8, read-only: the kept lines before white space at the ends of a text is cut.
        line_spans: int64 [K] starts and int64 [K] stops of the lines in `lines`.
        sources: int64 [K] starts and int64 [K] stops of the lines in the documents that were given; a line from which
            nothing was removed is as long in both.
    """

    buffer: Bytes
    offsets: Ints
    lines: Bytes
    line_spans: tuple[Ints, Ints]
    sources: tuple[Ints, Ints]

    def to_arrow(self) -> pa.Array:
        """The texts as large_string [D], without a copy."""
        offsets, data = pa.py_buffer(self.offsets), pa.py_buffer(self.buffer)
        return pa.LargeStringArray.from_buffers(len(self.offsets) - 1, offsets, data)


def no_sentences(num_docs: int) -> Ends:
    """What stands for the ends of sentences where lines are judged."""
    return frozen(np.zeros(0, np.int64)), frozen(np.zeros(num_docs + 1, np.int64))


def rewrite(
    buffer: Bytes,
    offsets: Ints,
    *,
    lines: Ints,
    first: Ints,
    citations: bool,
    sentences: Ends | None = None,
) -> Rewritten:
    """Make documents of their kept lines.

    Args:
        buffer: uint8 [bytes], UTF-8, read-only.
        offsets: int64 [D + 1], read-only.
        lines: int64 [K], numbers of the kept lines, as str.splitlines counts them.
        first: int64 [D + 1]; document d keeps lines[first[d]:first[d + 1]].
        citations: remove [1], [edit] and [citation needed].
        sentences: as `sentence_ends` gives them: lines are sentences, then joined by a space. None for lines.
    """
    lines, first = frozen(lines.view()), frozen(first.view())
    table, num_bytes = class_table(), int(offsets[-1] - offsets[0]) + len(lines)
    pieces = no_sentences(len(offsets) - 1) if sentences is None else sentences
    joined, line_spans = np.empty(num_bytes, np.uint8), np.zeros((4, len(lines)), np.int64)
    c4.write_lines(buffer, offsets[:-1], offsets[1:], table, pieces, int(citations), lines, first, joined, line_spans)
    starts, stops = np.zeros(len(first) - 1, np.int64), np.zeros(len(first) - 1, np.int64)
    some = first[1:] > first[:-1]
    starts[some] = line_spans[0, first[:-1][some]]
    stops[some] = line_spans[1, first[1:][some] - 1]
    texts, text_offsets = np.empty(num_bytes, np.uint8), np.zeros(len(offsets), np.int64)
    c4.trim(frozen(joined), frozen(starts), frozen(stops), table, texts, text_offsets)
    spans = [frozen(row) for row in line_spans]
    return Rewritten(frozen(texts), frozen(text_offsets), joined, (spans[0], spans[1]), (spans[2], spans[3]))


def count_kept(words: Words, buffer: Bytes, *, text: Rewritten, first: Ints, cut: Cut) -> tuple[Ints, Ints]:
    """Words of each rewritten document, and sentences of its lines, each line by itself.

    Lines end at white space that is no space, so a line from which nothing was removed has the words that it had.

    Args:
        words: of the documents that were given, by the same cut.
        buffer: the bytes of these.
        text: what became of them.
        first: int64 [D + 1], as of `rewrite`.
        cut: how words and sentences are cut.

    Returns:
        int64 [D] words and int64 [D] sentences; a line without words is one, as datatrove counts.
    """
    (starts, stops), (begins, ends) = text.line_spans, text.sources
    size = int(stops[-1]) if len(stops) else 0
    if cut.counts_of_parts is None or words.buffer is not buffer or re.search(REFUSED.encode(), text.lines.data[:size]):
        sentences = cut.sentence_counts(text.lines, starts, stops)
        return cut.word_counts(text.buffer, text.offsets), _sums(np.maximum(sentences, 1), first)
    num_words, sentences = cut.counts_of_parts(words, begins, ends)
    edited = np.flatnonzero(stops - starts != ends - begins)
    num_words[edited], sentences[edited] = counts(text.lines, starts[edited], stops[edited])
    return _sums(num_words, first), _sums(np.maximum(sentences, 1), first)


def _sums(values: Ints, first: Ints) -> Ints:
    """int64 [D], sums of values[first[d]:first[d + 1]]."""
    before: Ints = np.concatenate([[0], np.cumsum(values)])
    return before[first[1:]] - before[first[:-1]]


def keep_lines(buffer: Bytes, offsets: Ints, *, lines: Ints, first: Ints) -> pa.Array:
    """Documents less the lines that go; what stays is byte for byte what it was.

    A line end goes with its line; that of the last line kept goes too, where lines behind it did.

    Args:
        buffer: uint8 [bytes], UTF-8, read-only.
        offsets: int64 [D + 1], read-only.
        lines: int64 [K], numbers of the kept lines, as str.splitlines counts them.
        first: int64 [D + 1]; document d keeps lines[first[d]:first[d + 1]].

    Returns:
        large_string [D].
    """
    texts, text_offsets = np.empty(int(offsets[-1] - offsets[0]), np.uint8), np.zeros(len(offsets), np.int64)
    kept, kept_first = frozen(lines.view()), frozen(first.view())
    copy_lines(buffer, offsets[:-1], offsets[1:], class_table(), kept, kept_first, texts, text_offsets)
    return pa.LargeStringArray.from_buffers(len(first) - 1, pa.py_buffer(text_offsets), pa.py_buffer(texts))
