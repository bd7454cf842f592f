"""Documents to signatures: the hash of the normalized text and the MinHash of its shingles.

Shapes: D documents, H hashes a signature.
"""

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from dataassets import records
from dataassets.recipe import Dedup, MinHash
from dataassets.report import Histogram, Report
from dataassets.stages.dedup.minhash import permutations

if TYPE_CHECKING:  # numba is imported where it runs
    from dataassets.stages.text import Bytes, Ints, Words

BATCH_ROWS = 1024  # documents cut at a time: bounds the memory, changes no result
SHINGLE_EDGES = (0.0, *(float(2**k) for k in range(21)))


def sign(documents: pa.Table, *, settings: Dedup) -> tuple[pa.Table, Report]:
    """Signatures of documents, row by row.

    A text's words are those of `stages.text` after Arrow's `utf8_lower`; its characters those of `normalized`. The
    signature is that of `datasketch.MinHash(num_perm, seed, scheme="affine32", hashfunc=shingle_hash)` fed with each
    run of `ngram` words, joined by one space (`character_hash` and runs of characters, where `shingle` says so);
    `datasketch.LeanMinHash(seed=seed, hashvalues=row, scheme="affine32")` loads it.

    Args:
        documents: records.DOCUMENTS [D].
        settings: `exact` and `minhash` of their source.

    Returns:
        records.with_shingles(records.signatures(H)) [D], and a report: counts `documents`, `without_text`, `too_short`
        (fewer words than a shingle); histogram of shingles.
    """
    num_docs = len(documents)
    hashes = _text_hashes(documents["text"]) if settings.exact else pa.nulls(num_docs, pa.binary(16))
    num_perm = settings.minhash.num_perm if settings.minhash else 0
    schema = records.with_shingles(records.signatures(num_perm))
    counts = {"documents": num_docs}
    if settings.exact:
        counts["without_text"] = hashes.null_count
    if settings.minhash is None:
        none = pa.nulls(num_docs, schema.field("signature").type)
        zeros = pa.array(np.zeros(num_docs, np.int32))
        columns = [none, zeros, zeros, pa.nulls(num_docs, schema.field("shingles").type)]
        histograms = {}
    else:
        columns = _signatures(documents["text"], settings=settings.minhash)
        counts["too_short"] = columns[0].null_count
        histograms = {"shingles": Histogram.of(np.asarray(columns[1]), edges=SHINGLE_EDGES)}
    return pa.table([documents["id"], hashes, *columns], schema=schema), Report(counts, histograms)


def normalized(text: str) -> str:
    r"""What two texts must share to be the same: NFC, lower case, runs of white space as one space, none at the ends.

    >>> normalized("  A\tcafe\u0301 \n")
    'a café'
    """
    return " ".join(unicodedata.normalize("NFC", text).lower().split())


def _text_hashes(texts: pa.ChunkedArray) -> pa.Array:
    """xxh3-128 of each normalized text; null where nothing is left."""
    found = (normalized(text).encode() for chunk in texts.chunks for text in chunk.to_pylist())
    return pa.array([xxhash.xxh3_128_digest(text) if text else None for text in found], pa.binary(16))


def _signatures(texts: pa.ChunkedArray, *, settings: MinHash) -> list[pa.Array]:
    """Signature, number of shingles, number of distinct ones, and those (null where nobody will ask for them)."""
    from dataassets.stages.dedup.kernels import shingle_sets, sign_sets

    a, b = permutations(num_perm=settings.num_perm, seed=settings.seed)
    sig_DH = np.zeros((len(texts), settings.num_perm), np.uint32)
    num_D, distinct_D = np.zeros(len(texts), np.int32), np.zeros(len(texts), np.int32)
    kept = [np.empty(0, np.uint32)]
    for rows, spans in _spans(texts, settings=settings):
        sets = np.empty(len(spans.starts), np.uint32)
        size = shingle_sets(*spans, settings.ngram, sets, num_D[rows], distinct_D[rows])
        sign_sets(sets, distinct_D[rows], a, b, sig_DH[rows])
        if settings.verify == "exact":
            kept.append(sets[:size].copy())
    kind = records.signatures(settings.num_perm).field("signature").type
    values = pa.array(sig_DH.reshape(-1))
    return [
        pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(num_D == 0)),
        pa.array(num_D),
        pa.array(distinct_D),
        _lists(kept, distinct_D) if settings.verify == "exact" else pa.nulls(len(texts), records.SHINGLES.type),
    ]


def _spans(texts: pa.ChunkedArray, *, settings: MinHash) -> Iterator[tuple[slice, "Words"]]:
    """What shingles are made of, some documents at a time: their rows, and where words or characters lie."""
    from dataassets.stages.text import utf8_buffers, word_spans

    if settings.shingle == "words":
        buffer, offsets = utf8_buffers(pc.utf8_lower(texts))
        for row in range(0, len(texts), BATCH_ROWS):
            yield slice(row, row + BATCH_ROWS), word_spans(buffer, offsets[row : row + BATCH_ROWS + 1])
        return
    for row in range(0, len(texts), BATCH_ROWS):
        plain = [normalized(text) for text in texts.slice(row, BATCH_ROWS).to_pylist()]
        buffer, offsets = utf8_buffers(pa.array(plain, pa.large_string()))
        yield slice(row, row + BATCH_ROWS), character_spans(buffer, offsets)


def character_spans(buffer: "Bytes", offsets: "Ints") -> "Words":
    """Where the characters of some documents lie, as `stages.text.word_spans` tells of words.

    Args:
        buffer: uint8 [bytes], UTF-8.
        offsets: int64 [D + 1]; document d is buffer[offsets[d]:offsets[d + 1]].

    >>> from dataassets.stages.text import utf8_buffers
    >>> [x.tolist() for x in character_spans(*utf8_buffers(pa.array(["aé", "", "b"])))[1:]]
    [[0, 1, 3], [1, 3, 4], [0, 2, 2, 3]]
    """
    from dataassets.stages.text import Words

    begins = np.flatnonzero((buffer[: offsets[-1]] & 0xC0) != 0x80)  # no continuation byte
    return Words(buffer, begins, np.append(begins[1:], offsets[-1]), np.searchsorted(begins, offsets))


def _lists(values: list[npt.NDArray[np.uint32]], sizes_D: npt.NDArray[np.int32]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(sizes_D, dtype=np.int64)])
    return pa.LargeListArray.from_arrays(
        pa.array(offsets), pa.array(np.concatenate(values)), type=records.SHINGLES.type
    )
