"""Overlap with evaluation sets: n-grams of items that stand in a document.

Source: Brown et al. 2020, appendix C (13-grams of lower-case words without punctuation; shorter items from 8 words on).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import models
from dataassets.recipe import Decontamination, Filter
from dataassets.stages.filter.rule import COUNTS, SHARES, Columns, Ruling, Texts, share, values

HISTOGRAMS = {"decontamination_matches": (COUNTS, ""), "decontamination_share": (SHARES, "")}


def knobs(settings: Filter) -> dict[str, Any] | None:
    """The files, and what a match is."""
    own = settings.decontamination
    if own is None:
        return None
    from dataassets.stages.filter.evaluation import format_of

    files = {name: {"format": format_of(own.files[name]), "sha256": sha256} for name, sha256 in _digests(own).items()}
    return {"files": files} | own.model_dump(mode="json", include={"fields", "ngram", "min_words"})


def fields(_settings: Filter) -> list[pa.Field]:
    """How many n-grams match, how much of the text, of which item most, and where."""
    return [
        pa.field("decontamination_matches", pa.int64(), nullable=False),
        pa.field("decontamination_share", pa.float64()),  # of words, in matches
        pa.field("decontamination_item", pa.string()),  # <set>:<row> with most matches
        pa.field("decontamination_spans", pa.list_(pa.int64())),  # bytes of the text: start, stop, start, …
    ]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """Matches of every document with any item."""
    from dataassets.stages.filter.evaluation import Source, read_sets
    from dataassets.stages.filter.matching import cut
    from dataassets.stages.filter.overlap import find, most_matched, runs

    own = settings.decontamination
    assert own is not None
    sources = tuple(Source(name, str(own.files[name]), sha256) for name, sha256 in _digests(own).items())
    sets = read_sets(sources, own.fields, own.ngram, own.min_words)
    (buffer, offsets), num_docs = texts.utf8, len(texts.documents)
    words = cut(buffer, offsets)
    matches = find(buffer, words, index=sets.grams)
    covered = runs(matches)
    document, item = most_matched(matches)
    names = np.full(num_docs, None, object)
    names[document] = [sets.names[i] for i in item]
    starts, stops = words.starts[covered.start], words.stops[covered.stop - 1]
    spans = np.stack([starts, stops], axis=1) - offsets[covered.document][:, None]
    first = np.concatenate([[0], 2 * np.cumsum(np.bincount(covered.document, minlength=num_docs))])
    lists = pa.ListArray.from_arrays(pa.array(first, pa.int32()), pa.array(spans.ravel(), pa.int64()))
    num_covered = np.zeros(num_docs, np.int64)
    np.add.at(num_covered, covered.document, covered.stop - covered.start)
    return {
        "decontamination_matches": np.bincount(matches.document, minlength=num_docs),
        "decontamination_share": share(num_covered, np.diff(words.first)),
        "decontamination_item": names,
        "decontamination_spans": pc.if_else(pa.array(num_covered > 0), lists, None),
    }


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """A test for each set, in the order of their names: does the item with most matches come from it."""
    own = settings.decontamination
    assert own is not None
    contaminated = values(signals, "decontamination_matches") >= own.min_matches
    goes = contaminated
    if own.action == "mask":
        goes = contaminated & (values(signals, "decontamination_share") >= own.drop_share)
    item = signals.column("decontamination_item")
    for name in own.files:
        here = np.asarray(pc.fill_null(pc.starts_with(item, f"{name}:"), fill_value=False))
        of_set = (name, "decontamination_item", None)
        yield Ruling(*of_set, goes & here, spans="decontamination_spans")
        if own.action == "mask":
            masked = contaminated & ~goes & here
            yield Ruling(f"masked:{name}", *of_set[1:], masked, drops=False, spans="decontamination_spans")


def _digests(own: Decontamination) -> dict[str, str]:
    """The sha256 of each file by the name of its set."""
    place = "filter.decontamination.files"
    return {name: models.sha256_of(file, key=f"{place}.{name}") for name, file in own.files.items()}
