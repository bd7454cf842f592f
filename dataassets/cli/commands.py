"""The commands, but for `demo`: options to calls, results to the terminal."""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from dataassets.cli import home, lineage, screen
from dataassets.cli.building import materialize, runs, targets
from dataassets.compute import Executor, Kind
from dataassets.recipe import Located, RecipeError, load
from dataassets.runner import UpstreamError, Work
from dataassets.store import PRODUCTS, Store, garbage
from dataassets.store import verify as verify_folder
from dataassets.store.layout import folder

RECIPE = click.argument("recipe", type=click.Path(path_type=Path))


@click.command()
@RECIPE
@click.option(
    "--stage", "stages", multiple=True, type=click.Choice(PRODUCTS), help="Build this product and what it needs."
)
@click.option(
    "--partition", "partitions", multiple=True, metavar="KEY", help="Only this partition, e.g. '2026-10-01|web'."
)
@click.option("--executor", type=click.Choice(["inline", "process"]), help="Where units run; default: the recipe's.")
@click.option("--workers", type=click.IntRange(min=1), help="Worker processes; default: the recipe's, else one a core.")
def build(
    recipe: Path, stages: tuple[str, ...], partitions: tuple[str, ...], executor: Kind | None, workers: int | None
) -> None:
    """Make the products of a RECIPE, oldest snapshot first.

    Everything runs through Dagster and is recorded in DAGSTER_HOME ($DAGSTER_HOME, else .dagster beside the recipe),
    so `dataassets ui RECIPE` shows it. What is there and still equal is reused; stop it at any time and run it again.
    """
    located = load(recipe)
    build_recipe(located, stages=stages, partitions=partitions, executor=executor, workers=workers)
    screen.console.print(f"next: dataassets ui {recipe}   dataassets verify {located.root}")


def build_recipe(
    located: Located,
    *,
    stages: tuple[str, ...] = (),
    partitions: tuple[str, ...] = (),
    executor: Kind | None = None,
    workers: int | None = None,
) -> Work:
    """Build with progress on the terminal.

    Raises:
        BuildError: a partition could not be made.
    """
    home.enter(located)
    compute = located.recipe.compute
    with Executor(executor or compute.executor, workers=workers or compute.workers) as pool:
        work = Work(located, executor=pool)
        work.validate()
        todo = list(runs(targets(work.corpus, stages=stages, partitions=partitions)))
        with screen.Screen(len(todo)) as shown:
            work.listener, work.on_done = shown.on_unit, shown.on_done
            materialize(work, todo, on_run=shown.on_run)
        shown.close()
    return work


@click.command()
@RECIPE
@click.option("--port", default=3000, show_default=True, help="Port of the web server on 127.0.0.1.")
def ui(recipe: Path, port: int) -> None:
    """Open Dagster on a RECIPE: web server and daemon, until Ctrl-C.

    Assets, their partitions, checks, plots and runs are at http://127.0.0.1:PORT.
    """
    start_ui(load(recipe), port=port)


def start_ui(located: Located, *, port: int) -> None:
    """Become `dagster dev` on a recipe."""
    with socket.socket() as free:
        if free.connect_ex(("127.0.0.1", port)) == 0:
            raise RecipeError(f"port {port} of 127.0.0.1 is taken; stop what listens there or take --port {port + 1}")
    home.enter(located)
    screen.console.print(f"Dagster on {located.file}: http://127.0.0.1:{port}  (Ctrl-C ends it)")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job ignores it, and Dagster would never end
    arguments = ["dev", "-m", "dataassets.definitions", "-h", "127.0.0.1", "-p", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", "dagster", *arguments])


@click.command()
@RECIPE
def plan(recipe: Path) -> None:
    """Show what a RECIPE would read and make, writing nothing: files, partitions, mixes to the token."""
    located = load(recipe)
    work = Work(located)
    work.validate()
    screen.console.print(_input_table(work))
    screen.console.print(_state_table(work))
    for mix in work.recipe.mixes:
        try:
            planned = work.plan(mix)
        except UpstreamError as error:
            screen.console.print(f"mix {mix}: planned once its tokens are there ({error})")
            continue
        rows = [(s.source, s.asked, s.achieved, s.epochs) for s in planned.sources]
        screen.console.print(screen.mix_table(mix, rows))
        shards = {split: [s.tokens for s in planned.shards if s.split == split] for split in ("train", "val")}
        for split, sizes in shards.items():
            screen.console.print(
                f"  {split}: {len(sizes)} shards, {sum(sizes):,} tokens, the largest {max(sizes, default=0):,}"
            )


def _input_table(work: Work) -> Table:
    table = Table(title="Input files", title_justify="left")
    table.add_column("snapshot")
    for source in work.corpus.sources:
        table.add_column(source, justify="right")
    for snapshot in work.corpus.snapshots:
        cells = []
        for source in work.corpus.sources:
            files = work.ledger.input_files(f"{snapshot}|{source}")
            cells.append(f"{len(files):,} ({sum(f.bytes for f in files) / 1e6:.1f} MB)")
        table.add_row(snapshot, *cells)
    return table


def _state_table(work: Work) -> Table:
    table = Table(title="Partitions", title_justify="left")
    for head in ("product", "there", "stale", "missing"):
        table.add_column(head, justify="left" if head == "product" else "right")
    for product in PRODUCTS:
        states = [work.ledger.state(product, key) for key in work.corpus.partitions(product)]
        table.add_row(product, *(str(states.count(s)) for s in ("there", "stale", "missing")))
    return table


@click.command()
@click.argument("folder_", metavar="DIR")
def verify(folder_: str) -> None:
    """Check every byte below DIR (a root, a product or a partition) against its manifests; exit 1 on damage."""
    folder_ = folder_ if "://" in folder_ else os.path.abspath(folder_)  # noqa: PTH100 - a URL is no Path
    counts = {"ok": 0, "damaged": 0, "stray": 0}
    colors = {"damaged": "red", "stray": "yellow"}
    sizes: list[int] = []
    for found in verify_folder(folder_, tick=sizes.append):
        counts[found.kind] += 1
        if found.kind in colors:
            click.secho(f"{found.kind}: {found.name}: {found.note}", fg=colors[found.kind])
    click.echo(
        f"{counts['ok']} files sound ({sum(sizes) / 1e6:.1f} MB read), {counts['damaged']} damaged, "
        f"{counts['stray']} that no manifest names"
    )
    if counts["damaged"]:
        click.echo("to mend: remove the partition folders that hold damaged files, then build again", err=True)
        sys.exit(1)


@click.command()
@click.argument("folder_", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--doc", metavar="ID", help="A document's id (32 hex digits): its whole way, from file to shard.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="A saved loader state (JSON), as Loader.state_dict() gives it."
)
@click.option("--step", type=click.IntRange(min=0), help="Step of the epoch; default: the last one that the state saw.")
@click.option("--rank", default=0, show_default=True, type=click.IntRange(min=0), help="Rank.")
@click.option("--row", default=0, show_default=True, type=click.IntRange(min=0), help="Row of the rank's batch.")
def explain(folder_: Path, doc: str | None, state: Path | None, step: int | None, rank: int, row: int) -> None:
    """Tell which documents were in a row of a batch, or what became of one document.

    DIR is a mix (…/mixed/pretrain); with --doc it may also be the root.
    """
    if (doc is None) == (state is None):
        raise click.UsageError("give either --state FILE (with --step, --rank, --row) or --doc ID")
    if doc is not None:
        screen.console.print(lineage.of_document(folder_, doc))
        return
    assert state is not None
    for found in lineage.of_row(folder_, _state(state), step=step, rank=rank, row=row):
        screen.console.print(found)


def _state(file: Path) -> dict[str, Any]:
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecipeError(f"{file}: no loader state ({error}); save json.dumps(loader.state_dict()) there") from error
    if not isinstance(state, dict):
        raise RecipeError(f"{file}: holds a JSON {type(state).__name__}; a loader state is an object")
    return state


@click.command()
@RECIPE
@click.option("--delete", is_flag=True, help="Remove the files; without it they are listed only.")
def gc(recipe: Path, delete: bool) -> None:
    """List, or remove, files below the root that no product of the RECIPE names: old mixes, unfinished work."""
    located = load(recipe)
    work = Work(located)
    cells = [(p, key) for p in PRODUCTS for key in work.corpus.partitions(p)]
    keep = {f"mixed/{key}" if p == "mixed" else folder(p, key) for p, key in cells}
    store = Store.at(located.root)
    names = garbage(located.root, keep=keep)
    size = sum(max(store.files.size(name), 0) for name in names)
    for name in names:
        click.echo(name)
        if delete:
            store.files.remove(name)
    click.echo(f"{len(names)} files, {size / 1e6:.1f} MB {'removed' if delete else 'to remove; --delete removes them'}")
