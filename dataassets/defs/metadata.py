"""What a finished partition tells Dagster: a few numbers, a table of reasons, one plot, samples, a link."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from dataassets.compute import ComputeError
from dataassets.defs import pictures
from dataassets.recipe import RecipeError
from dataassets.runner import PROMISES, ChecksFailedError, Done, Progress, UpstreamError, Work
from dataassets.runner.limits import filter_of
from dataassets.store import MODELS, WHOLE

Told = Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]


def specs_of(product: str, partitions_def: dg.PartitionsDefinition[Any] | None) -> list[dg.AssetCheckSpec]:
    """The checks of an asset, as Dagster lists them before any run; partitioned checks are wrapped here alone.

    Args:
        product: name of the asset.
        partitions_def: of the asset; None where it has no partitions.
    """
    return [
        dg.AssetCheckSpec(
            p.name, asset=product, blocking=p.blocking, description=p.description, partitions_def=partitions_def
        )
        for p in PROMISES[product]
    ]


def materialize(context: dg.AssetExecutionContext, work: Work, product: str) -> Told:
    """Let the runner make each partition of a run, and tell Dagster.

    Args:
        context: of the asset.
        work: the runner.
        product: name of the asset.

    Raises:
        dg.Failure: a blocking check failed or an upstream partition is missing; nothing was committed.
    """
    for key in [WHOLE] if product in MODELS else context.partition_keys:
        partition = str(key)

        def log(p: Progress) -> None:
            context.log.info(f"{p.product} {p.partition}: {p.told}")

        try:
            done = work.run(product, partition, listener=log)
        except ChecksFailedError as error:
            yield from _checks(error.done)
            raise dg.Failure(str(error), metadata=_numbers(error.done), allow_retries=False) from None
        except (UpstreamError, RecipeError, ComputeError) as error:
            raise dg.Failure(str(error), allow_retries=False) from None
        yield from tell_dagster(done)


def tell_dagster(done: Done) -> Told:
    """Results of the checks, then the materialization with its numbers.

    Args:
        done: by the runner.
    """
    yield from _checks(done)
    yield dg.MaterializeResult(metadata=_metadata(done), data_version=dg.DataVersion(done.manifest.digest))


def _checks(done: Done) -> Iterator[dg.AssetCheckResult]:
    for check in done.checks:
        yield dg.AssetCheckResult(
            asset_key=done.manifest.product,
            check_name=check.name,
            passed=check.passed,
            severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
            metadata={name: dg.MetadataValue.float(value) for name, value in check.numbers.items()},
            description=check.note,
        )


def _metadata(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    told = _numbers(done)
    for name, markdown in pictures.of_product(done.manifest, done.report).items():
        told[name] = dg.MetadataValue.md(markdown)
    if done.manifest.dropped:
        told["dropped"] = _reasons(done)
    told |= _mix_table(done) | _worth(done) | _by_source(done)
    told["manifest"] = _link(f"{done.folder}/manifest.json")
    return told | _samples(done)


def _numbers(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    """The few numbers that stand first."""
    manifest, counts = done.manifest, done.manifest.counts
    told: dict[str, dg.MetadataValue[Any]] = {"dagster/row_count": dg.MetadataValue.int(counts.get("documents", 0))}
    for name in ("documents_in", "bytes", "tokens", "train_tokens", "val_tokens"):
        if name in counts:
            told[name] = dg.MetadataValue.int(counts[name])
    if manifest.dropped:
        told["dropped_documents"] = dg.MetadataValue.int(sum(manifest.dropped.values()))
    told["files"] = dg.MetadataValue.int(len(manifest.files))
    size = counts.get("bytes_in", 0) or counts.get("bytes", 0)
    if not done.skipped and done.seconds > 0:
        told["mb_per_s"] = dg.MetadataValue.float(round(size / 1e6 / done.seconds, 2))
        told["seconds"] = dg.MetadataValue.float(round(done.seconds, 3))
    told["reused"] = dg.MetadataValue.bool(done.skipped)
    return told


def _reasons(done: Done) -> dg.MetadataValue[Any]:
    total = done.manifest.counts.get("documents_in", 0)
    ranked = sorted(done.manifest.dropped.items(), key=lambda item: (-item[1], item[0]))
    return _table([{"reason": r, "documents": n, "share": round(n / total, 4)} for r, n in ranked])


def _samples(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    """For each rule, under its name, what it dropped: Dagster folds whole entries alone, and long names hide values.

    Of each document what was measured and the limit, the beginning of the text, url and id.
    """
    counts, by_rule = {**done.report.counts, **done.manifest.dropped}, dict[str, list[str]]()
    for reason in sorted(done.report.samples, key=lambda r: (-counts.get(r, 0), r)):
        by_rule.setdefault(reason.partition(":")[0], []).append(reason)
    on = filter_of(done.manifest).on if done.manifest.product == "filtered" else []
    judging = {rule: at for at, rule in enumerate(on)}
    told: dict[str, dg.MetadataValue[Any]] = {}
    for rule in sorted(by_rule, key=lambda rule: (judging.get(rule, len(judging)), rule)):
        lines = []
        for reason in by_rule[rule]:
            lines.append(f"\n**{reason}**: {counts.get(reason, 0):,}\n")
            lines += map(_sample, done.report.samples[reason])
        told[rule] = dg.MetadataValue.md("\n".join(lines))
    return told


def _sample(row: Mapping[str, Any]) -> str:
    """One document that was dropped: the quantity that decided, under its name, and what else is told of it."""
    aside = ("snippet", "id", "url", "signal")
    told = {str(row.get("signal", k)) if k == "value" else k: row[k] for k in row if k not in aside}
    numbers = ", ".join(f"{_cell(k)} {_cell(x)}" for k, x in told.items() if x is not None)
    snippet = f": {_cell(str(row['snippet'])[:160])}" if row.get("snippet") else ""
    return f"- {numbers}{snippet}  \n  {row.get('url') or ''} `{row.get('id', '')}`"


def _mix_table(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    sources = (done.manifest.format or {}).get("sources")
    if not sources:
        return {}
    rows = [{"source": name, **numbers} for name, numbers in sources.items()]
    return {"mix": dg.MetadataValue.md(_markdown(rows))}


def _worth(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    """Of a classifier: AUC, and what each threshold would keep."""
    facts = done.manifest.format or {}
    if "auc" not in facts:
        return {}
    rows = [{name: "–" if x is None else round(x, 4) for name, x in row.items()} for row in facts["thresholds"]]
    return {"auc": dg.MetadataValue.float(facts["auc"]), "held_out": dg.MetadataValue.md(_markdown(rows))}


def _by_source(done: Done) -> dict[str, dg.MetadataValue[Any]]:
    """What dedup removes of each source."""
    counts = done.report.counts
    names = [name.removeprefix("documents:") for name in counts if name.startswith("documents:")]
    if done.manifest.product != "duplicates" or not names:
        return {}
    rows = [
        {"source": name, "documents": n, "removed": gone, "share": round(gone / n, 4) if n else 0.0}
        for name, n, gone in ((x, counts[f"documents:{x}"], counts.get(f"dropped:{x}", 0)) for x in names)
    ]
    return {"removed_by_source": _table(rows)}


def _table(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue[Any]:
    return dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows])


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table of plain rows; long texts on one line, bars escaped."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = ", ".join(map(str, value)) if isinstance(value, list) else text
    return re.sub(r"([\\`*_\[\]|<>#])", r"\\\1", " ".join(text.split()))


def _link(path: str) -> dg.MetadataValue[Any]:
    return dg.MetadataValue.url(path) if "://" in path else dg.MetadataValue.path(Path(path))
