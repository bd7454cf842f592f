"""Cleaned documents to signals: every quantity that a rule asks for, of every document, whatever the thresholds.

Shapes: D documents.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets.recipe import Filter, RecipeError
from dataassets.records import DOCUMENTS, ID
from dataassets.report import Report
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.rule import Texts, as_array
from dataassets.stages.filter.tell import histograms

FIRST = "language"  # the measure that says by which settings a document is measured
SLICE_BYTES = 8_000_000  # of text measured at a time: bounds the memory, changes no result


def measured_by(settings: Filter) -> dict[str, Any]:
    """The part of the settings that signals depend on, by measure; a changed threshold leaves it as it is.

    Args:
        settings: of the whole stage.

    Returns:
        Plain JSON values; `languages` has those that are measured in another way than the rest, where there are some.

    Raises:
        RecipeError: a file that the settings name is not there.

    >>> from dataassets.recipe import C4, FineWeb
    >>> measured_by(Filter()) == measured_by(Filter(c4=C4(min_sentences=9), fineweb=FineWeb(new_line_ratio=None)))
    True
    """
    base = _measured_by(settings)
    own = {code: _measured_by(chosen) for code, chosen in settings.languages.items()}
    apart = {code: knobs for code, knobs in own.items() if knobs != base}
    return base | ({"languages": apart} if apart else {})


def _measured_by(settings: Filter) -> dict[str, Any]:
    """The same of documents of one kind."""
    found = {name: rules.measure(name).knobs(settings) for name in rules.MEASURES}
    return {name: own for name, own in found.items() if own is not None}


def schema(settings: Filter) -> pa.Schema:
    """The schema of signals: `id`, then those of each measure that the settings ask for, for some language or all.

    Args:
        settings: of the whole stage.

    Raises:
        RecipeError: a file that the settings name is not there; two signals would be one column.

    >>> schema(Filter()).names[:3]
    ['id', 'language', 'language_score']
    """
    chosen = [(own, _measured_by(own)) for own in languages.every(settings)]
    _refuse_clashes(chosen)
    fields = {ID.name: ID}
    for name in rules.MEASURES:
        asked = [own for own, knobs in chosen if name in knobs]
        for field in (field for own in asked for field in rules.measure(name).fields(own)):
            fields.setdefault(field.name, field.with_nullable(field.nullable or len(asked) < len(chosen)))
    return pa.schema(fields.values())


def _refuse_clashes(chosen: Sequence[tuple[Filter, dict[str, Any]]]) -> None:
    """Refuse two signals of one name; built-in measures have different ones."""
    types: dict[str, pa.DataType] = {}
    for own, knobs in chosen:
        fields = [field for name in rules.MEASURES if name in knobs for field in rules.measure(name).fields(own)]
        twice = [name for name, n in Counter(field.name for field in fields).items() if n > 1]
        twice += [field.name for field in fields if types.setdefault(field.name, field.type) != field.type]
        if twice:
            raise RecipeError(
                f"filter.custom: two signals would be the column {twice[0]}; rename the filter or its signal"
            )


def measure(documents: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Measure every document, in the way that its language wants.

    Args:
        documents: records.DOCUMENTS.
        settings: of the stage; only `measured_by` of them matters.

    Returns:
        `schema(settings)`, a row for each document in its order; a report that counts documents and characters.
    """
    wanted = schema(settings)
    tables = [wanted.empty_table()]
    for start, stop in _slices(documents.column("text")):
        tables.append(_signals(documents.slice(start, stop - start).combine_chunks(), settings=settings, wanted=wanted))
    signals = pa.concat_tables(tables)
    num_chars = int(signals.column("num_chars").to_numpy().sum())
    return signals, Report(
        counts={"documents": len(signals), "characters": num_chars},
        histograms=histograms(signals, {}, settings=settings),
    )


def _signals(documents: pa.Table, *, settings: Filter, wanted: pa.Schema) -> pa.Table:
    """The signals of some documents: the language first, which says how the rest is measured."""
    found = rules.measure(FIRST).measure(Texts(documents), settings=settings)
    known = {name: as_array(column, wanted.field(name).type) for name, column in found.items()}
    parts = languages.parts(known["language"], settings=settings, by=lambda own: repr(_measured_by(own)))
    tables = []
    for part in parts:
        texts = Texts(languages.taken(documents, part).combine_chunks(), part.settings.words)
        texts.measured.update({name: languages.taken(column, part) for name, column in known.items()})
        for name in _measured_by(part.settings):
            if name != FIRST:
                texts.measured.update(rules.measure(name).measure(texts, settings=part.settings))
        columns = texts.measured | {"id": texts.documents.column("id").combine_chunks()}
        absent = [None] * len(part.rows)
        arrays = [as_array(columns.get(own.name, absent), own.type) for own in wanted]
        tables.append(pa.table(arrays, schema=wanted))
    return languages.in_order(tables, parts)


def warm_up() -> None:
    """Compile or load every kernel and model, so that the first document does not wait for it."""
    from dataassets.stages.text import CUTS

    row = {"id": b"\0" * 16, "text": "A line. Another line!\n\n[1] And one more... line?", "origin": "", "position": 0}
    for words in CUTS:
        chosen = Filter.model_validate({"words": words, "line_filter": {}, "code": {}})
        measure(pa.Table.from_pylist([row], DOCUMENTS), settings=chosen)


def _slices(texts: pa.ChunkedArray) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about SLICE_BYTES of text each, one row at least."""
    from dataassets.stages.text import utf8_buffers

    row = 0
    for chunk in texts.chunks:
        ends = utf8_buffers(chunk)[1]
        start = 0
        while start < len(chunk):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] + SLICE_BYTES, "right")) - 1)
            yield row + start, row + stop
            start = stop
        row += len(chunk)
