"""Size limits of a document."""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import Ruling, above, below

HISTOGRAMS = {"num_chars": ((0, *(10**k for k in range(1, 9))), "short")}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Fewest and most characters."""
    own = settings.length
    assert own is not None
    yield from below(signals, "short", "num_chars", own.min or None)
    yield from above(signals, "long", "num_chars", own.max or None)
