"""Laws of the example: a resumed run is the run that was never stopped, to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs/examples/train_tiny_gpt.py"
SMALL = ("--batch-size", "2", "--seq-len", "32", "--threads", "1")


def run(*arguments, launcher=()):
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    env |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, *launcher, str(EXAMPLE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def bits(log):
    return [(line["step"], line["loss_hex"], line["batch_sha256"]) for line in log]


@pytest.fixture(scope="module")
def straight(mix, tmp_path_factory):
    """Twelve steps in one process, with a checkpoint after six."""
    folder = tmp_path_factory.mktemp("straight")
    found = run(
        *("--data", mix.path, "--steps", 12, "--log", folder / "log.jsonl", *SMALL),
        *("--checkpoint", folder / "ckpt.pt", "--checkpoint-at", 6),
    )
    assert (found.returncode, found.stderr) == (0, "")
    return folder


def test_a_resumed_run_has_the_same_batches_and_losses_to_the_last_bit(mix, straight, tmp_path):
    expected = lines(straight / "log.jsonl")
    assert [line["step"] for line in expected] == list(range(1, 13))
    assert all(float.fromhex(line["loss_hex"]) == line["loss"] and line["tokens_per_s"] > 0 for line in expected)
    assert len({line["batch_sha256"] for line in expected}) == 12
    log = tmp_path / "log.jsonl"
    found = run("--data", mix.path, "--steps", 12, "--resume", straight / "ckpt.pt", "--log", log, *SMALL)
    assert (found.returncode, found.stderr) == (0, "")
    assert bits(lines(log)) == bits(expected)[6:]


def test_two_ranks_go_on_from_the_checkpoint_of_one(mix, straight, tmp_path):
    log = tmp_path / "log.jsonl"
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d")
    launcher += ("--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1", "--")
    arguments = ("--data", mix.path, "--steps", 8, "--resume", straight / "ckpt.pt", "--log", log)
    found = run(*arguments, "--batch-size", 1, *SMALL[2:], launcher=launcher)
    assert found.returncode == 0, found.stderr[-3_000:]
    for line, expected in zip(lines(log), lines(straight / "log.jsonl")[6:8], strict=True):
        assert line["loss"] == pytest.approx(expected["loss"], rel=1e-4)  # the same rows, summed in another order


def test_what_is_refused_is_told_in_one_line(mix, straight):
    found = run("--data", mix.path, "--resume", straight / "ckpt.pt", *SMALL, "--seed", "2")
    assert found.returncode == 1
    assert found.stderr.startswith("train_tiny_gpt: state was saved at seed = 1")
    assert found.stderr.count("\n") == 1
