"""From token ranges of shards to the documents that lie in them."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from loader.errors import ShardError
from loader.format import DOCS_COLUMNS, ShardIndex, read_index
from loader.stream.source import ShardFiles

KEPT_SHARDS = 4  # an index of a million documents takes 12 MB


class DocumentFinder:
    """Tells which documents lie in a range of tokens; reads a shard's index and table when first asked for it.

    Args:
        shards: of the split, in order.
    """

    def __init__(self, shards: Sequence[ShardFiles]) -> None:
        self._shards = shards
        self._known: OrderedDict[int, tuple[ShardIndex, Any]] = OrderedDict()

    def find(self, pieces: Sequence[tuple[int, int, int]]) -> list[dict[str, Any]]:
        """List the documents of consecutive token ranges.

        Args:
            pieces: (shard, first, last + 1) in tokens of the shard, in the order of the row.

        Returns:
            A dict for each document in the row, in order: `shard` (name), `document` (its ordinal there), `id` (hex),
            `source`, `url`, `start` and `stop` (its tokens are row[start:stop]), `offset` (of row[start] within it).

        Raises:
            ShardError: an index or table that is damaged or not that of its shard.
        """
        found, at = [], 0
        for shard, first, stop in pieces:
            index, table = self._load(shard)
            head = int(np.searchsorted(index.offsets, first, side="right")) - 1
            tail = int(np.searchsorted(index.offsets, stop, side="left"))
            for d in range(head, tail):
                start, end = max(first, int(index.offsets[d])), min(stop, int(index.offsets[d + 1]))
                if start < end:
                    row = {"shard": self._shards[shard].name, "document": d, **_describe(table, d)}
                    row |= {
                        "start": at + start - first,
                        "stop": at + end - first,
                        "offset": start - int(index.offsets[d]),
                    }
                    found.append(row)
            at += stop - first
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"_shards": self._shards, "_known": OrderedDict()}

    def _load(self, shard: int) -> tuple[ShardIndex, Any]:
        """Index and table of a shard, the last few kept."""
        if shard not in self._known:
            files = self._shards[shard]
            index = read_index(f"{files.stem}.idx", bin_bytes=files.num_bytes)
            table = _read_table(f"{files.stem}.docs.parquet")
            for what, num in ((".idx", index.num_documents), (".docs.parquet", table.num_rows)):
                if num != files.num_documents:
                    raise ShardError(
                        f"{files.stem}{what}: {num} documents, the manifest tells of {files.num_documents}; restore it "
                        "from a copy, or materialize its partition again"
                    )
            self._known[shard] = (index, table)
            if len(self._known) > KEPT_SHARDS:
                self._known.popitem(last=False)
        self._known.move_to_end(shard)
        return self._known[shard]


def _read_table(path: str) -> Any:  # noqa: ANN401 - a pyarrow.Table, and pyarrow is wanted here only
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, columns=list(DOCS_COLUMNS), partitioning=None)
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise ShardError(f"{path}: cannot be read ({error}); restore it from a copy") from error


def _describe(table: Any, document: int) -> dict[str, Any]:  # noqa: ANN401 - a pyarrow.Table
    """Id, source and url of one document."""
    row = {name: table.column(name)[document].as_py() for name in DOCS_COLUMNS}
    return {**row, "id": row["id"].hex()}
