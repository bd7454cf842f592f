"""Laws of distributed training, by real processes under torchrun: every window once, and any world size goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from loader import BatchStream, TokenDataset

WORKER = Path(__file__).with_name("ddp_worker.py")
SAVE_AT = 7


def torchrun(world_size, folder, *arguments):
    """Run the worker on so many ranks; gives the global rows, int64 [rows, T], in order."""
    folder.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", str(world_size)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    command += [str(WORKER), "--out", str(folder), *map(str, arguments)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "TORCH_CPP_LOG_LEVEL": "ERROR"}
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        env.pop(name, None)
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
    assert found.returncode == 0, found.stderr[-3_000:]
    steps = np.stack([np.load(folder / f"rank{rank}.npy") for rank in range(world_size)], axis=1)
    return steps.reshape(-1, steps.shape[-1])


@pytest.fixture(scope="module")
def dataset(mix):
    return TokenDataset(mix.path, seq_len=32)


@pytest.fixture(scope="module")
def two_ranks(mix, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ddp") / "two"
    return folder, torchrun(2, folder, "--data", mix.path, "--batch-size", 3, "--save-at", SAVE_AT)


def test_two_ranks_see_every_window_once_less_the_counted_tail(dataset, two_ranks):
    _, rows = two_ranks
    windows = {dataset[i]["input_ids"].tobytes(): i for i in range(len(dataset))}
    assert len(windows) == len(dataset)
    seen = [windows[row.tobytes()] for row in rows]
    assert len(set(seen)) == len(seen)
    stream = BatchStream(dataset, batch_size=3, world_size=2, seed=5)
    assert len(seen) + stream.num_tail_rows == len(dataset)
    assert stream.num_tail_rows < 6


def test_all_ranks_save_the_same_state(two_ranks):
    folder, _ = two_ranks
    assert (folder / "state0.json").read_bytes() == (folder / "state1.json").read_bytes()


def test_one_rank_goes_on_identically(dataset, two_ranks):
    folder, rows = two_ranks
    stream = BatchStream(dataset, batch_size=6, seed=5)
    stream.load_state_dict(json.loads((folder / "state0.json").read_text()))
    left = np.concatenate([batch["input_ids"].copy() for batch in stream])
    assert np.array_equal(left, rows[SAVE_AT * 6 :])


def test_four_ranks_go_on_identically(mix, two_ranks, tmp_path):
    folder, rows = two_ranks
    left = torchrun(4, tmp_path / "four", "--data", mix.path, "--batch-size", 2, "--load", folder / "state1.json")
    expected = rows[SAVE_AT * 6 :]
    num = min(len(left), len(expected))
    assert num > len(expected) - 8
    assert np.array_equal(left[:num], expected[:num])
