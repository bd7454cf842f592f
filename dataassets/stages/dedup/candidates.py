"""Signatures to candidate pairs: documents that share a key meet in one bucket.

Shapes: D documents of a part, B bands, P pairs.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from dataassets import records
from dataassets.recipe import Dedup, RecipeError
from dataassets.stages.dedup.minhash import band_keys
from dataassets.stages.dedup.part import Earlier, Part

FIRST_MEMBERS = 8  # K of DESIGN §6: a document is compared with so many first members of each of its buckets

PAIRS = pa.schema([("later", pa.int64()), ("earlier", pa.int64()), ("exact", pa.bool_())])
ROWS = pa.schema([pa.field("bucket", pa.uint32(), nullable=False), *records.KEYS])


def scatter(part: Part, *, settings: Dedup, num_buckets: int) -> pa.Table:
    """Keys of one part: one row for each band of each signature and for each text hash.

    Args:
        part: of `signatures`.
        settings: bands; with scope `partition` only documents of one source share a key.
        num_buckets: buckets are cut by the key's upper half.

    Returns:
        bucket uint32, key uint64, tag uint64 (rest of a text hash, 0 of a band), exact bool, position int64.
    """
    table = part.load(columns=["text_hash", "signature"])
    salt = xxhash.xxh3_64_intdigest(part.source.encode()) if settings.scope == "partition" else 0
    position_D = part.first + np.arange(len(table))
    text_hash = table["text_hash"].combine_chunks()
    has_hash = np.asarray(text_hash.is_valid())
    halves = bytes_of(text_hash).view("<u8")
    keys, tags = [halves[:, 0] ^ np.uint64(salt)], [halves[:, 1]]
    exact, positions = [np.ones(len(halves), bool)], [position_D[has_hash]]
    rows_D, sig_DH = signatures_of(table, settings=settings)
    if len(rows_D):
        assert settings.minhash is not None
        num_bands, num_rows = settings.minhash.banding
        keys.append(band_keys(sig_DH, num_bands=num_bands, num_rows=num_rows, salt=salt).reshape(-1))
        tags.append(np.zeros(num_bands * len(rows_D), np.uint64))
        exact.append(np.zeros(num_bands * len(rows_D), bool))
        positions.append(np.tile(position_D[rows_D], num_bands))
    key = np.concatenate(keys)
    bucket = ((key >> np.uint64(32)) * np.uint64(num_buckets) >> np.uint64(32)).astype(np.uint32)
    columns = [bucket, key, np.concatenate(tags), np.concatenate(exact), np.concatenate(positions)]
    return pa.table([pa.array(column) for column in columns], schema=ROWS)


def bytes_of(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    """The values of a binary(16) column that are not null, uint8 [n, 16].

    >>> bytes_of(pa.array([b"a" * 16, None, b"b" * 16], pa.binary(16)))[:, 0].tolist()
    [97, 98]
    """
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = whole.drop_null()
    data = whole.buffers()[1]
    flat = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return flat[16 * whole.offset : 16 * (whole.offset + len(whole))].reshape(-1, 16)


def signatures_of(table: pa.Table, *, settings: Dedup) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Rows that have a signature, and their values.

    Args:
        table: a part of `signatures`.
        settings: what it was signed with.

    Returns:
        int64 [S] rows, uint32 [S, H]; none where MinHash is off for the source.

    Raises:
        RecipeError: signatures of another number of permutations.
    """
    column = table["signature"].combine_chunks()
    rows = np.flatnonzero(np.asarray(column.is_valid()))
    num_perm = settings.minhash.num_perm if settings.minhash else 0
    if len(rows) and column.type.list_size != num_perm:
        raise RecipeError(
            f"signatures have {column.type.list_size} values, dedup.minhash.num_perm is {num_perm}; "
            "materialize signatures again with this recipe"
        )
    return rows, np.asarray(column.drop_null().flatten(), np.uint32).reshape(len(rows), num_perm)


def key_range(bucket: int, *, num_buckets: int) -> tuple[int, int]:
    """The least and the greatest key of a bucket.

    >>> [key_range(q, num_buckets=2) for q in (0, 1)] == [(0, 2**63 - 1), (2**63, 2**64 - 1)]
    True
    """
    low, high = (-(-(q << 32) // num_buckets) << 32 for q in (bucket, bucket + 1))
    return low, high - 1


def gather(bucket: int, rows: pa.Table, *, num_buckets: int, own: int = 0, earlier: Sequence[Earlier] = ()) -> pa.Table:
    """Candidate pairs of one bucket, in no way dependent on the order of its rows.

    Args:
        bucket: its number.
        rows: as `scatter` gives them.
        num_buckets: how many there are.
        own: position of the first document that is to be compared.
        earlier: snapshots whose kept documents with the same keys stand before all of these.

    Returns:
        PAIRS sorted by (later, earlier), each pair once: each document with the first K members of its groups that
        come before it.
    """
    known = _looked_up(np.unique(np.asarray(rows["key"])), key_range(bucket, num_buckets=num_buckets), earlier)
    rows = pa.concat_tables([*known, rows])
    key, tag = np.asarray(rows["key"]), np.asarray(rows["tag"])
    exact, position = np.asarray(rows["exact"]), np.asarray(rows["position"])
    order = np.lexsort((position, tag, key, exact))
    key, tag, exact, position = key[order], tag[order], exact[order], position[order]
    new = np.ones(len(order), bool)
    new[1:] = (key[1:] != key[:-1]) | (tag[1:] != tag[:-1]) | (exact[1:] != exact[:-1])
    first = np.flatnonzero(new)[np.cumsum(new) - 1]  # of the row's group
    rows_left, found = np.flatnonzero(~new & (position >= own)), []
    for k in range(FIRST_MEMBERS):
        rows_left = rows_left[first[rows_left] + k < rows_left]
        if not len(rows_left):
            break
        member = first[rows_left] + k
        found.append(pairs_table(position[rows_left], position[member], exact[rows_left]))
    return unique_pairs(pa.concat_tables([PAIRS.empty_table(), *found]))


def _looked_up(
    keys: npt.NDArray[np.uint64], low_high: tuple[int, int], earlier: Sequence[Earlier]
) -> Iterator[pa.Table]:
    """Rows of earlier snapshots that have one of some rising keys, one snapshot in memory at a time."""
    for snapshot in earlier if len(keys) else ():
        rows = snapshot.kept(*low_high)
        key = np.asarray(rows["key"])
        place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        rows = rows.filter(pa.array(keys[place] == key))
        moved = pa.array(np.asarray(rows["position"]) + snapshot.first)
        yield rows.set_column(3, records.KEYS.field("position"), moved)


def pairs_table(later: npt.NDArray[np.int64], earlier: npt.NDArray[np.int64], exact: npt.NDArray[np.bool_]) -> pa.Table:
    """PAIRS of three columns."""
    return pa.table([pa.array(later), pa.array(earlier), pa.array(exact)], schema=PAIRS)


def unique_pairs(pairs: pa.Table) -> pa.Table:
    """Pairs sorted by (later, earlier), each once; exact where it is so once.

    >>> unique_pairs(pairs_table(np.array([5, 5]), np.array([1, 1]), np.array([False, True]))).to_pylist()
    [{'later': 5, 'earlier': 1, 'exact': True}]
    """
    later, earlier, exact = (np.asarray(pairs[name]) for name in PAIRS.names)
    order = np.lexsort((~exact, earlier, later))
    later, earlier, exact = later[order], earlier[order], exact[order]
    new = np.ones(len(order), bool)
    new[1:] = (later[1:] != later[:-1]) | (earlier[1:] != earlier[:-1])
    return pairs_table(later[new], earlier[new], exact[new])
