"""Decontamination: our index beside a set of word tuples in plain Python, same texts. MB/s = text MB / median."""

import pydoc_data.topics
import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dataassets.stages.filter.matching import cut
from dataassets.stages.filter.overlap import find, index_of
from dataassets.stages.text import utf8_buffers

TOPICS = [
    pydoc_data.topics.topics[name].encode("ascii", "ignore").decode() for name in sorted(pydoc_data.topics.topics)
]
TEXTS = TOPICS * 8
NGRAM, MIN_WORDS, NUM_ITEMS = 13, 8, 20_000
_chance = random.Random(1)
_WORDS = [word for text in TOPICS for word in text.split()]
# Items of 6 to 60 words that stand in no text, and one in a thousand that does
ITEMS = [
    " ".join(TOPICS[i % len(TOPICS)].split()[:30]) if i % 1000 == 0 else " ".join(_chance.choices(_WORDS, k=6 + i % 55))
    for i in range(NUM_ITEMS)
]
MB = sum(len(text) for text in TEXTS) / 1e6


def plain_words(text: str) -> list[str]:
    """Words as we cut them, on ASCII."""
    return re.findall(r"[a-z0-9]+", text.lower())


@pytest.mark.benchmark(group="decontamination")
def test_ours(benchmark: Any) -> None:
    index = index_of(*utf8_buffers(pa.array(ITEMS, pa.large_string())), ngram=NGRAM, min_words=MIN_WORDS)
    buffer, offsets = utf8_buffers(pa.array(TEXTS, pa.large_string()))
    found = benchmark(lambda: find(buffer, cut(buffer, offsets), index=index))
    benchmark.extra_info["text_mb"] = MB
    assert np.unique(found.document).tolist() == contaminated(grams_of_items())


@pytest.mark.benchmark(group="decontamination")
def test_set_of_tuples(benchmark: Any) -> None:
    grams = grams_of_items()
    found = benchmark.pedantic(contaminated, args=(grams,), rounds=3)
    benchmark.extra_info["text_mb"] = MB
    assert found


def grams_of_items() -> dict[int, set[tuple[str, ...]]]:
    """The n-grams of all items, by length."""
    grams: dict[int, set[tuple[str, ...]]] = {}
    for item in ITEMS:
        words = plain_words(item)
        n = min(NGRAM, len(words))
        if n >= MIN_WORDS:
            grams.setdefault(n, set()).update(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
    return grams


def contaminated(grams: dict[int, set[tuple[str, ...]]]) -> list[int]:
    """Documents that hold one; all places are looked at, as ours does."""
    found = []
    for d, text in enumerate(TEXTS):
        words = plain_words(text)
        places = [i for n, own in grams.items() for i in range(len(words) - n + 1) if tuple(words[i : i + n]) in own]
        if places:
            found.append(d)
    return found
