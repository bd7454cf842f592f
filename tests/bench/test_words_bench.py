"""Words a second, English rules and UAX #29, beside uniseg: `pytest tests/bench --benchmark-only`.

English is the standard library's own sources (5 MB), other scripts are one sentence over and over: no data needed.
"""

import os
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
from uniseg import wordbreak

from dataassets.stages.text import unicode_word_spans, utf8_buffers, word_spans

SCRIPTS = {
    "chinese": "语料库里的每一份文件都要经过过滤，然后才会写入分片。",
    "thai": "เอกสารทุกฉบับในคลังข้อมูลต้องผ่านการกรองก่อนเสมอ ",
    "russian": "Каждый документ корпуса проходит через фильтр, прежде чем попасть в набор. ",
}


@pytest.fixture(scope="module")
def texts():
    english = [path.read_text() for path in sorted(Path(os.__file__).parent.glob("*.py"))]
    return {"ascii": english} | {name: [text * 2_000] * 10 for name, text in SCRIPTS.items()}


def run(benchmark, cut, texts):
    benchmark.pedantic(cut, args=utf8_buffers(pa.array(texts, pa.large_string())), rounds=5, warmup_rounds=1)
    told(benchmark, texts)


def told(benchmark, texts):
    num_bytes = sum(len(text.encode()) for text in texts)
    benchmark.extra_info["MB_per_s"] = round(num_bytes / 1e6 / benchmark.stats.stats.median, 2)


@pytest.mark.parametrize("script", ["ascii", *SCRIPTS])
@pytest.mark.benchmark(group="words")
def test_unicode(benchmark, texts, script):
    run(benchmark, unicode_word_spans, texts[script])


@pytest.mark.benchmark(group="words")
def test_english(benchmark, texts):
    run(benchmark, word_spans, texts["ascii"])


@pytest.mark.benchmark(group="words")
def test_uniseg(benchmark, texts):
    some = [text[:20_000] for text in islice(texts["ascii"], 5)]
    benchmark.pedantic(lambda: [list(wordbreak.words(text)) for text in some], rounds=1)
    told(benchmark, some)
