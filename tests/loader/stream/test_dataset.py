"""Laws of TokenDataset: rows are the tokens that were written; the documents of a row are those that lie there."""

import pickle
import shutil

import numpy as np
import pytest

from loader import DatasetError, ManifestError, SettingError, ShardError, TokenDataset
from loader.format import Manifest


@pytest.mark.parametrize("split", ["train", "val"])
@pytest.mark.parametrize(("seq_len", "stride", "shift"), [(16, None, 1), (7, 3, 2), (100, 150, 0)])
def test_rows_are_the_tokens_that_were_written(mix, split, seq_len, stride, shift):
    dataset = TokenDataset(mix.path, split=split, seq_len=seq_len, stride=stride, shift=shift)
    tokens = mix.tokens[split]
    assert dataset.num_tokens == len(tokens)
    assert dataset.num_documents == len(mix.documents[split])
    assert (dataset.vocab_size, dataset.eot, dataset.digest) == (50_257, 50_256, mix.digest)
    for i in range(len(dataset)):
        start = i * (stride or seq_len)
        row = dataset[i]
        assert list(row) == ["input_ids", "labels"]
        assert row["input_ids"].tolist() == tokens[start : start + seq_len].tolist()
        assert row["labels"].tolist() == tokens[start + shift : start + shift + seq_len].tolist()
        assert row["input_ids"].dtype == row["labels"].dtype == np.int64
    assert dataset.num_tail_tokens == len(tokens) - (start + seq_len + shift)


def test_int32_shards_read_the_same(mix, mix_writer, tmp_path):
    wide = mix_writer(tmp_path, dtype="int32")
    a, b = TokenDataset(mix.path, seq_len=32), TokenDataset(wide.path, seq_len=32)
    assert all((a[i]["labels"] == b[i]["labels"]).all() for i in range(len(a)))


def test_indices_count_from_both_ends_and_end(mix):
    dataset = TokenDataset(mix.path, seq_len=16)
    assert (dataset[-1]["labels"] == dataset[len(dataset) - 1]["labels"]).all()
    assert (dataset[np.int64(2)]["labels"] == dataset.__getitems__([5, 2])[1]["labels"]).all()
    for index in (len(dataset), -len(dataset) - 1):
        with pytest.raises(IndexError, match=f"row {index} .* which has {len(dataset)}"):
            dataset[index]
    assert sum(1 for _ in dataset) == len(dataset)


def test_the_key_folder_and_latest_are_the_same_data(mix, mix_writer, tmp_path):
    assert TokenDataset(mix.folder, seq_len=16).digest == TokenDataset(str(mix.path), seq_len=16).digest
    old = mix_writer(tmp_path, seed=1)
    running = TokenDataset(old.path, seq_len=16)
    expected = running[3]["labels"].tolist()
    new = mix_writer(tmp_path, seed=2)
    assert TokenDataset(old.path, seq_len=16).digest == new.digest
    assert running[3]["labels"].tolist() == expected


def tokenized(mix, folder):
    """The train shards as a partition of `tokenized`: no split folders."""
    shutil.copytree(mix.folder / "train", folder)
    manifest = Manifest.from_bytes((mix.folder / "manifest.json").read_bytes(), where="m")
    files = tuple(
        type(e)(e.name.removeprefix("train/"), e.rows, e.bytes, e.sha256)
        for e in manifest.files
        if e.name.startswith("train/")
    )
    changed = {**manifest.__dict__, "product": "tokenized", "files": files}
    (folder / "manifest.json").write_bytes(Manifest(**changed).to_bytes())
    return folder


def test_a_tokenized_partition_has_no_splits(mix, tmp_path):
    folder = tokenized(mix, tmp_path / "source=web")
    dataset = TokenDataset(folder, split=None, seq_len=16)
    assert (dataset[3]["labels"] == TokenDataset(mix.path, seq_len=16)[3]["labels"]).all()
    assert dataset.documents(0)[0]["shard"] == "shard_00000.bin"
    with pytest.raises(DatasetError, match=r"has no split 'train', it has \[None\]"):
        TokenDataset(folder, seq_len=16)


@pytest.mark.parametrize(("seq_len", "stride"), [(16, None), (150, 40)])
def test_the_documents_of_a_row_are_those_that_lie_there(mix, seq_len, stride):
    dataset = TokenDataset(mix.path, seq_len=seq_len, stride=stride)
    expected = [(row, offset) for row in mix.documents["train"] for offset in range(row[-1])]
    for i in range(len(dataset)):
        start = i * dataset.stride
        found = []
        for doc in dataset.documents(i):
            row = tuple(doc[name] for name in ("shard", "document", "id", "source", "url"))
            assert 0 <= doc["start"] < doc["stop"] <= seq_len
            found += [(row, doc["offset"] + t) for t in range(doc["stop"] - doc["start"])]
        assert found == [(row[:-1], offset) for row, offset in expected[start : start + seq_len]]


def test_a_pickled_dataset_reads_the_same(mix):
    dataset = TokenDataset(mix.path, seq_len=16)
    dataset.documents(0)
    again = pickle.loads(pickle.dumps(dataset))  # noqa: S301 - our own bytes
    assert (again[3]["labels"] == dataset[3]["labels"]).all()
    assert again.documents(5) == dataset.documents(5)


def test_a_split_shorter_than_a_window_has_none(mix):
    dataset = TokenDataset(mix.path, split="val", seq_len=10**6)
    assert len(dataset) == 0
    assert dataset.num_tail_tokens == len(mix.tokens["val"])
    with pytest.raises(IndexError):
        dataset[0]


def test_a_path_without_data_is_named(mix, tmp_path):
    with pytest.raises(DatasetError, match="nowhere: no such folder"):
        TokenDataset(tmp_path / "nowhere", seq_len=8)
    with pytest.raises(DatasetError, match=r"holds neither manifest\.json nor latest, so nothing was committed here$"):
        TokenDataset(tmp_path, seq_len=8)
    with pytest.raises(DatasetError, match=f"give {mix.folder}$"):
        TokenDataset(mix.folder / "train", seq_len=8)
    with pytest.raises(DatasetError, match=r"has no split 'test', it has \[train, val\]"):
        TokenDataset(mix.path, split="test", seq_len=8)
    with pytest.raises(DatasetError, match=r"has no split None, it has \[train, val\]"):
        TokenDataset(mix.path, split=None, seq_len=8)


@pytest.mark.parametrize("named", ["", "..", "../other", "a/b"])
def test_latest_must_name_a_folder_beside_it(fresh_mix, named):
    (fresh_mix.path / "latest").write_text(named)
    with pytest.raises(DatasetError, match="latest: names"):
        TokenDataset(fresh_mix.path, seq_len=8)


@pytest.mark.parametrize("suffix", [".bin", ".idx", ".docs.parquet"])
def test_a_file_that_is_not_the_manifests_is_refused(fresh_mix, suffix):
    file = fresh_mix.folder / f"train/shard_00001{suffix}"
    data = file.read_bytes()
    file.write_bytes(data[:-2])
    with pytest.raises(DatasetError, match=f"{len(data) - 2} bytes, the manifest tells of {len(data)}"):
        TokenDataset(fresh_mix.path, seq_len=8)
    file.unlink()
    with pytest.raises(DatasetError, match="named by the manifest, but No such file"):
        TokenDataset(fresh_mix.path, seq_len=8)


def test_a_damaged_manifest_is_refused(fresh_mix):
    file = fresh_mix.folder / "manifest.json"
    file.write_bytes(file.read_bytes().replace(b'"rows":', b'"rows": '))
    with pytest.raises(ManifestError, match=r"manifest\.json: not canonical"):
        TokenDataset(fresh_mix.path, seq_len=8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": None}, "holds no shards"),
        ({"format": {"dtype": "float32"}}, r"format\.dtype = 'float32', wanted one of"),
        ({"format": {"dtype": "uint16", "eot": 1}}, r"format\.vocab_size = None, wanted int"),
    ],
)
def test_a_manifest_without_a_format_is_refused(fresh_mix, change, message):
    file = fresh_mix.folder / "manifest.json"
    manifest = Manifest.from_bytes(file.read_bytes(), where="m")
    file.write_bytes(Manifest(**{**manifest.__dict__, **change}).to_bytes())
    with pytest.raises(DatasetError, match=message):
        TokenDataset(fresh_mix.path, seq_len=8)


def test_a_damaged_index_is_named_when_documents_are_asked_for(fresh_mix):
    file = fresh_mix.folder / "train/shard_00000.idx"
    data = bytearray(file.read_bytes())
    data[40] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(ShardError, match=r"shard_00000\.idx"):
        TokenDataset(fresh_mix.path, seq_len=8).documents(0)


@pytest.mark.parametrize(
    "change",
    [
        {"seq_len": 0},
        {"stride": 0},
        {"packing": "tight"},
        {"packing": "document", "stride": 8},
        {"mask_labels": 1},
        {"boundaries": "x"},
    ],
)
def test_wrong_settings_are_refused(mix, change):
    with pytest.raises(SettingError):
        TokenDataset(mix.path, **{"seq_len": 8, **change})
