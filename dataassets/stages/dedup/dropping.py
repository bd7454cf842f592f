"""Documents and duplicates to the documents that stay."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import records
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Report


def drop(documents: pa.Table, duplicates: pa.Table) -> tuple[pa.Table, Report]:
    """Mark the documents that repeat another one.

    Args:
        documents: records.DOCUMENTS, one part.
        duplicates: records.DUPLICATES of its snapshot (rows of other parts are passed over).

    Returns:
        with_reason(records.DOCUMENTS) with reasons exact:duplicate and minhash:near_duplicate, in the same order, and
        a report with samples that name the match.
    """
    known = duplicates["id"].combine_chunks()
    index = pc.index_in(documents["id"].combine_chunks(), value_set=known)
    reason = pc.fill_null(duplicates["reason"].combine_chunks().take(index), records.KEPT)
    table = documents.append_column(records.REASON, reason).cast(records.with_reason(records.DOCUMENTS))
    samples: dict[str, list[dict[str, object]]] = {}
    for row in np.flatnonzero(np.asarray(index.is_valid())).tolist():
        rows = samples.setdefault(reason[row].as_py(), [])
        if len(rows) < SAMPLES_PER_REASON:
            rows.append(_sample(documents.slice(row, 1).to_pylist()[0], duplicates.slice(index[row].as_py(), 1)))
    return table, Report(samples=samples)


def _sample(document: dict[str, object], duplicate: pa.Table) -> dict[str, object]:
    found = duplicate.to_pylist()[0]
    return {
        "id": found["id"].hex(),
        "url": document["url"],
        "snippet": str(document["text"])[:SAMPLE_CHARS],
        "match": found["match_id"].hex(),
        "match_source": found["match_source"],
        "similarity": round(found["similarity"], 4),
    }
