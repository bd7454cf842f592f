"""Line shape limits of FineWeb, on the text that C4 makes where C4 judges before.

Source: Penedo et al. 2024; exact semantics: datatrove 0.10.1.
"""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import SHARES, SMALL_SHARES, Ruling, above, below, is_zero, values

HISTOGRAMS = {
    f"{prefix}{name}": (edges, name)
    for prefix in ("", "c4_")
    for name, edges in {
        "line_punct_ratio": SHARES,
        "short_line_ratio": SHARES,
        "char_dup_ratio": SMALL_SHARES,
        "list_ratio": SHARES,
    }.items()
}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Final marks, short lines, repeated lines, line feeds."""
    own, prefix = settings.fineweb, "c4_" if settings.c4 else ""
    assert own is not None
    yield is_zero(signals, "empty", f"{prefix}num_lines")
    for test in below(signals, "line_punct_ratio", f"{prefix}line_punct_ratio", own.line_punct_ratio):
        exempt = own.line_punct_exclude_zero & (values(signals, test.column) == 0)
        yield Ruling(test.name, test.column, test.limit, test.failed & ~exempt)
    yield from above(signals, "short_line_ratio", f"{prefix}short_line_ratio", own.short_line_ratio)
    yield from above(signals, "char_dup_ratio", f"{prefix}char_dup_ratio", own.char_dup_ratio)
    yield from above(signals, "list_ratio", f"{prefix}list_ratio", own.new_line_ratio)
