"""Quality by a classifier: the probability of its good label; the best of a partition, or all above a score."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dataassets import models
from dataassets.recipe import Filter
from dataassets.stages.filter.rule import SHARES, Columns, Ruling, Texts, below
from dataassets.stages.filter.standing import Cut, cut

SCORE = "quality_score"
HISTOGRAMS = {SCORE: (SHARES, "low_score")}


def knobs(settings: Filter) -> dict[str, Any] | None:
    """The label and the model; one that the graph trains is an input, known by its digest."""
    own = settings.quality
    if own is None:
        return None
    return {"label": own.label, "model": own.model and models.sha256_of(own.model, key="filter.quality.model")}


def fields(_settings: Filter) -> list[pa.Field]:
    """The score."""
    return [pa.field(SCORE, pa.float32(), nullable=False)]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """The score of each text."""
    from dataassets.stages.filter.linear import probabilities

    own = settings.quality
    assert own is not None, "measured where it is on"
    assert own.model is not None, "the runner names the file of a trained model"
    column = texts.documents.column("text")
    return {SCORE: probabilities(column, model=Path(own.model), label=own.label, key="filter.quality.label")}


def ranked(settings: Filter) -> list[str]:
    """The score, where a share is kept."""
    return [SCORE] if settings.quality and settings.quality.keep_fraction is not None else []


def cuts(signals: pa.Table, *, settings: Filter) -> Sequence[Cut | None]:
    """Where the share that is kept ends."""
    own = settings.quality
    assert own is not None
    assert own.keep_fraction is not None
    return [cut(signals, SCORE, fraction=own.keep_fraction)]


def tests(signals: pa.Table, *, settings: Filter, cuts: Sequence[Cut | None] = ()) -> Iterator[Ruling]:  # noqa: PT028 - no test of pytest
    """The least score; or the share that is kept, which without its cut has a name but removes nothing."""
    own = settings.quality
    assert own is not None
    if own.keep_fraction is None:
        yield from below(signals, "low_score", SCORE, own.least)
    elif cuts and cuts[0]:
        yield Ruling("low_score", SCORE, cuts[0].value, ~cuts[0].holds(signals, SCORE))
    else:
        yield Ruling("low_score", SCORE, f"the best {own.keep_fraction:.4g} of all", np.zeros(len(signals), bool))
