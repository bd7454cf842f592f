"""What the filter tells of itself: histograms of the main signals with their limits, samples of what goes."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.rule import Ruling, values
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.verdict import Found


def histograms(signals: pa.Table, limits: Mapping[str, Sequence[float]], *, settings: Filter) -> dict[str, Histogram]:
    """Histograms of signals of all documents, kept or not.

    Args:
        signals: as `measure` gives them.
        limits: by signal: these are drawn, each with its limits, and those of their rules that no test reads; no limits
            draw all signals.
        settings: of the stage: the user's own filters are among them.
    """
    every = {name: rules.rule(name) for name in RULES}
    for chosen in languages.every(settings):
        every |= rules.judging(chosen)
    drawn = {}
    for rule, own in every.items():
        for column, (edges, test) in own.HISTOGRAMS.items():
            asked = not limits or column in limits or (not test and rule in settings.on)
            if asked and column in signals.column_names:
                drawn[column] = Histogram.of(values(signals, column), edges=edges, limits=limits.get(column, ()))
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
            _sample(documents, signals, test, row)
            for row, test in sorted(pairs, key=itemgetter(0))[:SAMPLES_PER_REASON]
        ]
        for reason, pairs in removed.items()
    }


def _sample(documents: pa.Table, signals: pa.Table, test: Ruling, row: int) -> dict[str, Any]:
    text = documents.column("text")[row].as_py()
    told = {
        "id": documents.column("id")[row].as_py().hex(),
        "url": documents.column("url")[row].as_py(),
        "snippet": _short(text),
        "signal": test.column,
        "value": signals.column(test.column)[row].as_py(),
        "limit": test.limit,
    }
    if test.spans:
        start, stop = signals.column(test.spans)[row].as_py()[:2]
        told["match"] = _short(text.encode()[start:stop].decode())
    return told


def _short(text: str) -> str:
    return " ".join(text[: 4 * SAMPLE_CHARS].split())[:SAMPLE_CHARS]
