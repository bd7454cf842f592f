"""GPT-2 tokens a second, engine beside engine: `pytest tests/bench --benchmark-only`, rows of a group in one run.

The text is the standard library's own sources (5 MB), so a bench needs no data.
"""

import os
from pathlib import Path

import pyarrow as pa
import pytest

from dataassets.stages.tokenize import engines
from dataassets.stages.tokenize.engines import by_gigatoken, by_tiktoken, doubtful


@pytest.fixture(scope="module")
def texts():
    by_tiktoken(pa.array(["warm"], pa.large_string()))
    return pa.array([path.read_text() for path in sorted(Path(os.__file__).parent.glob("*.py"))], pa.large_string())


def told(benchmark, texts):
    benchmark.extra_info["MB_per_s"] = round(texts.nbytes / 1e6 / benchmark.stats.stats.median, 2)


@pytest.mark.benchmark(group="tokenize gpt2")
def test_tiktoken(benchmark, texts):
    benchmark.pedantic(by_tiktoken, (texts,), rounds=3)
    told(benchmark, texts)


@pytest.mark.benchmark(group="tokenize gpt2")
@pytest.mark.skipif(not engines.available(), reason="gigatoken is not installed")
@pytest.mark.parametrize("life", ["cold", "warm"])
def test_gigatoken(benchmark, texts, life):
    by_gigatoken(texts.slice(0, 1))
    if life == "cold":  # a fresh memory of pre-tokens each round; its loading counts too
        benchmark.pedantic(lambda: engines._Gigatoken().encode(texts), rounds=5)
    else:
        benchmark.pedantic(by_gigatoken, (texts,), rounds=5, warmup_rounds=1)
    told(benchmark, texts)


@pytest.mark.benchmark(group="tokenize gpt2")
def test_search_for_doubtful_texts(benchmark, texts):
    benchmark.pedantic(doubtful, (texts,), rounds=5, warmup_rounds=1)
    told(benchmark, texts)
