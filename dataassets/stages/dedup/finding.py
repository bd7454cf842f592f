"""Parts of signatures to duplicates: candidates, verification, and the rule, one snapshot at a time.

The rule (DESIGN §6): a document is dropped iff an earlier kept document is a verified duplicate of it. So every match
is a kept document, the first of a group always stays, and nothing depends on cut, buckets, workers or arrival order.
Only pairs and compact arrays of the documents in pairs are held in memory.

Shapes: P pairs, N documents in pairs, H hashes a signature.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import records
from dataassets.recipe import Dedup
from dataassets.report import SAMPLES_PER_REASON, Histogram, Report
from dataassets.stages.dedup.candidates import PAIRS, bytes_of, gather, scatter, signatures_of, unique_pairs
from dataassets.stages.dedup.part import Exchange, Part

Ints = npt.NDArray[np.int64]

EXACT, NEAR = "exact:duplicate", "minhash:near_duplicate"
GROUP_EDGES = (2.0, 3.0, 4.0, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 1e9)
SIMILARITY_EDGES = tuple(k / 20 for k in range(21))
BLOCK = 1 << 16  # pairs compared at once


class _Documents(NamedTuple):
    """Documents in pairs.

    Args:
        position: int64 [N], rising.
        id: uint8 [N, 16].
        source: int32 [N], place in `names`.
        names: of sources.
        signature: uint32 [N, H]; zeros where there is none.
    """

    position: Ints
    id: npt.NDArray[np.uint8]
    source: npt.NDArray[np.int32]
    names: list[str]
    signature: npt.NDArray[np.uint32]


def find_duplicates(
    parts: Sequence[Part], *, settings: Dedup, exchange: Exchange, num_buckets: int
) -> tuple[pa.Table, Report]:
    """Find the documents of a snapshot that repeat an earlier kept one.

    Args:
        parts: of all sources, in document order; a source without exact or MinHash has null columns.
        settings: the recipe's; scope `partition` compares within a source only.
        exchange: brings rows of one bucket together.
        num_buckets: how many buckets; memory of one is about 1 / num_buckets of all band keys.

    Returns:
        records.DUPLICATES in document order, and a report: counts of `documents`, `pairs:exact`, `pairs:candidate`
        (by MinHash), `pairs:verified`, `dropped:<source>`; histograms of `group_size` (the kept document counts) and of
        `similarity` (all candidate pairs, the threshold as limit); samples by reason.
    """
    assert all(a.first + a.rows <= b.first for a, b in itertools.pairwise(parts)), "parts in document order"
    cut = functools.partial(scatter, settings=settings, num_buckets=num_buckets)
    found = exchange(parts, cut, gather, num_buckets=num_buckets)
    pairs = unique_pairs(pa.concat_tables([PAIRS.empty_table(), *found]))
    later, earlier, exact = (np.asarray(pairs[name]) for name in PAIRS.names)
    docs = _documents(np.union1d(later, earlier), parts, settings=settings)
    later, earlier = np.searchsorted(docs.position, later), np.searchsorted(docs.position, earlier)
    similarity = _similarity(docs, later, earlier, exact)
    good = exact | _verified(similarity, settings=settings)
    later, earlier, exact_good, near = later[good], earlier[good], exact[good], similarity[~exact]
    by_pair = _resolved(later, earlier, exact_good, num_docs=len(docs.position))
    table = _table(docs, later[by_pair], earlier[by_pair], exact_good[by_pair], similarity[good][by_pair])
    counts = {
        "documents": sum(part.rows for part in parts),
        "pairs:exact": int(exact.sum()),
        "pairs:candidate": len(near),
        "pairs:verified": int((~exact_good).sum()),
    }
    limits = [settings.minhash.threshold] if settings.minhash else []
    return table, Report(counts, {"similarity": Histogram.of(near, edges=SIMILARITY_EDGES, limits=limits)}) + _told(
        table
    )


def _verified(similarity: npt.NDArray[np.float64], *, settings: Dedup) -> npt.NDArray[np.bool_]:
    if settings.minhash is None or settings.minhash.verify == "none":
        return np.ones(len(similarity), bool)
    return similarity >= settings.minhash.threshold


def _documents(positions: Ints, parts: Sequence[Part], *, settings: Dedup) -> _Documents:
    """Ids, sources and signatures of some documents, part by part; parts without any are not read."""
    names = sorted({part.source for part in parts})
    num_perm = settings.minhash.num_perm if settings.minhash else 0
    ids, sources = np.empty((len(positions), 16), np.uint8), np.empty(len(positions), np.int32)
    signatures = np.zeros((len(positions), num_perm), np.uint32)
    for part, place in _hits(positions, parts):
        table, rows = part.load(), positions[place] - part.first
        ids[place] = bytes_of(table["id"].take(pa.array(rows)))
        sources[place] = names.index(part.source)
        signed, sig_DH = signatures_of(table.take(pa.array(rows)), settings=settings)
        signatures[np.arange(place.start, place.stop)[signed]] = sig_DH
    return _Documents(positions, ids, sources, names, signatures)


def _hits(positions: Ints, parts: Sequence[Part]) -> Iterator[tuple[Part, slice]]:
    """Parts that hold some of the rising positions, and which."""
    for part in parts:
        start, stop = np.searchsorted(positions, [part.first, part.first + part.rows]).tolist()
        if start < stop:
            yield part, slice(start, stop)


def _similarity(docs: _Documents, later: Ints, earlier: Ints, exact: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Share of equal values in the two signatures of each pair, float64 [P]; 1 for exact pairs."""
    similarity = np.ones(len(later))
    near = np.flatnonzero(~exact)
    for start in range(0, len(near), BLOCK):
        some = near[start : start + BLOCK]
        similarity[some] = (docs.signature[later[some]] == docs.signature[earlier[some]]).mean(axis=1)
    return similarity


def _resolved(later: Ints, earlier: Ints, exact: npt.NDArray[np.bool_], *, num_docs: int) -> Ints:
    """The pair by which each dropped document goes, in document order."""
    from dataassets.stages.dedup.kernels import resolve

    match = np.full(num_docs, -1, np.int64)
    resolve(later, earlier, exact, match)
    return match[match >= 0]


def _table(
    docs: _Documents, later: Ints, earlier: Ints, exact: npt.NDArray[np.bool_], similarity: npt.NDArray[np.float64]
) -> pa.Table:
    names = np.array(docs.names, object)
    columns = [
        _ids(docs.id[later]),
        pa.array(names[docs.source[later]], pa.string()),
        _ids(docs.id[earlier]),
        pa.array(names[docs.source[earlier]], pa.string()),
        pa.array(similarity.astype(np.float32)),
        pa.array(np.where(exact, EXACT, NEAR).astype(object), pa.string()),
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
