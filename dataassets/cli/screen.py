"""What a build shows: a line for each finished partition, a bar where there is a terminal, tables at the end."""

import math
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from dataassets import runner
from dataassets.cli.building import Run
from dataassets.runner import Corpus, Done
from dataassets.store import PRODUCTS, Manifest, Store

_PIPE_WIDTH = 4000  # nobody looks at the width of a pipe; a cut id or url would be lost

# No markup, no emoji codes: what is shown comes from documents and file names.
console = Console(
    highlight=False,
    markup=False,
    emoji=False,
    soft_wrap=True,
    width=None if sys.stdout.isatty() else _PIPE_WIDTH,
)


def heading(text: str) -> None:
    """A line that parts one step from the next."""
    if console.is_terminal:
        console.rule(text)
    else:
        console.print(f"\n== {text}")


def size(num_bytes: float) -> str:
    """Bytes for a person.

    >>> size(0), size(999), size(34_500), size(2_000_000_000)
    ('0 B', '999 B', '34.5 kB', '2.0 GB')
    """
    if num_bytes < 1000:
        return f"{num_bytes:,.0f} B"
    power = min(int(math.log10(num_bytes)) // 3, 4)
    return f"{num_bytes / 1000**power:,.1f} {('', 'kB', 'MB', 'GB', 'TB')[power]}"


def plural(number: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "shard"), plural(2_000, "shard")
    ('1 shard', '2,000 shards')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def table(title: str, heads: Sequence[str], *, left: int = 1) -> Table:
    """A table whose first columns are names and whose others are numbers.

    Args:
        title: above it, with the unit of its numbers.
        heads: of the columns.
        left: how many of them are names.
    """
    made = Table(title=title, title_justify="left")
    for i, head in enumerate(heads):
        made.add_column(head, justify="left" if i < left else "right", no_wrap=i < left, overflow="fold")
    return made


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
        self._progress.update(self._task, description=f"{p.product} {p.partition}: {p.told}")

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
        console.print(f"{plural(self.made, 'partition')} made, {self.reused:,} reused as they were, {seconds:.1f} s")
        if self.quarantined:
            told = f"quarantined {plural(self.quarantined, 'unreadable record')}: kept below dropped/stage=raw"
            console.print(Text(told, "yellow"))


def _line(done: Done) -> Text:
    manifest = done.manifest
    counts = manifest.counts
    what = plural(counts.get("documents", 0), "document")
    if manifest.dropped:
        what = f"{counts.get('documents', 0):,} of {plural(counts.get('documents_in', 0), 'document')}"
    if "tokens" in counts:
        what += f", {counts['tokens']:,} tokens"
    line = Text(f"{manifest.product:<16} {manifest.partition:<22} {what:<42} ")
    line.append("as it was" if done.skipped else f"{done.seconds:.1f} s", "dim" if done.skipped else "")
    for check in done.checks:
        if not check.passed:
            numbers = ", ".join(f"{name} {x:.4g}" for name, x in check.numbers.items())
            told = f"  {check.name} {'failed' if check.blocking else 'warns'}: {check.note} ({numbers})"
            line.append(told, "red" if check.blocking else "yellow")
    return line


def funnel(store: Store, corpus: Corpus) -> Table:
    """Documents and bytes of each source after each stage, tokens at the end.

    Args:
        store: with committed products.
        corpus: of the recipe.
    """
    shown = table("Funnel: documents (text) by stage and source", ["stage", *corpus.sources])
    for product in ("raw", "cleaned", "filtered", "deduped", "tokenized"):
        cells = []
        for source in corpus.sources:
            found = _manifests(store, corpus, product, source)
            documents = sum(m.counts["documents"] for m in found)
            if product == "tokenized":
                cells.append(f"{documents:,} ({sum(m.counts['tokens'] for m in found) / 1e6:.2f} M tokens)")
            else:
                cells.append(f"{documents:,} ({size(sum(m.counts['bytes'] for m in found))})")
        shown.add_row(product, *cells)
    return shown


def drops(store: Store, corpus: Corpus) -> Table:
    """Dropped documents by stage and reason, by source.

    Args:
        store: with committed products.
        corpus: of the recipe.
    """
    shown = table("Dropped documents by reason", ["stage", "reason", *corpus.sources], left=2)
    for product in ("raw", "cleaned", "filtered", "deduped"):
        found = {x: _manifests(store, corpus, product, x) for x in corpus.sources}
        reasons = {r for ms in found.values() for m in ms for r in m.dropped}
        numbers = {r: [sum(m.dropped.get(r, 0) for m in found[x]) for x in corpus.sources] for r in reasons}
        for reason in sorted(reasons, key=lambda r: (-sum(numbers[r]), r)):
            shown.add_row(product, reason, *(f"{n:,}" if n else "" for n in numbers[reason]))
    return shown


def mix_table(name: str, sources: Sequence[tuple[str, float, float, float]]) -> Table:
    """A mix, asked and achieved.

    Args:
        name: of the mix.
        sources: name, tokens asked, tokens achieved, epochs.
    """
    heads = ["source", "asked", "achieved", "off", "times read"]
    shown = table(f"Mix {name}: tokens asked and achieved", heads)
    for source, asked, achieved, epochs in sources:
        shown.add_row(source, f"{asked:,.0f}", f"{achieved:,.0f}", f"{achieved / asked - 1:+.2%}", f"{epochs:.2f}")
    return shown


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
