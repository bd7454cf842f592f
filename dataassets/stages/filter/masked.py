"""Text with spans of it masked, line by line, so that lines keep their numbers."""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_LINE = re.compile(r"[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")  # as str.splitlines cuts them


def masked(text: str, spans: Sequence[int], *, placeholder: str) -> str:
    r"""A text with a placeholder for each line of each span; line ends and blank lines stay.

    Args:
        text: any.
        spans: start, stop, start, … in bytes of its UTF-8, rising.
        placeholder: without line ends.

    >>> masked("Ask: what is it?\nThat! Then", [5, 21], placeholder="[…]")
    'Ask: […]\n[…]! Then'
    """

    def of_line(line: re.Match[str]) -> str:
        return placeholder if line[0].strip() else line[0]

    data, pieces, at = text.encode(), [], 0
    for start, stop in zip(spans[::2], spans[1::2], strict=True):
        pieces += [data[at:start].decode(), _LINE.sub(of_line, data[start:stop].decode())]
        at = stop
    return "".join([*pieces, data[at:].decode()])


def mask(
    texts: pa.ChunkedArray, spans: pa.ChunkedArray, *, rows: npt.NDArray[np.int64], placeholder: str
) -> pa.ChunkedArray:
    """A column of texts, some of them masked.

    Args:
        texts: large_string [D].
        spans: lists of int64 [D], as `masked` takes them.
        rows: numbers of the texts to mask, rising.
        placeholder: without line ends.
    """
    chosen = np.zeros(len(texts), bool)
    chosen[rows] = True
    chunks, row = [], 0
    for chunk in texts.chunks:
        here = pa.array(chosen[row : row + len(chunk)])
        pairs = zip(chunk.filter(here).to_pylist(), spans[row : row + len(chunk)].filter(here).to_pylist(), strict=True)
        new = [masked(text, own, placeholder=placeholder) for text, own in pairs]
        chunks.append(pc.replace_with_mask(chunk, here, pa.array(new, chunk.type)))
        row += len(chunk)
    return pa.chunked_array(chunks, texts.type)
