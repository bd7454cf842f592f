"""Limits applied to columns of signals: for each test of each rule that is on, the documents that fail it.

Shapes: D documents.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Language, Length

RULES = ("length", "language", "gopher_repetition", "gopher_quality", "c4", "fineweb")  # the order in which they judge

Limit: TypeAlias = float | str | list[str] | None


@dataclass(frozen=True)
class Ruling:
    """One test of one rule, applied.

    Args:
        name: of the test, as in the reason `<rule>:<name>`.
        column: of the signals, that the test reads.
        limit: as in the recipe.
        failed: bool [D].
    """

    name: str
    column: str
    limit: Limit
    failed: npt.NDArray[np.bool_]


def tests(rule: str, signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """The tests of a rule in the order in which they judge; one whose limit is None or 0 is left out.

    All comparisons are strict: a value that equals its limit passes, and so does one that does not exist.

    Args:
        rule: one of RULES, which the settings switch on.
        signals: records.SIGNALS.
        settings: of the stage.

    Source: FILTERS.md of the project, read from datatrove 0.10.1.
    """
    own = getattr(settings, rule)
    if rule == "fineweb":
        return _fineweb(signals, own, "c4_" if settings.c4 else "")
    return _RULES[rule](signals, own)


def _length(signals: pa.Table, own: Length) -> Iterator[Ruling]:
    yield from _below(signals, "short", "num_chars", own.min)
    yield from _above(signals, "long", "num_chars", own.max)


def _language(signals: pa.Table, own: Language) -> Iterator[Ruling]:
    known = pc.is_in(signals.column("language"), value_set=pa.array(own.keep, pa.string()))
    yield Ruling("other", "language", list(own.keep), ~np.asarray(known))
    yield from _below(signals, "low_score", "language_score", own.min_score)


def _gopher_repetition(signals: pa.Table, own: GopherRepetition) -> Iterator[Ruling]:
    yield _empty(signals, "num_chars")
    for name in ("dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac"):
        yield from _above(signals, name, name, getattr(own, name))
    for n, limit in sorted(own.top_n_grams.items()):
        yield from _above(signals, f"top_{n}_gram", f"top_{n}_gram", limit)
    for n, limit in sorted(own.dup_n_grams.items()):
        yield from _above(signals, f"duplicated_{n}_n_grams", f"duplicated_{n}_n_grams", limit)


def _gopher_quality(signals: pa.Table, own: GopherQuality) -> Iterator[Ruling]:
    yield from _below(signals, "gopher_short_doc", "num_nonsymbol_words", own.min_words)
    yield from _above(signals, "gopher_long_doc", "num_nonsymbol_words", own.max_words)
    yield from _below(signals, "gopher_below_avg_threshold", "mean_word_length", own.min_avg_word_length)
    yield from _above(signals, "gopher_above_avg_threshold", "mean_word_length", own.max_avg_word_length)
    yield from _above(signals, "gopher_too_many_hashes", "hash_ratio", own.max_symbol_ratio)
    yield from _above(signals, "gopher_too_many_ellipsis", "ellipsis_ratio", own.max_symbol_ratio)
    yield from _above(signals, "gopher_too_many_bullets", "bullet_lines", own.max_bullet_lines)
    yield from _above(signals, "gopher_too_many_end_ellipsis", "end_ellipsis_lines", own.max_ellipsis_lines)
    yield from _below(signals, "gopher_below_alpha_threshold", "alpha_words", own.min_alpha_words)
    yield from _below(signals, "gopher_enough_stop_words", "num_stop_words", own.min_stop_words)


def _c4(signals: pa.Table, own: C4) -> Iterator[Ruling]:
    for name in ("lorem_ipsum", "curly_bracket"):
        yield Ruling(name, "c4_refused", None, np.asarray(pc.equal(signals.column("c4_refused"), name)))
    yield from _below(signals, "too_few_sentences", "c4_num_sentences", own.min_sentences)


def _fineweb(signals: pa.Table, own: FineWeb, prefix: str) -> Iterator[Ruling]:
    yield _empty(signals, f"{prefix}num_lines")
    for test in _below(signals, "line_punct_ratio", f"{prefix}line_punct_ratio", own.line_punct_ratio):
        exempt = own.line_punct_exclude_zero & (values(signals, test.column) == 0)
        yield Ruling(test.name, test.column, test.limit, test.failed & ~exempt)
    yield from _above(signals, "short_line_ratio", f"{prefix}short_line_ratio", own.short_line_ratio)
    yield from _above(signals, "char_dup_ratio", f"{prefix}char_dup_ratio", own.char_dup_ratio)
    yield from _above(signals, "list_ratio", f"{prefix}list_ratio", own.new_line_ratio)


_RULES: dict[str, Callable[[pa.Table, Any], Iterator[Ruling]]] = {
    "length": _length,
    "language": _language,
    "gopher_repetition": _gopher_repetition,
    "gopher_quality": _gopher_quality,
    "c4": _c4,
}


def values(signals: pa.Table, column: str) -> npt.NDArray[np.float64]:
    """A column of numbers as float64 [D], NaN for null."""
    found = signals.column(column).cast(pa.float64())
    return np.asarray(found.to_numpy(), np.float64)


def _below(signals: pa.Table, name: str, column: str, limit: float | None) -> Iterator[Ruling]:
    if limit:
        yield Ruling(name, column, limit, values(signals, column) < limit)


def _above(signals: pa.Table, name: str, column: str, limit: float | None) -> Iterator[Ruling]:
    if limit:
        yield Ruling(name, column, limit, values(signals, column) > limit)


def _empty(signals: pa.Table, column: str) -> Ruling:
    return Ruling("empty", column, None, values(signals, column) == 0)
