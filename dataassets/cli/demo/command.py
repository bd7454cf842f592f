"""`dataassets demo`: corpus, all stages, a short training with a resume, a summary. Nothing is downloaded."""

from collections.abc import Iterator
from pathlib import Path

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from dataassets.cli import screen
from dataassets.cli.commands import build_recipe
from dataassets.cli.demo import training
from dataassets.cli.demo.corpus import write_corpus
from dataassets.recipe import DEMO_FOLDER, demo_text, load

_ABOUT_BYTES = 32_000_000  # of content, with the tested versions of the packages; the bar is set right at its end


@click.command(short_help="Start here: a small real corpus, from raw pages to a training run.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEMO_FOLDER,
    show_default=True,
    help="Folder for the corpus, the recipe and all products.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Worker processes; default: one a core.")
@click.option("--train/--no-train", default=True, help="Train a tiny GPT on the shards at the end (wants torch).")
def demo(root: Path, workers: int | None, train: bool) -> None:
    """Take a real corpus, made of installed packages, all the way to shards that feed a training. No download.

    Takes about two minutes on two cores and some 100 MB below --root. It writes the corpus, a recipe (ROOT/recipe.yaml,
    with every knob explained) and the products (ROOT/data), trains a tiny GPT for 50 steps, resumes it half way in a
    new process, and prints what became of every document. Run again, it reuses what is there.
    """
    console = screen.console
    screen.heading("1  corpus")
    root.mkdir(parents=True, exist_ok=True)
    sizes = _write(root / "corpus")
    told = ", ".join(f"{name} {screen.size(size)}" for name, size in sizes.items())
    console.print(f"{told} in {root / 'corpus'}")
    recipe = root / "recipe.yaml"
    if recipe.exists() and recipe.read_text(encoding="utf-8") != demo_text():
        console.print(f"recipe: {recipe}, as you changed it; remove it to have the demo's own again")
    else:
        recipe.write_text(demo_text(), encoding="utf-8")
        console.print(f"recipe: {recipe}")
    screen.heading("2  raw to mixed, through Dagster")
    work = build_recipe(load(recipe), workers=workers)
    outcome = None
    if train:
        screen.heading("3  training, and a resume in a new process")
        outcome = training.run(root)
    screen.heading("summary")
    for table in (screen.funnel(work.store, work.corpus), screen.drops(work.store, work.corpus)):
        console.print(table)
    for table in screen.mixes(work.store, work.corpus):
        console.print(table)
    if outcome is not None:
        console.print(outcome.told)
    console.print("next:")
    for command, told in _next(root, outcome):
        console.print(f"  {command}\n      {told}")
    if outcome is not None and not outcome.identical:
        raise click.ClickException("the resumed run differs from the straight one; see the logs above")


def _write(folder: Path) -> dict[str, int]:
    """Write the corpus, with a bar where there is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    shown = screen.console.is_terminal
    with Progress(*columns, console=screen.console, transient=True, disable=not shown) as progress:
        task = progress.add_task("documents of installed packages", total=_ABOUT_BYTES)

        def tick(source: str, num_bytes: int) -> None:
            progress.update(task, description=f"{source:<5} from installed packages", advance=num_bytes)

        return write_corpus(folder, tick=tick)


def _next(root: Path, outcome: training.Outcome | None) -> Iterator[tuple[str, str]]:
    """Commands to try, each with what it shows."""
    recipe, mix = root / "recipe.yaml", root / "data" / "mixed" / "pretrain"
    yield f"dataassets ui {recipe}", "every partition with its checks and plots, in Dagster's web pages (make ui)"
    yield f"dataassets plan {recipe}", "what the recipe reads and mixes"
    yield f"dataassets verify {root / 'data'}", "every byte against its manifest"
    if outcome is not None:
        yield f"dataassets explain {mix} --state {outcome.state} --row 0", "whose tokens a row of a batch held"
    yield f"python -m loader bench {mix}", "the loader's speed on this machine"
