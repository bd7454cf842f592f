"""The cuts of a partition, from its committed signals."""

from typing import TYPE_CHECKING

import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.store import Store

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.filter import Cuts


def cuts_of(store: Store, partition: str, *, filters: Filter) -> "Cuts":
    """Where the shares end that a filter keeps of a partition; {} where it keeps none.

    Args:
        store: with its signals.
        partition: its key.
        filters: of its source.
    """
    from dataassets.stages.filter import cuts, ranked

    columns = ranked(filters)
    parts = list(store.read_parts("signals", partition, columns=columns)) if columns else []
    return cuts(pa.concat_tables(parts), settings=filters) if parts else {}
