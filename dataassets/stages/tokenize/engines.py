"""Two engines with one answer: tiktoken, and gigatoken where it is installed (13x as fast).

Shapes: D documents, T tokens of all of them, without end-of-text tokens.
"""

import functools
import importlib.util
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.stages.tokenize.vocabulary import encoding, tiktoken_file

if TYPE_CHECKING:
    import awkward as ak
    from gigatoken.gigatoken_rs import BPETokenizer

Offsets = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]

# gigatoken remembers every pre-token it met: 2 to 25 bytes a byte of all-new words (measured). A fresh one costs 60 ms.
BYTES_PER_LIFE = 128_000_000


def available() -> bool:
    """Whether gigatoken is installed."""
    return importlib.util.find_spec("gigatoken") is not None


def by_tiktoken(texts: pa.Array) -> tuple[Ids, Offsets]:
    """Encode with tiktoken; special tokens in a text are ordinary text.

    Args:
        texts: large_string [D], no nulls.

    Returns:
        uint32 [T] ids, int64 [D + 1] offsets.

    >>> by_tiktoken(pa.array(["a b", ""], pa.large_string()))[1].tolist()
    [0, 2, 2]
    """
    encode = encoding().encode_to_numpy
    found = [np.asarray(encode(text, disallowed_special=()), np.uint32) for text in texts.to_pylist()]
    return _joined(found)


def by_gigatoken(texts: pa.Array) -> tuple[Ids, Offsets]:
    """Encode with gigatoken, and with tiktoken where a text holds a code point that the two may treat differently.

    Args:
        texts: large_string [D], no nulls.

    Returns:
        uint32 [T] ids, int64 [D + 1] offsets; equal to `by_tiktoken`.
    """
    unsure_D = np.asarray(doubtful(texts))
    if not unsure_D.any():
        return _gigatoken().encode(texts)
    ids, offsets = _gigatoken().encode(texts)
    slow_ids, slow_offsets = by_tiktoken(texts.filter(pa.array(unsure_D)))
    rows = np.cumsum(unsure_D) - 1
    return _joined(
        slow_ids[slow_offsets[rows[d]] : slow_offsets[rows[d] + 1]] if unsure else ids[offsets[d] : offsets[d + 1]]
        for d, unsure in enumerate(unsure_D.tolist())
    )


def doubtful(texts: pa.Array) -> pa.Array:
    r"""Which texts hold a code point that has no meaning in the Unicode version of this Python.

    gigatoken 0.10.0 and tiktoken 0.14.0 agree on all code points (tried in nine contexts each). Code points that a
    later Unicode assigns may become letters in one library before the other; such texts are rare and go to tiktoken.

    Args:
        texts: large_string [D].

    Returns:
        boolean [D].

    >>> doubtful(pa.array(["plain", "\U000e0fff"], pa.large_string())).to_pylist()
    [False, True]
    """
    found = pc.match_substring_regex(texts, _unassigned())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


@functools.cache
def _unassigned() -> str:
    """An RE2 class of all unassigned code points: some 700 ranges, matched at 570 MB/s."""
    ranges: list[list[int]] = []
    for code in range(0x110000):
        if unicodedata.category(chr(code)) == "Cn":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "[" + "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges) + "]"


def _joined(found: Iterable[Ids]) -> tuple[Ids, Offsets]:
    rows = list(found)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return np.concatenate([np.empty(0, np.uint32), *rows]), offsets


class _Gigatoken:
    """A gigatoken that is born again after so many bytes, since its memory of pre-tokens only grows."""

    def __init__(self, *, bytes_per_life: int = BYTES_PER_LIFE) -> None:
        self._bytes_per_life = bytes_per_life
        self._left = 0
        self._tokenizer: BPETokenizer | None = None
        self._file = tiktoken_file()

    def encode(self, texts: pa.Array) -> tuple[Ids, Offsets]:
        """As `by_gigatoken`, without its care."""
        if self._tokenizer is None or self._left <= 0:
            self._tokenizer, self._left = self._fresh(), self._bytes_per_life
        self._left -= texts.nbytes
        # parallel=False: units of work are what runs in parallel, and its threads do not survive a fork
        found = self._tokenizer.encode_batch(_awkward(texts), parallel=False).layout
        offsets = np.asarray(found.offsets.data, np.int64)
        return np.asarray(found.content.data, np.uint32)[offsets[0] : offsets[-1]], offsets - offsets[0]

    def _fresh(self) -> "BPETokenizer":
        from gigatoken.gigatoken_rs import BPETokenizer

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gpt2.tiktoken"
            path.write_bytes(self._file)
            return BPETokenizer.from_tiktoken(path, "gpt2", None)  # no special tokens: they are text here


_gigatoken: Callable[[], _Gigatoken] = functools.cache(_Gigatoken)


def _awkward(texts: pa.Array) -> "ak.Array":
    """The same buffers as an awkward array of strings, which gigatoken reads without a copy."""
    import awkward as ak

    _, offsets, data = texts.buffers()
    offsets = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1] if offsets else np.zeros(1)
    chars = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    content = ak.contents.NumpyArray(chars, parameters={"__array__": "char"})
    strings = ak.contents.ListOffsetArray(
        ak.index.Index64(offsets.astype(np.int64, copy=False)), content, parameters={"__array__": "string"}
    )
    return ak.Array(strings)
