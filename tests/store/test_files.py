"""A file is whole under its name or not there, at any kind of root."""

import hashlib
import threading
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.store import Files


@pytest.fixture(params=["local", "file://", "memory://"])
def files(request, tmp_path):
    roots = {
        "local": str(tmp_path / "root"),
        "file://": f"file://{tmp_path}/root",
        "memory://": f"memory://{uuid.uuid4()}",
    }
    return Files(roots[request.param])


def test_a_file_appears_when_its_block_ends(files):
    with files.create("a/b/x.bin") as f:
        f.write(b"half")
        assert not files.exists("a/b/x.bin")
        assert files.size("a/b/x.bin") == -1
        f.write(memoryview(b" and half"))
    assert files.read("a/b/x.bin") == b"half and half"
    assert (f.size, f.sha256) == (13, hashlib.sha256(b"half and half").hexdigest())
    assert files.size("a/b/x.bin") == 13
    assert files.sha256("a/b/x.bin") == f.sha256
    assert files.walk() == ["a/b/x.bin"]


def fail_after_half(f):
    f.write(b"half")
    raise ZeroDivisionError


def test_an_error_leaves_nothing_and_spares_what_was_there(files):
    files.write("kept/x", b"old")
    for name in ("a/b/x", "kept/x"):
        with pytest.raises(ZeroDivisionError), files.create(name) as f:
            fail_after_half(f)
    assert files.walk() == ["kept/x"]
    assert files.read("kept/x") == b"old"
    if files.is_local:
        assert [p.name for p in Path(files.root).iterdir()] == ["kept"]


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(files):
    files.write("x", b"old")
    with files.create("x") as f:
        f.write(b"n")
        assert files.read("x") == b"old"
    assert files.read("x") == b"n"


def test_names_are_relative_to_the_root_and_sorted(files):
    for name in ("b/2", "a/1", "b/1", "c", "b.d/1"):
        files.write(name, b"")
    assert files.walk() == sorted(["b/2", "a/1", "b/1", "c", "b.d/1"])
    assert files.walk("b") == ["b/1", "b/2"]
    assert files.walk("nowhere") == []
    assert not files.exists("b")
    assert files.read("b/../a/1") == b""


def test_removal_takes_what_is_named_and_no_more(files):
    for name in ("a/b/1", "a/b/2", "a/c/1"):
        files.write(name, b"")
    files.remove("a/b/1")
    files.remove("a/b/1")
    files.remove("never/was")
    assert files.walk() == ["a/b/2", "a/c/1"]
    files.remove_folder("a/b")
    files.remove_folder("never")
    assert files.walk() == ["a/c/1"]
    files.remove("a/c/1")
    assert files.walk() == []
    if files.is_local:
        assert list(Path(files.root).iterdir()) == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=6))
def test_size_and_sha256_are_those_of_all_that_was_written(tmp_path_factory, pieces):
    files = Files(str(tmp_path_factory.getbasetemp() / "sealed"))
    with files.create("x") as f:
        for piece in pieces:
            assert f.write(piece) == len(piece)
    assert files.read("x") == b"".join(pieces)
    assert (f.size, f.sha256) == (files.size("x"), files.sha256("x"))


def test_a_root_may_end_with_a_slash():
    assert Files("/data/").path("raw") == "/data/raw"
    assert Files("s3://bucket/").path("raw") == "s3://bucket/raw"
    assert Files("s3://bucket/corpus").path("raw/../mixed") == "s3://bucket/corpus/mixed"
    assert Files("file:///data/").path("raw") == "/data/raw"
    assert Files("memory://").path("raw") == "memory://raw"
    assert Files("/").path("raw") == "/raw"


def test_a_folder_swept_just_before_a_file_opens_in_it_is_made_again(tmp_path, monkeypatch):
    real, swept = Path.open, []

    def sweep_then_open(path, *args, **kwargs):
        if not swept:
            swept.append(path.parent)
            path.parent.rmdir()
        return real(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", sweep_then_open)
    Files(str(tmp_path)).write("work/raw/unit", b"x")
    assert swept == [tmp_path / "work" / "raw"]
    assert Files(str(tmp_path)).walk() == ["work/raw/unit"]


def test_sweeping_beside_writers_takes_no_folder_from_under_them(tmp_path):
    files, errors = Files(str(tmp_path)), []

    def work(me: int) -> None:
        try:
            for n in range(300):
                files.write(f"work/product/{me}/key/{n}", b"x")
                files.remove_folder(f"work/product/{me}")
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert files.walk() == []
