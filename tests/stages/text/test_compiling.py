"""Kept kernels: found again, made anew when any kernel's source changed, done without where nothing may be written."""

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

from dataassets.stages.text import compiling, eight

KERNELS = """
from dataassets.stages.text import compiling
compiling.sources = lambda: {digest!r}

@compiling.inner
def part(x):
    return x + {added}
"""
CALLER = """
import part_of

@part_of.compiling.compiled
def caller(x):
    return part_of.part(x)

print(caller(1), sum(caller.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """A call that runs a kernel in a fresh process, its part in another file; gives the result and the cache's hits."""

    def one(digest, added):
        (tmp_path / "part_of.py").write_text(KERNELS.format(digest=digest, added=added))
        (tmp_path / "caller.py").write_text(CALLER)
        root = Path(compiling.__file__).parents[3]
        command = [sys.executable, "-B", "-c", f"import sys; sys.path[:0] = [{str(root)!r}]; import caller"]
        found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return tuple(map(int, found.stdout.split()))

    return one


def test_a_change_in_another_file_makes_the_caller_anew(run):
    assert run("a", 1) == (2, 0)
    assert run("a", 1) == (2, 1)
    assert run("b", 2) == (3, 0)
    assert run("b", 2) == (3, 1)


def test_the_digest_is_of_files_with_kernels_alone(tmp_path):
    def digest():
        compiling.sources.cache_clear()
        return compiling.sources(tmp_path)

    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.py").write_text("@inner\ndef a(): ...")
    before = digest()
    (tmp_path / "b.py").write_text("def b(): ...")
    assert digest() == before
    (tmp_path / "deep" / "a.py").write_text("@inner\ndef a(): return 1")
    assert digest() != before
    compiling.sources.cache_clear()


def test_where_nothing_may_be_written_kernels_work_all_the_same(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(lambda x: x)

    @compiling.compiled
    def double(x):
        return 2 * x

    assert double(2) == 4


def test_eight_bytes_at_a_time_are_read_as_one_by_one():
    data = np.frombuffer(bytes(range(250, 256)) + b"ab#\n\x1f# .", np.uint8)

    @numba.njit
    def read(at, size):
        x = eight.head64(data, at, size)
        found = eight.where_is(x, np.uint64(35))
        return x, eight.count_ones(found), eight.low_zeros(found) >> 3 if found else -1

    for at in range(len(data)):
        for size in range(9):
            head = data[at : min(at + size, len(data))].tobytes()
            if len(head) == size:
                assert read(at, size) == (int.from_bytes(head, "little"), head.count(b"#"), head.find(b"#"))
