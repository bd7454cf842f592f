"""Signals to decisions: the first test that a document fails is its reason; who fails none is kept.

Shapes: D documents, T tests.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, KEPT, with_reason
from dataassets.report import Report
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.edits import edited
from dataassets.stages.filter.languages import Part
from dataassets.stages.filter.masked import mask
from dataassets.stages.filter.rule import Limit
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.tell import Found, histograms, samples

__all__ = ["RULES", "judge"]


def judge(documents: pa.Table, signals: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Apply the thresholds. Documents that stay have what decontamination found masked, and lose lines that rules drop.

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
    judging = [rules.judging(part.settings) for part in parts]
    reasons, failed_by, counts = {KEPT: 0}, np.zeros(len(documents), np.int64), {}
    found: list[Found] = []
    masks: list[tuple[Part, Found]] = []
    for rule in settings.on:
        for part, table, on in zip(parts, tables, judging, strict=True):
            for test in on[rule].tests(table, settings=part.settings) if rule in on else ():
                reason, failed = f"{rule}:{test.name}", part.rows[test.failed]
                if not test.drops:
                    masks.append((part, Found(reason, test, failed)))
                    continue
                gone = failed[failed_by[failed] == 0]
                failed_by[gone] = reasons.setdefault(reason, len(reasons))
                found.append(Found(reason, test, gone))
        counts[f"kept_after:{rule}"] = int((failed_by == 0).sum())
    masks = [(part, own._replace(rows=own.rows[failed_by[own.rows] == 0])) for part, own in masks]
    marked = [own for _, own in masks if len(own.rows)]
    counts |= {reason: sum(len(own.rows) for own in marked if own.reason == reason) for reason, _, _ in marked}
    reason = pa.array(list(reasons), pa.string()).take(pa.array(failed_by))
    limits = _limits(numbers.slice(0, 0), settings)
    told = Report(
        counts=counts | _by_language(signals),
        histograms=histograms(signals, limits, settings=settings) if limits else {},
        samples=samples(documents, signals, found + marked),
    )
    masked = _masked(documents, signals, masks)
    return _judged(masked, signals, reason, parts=parts), told


def _limits(nothing: pa.Table, settings: Filter) -> dict[tuple[str, str], Limit]:
    """By reason and signal, the limit of all tests that there may be; None where languages have different ones."""
    found: dict[tuple[str, str], Limit] = {}
    for own in languages.every(settings):
        for rule, judging in rules.judging(own).items():
            for test in judging.tests(nothing, settings=own):
                place = f"{rule}:{test.name}", test.column
                found[place] = test.limit if found.get(place, test.limit) == test.limit else None
    return found


def _masked(documents: pa.Table, signals: pa.Table, masks: list[tuple[Part, Found]]) -> pa.Table:
    """The documents, in some of them the spans that failed a test masked; lines keep their numbers."""
    place = documents.column_names.index("text")
    texts = documents.column(place)
    for part, found in masks:
        if len(found.rows):
            assert part.settings.decontamination is not None, "no other rule masks"
            placeholder = part.settings.decontamination.placeholder
            texts = mask(texts, signals.column(found.test.spans), rows=found.rows, placeholder=placeholder)
    return documents.set_column(place, documents.schema.field(place), texts)


def _judged(documents: pa.Table, signals: pa.Table, reason: pa.Array, *, parts: list[Part]) -> pa.Table:
    columns = {name: documents.column(name) for name in DOCUMENTS.names}
    columns |= {name: signals.column(name) for name in ("language", "language_score")}
    columns["text"] = edited(documents.column("text"), signals, np.asarray(pc.equal(reason, KEPT)), parts=parts)
    return pa.table([*columns.values(), reason], schema=with_reason(DOCUMENTS))


def _by_language(signals: pa.Table) -> dict[str, int]:
    counted = signals.column("language").drop_null().value_counts()
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return {f"language:{code}": n for code, n in sorted(pairs)}
