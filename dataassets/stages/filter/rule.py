"""What a rule is: a module of `rules/` that measures signals, or tests them, or both.

Shapes: D documents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter

if TYPE_CHECKING:  # numba is loaded where text is read
    from dataassets.stages.filter.standing import Cut
    from dataassets.stages.text import Bytes, Ints, Words

Columns: TypeAlias = dict[str, Any]  # by name of the signal: anything that pa.array takes, D long; NaN is null
Limit: TypeAlias = float | str | list[str] | None
Edges: TypeAlias = Sequence[float]


@dataclass(frozen=True)
class Texts:
    """Some documents while they are measured.

    Args:
        documents: records.DOCUMENTS [D], its text in one chunk.
        cut: how words are cut, one of `stages.text.CUTS`.
        measured: what earlier measures of these documents gave, by name of the signal.
    """

    documents: pa.Table
    cut: str = "english"
    measured: Columns = field(default_factory=dict)

    @cached_property
    def utf8(self) -> "tuple[Bytes, Ints]":
        """Bytes of the texts and int64 [D + 1] offsets, as `stages.text.utf8_buffers` gives them."""
        from dataassets.stages.text import utf8_buffers

        return utf8_buffers(self.documents.column("text"))

    @cached_property
    def words(self) -> "Words":
        """Where the words lie; cut once for all measures."""
        from dataassets.stages.text import CUTS

        return CUTS[self.cut].word_spans(*self.utf8)


@dataclass(frozen=True)
class Ruling:
    """One test of one rule, applied.

    Args:
        name: of the test, as in the reason `<rule>:<name>`.
        column: of the signals, that the test reads.
        limit: as in the recipe.
        failed: bool [D].
        drops: whether a document that fails it goes; else it is masked, counted and shown as a sample.
        spans: column with byte spans of the text that made it fail, as start, stop, start, …; "" where there is none.
    """

    name: str
    column: str
    limit: Limit
    failed: npt.NDArray[np.bool_]
    drops: bool = True
    spans: str = ""


class Measure(Protocol):
    """A module that reads texts. What it imports to do so (numba, models) it imports inside `measure`."""

    def knobs(self, settings: Filter) -> dict[str, Any] | None:
        """What its signals depend on, as JSON: settings, sha256 of files, never a path. None: it does not measure."""

    def fields(self, settings: Filter) -> list[pa.Field]:
        """Its signals, in the order of their columns; one that is not nullable exists for every document."""

    def measure(self, texts: Texts, *, settings: Filter) -> Columns:
        """The signals of some documents; each depends on its own document alone."""


class Rule(Protocol):
    """A module that applies limits to signals, without a look at the text.

    One that removes lines from documents that stay has an attribute LINES too: the name of its signal with the numbers
    of the lines that it keeps, list<int32>, rising, counted as str.splitlines does (`edits` makes the text of them).
    """

    # Signals worth a histogram: edges, and the test whose limit is drawn ("" where there is none).
    HISTOGRAMS: Mapping[str, tuple[Edges, str]]

    def tests(self, signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
        """The tests of this rule, which the settings switch on, in the order in which they judge.

        A test whose limit is None is left out. All comparisons are strict: a value that equals its limit passes,
        and so does one that does not exist.
        """


class Ranked(Protocol):
    """A rule that may judge a document by its standing in its partition; found once, before any part is judged."""

    def ranked(self, settings: Filter) -> list[str]:
        """The signals of which the settings keep a share; [] where they keep none."""

    def cuts(self, signals: pa.Table, *, settings: Filter) -> "Sequence[Cut | None]":
        """Where the shares end.

        Args:
            signals: `id` and what `ranked` names, of all documents of the partition.
            settings: of the stage.
        """

    def tests(self, signals: pa.Table, *, settings: Filter, cuts: "Sequence[Cut | None]" = ()) -> Iterator[Ruling]:
        """As of any rule, with the cuts of the partition."""


COUNTS: Edges = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
SHARES: Edges = tuple(round(0.05 * k, 2) for k in range(21))
SMALL_SHARES: Edges = (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)


def as_array(column: object, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """A column of a measure as Arrow; NaN becomes null.

    >>> as_array(np.array([1.0, np.nan]), pa.float64()).to_pylist()
    [1.0, None]
    """
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column.cast(kind)
    return pa.array(column, kind, from_pandas=True)


def values(signals: pa.Table, column: str) -> npt.NDArray[np.float64]:
    """A column of numbers as float64 [D], NaN for null.

    >>> values(pa.table({"a": [1, None]}), "a").tolist()
    [1.0, nan]
    """
    if not len(signals):  # asked of every language of a recipe, to learn its limits
        return np.zeros(0)
    found = signals.column(column).cast(pa.float64())
    return np.asarray(found.to_numpy(), np.float64)


def below(signals: pa.Table, name: str, column: str, limit: float | None) -> Iterator[Ruling]:
    """The test that a signal is not below a limit; none where there is no limit."""
    if limit is not None:
        yield Ruling(name, column, limit, values(signals, column) < limit)


def above(signals: pa.Table, name: str, column: str, limit: float | None) -> Iterator[Ruling]:
    """The test that a signal is not above a limit; none where there is no limit."""
    if limit is not None:
        yield Ruling(name, column, limit, values(signals, column) > limit)


def is_zero(signals: pa.Table, name: str, column: str) -> Ruling:
    """The test that a signal is not 0."""
    return Ruling(name, column, None, values(signals, column) == 0)


def is_among(signals: pa.Table, column: str, wanted: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether a signal is one of some words: bool [D]."""
    if not len(signals):
        return np.zeros(0, bool)
    return np.asarray(pc.is_in(signals.column(column), value_set=pa.array(wanted, pa.string())))


def share(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Part / whole as float64 [D]; NaN (written as null) where there is no whole.

    >>> share(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    found = np.full(len(part), np.nan)
    np.divide(part, whole, out=found, where=whole != 0)
    return found
