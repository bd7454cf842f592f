"""Cleaned documents to signals: every quantity that a rule asks for, of every document, whatever the thresholds.

Shapes: D documents, K kept lines, Q quantities.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import Filter
from dataassets.records import DOCUMENTS, SIGNALS
from dataassets.report import Report
from dataassets.stages.filter import c4, grams, lines
from dataassets.stages.filter.language import identify
from dataassets.stages.filter.rewritten import rewrite
from dataassets.stages.filter.settings import C4_REWRITING, measured_by
from dataassets.stages.filter.tell import histograms
from dataassets.stages.text import (
    Bytes,
    Hashes,
    Ints,
    class_table,
    fnv1a,
    sentence_counts,
    utf8_buffers,
    word_counts,
    word_spans,
)  # fmt: skip

SLICE_BYTES = 8_000_000  # of text measured at a time: bounds the memory, changes no result
Columns = dict[str, Any]


def measure(documents: pa.Table, *, settings: Filter) -> tuple[pa.Table, Report]:
    """Measure every document.

    Args:
        documents: records.DOCUMENTS.
        settings: of the stage; only `measured_by` of them matters.

    Returns:
        records.SIGNALS, a row for each document in its order; a report that counts documents and characters.
    """
    knobs = measured_by(settings)
    texts = documents.column("text")
    tables = [
        pa.Table.from_batches([_signals(documents.column("id").slice(a, b - a), texts.slice(a, b - a), knobs)])
        for a, b in _slices(texts)
    ]
    signals = pa.concat_tables([SIGNALS.empty_table(), *tables])
    num_chars = int(signals.column("num_chars").to_numpy().sum())
    return signals, Report(
        counts={"documents": len(signals), "characters": num_chars}, histograms=histograms(signals, {}, rewritten=False)
    )


def warm_up() -> None:
    """Compile or load every kernel and model, so that the first document does not wait for it."""
    row = {"id": b"\0" * 16, "text": "A line. Another line!\n\n[1] And one more... line?", "origin": "", "position": 0}
    measure(pa.Table.from_pylist([row], DOCUMENTS), settings=Filter())


def _slices(texts: pa.ChunkedArray) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about SLICE_BYTES of text each, one row at least."""
    row = 0
    for chunk in texts.chunks:
        ends = utf8_buffers(chunk)[1]
        start = 0
        while start < len(chunk):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] + SLICE_BYTES, "right")) - 1)
            yield row + start, row + stop
            start = stop
        row += len(chunk)


def _signals(ids: pa.ChunkedArray, texts: pa.ChunkedArray, knobs: dict[str, Any]) -> pa.RecordBatch:
    buffer, offsets = utf8_buffers(texts)
    language, score = identify(texts)
    columns: Columns = {"id": ids.combine_chunks(), "language": language, "language_score": score}
    columns |= _of_lines_and_words(buffer, offsets, knobs["stop_words"])
    columns |= _of_shape(buffer, offsets, columns["num_words"], knobs["short_line_length"])
    columns |= _of_c4(buffer, offsets, knobs)
    arrays = [pa.array(columns[field.name], field.type, from_pandas=True) for field in SIGNALS]
    return pa.RecordBatch.from_arrays(arrays, schema=SIGNALS)


def _of_lines_and_words(buffer: Bytes, offsets: Ints, stop_words: list[str]) -> Columns:
    lines_DQ = np.zeros((len(offsets) - 1, len(lines.LINES)), np.int64)
    lines.count_lines(buffer, offsets[:-1], offsets[1:], class_table(), lines_DQ)
    words_DQ = np.zeros((len(offsets) - 1, len(grams.WORDS)), np.int64)
    spans = word_spans(buffer, offsets)
    grams.count_words(*spans, class_table(), _hashes(stop_words), words_DQ)
    n = dict(zip(lines.LINES + grams.WORDS, [*lines_DQ.T, *words_DQ.T], strict=True))
    return {
        "num_chars": n["chars"],
        "num_words": n["words"],
        "dup_para_frac": _share(n["dup_paras"], n["paras"]),
        "dup_para_char_frac": _share(n["dup_para_chars"], n["chars"]),
        "dup_line_frac": _share(n["dup_pieces"], n["pieces"]),
        "dup_line_char_frac": _share(n["dup_piece_chars"], n["chars"]),
        **{f"top_{k}_gram": _share(n[f"top_{k}"], n["chars"]) for k in grams.TOP_N},
        **{f"duplicated_{k}_n_grams": _share(n[f"dup_{k}"], n["chars"]) for k in grams.DUP_N},
        "num_nonsymbol_words": n["nonsymbol"],
        "mean_word_length": _share(n["nonsymbol_chars"], n["nonsymbol"]),
        "hash_ratio": _share(n["hashes"], n["words"]),
        "ellipsis_ratio": _share(n["ellipses"], n["words"]),
        "bullet_lines": _share(n["bullets"], n["lines"]),
        "end_ellipsis_lines": _share(n["end_ellipses"], n["lines"]),
        "alpha_words": _share(n["alpha"], n["words"]),
        "num_stop_words": n["stop_words"],
    }


def _of_shape(buffer: Bytes, offsets: Ints, num_words: Ints, short_length: int) -> Columns:
    shape_DQ = np.zeros((len(offsets) - 1, len(lines.SHAPE)), np.int64)
    lines.count_shape(buffer, offsets[:-1], offsets[1:], class_table(), short_length, shape_DQ)
    n = dict(zip(lines.SHAPE, shape_DQ.T, strict=True))
    return {
        "num_lines": n["num_lines"],
        "line_punct_ratio": _share(n["terminal"], n["num_lines"]),
        "short_line_ratio": _share(n["short"], n["num_lines"]),
        "char_dup_ratio": _share(n["dup_chars"], n["chars"] - n["line_feeds"]),
        "list_ratio": _share(n["line_feeds"], num_words),
    }


def _of_c4(buffer: Bytes, offsets: Ints, knobs: dict[str, Any]) -> Columns:
    """What C4 keeps, and the shape of the text that it makes; null where it refuses the document."""
    starts, stops, table = offsets[:-1], offsets[1:], class_table()
    chosen, first = np.empty(c4.count_all_lines(buffer, starts, stops, table), np.int64), np.empty_like(offsets)
    refused = np.zeros(len(starts), np.int64)
    settings = np.array([int(knobs["c4"][name]) for name in C4_REWRITING], np.int64)
    c4.choose_lines(buffer, starts, stops, table, settings, chosen, first, refused)
    kept = chosen[: first[-1]]
    text = rewrite(buffer, offsets, lines=kept, first=first, citations=knobs["c4"]["citations"])
    sentences = np.concatenate([[0], np.cumsum(sentence_counts(text.lines, *text.line_spans))])
    num_words = word_counts(text.buffer, text.offsets)
    measured = {"num_sentences": sentences[first[1:]] - sentences[first[:-1]], "num_words": num_words}
    measured |= _of_shape(text.buffer, text.offsets, num_words, knobs["short_line_length"])
    lines_DK = pa.ListArray.from_arrays(pa.array(first, pa.int32()), pa.array(kept, pa.int32()))
    gone = pa.array(refused != c4.KEPT)
    return {
        "c4_refused": np.array(c4.REFUSALS)[refused],
        "c4_lines": pc.if_else(gone, None, lines_DK),
        **{
            f"c4_{name}": pc.if_else(gone, None, pa.array(column, from_pandas=True))
            for name, column in measured.items()
        },
    }


def _share(part: Ints, whole: Ints) -> npt.NDArray[np.float64]:
    """Part / whole, NaN (written as null) where there is no whole."""
    share = np.full(len(part), np.nan)
    np.divide(part, whole, out=share, where=whole != 0)
    return share


def _hashes(stop_words: list[str]) -> Hashes:
    """FNV-1a of each stop word, as the kernel hashes words."""
    buffer, offsets = utf8_buffers(pa.array(stop_words, pa.large_string()))
    return np.array([fnv1a(buffer, start, stop) for start, stop in pairwise(offsets)], np.uint64)
