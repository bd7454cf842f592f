"""Listed words and phrases: how often they stand in a text, each where it is a word of its own.

Shapes: D documents, R documents of one language.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import models
from dataassets.hashing import keyed_order
from dataassets.recipe import Filter
from dataassets.stages.filter.rule import COUNTS, SMALL_SHARES, Columns, Ruling, Texts, above, share

if TYPE_CHECKING:  # numba is loaded where text is read
    from dataassets.stages.filter.automaton import Automaton

HISTOGRAMS = {"toxic_matches": (COUNTS[:10], "words"), "toxic_ratio": (SMALL_SHARES, "ratio")}

UNSPACED = ("ja", "th", "zh")  # written without spaces: their lists match anywhere, as in C4 and datatrove 0.10.1
_SALT = "filter.toxicity.keep_fraction"
_Files = tuple[tuple[str, str, str], ...]  # key in the recipe, path, sha256


def knobs(settings: Filter) -> dict[str, Any] | None:
    """The lists, by what they are for."""
    own = settings.toxicity
    if own is None:
        return None
    hashes = {name: sorted(sha256 for _, _, sha256 in files) for name, files in _files(settings).items()}
    return {"words": hashes.pop(""), "lists": hashes}


def fields(_settings: Filter) -> list[pa.Field]:
    """Places with an entry, different entries, places per word; null where no list is for the language."""
    kinds = {"toxic_matches": pa.int64(), "toxic_distinct": pa.int64(), "toxic_ratio": pa.float64()}
    return [pa.field(name, kind) for name, kind in kinds.items()]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """Count the entries of the lists for each text's language."""
    files = _files(settings)
    language_D = np.array(texts.measured["language"], np.str_)
    counts_D2, missing_D = np.zeros((len(language_D), 2), np.int64), np.zeros(len(language_D), bool)
    for language in np.unique(language_D).tolist():
        rows, own = np.flatnonzero(language_D == language), files.get(language, ())
        if files[""] or own:
            counts_D2[rows] = _counted(texts, rows, _loaded(files[""], own, language in UNSPACED))
        else:
            missing_D[rows] = True
    matches_D, distinct_D = counts_D2.T
    ratio_D = share(matches_D, np.asarray(texts.measured["num_words"], np.int64))
    ratio_D[missing_D] = np.nan
    return {
        "toxic_matches": pa.array(matches_D, mask=missing_D),
        "toxic_distinct": pa.array(distinct_D, mask=missing_D),
        "toxic_ratio": ratio_D,
    }


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """Most places, most different entries, most places per word; a share of those that fail is spared."""
    own = settings.toxicity
    assert own is not None
    limits = {"words": ("toxic_matches", own.max_matches), "distinct": ("toxic_distinct", own.max_distinct),
              "ratio": ("toxic_ratio", own.max_ratio)}  # fmt: skip
    for name, (column, limit) in limits.items():
        for test in above(signals, name, column, limit):
            yield Ruling(name, column, limit, test.failed & ~_spared(signals, test.failed, own.keep_fraction))


def _spared(signals: pa.Table, failed: npt.NDArray[np.bool_], fraction: float) -> npt.NDArray[np.bool_]:
    """Of the documents that failed, those that stay all the same: bool [D]."""
    rows, spared = np.flatnonzero(failed), np.zeros(len(failed), bool)
    if fraction > 0:
        ids = signals.column("id").take(pa.array(rows)).to_pylist()
        spared[rows] = keyed_order(ids, salt=_SALT) / 2.0**64 < fraction
    return spared


def _files(settings: Filter) -> dict[str, _Files]:
    """The lists by language; those for any language under ""."""
    own = settings.toxicity
    assert own is not None
    named = {"": [("filter.toxicity.words", str(path)) for path in own.words]}
    for language, path in own.lists.items():
        named.setdefault(language, []).append((f"filter.toxicity.lists.{language}", str(path)))
    for language in own.packaged:
        found = models.word_list(language, key="filter.toxicity.packaged")
        named.setdefault(language, []).append(("filter.toxicity.packaged", str(found)))
    return {
        language: tuple((key, path, models.sha256_of(path, key=key)) for key, path in files)
        for language, files in named.items()
    }


def _counted(texts: Texts, rows: npt.NDArray[np.int64], found: "Automaton") -> npt.NDArray[np.int64]:
    """Places and different entries of some texts: int64 [R, 2]."""
    from dataassets.stages.filter.toxic import count_listed

    return count_listed(*texts.utf8, rows=rows, found=found)


@lru_cache(maxsize=32)
def _loaded(everywhere: _Files, own: _Files, own_unspaced: bool) -> "Automaton":
    """The automaton of some lists, once a process; the sha256 of each file is part of the key."""
    from dataassets.stages.filter import toxic

    whole, anywhere = (everywhere, own) if own_unspaced else (everywhere + own, ())
    return toxic.load([file[:2] for file in whole], unspaced=[file[:2] for file in anywhere])
