"""From decisions to text: what the rules that are on take out of documents that stay.

A rule that removes lines names the column of those it keeps in its attribute LINES. Lines are numbered, and judged, in
the text as it was measured, so no order of rules matters: a line stays iff every such rule keeps it. C4 then edits what
stays (white space at the ends of lines, citations); without C4 a line that stays is what it was, line end and all.

Shapes: D documents, K kept lines of all of them.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.stages.filter import rules
from dataassets.stages.filter.languages import Part

BATCH_ROWS = 4096  # documents edited at a time: bounds the memory, changes no result


class Edit(NamedTuple):
    """What happens to the text of some documents that stay.

    Args:
        lines: signals, each with the lines that a rule keeps.
        c4: lines are edited as C4 does, with or without their citations; None where C4 is off.
        cut: how words are cut where C4's lines are sentences, which then are all lines; "" where they are lines.
    """

    lines: tuple[str, ...]
    c4: bool | None
    cut: str

    @classmethod
    def of(cls, settings: Filter) -> "Edit":
        """What the settings ask for."""
        on = [rules.rule(name) for name in rules.RULES if getattr(settings, name) is not None]
        lines = tuple(rule.LINES for rule in on if hasattr(rule, "LINES"))
        if settings.c4 is None:
            return cls(lines, None, "")
        return cls(lines, settings.c4.citations, "" if settings.c4.split_paragraph else settings.words)


def edited(
    texts: pa.ChunkedArray, signals: pa.Table, kept: npt.NDArray[np.bool_], *, parts: Sequence[Part]
) -> pa.ChunkedArray:
    """The text of all documents; of the kept ones, what the rules leave of it.

    Args:
        texts: large_string [D].
        signals: of the same documents.
        kept: bool [D], whether each document stays.
        parts: the documents by their settings.

    Returns:
        large_string [D].
    """
    rows: dict[Edit, list[npt.NDArray[np.int64]]] = {}
    for part in parts:
        rows.setdefault(Edit.of(part.settings), []).append(part.rows)
    for edit, found in rows.items():
        if edit.lines:
            mine = np.zeros(len(texts), np.bool_)
            mine[np.concatenate(found)] = True
            texts = _edited(texts, signals, kept & mine, edit)
    return texts


def _edited(texts: pa.ChunkedArray, signals: pa.Table, kept: npt.NDArray[np.bool_], edit: Edit) -> pa.ChunkedArray:
    """The same for one edit of the documents that stay."""
    from dataassets.stages.filter.rewritten import keep_lines, rewrite  # loads numba, which judging needs here alone
    from dataassets.stages.text import CUTS, sentence_ends, utf8_buffers

    chunks = []
    for row in range(0, len(texts), BATCH_ROWS):
        rows, stays = slice(row, row + BATCH_ROWS), pa.array(kept[row : row + BATCH_ROWS])
        before = texts[rows].combine_chunks()
        lines, first = kept_by_all([signals.column(name)[rows].combine_chunks() for name in edit.lines], stays)
        buffer, offsets = utf8_buffers(before)
        if edit.c4 is None:
            after = keep_lines(buffer, offsets, lines=lines, first=first)
        else:
            ends = sentence_ends(CUTS[edit.cut].word_spans(buffer, offsets), buffer, offsets) if edit.cut else None
            made = rewrite(buffer, offsets, lines=lines, first=first, citations=edit.c4, sentences=ends)
            after = made.to_arrow()
        chunks.append(pc.if_else(stays, after, before))
    return pa.chunked_array(chunks, pa.large_string())


def kept_by_all(
    line_lists: Sequence[pa.ListArray], stays: pa.BooleanArray
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lines of each document that all lists name; none of a document that does not stay.

    Args:
        line_lists: list<int32> [D], rising numbers; null only where the document does not stay.
        stays: bool [D].

    Returns:
        int64 [K] and int64 [D + 1]; document d keeps lines[first[d]:first[d + 1]].

    >>> lists = [pa.array([[0, 2, 3], [1], None]), pa.array([[2, 3, 4], [1, 2], [0]])]
    >>> [found.tolist() for found in kept_by_all(lists, pa.array([True, True, False]))]
    [[2, 3, 1], [0, 2, 3, 3]]
    """
    common = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), [_keys(own, stays) for own in line_lists])
    return common & 0xFFFFFFFF, np.searchsorted(common, np.arange(len(stays) + 1) << 32)


def _keys(line_lists: pa.ListArray, stays: pa.BooleanArray) -> npt.NDArray[np.int64]:
    """Row and number of each line as one number, rising."""
    line_lists = pc.if_else(stays, line_lists, pa.scalar(None, line_lists.type))
    row = pc.list_parent_indices(line_lists).cast(pa.int64()).to_numpy()
    return np.asarray((row << 32) | pc.list_flatten(line_lists).cast(pa.int64()).to_numpy(), np.int64)
