"""Language id: our kernel beside fastText's own predict, the same texts in one run. MB/s = text MB / median."""

import pydoc_data.topics
from typing import Any

import fasttext
import pyarrow as pa
import pytest

from dataassets import models
from dataassets.stages.filter.language import identify

TEXTS = [pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)] * 4


@pytest.mark.benchmark(group="language id")
def test_ours(benchmark: Any) -> None:
    array = pa.array(TEXTS, pa.large_string())
    identify(array)  # compiled, and its table as full as in a long run
    labels, _ = benchmark(identify, array)
    benchmark.extra_info["text_mb"] = sum(len(t.encode()) for t in TEXTS) / 1e6
    assert len(labels) == len(TEXTS)


@pytest.mark.benchmark(group="language id")
def test_fasttext(benchmark: Any) -> None:
    model = fasttext.load_model(str(models.find("lid.176.ftz")))
    found = benchmark(lambda: [model.predict(text.replace("\n", " "))[0][0] for text in TEXTS])
    assert [label.removeprefix("__label__") for label in found] == identify(pa.array(TEXTS, pa.large_string()))[0]
