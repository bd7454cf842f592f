"""GPT-2's vocabulary is OpenAI's, built without network."""

import hashlib
import os
import socket

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dataassets import models
from dataassets.recipe import Tokenize
from dataassets.stages.tokenize import decode, vocabulary
from dataassets.stages.tokenize.vocabulary import END_OF_TEXT, GPT2_PATTERN, encoding, ranks, tiktoken_file

# Ids as the GPT-2 release and OpenAI's tokenizer page give them.
GOLDEN = {
    "hello world": [31373, 995],
    "Hello, world!": [15496, 11, 995, 0],
    "I've it'll 'S don't": [40, 1053, 340, 1183, 705, 50, 836, 470],
    "  two  spaces\n\n\tand 12345 tabs": [220, 734, 220, 9029, 628, 197, 392, 17031, 2231, 22524],
    "Größe": [8642, 9101, 39683, 68],
    "日本": [33768, 98, 17312, 105],
    "<|endoftext|>": [27, 91, 437, 1659, 5239, 91, 29],
}


def test_golden_ids():
    assert {text: encoding().encode_ordinary(text) for text in GOLDEN} == GOLDEN


def test_the_vocabulary_is_gpt2s():
    found = vocabulary(Tokenize())
    assert (found.name, found.size, found.eot, found.dtype) == ("gpt2", 50257, 50256, pa.uint16())
    assert found.size - 1 <= np.iinfo(found.dtype.to_pandas_dtype()).max
    assert encoding().n_vocab == found.size
    assert encoding().encode(END_OF_TEXT, allowed_special="all") == [found.eot]
    assert sorted(ranks().values()) == list(range(found.eot))


def test_the_ranks_written_as_a_tiktoken_file_are_the_published_one():
    assert hashlib.sha256(tiktoken_file()).hexdigest() == vocabulary(Tokenize()).sha256


def test_the_pattern_is_the_one_that_tiktoken_ships():
    from tiktoken_ext.openai_public import r50k_pat_str

    assert r50k_pat_str == GPT2_PATTERN


def test_neither_network_nor_tiktokens_cache_is_used(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert models.find("gpt2/vocab.bpe").is_file()
    assert ranks.__wrapped__() == ranks()
    assert list(tmp_path.iterdir()) == []
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


@given(st.text())
def test_decode_is_the_inverse_of_encode(text):
    assert decode(np.array(encoding().encode_ordinary(text), np.uint16)) == text


def test_a_window_may_cut_a_character():
    assert decode(encoding().encode_ordinary("日")[:1]) == "\ufffd"
