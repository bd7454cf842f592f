"""Signals to decisions: the first test that a document fails is its reason; who fails none is kept.

Shapes: D documents, T tests.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, KEPT, with_reason
from dataassets.report import Report
from dataassets.stages.filter import rules
from dataassets.stages.filter.rule import Ruling
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.tell import histograms, samples

__all__ = ["RULES", "judge"]

BATCH_ROWS = 4096  # documents rewritten at a time: bounds the memory, changes no result


def judge(documents: pa.Table, signals: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Apply the thresholds. Text is touched only where C4 is on: kept documents lose the lines that it drops.

    Args:
        documents: records.DOCUMENTS.
        signals: of the same documents, measured with the same `measured_by(settings)`.
        settings: which rules judge, with what limits; they judge in the order of RULES.

    Returns:
        `with_reason(DOCUMENTS)`, a row for each document in its order, language and score filled in. The report counts
        `kept_after:<rule>` and `language:<code>`, and has histograms of the main signals and samples of each reason.
    """
    assert documents.column("id").equals(signals.column("id")), "signals belong to these documents"
    reasons, failed_by, counts = [KEPT], np.zeros(len(documents), np.int64), {}
    tests: dict[str, Ruling] = {}
    for rule in RULES:
        if getattr(settings, rule) is None:
            continue
        for test in rules.rule(rule).tests(signals, settings=settings):
            failed_by[test.failed & (failed_by == 0)] = len(reasons)
            reasons.append(f"{rule}:{test.name}")
            tests[reasons[-1]] = test
        counts[f"kept_after:{rule}"] = int((failed_by == 0).sum())
    judged = _judged(documents, signals, pa.array(reasons, pa.string()).take(pa.array(failed_by)), settings=settings)
    told = Report(
        counts=counts | _by_language(signals),
        histograms=histograms(signals, tests) if tests else {},
        samples=samples(documents, signals, tests, [np.flatnonzero(failed_by == t + 1) for t in range(len(tests))]),
    )
    return judged, told


def _judged(documents: pa.Table, signals: pa.Table, reason: pa.Array, *, settings: Filter) -> pa.Table:
    columns = {name: documents.column(name) for name in DOCUMENTS.names}
    columns |= {name: signals.column(name) for name in ("language", "language_score")}
    if settings.c4 is not None:
        kept = np.asarray(pc.equal(reason, KEPT))
        columns["text"] = _rewritten(documents, signals, kept, citations=settings.c4.citations)
    return pa.table([*columns.values(), reason], schema=with_reason(DOCUMENTS))


def _rewritten(
    documents: pa.Table, signals: pa.Table, kept: npt.NDArray[np.bool_], *, citations: bool
) -> pa.ChunkedArray:
    """The text of all documents; of the kept ones, what C4 leaves of it."""
    from dataassets.stages.filter.rewritten import rewrite  # loads numba, which judging does not need otherwise
    from dataassets.stages.text import utf8_buffers

    chunks = []
    for row in range(0, len(documents), BATCH_ROWS):
        rows = slice(row, row + BATCH_ROWS)
        stays = pa.array(kept[rows])
        texts = documents.column("text")[rows].combine_chunks()
        line_lists = signals.column("c4_lines")[rows].combine_chunks()
        line_lists = pc.if_else(stays, line_lists, pa.scalar(None, line_lists.type))
        num_lines = pc.fill_null(pc.list_value_length(line_lists), 0)
        first = np.concatenate([[0], np.cumsum(num_lines)]).astype(np.int64)
        lines = pc.list_flatten(line_lists).cast(pa.int64()).to_numpy()
        buffer, offsets = utf8_buffers(texts)
        text = rewrite(buffer, offsets, lines=lines, first=first, citations=citations)
        chunks.append(pc.if_else(stays, text.to_arrow(), texts))
    return pa.chunked_array(chunks, pa.large_string())


def _by_language(signals: pa.Table) -> dict[str, int]:
    counted = signals.column("language").drop_null().value_counts()
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return {f"language:{code}": n for code, n in sorted(pairs)}
