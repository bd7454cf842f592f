"""Vocabularies: token ids of byte strings, and the tiktoken encoding that defines what a text's tokens are."""

import base64
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import models
from dataassets.recipe import Tokenize

if TYPE_CHECKING:
    import tiktoken

END_OF_TEXT = "<|endoftext|>"

# The regex of the GPT-2 release in the possessive form that tiktoken ships as r50k_pat_str: same cuts, no backtracking
GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""


@dataclass(frozen=True)
class Vocabulary:
    """What a reader of the tokens must know.

    Args:
        name: as in the recipe.
        sha256: of the ranks written as a .tiktoken file (for gpt2 that is OpenAI's r50k_base.tiktoken, byte for byte).
        size: number of ids, special tokens included.
        eot: id of the end-of-text token, which closes every document.
        dtype: Arrow type of an id.
    """

    name: str
    sha256: str
    size: int
    eot: int
    dtype: pa.DataType


# sha256: the hash that tiktoken_ext.openai_public pins for r50k_base.tiktoken
GPT2 = Vocabulary(
    name="gpt2",
    sha256="306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    size=50257,
    eot=50256,
    dtype=pa.uint16(),
)


def vocabulary(settings: Tokenize) -> Vocabulary:
    """The vocabulary that the recipe names; reads no file.

    >>> from dataassets.recipe import Tokenize
    >>> vocabulary(Tokenize()).size
    50257
    """
    return {"gpt2": GPT2}[settings.tokenizer]


@functools.cache
def ranks() -> dict[bytes, int]:
    """GPT-2's byte strings and their ids, from the two files of the release.

    Raises:
        RecipeError: the files are not here and cannot be fetched.

    Source: github.com/openai/gpt-2, encoder.json and vocab.bpe.

    >>> ranks()[b" the"]
    262
    """
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks

    with _without_tiktoken_cache():
        found: dict[bytes, int] = data_gym_to_mergeable_bpe_ranks(
            vocab_bpe_file=str(models.find("gpt2/vocab.bpe")), encoder_json_file=str(models.find("gpt2/encoder.json"))
        )
    return found


def tiktoken_file() -> bytes:
    r"""The ranks in tiktoken's own file format: base64 of the bytes, a space, the id, one a line, in order of id.

    >>> tiktoken_file()[:7]
    b'IQ== 0\n'
    """
    rising = sorted(ranks().items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in rising)


@functools.cache
def encoding() -> "tiktoken.Encoding":
    """Tiktoken's GPT-2, built without network: the reference of every engine.

    >>> encoding().encode_ordinary("hello world")
    [31373, 995]
    """
    import tiktoken

    return tiktoken.Encoding(
        GPT2.name,
        pat_str=GPT2_PATTERN,
        mergeable_ranks=ranks(),
        special_tokens={END_OF_TEXT: GPT2.eot},
        explicit_n_vocab=GPT2.size,
    )


def decode(tokens: npt.ArrayLike) -> str:
    """Text of a run of token ids; bytes that are no UTF-8 (a window may cut a character) become U+FFFD.

    Args:
        tokens: integers [T] of the vocabulary.

    >>> decode([31373, 995, 50256])
    'hello world<|endoftext|>'
    """
    return encoding().decode(np.asarray(tokens, np.int64).tolist())


@contextmanager
def _without_tiktoken_cache() -> Iterator[None]:
    """Tiktoken would keep copies of local files in the temporary folder and trust them by name later."""
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
