"""Cleaned documents to signals: every quantity that a rule asks for, of every document, whatever the thresholds.

Shapes: D documents.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, ID
from dataassets.report import Report
from dataassets.stages.filter import rules
from dataassets.stages.filter.rule import Texts
from dataassets.stages.filter.tell import histograms

SLICE_BYTES = 8_000_000  # of text measured at a time: bounds the memory, changes no result


def measured_by(settings: Filter) -> dict[str, Any]:
    """The part of the settings that signals depend on, by measure; a changed threshold leaves it as it is.

    Args:
        settings: of the whole stage.

    Returns:
        Plain JSON values.

    Raises:
        RecipeError: a file that the settings name is not there.

    >>> from dataassets.recipe import C4, FineWeb
    >>> measured_by(Filter()) == measured_by(Filter(c4=C4(min_sentences=9), fineweb=FineWeb(new_line_ratio=None)))
    True
    """
    found = {name: rules.measure(name).knobs(settings) for name in rules.MEASURES}
    return {name: own for name, own in found.items() if own is not None}


def schema(settings: Filter) -> pa.Schema:
    """The schema of signals: `id`, then those of each measure that the settings ask for.

    Args:
        settings: of the whole stage.

    >>> schema(Filter()).names[:3]
    ['id', 'language', 'language_score']
    """
    return pa.schema([ID, *(own for name in measured_by(settings) for own in rules.measure(name).fields(settings))])


def measure(documents: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Measure every document.

    Args:
        documents: records.DOCUMENTS.
        settings: of the stage; only `measured_by` of them matters.

    Returns:
        `schema(settings)`, a row for each document in its order; a report that counts documents and characters.
    """
    wanted, measures = schema(settings), [rules.measure(name) for name in measured_by(settings)]
    tables = [wanted.empty_table()]
    for start, stop in _slices(documents.column("text")):
        texts = Texts(documents.slice(start, stop - start).combine_chunks())
        for one in measures:
            texts.measured.update(one.measure(texts, settings=settings))
        columns = texts.measured | {"id": texts.documents.column("id").combine_chunks()}
        tables.append(pa.table([_array(columns[own.name], own.type) for own in wanted], schema=wanted))
    signals = pa.concat_tables(tables)
    num_chars = int(signals.column("num_chars").to_numpy().sum())
    return signals, Report(
        counts={"documents": len(signals), "characters": num_chars}, histograms=histograms(signals, {})
    )


def warm_up() -> None:
    """Compile or load every kernel and model, so that the first document does not wait for it."""
    row = {"id": b"\0" * 16, "text": "A line. Another line!\n\n[1] And one more... line?", "origin": "", "position": 0}
    measure(pa.Table.from_pylist([row], DOCUMENTS), settings=Filter())


def _array(column: object, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column.cast(kind)
    return pa.array(column, kind, from_pandas=True)


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
