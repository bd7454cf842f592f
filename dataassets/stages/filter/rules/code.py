"""How much of a text is program code: the share of its characters, white space not counted, in lines of code."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import SHARES, Columns, Ruling, Texts, above, below, share

HISTOGRAMS = {"code_ratio": (SHARES, "too_much_code")}


def knobs(settings: Filter) -> dict[str, Any] | None:
    """None of the settings: both are limits."""
    return None if settings.code is None else {}


def fields(_settings: Filter) -> list[pa.Field]:
    """The share; null for a text of white space."""
    return [pa.field("code_ratio", pa.float64())]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """The share of code."""
    from dataassets.stages.filter import blocks, c4, code
    from dataassets.stages.filter.repeats import hash_table
    from dataassets.stages.text import class_table, frozen

    (buffer, offsets), table = texts.utf8, class_table()
    starts, stops = offsets[:-1], offsets[1:]
    num_lines = c4.count_all_lines(buffer, starts, stops, table)
    is_code, edges, in_block = np.zeros((3, num_lines), np.uint8)
    sizes, first = np.zeros(num_lines, np.int64), np.zeros(len(offsets), np.int64)
    code.label_lines(buffer, starts, stops, table, hash_table(code.KEYWORDS), is_code, edges, sizes, first)
    blocks.mark_blocks(frozen(edges), frozen(first), in_block)
    chars_D2 = np.zeros((len(starts), 2), np.int64)
    code.count_code(frozen(is_code), frozen(in_block), frozen(sizes), first, chars_D2)
    return {"code_ratio": share(chars_D2[:, 0], chars_D2[:, 1])}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Most code, least code."""
    own = settings.code
    assert own is not None
    yield from above(signals, "too_much_code", "code_ratio", own.max_ratio)
    yield from below(signals, "too_little_code", "code_ratio", own.min_ratio)
