"""Duplicates of a snapshot, among all its documents and, where the recipe says so, those that earlier ones kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import records
from dataassets.compute import Executor, exchange
from dataassets.recipe import Dedup
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Check, Report
from dataassets.runner import checks
from dataassets.runner.wide import OnDone, PartFile
from dataassets.store import Job, Store, UnitRecord, name_beside, rows_of, split_key

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.dedup import Earlier, Found, Part

NUM_BUCKETS = 64  # of the dedup exchange: bounds memory, never changes the result

Result = TypeVar("Result")


@dataclass(frozen=True)
class Past:
    """An earlier snapshot: parts of its signatures, in document order, and files of the keys that it kept.

    Args:
        snapshot: its name.
        parts: of `signatures`.
        keys: names in the manifest of `duplicates`.
        digest: of `duplicates`.
    """

    snapshot: str
    parts: list[PartFile]
    keys: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class Look:
    """What is looked at: parts of the snapshot's signatures, in document order, and earlier snapshots, oldest first."""

    parts: list[PartFile]
    past: list[Past]


def run_duplicates(
    store: Store, job: Job, look: Look, *, settings: Dedup, executor: Executor, on_done: OnDone
) -> tuple[UnitRecord, list[Check]]:
    """Find the duplicates among all documents of a snapshot.

    Args:
        store: where parts lie.
        job: the partition of `duplicates`.
        look: the snapshot and those before it.
        settings: of the recipe.
        executor: runs the exchange and the verification.
        on_done: told of each finished unit.
    """
    from dataassets.stages.dedup import find_duplicates, kept_keys

    earlier, num_earlier = [], 0
    for past in look.past:
        earlier.append(_earlier(store, past, num_earlier))
        num_earlier += sum(p.entry.rows for p in past.parts)
    parts = _stage_parts(store, look.parts, num_earlier)

    def meet(name: str, *, keep: bool) -> "partial[list[Any]]":
        return partial(exchange, executor=executor, folder=store.work_path(job, name), on_done=on_done, keep=keep)

    def spread(work: Callable[[Any], Result], some: Sequence[Any]) -> list[Result]:
        return executor.map(work, some, on_done=on_done)

    found = find_duplicates(
        parts,
        settings=settings,
        exchange=meet("exchange", keep=True),
        spread=spread,
        num_buckets=NUM_BUCKETS,
        earlier=earlier,
    )
    table = found.table
    written = [store.write_part(job, 0, table)]
    if settings.scope == "history":
        write = partial(store.beside.write_keys, job)
        written += kept_keys(parts, found.gone, settings=settings, exchange=meet("kept", keep=False), write=write)
    num_documents = sum(p.entry.rows for p in look.parts)
    record = UnitRecord(
        files=tuple(entry for entry, _ in written),
        # the digest of the snapshot before stands for all before: whoever looks back at this one looks back at them
        digests=(*(digest for _, digest in written), *(past.digest for past in look.past[-1:])),
        counts={"documents_in": num_documents, "documents": num_documents - len(table), "duplicates": len(table)},
        dropped={r["values"]: r["counts"] for r in table.column("reason").value_counts().to_pylist()},
        report=found.report + _largest_groups(store, look, found),
    )
    return record, _checks(store, table, num_documents, look.past)


def _checks(store: Store, table: pa.Table, num_documents: int, past: Sequence[Past]) -> list[Check]:
    ids, matches = table.column("id"), table.column("match_id")
    gone = _num_in(matches, ids)
    for p in past:
        own = matches.filter(pc.equal(table.column("match_snapshot"), p.snapshot))
        if len(own):
            dropped = store.read_parts("duplicates", p.snapshot, columns=["id"])
            gone += sum(_num_in(own, found.column("id")) for found in dropped)
    share = len(table) / num_documents if num_documents else 0.0
    results: dict[str, tuple[bool, dict[str, float]]] = {
        "matches_are_kept": (gone == 0, {"dropped_matches": gone}),
        "dropped_once": (pc.count_distinct(ids).as_py() == len(ids), {"dropped": len(ids)}),
        "removal_share": (share <= checks.REMOVAL_LIMIT, {"rate": share, "limit": checks.REMOVAL_LIMIT}),
    }
    return checks.told("duplicates", results)


def _largest_groups(store: Store, look: Look, found: "Found") -> Report:
    """The kept documents that most others repeat, each with the first of these: a template shows itself here."""
    kept, first, num = np.unique(found.match, return_index=True, return_counts=True)
    rows = []
    for i in np.lexsort((kept, -num))[:SAMPLES_PER_REASON].tolist():
        document, repeated = (_text(store, look, int(at)) for at in (kept[i], found.gone[first[i]]))
        row = found.table.slice(int(first[i]), 1).to_pylist()[0]
        rows.append(
            {
                "id": row["match_id"].hex(),
                "source": row["match_source"],
                "documents": int(num[i]) + 1,
                "url": document["url"],
                "snippet": document["text"][:SAMPLE_CHARS],
                "repeated_by": row["id"].hex(),
                "similarity": round(row["similarity"], 4),
                "repeated_as": repeated["text"][:SAMPLE_CHARS],
            }
        )
    return Report({"groups:largest": int(num.max()) + 1}, {}, {"groups:largest": rows}) if rows else Report()


def _text(store: Store, look: Look, position: int) -> dict[str, Any]:
    """Url and text of a document; parts of `filtered` are those of `signatures`, row by row."""
    parts = [*(p for past in look.past for p in past.parts), *look.parts]
    ends = np.cumsum([p.entry.rows for p in parts])
    number = int(np.searchsorted(ends, position, side="right"))
    partition, row = parts[number].partition, position - int(ends[number]) + parts[number].entry.rows
    nth = sum(p.partition == partition for p in parts[:number])
    manifest = store.manifest("filtered", partition)
    assert manifest is not None, "causes were looked up"
    name = rows_of(manifest)[nth].name
    found: dict[str, Any] = store.read_rows(
        "filtered", partition, name, rows=[row], columns=["url", "text"]
    ).to_pylist()[0]
    return found


def _num_in(values: pa.ChunkedArray, among: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.is_in(values, value_set=among.combine_chunks())).as_py() or 0)


def _earlier(store: Store, past: Past, first: int) -> "Earlier":
    from dataassets.stages.dedup import Earlier

    return Earlier(_stage_parts(store, past.parts, first), first, partial(_kept, store, past.snapshot, past.keys))


def _kept(store: Store, snapshot: str, keys: Sequence[str], low: int, high: int) -> pa.Table:
    """Keys of a snapshot in a range; none where it has no documents."""
    found = [store.beside.read_keys("duplicates", snapshot, name, low, high) for name in keys]
    return pa.concat_tables([records.KEYS.empty_table(), *found])


def _stage_parts(store: Store, parts: Sequence[PartFile], first: int) -> list["Part"]:
    """Parts of the signatures of a snapshot as the stage takes them."""
    from dataassets.stages.dedup import Part

    made = []
    firsts = first + np.cumsum([0, *(p.entry.rows for p in parts)])
    for p, at in zip(parts, firsts.tolist(), strict=False):
        snapshot, source = split_key(p.partition)
        made.append(
            Part(
                load=partial(store.read_part, p.product, p.partition, p.entry.name),
                source=source,
                first=at,
                rows=p.entry.rows,
                snapshot=snapshot,
                shingles=partial(
                    store.beside.read_spans, p.product, p.partition, name_beside(p.entry.name, "shingles")
                ),
            )
        )
    return made
