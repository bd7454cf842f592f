"""Line rules of C4: documents that it refuses, and those of which too little is left.

Source: Raffel et al. 2020, section 2.2; exact semantics: datatrove 0.10.1.
"""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import COUNTS, Ruling, below, is_among

LINES = "c4_lines"
HISTOGRAMS = {"c4_num_sentences": (COUNTS, "too_few_sentences")}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """What it refuses, then the least number of sentences left."""
    own = settings.c4
    assert own is not None
    for name in ("lorem_ipsum", "curly_bracket"):
        yield Ruling(name, "c4_refused", None, is_among(signals, "c4_refused", [name]))
    yield from below(signals, "too_few_sentences", "c4_num_sentences", own.min_sentences)
