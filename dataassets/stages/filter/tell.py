"""What the filter tells of itself: histograms of the main signals with their limits, samples of what goes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram
from dataassets.stages.filter.limits import Ruling, values

_COUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
_SHARES = tuple(round(0.05 * k, 2) for k in range(21))
_SMALL_SHARES = (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)

# Signal: edges, and the reason whose limit is drawn. Those under SHAPE are of the rewritten text where C4 is on.
_SHAPE = ("line_punct_ratio", "short_line_ratio", "char_dup_ratio", "list_ratio")
_HISTOGRAMS: dict[str, tuple[Sequence[float], str]] = {
    "num_chars": ((0, *(10**k for k in range(1, 9))), "length:short"),
    "language_score": (_SHARES, "language:low_score"),
    "dup_para_frac": (_SHARES, "gopher_repetition:dup_para_frac"),
    "dup_line_frac": (_SHARES, "gopher_repetition:dup_line_frac"),
    "top_2_gram": (_SHARES, "gopher_repetition:top_2_gram"),
    "duplicated_5_n_grams": (_SHARES, "gopher_repetition:duplicated_5_n_grams"),
    "num_nonsymbol_words": (_COUNTS, "gopher_quality:gopher_short_doc"),
    "mean_word_length": (tuple(k / 2 for k in range(31)), "gopher_quality:gopher_above_avg_threshold"),
    "alpha_words": (_SHARES, "gopher_quality:gopher_below_alpha_threshold"),
    "num_stop_words": (tuple(range(17)), "gopher_quality:gopher_enough_stop_words"),
    "c4_num_sentences": (_COUNTS, "c4:too_few_sentences"),
    "line_punct_ratio": (_SHARES, "fineweb:line_punct_ratio"),
    "short_line_ratio": (_SHARES, "fineweb:short_line_ratio"),
    "char_dup_ratio": (_SMALL_SHARES, "fineweb:char_dup_ratio"),
    "list_ratio": (_SHARES, "fineweb:list_ratio"),
}


def histograms(signals: pa.Table, tests: Mapping[str, Ruling], *, rewritten: bool) -> dict[str, Histogram]:
    """Histograms of the main signals of all documents, kept or not.

    Args:
        signals: records.SIGNALS.
        tests: by reason, those that judged; their limits are drawn.
        rewritten: the line signals that FineWeb judges are those of the text that C4 made.
    """
    drawn = {}
    for name, (edges, reason) in _HISTOGRAMS.items():
        column = f"c4_{name}" if rewritten and name in _SHAPE else name
        limit = tests[reason].limit if reason in tests else None
        assert limit is None or isinstance(limit, int | float), "a histogram has a number for its limit"
        drawn[name] = Histogram.of(values(signals, column), edges=edges, limit=limit)
    return drawn


def samples(
    documents: pa.Table, signals: pa.Table, tests: Mapping[str, Ruling], rows: Sequence[npt.NDArray[np.int64]]
) -> dict[str, list[dict[str, Any]]]:
    """The first documents of each reason, with what was measured and the limit.

    Args:
        documents: records.DOCUMENTS.
        signals: records.SIGNALS.
        tests: by reason.
        rows: for each test, in their order, the rows that it removed.
    """
    told = {}
    for (reason, test), removed in zip(tests.items(), rows, strict=True):
        if len(removed):
            first = [int(row) for row in removed[:SAMPLES_PER_REASON]]
            told[reason] = [_sample(documents, signals.column(test.column)[row], test, row) for row in first]
    return told


def _sample(documents: pa.Table, value: pa.Scalar, test: Ruling, row: int) -> dict[str, Any]:
    text = documents.column("text")[row].as_py()
    return {
        "id": documents.column("id")[row].as_py().hex(),
        "url": documents.column("url")[row].as_py(),
        "snippet": " ".join(text[: 4 * SAMPLE_CHARS].split())[:SAMPLE_CHARS],
        "value": value.as_py(),
        "limit": test.limit,
    }
