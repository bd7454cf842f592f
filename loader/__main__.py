"""`python -m loader plan PATH …` and `python -m loader bench PATH …`."""

import argparse
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from loader.errors import LoaderError
from loader.stream import BatchStream, TokenDataset

ROUNDS = 5  # floor and loader take turns: the machine's own speed drifts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: as on the command line; None = sys.argv.

    Returns:
        0; 2 where something was refused, which is told in one line on stderr.
    """
    options = _parser().parse_args(arguments)
    try:
        dataset = TokenDataset(options.path, split=options.split, seq_len=options.seq_len, stride=options.stride)
        for line in options.run(dataset, options):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except LoaderError as error:
        sys.stderr.write(f"python -m loader {options.command}: {error}\n")
        return 2
    return 0


def plan(dataset: TokenDataset, options: argparse.Namespace) -> Iterator[str]:
    """Tell what an epoch would be."""
    stream = BatchStream(dataset, batch_size=options.batch_size, world_size=options.world_size)
    rows = len(stream) * options.batch_size * options.world_size
    yield f"data             {dataset.folder} split {dataset.split}, digest {dataset.digest}"
    yield f"tokens           {dataset.num_tokens:,} in {dataset.num_documents:,} documents"
    yield f"vocabulary       {dataset.vocab_size:,} tokens, end of text {dataset.eot}"
    yield f"windows          {len(dataset):,} of {dataset.seq_len:,} tokens, stride {dataset.stride:,}"
    yield f"steps per epoch  {len(stream):,} of {options.world_size} ranks x {options.batch_size} rows"
    yield f"tokens per epoch {rows * dataset.seq_len:,}"
    left = f"{stream.num_tail_rows:,} windows of each epoch, {dataset.num_tail_tokens:,} tokens after the last window"
    yield f"left out         {left}"


def bench(dataset: TokenDataset, options: argparse.Namespace) -> Iterator[str]:
    """Measure the loader beside a floor, in turns."""
    slice_s = options.seconds / (2 * ROUNDS)
    face, batches = _endless(dataset, options)
    next(batches)
    floor, found = [], []
    for _ in range(ROUNDS):
        floor.append(_floor_tokens_per_s(dataset, options.batch_size, slice_s))
        found.append(_tokens_per_s(batches, options.batch_size * dataset.seq_len, slice_s))
    rates = {"floor": statistics.median(floor) / 1e6, face: statistics.median(found) / 1e6}
    yield f"batches of {options.batch_size} x {dataset.seq_len}, inputs and labels as int64, medians of {ROUNDS} rounds"
    for name, rate in rates.items():
        yield f"{name:12} {rate:10,.1f} Mtok/s   {rate / rates['floor']:.2f} of the floor"
    yield "floor: random windows of the largest shard, converted to int64 into one buffer that is kept"


def _endless(dataset: TokenDataset, options: argparse.Namespace) -> tuple[str, Iterator[object]]:
    """Batches for ever: the Loader's where torch is installed, else those of the stream beneath it."""
    make: Callable[..., Iterable[object]] = BatchStream
    if importlib.util.find_spec("torch"):
        make = importlib.import_module("loader.device").Loader
    batches = make(
        dataset,
        batch_size=options.batch_size,
        rank=0,
        world_size=1,
        prefetch=options.prefetch,
        threads=options.threads,
    )
    return make.__name__, chain.from_iterable(repeat(batches))


def _tokens_per_s(batches: Iterator[object], num_tokens: int, seconds: float) -> float:
    num, start_s = 0, time.perf_counter()
    while (elapsed_s := time.perf_counter() - start_s) < seconds or not num:
        next(batches)
        num += 1
    return num * num_tokens / elapsed_s


def _floor_tokens_per_s(dataset: TokenDataset, batch_size: int, seconds: float) -> float:
    """Rate of converting random windows of one shard into one kept buffer."""
    prefix = "" if dataset.split is None else f"{dataset.split}/"
    bins = [e for e in dataset.manifest.files if e.name.endswith(".bin") and e.name.startswith(prefix)]
    largest = max(bins, key=lambda entry: entry.bytes)
    assert dataset.manifest.format is not None
    tokens = np.fromfile(dataset.folder / largest.name, dataset.manifest.format["dtype"])
    width = min(len(tokens), dataset.seq_len + dataset.shift)
    buffer_BW = np.empty((batch_size, width), np.int64)
    starts = np.random.default_rng(1).integers(0, len(tokens) - width + 1, (1_000, batch_size)).tolist()
    num, start_s = 0, time.perf_counter()
    while (elapsed_s := time.perf_counter() - start_s) < seconds or not num:
        for b, start in enumerate(starts[num % len(starts)]):
            buffer_BW[b] = tokens[start : start + width]
        num += 1
    return num * batch_size * width / elapsed_s


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loader", description="Look at finished shards, and time them.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="plan | bench")
    lines = {plan: "tell windows, steps and left-overs of an epoch", bench: "time the loader on this machine"}
    for run, line in lines.items():
        command = commands.add_parser(run.__name__, help=line, description=f"{line.capitalize()}.")
        command.set_defaults(run=run)
        _add_common(command.add_argument)
        if run is plan:
            command.add_argument("--world-size", type=int, default=1, metavar="N", help="ranks (default 1)")
        else:
            command.add_argument("--seconds", type=float, default=5.0, metavar="S", help="in all (default 5)")
            command.add_argument("--prefetch", type=int, default=4, metavar="N", help="batches ahead (default 4)")
            command.add_argument("--threads", type=int, default=1, metavar="N", help="background threads (default 1)")
    return parser


def _add_common(add: Any) -> None:  # noqa: ANN401 - a bound add_argument
    add("path", metavar="PATH", help="mixed/<mix>, the folder of one build, or a folder of tokenized")
    add("--split", default="train", type=_split, metavar="NAME", help="train, val, or none (default train)")
    add("--seq-len", type=int, default=2048, metavar="T", help="tokens of a row (default 2048)")
    add("--stride", type=int, default=None, metavar="T", help="tokens from row to row (default: seq-len)")
    add("--batch-size", type=int, default=16, metavar="B", help="rows of one rank and step (default 16)")


def _split(name: str) -> str | None:
    return None if name == "none" else name


if __name__ == "__main__":
    sys.exit(main())
