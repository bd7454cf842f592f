"""Language of a document: lid.176 on the whole text."""

import threading
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets import models
from dataassets.stages.filter import ftz, lid, rows
from dataassets.stages.text import utf8_buffers

SLOTS = 1 << 20  # of the table of words; at most half are filled: about 70 MB a thread, touched as they fill


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
    labels, model = _loaded()[:2]
    buffer, offsets = utf8_buffers(texts)
    label_D, score_D = np.empty(len(texts), np.int64), np.empty(len(texts), np.float32)
    room = lid.room_for(longest=int(np.diff(offsets).max(initial=0)), num_labels=len(labels))
    lid.label_all(buffer, offsets, model, _seen.words(), room, label_D, score_D)
    return [labels[k] for k in label_D.tolist()], np.minimum(score_D, np.float32(1))


@lru_cache(maxsize=1)
def _loaded() -> tuple[list[str], lid.Model, pa.Array]:
    """Labels, the model, and the words of its vocabulary: a word that is none of them has n-grams only."""
    found = ftz.read(models.find(models.LANGUAGE))
    assert (found.rows_RE.shape[1], len(found.ngram_row)) == (rows.SIZE, lid.BUCKET), "lid.176 is pinned by its hash"
    assert (found.minn, found.maxn) == (lid.MINN, lid.MAXN), "so are the lengths of its n-grams"
    assert found.words[0] == lid.LINE_END, "every line ends in a word of the vocabulary"
    assert max(map(len, found.words)) <= lid.WORD_BYTES, "the vocabulary fits the table"
    is_kept = found.ngram_row >= 0
    kept = np.packbits(is_kept, bitorder="little").view(np.uint64)
    counts = is_kept.reshape(-1, 64).sum(axis=1)
    ngrams = rows.zeros(int(is_kept.sum()), rows.SIZE, np.float32)
    ngrams[:] = found.rows_RE[found.ngram_row[is_kept]]
    model = lid.Model(
        words=found.rows_RE[: len(found.words)],
        ngrams=ngrams,
        kept=kept,
        before=(np.cumsum(counts) - counts).astype(np.int32),
        tree=found.tree,
        nodes=found.nodes_KE,
    )
    return found.labels, model, pa.array(found.words, pa.large_binary()).cast(pa.large_string())


class _Seen(threading.local):
    """The words that a thread has met, so that threads do not wait for each other."""

    def __init__(self) -> None:
        self.table: lid.Table | None = None

    def words(self) -> lid.Table:
        """The table; new ones hold the vocabulary."""
        if self.table is None:
            self.table = lid.Table(
                slots=np.zeros(SLOTS, np.uint64),
                keys=rows.zeros(SLOTS // 2, lid.KEY, np.uint64),
                sums=rows.zeros(SLOTS // 2, rows.SIZE, np.float32),
                used=np.zeros(1, np.int64),
            )
            labels, model, vocabulary = _loaded()
            room = lid.room_for(longest=lid.WORD_BYTES, num_labels=len(labels))
            lid.enter_vocabulary(*utf8_buffers(vocabulary), model, self.table, room)
        return self.table

    def forget(self) -> None:
        """Begin anew."""
        self.table = None


_seen = _Seen()
