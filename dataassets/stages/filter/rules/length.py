"""Size limits of a document: characters, words, lines that are not blank."""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import COUNTS, Ruling, above, below

HISTOGRAMS = {
    "num_chars": ((0, *(10**k for k in range(1, 9))), "short"),
    "num_words": (COUNTS, "few_words"),
    "num_lines": (COUNTS, "few_lines"),
}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Fewest and most characters, words, lines; 0 switches a test off, as None does."""
    own = settings.length
    assert own is not None
    yield from below(signals, "short", "num_chars", own.min or None)
    yield from above(signals, "long", "num_chars", own.max or None)
    yield from below(signals, "few_words", "num_words", own.min_words or None)
    yield from above(signals, "many_words", "num_words", own.max_words or None)
    yield from below(signals, "few_lines", "num_lines", own.min_lines or None)
    yield from above(signals, "many_lines", "num_lines", own.max_lines or None)
