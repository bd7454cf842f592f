"""What the filter tells of itself: histograms of the main signals with their limits, samples of what goes."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram
from dataassets.stages.filter import rules
from dataassets.stages.filter.rule import Limit, Ruling, values
from dataassets.stages.filter.rules import RULES


class Found(NamedTuple):
    """Documents that a test removed.

    Args:
        reason: `<rule>:<test>`.
        test: as it was applied to them.
        rows: int64, their rows, rising.
    """

    reason: str
    test: Ruling
    rows: npt.NDArray[np.int64]


def histograms(signals: pa.Table, limits: Mapping[tuple[str, str], Limit]) -> dict[str, Histogram]:
    """Histograms of signals of all documents, kept or not.

    Args:
        signals: as `measure` gives them.
        limits: by reason and signal: these signals are drawn, with the limit where it is one; none draws all signals.
    """
    read = {column for _, column in limits}
    drawn = {}
    for rule in RULES:
        for column, (edges, test) in rules.rule(rule).HISTOGRAMS.items():
            if column in signals.column_names and (column in read or not limits):
                limit = limits.get((f"{rule}:{test}", column))
                assert limit is None or isinstance(limit, int | float), "a histogram has a number for its limit"
                drawn[column] = Histogram.of(values(signals, column), edges=edges, limit=limit)
    return drawn


def samples(documents: pa.Table, signals: pa.Table, found: Sequence[Found]) -> dict[str, list[dict[str, Any]]]:
    """The first documents of each reason, with what was measured and the limit.

    Args:
        documents: records.DOCUMENTS.
        signals: as `measure` gives them.
        found: what each test removed.
    """
    removed: dict[str, list[tuple[int, Ruling]]] = {}
    for reason, test, rows in found:
        if len(rows):
            removed.setdefault(reason, []).extend((int(row), test) for row in rows[:SAMPLES_PER_REASON])
    return {
        reason: [
            _sample(documents, signals.column(test.column)[row], test, row)
            for row, test in sorted(pairs, key=itemgetter(0))[:SAMPLES_PER_REASON]
        ]
        for reason, pairs in removed.items()
    }


def _sample(documents: pa.Table, value: pa.Scalar, test: Ruling, row: int) -> dict[str, Any]:
    text = documents.column("text")[row].as_py()
    return {
        "id": documents.column("id")[row].as_py().hex(),
        "url": documents.column("url")[row].as_py(),
        "snippet": " ".join(text[: 4 * SAMPLE_CHARS].split())[:SAMPLE_CHARS],
        "value": value.as_py(),
        "limit": test.limit,
    }
