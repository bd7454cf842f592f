"""Quality limits of Gopher.

Source: Rae et al. 2021, section A1.1; exact semantics: datatrove 0.10.1.
"""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import COUNTS, SHARES, SMALL_SHARES, Ruling, above, below

HISTOGRAMS = {
    "num_nonsymbol_words": (COUNTS, "gopher_short_doc"),
    "mean_word_length": (tuple(k / 2 for k in range(31)), "gopher_above_avg_threshold"),
    "hash_ratio": (SMALL_SHARES, "gopher_too_many_hashes"),
    "ellipsis_ratio": (SMALL_SHARES, "gopher_too_many_ellipsis"),
    "bullet_lines": (SHARES, "gopher_too_many_bullets"),
    "end_ellipsis_lines": (SHARES, "gopher_too_many_end_ellipsis"),
    "alpha_words": (SHARES, "gopher_below_alpha_threshold"),
    "num_stop_words": (tuple(range(17)), "gopher_enough_stop_words"),
}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Number and length of words, symbols, lines, letters, stop words; 0 switches a test off, as None does."""
    own = settings.gopher_quality
    assert own is not None
    yield from below(signals, "gopher_short_doc", "num_nonsymbol_words", own.min_words or None)
    yield from above(signals, "gopher_long_doc", "num_nonsymbol_words", own.max_words or None)
    yield from below(signals, "gopher_below_avg_threshold", "mean_word_length", own.min_avg_word_length or None)
    yield from above(signals, "gopher_above_avg_threshold", "mean_word_length", own.max_avg_word_length or None)
    yield from above(signals, "gopher_too_many_hashes", "hash_ratio", own.max_symbol_ratio or None)
    yield from above(signals, "gopher_too_many_ellipsis", "ellipsis_ratio", own.max_symbol_ratio or None)
    yield from above(signals, "gopher_too_many_bullets", "bullet_lines", own.max_bullet_lines or None)
    yield from above(signals, "gopher_too_many_end_ellipsis", "end_ellipsis_lines", own.max_ellipsis_lines or None)
    yield from below(signals, "gopher_below_alpha_threshold", "alpha_words", own.min_alpha_words or None)
    yield from below(signals, "gopher_enough_stop_words", "num_stop_words", own.min_stop_words or None)
