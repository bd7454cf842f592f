"""Parts of signatures to duplicates: candidates, verification, and the rule, one snapshot after the other.

The rule (DESIGN §6): a document is dropped iff an earlier kept document is a verified duplicate of it. So every match
is a kept document, the first of a group always stays, and nothing depends on cut, buckets, workers or arrival order.
Earlier snapshots are looked back at through the keys of the documents that they kept; later ones change nothing there.
With `cluster`, all but one document of each connected component goes instead.
Only pairs and compact arrays of the documents in pairs are held in memory.

Shapes: P pairs, N documents in pairs.
"""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import records
from dataassets.recipe import Dedup
from dataassets.report import SAMPLES_PER_REASON, Histogram, Report
from dataassets.stages.dedup.candidates import PAIRS, gather, scatter, unique_pairs
from dataassets.stages.dedup.choosing import Pairs, all_but_one, repeating_a_kept_one
from dataassets.stages.dedup.documents import Documents, documents_at
from dataassets.stages.dedup.part import Earlier, Exchange, Ints, Part, Spread
from dataassets.stages.dedup.verifying import similarities

EXACT, NEAR = "exact:duplicate", "minhash:near_duplicate"
GROUP_EDGES = (2.0, 3.0, 4.0, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 1e9)
SIMILARITY_EDGES = tuple(k / 20 for k in range(21))


class Found(NamedTuple):
    """What `find_duplicates` gives.

    Args:
        table: records.DUPLICATES, in document order.
        report: numbers, plots, samples.
        gone: int64, rising positions of the documents in the table.
        match: int64, positions of the kept ones that they repeat.
    """

    table: pa.Table
    report: Report
    gone: Ints
    match: Ints


def find_duplicates(
    parts: Sequence[Part],
    *,
    settings: Dedup,
    exchange: Exchange,
    spread: Spread,
    num_buckets: int,
    earlier: Sequence[Earlier] = (),
) -> Found:
    """Find the documents of a snapshot that repeat an earlier kept one.

    Args:
        parts: of all sources, in document order; a source without exact or MinHash has null columns.
        settings: the recipe's; scope `partition` compares within a source only.
        exchange: brings rows of one bucket together.
        spread: verifies blocks of pairs.
        num_buckets: how many buckets; memory of one is about 1 / num_buckets of all band keys.
        earlier: snapshots to look back at, oldest first; all their documents stand before these.

    Returns:
        Table, report and positions; the report has counts of `documents`, `documents:<source>`, `pairs:exact`,
        `pairs:candidate` (by MinHash), `pairs:verified`, `dropped:<source>` and, with earlier snapshots,
        `matches:earlier_snapshots`; histograms of `group_size` (the kept document counts) and of `similarity` (all
        candidate pairs, the threshold as limit); samples by reason.
    """
    every = [*itertools.chain.from_iterable(e.parts for e in earlier), *parts]
    assert all(a.first + a.rows <= b.first for a, b in itertools.pairwise(every)), "parts in document order"
    own = parts[0].first if parts else 0
    cut = functools.partial(scatter, settings=settings, num_buckets=num_buckets)
    look_back = [replace(e, parts=()) for e in earlier]  # travels to each bucket's worker
    pick = functools.partial(gather, num_buckets=num_buckets, own=own, earlier=look_back)
    found = exchange(parts, cut, pick, num_buckets=num_buckets)
    met = unique_pairs(pa.concat_tables([PAIRS.empty_table(), *found]))
    later, before, exact = (np.asarray(met[name]) for name in PAIRS.names)
    docs = documents_at(np.union1d(later, before), every, settings=settings)
    later, before = np.searchsorted(docs.position, later), np.searchsorted(docs.position, before)
    measure = functools.partial(similarities, docs, parts=every, settings=settings, spread=spread)
    similarity = np.ones(len(later))
    similarity[~exact] = measure(later[~exact], before[~exact])
    pairs = Pairs(later, before, exact, similarity).take(exact | _verified(similarity, settings=settings))
    if settings.cluster is None:
        gone = repeating_a_kept_one(pairs, num_docs=len(docs.position))
    else:
        gone = all_but_one(pairs, docs, own=own, keep=settings.cluster, measure=measure)
    table = _table(docs, every, gone)
    counts = {"documents": sum(part.rows for part in parts)}
    for part in parts:
        counts[f"documents:{part.source}"] = counts.get(f"documents:{part.source}", 0) + part.rows
    counts |= {
        "pairs:exact": int(exact.sum()),
        "pairs:candidate": int((~exact).sum()),
        "pairs:verified": int((~pairs.exact).sum()),
    }
    if earlier:
        counts["matches:earlier_snapshots"] = int((docs.position[gone.earlier] < own).sum())
    limits = [settings.minhash.threshold] if settings.minhash else []
    plots = {"similarity": Histogram.of(similarity[~exact], edges=SIMILARITY_EDGES, limits=limits)}
    report = Report(counts, plots) + _told(table)
    return Found(table, report, docs.position[gone.later], docs.position[gone.earlier])


def _verified(similarity: npt.NDArray[np.float64], *, settings: Dedup) -> npt.NDArray[np.bool_]:
    if settings.minhash is None or settings.minhash.verify == "none":
        return np.ones(len(similarity), bool)
    return similarity >= settings.minhash.threshold


def _table(docs: Documents, parts: Sequence[Part], gone: Pairs) -> pa.Table:
    sources = np.array([part.source for part in parts], object)
    snapshots = np.array([part.snapshot for part in parts], object)
    columns = [
        _ids(docs.id[gone.later]),
        pa.array(sources[docs.part[gone.later]], pa.string()),
        _ids(docs.id[gone.earlier]),
        pa.array(sources[docs.part[gone.earlier]], pa.string()),
        pa.array(gone.similarity.astype(np.float32)),
        pa.array(np.where(gone.exact, EXACT, NEAR).astype(object), pa.string()),
        pa.array(snapshots[docs.part[gone.earlier]], pa.string()),
    ]
    return pa.table(columns, schema=records.DUPLICATES)


def _ids(id_N16: npt.NDArray[np.uint8]) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(16), len(id_N16), [None, pa.py_buffer(np.ascontiguousarray(id_N16))])


def _told(duplicates: pa.Table) -> Report:
    """Counts per source, sizes of groups, first samples of each reason."""
    sources = duplicates["source"].value_counts().to_pylist()
    groups = duplicates["match_id"].value_counts()
    sizes = np.asarray(groups.field("counts")) + 1
    samples = {}
    for reason in (EXACT, NEAR):
        rows = duplicates.filter(pa.compute.equal(duplicates["reason"], reason)).slice(0, SAMPLES_PER_REASON)
        if len(rows):
            samples[reason] = [
                {
                    "id": row["id"].hex(),
                    "source": row["source"],
                    "match": row["match_id"].hex(),
                    "match_source": row["match_source"],
                    "similarity": round(row["similarity"], 4),
                }
                for row in rows.to_pylist()
            ]
    counts = {f"dropped:{row['values']}": row["counts"] for row in sorted(sources, key=lambda row: row["values"])}
    return Report(counts, {"group_size": Histogram.of(sizes, edges=GROUP_EDGES)}, samples)
