"""Decisions to documents: who fails no test is kept, in the text that the rules leave of it.

Shapes: D documents.
"""

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, with_reason
from dataassets.report import Report
from dataassets.stages.filter.edits import edited
from dataassets.stages.filter.languages import Part
from dataassets.stages.filter.masked import mask
from dataassets.stages.filter.rules import RULES
from dataassets.stages.filter.tell import histograms, samples
from dataassets.stages.filter.verdict import Found, Verdict, decide, limits

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
    verdict = decide(signals, settings=settings)
    marked = [found for _, found in verdict.masked if len(found.rows)]
    counts = {f"kept_after:{rule}": n for rule, n in verdict.kept_after.items()}
    counts |= {reason: sum(len(own.rows) for own in marked if own.reason == reason) for reason, _, _ in marked}
    drawn = limits(signals, settings=settings)
    told = Report(
        counts=counts | _by_language(signals),
        histograms=histograms(signals, drawn, settings=settings) if drawn else {},
        samples=samples(documents, signals, verdict.found + marked),
    )
    return _judged(_masked(documents, signals, verdict.masked), signals, verdict), told


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


def _judged(documents: pa.Table, signals: pa.Table, verdict: Verdict) -> pa.Table:
    columns = {name: documents.column(name) for name in DOCUMENTS.names}
    columns |= {name: signals.column(name) for name in ("language", "language_score")}
    columns["text"] = edited(documents.column("text"), signals, verdict.kept, parts=verdict.parts)
    return pa.table([*columns.values(), verdict.reason], schema=with_reason(DOCUMENTS))


def _by_language(signals: pa.Table) -> dict[str, int]:
    counted = signals.column("language").drop_null().value_counts()
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return {f"language:{code}": n for code, n in sorted(pairs)}
