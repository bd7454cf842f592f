"""Perplexity by a language model: an absolute limit, and buckets by perplexity or by share of the partition."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import models
from dataassets.recipe import Filter, Perplexity
from dataassets.stages.filter.rule import Columns, Ruling, Texts, above, values
from dataassets.stages.filter.standing import Cut, cut

SIGNAL = "perplexity"
HISTOGRAMS = {SIGNAL: ((0, 1, *(m * 10**k for k in range(1, 6) for m in (1, 2, 5))), "tail")}


def knobs(settings: Filter) -> dict[str, Any] | None:
    """The models; one that the graph trains is an input, known by its digest."""
    own = settings.perplexity
    if own is None:
        return None
    return {
        "model": own.model and models.sha256_of(own.model, key="filter.perplexity.model"),
        "sentencepiece": own.sentencepiece
        and models.sha256_of(own.sentencepiece, key="filter.perplexity.sentencepiece"),
    }


def fields(_settings: Filter) -> list[pa.Field]:
    """The perplexity; null where there is no word."""
    return [pa.field(SIGNAL, pa.float32())]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """The perplexity of each text."""
    from dataassets.stages.filter.perplexity import perplexities

    own = settings.perplexity
    assert own is not None, "measured where it is on"
    assert own.model is not None, "the runner names the file of a trained model"
    pieces = Path(own.sentencepiece) if own.sentencepiece else None
    found = perplexities(texts.documents.column("text").to_pylist(), model=Path(own.model), pieces=pieces)
    return {SIGNAL: found}


def ranked(settings: Filter) -> list[str]:
    """The perplexity, where buckets are shares of the partition."""
    own = settings.perplexity
    return [SIGNAL] if own and own.dropped and own.limits is None else []


def cuts(signals: pa.Table, *, settings: Filter) -> Sequence[Cut | None]:
    """Where head and middle end, among the documents that have a perplexity."""
    own = settings.perplexity
    assert own is not None
    measured = signals.filter(pc.field(SIGNAL).is_valid())
    return [cut(measured, SIGNAL, fraction=f, lowest=True) for f in (own.shares.head, own.shares.tail)]


def tests(signals: pa.Table, *, settings: Filter, cuts: Sequence[Cut | None] = ()) -> Iterator[Ruling]:  # noqa: PT028 - no test of pytest
    """The absolute limit, then the buckets that do not stay; without cuts those have a name but remove nothing."""
    own = settings.perplexity
    assert own is not None
    yield from above(signals, "above", SIGNAL, own.max)
    head, tail, limits = _up_to(signals, own, cuts)
    exists = ~np.isnan(values(signals, SIGNAL))
    within = {"head": head, "middle": tail & ~head, "tail": ~tail}
    for bucket in own.dropped:
        above_head = bucket == "head" or (bucket == "middle" and "head" not in own.dropped)
        limit = limits[0] if above_head else limits[1]
        yield Ruling(bucket, SIGNAL, limit, within[bucket] & exists)


def _up_to(
    signals: pa.Table, own: Perplexity, cuts: Sequence[Cut | None]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], list[float | str]]:
    """Whether each document is head, whether it is head or middle, and the two cutoffs."""
    found = values(signals, SIGNAL)
    if own.limits is not None:
        return found <= own.limits.head, found <= own.limits.tail, [own.limits.head, own.limits.tail]
    ends = [c for c in cuts if c is not None]
    if len(ends) < 2:
        none = np.zeros(len(signals), bool)
        return none, ~none, [f"the lowest {x:.4g} of all" for x in (own.shares.head, own.shares.tail)]
    return ends[0].holds(signals, SIGNAL), ends[1].holds(signals, SIGNAL), [c.value for c in ends]
