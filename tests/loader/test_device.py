"""Laws of the Loader: the stream's batches as tensors; rank and world are found where they are."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from loader import BatchStream, Loader, SettingError, TokenDataset


@pytest.fixture(scope="module")
def dataset(mix):
    return TokenDataset(mix.path, seq_len=32)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("prefetch", [0, 4])
@pytest.mark.parametrize("device", [None, "cpu"])
def test_batches_are_those_of_the_stream_as_contiguous_tensors(dataset, prefetch, device):
    batches = Loader(dataset, batch_size=4, seed=3, prefetch=prefetch, device=device)
    for batch, expected in zip(batches, BatchStream(dataset, batch_size=4, seed=3), strict=True):
        assert list(batch) == ["input_ids", "labels"]
        for name, tensor in batch.items():
            assert tensor.dtype == torch.int64
            assert tensor.is_contiguous()
            assert tensor.view(-1).shape == (4 * 32,)
            assert tensor.tolist() == expected[name].tolist()


def test_held_tensors_never_change(dataset):
    held = [batch["input_ids"].view(-1)[5:] for batch in Loader(dataset, batch_size=2)]
    expected = [batch["input_ids"].reshape(-1)[5:].tolist() for batch in BatchStream(dataset, batch_size=2)]
    assert [tensor.tolist() for tensor in held] == expected


def test_state_seek_epoch_explain_and_stats_are_those_of_the_stream(dataset):
    batches, stream = Loader(dataset, batch_size=4, seed=3), BatchStream(dataset, batch_size=4, seed=3)
    for both in (batches, stream):
        both.set_epoch(2)
        both.seek(3)
        next(iter(both))
    assert batches.state_dict() == stream.state_dict()
    assert (batches.epoch, batches.step, len(batches)) == (2, 4, len(stream))
    assert batches.num_tail_rows == stream.num_tail_rows
    assert batches.explain(3, 1) == stream.explain(3, 1)
    assert batches.stats()["tokens"] == 4 * 32
    other = Loader(dataset, batch_size=2, seed=3)
    other.load_state_dict(batches.state_dict())
    assert torch.equal(next(iter(other))["labels"], next(iter(batches))["labels"][:2])


@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_data_set_works_in_torchs_dataloader(dataset, num_workers):
    batches = torch.utils.data.DataLoader(dataset, batch_size=4, num_workers=num_workers)
    rows = torch.cat([batch["labels"] for batch in batches])
    assert rows.tolist() == [dataset[i]["labels"].tolist() for i in range(len(dataset))]


def test_rank_and_world_come_from_arguments_then_environment(dataset, monkeypatch):
    assert (Loader(dataset, batch_size=1).rank, Loader(dataset, batch_size=1).world_size) == (0, 1)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    found = Loader(dataset, batch_size=1)
    assert (found.rank, found.world_size) == (1, 3)
    given = Loader(dataset, batch_size=1, rank=0, world_size=2)
    assert (given.rank, given.world_size) == (0, 2)


@pytest.mark.parametrize("given", [{"rank": 0}, {"world_size": 2}])
def test_one_without_the_other_is_refused(dataset, given):
    with pytest.raises(SettingError, match="give both, or neither"):
        Loader(dataset, batch_size=1, **given)


@pytest.mark.parametrize("variables", [{"RANK": "0"}, {"WORLD_SIZE": "2"}, {"RANK": "a", "WORLD_SIZE": "2"}])
def test_half_an_environment_is_refused(dataset, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match="set both to integers, or unset both"):
        Loader(dataset, batch_size=1)


def test_the_interpreter_ends_with_an_iterator_under_way(mix):
    code = (
        "import sys, loader\n"
        f"batches = loader.Loader(loader.TokenDataset({str(mix.path)!r}, seq_len=32), batch_size=2, prefetch=8)\n"
        "under_way = iter(batches)\n"
        "print(next(under_way)['labels'].shape)\n"
    )
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == "torch.Size([2, 32])\n"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="wants a CUDA device: the pinned copy is not tested here")
def test_batches_on_a_cuda_device_are_the_same(dataset):
    on_cpu = [batch["labels"].tolist() for batch in Loader(dataset, batch_size=4)]
    held = [batch["labels"] for batch in Loader(dataset, batch_size=4, device="cuda")]
    assert all(tensor.device.type == "cuda" for tensor in held)
    assert [tensor.tolist() for tensor in held] == on_cpu


def test_tensors_and_rows_agree_on_what_a_window_is(dataset):
    batches = Loader(dataset, batch_size=3, shuffle=None)
    first = next(iter(batches))
    rows = dataset.__getitems__([0, 1, 2])
    assert np.array_equal(first["input_ids"].numpy(), np.stack([row["input_ids"] for row in rows]))
