"""A changed threshold: `filtered` from the signals that are there, beside measuring anew, and beside its floor.

The floor reads `cleaned` and writes the same two Parquet files, kept and dropped, deciding nothing. One part of 20 MB
of real text, Python's own manual and library, run by the runner itself, checks and manifest included. Take the ratios
of the medians.
"""

import io
import pydoc_data.topics
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import Work
from dataassets.store.parquet import write_table

KEY = "2026-10-01|docs"
MEGABYTES = 20
RULES: dict[str, Any] = {
    "language": {"keep": ["en"], "min_score": 0.3},
    "gopher_repetition": {},
    "gopher_quality": {"min_alpha_words": 0.6},
    "c4": {"terminal_punct": False, "curly_bracket": False},
    "fineweb": {"line_punct_ratio": 0.05, "short_line_ratio": 0.9, "char_dup_ratio": 0.3},
}


def real_texts() -> list[str]:
    """About MEGABYTES of text, no piece of it twice, as repetitions would cost nothing to write."""
    texts = [pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)]
    size = sum(map(len, texts))
    for file in sorted(Path(pydoc_data.__file__).parents[1].rglob("*.py")):
        texts.append(file.read_text(encoding="utf-8", errors="replace"))
        size += len(texts[-1])
        if size > MEGABYTES * 1_000_000:
            break
    return texts


class Part:
    """One partition of one part, made up to `signals`; every call of `filtered` has another threshold."""

    def __init__(self, folder: Path) -> None:
        pq.write_table(pa.table({"text": real_texts()}), folder / "a.parquet")
        self.folder, self.calls = folder, 0
        for product in ("raw", "cleaned", "signals"):
            self.work().run(product, KEY)

    def work(self) -> Work:
        filters = RULES | {"length": {"min": 100 + self.calls}}
        recipe = {
            "root": "./data",
            "snapshots": {"start": "2026-10-01", "end": "2026-10-01"},
            "sources": {"docs": {"format": "parquet", "paths": ["a.parquet"]}},
            "filter": filters,
        }
        file = self.folder / "recipe.yaml"
        file.write_text(yaml.safe_dump(recipe))
        return Work(load(file), executor=Executor("inline"))

    def filtered(self) -> None:
        self.calls += 1
        assert not self.work().run("filtered", KEY).skipped

    def signals_and_filtered(self) -> None:
        self.calls += 1
        work = self.work()
        work.store.files.remove("signals/snapshot=2026-10-01/source=docs/manifest.json")
        assert not work.run("signals", KEY).skipped
        assert not work.run("filtered", KEY).skipped


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Part:
    made = Part(tmp_path_factory.mktemp("rethreshold"))
    made.signals_and_filtered()  # compiled, and the table of words as full as in a long run
    return made


@pytest.mark.benchmark(group="threshold", min_rounds=3)
def test_signals_and_filtered(benchmark: Any, part: Part) -> None:
    benchmark(part.signals_and_filtered)


@pytest.mark.benchmark(group="threshold", min_rounds=3)
def test_filtered_from_the_signals_that_are_there(benchmark: Any, part: Part) -> None:
    benchmark(part.filtered)
    manifest = part.work().store.manifest("filtered", KEY)
    assert manifest is not None
    assert 0 < manifest.counts["documents"] < manifest.counts["documents_in"]


@pytest.mark.benchmark(group="threshold", min_rounds=3)
def test_reading_and_writing_alone(benchmark: Any, part: Part) -> None:
    store = part.work().store
    tables = [next(store.read_parts("filtered", KEY, dropped=dropped)) for dropped in (False, True)]

    def floor() -> None:
        next(store.read_parts("cleaned", KEY))
        for table in tables:
            write_table(table, io.BytesIO())

    benchmark(floor)
