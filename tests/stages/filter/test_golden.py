"""Decisions against datatrove 0.10.1 on real documents; skipped where the shared data is absent."""

import hashlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition
from dataassets.stages.filter import judge, language, measure

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(not (DATA / "golden_datatrove.parquet").exists(), reason="wants ../shared/data")

NO_PUNCT = C4(terminal_punct=False)
FILTERS = {
    "gopher_rep": Filter(gopher_repetition=GopherRepetition()),
    "gopher_qual": Filter(gopher_quality=GopherQuality()),
    "c4": Filter(c4=C4()),
    "c4_nopunct": Filter(c4=NO_PUNCT),
    "fineweb": Filter(fineweb=FineWeb()),
    "chain": Filter(
        gopher_repetition=GopherRepetition(), gopher_quality=GopherQuality(), c4=NO_PUNCT, fineweb=FineWeb()
    ),
}
NAMES = {"gopher_repetition": "gopher_rep", "gopher_quality": "gopher_qual", "c4": "c4_nopunct"}  # as in the chain


@pytest.fixture(scope="module")
def golden():
    table = pq.read_table(DATA / "golden_datatrove.parquet")
    texts = dict(
        zip(
            *(
                pq.read_table(DATA / "docs.parquet", columns=["id", "text"])[name].to_pylist()
                for name in ("id", "text")
            ),
            strict=True,
        )
    )
    return table, [texts[i] for i in table["id"].to_pylist()]


@pytest.fixture(scope="module")
def decided(golden, documents_of):
    """By filter: the reasons and the texts; and the signals."""
    documents = documents_of(golden[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            language, "identify", lambda texts: ([None] * len(documents), np.zeros(len(documents), np.float32))
        )
        measured = {
            punct: measure(documents, settings=Filter(c4=C4(terminal_punct=punct)))[0] for punct in (True, False)
        }
    found = {}
    for name, chosen in FILTERS.items():
        table, _ = judge(documents, measured[chosen.c4 is None or chosen.c4.terminal_punct], settings=chosen)
        found[name] = table["reason"].to_pylist(), table["text"].to_pylist()
    return found, measured[True]


@pytest.mark.parametrize("name", FILTERS)
def test_decision_and_first_reason_are_those_of_the_reference(name, golden, decided):
    split = [reason.partition(":") for reason in decided[0][name][0]]
    chained = [f"{NAMES.get(rule, rule)}:{test}" if rule else "" for rule, _, test in split]
    assert (chained if name == "chain" else [test for _, _, test in split]) == golden[0][name].to_pylist()


@pytest.mark.parametrize("name", ["c4", "c4_nopunct"])
def test_the_rewritten_text_is_that_of_the_reference(name, golden, decided):
    reasons, texts = decided[0][name]
    hashes = [
        None if reason else hashlib.sha1(text.encode()).hexdigest() for reason, text in zip(reasons, texts, strict=True)
    ]
    assert hashes == golden[0][f"{name}_sha1"].to_pylist()


def test_numbers_of_words_are_those_of_the_reference(golden, decided):
    assert decided[1]["num_words"].to_pylist() == golden[0]["nwords"].to_pylist()
