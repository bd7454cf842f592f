"""The plain cuts are spaCy's: on stored answers everywhere, on any text where spaCy is installed."""

import gzip
import importlib.util
import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataassets.stages.text import rules, sentences, words
from dataassets.stages.text.exceptions import exceptions

GOLDEN = Path(__file__).parents[2] / "golden"
SHARED = Path(__file__).parents[4] / "shared" / "data" / "words_spacy.parquet"

spec = importlib.util.spec_from_file_location("make_words", GOLDEN / "make_words.py")
maker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(maker)
spacy_here = pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="wants spacy==3.8.18")

GLUED = st.lists(st.sampled_from(maker.PIECES + list(".,:;)('\"-x3Aé°") + list(exceptions())), max_size=6).map("".join)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.tuples(GLUED, st.sampled_from(maker.SPACES)).map("".join), max_size=12).map("".join),
)


def test_words_and_sentences_are_those_of_the_stored_answers():
    rows = json.loads(gzip.decompress((GOLDEN / "words_spacy.json.gz").read_bytes()))
    assert len(rows) > 750
    for text, expected, num_sentences in rows:
        assert words(text) == expected
        assert len(sentences(text)) == num_sentences


@pytest.mark.skipif(not SHARED.exists(), reason="wants ../shared/data")
def test_words_are_those_of_the_shared_answers():
    rows = pq.read_table(SHARED).to_pylist()
    first = next(row for row in rows if "IS_ALPHA" in row["words"])  # refused from the second one of a process on
    first["text"], first["words"] = (
        first["text"].replace("IS_ALPHA", "X"),
        [w.replace("IS_ALPHA", "X") for w in first["words"]],
    )
    assert [words(row["text"]) for row in rows] == [row["words"] for row in rows]
    assert len(rows) == 1477


@spacy_here
@settings(deadline=None, max_examples=500)
@given(TEXTS)
@example("°C.?!")
@example("a :( (( b")
@example("xIS_ALPHAy IS_ALPHA")
def test_words_and_sentences_are_those_of_spacy(text):
    expected, num_sentences = maker.reference(text)
    assert (words(text), len(sentences(text))) == (expected, num_sentences)


@spacy_here
@pytest.mark.parametrize(
    "frame", ["{}", "a{}b", "{}.", "A{}.", "({}", "5{}", "a.{}", "{}x", "1{}a", "a@{}.com", "a.b{}c"]
)
def test_every_character_is_cut_as_spacy_cuts_it(frame):
    points = [p for p in range(0x20000) if not 0xD800 <= p < 0xE000] + list(range(0x20000, 0x110000, 997))
    for start in range(0, len(points), 1000):
        text = "\n".join(frame.format(chr(point)) for point in points[start : start + 1000])
        assert words(text) == maker.reference(text)[0]


@spacy_here
def test_exceptions_are_those_of_spacy():
    from spacy.symbols import ORTH

    rules = {word: [spec[ORTH] for spec in own] for word, own in maker._pipeline().tokenizer.rules.items()}
    ours = {word: [word[a:b] for a, b in pairwise((0, *ends))] for word, ends in exceptions().items()}
    assert ours == {word: parts for word, parts in rules.items() if word.strip()}


def test_no_exception_is_longer_than_the_rules_look():
    assert max(map(len, exceptions())) == rules.LONGEST
    assert max(len(parts) for group in rules.patterns().values() for parts in group) == rules.MOST_WORDS


@given(TEXTS)
def test_words_are_the_text_without_white_space(text):
    assert "".join(words(text)) == "".join(c for c in text if not c.isspace()) or "IS_ALPHA" in text


@given(TEXTS)
def test_sentences_join_to_the_text(text):
    assert "".join(sentences(text)) == text or "IS_ALPHA" in text


@pytest.mark.parametrize(
    "unit", ["!", ".", "a@", "a.", "a:", "a@b.", "(", "1.", "..x", "'s", ":)", "a-", "://", "-:)", "５."]
)
def test_time_grows_with_the_length_of_a_chunk(unit):
    started = time.perf_counter()
    words(unit * (200_000 // len(unit)))
    assert time.perf_counter() - started < 20


def test_white_space_is_what_python_calls_so():
    from dataassets.stages.text.plain import _CHUNK

    spaces = [chr(point) for point in range(0x110000) if chr(point).isspace()]
    assert [c for c in map(chr, range(0x110000)) if not _CHUNK.match(c)] == spaces
    assert re.sub(_CHUNK, "", "a b\x1cc") == " \x1c"
