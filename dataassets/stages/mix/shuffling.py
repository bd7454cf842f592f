"""The two ends of the mix's exchange: rows of a part to shards, rows of a shard in their order."""

import numpy as np
import pyarrow as pa

from dataassets.stages.mix.model import Picks
from dataassets.stages.mix.order import id_words
from dataassets.stages.mix.planning import ordered

_KEYS = ("bucket", "order", "copy")


def scatter(tokens: pa.Table, picks: Picks) -> pa.Table:
    """The picked rows of one part.

    Args:
        tokens: records.tokens, the part whose picks these are.
        picks: of `Plan.picks`.

    Returns:
        records.tokens [n] and the columns bucket uint32 (the shard), order uint64, copy int32.
    """
    rows = tokens.take(pa.array(picks.ordinal))
    for name, column in zip(_KEYS, (picks.shard, picks.order, picks.copy), strict=True):
        rows = rows.append_column(name, pa.array(column))
    return rows


def gather(rows: pa.Table) -> pa.Table:
    """One shard's rows in their final order, whatever the order they came in.

    Args:
        rows: of one bucket, as `scatter` gives them.

    Returns:
        records.tokens, sorted by (order, id, copy).
    """
    ids = id_words(np.array(rows["id"].to_pylist(), "S16"))
    order = ordered(np.asarray(rows["order"]), ids, np.asarray(rows["copy"]))
    kept = rows.drop_columns([name for name in _KEYS if name in rows.column_names])
    return kept.take(pa.array(order))
