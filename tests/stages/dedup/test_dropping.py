"""Dropped are the documents in the table of duplicates, and each sample names its match."""

import pyarrow as pa

from dataassets import hashing, records
from dataassets.stages.dedup import EXACT, NEAR, drop


def documents(num):
    nulls = {f.name: pa.nulls(num, f.type) for f in records.DOCUMENTS if f.nullable}
    return (
        pa.table(
            {
                **nulls,
                "id": pa.array([hashing.document_id("s", "o", i) for i in range(num)], pa.binary(16)),
                "text": pa.array([f"text {i} " * 100 for i in range(num)], pa.large_string()),
                "origin": pa.array(["o"] * num, pa.string()),
                "position": pa.array(range(num), pa.int64()),
            }
        )
        .select(records.DOCUMENTS.names)
        .cast(records.DOCUMENTS)
    )


def duplicates(rows):
    ids = [hashing.document_id(s, "o", i) for s, i, _ in rows]
    kept = hashing.document_id("other", "o", 0)
    num = len(rows)
    return pa.table(
        [
            ids,
            [s for s, _, _ in rows],
            [kept] * num,
            ["other"] * num,
            [0.75] * num,
            [r for _, _, r in rows],
            ["2026-08-01"] * num,
        ],
        schema=records.DUPLICATES,
    )


def test_reasons_are_those_of_the_duplicates_and_rows_stay_in_order():
    docs = documents(6)
    table, report = drop(docs, duplicates([("s", 4, NEAR), ("another source", 1, EXACT), ("s", 2, EXACT)]))
    assert table.schema.equals(records.with_reason(records.DOCUMENTS))
    assert table["reason"].to_pylist() == ["", "", EXACT, "", NEAR, ""]
    assert table.drop_columns(["reason"]).equals(docs)
    assert report.samples[EXACT] == [
        {
            "id": hashing.document_id("s", "o", 2).hex(),
            "url": None,
            "snippet": ("text 2 " * 100)[:240],
            "match": hashing.document_id("other", "o", 0).hex(),
            "match_source": "other",
            "similarity": 0.75,
        }
    ]


def test_three_samples_a_reason():
    _, report = drop(documents(10), duplicates([("s", i, NEAR) for i in range(9, 2, -1)]))
    assert [row["id"] for row in report.samples[NEAR]] == [hashing.document_id("s", "o", i).hex() for i in (3, 4, 5)]


def test_chunks_and_nothing():
    docs, gone = documents(5), duplicates([("s", 3, NEAR), ("s", 0, EXACT)])
    chunked = pa.concat_tables([docs.slice(0, 2), docs.slice(2)])
    in_two = pa.concat_tables([gone.slice(0, 1), gone.slice(1)])
    assert drop(chunked, in_two)[0].combine_chunks().equals(drop(docs, gone)[0].combine_chunks())
    for none in (gone.slice(0, 0), records.DUPLICATES.empty_table()):
        assert set(drop(docs, none)[0]["reason"].to_pylist()) == {""}
    assert len(drop(docs.slice(0, 0), gone)[0]) == 0
