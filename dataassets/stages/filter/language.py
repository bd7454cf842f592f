"""Language of a document: lid.176 on the whole text."""

import threading
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import models
from dataassets.stages.filter import ftz, lid
from dataassets.stages.text import utf8_buffers

SLOTS = 1 << 20  # of the table of words; at most half are filled: about 70 MB a process

_LOCK = threading.Lock()  # the table grows while documents are read


def identify(texts: pa.ChunkedArray | pa.Array) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The likeliest language of each text and its score.

    Args:
        texts: large_string [D], no nulls; line feeds are read as spaces.

    Returns:
        D labels as lid.176 names them (mostly ISO 639-1), and float32 [D] scores from 0 to 1.

    Source: Joulin et al., "Bag of Tricks for Efficient Text Classification"; scores are clipped as datatrove does.

    >>> identify(pa.array(["The quick brown fox jumps over the lazy dog."], pa.large_string()))[0]
    ['en']
    """
    labels, model, table = _loaded()
    buffer, offsets = utf8_buffers(texts)
    label_D, score_D = np.empty(len(texts), np.int64), np.empty(len(texts), np.float32)
    with _LOCK:
        lid.label_all(buffer, offsets, model, table, label_D, score_D)
    return [labels[k] for k in label_D.tolist()], np.minimum(score_D, np.float32(1))


@lru_cache(maxsize=1)
def _loaded() -> tuple[list[str], lid.Model, lid.Table]:
    """The model, and a table that holds its vocabulary: a word that is not there has n-grams only. Once a process."""
    found = ftz.read(models.find(models.LANGUAGE))
    assert (found.rows_RE.shape[1], len(found.ngram_row)) == (lid.SIZE, lid.BUCKET), "lid.176 is pinned by its hash"
    kept = np.packbits(found.ngram_row >= 0, bitorder="little")  # 250 kB that stay in the cache, beside 8 MB of rows
    model = lid.Model(found.rows_RE, found.ngram_row, kept, found.minn, found.maxn, found.tree, found.nodes_KE)
    table = lid.Table(
        slots=np.full(SLOTS, -1, np.int32),
        keys=np.zeros((SLOTS // 2, lid.WORD_BYTES), np.uint8),
        lengths=np.zeros(SLOTS // 2, np.int32),
        sums=np.zeros((SLOTS // 2, lid.SIZE), np.float32),
        counts=np.zeros(SLOTS // 2, np.int32),
        used=np.zeros(1, np.int64),
    )
    for row, word in enumerate(found.words):
        assert len(word) <= lid.WORD_BYTES, "the vocabulary fits the table"
        lid.enter_vocabulary(np.frombuffer(word, np.uint8), row, model, table)
    assert lid.LINE_END.tobytes() in found.words, "every line ends in a word of the vocabulary"
    return found.labels, model, table
