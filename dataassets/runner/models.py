"""Models that the graph trains: which documents, one training, its checks; and where a stage finds them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dataassets.compute import Executor, exchange
from dataassets.recipe import Filter, PerplexityModel, QualityModel
from dataassets.recipe.base import FilePath
from dataassets.report import Check
from dataassets.runner import checks
from dataassets.runner.wide import OnDone, PartFile
from dataassets.store import FileEntry, Job, Store, UnitRecord

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.filter import Estimated, Examples, Trained

TRAINED_BY = {"perplexity": "perplexity_model", "quality": "quality_model"}  # rule -> product


def models_of(filters: Filter) -> list[str]:
    """Products that the filter of a source asks, in a fixed order.

    Args:
        filters: its settings.

    >>> from dataassets.recipe import Quality
    >>> models_of(Filter()), models_of(Filter(quality=Quality()))
    ([], ['quality_model'])
    """
    every = [filters, *filters.languages.values()]
    asked = {product: [getattr(own, rule) for own in every] for rule, product in TRAINED_BY.items()}
    return [product for product, found in asked.items() if any(own and own.model is None for own in found)]


def with_models(filters: Filter, models: Mapping[str, FileEntry], *, store: Store) -> Filter:
    """The settings with the files of trained models in them, local to this machine.

    Args:
        filters: of a source.
        models: by product, its file; the name is relative to the root.
        store: where they lie.
    """
    if not models:
        return filters
    named: dict[str, Any] = {
        rule: getattr(filters, rule).model_copy(update={"model": FilePath(store.local_copy(models[product]))})
        for rule, product in TRAINED_BY.items()
        if product in models and getattr(filters, rule) and getattr(filters, rule).model is None
    }
    named["languages"] = {code: with_models(own, models, store=store) for code, own in filters.languages.items()}
    return filters.model_copy(update=named)


@dataclass(frozen=True)
class Model:
    """A trained model: its record, its checks, what people ask of it."""

    record: UnitRecord
    checks: list[Check]
    facts: dict[str, Any]


def run_quality_model(
    store: Store, job: Job, parts: Sequence[PartFile], *, settings: QualityModel, executor: Executor, on_done: OnDone
) -> Model:
    """Train the quality classifier.

    Args:
        store: where parts lie.
        job: the product.
        parts: of `cleaned`, of the sources that the settings name.
        settings: of the recipe.
        executor: runs the exchange, and the training in one worker.
        on_done: told of each finished unit.
    """
    from dataassets.stages.filter import NUM_BUCKETS, choose

    folder = store.work_path(job, "training")
    ids = [store.read_ids(f"{store.folder(p.product, p.partition)}/{p.entry.name}") for p in parts]
    chosen = choose(ids, [p.source in settings.positive for p in parts], settings=settings)
    examples = exchange(
        [(store, p, own) for p, own in zip(parts, chosen, strict=True) if len(own.rows)],
        _scatter,
        partial(_bucket, folder),
        num_buckets=NUM_BUCKETS,
        executor=executor,
        folder=store.work_path(job, "exchange"),
        on_done=on_done,
    )
    (done,) = executor.map(partial(_train, settings, folder), [examples])
    counts = {
        "documents_in": sum(p.entry.rows for p in parts),
        "documents": sum(done.counts.values()),
        "bytes": done.model.stat().st_size if done.model else 0,
    }
    entries = (store.write_model(job, done.model, rows=counts["documents"]),) if done.model else ()
    record = UnitRecord(
        files=entries, digests=tuple(e.sha256 for e in entries), counts=counts | dict(done.counts), report=done.report
    )
    auc = done.facts.get("auc", 0.0)
    results: dict[str, tuple[bool, dict[str, float]]] = {
        "enough_examples": (done.model is not None, dict(done.counts)),
        "auc": (auc >= checks.AUC_FLOOR, {"rate": auc, "limit": checks.AUC_FLOOR}),
    }
    return Model(record, checks.told("quality_model", results), dict(done.facts))


def _scatter(unit: "tuple[Store, PartFile, Examples]") -> pa.Table:
    store, p, own = unit
    return own.table(store.read_part(p.product, p.partition, p.entry.name, columns=["id", "text"]))


def _bucket(folder: str, bucket: int, rows: pa.Table) -> Path:
    """Keep a bucket in a file: all of them together may not fit in memory."""
    path = Path(folder) / f"examples-{bucket:05d}.arrow"
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    return path


def _train(settings: QualityModel, folder: str, buckets: Sequence[Path]) -> "Trained":
    from dataassets.stages.filter import train_quality

    return train_quality(map(_opened, buckets), settings=settings, folder=Path(folder))


def _opened(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def run_perplexity_model(
    store: Store, job: Job, parts: Sequence[PartFile], *, settings: PerplexityModel, executor: Executor, on_done: OnDone
) -> Model:
    """Estimate the language model.

    Args:
        store: where parts lie.
        job: the product.
        parts: of `cleaned`, of the sources that the settings name.
        settings: of the recipe.
        executor: writes the lines of each part; one worker runs KenLM.
        on_done: told of each finished unit.
    """
    folder = Path(store.work_path(job, "training"))
    folder.mkdir(parents=True, exist_ok=True)
    units = [(store, p, folder / f"lines-{i:05d}.txt") for i, p in enumerate(parts)]
    sizes = executor.map(_lines, units, on_done=on_done)
    (done,) = executor.map(partial(_estimate, settings, folder), [[path for _, _, path in units]])
    num_documents = sum(p.entry.rows for p in parts)
    counts = {
        "documents_in": num_documents,
        "documents": num_documents,
        "bytes": done.model.stat().st_size if done.model else 0,
        "lines": sum(lines for lines, _ in sizes),
        "words": sum(words for _, words in sizes),
    } | {f"grams:{n}": count for n, count in enumerate(done.grams, 1)}
    entries = (store.write_model(job, done.model, rows=num_documents),) if done.model else ()
    record = UnitRecord(files=entries, digests=tuple(e.sha256 for e in entries), counts=counts)
    wanted = {"found": float(len(done.grams)), "wanted": float(settings.order)}
    results: dict[str, tuple[bool, dict[str, float]]] = {
        "order": (len(done.grams) == settings.order, wanted),
        "enough_text": (
            counts["words"] >= checks.FEWEST_WORDS,
            {"words": counts["words"], "limit": checks.FEWEST_WORDS},
        ),
    }
    return Model(record, checks.told("perplexity_model", results), {"order": settings.order})


def _lines(unit: tuple[Store, PartFile, Path]) -> tuple[int, int]:
    from dataassets.stages.filter import write_lines

    store, p, path = unit
    return write_lines(store.read_part(p.product, p.partition, p.entry.name, columns=["text"]).column("text"), path)


def _estimate(settings: PerplexityModel, folder: Path, files: list[Path]) -> "Estimated":
    from dataassets.stages.filter import estimate

    return estimate(files, settings=settings, folder=folder)


RUNS: Mapping[str, Callable[..., Model]] = {
    "quality_model": run_quality_model,
    "perplexity_model": run_perplexity_model,
}
