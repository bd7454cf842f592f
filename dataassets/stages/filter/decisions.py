"""Signals to decisions: the first test that a document fails is its reason; who fails none is kept.

Shapes: D documents, T tests.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, KEPT, with_reason
from dataassets.report import Report
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.languages import Part
from dataassets.stages.filter.rule import Limit, Ruling
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.tell import Found, histograms, samples

__all__ = ["RULES", "judge"]

BATCH_ROWS = 4096  # documents rewritten at a time: bounds the memory, changes no result


def judge(documents: pa.Table, signals: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Apply the thresholds. Text is touched only where C4 is on: kept documents lose the lines that it drops.

    Args:
        documents: records.DOCUMENTS.
        signals: of the same documents, measured with the same `measured_by(settings)`.
        settings: which rules judge, with what limits; they judge in the order of RULES, each document by the settings
            of its language.

    Returns:
        `with_reason(DOCUMENTS)`, a row for each document in its order, language and score filled in. The report counts
        `kept_after:<rule>` and `language:<code>`, and has histograms of the main signals and samples of each reason.
    """
    assert documents.column("id").equals(signals.column("id")), "signals belong to these documents"
    parts = languages.parts(signals.column("language"), settings=settings)
    numbers = signals.select([field.name for field in signals.schema if not pa.types.is_list(field.type)])
    tables = [languages.taken(numbers, part) for part in parts]
    reasons, failed_by, counts = {KEPT: 0}, np.zeros(len(documents), np.int64), {}
    found: list[Found] = []
    for rule in _on(settings):
        for part, table in zip(parts, tables, strict=True):
            for test in _tests(rule, table, part.settings):
                gone = part.rows[test.failed & (failed_by[part.rows] == 0)]
                reason = f"{rule}:{test.name}"
                failed_by[gone] = reasons.setdefault(reason, len(reasons))
                found.append(Found(reason, test, gone))
        counts[f"kept_after:{rule}"] = int((failed_by == 0).sum())
    reason = pa.array(list(reasons), pa.string()).take(pa.array(failed_by))
    limits = _limits(numbers.slice(0, 0), settings)
    told = Report(
        counts=counts | _by_language(signals),
        histograms=histograms(signals, limits) if limits else {},
        samples=samples(documents, signals, found),
    )
    return _judged(documents, signals, reason, parts=parts), told


def _on(settings: Filter) -> list[str]:
    """The rules that some document is judged by, in their order."""
    return [rule for rule in RULES if any(getattr(own, rule) is not None for own in languages.every(settings))]


def _tests(rule: str, signals: pa.Table, settings: Filter) -> Iterator[Ruling]:
    if getattr(settings, rule) is not None:
        yield from rules.rule(rule).tests(signals, settings=settings)


def _limits(nothing: pa.Table, settings: Filter) -> dict[tuple[str, str], Limit]:
    """By reason and signal, the limit of all tests that there may be; None where languages have different ones."""
    found: dict[tuple[str, str], Limit] = {}
    for own in languages.every(settings):
        for rule in RULES:
            for test in _tests(rule, nothing, own):
                place = f"{rule}:{test.name}", test.column
                found[place] = test.limit if found.get(place, test.limit) == test.limit else None
    return found


def _judged(documents: pa.Table, signals: pa.Table, reason: pa.Array, *, parts: list[Part]) -> pa.Table:
    columns = {name: documents.column(name) for name in DOCUMENTS.names}
    columns |= {name: signals.column(name) for name in ("language", "language_score")}
    kept = np.asarray(pc.equal(reason, KEPT))
    for citations in (True, False):
        rows = [part.rows for part in parts if part.settings.c4 and part.settings.c4.citations == citations]
        if rows:
            mine = np.zeros(len(documents), np.bool_)
            mine[np.concatenate(rows)] = True
            columns["text"] = _rewritten(columns["text"], signals, kept & mine, citations=citations)
    return pa.table([*columns.values(), reason], schema=with_reason(DOCUMENTS))


def _rewritten(
    column: pa.ChunkedArray, signals: pa.Table, kept: npt.NDArray[np.bool_], *, citations: bool
) -> pa.ChunkedArray:
    """A column of texts; of the kept ones, what C4 leaves of them."""
    from dataassets.stages.filter.rewritten import rewrite  # loads numba, which judging does not need otherwise
    from dataassets.stages.text import utf8_buffers

    chunks = []
    for row in range(0, len(column), BATCH_ROWS):
        rows = slice(row, row + BATCH_ROWS)
        stays = pa.array(kept[rows])
        texts = column[rows].combine_chunks()
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
