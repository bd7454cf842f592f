"""gigatoken gives tiktoken's ids for every text: each code point, hard joins, real documents, any text."""

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.stages.tokenize import engines
from dataassets.stages.tokenize.engines import by_gigatoken, by_tiktoken, doubtful

pytestmark = pytest.mark.skipif(not engines.available(), reason="gigatoken is not installed")
DOCS = Path(__file__).parents[4] / "shared/data/docs.parquet"

# Whatever the pattern of GPT-2 treats apart: apostrophes and their letters, kinds of space and line end, letters,
# marks, numbers of several scripts, symbols, signs beyond the BMP, controls, the special token.
PIECES = [
    *"'`’sdmtSDMTſ lvreLVRE0٣²Ⅷ½aéßЖ中\u0301\u0903\u200d🙂𝟘𐍈.,!_-#",
    "\u200b\ufeff\u00ad\u180e",
    *"  \n\r\t\v\f\x1c\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
    *["'ll", "'ve", "'re", " '", "  ", "\r\n", "\x00", "\x7f", "\ue000", "\uffff", "\U0010ffff", "<|endoftext|>"],
]


def strings(texts):
    return pa.array(texts, pa.large_string())


def same(texts):
    fast, slow = by_gigatoken(strings(texts)), by_tiktoken(strings(texts))
    return all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))


def raw_same(texts):
    """Without the detour of doubtful texts."""
    fast, slow = engines._gigatoken().encode(strings(texts)), by_tiktoken(strings(texts))
    return all(np.array_equal(a, b) for a, b in zip(fast, slow, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"]))).map("".join)))
def test_any_texts(texts):
    assert same(texts)
    assert raw_same(texts)


def test_every_assigned_code_point_among_letters_numbers_signs_and_spaces():
    """Planes 0 to 3 and 14 whole, of the empty and private ones each 16th; 64 to a text."""
    every = [chr(c) for c in range(sys.maxunicode + 1) if c >> 16 in (0, 1, 2, 3, 14) or not c % 16]
    every = [c for c in every if unicodedata.category(c) != "Cs"]
    assert len(every) > 370_000
    join = "a{0}1 {0}.  {0}{0}"
    assert raw_same(["\n".join(join.format(c) for c in every[i : i + 64]) for i in range(0, len(every), 64)])


def test_random_joins_of_hard_pieces():
    rng = np.random.default_rng(7)
    assert raw_same(["".join(rng.choice(PIECES, rng.integers(1, 40))) for _ in range(20_000)])


@pytest.mark.parametrize("piece", ["a", " ", "\n", "^", "7", " \u3000", "ab", "中", "\u0301"])
def test_long_runs(piece):
    assert raw_same([piece * 50_000, piece * 50_000 + "x", "x" + piece * 50_000])


@pytest.mark.skipif(not DOCS.exists(), reason="no shared data here")
def test_real_documents_of_all_sources():
    docs = pq.read_table(DOCS, columns=["text", "source"]).to_pandas()
    some = docs.groupby("source").head(12)["text"].tolist()
    assert len(some) > 500
    assert same(some)


def test_slices_and_empty_columns():
    texts = strings(["skipped", "a b", "", "c\U000e0fff", "skipped"])
    part = texts.slice(1, 3)
    assert [x.tolist() for x in by_gigatoken(part)] == [x.tolist() for x in by_tiktoken(part)]
    for none in (strings([]), texts.slice(2, 0), strings([""])):
        assert [x.tolist() for x in by_gigatoken(none)] == [x.tolist() for x in by_tiktoken(none)]


def test_doubtful_texts_are_those_with_unassigned_code_points():
    assigned = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    assert not any(doubtful(strings(["".join(assigned)])).to_pylist())
    without = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Cn"]
    assert all(doubtful(strings([f"a{c}b" for c in without[::97]])).to_pylist())


def test_doubtful_texts_go_to_tiktoken_in_their_place(monkeypatch):
    asked = []

    def spy(texts):
        asked.extend(texts.to_pylist())
        return by_tiktoken(texts)

    monkeypatch.setattr(engines, "by_tiktoken", spy)
    texts = ["one", "two \u0378", "", "three", "\U000e0fff", "four"]
    found = by_gigatoken(strings(texts))
    assert asked == ["two \u0378", "\U000e0fff"]
    assert [x.tolist() for x in found] == [x.tolist() for x in by_tiktoken(strings(texts))]


def test_the_memory_of_pretokens_is_bounded():
    engine = engines._Gigatoken(bytes_per_life=100)
    lives = []
    for k in range(6):
        engine.encode(strings([f"{k} some text of fifty bytes or so, eight for an offset"]))
        lives.append(engine._tokenizer)
    assert len({id(x) for x in lives}) in (3, 2)
    assert lives[0] is lives[1]
    assert lives[1] is not lives[2]
