"""Documents by the settings of their language: whom the recipe names apart is measured and judged apart.

Shapes: D documents, R rows of one part.
"""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter


class Part(NamedTuple):
    """Documents with the same settings.

    Args:
        settings: theirs.
        rows: int64 [R], rising.
    """

    settings: Filter
    rows: npt.NDArray[np.int64]


def every(settings: Filter) -> list[Filter]:
    """All settings that may hold for a document: those of the languages that are named, and those of the others."""
    return [settings, *settings.languages.values()]


def parts(labels: pa.ChunkedArray | pa.Array, *, settings: Filter, by: Callable[[Filter], Hashable] = id) -> list[Part]:
    """Documents that are not named apart, and those of the languages that are.

    Args:
        labels: string [D], the language of each document.
        settings: of the stage.
        by: settings that it maps to the same stay together.

    Returns:
        Each document in one part. Parts without documents are left out, but for the first one.

    >>> chosen = Filter(languages={"de": {}, "fr": {}})
    >>> [part.rows.tolist() for part in parts(pa.array(["en", "de", None, "en"]), settings=chosen)]
    [[0, 2, 3], [1]]
    """
    if not settings.languages:
        return [Part(settings, np.arange(len(labels)))]
    kinds: dict[Hashable, int] = {by(settings): 0}
    chosen, number = [settings], {}
    met = set(pc.unique(labels).to_pylist())
    for code, own in settings.languages.items():
        if code not in met:
            continue
        number[code] = kinds.setdefault(by(own), len(kinds))
        chosen += [own] * (len(kinds) - len(chosen))
    codes = pa.array(list(number), pa.string())
    found = pc.fill_null(pc.index_in(labels, value_set=codes), len(number))
    part_of = np.array([*number.values(), 0], np.int64)[np.asarray(found)]
    made = [Part(own, np.flatnonzero(part_of == k)) for k, own in enumerate(chosen)]
    return [part for k, part in enumerate(made) if k == 0 or len(part.rows)]


def in_order(tables: list[pa.Table], found: list[Part]) -> pa.Table:
    """Rows of parts, each in its part's order, as one table in the order of the documents.

    Args:
        tables: one for each part, of one schema.
        found: the parts.
    """
    if len(tables) == 1:
        return tables[0]
    order = np.argsort(np.concatenate([part.rows for part in found]), kind="stable")
    return pa.concat_tables(tables).take(pa.array(order)).combine_chunks()


def taken(table: Any, part: Part) -> Any:  # noqa: ANN401 - a table, or a column of one
    """The rows of a part; the table itself where that is all of it.

    Args:
        table: pa.Table or pa.Array [D].
        part: of its documents.
    """
    return table if len(part.rows) == len(table) else table.take(pa.array(part.rows))
