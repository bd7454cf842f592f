"""The compiled cuts are the plain ones, whatever a thread remembers, and on damaged bytes they stay within the text."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataassets.stages import text as cut
from dataassets.stages.text import (
    chunks,
    class_table,
    classes,
    sentence_counts,
    sentences,
    utf8_buffers,
    word_counts,
    word_spans,
    words,
)
from dataassets.stages.text.exceptions import exceptions

BITS = ["a", "Zé", "9", "٣", "½", "日本", "。", "\u0301", "_", "-", "'", ".", "..", "...", "…", "!", "?!", "؟", '"',
        "”", ")", "😀", "\0", "\x1f", " ", " ", " ", "\n", "\r\n", "\x85", "\u3000", "\u200b", "3.14", "e.g.",
        "IS_ALPHA", "x" * 300, "Don't", "a@b.co", ":", ":(", "(", "-:", "5km", "°C."]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(BITS) | st.sampled_from(list(exceptions())), max_size=40).map("".join),
)
ROWS = json.loads(gzip.decompress((Path(__file__).parents[2] / "golden" / "words_spacy.json.gz").read_bytes()))


def buffers(texts):
    return utf8_buffers(pa.array(texts, pa.large_string()))


def assert_plain(texts):
    buffer, offsets = buffers(texts)
    data, starts, stops, first = word_spans(buffer, offsets)
    found = [bytes(data[a:b]).decode() for a, b in zip(starts, stops, strict=True)]
    expected = [words(text) for text in texts]
    assert [found[a:b] for a, b in pairwise(first)] == expected
    assert word_counts(buffer, offsets).tolist() == [len(own) for own in expected]
    assert sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist() == [len(sentences(text)) for text in texts]
    assert not any(array.flags.writeable for array in (data, starts, stops, first))


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=5))
@example(["", ".", "..", "...", "a...b....", "日本語。"])
@example(["a:( (b", "x:)) ) y:) )", "a:) :) b", "- :(x", "x" * 256 + ": ) y"])
@example(["3.14", "Go!Now", "あ。い", 'He said "no." Then.', ". ", "...", "a. b", "a.) (b", "a.  ", "a. \n"])
@example(["IS_ALPHA", "xIS_ALPHA", "a", "xIS_ALPHAy IS_ALPHA"])
def test_compiled_cuts_are_the_plain_cuts(texts):
    assert_plain(texts)


PARTS = ["a", "B", "foo", "s", "S", "D", "P", "x", "o", "8", "3", "km", "é", "日", "_", ".", "(", ")", '"', "can", "ca"]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from([*PARTS, *"-/:<>=~,'"]), max_size=9).map("".join), max_size=30))
@example(
    ["a=D", "x-8-D", "foo:P", "a-:P", "o/o", "(a-b)", "a-b's", "a'S", "1-2", "a-9", "1,a", "a,b", "x5-3m/s", "a-B."]
)
def test_links_between_letters_are_cut_as_the_rules_say(pieces):
    """Learned compiled where no words spell an exception, whatever is remembered before."""
    chunks._memory.begin()
    assert_plain([" ".join(pieces)])


def test_no_exception_is_as_many_words_as_links_make_of_it():
    """What tells an exception in a chunk, learned compiled, from a part that the rules cut."""
    for word in exceptions():
        links = sum(char in "-/:<>=~," for char in word[1:-1])
        assert not (links and word[0].isalnum() and word[-1].isalnum() and len(exceptions()[word]) == 1 + 2 * links)


@pytest.fixture
def _small_memory(monkeypatch):
    monkeypatch.setattr(chunks, "NUM_SLOTS", 4096)
    monkeypatch.setattr(chunks, "ARENA_BYTES", 1 << 16)
    monkeypatch.setattr(chunks, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(chunks, "_memory", chunks._Memory())


def test_compiled_cuts_of_stored_texts():
    assert_plain([text for text, *_ in ROWS])


@pytest.mark.usefixtures("_small_memory")
def test_what_is_remembered_changes_nothing():
    assert_plain([text for text, *_ in ROWS])


def test_equal_hashes_prove_nothing(monkeypatch):
    """Where two chunks have swapped slots, as if their hashes met, the bytes tell them apart."""
    memory = chunks._Memory()
    monkeypatch.setattr(chunks, "_memory", memory)
    assert_plain(["one- don't!"])
    low, places = np.uint64(0xFFFFFFFF), [memory.arena.tobytes().rindex(word) - 8 for word in (b"one-", b"don't!")]
    slots = [int(np.flatnonzero(memory.slots & low == place)[0]) for place in places]
    tops = memory.slots[slots] & ~low
    memory.slots[slots] = tops | np.array(places[::-1], np.uint64)
    assert_plain(["one- don't!", "one-", "don't!"])


def test_threads_do_not_disturb_each_other():
    texts = [text for text, *_ in ROWS]
    expected = word_spans(*buffers(texts))
    barrier = threading.Barrier(4)

    def one(_):
        barrier.wait()
        return word_spans(*buffers(texts))

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(one, range(4)):
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@settings(deadline=None)
@given(st.binary(max_size=40))
@example(b"\xff:) \xe2\x80 x:(\xc2")
def test_damaged_utf8_neither_crashes_nor_hangs(data):
    buffer = np.frombuffer(data or b"\0", np.uint8)
    offsets = cut.frozen(np.array([0, len(data)], np.int64))
    _, starts, stops, _ = word_spans(buffer, offsets)
    assert (starts < stops).all()
    assert (stops <= len(data)).all()
    sentence_counts(buffer, offsets[:-1], offsets[1:])


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
    assert (class_table()[terminal] & classes.END_MARK != 0).sum() == 128


@given(st.lists(TEXTS, max_size=6), st.integers(0, 6), st.booleans())
def test_buffers_hold_the_texts_of_any_slice_and_chunking(texts, start, large):
    kind = pa.large_string() if large else pa.string()
    array = pa.chunked_array([texts[:start], texts[start:]], kind).slice(min(1, len(texts)))
    buffer, offsets = utf8_buffers(array)
    found = [bytes(buffer[a:b]).decode() for a, b in pairwise(offsets)]
    assert found == texts[1:]
    assert not buffer.flags.writeable
