"""read: files of a source to tables, whatever their format; the same for any storage and any order of asking."""

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataassets.hashing import document_id
from dataassets.recipe import Source
from dataassets.records import RAW, with_reason
from dataassets.stages.read import InputFile, list_files, read


def read_all(files, *, kind: str):
    settings = Source(format=kind, paths=("x",))
    parts = list(read(files, source="src", settings=settings))
    return pa.concat_tables([with_reason(RAW).empty_table(), *(t for t, _ in parts)]), [r for _, r in parts]


@pytest.mark.parametrize(("kind", "media_type"), [("text", "text/plain"), ("html", "text/html")])
def test_one_file_is_one_document_with_its_bytes(tmp_path, kind, media_type):
    contents = {"a.txt": b"\xff\xfe raw", "b/c.txt": b"", "d.txt": b"x" * 5_000_000}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    table, _ = read_all(list_files([f"{tmp_path}/**/*.txt"], snapshot=""), kind=kind)
    assert dict(zip(table["origin"].to_pylist(), table["content"].to_pylist(), strict=True)) == contents
    assert set(table["media_type"].to_pylist()) == {media_type}
    assert table["id"].to_pylist() == [document_id("src", name, 0) for name in sorted(contents)]
    assert set(table["position"].to_pylist()) == {0}
    assert set(table["reason"].to_pylist()) == {""}


@pytest.mark.parametrize("kind", ["text", "html", "jsonl", "parquet", "warc"])
def test_a_file_that_cannot_be_opened_is_one_bad_row_and_the_next_is_read(tmp_path, kind):
    (tmp_path / "empty").write_bytes(b"")
    files = [InputFile(str(tmp_path / "gone"), "gone", 0), InputFile(str(tmp_path / "empty"), "empty", 0)]
    table, reports = read_all(files, kind=kind)
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["origin"], first["position"], first["reason"]) == ("gone", 0, "read:not_opened")
    assert reports[0].samples["read:not_opened"][0]["origin"] == "gone"
    expected = {"text": [""], "html": [""], "parquet": ["read:damaged"]}.get(kind, [])
    assert table["reason"].to_pylist()[1:] == expected


def test_tables_are_bounded_and_in_file_order(tmp_path):
    for name in ("b", "a"):
        lines = (b'{"text": "%s %d"}\n' % (name.encode(), i) for i in range(12_000))
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(lines))
    files = list_files([f"{tmp_path}/*.jsonl"], snapshot="")
    parts = [t for t, _ in read(files, source="s", settings=Source(format="jsonl", paths=("x",)))]
    assert [t.num_rows for t in parts] == [10_000, 2_000] * 2
    whole = pa.concat_tables(parts)
    assert whole["origin"].to_pylist() == ["a.jsonl"] * 12_000 + ["b.jsonl"] * 12_000
    assert len(set(whole["id"].to_pylist())) == 24_000


def test_a_url_and_a_path_give_the_same_records(tmp_path):
    pq.write_table(pa.table({"text": ["a", "b"], "n": [1, 2]}), tmp_path / "x.parquet")
    local, _ = read_all(list_files([f"{tmp_path}/*.parquet"], snapshot=""), kind="parquet")
    url, _ = read_all(list_files([f"file://{tmp_path}/*.parquet"], snapshot=""), kind="parquet")
    assert local.equals(url)
    assert local["meta"].to_pylist() == ['{"n":1}', '{"n":2}']


def test_an_input_file_can_be_sent_to_a_worker():
    file = InputFile("/a", "a", 3)
    assert pickle.loads(pickle.dumps(file)) == file  # noqa: S301 (our own bytes)
