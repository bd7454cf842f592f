"""Laws of measuring: every signal equals the plain reference, whatever the text, and no threshold changes it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Language, Length
from dataassets.records import DOCUMENTS, SIGNALS
from dataassets.stages.filter import language, measure, measured_by, signals
from dataassets.stages.filter.rewritten import rewrite
from dataassets.stages.text import sentence_ends, utf8_buffers, word_spans

C4_SETTINGS = st.builds(
    C4,
    split_paragraph=st.booleans(),
    terminal_punct=st.booleans(),
    min_words_per_line=st.integers(0, 4),
    max_word_length=st.sampled_from([0, 5, 1000]),
    citations=st.booleans(),
    lorem_ipsum=st.booleans(),
    javascript=st.booleans(),
    curly_bracket=st.booleans(),
    policy=st.booleans(),
)
STOP_CHARS = st.none() | st.sampled_from(
    [(".",), ("。", "...", "word"), ("e\u0301", "\u0301", "hello there you."), ("\r",)]
)
STOP_WORDS = st.sampled_from([("the", "be", "and"), (), ("日本語", "x", "12", "the", "the"), ("...", "e\u0301")])
SHARES = st.just(0.5)
FILTERS = st.builds(
    Filter,
    gopher_repetition=st.none()
    | st.builds(
        GopherRepetition,
        top_n_grams=st.dictionaries(st.integers(1, 20), SHARES, max_size=5),
        dup_n_grams=st.dictionaries(st.integers(1, 20), SHARES, max_size=5),
        ngram_separator=st.booleans(),
    ),
    c4=st.none() | C4_SETTINGS,
    gopher_quality=st.none() | st.builds(GopherQuality, stop_words=STOP_WORDS),
    fineweb=st.none() | st.builds(FineWeb, short_line_length=st.integers(0, 40), stop_chars=STOP_CHARS),
)


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    """Language has its own tests; here it would be most of the time."""

    def identify(texts):
        labels = ["en" for _ in texts]
        return labels, np.ones(len(labels), np.float32)

    monkeypatch.setattr(language, "identify", identify)


def assert_equal_to_reference(texts, chosen, reference, documents_of):
    table, _ = measure(documents_of(texts), settings=chosen)
    assert table.schema == signals.schema(chosen)
    assert table.schema.names[: len(SIGNALS)] == SIGNALS.names
    knobs = {
        "c4_settings": chosen.c4 or C4(),
        "stop_words": (chosen.gopher_quality or GopherQuality()).stop_words,
        "shape": chosen.fineweb or FineWeb(),
        "grams": chosen.gopher_repetition,
    }
    for text, row in zip(texts, table.drop(["id", "language", "language_score"]).to_pylist(), strict=True):
        expected, rewritten = reference.signals(text, **knobs)
        assert row == expected
        if rewritten is not None:
            buffer, offsets = utf8_buffers(pa.array([text], pa.large_string()))
            kept = np.array(row["c4_lines"], np.int64)
            first = np.array([0, len(kept)], np.int64)
            c4 = knobs["c4_settings"]
            ends = None if c4.split_paragraph else sentence_ends(word_spans(buffer, offsets), buffer, offsets)
            made = rewrite(buffer, offsets, lines=kept, first=first, citations=c4.citations, sentences=ends)
            assert made.to_arrow().to_pylist() == [rewritten]


@settings(deadline=None, max_examples=250)
@given(data=st.data(), chosen=FILTERS)
def test_every_signal_of_a_nasty_text_equals_the_reference(data, chosen, nasty_texts, reference, documents_of):
    assert_equal_to_reference(data.draw(nasty_texts), chosen, reference, documents_of)


@pytest.mark.parametrize(
    "chosen", [Filter(), Filter(c4=C4(terminal_punct=False)), Filter(c4=C4(split_paragraph=False))]
)
def test_every_signal_of_a_real_text_equals_the_reference(chosen, real_texts, reference, documents_of):
    assert_equal_to_reference(real_texts, chosen, reference, documents_of)


def test_a_long_repetitive_text_equals_the_reference(reference, documents_of):
    text = "".join(f"{k % 7} in to {k % 3} into {'ab'[k % 2]} bc\n" for k in range(3000))
    many = GopherRepetition(top_n_grams=dict.fromkeys(range(1, 21), 1), dup_n_grams=dict.fromkeys(range(1, 21), 1))
    for chosen in (None, many, many.model_copy(update={"ngram_separator": True})):
        assert_equal_to_reference([text], Filter(gopher_repetition=chosen), reference, documents_of)


def test_a_separator_tells_words_apart_that_join_to_the_same(documents_of):
    texts = ["ab c ab c ab a bc a bc ab"]
    shares = [
        measure(documents_of(texts), settings=Filter(gopher_repetition=GopherRepetition(ngram_separator=apart)))[0]
        for apart in (False, True)
    ]
    assert [found["duplicated_5_n_grams"].to_pylist() for found in shares] == [[len("abcabcab") / 25], [0.0]]


@settings(deadline=None, max_examples=25)
@given(data=st.data(), slice_bytes=st.integers(1, 300), cut=st.integers(0, 8))
def test_slices_and_chunks_change_nothing(data, slice_bytes, cut, nasty_texts, documents_of):
    documents = documents_of(data.draw(nasty_texts))
    whole, report = measure(documents, settings=Filter())
    chunked = pa.concat_tables([documents.slice(0, cut), documents.slice(cut)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "SLICE_BYTES", slice_bytes)
        parts, told = measure(chunked, settings=Filter())
    assert parts.equals(whole)
    assert told == report


def test_no_documents_give_no_signals():
    table, report = measure(DOCUMENTS.empty_table(), settings=Filter())
    assert table.schema == SIGNALS
    assert len(table) == 0
    assert report.counts == {"documents": 0, "characters": 0}


THRESHOLDS = Filter(
    length=Length(min=1, max=2),
    language=Language(keep=("de",), min_score=0.1),
    gopher_repetition=GopherRepetition(dup_line_frac=0.5, top_n_grams={2: 0.9}),
    gopher_quality=GopherQuality(min_words=1, max_symbol_ratio=None, min_stop_words=7),
    c4=C4(min_sentences=1),
    fineweb=FineWeb(line_punct_ratio=0.9, new_line_ratio=None),
)


def test_thresholds_and_switches_are_no_part_of_what_signals_depend_on():
    assert measured_by(THRESHOLDS) == measured_by(Filter())


@pytest.mark.parametrize(
    "changed",
    [
        Filter(c4=C4(terminal_punct=False)),
        Filter(c4=C4(max_word_length=9)),
        Filter(c4=C4(split_paragraph=False)),
        Filter(gopher_quality=GopherQuality(stop_words=("der",))),
        Filter(fineweb=FineWeb(short_line_length=31)),
        Filter(fineweb=FineWeb(stop_chars=(".",))),
        Filter(gopher_repetition=GopherRepetition(ngram_separator=True)),
        Filter(gopher_repetition=GopherRepetition(top_n_grams={5: 0.1})),
        Filter(gopher_repetition=GopherRepetition(dup_n_grams={4: 0.1})),
    ],
)
def test_what_shapes_the_measuring_is_part_of_what_signals_depend_on(changed):
    assert measured_by(changed) != measured_by(Filter())
