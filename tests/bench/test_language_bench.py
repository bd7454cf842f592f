"""Language id beside fastText's own predict on whole texts: the same texts in one run, in turns, processor seconds.

Cold: a thread's first sight of the texts, its table holding the vocabulary alone. Warm: it has met all of their words.
A long run lies between the two.
"""

import statistics
import time

import fasttext
import pyarrow as pa
import pytest
from bench_corpora import corpora, size, thinned

from dataassets import models
from dataassets.stages.filter import language
from dataassets.stages.filter.language import identify

TEXTS = {name: thinned(texts, num_bytes=60_000_000) for name, texts in corpora()}


@pytest.fixture(scope="module")
def model():
    return fasttext.load_model(str(models.find(models.LANGUAGE)))


def forget():
    language._seen.forget()
    language._seen.words()


def keep():
    pass


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("kind", "before"), [("cold", forget), ("warm", keep)])
@pytest.mark.benchmark(group="language id", timer=time.process_time)
def test_language_beside_fasttext(benchmark, model, name, kind, before):
    texts, theirs, expected = TEXTS[name], [], []
    array = pa.array(texts, pa.large_string())
    identify(array)

    def their_turn():
        began = time.process_time()
        expected[:] = [model.predict(text.replace("\n", " "))[0][0] for text in texts]
        theirs.append(time.process_time() - began)
        before()

    labels, _ = benchmark.pedantic(identify, (array,), setup=their_turn, rounds=3)
    equal = sum(f"__label__{a}" == b for a, b in zip(labels, expected, strict=True)) / len(texts)
    assert equal >= 0.99
    ours = benchmark.stats.stats.median
    benchmark.extra_info.update(
        MB_per_s=round(sum(map(size, texts)) / 1e6 / ours, 1),
        times_fasttext=round(statistics.median(theirs) / ours, 1),
        equal_labels=equal,
    )
