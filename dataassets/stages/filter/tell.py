"""What the filter tells of itself: histograms of the main signals with their limits, samples of what goes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram
from dataassets.stages.filter import rules
from dataassets.stages.filter.rule import Ruling, values
from dataassets.stages.filter.rules import RULES


def histograms(signals: pa.Table, judged: Mapping[str, Ruling]) -> dict[str, Histogram]:
    """Histograms of signals of all documents, kept or not.

    Args:
        signals: as `measure` gives them.
        judged: by reason, the tests that judged: their signals are drawn with their limits; none draws all signals.
    """
    read = {test.column for test in judged.values()}
    drawn = {}
    for rule in RULES:
        for column, (edges, test) in rules.rule(rule).HISTOGRAMS.items():
            if column in signals.column_names and (column in read or not judged):
                limit = judged[f"{rule}:{test}"].limit if f"{rule}:{test}" in judged else None
                assert limit is None or isinstance(limit, int | float), "a histogram has a number for its limit"
                drawn[column] = Histogram.of(values(signals, column), edges=edges, limit=limit)
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
