"""One partition of one product, without an orchestrator: skip what is done, do the rest, check, then commit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dataassets.compute import Executor
from dataassets.recipe import Located, Recipe, RecipeError
from dataassets.report import Check, Report
from dataassets.runner import checks
from dataassets.runner.causes import Ledger
from dataassets.runner.corpus import Corpus
from dataassets.runner.duplicates import Look, run_duplicates
from dataassets.runner.limits import language_drift
from dataassets.runner.models import RUNS
from dataassets.runner.parts import Parts
from dataassets.runner.units import run_unit
from dataassets.runner.wide import mix_plan, run_mix
from dataassets.store import (
    MODELS,
    Causes,
    Job,
    Manifest,
    Store,
    UnitRecord,
    partition_key,
    split_key,
)

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.mix import Plan


class ChecksFailedError(ValueError):
    """A blocking check failed; nothing was committed."""

    def __init__(self, message: str, done: "Done") -> None:
        super().__init__(message)
        self.done = done


@dataclass(frozen=True)
class Done:
    """What became of one partition.

    Args:
        manifest: committed, or, after a failed blocking check, what would have been.
        folder: full path of the product's folder.
        skipped: an equal product was there.
        seconds: wall time of the work.
        compared: results of the checks beside other partitions, as of now.
    """

    manifest: Manifest
    folder: str
    skipped: bool
    seconds: float
    compared: tuple[Check, ...] = ()

    @property
    def checks(self) -> list[Check]:
        """Results of the checks: those stored with the product, then those beside other partitions."""
        return [*(Check.from_json(c) for c in self.manifest.checks), *self.compared]

    @property
    def report(self) -> Report:
        """Histograms, counters and samples."""
        return Report.from_json(self.manifest.report or Report().to_json())


@dataclass(frozen=True)
class Progress:
    """One tick of a partition's work.

    Args:
        product: in the making.
        partition: its key.
        done: finished units.
        units: all units.
        seconds: since its start.
        bytes: of text, done so far.
    """

    product: str
    partition: str
    done: int
    units: int
    seconds: float
    bytes: int

    @property
    def told(self) -> str:
        """Units, rate, and the time that the rest will take at the pace so far.

        >>> Progress("filtered", "2026-10-01|web", done=2, units=10, seconds=4.0, bytes=8_000_000).told
        'unit 2 of 10, 2.0 MB/s, 16 s left'
        """
        rate = f", {self.bytes / 1e6 / self.seconds:.1f} MB/s" if self.bytes and self.seconds else ""
        left = f", {self.seconds / self.done * (self.units - self.done):.0f} s left" if self.units else ""
        return f"unit {self.done} of {self.units or '?'}{rate}{left}"


Listener = Callable[[Progress], None]


class Work:
    """Makes partitions of products.

    Args:
        located: the recipe.
        executor: runs units; None for the recipe's own.
        listener: told of progress.
        on_done: told of each partition at its end, also where a blocking check failed.
    """

    def __init__(
        self,
        located: Located,
        *,
        executor: Executor | None = None,
        listener: Listener | None = None,
        on_done: Callable[[Done], None] | None = None,
    ) -> None:
        compute = located.recipe.compute
        self.corpus = Corpus.of(located)
        self.store = Store.at(located.root)
        self.ledger = Ledger(self.corpus, self.store)
        self.parts = Parts(self.corpus, self.store)
        self.executor = executor or Executor(compute.executor, workers=compute.workers, address=compute.address)
        self.listener = listener
        self.on_done = on_done or (lambda _done: None)

    @property
    def recipe(self) -> Recipe:
        """The recipe."""
        return self.corpus.located.recipe

    def run(self, product: str, partition: str, *, listener: Listener | None = None) -> Done:
        """Make one partition, or find that an equal one is there.

        Args:
            product: one of store.EVERY.
            partition: its key.
            listener: told of progress, beside the one of this object.

        Raises:
            RecipeError: the recipe names a partition, path or mix that cannot be.
            UpstreamError: an upstream partition is absent or stale.
            ChecksFailedError: a blocking check failed; nothing was committed.
        """
        self.ledger.refuse_unknown(product, partition)
        start = time.perf_counter()
        if product == "raw":
            files = self.ledger.input_files(partition)
            causes = self.ledger.causes_of_raw(partition, files)
        else:
            files, causes = [], self.ledger.causes(product, partition)
        job = causes.job(product, partition)
        old = self.store.manifest(product, partition)
        if old is not None and old.key == job.key and self.store.is_whole(product, partition, old):
            self.store.tidy(old)
            done = self._done(old, start, skipped=True)
            self.on_done(done)
            return done
        manifest = self._make(job, causes, files, _Teller([x for x in (self.listener, listener) if x], job))
        done = self._done(manifest, start, skipped=False)
        self.on_done(done)
        if failed := [c.name for c in done.checks if c.blocking and not c.passed]:
            kept = self.store.keep_failure(manifest)
            raise ChecksFailedError(
                f"{product} {partition}: blocking check {', '.join(failed)} failed; nothing was committed; "
                f"the report is {kept}",
                done,
            )
        self.store.commit(manifest)
        return done

    def _make(self, job: Job, causes: Causes, files: Sequence[Any], tell: "_Teller") -> Manifest:
        """Do the work of one partition; the manifest is composed, not committed."""
        if self.store.files.is_local:
            self.executor.check_shared(self.store.work_root)
        if job.product == "duplicates":
            look = Look(
                self.parts.signed(job.partition),
                [self.parts.past(s) for s in self.corpus.looked_back_at(job.partition)],
            )
            record, found = run_duplicates(
                self.store, job, look, settings=self.recipe.dedup, executor=self.executor, on_done=tell
            )
            return self.store.compose(job, causes, [record], counts={}, checks=found)
        if job.product == "mixed":
            return self._mix(job, causes, tell)
        if job.product in MODELS:
            return self._model(job, causes, tell)
        units = self.parts.raw_units(job, files) if job.product == "raw" else self.parts.units(job)
        tell.expect(len(units))
        records = self.executor.map(run_unit, units, on_done=tell, name=str)
        return self._composed(job, causes, records)

    def plan(self, mix: str) -> "Plan":
        """Plan a mix from the tokenized partitions that are there, writing nothing.

        Raises:
            UpstreamError: a tokenized partition is absent or stale.
        """
        self.ledger.refuse_unknown("mixed", mix)
        self.ledger.causes("mixed", mix)
        return mix_plan(self.store, self.parts.tokens(mix), settings=self.recipe.mixes[mix])

    def validate(self) -> None:
        """Find mistakes that only the data can show, before any work.

        Raises:
            RecipeError: a pattern matches no file in any snapshot; a mix or a model names no snapshot that there is; a
                program that a model wants is not here.
        """
        from dataassets.stages.filter import programs
        from dataassets.stages.read import list_files

        for mix in self.recipe.mixes:
            self.corpus.mix_snapshots(mix)
        for model in MODELS:
            self.corpus.needed(self.corpus.partitions(model) and [model])
        if self.recipe.perplexity_model is not None:
            programs()
        located = self.corpus.located
        for name, source in self.recipe.sources.items():
            for i, path in enumerate(source.paths):
                pattern = located.resolve(path)
                snapshots = self.corpus.snapshots if "{snapshot}" in path else self.corpus.snapshots[:1]
                if not any(list_files([pattern], snapshot=s) for s in snapshots):
                    tried = f" in any snapshot from {snapshots[0]} to {snapshots[-1]}" if "{snapshot}" in path else ""
                    raise RecipeError(
                        f"{located.file}: sources.{name}.paths.{i} = {path!r} matches no file{tried}; "
                        f"looked at {pattern}; mend the pattern or put the files there"
                    )

    def _composed(self, job: Job, causes: Causes, records: list[UnitRecord]) -> Manifest:
        zero = {"documents_in": 0, "documents": 0, "bytes_in": 0, "bytes": 0}
        counts = zero | ({"tokens": 0} if job.product == "tokenized" else {}) if not records else {}
        shard_format = self._shard_format() if job.product == "tokenized" else None
        manifest = self.store.compose(job, causes, records, counts=counts, checks=[], shard_format=shard_format)
        numbers = _numbers(records)
        snapshot, source = split_key(job.partition)
        if job.product == "raw":
            ids = [self.store.read_ids(e.name) for record in records for e in record.files]
            found = np.concatenate([np.empty(0, "V16"), *ids]).view("S16")
            numbers["repeated_ids"] = len(found) - len(np.unique(found))
        if job.product == "deduped":
            numbers["duplicates"] = self._listed_duplicates(snapshot, source)
        bad = self.recipe.sources[source].max_bad
        blocks = bad.block and job.product == "raw"
        limits = self.recipe.checks_of(source)
        results = checks.compute(manifest, numbers, max_bad=bad.fraction, bad_blocks=blocks, limits=limits)
        return replace(manifest, checks=[c.to_json() for c in results])

    def _model(self, job: Job, causes: Causes, tell: "_Teller") -> Manifest:
        parts = self.parts.of("cleaned", self.corpus.upstream(job.product, job.partition))
        settings = getattr(self.recipe, job.product)
        made = RUNS[job.product](self.store, job, parts, settings=settings, executor=self.executor, on_done=tell)
        return self.store.compose(job, causes, [made.record], counts={}, checks=made.checks, shard_format=made.facts)

    def _mix(self, job: Job, causes: Causes, tell: "_Teller") -> Manifest:
        parts = self.parts.tokens(job.partition)
        settings = self.recipe.mixes[job.partition]
        mixed = run_mix(
            self.store,
            job,
            parts,
            settings=settings,
            executor=self.executor,
            on_done=tell,
            on_start=tell.expect,
        )
        shard_format = self._shard_format() | {
            "sources": {
                s.source: {
                    "documents": s.train_documents + s.val_documents,
                    "tokens": s.achieved,
                    "asked": s.asked,
                    "epochs": s.epochs,
                }
                for s in mixed.plan.sources
            }
        }
        return self.store.compose(job, causes, mixed.records, counts={}, checks=mixed.checks, shard_format=shard_format)

    def _shard_format(self) -> dict[str, Any]:
        from dataassets.stages.tokenize import vocabulary

        v = vocabulary(self.recipe.tokenize)
        return {
            "dtype": str(v.dtype),
            "tokenizer": v.name,
            "tokenizer_sha256": v.sha256,
            "vocab_size": v.size,
            "eot": v.eot,
        }

    def _listed_duplicates(self, snapshot: str, source: str) -> int:
        tables = self.store.read_parts("duplicates", snapshot, columns=["source"])
        return sum(table.column("source").to_pylist().count(source) for table in tables)

    def _done(self, manifest: Manifest, start: float, *, skipped: bool) -> Done:
        job = Job(manifest.product, manifest.partition, manifest.key)
        compared = self._compared(manifest)
        return Done(manifest, self.store.files.path(job.folder), skipped, time.perf_counter() - start, compared)

    def _compared(self, manifest: Manifest) -> tuple[Check, ...]:
        """Checks beside other partitions, whatever of these is there."""
        if manifest.product != "filtered":
            return ()
        limits = self.recipe.checks_of(split_key(manifest.partition)[1]).language_drift
        snapshot, before = self._before(manifest)
        return (language_drift(manifest, before, snapshot=snapshot, limits=limits),)

    def _before(self, manifest: Manifest) -> tuple[str, Manifest | None]:
        """The last snapshot before with documents of the same source; the first one missing ends the search."""
        snapshot, source = split_key(manifest.partition)
        earlier = self.corpus.snapshots[: self.corpus.snapshots.index(snapshot)]
        for name in reversed(earlier if manifest.counts["documents_in"] else []):
            found = self.store.manifest(manifest.product, partition_key(name, source))
            if found is None or found.counts["documents_in"]:
                return name, found
        return "", None


class _Teller:
    """Counts finished units and tells listeners."""

    def __init__(self, listeners: list[Listener], job: Job) -> None:
        self._listeners, self._job = listeners, job
        self._start = time.perf_counter()
        self._done = self._bytes = self._units = 0

    def expect(self, units: int) -> None:
        """So many are to come."""
        self._units += units

    def __call__(self, _index: int, result: object) -> None:
        self._done += 1
        if isinstance(result, UnitRecord):
            self._bytes += result.counts.get("bytes_in", 0) or result.counts.get("bytes", 0)
        seconds = time.perf_counter() - self._start
        for listener in self._listeners:
            listener(Progress(self._job.product, self._job.partition, self._done, self._units, seconds, self._bytes))


def _numbers(records: Sequence[UnitRecord]) -> dict[str, float]:
    """Sums over units; the largest of what is a bound."""
    out: dict[str, float] = {}
    for record in records:
        for name, n in record.numbers.items():
            out[name] = max(out.get(name, 0), n) if name in ("largest_id", "vocabulary") else out.get(name, 0) + n
    return out
