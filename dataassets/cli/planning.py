"""What a recipe would read and make, from manifests and file names alone: nothing is written."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from rich.table import Table

from dataassets.cli import screen
from dataassets.runner import UpstreamError, Work

State = Literal["there", "stale", "missing"]
Cell = tuple[str, str]


def states(work: Work) -> dict[Cell, State]:
    """Of each partition, whether it is there, still what the recipe would make.

    Of raw, the names of the input files are compared; their bytes, which may be many, are read by the build.

    Args:
        work: the runner.
    """
    found: dict[Cell, State] = {}
    seen: dict[Cell, bool] = {}
    for cell in work.corpus.cells(work.corpus.products):
        state = work.ledger.state(*cell, seen=seen)
        if state == "there" and (_has_other_files(work, cell) or _needs_stale(work, cell, found)):
            state = "stale"
        found[cell] = state
    return found


def _has_other_files(work: Work, cell: Cell) -> bool:
    manifest = work.store.manifest(*cell) if cell[0] == "raw" else None
    return manifest is not None and {f.origin for f in work.ledger.input_files(cell[1])} != set(manifest.inputs)


def _needs_stale(work: Work, cell: Cell, found: dict[Cell, State]) -> bool:
    return any(found.get(needed, "there") != "there" for needed in work.corpus.upstream(*cell))


def shown(work: Work) -> Iterator[Table | str]:
    """All that `plan` prints.

    Args:
        work: the runner.
    """
    yield _input_table(work)
    found = states(work)
    yield _state_table(work.corpus.products, found)
    total = Counter(found.values())
    yield (
        f"a build would make {screen.plural(total['missing'], 'partition')}, look at {total['stale']:,} again "
        f"(made anew where what they read differs), and leave {total['there']:,} as they are"
    )
    for mix in work.recipe.mixes:
        yield from _mix(work, mix)


def _input_table(work: Work) -> Table:
    shown = screen.table("Input files (size as stored)", ["snapshot", *work.corpus.sources])
    for snapshot in work.corpus.snapshots:
        cells = []
        for source in work.corpus.sources:
            files = work.ledger.input_files(f"{snapshot}|{source}")
            cells.append(f"{len(files):,} ({screen.size(sum(f.bytes for f in files))})" if files else "none")
        shown.add_row(snapshot, *cells)
    return shown


def _state_table(products: Sequence[str], found: dict[Cell, State]) -> Table:
    heads: tuple[State, ...] = ("there", "stale", "missing")
    shown = screen.table("Partitions of each product", ["product", *heads])
    for product in products:
        count = Counter(state for (name, _), state in found.items() if name == product)
        shown.add_row(product, *(f"{count[head]:,}" for head in heads))
    return shown


def _mix(work: Work, mix: str) -> Iterator[Table | str]:
    try:
        planned = work.plan(mix)
    except UpstreamError:
        yield f"mix {mix}: counted to the token once `tokenized` is there (dataassets build … --stage tokenized)"
        return
    rows = [(s.source, s.asked, s.achieved, s.epochs) for s in planned.sources]
    yield screen.mix_table(mix, rows)
    for split in ("train", "val"):
        sizes = [s.tokens for s in planned.shards if s.split == split]
        told = f"{screen.plural(len(sizes), 'shard')}, {sum(sizes):,} tokens"
        yield f"  {split}: {told}, the largest {max(sizes):,}" if sizes else f"  {split}: {told}"
