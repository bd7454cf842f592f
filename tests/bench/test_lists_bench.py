"""Lists: our automaton beside one `re` alternation, our sets of domains beside Python's, the same inputs in one run."""

import pydoc_data.topics
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dataassets.stages.filter import blocklists, toxic
from dataassets.stages.text import utf8_buffers

TEXTS = [pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[a-z]{4,}", text)})
NUM_DOMAINS, NUM_URLS = 1_000_000, 100_000


def listed(num_words: int) -> list[str]:
    """Some words of the texts (one of twenty listed), and many that are not in them."""
    return WORDS[:: max(1, 20 * len(WORDS) // num_words)] + [f"{k * 2654435761 % 2**32:08x}q" for k in range(num_words)]


@pytest.mark.parametrize("num_words", [400, 5_000, 100_000])
@pytest.mark.benchmark(group="word lists")
def test_automaton(benchmark: Any, tmp_path: Path, num_words: int) -> None:
    (tmp_path / "list").write_text("\n".join(listed(num_words)))
    found = toxic.load([("list", str(tmp_path / "list"))])
    buffer, offsets = utf8_buffers(pa.array(TEXTS, pa.large_string()))
    rows = np.arange(len(TEXTS))
    counts = benchmark(toxic.count_listed, buffer, offsets, rows=rows, found=found)
    benchmark.extra_info |= {"text_mb": len(buffer) / 1e6, "tables_mb": sum(array.nbytes for array in found) / 1e6}
    assert counts.sum() > 0


@pytest.mark.parametrize("num_words", [400, 5_000])
@pytest.mark.benchmark(group="word lists")
def test_re_alternation(benchmark: Any, num_words: int) -> None:
    find = re.compile(rf"(?<!\w)(?:{'|'.join(listed(num_words))})(?!\w)").findall
    texts = TEXTS[: 40 if num_words > 400 else None]
    num = benchmark.pedantic(lambda: sum(len(find(text.lower())) for text in texts), rounds=1)
    benchmark.extra_info["text_mb"] = sum(len(text.encode()) for text in texts) / 1e6
    assert num > 0


def domains() -> list[str]:
    return [f"{k * 2654435761 % 2**32:08x}.example-{k % 97}.org" for k in range(NUM_DOMAINS)]


def urls() -> list[str]:
    names = domains()
    return [
        f"https://www.{names[k * 7]}/a/page?id={k}" if k % 2 else f"http://site{k}.example/x" for k in range(NUM_URLS)
    ]


@pytest.mark.benchmark(group="a million domains")
def test_entries(benchmark: Any, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("\n".join(domains()))
    found = blocklists.load(domains=[("list", str(tmp_path / "list"))])
    column = utf8_buffers(pa.array(urls(), pa.large_string()))
    places, _ = benchmark(blocklists.look_up, *column, found)
    benchmark.extra_info |= {"urls": NUM_URLS, "tables_mb": sum(a.nbytes for a in found.domains) / 1e6}
    assert (places > 0).sum() == NUM_URLS / 2


@pytest.mark.benchmark(group="a million domains")
def test_python_set(benchmark: Any) -> None:
    from urllib.parse import urlsplit

    blocked, column = set(domains()), urls()

    def is_blocked(url: str) -> bool:
        labels = (urlsplit(url).hostname or "").split(".")
        return any(".".join(labels[k:]) in blocked for k in range(len(labels)))

    found = benchmark(lambda: sum(map(is_blocked, column)))
    benchmark.extra_info["urls"] = NUM_URLS
    assert found == NUM_URLS / 2


@pytest.mark.benchmark(group="a million domains, read")
def test_read_entries(benchmark: Any, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("\n".join(domains()))
    found = benchmark(blocklists.load, domains=[("list", str(tmp_path / "list"))])
    assert found.domains.num_bytes > 0


@pytest.mark.benchmark(group="a million domains, read")
def test_read_python_set(benchmark: Any, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("\n".join(domains()))

    def read() -> set[str]:
        with (tmp_path / "list").open() as file:
            return {line.strip().lower() for line in file}

    assert len(benchmark(read)) == NUM_DOMAINS
