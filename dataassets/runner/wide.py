"""A mix: planned from lengths and ids, then one exchange whose buckets are the shards."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.compute import Executor, exchange
from dataassets.recipe import Mix
from dataassets.report import Check
from dataassets.runner import checks
from dataassets.store import FileEntry, Job, Store, UnitRecord, split_key

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.mix import Picks, Plan, ShardPlan

OnDone = Callable[[int, object], None]


@dataclass(frozen=True)
class PartFile:
    """One committed upstream part: (product, partition, file)."""

    product: str
    partition: str
    entry: FileEntry

    @property
    def source(self) -> str:
        """Its source."""
        return split_key(self.partition)[1]


@dataclass(frozen=True)
class Mixed:
    """What a mix became: the records of its shards, its checks, the plan that they follow."""

    records: list[UnitRecord]
    checks: list[Check]
    plan: "Plan"


def mix_plan(store: Store, parts: list[PartFile], *, settings: Mix) -> "Plan":
    """Plan a mix exactly, from lengths and ids alone.

    Args:
        store: where parts lie.
        parts: `.bin` entries of `tokenized`, in document order.
        settings: of the mix.

    Returns:
        A stages.mix.Plan.
    """
    from dataassets.stages.mix import Available, plan

    available = []
    for p in parts:
        ids, lengths = store.read_lengths(p.partition, p.entry)
        available.append(Available(source=p.source, ids=ids, lengths=lengths))
    return plan(available, settings=settings)


def run_mix(
    store: Store,
    job: Job,
    parts: list[PartFile],
    *,
    settings: Mix,
    executor: Executor,
    on_done: OnDone,
    on_start: Callable[[int], None] | None = None,
) -> Mixed:
    """Write a mix: plan, then one exchange whose buckets are the shards.

    Args:
        store: where parts lie.
        job: the partition of `mixed`.
        parts: `.bin` entries of `tokenized`, in document order.
        settings: of the mix.
        executor: runs the exchange.
        on_done: told of each finished unit.
        on_start: told beforehand how many there are.
    """
    plan = mix_plan(store, parts, settings=settings)
    units = [(store, p, plan.picks(i)) for i, p in enumerate(parts)]
    stems = list(_stems(plan))
    records = exchange(
        units,
        _scatter,
        partial(_write_shard, store, job, stems),
        num_buckets=len(stems),
        executor=executor,
        folder=store.work_path(job, "exchange"),
        on_done=on_done,
        on_start=on_start,
        name=_named,
    )
    return Mixed(records, _mix_checks(store, plan, records), plan)


def _stems(plan: "Plan") -> Iterator[str]:
    numbers = {"train": 0, "val": 0}
    for shard in plan.shards:
        yield f"{shard.split}/shard_{numbers[shard.split]:05d}"
        numbers[shard.split] += 1


def _named(unit: tuple[Store, PartFile, "Picks"]) -> str:
    return f"{unit[1].product} {unit[1].partition} {unit[1].entry.name}"


def _scatter(unit: tuple[Store, PartFile, "Picks"]) -> pa.Table:
    from dataassets.stages.mix import scatter

    store, p, picks = unit
    return scatter(store.read_tokens(p.partition, p.entry), picks)


def _write_shard(store: Store, job: Job, stems: list[str], bucket: int, rows: pa.Table) -> UnitRecord:
    from dataassets.stages.mix import gather

    done = store.unit_record(job, bucket)
    if done is not None:
        return done
    tokens = gather(rows)
    files, digests = store.write_tokens(job, stems[bucket], tokens)
    lengths = pc.list_value_length(tokens.column("tokens"))
    num_tokens = int(pc.sum(lengths).as_py() or 0)
    split = stems[bucket].split("/")[0]
    counts = {"documents": len(tokens), "tokens": num_tokens, "bytes": files[0].bytes, f"{split}_tokens": num_tokens}
    by_source = pa.table({"source": tokens.column("source"), "tokens": lengths}).group_by("source")
    for row in by_source.aggregate([("tokens", "sum"), ("tokens", "count")]).sort_by("source").to_pylist():
        counts[f"tokens:{row['source']}"] = row["tokens_sum"]
        counts[f"documents:{row['source']}"] = row["tokens_count"]
    return store.finish_unit(job, bucket, UnitRecord(files=files, digests=digests, counts=counts))


def _mix_checks(store: Store, plan: "Plan", records: list[UnitRecord]) -> list[Check]:
    worst, holds = 0.0, True
    for source in plan.sources:
        off = abs(source.achieved - source.asked)
        worst = max(worst, off / source.asked)
        holds &= off <= max(checks.MIX_TOLERANCE * source.asked, source.longest)
    ids = {split: _ids(store, records, split) for split in ("train", "val")}
    shared = len(np.intersect1d(ids["train"], ids["val"]))
    bad = sum(not _reads_back(store, record, shard) for record, shard in zip(records, plan.shards, strict=True))
    results: dict[str, tuple[bool, dict[str, float]]] = {
        "mix_on_target": (holds, {"rate": worst, "limit": checks.MIX_TOLERANCE}),
        "train_val_disjoint": (shared == 0, {"shared": shared}),
        "checksums": (bad == 0, {"shards": len(records), "bad": bad}),
    }
    return checks.told("mixed", results)


def _ids(store: Store, records: list[UnitRecord], split: str) -> npt.NDArray[np.bytes_]:
    """Ids of all documents of a split, each once."""
    own = [record.files[2].name for record in records if record.files[0].name.split("/")[-2] == split]
    found = [np.empty(0, "V16"), *(store.read_ids(name) for name in own)]
    return np.unique(np.concatenate(found).view("S16"))


def _reads_back(store: Store, record: UnitRecord, shard: "ShardPlan") -> bool:
    """Whether a shard's bytes are those written, its index fits them, and both hold what was planned."""
    return store.shard_holds(record.files) == (shard.documents, shard.tokens)
