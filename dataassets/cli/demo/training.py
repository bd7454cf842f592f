"""The demo's training: the example script as a user would start it, once straight, once resumed in a new process."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataassets.cli import screen

STEPS, SAVED_AT = 50, 25


class TrainingError(ValueError):
    """The demo's training did not run to its end."""


@dataclass(frozen=True)
class Outcome:
    """What the two runs showed.

    Args:
        identical: batches and losses after the resume equal those of the straight run, bit by bit.
        told: lines for a person.
        state: file of the loader's state at the checkpoint, for `dataassets explain`.
    """

    identical: bool
    told: str
    state: Path


def run(root: Path) -> Outcome | None:
    """Train for 50 steps with a checkpoint half way, then resume from it in a new process and compare.

    Args:
        root: of the demo.

    Returns:
        None where torch is not installed.

    Raises:
        TrainingError: the script, or the loader's bench, failed.
    """
    if importlib.util.find_spec("torch") is None:
        screen.console.print("torch is not installed: pip install 'dataassets[train]', then run the demo again")
        return None
    folder = root / "training"
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = folder / "checkpoint.pt"
    straight = _train(
        root, folder / "straight.jsonl", ["--checkpoint", str(checkpoint), "--checkpoint-at", str(SAVED_AT)]
    )
    resumed = _train(root, folder / "resumed.jsonl", ["--resume", str(checkpoint)])
    tail = [line for line in straight if line["step"] >= resumed[0]["step"]]
    same = [(a["step"], a["loss_hex"], a["batch_sha256"]) for a in tail] == [
        (b["step"], b["loss_hex"], b["batch_sha256"]) for b in resumed
    ]
    speed = sorted(line["tokens_per_s"] for line in straight)[len(straight) // 2]
    told = (
        f"training: loss {straight[0]['loss']:.3f} -> {straight[-1]['loss']:.3f} in {len(straight)} steps, "
        f"{speed / 1e3:.1f} k tokens/s with the model\n"
        f"resume at step {resumed[0]['step']} in a new process: {len(resumed)} batches and losses "
        + ("bit-identical to the straight run" if same else "DIFFER from the straight run")
        + "\n"
        + _loader_speed(root)
    )
    return Outcome(same, told, folder / "checkpoint.state.json")


def _train(root: Path, log: Path, options: list[str]) -> list[dict[str, Any]]:
    log.unlink(missing_ok=True)
    command = [sys.executable, str(_script()), "--data", str(root / "data" / "mixed" / "pretrain")]
    command += ["--steps", str(STEPS), "--log", str(log), *options]
    shown = [os.path.relpath(c) if os.path.isabs(c) else c for c in command[1:]]  # noqa: PTH117 - options, not paths
    screen.console.print("python " + " ".join(shown))
    with screen.console.status("training"):
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise TrainingError(f"the training script failed ({ended.returncode}):\n{ended.stderr[-2000:]}")
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def _loader_speed(root: Path) -> str:
    command = [sys.executable, "-m", "loader", "bench", str(root / "data" / "mixed" / "pretrain"), "--seconds", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise TrainingError(f"{' '.join(command[1:])} failed ({ended.returncode}):\n{ended.stderr[-2000:]}")
    return told_speed(ended.stdout)


def told_speed(bench: str) -> str:
    r"""One line of what `python -m loader bench` printed.

    Args:
        bench: its lines `<name> <rate> Mtok/s …`, one for the floor and one for the loader.

    >>> told_speed("floor  2,707.0 Mtok/s   1.00 of the floor\nLoader   253.4 Mtok/s   0.09 of the floor\n")
    'loader alone: 253 Mtok/s (floor, one conversion into a kept buffer: 2,707 Mtok/s)'
    """
    found = re.findall(r"^(\w+) +([\d,.]+) Mtok/s", bench, re.MULTILINE)
    rates = {name: float(rate.replace(",", "")) for name, rate in found}
    floor = rates.pop("floor")
    (own,) = rates.values()
    return f"loader alone: {own:,.0f} Mtok/s (floor, one conversion into a kept buffer: {floor:,.0f} Mtok/s)"


def _script() -> Path:
    """The example script: beside this file in a wheel, in docs/examples in a checkout."""
    here = Path(__file__).parent
    for place in (here, here.parents[2] / "docs" / "examples"):
        if (place / "train_tiny_gpt.py").exists():
            return place / "train_tiny_gpt.py"
    raise FileNotFoundError("train_tiny_gpt.py ships with this package, but is neither beside it nor in docs/examples")
