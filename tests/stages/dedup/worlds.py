"""Small worlds of signed documents for tests of dedup, the exchange in memory, and the rule as it is written."""

import functools
import itertools
import pickle
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dataassets import hashing, records
from dataassets import recipe as rc
from dataassets.stages.dedup import Earlier, Part, find_duplicates, kept_keys

NUM_PERM, BANDS, K = 8, 4, 8
SNAPSHOT = "2026-08-01"
NAMES = [f"2026-0{month}-01" for month in range(1, 7)]  # of the snapshots of a chain
SETTINGS = rc.Dedup(exact=True, minhash=rc.MinHash(num_perm=NUM_PERM, bands=BANDS, threshold=0.625))


class Row(NamedTuple):
    """A document: its source, text hash (a byte), signature and shingles, each of which may be None."""

    source: str
    text_hash: int | None
    signature: list[int] | None
    shingles: frozenset[int] | None = None


def with_minhash(**changes):
    return SETTINGS.model_copy(update={"minhash": SETTINGS.minhash.model_copy(update=changes)})


def in_memory(units, scatter, gather, *, num_buckets, shuffle=None):
    """The exchange, all in memory; with `shuffle`, rows of a bucket arrive in another order."""
    scatter, gather = (pickle.loads(pickle.dumps(call)) for call in (scatter, gather))  # noqa: S301
    rows = pa.concat_tables([scatter(unit) for unit in units]) if units else None
    results = []
    for bucket in range(num_buckets if rows is not None else 0):
        own = rows.filter(pa.array(np.asarray(rows["bucket"]) == bucket)).drop_columns(["bucket"])
        if shuffle is not None:
            own = own.take(pa.array(np.random.default_rng(shuffle).permutation(len(own))))
        results.append(gather(bucket, own))
    assert rows is None or max(rows["bucket"].to_pylist(), default=0) < num_buckets
    return results


def spread(work, units):
    """Units one after the other, as if each went to another process."""
    return [pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(unit))) for unit in units]  # noqa: S301


def signatures(rows, *, num_perm=NUM_PERM, salt=""):
    """Rows as records.signatures with shingles."""
    ids = [hashing.document_id("s", salt, i) for i in range(len(rows))]
    sets = [sorted(row.shingles or ()) for row in rows]
    size = [len(one) for one in sets]
    hashes = [None if row.text_hash is None else bytes([row.text_hash]) * 16 for row in rows]
    columns = [ids, hashes, [row.signature for row in rows], size, size, sets]
    return pa.table(columns, schema=records.with_shingles(records.signatures(num_perm)))


def ids_of(snapshots):
    """Ids of all rows of the snapshots of a chain."""
    tables = [signatures(own, salt=name) for name, own in zip(NAMES, snapshots, strict=False)]
    return pa.concat_tables(tables)["id"].to_pylist()


def load(table, *, columns):
    return table.select(columns)


def shingles(table, starts, sizes):
    flat = np.asarray(pa.concat_arrays([chunk.flatten() for chunk in table["shingles"].chunks] or [pa.array([], "u4")]))
    return np.concatenate([flat[:0], *(flat[a : a + n] for a, n in zip(starts, sizes, strict=True))])


def part_of(table, source, first, *, snapshot=SNAPSHOT):
    table = table.combine_chunks()
    get = functools.partial(shingles, table)
    return Part(functools.partial(load, table), source, first, len(table), snapshot, get)


def parts_of(rows, *, cut=10**6, first=0, snapshot=SNAPSHOT):
    """Parts of at most `cut` rows of one source."""
    table, parts, at = signatures(rows, salt=snapshot), [], 0
    for source, own in itertools.groupby(rows, key=lambda row: row.source):
        num = len(list(own))
        for start in range(at, at + num, cut):
            piece = table.slice(start, min(cut, at + num - start))
            parts.append(part_of(piece, source, first + start, snapshot=snapshot))
        at += num
    return parts


def found(rows, *, settings=SETTINGS, cut=10**6, num_buckets=3, shuffle=None):
    meet = functools.partial(in_memory, shuffle=shuffle)
    return find_duplicates(
        parts_of(rows, cut=cut), settings=settings, exchange=meet, spread=spread, num_buckets=num_buckets
    )


def between(tables, low, high):
    """What the store does: rows of files sorted by key, in a range."""
    whole = pa.concat_tables([records.KEYS.empty_table(), *tables])
    key = np.asarray(whole["key"])
    assert (np.diff(key.astype(object)) >= 0).all()
    return whole.filter(pa.array((key >= low) & (key <= high)))


def keep(number, table):
    return number, table


def chain(snapshots, asked, *, num_buckets=3, cut=10**6, shuffle=None):
    """Found duplicates of each snapshot, and what each left behind."""
    meet = functools.partial(in_memory, shuffle=shuffle)
    earlier, first, told = [], 0, []
    for name, rows in zip(NAMES, snapshots, strict=False):
        parts = parts_of(rows, cut=cut, first=first, snapshot=name)
        found = find_duplicates(
            parts, settings=asked, exchange=meet, spread=spread, num_buckets=num_buckets, earlier=earlier
        )
        written = kept_keys(parts, found.gone, settings=asked, exchange=meet, write=keep)
        assert [number for number, _ in written] == list(range(len(written)))
        kept = [pickle.loads(pickle.dumps(table)) for _, table in written]  # noqa: S301
        earlier.append(Earlier(parts, first, functools.partial(between, kept)))
        told.append((found, kept))
        first += len(rows)
    return told


def alike(minhash, a, b):
    """Similarity of two rows as `verify` has it, and whether that is enough."""
    if minhash.verify == "exact":
        whole = a.shingles | b.shingles
        x = len(a.shingles & b.shingles) / len(whole) if whole else 0.0
    elif a.signature is None or b.signature is None:
        x = 0.0
    else:
        x = float(np.mean([x == y for x, y in zip(a.signature, b.signature, strict=True)]))
    return x, minhash.verify == "none" or x >= minhash.threshold


def slow(snapshots, settings):
    """The rule as it is written, over rows of one or more snapshots: (row, match, exact, similarity) of each drop."""
    minhash, apart = settings.minhash, settings.scope == "partition"
    kept_before, dropped, rows = {}, {}, []
    for own in snapshots:
        buckets = {key: list(members) for key, members in kept_before.items()}
        first = len(rows)
        rows += own
        for d, row in enumerate(own, first):
            partners = {}
            for key in keys_of(row, minhash):
                members = buckets.setdefault((key, row.source if apart else ""), [])
                for e in members[:K]:
                    partners[e] = partners.get(e, False) or key[0] == "exact"
                members.append(d)
            kept = []
            for e, exact in partners.items():
                equal, enough = (1.0, True) if exact else alike(minhash, row, rows[e])
                if e not in dropped and enough:
                    kept.append((not exact, e, equal))
            if kept:
                not_exact, e, equal = min(kept)
                dropped[d] = (d, e, not not_exact, np.float32(equal))
        kept_before = {key: [d for d in members if d not in dropped] for key, members in buckets.items()}
    return list(dropped.values())


def keys_of(row, minhash):
    keys = [] if row.text_hash is None else [("exact", row.text_hash)]
    if row.signature is not None and minhash:
        bands, width = minhash.banding
        keys += [(b, tuple(row.signature[b * width : (b + 1) * width])) for b in range(bands)]
    return keys


value = st.integers(0, 1)
shingle = st.integers(0, 9) | st.integers(2**32 - 4, 2**32 - 1)
documents = st.one_of(st.none(), st.integers(0, 30)).flatmap(
    lambda text_hash: st.one_of(
        st.just((text_hash, None, frozenset())),  # too short, or of a source without MinHash
        st.tuples(
            st.just(text_hash),
            st.lists(value, min_size=NUM_PERM, max_size=NUM_PERM),
            st.frozensets(shingle, min_size=1, max_size=12),
        ),
    )
)


def rows_of(drawn, num_web):
    return [Row("web" if i < num_web else "code", *row) for i, row in enumerate(drawn)]


world = st.lists(documents, max_size=40).flatmap(
    lambda drawn: st.integers(0, len(drawn)).map(lambda num_web: rows_of(drawn, num_web))
)

history = st.lists(st.lists(documents, max_size=14), min_size=1, max_size=5).map(
    lambda drawn: [rows_of(rows, len(rows) // 2) for rows in drawn]
)
