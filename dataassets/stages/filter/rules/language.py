"""Language of the whole text, by lid.176: the label and its score."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dataassets import models
from dataassets.recipe import Filter
from dataassets.records import LANGUAGE
from dataassets.stages.filter.rule import SHARES, Columns, Ruling, Texts, below, is_among

HISTOGRAMS = {"language_score": (SHARES, "low_score")}


def knobs(_settings: Filter) -> dict[str, Any]:
    """The model."""
    return {"model": {models.LANGUAGE: models.sha256(models.LANGUAGE)}}


def fields(_settings: Filter) -> list[pa.Field]:
    """records.LANGUAGE: label and score."""
    return list(LANGUAGE)


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """The likeliest language of each text."""
    from dataassets.stages.filter.language import identify

    label, score = identify(texts.documents.column("text"))
    return {"language": label, "language_score": score}


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """The languages that stay, and the least score."""
    own = settings.language
    assert own is not None
    yield Ruling("other", "language", list(own.keep), ~is_among(signals, "language", own.keep))
    yield from below(signals, "low_score", "language_score", own.min_score)
