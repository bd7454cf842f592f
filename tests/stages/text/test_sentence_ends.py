"""Laws of where sentences end: they are the plain form's, and by Unicode's words as many as are counted."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.stages.text import CUTS, sentence_ends, sentences, utf8_buffers

BITS = [
    "IS_ALPHA",
    "Hi",
    "é",
    "you",
    ".",
    "!",
    "?",
    "。",
    "...",
    '"',
    ")",
    "…",
    " ",
    " ",
    "  ",
    "\n",
    "\u3000",
    "3.14",
    "あ",
]
TEXTS = st.lists(st.lists(st.sampled_from(BITS), max_size=20).map("".join) | st.text(max_size=20), max_size=6)


def pieces_of(texts, cut):
    """The texts cut at their ends; one text more before them, so that no document begins at byte 0."""
    buffer, offsets = utf8_buffers(pa.array(["Not this. Nor that.", *texts], pa.large_string()).slice(1))
    ends, first = sentence_ends(CUTS[cut].word_spans(buffer, offsets), buffer, offsets)
    own = [[offsets[d], *ends[first[d] : first[d + 1]]] for d in range(len(texts))]
    return [[bytes(buffer[a:b]).decode() for a, b in pairwise(places)] for places in own]


@settings(deadline=None, max_examples=400)
@given(TEXTS)
def test_ends_are_those_of_the_plain_form(texts):
    assert pieces_of(texts, "english") == [sentences(text) or [text] for text in texts]


@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_by_words_of_unicode_they_are_the_text_and_as_many_as_are_counted(texts):
    pieces = pieces_of(texts, "unicode")
    assert ["".join(own) for own in pieces] == texts
    buffer, offsets = utf8_buffers(pa.array(texts, pa.large_string()))
    counted = CUTS["unicode"].sentence_counts(buffer, offsets[:-1], offsets[1:])
    assert [len(own) for own in pieces] == np.maximum(counted, 1).tolist()
