"""Scores of a quality classifier: our kernel beside fastText's own predict, one model, the same texts; and perplexity.

MB/s = text MB / median. The texts are the language reference and the standard library's sources.
"""

from typing import Any

import fasttext
import numpy as np
import pyarrow as pa
import pytest
from bench_corpora import manual, size, sources
from tiny_lm import arpa

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS
from dataassets.stages.filter.linear import probabilities
from dataassets.stages.filter.rule import Texts
from dataassets.stages.filter.rules import perplexity

TEXTS = [*manual(), *sources()]
LABEL = "__label__prose"


def one_line(text: str) -> str:
    """As fastText takes a text."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Bigrams of words, told apart: reference or source."""
    folder = tmp_path_factory.mktemp("model")
    lines = [f"{LABEL} {one_line(t)}" for t in manual()] + [f"__label__code {one_line(t)}" for t in sources()]
    (folder / "lines.txt").write_text("\n".join(lines))
    trained = fasttext.train_supervised(
        str(folder / "lines.txt"), dim=100, wordNgrams=2, bucket=200_000, epoch=2, thread=1, verbose=0
    )
    trained.save_model(str(folder / "model.bin"))
    return folder / "model.bin"


@pytest.mark.benchmark(group="quality classifier")
def test_ours(benchmark: Any, model: Any) -> None:
    texts = pa.array(TEXTS, pa.large_string())
    probabilities(texts, model=model, label=LABEL, key="bench")  # compiled, the model read
    found = benchmark(probabilities, texts, model=model, label=LABEL, key="bench")
    benchmark.extra_info["text_mb"] = sum(map(size, TEXTS)) / 1e6
    assert len(found) == len(TEXTS)


@pytest.mark.benchmark(group="quality classifier")
def test_fasttext_predict(benchmark: Any, model: Any) -> None:
    peer = fasttext.load_model(str(model))

    def scores() -> list[float]:
        return [dict(zip(*peer.predict(one_line(text), k=2), strict=True))[LABEL] for text in TEXTS]

    found = benchmark.pedantic(scores, rounds=3)
    benchmark.extra_info["text_mb"] = sum(map(size, TEXTS)) / 1e6
    ours = probabilities(pa.array(TEXTS, pa.large_string()), model=model, label=LABEL, key="bench")
    assert np.allclose(ours, found, atol=1e-3)


@pytest.mark.benchmark(group="perplexity")
def test_perplexity(benchmark: Any, tmp_path: Any) -> None:
    pytest.importorskip("kenlm")
    (tmp_path / "model.arpa").write_text(arpa(line for text in manual()[:40] for line in text.split("\n")))
    settings = Filter.model_validate({"perplexity": {"model": str(tmp_path / "model.arpa"), "max": 1000}})
    rows = [{"id": n.to_bytes(16, "big"), "text": t, "origin": "", "position": n} for n, t in enumerate(manual())]
    texts = Texts(pa.Table.from_pylist(rows, DOCUMENTS).combine_chunks())
    found = benchmark.pedantic(perplexity.measure, args=(texts,), kwargs={"settings": settings}, rounds=3)
    benchmark.extra_info["text_mb"] = sum(map(size, manual())) / 1e6
    assert len(found["perplexity"]) == len(rows)
