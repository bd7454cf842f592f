"""What later snapshots look back at: the keys of the documents that stay, sorted, in files of bounded size."""

import functools
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from dataassets import records
from dataassets.recipe import Dedup
from dataassets.stages.dedup.candidates import scatter
from dataassets.stages.dedup.part import Exchange, Ints, Part, Result

KEYS_PER_FILE = 4_000_000  # about 60 MB; bounds the memory of the one who writes it


def kept_keys(
    parts: Sequence[Part],
    gone: Ints,
    *,
    settings: Dedup,
    exchange: Exchange,
    write: Callable[[int, pa.Table], Result],
) -> list[Result]:
    """Hand on what the documents that stay are found by, for later snapshots to look back at.

    Args:
        parts: of one snapshot.
        gone: int64, rising positions of its documents that go.
        settings: the recipe's.
        exchange: brings rows of one range of keys together.
        write: is given the number of a file and records.KEYS sorted by key, exact, tag and position; keys rise from
            file to file.

    Returns:
        What `write` gave.
    """
    num_rows = sum(part.rows for part in parts) * (1 + (settings.minhash.banding[0] if settings.minhash else 0))
    num_files = max(1, -(-num_rows // KEYS_PER_FILE))
    bounds = [np.searchsorted(gone, [part.first, part.first + part.rows]) for part in parts]
    units = [(part, gone[a:b]) for part, (a, b) in zip(parts, bounds, strict=True)]
    cut = functools.partial(_scatter_kept, settings=settings, num_buckets=num_files)
    own = parts[0].first if parts else 0
    return exchange(units, cut, functools.partial(_write_sorted, write, own), num_buckets=num_files)


def _scatter_kept(unit: tuple[Part, Ints], *, settings: Dedup, num_buckets: int) -> pa.Table:
    part, gone = unit
    rows = scatter(part, settings=settings, num_buckets=num_buckets)
    return rows.filter(pa.array(~np.isin(np.asarray(rows["position"]), gone)))


def _write_sorted(write: Callable[[int, pa.Table], Result], own: int, number: int, rows: pa.Table) -> Result:
    key, tag, exact, position = (np.asarray(rows[name]) for name in records.KEYS.names)
    order = np.lexsort((position, tag, exact, key))
    columns = [key[order], tag[order], exact[order], position[order] - own]
    return write(number, pa.table([pa.array(column) for column in columns], schema=records.KEYS))
