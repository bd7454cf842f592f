"""A quantized fastText classifier (.ftz) read into plain arrays, for our own kernel.

Shapes: W words of the vocabulary, R rows (words, then the n-grams that pruning left), K labels, E embedding size.

Source: Joulin et al., "FastText.zip: Compressing text classification models" (arXiv:1612.03651), and the layout of
fastText's model files, version 12.
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC, VERSION = 793712314, 12
HIERARCHICAL = 1  # loss: hierarchical softmax
CENTROIDS = 256  # a code is one byte
LABEL = b"__label__"


@dataclass(frozen=True, eq=False)
class Classifier:
    """What a prediction needs.

    Args:
        words: W words, UTF-8.
        labels: K labels without their prefix, most frequent first.
        rows_RE: float32 [R, E], input embeddings, decoded.
        ngram_row: int32 [bucket], the row of an n-gram's hash; -1 where pruned.
        tree: int32 [K - 1, 2], children of each inner node: below K a label, else K + an inner node; the root is last.
        nodes_KE: float32 [K - 1, E], output embedding of each inner node.
        minn: shortest n-gram, characters.
        maxn: longest n-gram, characters.
    """

    words: list[bytes]
    labels: list[str]
    rows_RE: npt.NDArray[np.float32]
    ngram_row: npt.NDArray[np.int32]
    tree: npt.NDArray[np.int32]
    nodes_KE: npt.NDArray[np.float32]
    minn: int
    maxn: int


def read(path: Path) -> Classifier:
    """Read a model file.

    Args:
        path: an .ftz with hierarchical softmax, pruned n-grams and no word n-grams, as lid.176.ftz is.

    Raises:
        ValueError: it is another kind of file or model.
    """
    source = Reader(path.read_bytes())
    found = source.take("<ii")
    if found != (MAGIC, VERSION):
        raise ValueError(f"{path}: begins with {found}, a fastText model with {(MAGIC, VERSION)}; name an .ftz file")
    size, _, _, _, _, word_ngrams, loss, _, bucket, minn, maxn, _ = source.take("<12i")
    source.take("<d")
    num_entries, num_words, num_labels = source.take("<iii")
    _, num_pruned = source.take("<qq")
    if loss != HIERARCHICAL or word_ngrams != 1 or num_pruned <= 0:
        raise ValueError(
            f"{path}: loss {loss}, word n-grams {word_ngrams}, {num_pruned} n-grams kept; only pruned models with "
            "hierarchical softmax and single words are read here, such as lid.176.ftz"
        )
    entries = [(source.text(), *source.take("<qb")) for _ in range(num_entries)]
    pruned = source.array("<i4", 2 * num_pruned).reshape(-1, 2)
    ngram_row = np.full(bucket, -1, np.int32)
    ngram_row[pruned[:, 0]] = num_words + pruned[:, 1]
    (is_quantized,) = source.take("<?")
    if not is_quantized:
        raise ValueError(f"{path}: its input matrix is not quantized; name an .ftz file")
    rows = quantized(source, size)
    (output_quantized,) = source.take("<?")
    nodes = quantized(source, size) if output_quantized else dense(source)
    labels = entries[num_words:]
    return Classifier(
        words=[word for word, _, _ in entries[:num_words]],
        labels=[name.removeprefix(LABEL).decode() for name, _, _ in labels],
        rows_RE=rows,
        ngram_row=ngram_row,
        tree=_huffman([count for _, count, _ in labels]),
        nodes_KE=np.ascontiguousarray(nodes[: num_labels - 1]),
        minn=minn,
        maxn=maxn,
    )


class Reader:
    """A cursor over little-endian bytes.

    Args:
        data: the bytes, or a mapped file.
    """

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data, self._at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        """Values as `struct` lays them out."""
        found = struct.unpack_from(layout, self._data, self._at)
        self._at += struct.calcsize(layout)
        return found

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        """An array over the bytes themselves: no copy."""
        found = np.frombuffer(self._data, dtype, count, self._at)
        self._at += found.nbytes
        return found

    def text(self) -> bytes:
        """Bytes up to the next NUL."""
        end = self._data.find(b"\0", self._at)
        found = self._data[self._at : end]
        self._at = end + 1
        return found


def quantized(source: Reader, size: int) -> npt.NDArray[np.float32]:
    """A product-quantized matrix, decoded: float32 [rows, size].

    Args:
        source: stands before it.
        size: of a row.
    """
    (has_norms,) = source.take("<?")
    num_rows, _ = source.take("<qq")
    (num_codes,) = source.take("<i")
    codes = source.array("<u1", num_codes).reshape(num_rows, -1)
    decoded = _centroids(source, codes)
    assert decoded.shape[1] == size
    if has_norms:
        norms = source.array("<u1", num_rows).reshape(num_rows, 1)
        decoded = decoded * _centroids(source, norms)
    return np.ascontiguousarray(decoded, np.float32)


def _centroids(source: Reader, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Codes [rows, parts] to values: each part of a row is one of 256 centroids."""
    dim, num_parts, width, last_width = source.take("<4i")
    values = source.array("<f4", dim * CENTROIDS)
    pieces = []
    for part in range(num_parts):
        own = last_width if part == num_parts - 1 else width
        start = part * CENTROIDS * width
        pieces.append(values[start : start + CENTROIDS * own].reshape(CENTROIDS, own)[codes[:, part]])
    return np.concatenate(pieces, axis=1)


def dense(source: Reader) -> npt.NDArray[np.float32]:
    """A matrix as it stands in the file: float32 [rows, size].

    Args:
        source: stands before it.
    """
    num_rows, size = source.take("<qq")
    return source.array("<f4", num_rows * size).reshape(num_rows, size)


def _huffman(counts: list[int]) -> npt.NDArray[np.int32]:
    """Children of the inner nodes over labels that come most frequent first."""
    num_leaves = len(counts)
    weight = [*counts, *([10**15] * (num_leaves - 1))]
    leaf, node = num_leaves - 1, num_leaves
    children = []
    for inner in range(num_leaves, 2 * num_leaves - 1):
        pair = []
        for _ in range(2):
            if leaf >= 0 and weight[leaf] < weight[node]:
                pair.append(leaf)
                leaf -= 1
            else:
                pair.append(node)
                node += 1
        weight[inner] = weight[pair[0]] + weight[pair[1]]
        children.append(pair)
    return np.array(children, np.int32).reshape(-1, 2)
