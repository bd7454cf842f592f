"""Documents to signatures: the hash of the normalized text and the MinHash of its word n-grams.

Shapes: D documents, H hashes a signature.
"""

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from dataassets import records
from dataassets.recipe import Dedup, MinHash
from dataassets.report import Histogram, Report
from dataassets.stages.dedup.minhash import permutations

BATCH_ROWS = 1024  # documents cut at a time: bounds the memory, changes no result
SHINGLE_EDGES = (0.0, *(float(2**k) for k in range(21)))


def sign(documents: pa.Table, *, settings: Dedup) -> tuple[pa.Table, Report]:
    """Signatures of documents, row by row.

    A text's words are those of `stages.text` after Arrow's `utf8_lower`. The signature is that of
    `datasketch.MinHash(num_perm, seed, scheme="affine32", hashfunc=shingle_hash)` fed with each run of `ngram` words,
    joined by one space; `datasketch.LeanMinHash(seed=seed, hashvalues=row, scheme="affine32")` loads it.

    Args:
        documents: records.DOCUMENTS [D].
        settings: `exact` and `minhash` of their source.

    Returns:
        records.signatures(H) [D], and a report: counts `documents`, `without_text`, `too_short` (fewer words than a
        shingle); histogram of shingles.
    """
    num_docs = len(documents)
    hashes = _text_hashes(documents["text"]) if settings.exact else pa.nulls(num_docs, pa.binary(16))
    num_perm = settings.minhash.num_perm if settings.minhash else 0
    schema = records.signatures(num_perm)
    counts = {"documents": num_docs}
    if settings.exact:
        counts["without_text"] = hashes.null_count
    if settings.minhash is None:
        signatures, num_D = pa.nulls(num_docs, schema.field("signature").type), np.zeros(num_docs, np.int32)
        histograms = {}
    else:
        signatures, num_D = _signatures(documents["text"], settings=settings.minhash)
        counts["too_short"] = signatures.null_count
        histograms = {"shingles": Histogram.of(num_D, edges=SHINGLE_EDGES)}
    table = pa.table([documents["id"], hashes, signatures, pa.array(num_D)], schema=schema)
    return table, Report(counts, histograms)


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


def _signatures(texts: pa.ChunkedArray, *, settings: MinHash) -> tuple[pa.Array, np.ndarray]:
    from dataassets.stages.dedup.kernels import sign_documents
    from dataassets.stages.text import utf8_buffers, word_spans

    buffer, offsets = utf8_buffers(pc.utf8_lower(texts))
    a, b = permutations(num_perm=settings.num_perm, seed=settings.seed)
    sig_DH = np.zeros((len(texts), settings.num_perm), np.uint32)
    num_D = np.zeros(len(texts), np.int32)
    for row in range(0, len(texts), BATCH_ROWS):
        rows = slice(row, row + BATCH_ROWS)
        spans = word_spans(buffer, offsets[row : row + BATCH_ROWS + 1])
        sign_documents(*spans, settings.ngram, a, b, sig_DH[rows], num_D[rows])
    kind = records.signatures(settings.num_perm).field("signature").type
    values = pa.array(sig_DH.reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(num_D == 0)), num_D
