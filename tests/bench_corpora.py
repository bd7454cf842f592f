"""Texts to measure on: what ships with Python, and real documents of many sources where ../shared is present."""

import os
import pydoc_data.topics
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

SHARED = Path(__file__).parents[2] / "shared" / "data" / "docs.parquet"
PROSE = ("nltk/abc", "nltk/state_union", "nltk/inaugural", "nltk/brown", "nltk/movie_reviews", "web/anarchism")


def manual() -> list[str]:
    """English reference prose with examples: the topics of pydoc, 0.7 MB."""
    return [text for _, text in sorted(pydoc_data.topics.topics.items())]


def sources() -> list[str]:
    """Source code: the modules at the top of the standard library, 5 MB."""
    return [path.read_text(encoding="utf-8") for path in sorted(Path(os.__file__).parent.glob("*.py"))]


def corpora() -> Iterator[tuple[str, list[str]]]:
    """Names and texts, whole."""
    yield "manual", manual()
    yield "manual and code", [*manual(), *sources()]
    if SHARED.exists():
        table = pq.read_table(SHARED, columns=["text", "source"])
        yield (
            "English prose",
            [t for name in PROSE for t in table.filter(pc.equal(table["source"], name))["text"].to_pylist()],
        )
        yield "65 sources", table["text"].to_pylist()


def thinned(texts: list[str], *, num_bytes: int) -> list[str]:
    """Every k-th text, so that all of a corpus is met, and about so many bytes."""
    kept = [text for text in texts if len(text) <= num_bytes // 4]
    return kept[:: max(1, round(sum(map(size, kept)) / num_bytes))]


def size(text: str) -> int:
    """Bytes of a text."""
    return len(text.encode())
