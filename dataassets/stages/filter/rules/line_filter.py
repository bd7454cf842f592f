"""Lines that say little: which ones stay, and how much of the text they are. Lines in fenced code stay.

Sources: docs/how-to/filters/line_filter.md.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import SHARES, Columns, Ruling, Texts, below, share

LINES = "line_filter_lines"
HISTOGRAMS = {"line_filter_kept": (SHARES, "too_little_left")}


def knobs(settings: Filter) -> dict[str, Any] | None:
    """All but `min_kept`, which only judges."""
    own = settings.line_filter
    return None if own is None else own.model_dump(mode="json", exclude={"min_kept"})


def fields(_settings: Filter) -> list[pa.Field]:
    """Numbers of the lines that stay, counted as str.splitlines does; share of characters in them, null for none."""
    return [pa.field(LINES, pa.list_(pa.int32()), nullable=False), pa.field("line_filter_kept", pa.float64())]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """The lines that stay, and their share."""
    from dataassets.stages.filter import blocks, c4, line_choice
    from dataassets.stages.filter.repeats import hash_table
    from dataassets.stages.text import class_table, frozen, word_spans

    own = settings.line_filter
    assert own is not None
    (buffer, offsets), table = texts.utf8, class_table()
    starts, stops = offsets[:-1], offsets[1:]
    words = texts.words
    if len(words.buffer) > len(buffer):  # some texts were cut elsewhere, without IS_ALPHA: lines want them in place
        words = word_spans(buffer, offsets, in_place=True)
    num_lines = c4.count_all_lines(buffer, starts, stops, table)
    kept, edges = np.zeros((2, num_lines), np.uint8)
    sizes, first = np.zeros(num_lines, np.int64), np.zeros(len(offsets), np.int64)
    wanted = [getattr(own, name) for name in line_choice.LIMITS]
    limits = np.where([limit is None for limit in wanted], line_choice.OFF, np.array(wanted, np.float64))
    spelled = {form for word in own.stop_words for form in (word, word.capitalize(), word.upper())}
    line_choice.choose_lines(
        buffer, starts, stops, table, line_choice.kinds(), words.starts, words.stops,
        hash_table(sorted(spelled)), limits, kept, edges, sizes, first,
    )  # fmt: skip
    if own.keep_fences:
        blocks.mark_blocks(frozen(edges), frozen(first), kept)
    stays = kept.astype(bool)
    numbers = np.arange(num_lines) - np.repeat(first[:-1], np.diff(first))
    lines_kept, chars_kept, chars = (np.concatenate([[0], np.cumsum(n)])[first] for n in (stays, sizes * stays, sizes))
    return {
        LINES: pa.ListArray.from_arrays(pa.array(lines_kept, pa.int32()), pa.array(numbers[stays], pa.int32())),
        "line_filter_kept": share(np.diff(chars_kept), np.diff(chars)),
    }


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Least share left."""
    own = settings.line_filter
    assert own is not None
    yield from below(signals, "too_little_left", "line_filter_kept", own.min_kept)
