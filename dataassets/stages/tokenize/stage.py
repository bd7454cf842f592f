"""Documents to token ids, each document closed by the end-of-text token.

Shapes: D documents, T tokens of all of them.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import records
from dataassets.hashing import keyed_order
from dataassets.recipe import Tokenize
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram, Report
from dataassets.stages.tokenize.engines import available, by_gigatoken, by_tiktoken, doubtful
from dataassets.stages.tokenize.vocabulary import decode, vocabulary

Engine = Literal["gigatoken", "tiktoken"]
LENGTH_EDGES = tuple(float(2**k) for k in range(21))  # tokens
BYTES_EDGES = tuple(k / 4 for k in range(33))  # bytes of UTF-8 a token
SAMPLE_FRACTION, SAMPLE_LEAST = 0.01, 20


def tokenize(
    documents: pa.Table, *, source: str, settings: Tokenize, engine: Engine | None = None
) -> tuple[pa.Table, Report]:
    """Encode every document as ordinary text and close it with the end-of-text token.

    Args:
        documents: records.DOCUMENTS, D rows.
        source: name of their source.
        settings: which vocabulary.
        engine: gigatoken where it is installed unless named; both give the same ids.

    Returns:
        records.tokens [D], and a report: counts `documents`, `tokens`, `bytes`, `documents:<engine>`; histograms of
        lengths and of bytes a token.
    """
    kind = vocabulary(settings)
    texts = pc.cast(documents["text"], pa.large_string()).combine_chunks()
    engine = engine or ("gigatoken" if available() else "tiktoken")
    encode: Callable[[pa.Array], tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]
    encode = by_gigatoken if engine == "gigatoken" else by_tiktoken
    ids, offsets = encode(texts)
    closed, closed_offsets = _closed(ids, offsets, eot=kind.eot)
    lists = pa.LargeListArray.from_arrays(
        pa.array(closed_offsets), pa.array(closed.astype(kind.dtype.to_pandas_dtype())), type=_list_type(kind.dtype)
    )
    table = pa.table(
        [documents["id"], pa.array([source] * len(texts), pa.string()), documents["url"], lists],
        schema=records.tokens(kind.dtype),
    )
    by_hand = int(pc.sum(doubtful(texts)).as_py() or 0) if engine == "gigatoken" else len(texts)
    bytes_D, tokens_D = np.asarray(pc.binary_length(texts), np.int64), np.diff(closed_offsets)
    counts = {
        "documents": len(texts),
        "tokens": int(closed_offsets[-1]),
        "bytes": int(bytes_D.sum()),
        "documents:gigatoken": len(texts) - by_hand,
        "documents:tiktoken": by_hand,
    }
    histograms = {
        "tokens_per_document": Histogram.of(tokens_D, edges=LENGTH_EDGES),
        "bytes_per_token": Histogram.of(bytes_D / tokens_D, edges=BYTES_EDGES),
    }
    return table, Report(counts, histograms)


def verify_sample(documents: pa.Table, tokens: pa.Table) -> Report:
    """Encode a sample of documents with tiktoken, and decode it back to the text.

    The sample is 1 % of a part, 20 documents at least, chosen by id: the same for any run.

    Args:
        documents: records.DOCUMENTS [D].
        tokens: what `tokenize` made of them.

    Returns:
        Counts `sample:checked` and `sample:differ` (other ids than tiktoken's, another text when decoded, or other
        than one end-of-text token at the end), and samples of those that differ; reports of parts add up.
    """
    rows = sampled(documents["id"])
    wanted, wanted_offsets = by_tiktoken(pc.cast(documents["text"], pa.large_string()).take(rows).combine_chunks())
    wrong = []
    for k, (row, text) in enumerate(zip(rows.to_pylist(), documents["text"].take(rows).to_pylist(), strict=True)):
        ids = np.asarray(tokens["tokens"][row].values)
        plain = wanted[wanted_offsets[k] : wanted_offsets[k + 1]]
        if not (len(ids) == len(plain) + 1 and (ids[:-1] == plain).all() and decode(ids) == text + decode(ids[-1:])):
            wrong.append(row)
    samples = [
        {"id": documents["id"][row].as_py().hex(), "snippet": documents["text"][row].as_py()[:SAMPLE_CHARS]}
        for row in wrong[:SAMPLES_PER_REASON]
    ]
    counts = {"sample:checked": len(rows), "sample:differ": len(wrong)}
    return Report(counts, samples={"sample:differ": samples} if samples else {})


def sampled(ids: pa.ChunkedArray) -> pa.Array:
    """Rows of the sample: those of lowest keyed hash of their id, in document order.

    Args:
        ids: binary(16) [D].

    Returns:
        int64 [min(D, max(20, D / 100))], rising.

    >>> len(sampled(pa.chunked_array([pa.array([bytes([n] * 16) for n in range(30)], pa.binary(16))])))
    20
    """
    num = min(len(ids), max(SAMPLE_LEAST, int(len(ids) * SAMPLE_FRACTION)))
    order = np.argsort(keyed_order(ids.to_pylist(), salt="tokenize sample"), kind="stable")
    return pa.array(np.sort(order[:num]), pa.int64())


def _closed(
    ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], *, eot: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Put `eot` behind each document."""
    closed_offsets = offsets + np.arange(len(offsets))
    closed = np.full(closed_offsets[-1], eot, np.uint32)
    text = np.ones(len(closed), bool)
    text[closed_offsets[1:] - 1] = False
    closed[text] = ids
    return closed, closed_offsets


def _list_type(dtype: pa.DataType) -> pa.DataType:
    return records.tokens(dtype).field("tokens").type
