"""`dataassets demo`: corpus, all stages, a short training with a resume, a summary. Nothing is downloaded."""

from pathlib import Path

import click

from dataassets.cli import screen
from dataassets.cli.commands import build_recipe
from dataassets.cli.demo import training
from dataassets.cli.demo.corpus import write_corpus
from dataassets.recipe import DEMO_FOLDER, demo_text, load


@click.command()
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
    """Take a real corpus, made of installed packages, all the way to shards that feed a training.

    Takes about two minutes on two cores and some 200 MB below --root. Run again, it reuses what is there.
    """
    console = screen.console
    console.rule("1  corpus")
    root.mkdir(parents=True, exist_ok=True)
    with console.status("writing documents of installed packages"):
        sizes = write_corpus(root / "corpus")
    console.print(", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items()) + f" in {root / 'corpus'}")
    recipe = root / "recipe.yaml"
    recipe.write_text(demo_text(), encoding="utf-8")
    console.print(f"recipe: {recipe}")
    console.rule("2  raw to mixed, through Dagster")
    work = build_recipe(load(recipe), workers=workers)
    outcome = None
    if train:
        console.rule("3  training, and a resume in a new process")
        outcome = training.run(root)
    console.rule("summary")
    for table in (screen.funnel(work.store, work.corpus), screen.drops(work.store, work.corpus)):
        console.print(table)
    for table in screen.mixes(work.store, work.corpus):
        console.print(table)
    if outcome is not None:
        console.print(outcome.told)
    mix = root / "data" / "mixed" / "pretrain"
    console.print("next:")
    console.print(f"  dataassets ui {recipe}        every partition with its checks and plots (make ui)")
    console.print(f"  dataassets plan {recipe}      what the recipe reads and mixes")
    console.print(f"  dataassets verify {root / 'data'}          every byte against its manifest")
    if outcome is not None:
        console.print(f"  dataassets explain {mix} --state {outcome.state} --row 0     whose tokens a row holds")
    console.print(f"  python -m loader bench {mix}      the loader's speed here")
    if outcome is not None and not outcome.identical:
        raise click.ClickException("the resumed run differs from the straight one; see the logs above")
