"""What a build shows: a line for each finished partition, a bar where there is a terminal, tables at the end."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from dataassets import runner
from dataassets.cli.building import Run
from dataassets.runner import Corpus, Done
from dataassets.store import PRODUCTS, Manifest, Store

console = Console(highlight=False, soft_wrap=True)


class Screen:
    """Shows a build as it goes.

    Args:
        num_runs: runs to come.
    """

    def __init__(self, num_runs: int) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("build", total=num_runs)
        self._start = time.perf_counter()
        self.quarantined = 0
        self.made = self.reused = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    def on_run(self, run: Run) -> None:
        """A run begins."""
        done = self._progress.tasks[0].completed
        self._progress.update(self._task, description=f"{run.products[0]} {run.partition}", completed=done + 1)

    def on_unit(self, p: runner.Progress) -> None:
        """A unit ended."""
        rate = f", {p.bytes / 1e6 / p.seconds:.1f} MB/s" if p.bytes and p.seconds else ""
        units = f"unit {p.done}/{p.units}" if p.units else f"unit {p.done}"
        self._progress.update(self._task, description=f"{p.product} {p.partition}: {units}{rate}")

    def on_done(self, done: Done) -> None:
        """A partition ended."""
        self.reused += done.skipped
        self.made += not done.skipped
        if done.manifest.product == "raw":
            self.quarantined += sum(done.manifest.dropped.values())
        self._progress.console.print(_line(done))

    def close(self) -> None:
        """The closing lines."""
        seconds = time.perf_counter() - self._start
        console.print(f"{self.made} partitions made, {self.reused} reused as they were, {seconds:.1f} s")
        if self.quarantined:
            console.print(f"[yellow]quarantined {self.quarantined} unreadable records (dropped/stage=raw)[/yellow]")


def _line(done: Done) -> str:
    manifest = done.manifest
    counts = manifest.counts
    what = f"{counts.get('documents', 0):,} documents"
    if manifest.dropped:
        what += f" of {counts.get('documents_in', 0):,}"
    if "tokens" in counts:
        what += f", {counts['tokens']:,} tokens"
    state = "[dim]as it was[/dim]" if done.skipped else f"{done.seconds:.1f} s"
    failed = [c for c in done.checks if not c.passed]
    marks = [f"[red]{c.name} failed[/red]" if c.blocking else f"[yellow]{c.name}[/yellow]" for c in failed]
    return f"{manifest.product:<10} {manifest.partition:<22} {what:<42} {state} {' '.join(marks)}".rstrip()


def funnel(store: Store, corpus: Corpus) -> Table:
    """Documents and megabytes of each source after each stage, tokens at the end.

    Args:
        store: with committed products.
        corpus: of the recipe.
    """
    table = Table(title="Funnel: documents (MB) by stage and source", title_justify="left")
    table.add_column("stage")
    for source in corpus.sources:
        table.add_column(source, justify="right")
    for product in ("raw", "cleaned", "filtered", "deduped", "tokenized"):
        cells = []
        for source in corpus.sources:
            found = _manifests(store, corpus, product, source)
            documents = sum(m.counts["documents"] for m in found)
            if product == "tokenized":
                cells.append(f"{documents:,} ({sum(m.counts['tokens'] for m in found) / 1e6:.2f} M tokens)")
            else:
                cells.append(f"{documents:,} ({sum(m.counts['bytes'] for m in found) / 1e6:.1f})")
        table.add_row(product, *cells)
    return table


def drops(store: Store, corpus: Corpus) -> Table:
    """Dropped documents by stage and reason, by source.

    Args:
        store: with committed products.
        corpus: of the recipe.
    """
    table = Table(title="Dropped documents by reason", title_justify="left")
    table.add_column("stage")
    table.add_column("reason", no_wrap=True)
    for source in corpus.sources:
        table.add_column(source, justify="right")
    for product in ("raw", "cleaned", "filtered", "deduped"):
        found = {x: _manifests(store, corpus, product, x) for x in corpus.sources}
        reasons = {r for ms in found.values() for m in ms for r in m.dropped}
        numbers = {r: [sum(m.dropped.get(r, 0) for m in found[x]) for x in corpus.sources] for r in reasons}
        for reason in sorted(reasons, key=lambda r: (-sum(numbers[r]), r)):
            table.add_row(product, reason, *(f"{n:,}" if n else "" for n in numbers[reason]))
    return table


def mix_table(name: str, sources: Sequence[tuple[str, float, float, float]]) -> Table:
    """A mix, asked and achieved.

    Args:
        name: of the mix.
        sources: name, tokens asked, tokens achieved, epochs.
    """
    table = Table(title=f"Mix {name}: tokens asked and achieved", title_justify="left")
    for head in ("source", "asked", "achieved", "off", "epochs"):
        table.add_column(head, justify="left" if head == "source" else "right")
    for source, asked, achieved, epochs in sources:
        table.add_row(source, f"{asked:,.0f}", f"{achieved:,.0f}", f"{achieved / asked - 1:+.2%}", f"{epochs:.2f}")
    return table


def mixes(store: Store, corpus: Corpus) -> list[Table]:
    """One table for each committed mix."""
    tables = []
    for name in corpus.partitions("mixed"):
        manifest = store.manifest("mixed", name)
        if manifest is not None:
            rows = (manifest.format or {})["sources"].items()
            tables.append(mix_table(name, [(x, s["asked"], s["tokens"], s["epochs"]) for x, s in rows]))
    return tables


def _manifests(store: Store, corpus: Corpus, product: str, source: str) -> list[Manifest]:
    assert product in PRODUCTS
    keys = [key for key in corpus.partitions(product) if key.split("|")[1] == source]
    return [m for key in keys if (m := store.manifest(product, key)) is not None]
