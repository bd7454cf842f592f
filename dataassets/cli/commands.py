"""The commands, but for `demo`: options to calls, results to the terminal."""

import json
import multiprocessing
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import click

from dataassets.cli import home, lineage, planning, screen
from dataassets.cli.building import InterruptedBuildError, materialize, runs, targets
from dataassets.compute import Executor, Kind
from dataassets.recipe import Located, RecipeError, as_yaml, load
from dataassets.runner import Work
from dataassets.store import EVERY, Files, Store, garbage
from dataassets.store import verify as verify_folder
from dataassets.store.layout import DROPPED, WORK, folder

RECIPE = click.argument("recipe", type=click.Path(path_type=Path))

_STAGE = f"Build this product and what it needs; may be given again. One of {', '.join(EVERY)}. Default: all."
_PARTITION = (
    "Only this partition and what it needs; may be given again. A key is SNAPSHOT|SOURCE in quotes, '2026-10-01|web'; "
    "of duplicates the snapshot; of mixed the mix's name; of a trained model all. Default: all."
)


@click.command(short_help="Make the products of a recipe; what is there and equal is reused.")
@RECIPE
@click.option("--stage", "stages", multiple=True, type=click.Choice(EVERY), metavar="PRODUCT", help=_STAGE)
@click.option("--partition", "partitions", multiple=True, metavar="KEY", help=_PARTITION)
@click.option(
    "--executor",
    type=click.Choice(["inline", "process", "ray"]),
    help=(
        "Where units of work run: in this process, in workers, or on the Ray cluster at the recipe's compute.address. "
        "Default: the recipe's compute.executor."
    ),
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Units of work at a time. Default: the recipe's compute.workers, else one a core. Changes no result.",
)
def build(
    recipe: Path, stages: tuple[str, ...], partitions: tuple[str, ...], executor: Kind | None, workers: int | None
) -> None:
    """Make the products of a RECIPE (a YAML file), oldest snapshot first.

    Everything runs through Dagster and is recorded in DAGSTER_HOME ($DAGSTER_HOME, else .dagster beside the recipe),
    so `dataassets ui RECIPE` shows it. What is there and still equal is reused; stop it at any time (Ctrl-C, even
    kill -9) and run it again: it goes on where it was.

    A line for each partition: product, key, documents left (of those it was given), seconds. A failed blocking check
    stops the build, and nothing of that partition is kept but its report below ROOT/failed.
    """
    located = load(recipe)
    build_recipe(located, stages=stages, partitions=partitions, executor=executor, workers=workers)
    screen.console.print("next:")
    screen.console.print(f"  dataassets ui {recipe}          its partitions, checks and plots")
    screen.console.print(f"  dataassets verify {located.root}     every byte against its manifest")


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
        RecipeError: the recipe, or what it names, is wrong; nothing was made.
        BuildError: a partition could not be made.
        InterruptedBuildError: Ctrl-C.
    """
    _reachable(located, write=True)
    home.enter(located)
    compute = located.recipe.compute
    kind, number = executor or compute.executor, workers or compute.workers
    with Executor(kind, workers=number, address=compute.address) as pool:
        work = Work(located, executor=pool)
        work.validate()
        todo = list(runs(targets(work.corpus, stages=stages, partitions=partitions)))
        with screen.Screen(len(todo)) as shown:
            work.listener, work.on_done = shown.on_unit, shown.on_done
            try:
                materialize(work, todo, on_run=shown.on_run)
            except InterruptedBuildError:
                # Ctrl-C met the workers too, anywhere, so they may wait for each other for ever. A kill loses nothing.
                for worker in multiprocessing.active_children():
                    worker.kill()
                raise
        shown.close()
    return work


@click.command(short_help="Look at a recipe's assets, checks and runs in Dagster's web pages.")
@RECIPE
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=3000,
    show_default=True,
    help="Port of the web server on 127.0.0.1.",
)
def ui(recipe: Path, port: int) -> None:
    """Open Dagster on a RECIPE: web server and daemon, until Ctrl-C.

    Assets, their partitions, checks, plots and runs are at http://127.0.0.1:PORT. What `build` made is shown as it was
    made; partitions can be materialized from the page as well, and the schedule switched on.
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


@click.command(short_help="What a recipe reads and would make; writes nothing.")
@RECIPE
def plan(recipe: Path) -> None:
    """Show what a RECIPE reads and would make, writing nothing.

    Input files of each snapshot and source; for each product how many partitions are there, how many are stale (made
    by other settings or from other input) and how many are missing; each mix to the token, once its tokens are there.
    """
    work = Work(_reachable(load(recipe)))
    work.validate()
    for part in planning.shown(work):
        screen.console.print(part)


@click.command(short_help="A recipe with every default and preset written out.")
@RECIPE
def show(recipe: Path) -> None:
    """Print a RECIPE as YAML with nothing left unsaid: defaults written out, presets replaced by what they are.

    What is printed is a recipe again, and makes the same products.
    """
    click.echo(as_yaml(load(recipe).recipe), nl=False)


def _reachable(located: Located, *, write: bool = False) -> Located:
    """The recipe, when its root can hold products.

    Raises:
        RecipeError: the root is no folder, may not be written, or is a URL that nothing here can open.
    """
    where, wish = f"{located.file}: root = {located.recipe.root!r}", "take a folder that may be written"
    if "://" in located.root:
        _openable(located.root, said=where)
        return located
    here = Path(located.root)
    while not here.exists():
        here = here.parent
    if not here.is_dir():
        raise RecipeError(f"{where}: {here} is a file; {wish}")
    if write and not os.access(here, os.W_OK | os.X_OK):
        raise RecipeError(f"{where}: {here} may not be written; {wish}")
    return located


def _openable(url: str, *, said: str) -> None:
    try:
        Files(url).exists("manifest.json")
    except (ImportError, ValueError, OSError) as error:
        raise RecipeError(f"{said} cannot be opened ({error}); install what it wants, or take a folder") from error


@click.command(short_help="Check every byte of the products against their manifests.")
@click.argument("folder_", metavar="DIR")
def verify(folder_: str) -> None:
    """Check every byte below DIR against its manifests.

    DIR is the recipe's root, one product (ROOT/filtered) or one partition of it, or an fsspec URL of these. A stray is
    a file that no manifest names: no damage, `dataassets gc` lists it. Exit status 1 where anything is damaged.
    """
    where = folder_ if "://" in folder_ else os.path.abspath(folder_)  # noqa: PTH100 - a URL is no Path
    if "://" in where:
        _openable(where, said=where)
    elif not Path(where).is_dir():
        what = "is a file" if Path(where).exists() else "no such folder"
        raise RecipeError(f"{where}: {what}; name the recipe's root, a product or a partition")
    counts = {"ok": 0, "damaged": 0, "stray": 0}
    colors = {"damaged": "red", "stray": "yellow"}
    sizes: list[int] = []
    for found in verify_folder(where, tick=sizes.append):
        counts[found.kind] += 1
        if found.kind in colors:
            click.secho(f"{found.kind}: {Files(where).path(found.name)}: {found.note}", fg=colors[found.kind])
    click.echo(
        f"{counts['ok']:,} files sound, {counts['damaged']:,} damaged, {screen.plural(counts['stray'], 'stray')}; "
        f"{screen.size(sum(sizes))} in all"
    )
    if counts["damaged"]:
        click.echo("to mend: remove the damaged files, then `dataassets build` makes their partitions again", err=True)
        sys.exit(1)


@click.command(short_help="Which documents were in a row of a batch; what became of a document.")
@click.argument("folder_", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--doc", metavar="ID", help="A document's id (32 hex digits): its whole way, from file to shard.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="A loader's saved state: a JSON file of what Loader.state_dict() gave.",
)
@click.option(
    "--step", type=click.IntRange(min=0), help="Step of the epoch, the first is 0. Default: the state's last."
)
@click.option("--rank", type=click.IntRange(min=0), help="Which process's batch. Default: 0.")
@click.option("--row", type=click.IntRange(min=0), help="Which row of that batch. Default: 0.")
def explain(
    folder_: Path, doc: str | None, state: Path | None, step: int | None, rank: int | None, row: int | None
) -> None:
    """Tell which documents were in a row of a batch, or what became of one document.

    \b
    dataassets explain ROOT/mixed/pretrain --state state.json --step 120 --row 3
    dataassets explain ROOT --doc 882c65d8e87ae23902b1e1a3ee258f71

    With --state, DIR is the mix that was trained on (ROOT/mixed/NAME, or one build of it, ROOT/mixed/NAME/KEY). With
    --doc, DIR is the root or any folder in it.
    """  # noqa: D301 - \b keeps click from filling the examples up to one paragraph
    if (doc is None) == (state is None):
        raise click.UsageError("give either --state FILE (with --step, --rank, --row) or --doc ID")
    if doc is not None:
        if not (step is None and rank is None and row is None):
            raise click.UsageError("--step, --rank and --row choose a row of --state; leave them out with --doc")
        lines = lineage.of_document(folder_, doc)
    else:
        assert state is not None
        lines = lineage.of_row(folder_, _state(state), step=step, rank=rank or 0, row=row or 0)
    for line in lines:
        screen.console.print(line)


def _state(file: Path) -> dict[str, Any]:
    mend = "give a file that holds json.dumps(loader.state_dict())"
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"{file}: {error.strerror}; {mend}") from error
    except ValueError as error:
        raise RecipeError(f"{file}: is no JSON ({error}); {mend}") from error
    if not isinstance(state, dict) or "version" not in state:
        what = f"an object with keys {sorted(state)[:8]}" if isinstance(state, dict) else f"a {type(state).__name__}"
        raise RecipeError(f"{file}: holds {what}, no loader state; {mend}")
    return state


@click.command(short_help="List, or remove, old mixes and left-overs below the root.")
@RECIPE
@click.option("--delete", is_flag=True, help="Remove the files; without it they are listed only.")
def gc(recipe: Path, delete: bool) -> None:
    """List, or remove, files below the root that no product of the RECIPE names.

    Those are builds of a mix that a newer one replaced, unfinished work, and products of sources, snapshots and mixes
    that the recipe no longer has. Do not run it while a build or a training reads what it would remove.
    """
    located = _reachable(load(recipe))
    work = Work(located)
    cells = [(p, key) for p in work.corpus.products for key in work.corpus.partitions(p)]
    keep = {f"mixed/{key}" if p == "mixed" else folder(p, key) for p, key in cells}
    files = Store.at(located.root).files
    # A root may hold more than products, the recipe and its corpus for one: only what we make is ours to remove.
    names = [n for n in garbage(located.root, keep=keep) if n.split("/")[0] in (*EVERY, DROPPED, WORK)]
    total = sum(max(files.size(name), 0) for name in names)
    for name in names:
        click.echo(files.path(name))
        if delete:
            files.remove(name)
    hint = "removed" if delete else "to remove; --delete removes them" if names else "to remove"
    click.echo(f"{screen.plural(len(names), 'file')}, {screen.size(total)} {hint}")
