"""Files have one lasting name each, in one order; the same for local paths and URLs."""

from pathlib import Path

import fsspec
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import RecipeError
from dataassets.stages.read import InputFile, fingerprint, list_files

NAMES = ["crawl/2026-10-01/b.txt", "crawl/2026-10-01/a.txt", "crawl/2026-10-01/deep/er/c.txt", "crawl/2026-11-01/d.txt"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in [*NAMES, "crawl/2026-10-01/.hidden.txt", "crawl/2026-10-01/x.md"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def origins(patterns, snapshot="2026-10-01"):
    return [file.origin for file in list_files(patterns, snapshot=snapshot)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("crawl/{snapshot}/*.txt", ["2026-10-01/a.txt", "2026-10-01/b.txt"]),
        ("crawl/{snapshot}/**/*.txt", ["2026-10-01/a.txt", "2026-10-01/b.txt", "2026-10-01/deep/er/c.txt"]),
        ("crawl/*/?.txt", ["2026-10-01/a.txt", "2026-10-01/b.txt", "2026-11-01/d.txt"]),
        ("crawl/2026-10-01/[b-z].txt", ["b.txt"]),
        ("crawl/2026-10-01/a.txt", ["a.txt"]),
        ("crawl/2026-10-01", []),
        ("crawl/{snapshot}", []),
        ("nowhere/*.txt", []),
    ],
)
def test_the_origin_is_relative_to_the_fixed_part_of_the_pattern(root, pattern, expected):
    assert origins([f"{root}/{pattern}"]) == expected
    memory = fsspec.filesystem("memory")
    place = f"/{xxhash.xxh3_64_hexdigest(str(root).encode())}"
    memory.put(f"{root}/crawl", place + "/crawl", recursive=True)
    files = list_files([f"memory:/{place}/{pattern}"], snapshot="2026-10-01")
    assert [file.origin for file in files] == expected
    assert all(
        fingerprint(f) == fingerprint(g)
        for f, g in zip(files, list_files([f"{root}/{pattern}"], snapshot="2026-10-01"), strict=True)
    )
    memory.rm(place, recursive=True)


def test_moving_a_corpus_changes_no_origin(root, tmp_path_factory):
    before = origins([f"{root}/crawl/**/*.txt"])
    there = tmp_path_factory.mktemp("there") / "elsewhere"
    root.joinpath("crawl").rename(there)
    assert origins([f"{there}/**/*.txt"]) == before


def test_a_link_to_a_file_is_a_file_and_a_dangling_one_is_none(root):
    root.joinpath("crawl/2026-10-01/l.txt").symlink_to(root / "crawl/2026-11-01/d.txt")
    root.joinpath("crawl/2026-10-01/z.txt").symlink_to(root / "gone")
    files = list_files([f"{root}/crawl/2026-10-01/*.txt"], snapshot="")
    assert [file.origin for file in files] == ["a.txt", "b.txt", "l.txt"]
    assert files[2].bytes == len("crawl/2026-11-01/d.txt")


def test_two_files_with_one_origin_are_refused_with_both_named(root):
    for month in ("10", "11"):
        root.joinpath(f"crawl/2026-{month}-01/x.txt").write_text("")
    with pytest.raises(RecipeError, match=r"(?s)2026-1.-01/x\.txt.*2026-1.-01/x\.txt.*one pattern"):
        list_files([f"{root}/crawl/2026-10-01/*.txt", f"{root}/crawl/2026-11-01/*.txt"], snapshot="")


def test_a_file_that_two_patterns_name_differently_is_refused_and_alike_is_read_once(root):
    assert origins([f"{root}/crawl/2026-10-01/*.txt", f"{root}/crawl/2026-10-01/a.txt"]) == ["a.txt", "b.txt"]
    with pytest.raises(RecipeError, match="twice"):
        origins([f"{root}/crawl/**/*.txt", f"{root}/crawl/2026-10-01/a.txt"])


def test_a_name_that_is_not_unicode_is_refused(tmp_path):
    (tmp_path / "caf\udce9.txt").write_text("")
    with pytest.raises(RecipeError, match="rename"):
        list_files([f"{tmp_path}/*.txt"], snapshot="")


@given(st.binary(max_size=100))
def test_the_fingerprint_is_of_the_content_alone(content):
    memory = fsspec.filesystem("memory")
    memory.pipe("/fingerprint/a", content)
    expected = xxhash.xxh3_128_hexdigest(content)
    assert fingerprint(InputFile("memory://fingerprint/a", "a", len(content))) == expected


def test_a_file_that_cannot_be_opened_has_a_fingerprint_of_its_own(tmp_path):
    (tmp_path / "empty").touch()
    gone = fingerprint(InputFile(str(tmp_path / "gone"), "gone", 0))
    assert gone != fingerprint(InputFile(str(tmp_path / "empty"), "empty", 0))
