"""Every document becomes its ids and one end-of-text token, whichever engine; the sample finds what is wrong."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets import hashing, records
from dataassets.recipe import Tokenize
from dataassets.stages.tokenize import decode, sampled, stage, tokenize, verify_sample
from dataassets.stages.tokenize.engines import available
from dataassets.stages.tokenize.vocabulary import encoding

ENGINES = ["tiktoken", pytest.param("gigatoken", marks=pytest.mark.skipif(not available(), reason="not installed"))]


def documents(texts):
    num = len(texts)
    nulls = {f.name: pa.nulls(num, f.type) for f in records.DOCUMENTS if f.nullable}
    return (
        pa.table(
            {
                "id": pa.array([hashing.document_id("s", "o", i) for i in range(num)], pa.binary(16)),
                "text": pa.array(texts, pa.large_string()),
                **nulls,
                "url": pa.array([f"https://x/{i}" for i in range(num)], pa.large_string()),
                "origin": pa.array(["o"] * num),
                "position": pa.array(range(num), pa.int64()),
            }
        )
        .select(records.DOCUMENTS.names)
        .cast(records.DOCUMENTS)
    )


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text()))
def test_ids_of_each_text_then_end_of_text(engine, texts):
    docs = documents(texts)
    table, report = tokenize(docs, source="web", settings=Tokenize(), engine=engine)
    assert table.schema.equals(records.tokens(pa.uint16()))
    assert table["tokens"].to_pylist() == [[*encoding().encode_ordinary(text), 50256] for text in texts]
    assert [decode(row) for row in table["tokens"].to_pylist()] == [text + "<|endoftext|>" for text in texts]
    assert table.select(["id", "url"]).to_pydict() == docs.select(["id", "url"]).to_pydict()
    assert set(table["source"].to_pylist()) <= {"web"}
    assert report.counts["documents"] == len(texts)
    assert report.counts["tokens"] == sum(map(len, table["tokens"].to_pylist()))
    assert report.counts["bytes"] == sum(len(text.encode()) for text in texts)
    assert report.counts["documents:gigatoken"] + report.counts["documents:tiktoken"] == len(texts)
    assert all(sum(h.counts) == len(texts) for h in report.histograms.values())
    assert verify_sample(docs, table).counts["sample:differ"] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_special_tokens_in_a_text_are_text(engine):
    table, _ = tokenize(documents(["a<|endoftext|>b"]), source="s", settings=Tokenize(), engine=engine)
    assert table["tokens"].to_pylist()[0].count(50256) == 1


def test_the_cut_into_chunks_and_parts_changes_nothing():
    docs = documents([f"text {i} " * (i % 7) for i in range(60)])
    whole, _ = tokenize(docs, source="s", settings=Tokenize())
    chunked = pa.concat_tables([docs.slice(0, 13), docs.slice(13, 1), docs.slice(14)])
    assert tokenize(chunked, source="s", settings=Tokenize())[0].equals(whole)
    pieces = [tokenize(docs.slice(i, 20), source="s", settings=Tokenize())[0] for i in (0, 20, 40)]
    assert pa.concat_tables(pieces).combine_chunks().equals(whole.combine_chunks())


def test_tiktoken_serves_where_gigatoken_is_absent(monkeypatch):
    docs = documents(["some text", "", "日本 \U0001f642"])
    with_it, _ = tokenize(docs, source="s", settings=Tokenize())
    monkeypatch.setattr(stage, "available", lambda: False)
    without, report = tokenize(docs, source="s", settings=Tokenize())
    assert without.equals(with_it)
    assert report.counts["documents:tiktoken"] == 3


def test_the_sample_is_one_percent_and_twenty_at_least_by_id():
    ids = pa.chunked_array([pa.array([hashing.document_id("s", "o", i) for i in range(5000)], pa.binary(16))])
    assert [len(sampled(ids.slice(0, n))) for n in (0, 5, 20, 1999, 5000)] == [0, 5, 20, 20, 50]
    rows = sampled(ids).to_pylist()
    assert rows == sorted(set(rows))
    turned = pa.chunked_array([ids.combine_chunks().take(pa.array(np.arange(5000)[::-1]))])
    assert sorted(4999 - row for row in sampled(turned).to_pylist()) == rows


@pytest.mark.parametrize("damage", ["an id", "end of text lost", "one token more", "another document"])
def test_the_sample_finds_damage(damage):
    docs = documents([f"the text of document {i}" for i in range(15)])
    table, _ = tokenize(docs, source="s", settings=Tokenize())
    rows = table["tokens"].to_pylist()
    broken = {
        "an id": [rows[0][0] ^ 1, *rows[0][1:]],
        "end of text lost": rows[0][:-1],
        "one token more": [*rows[0], 50256],
        "another document": rows[1],
    }[damage]
    kind = table.schema.field("tokens").type
    wrong = table.set_column(3, table.schema.field("tokens"), pa.array([broken, *rows[1:]], kind))
    report = verify_sample(docs, wrong)
    assert report.counts == {"sample:checked": 15, "sample:differ": 1}
    assert report.samples["sample:differ"][0]["id"] == docs["id"][0].as_py().hex()


def test_importing_the_stage_loads_no_tokenizer():
    code = (
        "import sys, dataassets.stages.tokenize, dataassets.stages.mix, dataassets.stages.dedup;"
        "sys.exit(bool({'tiktoken', 'gigatoken', 'awkward', 'numba', 'torch', 'dagster'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
