"""Signals to decisions: the first test that a document fails is its reason; who fails none is kept.

Shapes: D documents, T tests.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, KEPT, with_reason
from dataassets.report import Report
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.edits import edited
from dataassets.stages.filter.languages import Part
from dataassets.stages.filter.rule import Limit, Ruling
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.tell import Found, histograms, samples

__all__ = ["RULES", "judge"]


def judge(documents: pa.Table, signals: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Apply the thresholds. Text is touched only where a rule is on that removes lines, in documents that stay.

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
    columns["text"] = edited(documents.column("text"), signals, np.asarray(pc.equal(reason, KEPT)), parts=parts)
    return pa.table([*columns.values(), reason], schema=with_reason(DOCUMENTS))


def _by_language(signals: pa.Table) -> dict[str, int]:
    counted = signals.column("language").drop_null().value_counts()
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return {f"language:{code}": n for code, n in sorted(pairs)}
