"""Decisions against datatrove 0.10.1 on real documents; skipped where the shared data is absent.

Words are cut more simply than there, so only the tests that read no words are compared.
"""

import hashlib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dataassets.recipe import C4, Filter, FineWeb, GopherRepetition
from dataassets.stages.filter import judge, measure, signals

DATA = Path(__file__).parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(not (DATA / "golden_datatrove.parquet").exists(), reason="wants ../shared/data")

NO_PUNCT = C4(terminal_punct=False)
FILTERS = {
    "gopher_rep": Filter(gopher_repetition=GopherRepetition()),
    "c4": Filter(c4=C4()),
    "c4_nopunct": Filter(c4=NO_PUNCT),
    "fineweb": Filter(fineweb=FineWeb()),
}
WORDLESS = {  # tests that read no words and stand before those that do
    "gopher_rep": {"empty", "dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac"},
    "fineweb": {"empty", "line_punct_ratio", "short_line_ratio", "char_dup_ratio"},
    "c4": {"lorem_ipsum", "curly_bracket"},
    "c4_nopunct": {"lorem_ipsum", "curly_bracket"},
}


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
    """By filter: the reasons without the rule's name, and the texts."""
    documents = documents_of(golden[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            signals, "identify", lambda texts: ([None] * len(documents), np.zeros(len(documents), np.float32))
        )
        measured = {
            punct: measure(documents, settings=Filter(c4=C4(terminal_punct=punct)))[0] for punct in (True, False)
        }
    found = {}
    for name, chosen in FILTERS.items():
        table, _ = judge(documents, measured[chosen.c4 is None or chosen.c4.terminal_punct], settings=chosen)
        found[name] = table["reason"].to_pylist(), table["text"].to_pylist()
    return found


@pytest.mark.parametrize("name", WORDLESS)
def test_tests_that_read_no_words_decide_as_the_reference_does(name, golden, decided):
    ours = [reason.partition(":")[2] for reason in decided[name][0]]
    theirs = golden[0][name].to_pylist()
    assert [r if r in WORDLESS[name] else "" for r in ours] == [r if r in WORDLESS[name] else "" for r in theirs]


@pytest.mark.parametrize("name", ["c4", "c4_nopunct"])
def test_the_rewritten_text_is_that_of_the_reference_wherever_both_keep_it(name, golden, decided):
    hashes = [hashlib.sha1(text.encode()).hexdigest() for text in decided[name][1]]
    both = [
        (ours, theirs)
        for reason, ours, theirs in zip(decided[name][0], hashes, golden[0][f"{name}_sha1"].to_pylist(), strict=True)
        if not reason and theirs
    ]
    assert len(both) > 450
    assert all(ours == theirs for ours, theirs in both)
