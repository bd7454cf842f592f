"""Repetition limits of Gopher.

Source: Rae et al. 2021, table A1; exact semantics: datatrove 0.10.1.
"""

from collections.abc import Iterator

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.recipe.rules.published import MOST_WORDS
from dataassets.stages.filter.rule import SHARES, Ruling, above, is_zero

HISTOGRAMS = {
    name: (SHARES, name)
    for name in (
        *(f"dup_{what}_frac" for what in ("para", "para_char", "line", "line_char")),
        *(f"top_{n}_gram" for n in range(1, MOST_WORDS + 1)),
        *(f"duplicated_{n}_n_grams" for n in range(1, MOST_WORDS + 1)),
    )
}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Paragraphs, lines (0 switches a test off), the most frequent n-grams, n-grams seen before (0 is a limit).

    N-grams judge by rising n; datatrove's do in the order in which they are named.
    """
    own = settings.gopher_repetition
    assert own is not None
    yield is_zero(signals, "empty", "num_chars")
    for name in ("dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac"):
        yield from above(signals, name, name, getattr(own, name) or None)
    for n, limit in sorted(own.top_n_grams.items()):
        yield from above(signals, f"top_{n}_gram", f"top_{n}_gram", limit)
    for n, limit in sorted(own.dup_n_grams.items()):
        yield from above(signals, f"duplicated_{n}_n_grams", f"duplicated_{n}_n_grams", limit)
