"""Laws of cutting text: the compiled cuts are the plain ones, on any Unicode text."""

import re
import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataassets.stages import text as cut
from dataassets.stages.text import class_table, sentence_counts, sentences, utf8_buffers, word_hashes, word_spans, words

BITS = ["a", "Zé", "9", "٣", "½", "日本", "。", "\u0301", "\u0903", "\u20dd", "_", "-", "'", ".", "..", "...", ".....",
        "…", "!", "?!", "؟", '"', "”", ")", "😀", "\0", "\x1f", " ", "\n", "\r\n", "\x85", "\u3000", "\u200b", "3.14",
        "e.g."]  # fmt: skip
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(BITS), max_size=40).map("".join))


def buffers(texts):
    return utf8_buffers(pa.array(texts, pa.large_string()))


def fnv1a(word):
    h = 0xCBF29CE484222325
    for byte in word.encode():
        h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=5))
@example(["", ".", "..", "...", "a...b....", "日本語。"])
def test_compiled_words_are_the_plain_words(texts):
    buffer, offsets = buffers(texts)
    starts, stops, first = word_spans(buffer, offsets)
    found = [bytes(buffer[a:b]).decode() for a, b in zip(starts, stops, strict=True)]
    assert [found[a:b] for a, b in pairwise(first)] == [words(text) for text in texts]
    for d, text in enumerate(texts):
        hashes = np.zeros(offsets[d + 1] - offsets[d], np.uint64)
        num = word_hashes(buffer, offsets[d], offsets[d + 1], class_table(), hashes)
        assert hashes[:num].tolist() == [fnv1a(word) for word in words(text)]


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=5))
@example(["3.14", "Go!Now", "あ。い", 'He said "no." Then.', ". ", "...", "a. b", "a.) (b"])
def test_compiled_sentences_are_the_plain_sentences(texts):
    buffer, offsets = buffers(texts)
    assert sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist() == [len(sentences(text)) for text in texts]


@given(TEXTS)
def test_sentences_join_to_the_text(text):
    assert "".join(sentences(text)) == text


@given(TEXTS)
def test_words_are_the_runs_of_letters_digits_and_marks_and_everything_else_but_space(text):
    inside = "".join("w" if c.isalnum() or unicodedata.category(c) in ("Mn", "Mc") else c for c in text)
    lengths = [len(run) for run in re.findall(r"w+|\.{3,}|\S", inside.replace("\x1c", " "))]
    if not set(text) & set("\x1d\x1e\x1f"):
        assert [len(word) for word in words(text)] == lengths
    assert "".join(words(text)) == "".join(c for c in text if not c.isspace())


def test_classes_are_those_of_python():
    table, chars = class_table(), [chr(point) for point in range(0, cut.CODE_POINTS, 7)]
    for bit, law in ((cut.SPACE, str.isspace), (cut.ALPHA, str.isalpha), (cut.DIGIT, str.isdecimal)):
        assert (table[: cut.CODE_POINTS : 7] & bit != 0).tolist() == [law(char) for char in chars]
    breaks = [chr(point) for point in range(cut.CODE_POINTS) if table[point] & cut.LINE_END]
    assert breaks == [c for c in map(chr, range(cut.CODE_POINTS)) if len(f"a{c}b".splitlines()) == 2]


def test_marks_are_as_many_as_in_the_reference():
    terminal, symbols = cut.code_points(cut.TERMINAL_MARKS), cut.code_points(cut.OTHER_SYMBOLS)
    assert len(terminal) == len(set(terminal)) == 159  # FILTERS.md, section 0
    assert len(set(terminal) | set(symbols)) == 281


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_damaged_utf8_neither_crashes_nor_hangs(data):
    buffer = np.frombuffer(data or b"\0", np.uint8)
    offsets = cut.frozen(np.array([0, len(data)], np.int64))
    starts, stops, _ = word_spans(buffer, offsets)
    assert (starts < stops).all()
    assert (stops <= len(data)).all()


@given(st.lists(TEXTS, max_size=6), st.integers(0, 6), st.booleans())
def test_buffers_hold_the_texts_of_any_slice_and_chunking(texts, start, large):
    kind = pa.large_string() if large else pa.string()
    array = pa.chunked_array([texts[:start], texts[start:]], kind).slice(min(1, len(texts)))
    buffer, offsets = utf8_buffers(array)
    found = [bytes(buffer[a:b]).decode() for a, b in pairwise(offsets)]
    assert found == texts[1:]
    assert not buffer.flags.writeable
