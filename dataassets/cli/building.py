"""Materialize cells through Dagster in one process, in the order the graph allows, so that the UI shows them."""

import difflib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import dagster as dg

from dataassets.cli import home
from dataassets.cli.interrupt import Interrupts
from dataassets.definitions import definitions
from dataassets.recipe import RecipeError
from dataassets.runner import Corpus, Work
from dataassets.store import MODELS, PRODUCTS, WHOLE

Cell = tuple[str, str]

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}  # the terminal shows progress, the UI the log


class BuildError(ValueError):
    """A partition could not be made; what was made before it stays."""


class InterruptedBuildError(RuntimeError):
    """Ctrl-C. Nothing is lost."""

    def __init__(self) -> None:
        super().__init__("stopped; what was made stays, and the same command goes on from there")


@dataclass(frozen=True)
class Run:
    """Cells of one partition that follow each other: one Dagster run."""

    partition: str
    products: tuple[str, ...]


def targets(corpus: Corpus, *, stages: Sequence[str], partitions: Sequence[str]) -> list[Cell]:
    """Cells to be made: those asked for and all that they need, each after what it needs.

    Args:
        corpus: of the recipe.
        stages: products asked for; none means all.
        partitions: keys asked for; none means all.

    Raises:
        RecipeError: there is no such product or partition.
    """
    products = list(stages) or corpus.products
    known = sorted({key for product in products for key in corpus.partitions(product)})
    for key in partitions:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=12, cutoff=0.3) or known[:12]
            shown = ", ".join(repr(k) for k in near) + (", …" if len(near) < len(known) else "")
            of = f" of {', '.join(stages)}" if stages else ""
            raise RecipeError(f"--partition {key!r}: no such partition{of}; take {shown or 'none: mixes is empty'}")
    todo = [(p, key) for p in products for key in corpus.partitions(p) if not partitions or key in partitions]
    wanted: set[Cell] = set()
    while todo:
        cell = todo.pop()
        if cell not in wanted:
            wanted.add(cell)
            todo += corpus.upstream(*cell)
    return [cell for cell in corpus.cells(products) if cell in wanted]


def runs(cells: Sequence[Cell]) -> Iterator[Run]:
    """Group cells into Dagster runs: coarse, since each run costs about half a second.

    Args:
        cells: as `targets` gives them.

    >>> [run.products for run in runs([("raw", "2026-10-01|web"), ("cleaned", "2026-10-01|web")])]
    [('raw', 'cleaned')]
    """
    early = max((i + 1 for i, (product, _) in enumerate(cells) if product in MODELS), default=0)
    before_all = set(cells[:early])  # models, and what they are trained on in any snapshot

    def wave(cell: Cell) -> tuple[str, int]:
        product, partition = cell
        if cell in before_all:
            return ("", int(product in MODELS))
        if product == "mixed":
            return ("~", 0)
        return (partition.split("|")[0], PRODUCTS.index(product) // PRODUCTS.index("duplicates"))

    for _, members in groupby(sorted(cells, key=wave), key=wave):
        by_partition: dict[str, list[str]] = {}
        for product, partition in members:
            by_partition.setdefault(partition, []).append(product)
        order = sorted(by_partition, key=lambda key: "|" in key)  # duplicates of the snapshot before what needs them
        for partition in order:
            yield Run(partition, tuple(by_partition[partition]))


def materialize(work: Work, todo: Sequence[Run], *, on_run: Callable[[Run], None] | None = None) -> None:
    """Make runs one after the other, each recorded in DAGSTER_HOME.

    Args:
        work: the runner.
        todo: in the order of work.
        on_run: told before each.

    Raises:
        BuildError: a run failed; the runs after it were not started.
        InterruptedBuildError: a signal to stop came.
    """
    with warnings.catch_warnings(), Interrupts() as interrupts:
        warnings.simplefilter("ignore")  # Dagster's own preview and beta notices
        with home.instance() as instance:
            job = definitions(work).resolve_implicit_global_asset_job_def()
            for run in todo:
                if on_run:
                    on_run(run)
                try:
                    result = _execute(job, run, instance)
                except (KeyboardInterrupt, dg.DagsterExecutionInterruptedError) as error:
                    raise InterruptedBuildError from error
                if interrupts.heard:
                    raise InterruptedBuildError
                if not result.success:
                    raise BuildError(_why(result, run.partition))


def _execute(job: dg.JobDefinition, run: Run, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    return job.execute_in_process(
        partition_key=None if run.partition == WHOLE and run.products[0] in MODELS else run.partition,
        asset_selection=[dg.AssetKey(p) for p in run.products],
        instance=instance,
        run_config=_QUIET,
        raise_on_error=False,
        tags={"dataassets/by": "build"},
    )


def _why(result: dg.ExecuteInProcessResult, partition: str) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data and data.user_failure_data.description:
                return str(data.user_failure_data.description)
            error = data.error
            while error and error.cause:
                error = error.cause
            said = error.message.strip() if error else "the step failed"
            return f"{event.step_key} {partition}: {said}; the run's log in `dataassets ui` shows where"
    return f"{partition}: the run failed before its first step; see the run in `dataassets ui`"
