"""Filters of the user's own: one function each, `(RecordBatch) -> columns`; the recipe says what it gives, what stays.

Only `measure` runs the user's code: keys, schemas and decisions need the recipe and the signals alone.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Custom, Filter, Signal
from dataassets.stages.filter.rule import COUNTS, Columns, Edges, Limit, Ruling, Texts, above, as_array, below

_TYPES = {"float": pa.float64(), "int": pa.int64(), "bool": pa.bool_(), "text": pa.string()}
# 1, 2, 5, 10, … on both sides of 0: fixed beforehand, so that histograms of parts add up
_SIZES = [float(f"{digit}e{power}") for power in range(-3, 7) for digit in (1, 2, 5)]
_ANY: Edges = (*(-size for size in reversed(_SIZES)), 0, *_SIZES)


class CustomRule:
    """The thresholds of one custom filter.

    Args:
        name: in the recipe, where reasons begin with it.
        settings: of this filter.
    """

    def __init__(self, name: str, settings: Custom) -> None:
        self._name = name
        self.HISTOGRAMS: Mapping[str, tuple[Edges, str]] = {
            column_of(name, signal): (_edges(own), f"{signal}_{_limited(own)}" if _limited(own) else "")
            for signal, own in settings.signals.items()
            if own.type in ("float", "int")
        }

    def tests(self, signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
        """The limits of each signal, in the order of their names."""
        for name, own in settings.custom[self._name].signals.items():
            column = column_of(self._name, name)
            yield from below(signals, f"{name}_below", column, own.min)
            yield from above(signals, f"{name}_above", column, own.max)
            if own.keep is not None:
                yield _listed(signals, f"{name}_other", column, own.keep, stays=True)
            if own.drop is not None:
                yield _listed(signals, f"{name}_dropped", column, own.drop, stays=False)


def column_of(name: str, signal: str) -> str:
    """The column of a signal, such as `readability_flesch`."""
    return f"{name}_{signal}"


def knobs(settings: Filter) -> dict[str, Any] | None:
    """What each function is: its name, the file that it stands in, what it is given, what it gives; no thresholds."""
    from dataassets.stages.filter.plugin import digests_of

    return {
        name: {
            "function": own.function,
            "source": digests_of(own, name=name)[0],
            "files": digests_of(own, name=name)[1:],
            "settings": own.model_dump(mode="json")["settings"],
            "version": own.version,
            "signals": {signal: {"type": told.type, "edges": told.edges} for signal, told in own.signals.items()},
        }
        for name, own in settings.custom.items()
    } or None


def fields(settings: Filter) -> list[pa.Field]:
    """A column for each signal; any value may be null."""
    return [
        pa.field(column_of(name, signal), _TYPES[told.type])
        for name, own in settings.custom.items()
        for signal, told in own.signals.items()
    ]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """What each function gives for these documents."""
    from dataassets.stages.filter.plugin import run

    if not len(texts.documents):
        return {field.name: [] for field in fields(settings)}
    columns: Columns = {}
    for name, own in settings.custom.items():
        types = {signal: _TYPES[told.type] for signal, told in own.signals.items()}
        found = run(own, _batch(texts), types=types, name=name)
        columns |= {column_of(name, signal): column for signal, column in found.items()}
    return columns


def _batch(texts: Texts) -> pa.RecordBatch:
    """The documents as one batch, with what was measured of their language before."""
    table = texts.documents
    for name in ("language", "language_score"):
        if name in texts.measured:
            kind = table.schema.field(name)
            table = table.set_column(table.column_names.index(name), kind, as_array(texts.measured[name], kind.type))
    return table.combine_chunks().to_batches()[0]


def _limited(own: Signal) -> str:
    """Which limit is drawn."""
    return "below" if own.min is not None else "above" if own.max is not None else ""


def _edges(own: Signal) -> Edges:
    return own.edges or (COUNTS if own.type == "int" else _ANY)


def _listed(signals: pa.Table, name: str, column: str, values: tuple[bool | str, ...], *, stays: bool) -> Ruling:
    """The test that a value is, or is not, one of some; null passes."""
    found = signals.column(column)
    listed = pc.is_in(found, value_set=pa.array(values, found.type))
    failed = pc.and_(pc.is_valid(found), pc.invert(listed) if stays else listed)
    limit: Limit = [str(value).lower() if isinstance(value, bool) else value for value in values]
    return Ruling(name, column, limit, np.asarray(failed))
